//! The real-time channel: Socket.IO at `/api/socket.io`. Only the server joins rooms, and every event is emitted after
//! its commit. Clients send almost nothing; they make changes over HTTP. See docs/api-contract.md#real-time-events.

pub mod abort;
mod activity;
mod board;
pub mod bus;
pub mod connect;
mod connection;
mod dispatch;
mod editor_rooms;
mod engine_io;
mod listener;
mod peers;
mod presence;
mod recent_events;
mod reconcile;
mod rooms;
mod save_throttle;
pub mod timeouts;
mod typing;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use domain::id::{ClassId, GroupId, OrganizationId, UserId};
use domain::realtime::{Event, Room};
use serde::Serialize;
use serde_json::Value;
use socketioxide::SocketIo;
use socketioxide::extract::SocketRef;
use socketioxide::operators::BroadcastOperators;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use self::abort::WebSocketConnections;
use self::activity::Activity;
use self::board::BoardRounds;
use self::connection::SocketConnection;
pub use self::editor_rooms::EditorPresence;
use self::peers::Peers;
use self::presence::Presence;
use self::recent_events::RecentEvents;
use self::save_throttle::SaveThrottle;
use self::typing::TypingActivity;
use api_types::event::Envelope;
use auth::Authenticator;
use common::clock;
use db::Store;

/// Timeout for disconnecting all sockets at shutdown.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections of clients that do not read are aborted after this time.
const ABORT_AFTER: Duration = Duration::from_secs(2);

/// The payload of an event that the server sends on its own, without an actor.
fn payload(event: Event, organization: Option<OrganizationId>, class: Option<ClassId>, rest: &impl Serialize) -> Value {
    let envelope = Envelope {
        event_id: clock::new_id(),
        at: clock::now(),
        organization_id: organization,
        class_id: class,
        actor: None,
    };
    envelope.with(event, rest)
}

/// The sockets of this instance. Cloning is cheap.
#[derive(Clone)]
pub struct RealtimeServer(Arc<RealtimeInner>);

struct RealtimeInner {
    authenticator: Authenticator,
    store: Store,
    frontend_origin: String,
    engine: OnceLock<engine_io::Engine>,
    io: OnceLock<SocketIo>,
    /// Limits concurrent look-ups for connecting sockets, see [`connect`].
    lookup_permits: Semaphore,
    websockets: WebSocketConnections,
    activity: Activity,
    typing: TypingActivity,
    presence: Presence,
    /// Incremented when a socket connects, disconnects or changes its organization. Boards are updated when it changes.
    presence_changes: Arc<AtomicU64>,
    board_rounds: tokio::sync::Mutex<BoardRounds>,
    reconcile_rounds: AtomicU64,
    peers: Peers,
    save_throttle: SaveThrottle,
    /// Receives the users who open and close documents in the built-in editor.
    editor_presence: OnceLock<mpsc::UnboundedSender<EditorPresence>>,
    recent_events: RecentEvents,
    /// Whether the LISTEN connection is open; true on SQLite, which needs none.
    is_listening: AtomicBool,
    closing: CancellationToken,
}

impl RealtimeServer {
    /// Creates the channel without sockets.
    pub fn new(authenticator: Authenticator, store: Store, frontend_origin: &str) -> Self {
        let realtime = Self(Arc::new(RealtimeInner {
            authenticator,
            store,
            frontend_origin: frontend_origin.to_owned(),
            engine: OnceLock::new(),
            io: OnceLock::new(),
            lookup_permits: Semaphore::new(connect::CONCURRENT_LOOKUPS),
            websockets: WebSocketConnections::default(),
            activity: Activity::default(),
            typing: TypingActivity::default(),
            presence: Presence::default(),
            presence_changes: Arc::default(),
            board_rounds: tokio::sync::Mutex::default(),
            reconcile_rounds: AtomicU64::new(0),
            peers: Peers::new(),
            save_throttle: SaveThrottle::default(),
            editor_presence: OnceLock::new(),
            recent_events: RecentEvents::new(),
            is_listening: AtomicBool::new(false),
            closing: CancellationToken::new(),
        }));
        let (engine, io) = connect::build(&realtime);
        drop(realtime.0.engine.set(engine));
        drop(realtime.0.io.set(io));
        realtime
    }

