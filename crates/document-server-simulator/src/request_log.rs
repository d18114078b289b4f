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
pub struct SentCallback {
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
pub struct ReceivedRequest {
    /// `command`, `converter` or `result`.
    pub what: &'static str,
    /// The verified parameters; for results the path with its query.
    pub parameters: Value,
    /// The error code of the response; for results the HTTP status.
    pub answer: i64,
}

/// Recorded callbacks and requests.
#[derive(Default)]
pub(crate) struct RequestLog {
    callbacks: Mutex<Vec<SentCallback>>,
    requests: Mutex<Vec<ReceivedRequest>>,
    updates: watch::Sender<()>,
    commands: Mutex<CommandCounters>,
}

/// Number of commands received, in progress, and the maximum in progress at once.
#[derive(Clone, Copy, Default)]
struct CommandCounters {
    received: usize,
    in_progress: usize,
    max_in_progress: usize,
}

/// Counts a command as in progress until it is dropped, also when the caller disconnects.
pub(crate) struct CommandGuard<'r>(&'r RequestLog);

impl Drop for CommandGuard<'_> {
    fn drop(&mut self) {
        self.0
            .commands
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .in_progress -= 1;
    }
}

impl RequestLog {
    pub(crate) fn push_callback(&self, sent: SentCallback) {
        tracing::debug!(key = %sent.key, status = sent.status, answer = ?sent.answer_status, "callback sent");
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).push(sent);
        self.updates.send_replace(());
    }

    pub(crate) fn push_request(&self, what: &'static str, parameters: Value, answer: i64) {
        let request = ReceivedRequest {
            what,
            parameters,
            answer,
        };
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request);
        self.updates.send_replace(());
    }

    /// Counts a received command.
    pub(crate) fn start_command(&self) -> CommandGuard<'_> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.received += 1;
        commands.in_progress += 1;
        commands.max_in_progress = commands.max_in_progress.max(commands.in_progress);
        CommandGuard(self)
    }

    /// Returns the number of commands received and the maximum processed concurrently.
    pub(crate) fn commands(&self) -> (usize, usize) {
        let commands = *self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        (commands.received, commands.max_in_progress)
    }

    pub(crate) fn callbacks(&self) -> Vec<SentCallback> {
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn clear(&self) {
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the first recorded callback that matches, waiting for it until the timeout elapses.
    pub(crate) async fn wait_for(
        &self,
        matches: impl Fn(&SentCallback) -> bool,
        timeout: Duration,
    ) -> Option<SentCallback> {
        let mut updates = self.updates.subscribe();
        let search = async {
            loop {
                if let Some(found) = self.callbacks().into_iter().find(|sent| matches(sent)) {
                    return Some(found);
                }
                updates.changed().await.ok()?;
            }
        };
        tokio::time::timeout(timeout, search).await.ok().flatten()
    }
}
