//! An open editor of either kind, for tests of rules that hold for both: the editor of a document server, played by the
//! simulator, or a page with the built-in editor.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use document_server_simulator::client::{self, CloseResult, OpenEditor};
use domain::document_kind::EditorKind;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::Client;

/// Why an editor did not take a text.
#[derive(Debug)]
pub enum EditError {
    /// The document server rejected the request or did not respond.
    DocumentServer(client::ClientError),
    /// The service did not respond, or responded that it is not ready.
    NoResponse,
    /// The page has closed its editor, because the generation has ended.
    Closed,
    /// The service rejected the request.
    Rejected(StatusCode, String),
}

/// An open editor.
pub enum AnyEditor {
    OnlyOffice(OpenEditor),
    Builtin(BuiltinPage),
}

impl AnyEditor {
    /// Opens a document as a user, in the editor that the configuration of the page names.
    pub async fn open(server: &str, client: &Client, document: &str, config: &Value) -> Result<Self, EditError> {
        if config["editor"] == EditorKind::Builtin.as_str() {
            return Ok(Self::Builtin(BuiltinPage::open(client, document).await?));
        }
        let opened = client::open(server, config).await;
        opened.map(Self::OnlyOffice).map_err(EditError::DocumentServer)
    }

    /// Returns whether the user may edit.
    pub fn may_edit(&self) -> bool {
        match self {
            Self::OnlyOffice(editor) => editor.may_edit(),
            Self::Builtin(page) => page.look().can_edit,
        }
    }

    /// Types at the end of the document. Line breaks begin new paragraphs. When this returns, the text is at the
    /// document server, or the service has acknowledged its commit.
    pub async fn type_text(&self, text: &str) -> Result<(), EditError> {
        match self {
            Self::OnlyOffice(editor) => editor
                .type_text(text)
                .await
                .map(drop)
                .map_err(EditError::DocumentServer),
            Self::Builtin(page) => page.type_text(text).await,
        }
    }

    /// Returns the text as this editor shows it.
    pub async fn text(&self) -> Result<String, EditError> {
        match self {
            Self::OnlyOffice(editor) => editor.text().await.map_err(EditError::DocumentServer),
            Self::Builtin(page) => Ok(text_of(&page.content().await?["doc"])),
        }
    }

    /// From now on, a page of the built-in editor continues to write when its generation has ended, as a page without
    /// a connection does: its text is late. The simulator has a fault for this: `ignores_drop`.
    pub fn ignore_end(&self) {
        if let Self::Builtin(page) = self {
            page.ignores_end.store(true, Ordering::SeqCst);
        }
    }

    /// Closes the editor. A page of the built-in editor has nothing left to save: `accepted` without a status.
    pub async fn close(self) -> Result<CloseResult, EditError> {
        match self {
            Self::OnlyOffice(editor) => editor.close().await.map_err(EditError::DocumentServer),
            Self::Builtin(_) => Ok(CloseResult {
                status: None,
                accepted: true,
            }),
        }
    }

    /// Closes the last editor of a changed document, whose save must be accepted.
    pub async fn close_saved(self) {
        let status = matches!(self, Self::OnlyOffice(_)).then_some(2);
        let closed = self.close().await.unwrap();
        assert_eq!((closed.status, closed.accepted), (status, true));
    }
}

/// What a page knows of its document.
#[derive(Debug, Clone, Default)]
struct PageLook {
    generation: i64,
    version: i64,
    can_edit: bool,
    /// The position after the last block.
    end: u64,
    /// Whether the last block is a paragraph or heading.
    ends_with_text: bool,
}

/// A page with the built-in editor.
pub struct BuiltinPage {
    client: Client,
    document: String,
    id: String,
    sent: AtomicU32,
    look: Mutex<PageLook>,
    ignores_end: AtomicBool,
}

impl BuiltinPage {
    async fn open(client: &Client, document: &str) -> Result<Self, EditError> {
        let page = Self {
            client: client.clone(),
            document: format!("/workrooms/documents/{document}"),
            id: common::clock::new_id(),
            sent: AtomicU32::new(0),
            look: Mutex::default(),
            ignores_end: AtomicBool::new(false),
        };
        page.content().await?;
        Ok(page)
    }

