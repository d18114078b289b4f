//! Reads and writes the files of documents in the built-in editor. The work takes milliseconds to seconds of processor
//! time, so it runs on a thread for blocking tasks, a few at a time.

use domain::from_fields;
use std::collections::HashMap;
use std::pin::pin;

use bytes::Bytes;
use docx::{Limits, NewImage};
use domain::document::DocumentState;
use domain::document_image::{DocumentImage, is_shown};
use domain::document_kind::FileExtension;
use domain::document_log::PackagedImage;
use domain::file::FileKey;
use domain::id::{DocumentId, ImageId};
use futures_util::StreamExt;
use rich_text::{Node, NodeType};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::DocumentWorkflows;
use super::log_save::original;
use adapters::blob_store::{Staged, hex, templates};
use common::error::{Error, Result};
use db::RequestContext;
use db::documents::CurrentFile;

/// A picture of a document.
#[derive(Debug, Clone)]
pub struct Picture {
    pub media_type: String,
    /// Hexadecimal SHA-256.
    pub sha256: String,
    pub content: PictureContent,
}

/// Where the bytes of a picture are.
#[derive(Debug, Clone)]
pub enum PictureContent {
    /// A stored file, with its size.
    File(FileKey, i64),
    /// A part of the file of the document.
    Bytes(Bytes),
}

/// A file as the editor shows it.
#[derive(Debug, Clone)]
pub(super) struct WordContent {
    /// The document.
    pub(super) content: Node,
    /// Codes of what prevents editing the file without loss.
    pub(super) read_only_reasons: Vec<String>,
    /// The paragraph styles: `id` and `name`.
    pub(super) styles: Value,
    /// The pictures of the file.
    pub(super) images: Vec<PackagedImage>,
}

impl DocumentWorkflows {
    /// Returns a picture of a document: one that was added in the editor, or one of its file.
    pub async fn picture(&self, context: RequestContext, id: DocumentId, image: ImageId) -> Result<Picture> {
        let wanted = image.clone();
        let look = self.transactor.read(context, move |tx| {
            let seen = tx.document(&id)?;
            if let Some(added) = tx.document_image(&id, &wanted)? {
                return Ok(Ok(added));
            }
            let document = seen.document();
            let log = tx.document_log(&id, document.key().generation)?;
            let log = log.filter(|_| document.status == DocumentState::Draft);
            let file = match &log {
                Some(log) => original(tx, log)?,
                None => tx.current_file(document)?,
            };
            Ok(Err((file, log.map(|log| log.images))))
        });
        let (file, listed) = match look.await? {
            Ok(added) => {
                return Ok(Picture {
                    media_type: added.mime_type,
                    sha256: added.sha256,
                    content: PictureContent::File(added.file_key, added.size),
                });
            }
            Err(of_file) => of_file,
        };
        let bytes = self.read_file(&file).await?;
        let _permit = self.conversions.permits.acquire().await.map_err(|_| Error::NotReady)?;
        run(move || part(&bytes, listed, &image)).await
    }

    /// Reads a file into a document.
    pub(super) async fn read_word_file(&self, file: &CurrentFile) -> Result<WordContent> {
        let bytes = self.read_file(file).await?;
        let _permit = self.conversions.permits.acquire().await.map_err(|_| Error::NotReady)?;
        run(move || open(&bytes)).await
    }

    /// Writes a document into a copy of the file with which its generation began, and stages the result. `added` are the
    /// pictures that were added in the editor.
    pub(super) async fn write_word_file(
        &self,
        original: &CurrentFile,
        content: Node,
        added: Vec<DocumentImage>,
    ) -> Result<Staged> {
        let original = self.read_file(original).await?;
        let mut images = HashMap::new();
        for image in added.into_iter().filter(|image| is_used(&content, image.id.as_str())) {
            let bytes = self.read_stored(&image.file_key, &image.sha256).await?;
            let new = NewImage {
                media_type: image.mime_type,
                bytes,
            };
            images.insert(image.id.into_string(), new);
        }
        let bytes = {
            let _permit = self.conversions.permits.acquire().await.map_err(|_| Error::NotReady)?;
            run(move || save(&original, &content, &images)).await?
        };
        self.stage_file(&bytes).await
    }

