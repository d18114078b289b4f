//! The client event `document:activity`: its user is writing in a document. It is kept in memory for the lesson board
//! ([`super::typing`]) and is never stored or logged. Events of no handler are ignored and counted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use domain::id::{DocumentId, UserId};
use serde::Deserialize;
use socketioxide::extract::{SocketRef, TryData};

use super::RealtimeServer;
use super::connect::ActivityPayload;
use super::connection::SocketConnection;
use common::clock;

/// Minimum time between two events of a user.
const PAUSE: Duration = Duration::from_secs(10);

/// The payload of `document:activity`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentActivity {
    document_id: DocumentId,
}

/// The last event of each user, and the number of ignored events.
#[derive(Default)]
pub struct Activity {
    last_events: Mutex<HashMap<UserId, Instant>>,
    ignored: AtomicU64,
}

impl Activity {
    /// The number of ignored events.
    pub fn ignored(&self) -> u64 {
        self.ignored.load(Ordering::Relaxed)
    }

    /// Removes old entries.
    pub fn remove_expired(&self) {
        let mut last_events = self.last_events.lock().unwrap_or_else(PoisonError::into_inner);
        last_events.retain(|_, since| since.elapsed() < PAUSE);
    }

    fn ignore(&self) {
        self.ignored.fetch_add(1, Ordering::Relaxed);
    }

    /// Rate limit per user: returns whether the event is accepted and records it.
    fn accept(&self, user: &UserId) -> bool {
        let mut last_events = self.last_events.lock().unwrap_or_else(PoisonError::into_inner);
        let early = last_events.get(user).is_some_and(|since| since.elapsed() < PAUSE);
        if !early {
            last_events.insert(user.clone(), Instant::now());
        }
        !early
    }
}

/// Registers the event handlers of a socket.
pub fn register_handlers(socket: &SocketRef, realtime: &RealtimeServer) {
    let (handling, ignoring) = (Arc::downgrade(&realtime.0), Arc::downgrade(&realtime.0));
    socket.on(
        "document:activity",
        move |socket: SocketRef, TryData(payload): ActivityPayload| async move {
            if let Some(parts) = handling.upgrade() {
                handle_activity(&RealtimeServer(parts), &socket, payload.ok()).await;
            }
        },
    );
    socket.on_fallback(move || async move {
        if let Some(parts) = ignoring.upgrade() {
            parts.activity.ignore();
        }
    });
}

async fn handle_activity(realtime: &RealtimeServer, socket: &SocketRef, payload: Option<DocumentActivity>) {
    let activity = &realtime.0.activity;
    let (Some(connection), Some(DocumentActivity { document_id })) = (SocketConnection::of(socket), payload) else {
        return activity.ignore();
    };
    // Boards show the work of groups, so activity of teachers is not counted.
    let Some(context) = connection.context().filter(|_| connection.is_student()) else {
        return activity.ignore();
    };
    if !activity.accept(connection.user()) {
        return activity.ignore();
    }
    let organization = context.tenant.id().clone();
    let group = realtime
        .0
        .store
        .read(context, move |tx| tx.group_of_document(&document_id));
    match group.await {
        Ok(group) => {
            let group_key = (organization, group);
            realtime.0.peers.send_typing(&group_key, connection.user());
            realtime
                .0
                .typing
                .record(group_key, connection.user().clone(), clock::now());
        }
        // Unknown, foreign and hidden documents are indistinguishable here as well.
        Err(_) => activity.ignore(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_of_user_is_accepted_once_in_ten_seconds() {
        let (activity, ben) = (Activity::default(), UserId::new("ben"));
        assert!(activity.accept(&ben));
        assert!(!activity.accept(&ben));
        assert!(activity.accept(&UserId::new("cem")));
    }
}
