//! Records sent callbacks with their responses and received requests, for inspection by tests.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

/// A sent callback and its response.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// Time of the response in milliseconds since the Unix epoch.
    pub at: u64,
    /// Key of the document.
    pub key: String,
    /// 1, 2, 3, 4, 6 or 7.
    pub status: u8,
    /// The callback URL.
    pub to: String,
    /// From 1 to 4.
    pub attempt: u32,
    /// The plain body, including its `token`.
    pub body: Value,
    /// The token of the header.
    pub header_token: String,
    /// HTTP status of the response; none without a response.
    pub answer_status: Option<u16>,
    /// Body of the response.
    pub answer_body: String,
    /// Whether the response counts as `{"error":0}`.
    pub accepted: bool,
}

/// A request received from another server.
#[derive(Clone, Debug, Serialize)]
pub struct Heard {
    /// `command`, `converter` or `result`.
    pub what: &'static str,
    /// The verified parameters; for results the path with its query.
    pub parameters: Value,
    /// The error code of the response; for results the HTTP status.
    pub answer: i64,
}

/// Recorded callbacks and requests.
#[derive(Default)]
pub(crate) struct Record {
    sent: Mutex<Vec<Sent>>,
    heard: Mutex<Vec<Heard>>,
    news: watch::Sender<()>,
    commands: Mutex<Commands>,
}

/// Number of commands received, in progress, and the maximum in progress at once.
#[derive(Clone, Copy, Default)]
struct Commands {
    begun: usize,
    now: usize,
    most: usize,
}

/// Counts a command as in progress until it is dropped, also when the caller disconnects.
pub(crate) struct Answering<'r>(&'r Record);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.commands.lock().unwrap_or_else(PoisonError::into_inner).now -= 1;
    }
}

impl Record {
    pub(crate) fn add_sent(&self, sent: Sent) {
        tracing::debug!(key = %sent.key, status = sent.status, answer = ?sent.answer_status, "callback sent");
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(sent);
        self.news.send_replace(());
    }

    pub(crate) fn add_heard(&self, what: &'static str, parameters: Value, answer: i64) {
        let heard = Heard {
            what,
            parameters,
            answer,
        };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
        self.news.send_replace(());
    }

    /// Counts a received command.
    pub(crate) fn answering(&self) -> Answering<'_> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.begun += 1;
        commands.now += 1;
        commands.most = commands.most.max(commands.now);
        Answering(self)
    }

    /// Returns the number of commands received and the maximum processed concurrently.
    pub(crate) fn commands(&self) -> (usize, usize) {
        let commands = *self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        (commands.begun, commands.most)
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn clear(&self) {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the first recorded callback that matches, waiting for it until the timeout elapses.
    pub(crate) async fn wait_for(&self, fits: impl Fn(&Sent) -> bool, patience: Duration) -> Option<Sent> {
        let mut news = self.news.subscribe();
        let search = async {
            loop {
                if let Some(found) = self.sent().into_iter().find(|sent| fits(sent)) {
                    return Some(found);
                }
                news.changed().await.ok()?;
            }
        };
        tokio::time::timeout(patience, search).await.ok().flatten()
    }
}
