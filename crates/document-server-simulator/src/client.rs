//! An HTTP client that acts as an editor without a browser, for tests. It uses only what an editor page can use.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{connections::OpenedEditor, control_api::EditorSnapshot, editor_config::EditorError};

/// Why a request of an editor failed.
#[derive(Debug)]
pub enum ClientError {
    /// The simulator rejected the request.
    Rejected(EditorError),
    /// The simulator was unreachable or returned an invalid response.
    Network(reqwest::Error),
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rejected(error) => write!(out, "rejected with {}: {}", error.code, error.message),
            Self::Network(error) => write!(out, "no response: {error}"),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<reqwest::Error> for ClientError {
    fn from(error: reqwest::Error) -> Self {
        Self::Network(error)
    }
}

/// The result of closing an editor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CloseResult {
    /// Status of the callback that followed: 1 when other editors remain, 2 after changes, 3 when the save failed, 4
    /// without changes, none for viewers.
    pub status: Option<u8>,
    /// Whether the callback was answered with `{"error":0}`.
    pub accepted: bool,
}

/// An open editor.
#[derive(Debug)]
pub struct OpenEditor {
    http: reqwest::Client,
    base: String,
    /// The response to the open request.
    pub opened: OpenedEditor,
    /// Text that was typed but not sent; used only with `autosave_gap`.
    unsent: Arc<Mutex<String>>,
    autosave: Option<tokio::task::JoinHandle<()>>,
}

impl Drop for OpenEditor {
    fn drop(&mut self) {
        if let Some(autosave) = &self.autosave {
            autosave.abort();
        }
    }
}

/// Opens an editor on the simulator at `base` with the configuration of a page.
pub async fn open(base: &str, config: &Value) -> Result<OpenEditor, ClientError> {
    open_with_headers(base, config, &[]).await
}

/// Opens an editor with additional request headers, for example a spoofed `X-Forwarded-Host`.
pub async fn open_with_headers(
    base: &str,
    config: &Value,
    headers: &[(&str, &str)],
) -> Result<OpenEditor, ClientError> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let base = base.trim_end_matches('/').to_owned();
    let mut request = http.post(format!("{base}/practice/open")).json(config);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let opened: OpenedEditor = send(request).await?;
    let unsent = Arc::<Mutex<String>>::default();
    let autosave = opened.autosave_gap.map(|gap| {
        let (http, base, unsent) = (http.clone(), base.clone(), Arc::clone(&unsent));
        let connection = opened.connection.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(gap)).await;
                let text = lock(&unsent).clone();
                if text.is_empty() {
                    continue;
                }
                let body = json!({"connection": connection, "text": text});
                let sent: Result<RevisionResponse, _> =
                    send(http.post(format!("{base}/practice/type")).json(&body)).await;
                if sent.is_ok() {
                    lock(&unsent).drain(..text.len());
                }
            }
        })
    });
    Ok(OpenEditor {
        http,
        base,
        opened,
        unsent,
        autosave,
    })
}

fn lock(unsent: &Mutex<String>) -> MutexGuard<'_, String> {
    unsent.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn send<T: DeserializeOwned>(request: reqwest::RequestBuilder) -> Result<T, ClientError> {
    let response = request.send().await?;
    if response.status() == 403 {
        return Err(ClientError::Rejected(response.json().await?));
    }
    Ok(response.error_for_status()?.json().await?)
}

#[derive(Deserialize)]
struct RevisionResponse {
    revision: u64,
}

#[derive(Deserialize)]
struct ErrorCode {
    error: i64,
}

impl OpenEditor {
    async fn call<T: DeserializeOwned>(&self, what: &str, body: &impl Serialize) -> Result<T, ClientError> {
        let url = format!("{}/practice/{what}", self.base);
        send(self.http.post(url).json(body)).await
    }

    fn id(&self) -> Value {
        json!({"connection": self.opened.connection})
    }

    /// Returns whether this connection may edit; viewers may not.
    pub fn may_edit(&self) -> bool {
        self.opened.mode == "edit"
    }

    /// Types at the end of the document. Line breaks start new paragraphs. With `autosave_gap` the text is sent later.
    pub async fn type_text(&self, text: &str) -> Result<u64, ClientError> {
        if self.autosave.is_some() {
            self.type_later(text);
            return Ok(self.opened.revision);
        }
        let body = json!({"connection": self.opened.connection, "text": text});
        Ok(self.call::<RevisionResponse>("type", &body).await?.revision)
    }

    /// Returns the session as this editor sees it.
    pub async fn view(&self) -> Result<EditorSnapshot, ClientError> {
        let url = format!("{}/practice/text?connection={}", self.base, self.opened.connection);
        send(self.http.get(url)).await
    }

    /// Returns the text as this editor sees it, one line per paragraph.
    pub async fn text(&self) -> Result<String, ClientError> {
        Ok(self.view().await?.lines.join("\n"))
    }

    /// Presses the save button. Returns the error code of the forcesave command.
    pub async fn press_save(&self) -> Result<i64, ClientError> {
        Ok(self.call::<ErrorCode>("forcesave-button", &self.id()).await?.error)
    }

    /// Types without sending; used with `autosave_gap`.
    pub fn type_later(&self, text: &str) {
        lock(&self.unsent).push_str(text);
    }

    /// Returns whether some typed text was not sent yet (`onDocumentStateChange`).
    pub fn has_unsent_changes(&self) -> bool {
        !lock(&self.unsent).is_empty()
    }

    /// Removes the editor's frame from the page: unsent text is lost and the connection ends.
    pub async fn remove(self) -> Result<(), ClientError> {
        if let Some(autosave) = &self.autosave {
            autosave.abort();
        }
        self.abandon().await
    }

    /// Closes the editor and waits until the callback that follows was delivered or given up.
    pub async fn close(self) -> Result<CloseResult, ClientError> {
        self.call("close", &self.id()).await
    }

    /// Closes the editor without waiting for the callback.
    pub async fn leave(self) -> Result<(), ClientError> {
        let body = json!({"connection": self.opened.connection, "wait": false});
        self.call::<CloseResult>("close", &body).await?;
        Ok(())
    }

    /// Ends the connection without a close request, as after a network failure.
    pub async fn abandon(self) -> Result<(), ClientError> {
        let url = format!("{}/practice/abandon", self.base);
        self.http.post(url).json(&self.id()).send().await?.error_for_status()?;
        Ok(())
    }
}
