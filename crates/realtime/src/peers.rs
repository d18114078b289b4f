//! Messages between instances over PostgreSQL: presence and typing for lesson boards, cursors of the built-in editor, and
//! request counts of active users, so that rate limits apply to all instances together. They are sent with NOTIFY and are neither stored nor
//! logged. Delivery is best effort; a later message supersedes a lost one.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use domain::id::{GroupId, OrganizationId, UserId};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::RealtimeServer;
use super::presence::OrganizationUser;
use api_types::event::DocumentCursor;
use auth::rate_limiter::{RateLimiter, RequestCount};
use common::clock;

/// The NOTIFY channel.
pub const CHANNEL: &str = "app_board";
/// Messages queued for the connection. Further ones are dropped.
const QUEUE_LENGTH: usize = 256;
/// Users per message; the payload of a notification is limited to less than 8,000 bytes.
const USERS_PER_MESSAGE: usize = 80;

/// The connection to the other instances.
pub struct Peers {
    /// The id of this instance.
    instance_id: String,
    queue: OnceLock<mpsc::Sender<String>>,
    /// The rate limiter that counts of other instances are added to.
    rate_limiter: OnceLock<RateLimiter>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PeerMessage {
    from: String,
    #[serde(rename = "says")]
    body: PeerMessageBody,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum PeerMessageBody {
    #[serde(rename = "writing")]
    Typing(OrganizationId, GroupId, UserId),
    #[serde(rename = "here")]
    Connected(Vec<OrganizationUser>),
    #[serde(rename = "gone")]
    Disconnected(Vec<OrganizationUser>),
    #[serde(rename = "cursor")]
    CursorMoved(OrganizationId, DocumentCursor),
    #[serde(rename = "asked")]
    RequestsCounted(RequestCount),
}

impl Peers {
    /// Creates a disconnected value.
    pub fn new() -> Self {
        Self {
            instance_id: clock::new_id(),
            queue: OnceLock::new(),
            rate_limiter: OnceLock::new(),
        }
    }

    /// Opens the queue of outgoing messages and returns its receiver.
    pub fn open_queue(&self) -> mpsc::Receiver<String> {
        let (sender, queue) = mpsc::channel(QUEUE_LENGTH);
        drop(self.queue.set(sender));
        queue
    }

    /// Whether there can be other instances. With SQLite there is only one.
    pub fn has_queue(&self) -> bool {
        self.queue.get().is_some()
    }

    /// Sends that a user is writing.
    pub fn send_typing(&self, (organization, group): &(OrganizationId, GroupId), user: &UserId) {
        self.send(PeerMessageBody::Typing(
            organization.clone(),
            group.clone(),
            user.clone(),
        ));
    }

    /// Sends the cursor of a page in the built-in editor.
    pub(super) fn send_cursor(&self, organization: &OrganizationId, cursor: &DocumentCursor) {
        self.send(PeerMessageBody::CursorMoved(organization.clone(), cursor.clone()));
    }

    /// Sends the users connected to this instance.
    pub fn send_connected(&self, users: &[Arc<OrganizationUser>]) {
        users
            .chunks(USERS_PER_MESSAGE)
            .for_each(|chunk| self.send(PeerMessageBody::Connected(cloned_users(chunk))));
    }

    /// Sends the users who disconnected from this instance.
    pub fn send_disconnected(&self, users: &[Arc<OrganizationUser>]) {
        users
            .chunks(USERS_PER_MESSAGE)
            .for_each(|chunk| self.send(PeerMessageBody::Disconnected(cloned_users(chunk))));
    }

    fn send(&self, body: PeerMessageBody) {
        let Some(queue) = self.queue.get() else { return };
        let from = self.instance_id.clone();
        let text = serde_json::to_string(&PeerMessage { from, body }).expect("ids can be written as JSON");
        if queue.try_send(text).is_err() {
            tracing::debug!("peer message dropped: queue full");
        }
    }
}

fn cloned_users(users: &[Arc<OrganizationUser>]) -> Vec<OrganizationUser> {
    users
        .iter()
        .map(|organization_user| OrganizationUser::clone(organization_user))
        .collect()
}

impl RealtimeServer {
    /// Shares rate limits between instances: counts of active users are sent to the others, and theirs are added.
    pub fn share_rate_limits(&self, rate_limiter: &RateLimiter) {
        let realtime = Arc::downgrade(&self.0);
        rate_limiter.report_with(move |count| {
            if let Some(realtime) = realtime.upgrade() {
                realtime.peers.send(PeerMessageBody::RequestsCounted(count));
            }
        });
        drop(self.0.peers.rate_limiter.set(rate_limiter.clone()));
    }

    /// The rate limiter; `None` until [`Self::share_rate_limits`] was called.
    pub(super) fn rate_limiter(&self) -> Option<&RateLimiter> {
        self.0.peers.rate_limiter.get()
    }

    /// Opens the queue of outgoing peer messages and returns its receiver.
    pub(super) fn open_peer_queue(&self) -> mpsc::Receiver<String> {
        self.0.peers.open_queue()
    }

    /// Handles a message of an instance. Its own messages are ignored.
    pub(super) fn handle_peer_message(&self, text: &str) {
        let Ok(PeerMessage { from, body }) = serde_json::from_str(text) else {
            return tracing::warn!("peer message could not be parsed");
        };
        if from == self.0.peers.instance_id {
            return;
        }
        match body {
            PeerMessageBody::Typing(organization, group, user) => {
                self.0.typing.record((organization, group), user, clock::now());
            }
            PeerMessageBody::Connected(users) => self.0.presence.insert_remote(&from, users, Instant::now()),
            PeerMessageBody::Disconnected(users) => self.0.presence.remove_remote(&from, &users),
            PeerMessageBody::CursorMoved(organization, cursor) => self.emit_cursor_later(organization, cursor),
            PeerMessageBody::RequestsCounted(count) => {
                if let Some(rate_limiter) = self.0.peers.rate_limiter.get() {
                    rate_limiter.add(count);
                }
            }
        }
    }
}
