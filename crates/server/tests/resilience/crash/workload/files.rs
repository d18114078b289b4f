//! Runs the actions on files: uploads, replacements, deletions and documents that are created from files.

use rand::RngExt as _;
use reqwest::Method;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{UPLOADS, Writer, form, hex, text};

impl Writer {
    /// Uploads random text of 1 to 300 KiB.
    pub async fn upload(&mut self) -> Option<()> {
        let (bytes, sha256) = self.random_text();
        let path = format!("/workrooms/{}/documents", self.room.as_ref()?);
        let form = form(bytes, format!("{}.txt", self.unique_text())).text("assignmentId", self.topic.clone()?);
        let document = self
            .created(self.own.request(Method::POST, &path).multipart(form))
            .await?;
        let document = text(&document, "id");
        self.oracle.uploaded(&document, sha256);
        self.files.push(document);
        self.uploads += 1;
        if self.uploads >= UPLOADS {
            self.leave_room();
        }
        Some(())
    }

    /// Uploads a text file that the document server has to convert.
    pub async fn upload_legacy(&mut self) -> Option<()> {
        let unique_text = self.unique_text();
        let path = format!("/workrooms/{}/documents", self.room.as_ref()?);
        let bytes = format!("{{\\rtf1\\ansi {unique_text}\\par }}").into_bytes();
        let form = form(bytes, "old.rtf".to_owned()).text("assignmentId", self.topic.clone()?);
        let document = self
            .created(self.own.request(Method::POST, &path).multipart(form))
            .await?;
        self.oracle
            .saved(&text(&document, "id"), &unique_text, false, "an upload");
        self.uploads += 1;
        if self.uploads >= UPLOADS {
            self.leave_room();
        }
        Some(())
    }

    /// Replaces the content of an uploaded file.
    pub async fn replace(&mut self) -> Option<()> {
        let Some(document) = self.files.last().cloned() else {
            return self.upload().await;
        };
        let (bytes, sha256) = self.random_text();
        self.oracle.may_have_content(&document, sha256.clone());
        let path = format!("/workrooms/documents/{document}/content");
        let request = self.own.request(Method::PUT, &path);
        self.send_expecting(request.multipart(form(bytes, "other.txt".to_owned())), &[200])
            .await?;
        self.oracle.uploaded(&document, sha256);
        Some(())
    }

    /// Deletes an uploaded file. If the response is missing, either outcome is accepted.
    pub async fn delete(&mut self) -> Option<()> {
        let Some(document) = self.files.pop() else {
            return self.upload().await;
        };
        self.oracle.may_be_deleted(&document);
        let path = format!("/workrooms/documents/{document}");
        self.send_expecting(self.own.request(Method::DELETE, &path), &[200])
            .await?;
        self.oracle.deleted(&document);
        Some(())
    }

    /// Creates a file of the topic from which documents can be created.
    pub async fn template(&mut self) -> String {
        let path = format!("/assignments/{}/attachments", self.topic.as_ref().unwrap());
        let bytes = document_server_simulator::blank_document("docx");
        let request = self.teacher.request(Method::POST, &path);
        let file = self
            .created(request.multipart(form(bytes, "template.docx".to_owned())))
            .await;
        text(&file.unwrap(), "id")
    }

    /// Creates a document from a file of the topic.
    pub async fn create_from(&mut self, template: &str) -> Option<()> {
        let path = format!("/workrooms/{}/documents", self.room.as_ref()?);
        let new = json!({"title": self.unique_text(), "templateAttachmentId": template, "assignmentId": self.topic});
        self.created(self.own.request(Method::POST, &path).json(&new))
            .await
            .map(drop)
    }

    /// Restores the first content of the last uploaded file.
    pub async fn restore(&mut self) -> Option<()> {
        let document = self.files.last()?.clone();
        let path = format!("/workrooms/documents/{document}/versions");
        let versions = self
            .send_expecting(self.own.request(Method::GET, &path), &[200])
            .await?
            .1;
        let sha256 = text(versions.as_array()?.last()?, "sha256");
        let path = format!("{path}/1/restore");
        self.oracle.may_have_content(&document, sha256.clone());
        self.send_expecting(self.own.request(Method::POST, &path), &[200])
            .await?;
        self.oracle.uploaded(&document, sha256);
        Some(())
    }

    /// Uploads a file for a message.
    pub async fn upload_message_file(&mut self) -> Option<()> {
        let (bytes, _) = self.random_text();
        let path = format!("/workrooms/{}/messages/attachments", self.room.as_ref()?);
        let request = self.own.request(Method::POST, &path);
        self.created(request.multipart(form(bytes, "words.txt".to_owned())))
            .await
            .map(drop)
    }

    fn random_text(&mut self) -> (Vec<u8>, String) {
        let size = self.rng.random_range(1_000..300_000);
        let bytes: Vec<u8> = (0..size)
            .map(|_| b"abcdefgh \n"[self.rng.random_range(0..10)])
            .collect();
        let sha256 = hex(&Sha256::digest(&bytes));
        (bytes, sha256)
    }
}