    /// Stages a file that this service made. If the storage fails, the request can be repeated later: readers get 503 as for
    /// a storage that cannot be read.
    pub(super) async fn stage_file(&self, bytes: &[u8]) -> Result<Staged> {
        let mut staging = self.files.stage(bytes.len() as u64);
        let staged = match staging.write(bytes).await {
            Ok(()) => staging.finish().await,
            Err(error) => Err(error),
        };
        staged.map_err(|error| {
            tracing::error!(error = format!("{error:?}"), "staging a file failed");
            Error::NotReady
        })
    }

    async fn read_file(&self, file: &CurrentFile) -> Result<Vec<u8>> {
        match file {
            CurrentFile::Revision(revision) => self.read_stored(&revision.file_key, &revision.sha256).await,
            CurrentFile::Blank(extension) => blank(*extension),
        }
    }

    /// Reads a file. A damaged one is an error: its content must not become that of a PDF or of the next revision.
    pub(super) async fn read_stored(&self, key: &FileKey, sha256: &str) -> Result<Vec<u8>> {
        let blob = self.files.open(key).await?;
        let mut bytes = Vec::with_capacity(usize::try_from(blob.size()).unwrap_or_default());
        let mut chunks = pin!(blob.read_verified(sha256).await?);
        while let Some(chunk) = chunks.next().await {
            bytes.extend_from_slice(&chunk?);
        }
        Ok(bytes)
    }
}

/// Returns whether a picture is in the document.
fn is_used(node: &Node, id: &str) -> bool {
    let is_image = node.node_type() == NodeType::Image && node.attr("src") == id;
    is_image || node.children().iter().any(|child| is_used(child, id))
}

pub(super) fn blank(extension: FileExtension) -> Result<Vec<u8>> {
    let bytes = templates::blank_document(extension);
    let bytes = bytes.ok_or_else(|| anyhow::anyhow!("a {extension} has no blank"))?;
    Ok(bytes.to_vec())
}

pub(super) async fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| anyhow::anyhow!(error))?
}

pub(super) fn open(bytes: &[u8]) -> Result<WordContent> {
    let opened = docx::open(bytes, &Limits::default()).map_err(unreadable)?;
    let content = Node::document_from_json(&opened.document);
    let style = |style: docx::StyleName| json!({"id": style.id, "name": style.name});
    let image = |image: docx::ImagePart| from_fields!(image => PackagedImage { id, part, media_type });
    Ok(WordContent {
        content: content.map_err(|error| anyhow::anyhow!("a file became an invalid document: {error}"))?,
        read_only_reasons: opened.read_only.iter().map(|reason| reason.code().to_owned()).collect(),
        styles: opened.styles.into_iter().map(style).collect(),
        images: opened.images.into_iter().map(image).collect(),
    })
}

fn save(original: &[u8], content: &Node, added: &HashMap<String, NewImage>) -> Result<Vec<u8>> {
    let images = |id: &str| added.get(id).cloned();
    let saved = docx::save(original, &content.to_json(), &images, &Limits::default()).map_err(unreadable)?;
    if !saved.problems.is_empty() {
        tracing::warn!(
            problems = format!("{:?}", saved.problems),
            "parts of a document were not written to its file"
        );
    }
    Ok(saved.bytes)
}

/// Returns a picture of a file.
fn part(bytes: &[u8], listed: Option<Vec<PackagedImage>>, id: &ImageId) -> Result<Picture> {
    let listed = match listed {
        Some(listed) => listed,
        None => open(bytes)?.images,
    };
    let found = listed.into_iter().find(|image| image.id == id.as_str());
    let image = found
        .filter(|image| is_shown(&image.media_type))
        .ok_or(Error::NotFound)?;
    let bytes = docx::read_part(bytes, &image.part, &Limits::default()).map_err(unreadable)?;
    let bytes = bytes.ok_or(Error::NotFound)?;
    Ok(Picture {
        media_type: image.media_type,
        sha256: hex(&Sha256::digest(&bytes)),
        content: PictureContent::Bytes(bytes.into()),
    })
}

pub(super) fn unreadable(error: docx::DocxError) -> Error {
    match error {
        docx::DocxError::Damaged(_) => Error::UnreadableFile {
            code: "damaged",
            message: "it is damaged",
        },
        docx::DocxError::TooLarge(_) => Error::UnreadableFile {
            code: "too_large",
            message: "it is too large to be edited here",
        },
        error => Error::Internal(anyhow::anyhow!("a document could not be written to its file: {error}")),
    }
}
