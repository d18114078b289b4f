//! Remembers every callback with its answer and every request that came in, so that tests can look.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

/// One callback as it was sent, and what came back.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// When the answer was in, in milliseconds since 1970.
    pub at: u64,
    /// The document's key.
    pub key: String,
    /// 1, 2, 3, 4, 6 or 7.
    pub status: u8,
    /// The address it went to.
    pub to: String,
    /// 1 for the first try, up to 4.
    pub attempt: u32,
    /// The plain body, with its `token`.
    pub body: Value,
    /// The token of the header.
    pub header_token: String,
    /// The HTTP status of the answer; none when no answer came.
    pub answer_status: Option<u16>,
    /// The body of the answer.
    pub answer_body: String,
    /// Whether the answer counts as `{"error":0}`.
    pub accepted: bool,
}

/// One request that another server made here.
#[derive(Clone, Debug, Serialize)]
pub struct Heard {
    /// `command`, `converter` or `result`.
    pub what: &'static str,
    /// The checked parameters, or for results the path with its query.
    pub parameters: Value,
    /// The answer's error code, or for results the HTTP status.
    pub answer: i64,
}

/// Both lists.
#[derive(Default)]
pub(crate) struct Record {
    sent: Mutex<Vec<Sent>>,
    heard: Mutex<Vec<Heard>>,
    news: watch::Sender<()>,
    commands: Mutex<Commands>,
}

/// How many commands came, how many are being answered, and how many were at once.
#[derive(Clone, Copy, Default)]
struct Commands {
    begun: usize,
    now: usize,
    most: usize,
}

/// Counts one command for as long as it is answered, also when the caller hangs up.
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

    /// A command has come.
    pub(crate) fn answering(&self) -> Answering<'_> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.begun += 1;
        commands.now += 1;
        commands.most = commands.most.max(commands.now);
        Answering(self)
    }

    /// How many commands came, and how many of them were answered at once at most.
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

    /// The first callback of the list that fits, waiting for it if it is not there yet.
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