    /// Returns the event with which a page joins the room of its document.
    pub fn open_event(&self) -> Value {
        let document = self.document.rsplit('/').next();
        json!(["document:open",
            {"documentId": document, "generation": self.look().generation, "clientId": self.id}])
    }

    fn look(&self) -> PageLook {
        self.look.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Loads the present content and remembers it.
    async fn content(&self) -> Result<Value, EditError> {
        let content = self.request(Method::GET, "/content", None).await?;
        let blocks = content["doc"]["content"].as_array().cloned().unwrap_or_default();
        let is_text = |block: &Value| matches!(block["type"].as_str(), Some("paragraph" | "heading"));
        *self.look.lock().unwrap_or_else(PoisonError::into_inner) = PageLook {
            generation: content["generation"].as_i64().unwrap(),
            version: content["version"].as_i64().unwrap(),
            can_edit: content["canEdit"] == true,
            end: blocks.iter().map(size_of).sum(),
            ends_with_text: blocks.last().is_some_and(is_text),
        };
        Ok(content)
    }

    /// Types at the end of the document; see [`AnyEditor::type_text`].
    pub async fn type_text(&self, text: &str) -> Result<(), EditError> {
        let opened = self.look();
        if !self.ignores_end.load(Ordering::SeqCst) {
            self.content().await?;
            let now = self.look();
            if now.generation != opened.generation || !now.can_edit {
                *self.look.lock().unwrap_or_else(PoisonError::into_inner) = opened;
                return Err(EditError::Closed);
            }
        }
        let body = self.commit(text);
        let outcome = self.request(Method::POST, "/commits", Some(&body)).await?["outcome"].take();
        if outcome == "COMMITTED" || self.ignores_end.load(Ordering::SeqCst) {
            Ok(())
        } else {
            Err(EditError::Closed)
        }
    }

    fn commit(&self, text: &str) -> Value {
        let look = self.look();
        let mut steps = Vec::new();
        let insert =
            |at: u64, node: Value| json!({"stepType": "replace", "from": at, "to": at, "slice": {"content": [node]}});
        let mut end = look.end;
        for (number, line) in text.split('\n').enumerate() {
            let words = json!({"type": "text", "text": line});
            let length = u64::try_from(line.encode_utf16().count()).unwrap();
            if line.is_empty() {
                continue;
            }
            if number == 0 && look.ends_with_text {
                steps.push(insert(end - 1, words));
                end += length;
            } else {
                steps.push(insert(end, json!({"type": "paragraph", "content": [words]})));
                end += length + 2;
            }
        }
        json!({
            "generation": look.generation, "ref": format!("{}-{}", self.id, self.sent.fetch_add(1, Ordering::SeqCst)),
            "clientId": self.id, "version": look.version, "steps": steps,
        })
    }

    async fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, EditError> {
        let mut request = self.client.request(method, &format!("{}{path}", self.document));
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.map_err(|_lost| EditError::NoResponse)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(|_lost| EditError::NoResponse)?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        match status {
            StatusCode::OK => Ok(body),
            StatusCode::SERVICE_UNAVAILABLE => Err(EditError::NoResponse),
            _ => Err(EditError::Rejected(
                status,
                body["code"].as_str().unwrap_or_default().to_owned(),
            )),
        }
    }
}

/// Returns the size of a node in positions.
fn size_of(node: &Value) -> u64 {
    if let Some(text) = node["text"].as_str() {
        return u64::try_from(text.encode_utf16().count()).unwrap();
    }
    match (node["content"].as_array(), node["type"].as_str()) {
        (Some(children), _) => 2 + children.iter().map(size_of).sum::<u64>(),
        (None, Some("paragraph" | "heading")) => 2,
        (None, _) => 1,
    }
}

/// Returns the text of a node, one line per block with text.
fn text_of(node: &Value) -> String {
    let children = || node["content"].as_array().into_iter().flatten();
    if let Some(text) = node["text"].as_str() {
        return text.to_owned();
    }
    if children().any(|child| child["text"].is_string()) {
        return children().map(text_of).collect();
    }
    children().map(text_of).collect::<Vec<_>>().join("\n")
}
