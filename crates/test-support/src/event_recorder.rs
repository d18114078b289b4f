//! Events received by bare WebSocket connections. Every event is validated against its schema (docs/events.json).

use std::sync::OnceLock;

use api_types::event_catalog;
use domain::realtime::{Event, PAYLOAD_MAX};
use domain::time::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::openapi_check::OpenApiDocument;
use super::raw_socket::Socket;
use super::{TestApp, TestUser, WAIT_TIMEOUT};

/// Events that are emitted without a request.
const NOISE: [&str; 4] = ["ready", "sync:required", "board:activity", "group:presence"];

/// A received event.
#[derive(Debug, Clone)]
pub struct ReceivedEvent {
    pub event: String,
    pub payload: Value,
}

/// Connections of several users.
pub struct EventRecorder {
    received: mpsc::UnboundedReceiver<ReceivedEvent>,
}

impl EventRecorder {
    /// Connects the users and waits until their rooms are joined.
    pub async fn open(app: &TestApp, people: &[&TestUser]) -> Self {
        let (sender, received) = mpsc::unbounded_channel();
        for person in people {
            let mut socket = Socket::open(app, &person.cookie).await;
            socket.expect("ready").await;
            let sender = sender.clone();
            tokio::spawn(async move {
                while let Some(frame) = socket.next().await {
                    let Some(text) = frame.strip_prefix("42") else { continue };
                    let (event, payload): (String, Value) = serde_json::from_str(text).unwrap();
                    if sender.send(ReceivedEvent { event, payload }).is_err() {
                        return;
                    }
                }
            });
        }
        Self { received }
    }

    /// Returns the received events that happened at or after a moment; waits for the first one if `is_due`.
    pub async fn since(&mut self, moment: Timestamp, is_due: bool) -> Vec<ReceivedEvent> {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let mut found = Vec::new();
        loop {
            let next = match self.received.try_recv() {
                Ok(next) => next,
                Err(_) if !found.is_empty() || !is_due => return found,
                Err(_) => match timeout_at(deadline, self.received.recv()).await {
                    Ok(Some(next)) => next,
                    Ok(None) | Err(_) => return found,
                },
            };
            check(&next.event, &next.payload);
            let at = next.payload["at"].as_str().and_then(|at| Timestamp::parse(at).ok());
            if !NOISE.contains(&next.event.as_str()) && at.is_some_and(|at| at >= moment) {
                found.push(next);
            }
        }
    }
}

/// Validates an event against its schema and its size against the limit.
#[track_caller]
pub fn check(event: &str, payload: &Value) {
    let faults = faults(event, payload);
    assert!(faults.is_empty(), "{event} {payload}: {faults:#?}");
}

/// Returns the differences between an event and its schema.
pub fn faults(event: &str, payload: &Value) -> Vec<String> {
    static DOCUMENT: OnceLock<OpenApiDocument> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| OpenApiDocument {
        value: event_catalog::document(),
        rows: Vec::new(),
    });
    let message = &document.value["components"]["messages"][event.replace(':', ".")];
    if message.is_null() {
        return vec![format!("{event} is not in the document of events")];
    }
    let mut faults = Vec::new();
    document.compare(&message["payload"], payload, event, &mut faults);
    let size = payload.to_string().len();
    let may_be_large = Event::parse(event).is_some_and(Event::has_free_text);
    if size > PAYLOAD_MAX && !may_be_large {
        faults.push(format!("{size} bytes"));
    }
    faults
}
