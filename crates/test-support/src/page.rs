//! A page with an open editor, as the web client behaves: on `document:freezing` it keeps the editor until nothing is
//! unsent and reports that; on `document:status` it removes the editor, and what was not sent by then is lost.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use document_server_simulator::client::OpenEditor;
use serde_json::json;
use tokio::task::JoinHandle;

use super::document_server_fixture::{DocumentServerFixture, path};
use super::text_editor::{AnyEditor, BuiltinPage};
use super::{SocketListener, TestUser};

/// How long a page of the built-in editor collects changes here, as long as the `autosave_gap` of these tests.
const SEND_INTERVAL: Duration = Duration::from_millis(300);

enum HeldEditor {
    OnlyOffice(Mutex<Option<OpenEditor>>),
    Builtin { page: BuiltinPage, unsent: Mutex<String> },
}

impl HeldEditor {
    fn has_unsent_changes(&self) -> bool {
        match self {
            Self::OnlyOffice(editor) => {
                let editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
                editor.as_ref().is_some_and(OpenEditor::has_unsent_changes)
            }
            Self::Builtin { unsent, .. } => !unsent.lock().unwrap_or_else(PoisonError::into_inner).is_empty(),
        }
    }

    /// Sends the changes of the built-in editor. The editor of a document server sends its own.
    async fn send(&self) {
        if let Self::Builtin { page, unsent } = self {
            let text = unsent.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if !text.is_empty() {
                page.type_text(&text).await.unwrap();
                let mut unsent = unsent.lock().unwrap_or_else(PoisonError::into_inner);
                *unsent = unsent.split_off(text.len());
            }
        }
    }

    async fn remove(&self) {
        if let Self::OnlyOffice(editor) = self {
            let editor = editor.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(editor) = editor {
                editor.remove().await.unwrap();
            }
        }
    }
}

pub struct EditorPage {
    editor: Arc<HeldEditor>,
    following: JoinHandle<SocketListener>,
}

impl EditorPage {
    /// Opens the document in the editor of a person and follows the live events.
    pub async fn open(fixture: &DocumentServerFixture, person: &TestUser, document: &str) -> Self {
        let mut heard = SocketListener::connect(&fixture.app, person).await;
        let editor = fixture.open_editor(person, document).await;
        // The text of a page that is being frozen still belongs to the generation that it opened.
        editor.ignore_end();
        let editor = Arc::new(match editor {
            AnyEditor::OnlyOffice(editor) => HeldEditor::OnlyOffice(Mutex::new(Some(editor))),
            AnyEditor::Builtin(page) => HeldEditor::Builtin {
                page,
                unsent: Mutex::default(),
            },
        });
        if let HeldEditor::Builtin { page, .. } = &*editor {
            heard.emit(page.open_event()).await;
            assert_eq!(heard.expect("ack").await, json!({"joined": true}));
        }
        let (held, client, document) = (Arc::clone(&editor), fixture.app.as_(person), document.to_owned());
        let following = tokio::spawn(async move {
            let names = |event: &serde_json::Value| event["documentId"] == document.as_str();
            let (mut is_reported, mut last_sent) = (false, Instant::now());
            while !heard.all("document:status").iter().any(names) {
                let is_freezing = heard.all("document:freezing").iter().any(names);
                if is_freezing || last_sent.elapsed() >= SEND_INTERVAL {
                    held.send().await;
                    last_sent = Instant::now();
                }
                if !is_reported && is_freezing && !held.has_unsent_changes() {
                    client.post(&path(&document, "/flushed"), json!({})).await.expect(200);
                    is_reported = true;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            held.remove().await;
            heard
        });
        Self { editor, following }
    }

    /// Types at the end of the document; the editor sends the text after its autosave gap.
    pub fn type_text(&self, text: &str) {
        match &*self.editor {
            HeldEditor::OnlyOffice(editor) => {
                let editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
                editor.as_ref().expect("the editor is open").type_later(text);
            }
            HeldEditor::Builtin { unsent, .. } => {
                unsent.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
            }
        }
    }

    /// Whether text was typed that the editor has not sent yet.
    pub fn has_unsent_changes(&self) -> bool {
        self.editor.has_unsent_changes()
    }

    /// Waits until the page has removed the editor; returns its event listener.
    pub async fn closed(self) -> SocketListener {
        self.following.await.unwrap()
    }
}