    /// Disconnects every socket, so that clients connect to another instance, and rejects new ones.
    pub async fn close(&self) {
        self.0.closing.cancel();
        let close = async { self.io().close().await };
        let abort_late = async {
            tokio::time::sleep(ABORT_AFTER).await;
            // A client that does not read would block the shutdown forever.
            self.0
                .websockets
                .remove_all()
                .iter()
                .for_each(abort::AbortHandle::abort);
            std::future::pending::<()>().await;
        };
        let closed = tokio::time::timeout(CLOSE_TIMEOUT, async {
            tokio::select! { () = close => {}, () = abort_late => {} }
        });
        if closed.await.is_err() {
            tracing::warn!("shutdown timeout: some sockets did not close");
        }
        self.0
            .websockets
            .remove_all()
            .iter()
            .for_each(abort::AbortHandle::abort);
    }

    /// A student has read these groups: the rooms of the student's sockets that have not joined them are computed
    /// again. No event is sent when a start date passes, so the next read triggers this.
    pub fn join_visible_groups(&self, organization: &OrganizationId, user: &UserId, groups: &[GroupId]) {
        let names: Vec<String> = groups
            .iter()
            .map(|group| rooms::name(&Room::Group(group.clone())))
            .collect();
        for socket in self.sockets_in(rooms::user_in(user, organization)) {
            let Some(connection) = SocketConnection::of(&socket) else {
                continue;
            };
            let joined = socket.rooms();
            let is_missing_room = names.iter().any(|name| joined.iter().all(|room| room != name));
            if is_missing_room && connection.is_student() {
                let realtime = self.clone();
                tokio::spawn(async move { realtime.refresh(&socket, &connection).await });
            }
        }
    }

    /// Whether a user has a socket in this organization, at this or another instance.
    pub fn is_online(&self, organization: &OrganizationId, user: &UserId) -> bool {
        let organization_user = (organization.clone(), user.clone());
        !self.sockets_in(rooms::user_in(user, organization)).is_empty()
            || self.0.presence.is_online_remotely(&organization_user, Instant::now())
    }

    /// The number of sockets in a room, for tests and metrics.
    pub fn count(&self, room: &Room) -> usize {
        self.sockets_in(rooms::name(room)).len()
    }

    /// The number of sockets.
    pub fn socket_count(&self) -> usize {
        self.sockets().len()
    }

    /// The number of open WebSocket connections.
    pub fn websocket_connections(&self) -> usize {
        self.0.websockets.count()
    }

    /// The number of rooms with at least one socket.
    pub async fn rooms(&self) -> usize {
        match self.io().of("/") {
            Some(all) => all.rooms().await.map_or(0, |rooms| rooms.len()),
            None => 0,
        }
    }

    /// Whether this instance receives the events of all instances. Without its LISTEN connection it does not; all clients
    /// receive `sync:required` once it is open again.
    pub fn is_listening(&self) -> bool {
        self.0.is_listening.load(Ordering::Relaxed)
    }

    fn set_listening(&self, is_listening: bool) {
        self.0.is_listening.store(is_listening, Ordering::Relaxed);
    }

    /// The number of ignored client messages.
    pub fn ignored(&self) -> u64 {
        self.0.activity.ignored()
    }

    fn io(&self) -> &SocketIo {
        self.0.io.get().expect("`new` sets it")
    }

    /// The sockets in a room; empty once the server stops.
    fn sockets_in(&self, room: String) -> Vec<SocketRef> {
        self.io()
            .of("/")
            .map(|all| all.within(room).sockets())
            .unwrap_or_default()
    }

    fn sockets(&self) -> Vec<SocketRef> {
        self.io().of("/").map(BroadcastOperators::sockets).unwrap_or_default()
    }
}
