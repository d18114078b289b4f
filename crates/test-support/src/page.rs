//! A page with an open editor, as the web client behaves: on `document:freezing` it keeps the editor until nothing is
//! unsent and reports that; on `document:status` it removes the editor, and what was not sent by then is lost.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use document_server_simulator::client::OpenEditor;
use serde_json::json;
use tokio::task::JoinHandle;

use super::document_server_fixture::{DocumentServerFixture, path};
use super::{SocketListener, TestUser};

pub struct EditorPage {
    editor: Arc<Mutex<Option<OpenEditor>>>,
    following: JoinHandle<SocketListener>,
}

impl EditorPage {
    /// Opens the document in the editor of a person and follows the live events.
    pub async fn open(fixture: &DocumentServerFixture, person: &TestUser, document: &str) -> Self {
        let mut heard = SocketListener::connect(&fixture.app, person).await;
        let editor = Arc::new(Mutex::new(Some(fixture.open(person, document).await)));
        let (held, client, document) = (Arc::clone(&editor), fixture.app.as_(person), document.to_owned());
        let following = tokio::spawn(async move {
            let names = |event: &serde_json::Value| event["documentId"] == document.as_str();
            let mut is_reported = false;
            while !heard.all("document:status").iter().any(names) {
                if !is_reported && heard.all("document:freezing").iter().any(names) && !has_unsent_changes(&held) {
                    client.post(&path(&document, "/flushed"), json!({})).await.expect(200);
                    is_reported = true;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let editor = held.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(editor) = editor {
                editor.remove().await.unwrap();
            }
            heard
        });
        Self { editor, following }
    }

    /// Types at the end of the document; the editor sends the text after its autosave gap.
    pub fn type_text(&self, text: &str) {
        let editor = self.editor.lock().unwrap_or_else(PoisonError::into_inner);
        editor.as_ref().expect("the editor is open").type_later(text);
    }

    /// Whether text was typed that the editor has not sent yet.
    pub fn has_unsent_changes(&self) -> bool {
        has_unsent_changes(&self.editor)
    }

    /// Waits until the page has removed the editor; returns its event listener.
    pub async fn closed(self) -> SocketListener {
        self.following.await.unwrap()
    }
}

fn has_unsent_changes(editor: &Mutex<Option<OpenEditor>>) -> bool {
    let editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
    editor.as_ref().is_some_and(OpenEditor::has_unsent_changes)
}
