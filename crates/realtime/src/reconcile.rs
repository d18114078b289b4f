//! Periodic reconciliation: every session with a socket is read again (the interval is a setting), and rooms are
//! corrected after lost signals. Expired sessions are ended here as well, because expiry sends no signal.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::id::SessionId;
use domain::realtime::{ConnectionTarget, Event, KillReason};
use socketioxide::extract::SocketRef;

use super::connection::SocketConnection;
use super::{RealtimeServer, payload};
use api_types::event::EmptyPayload;
use common::clock;
use common::error::Result;
use db::platform::CrossTenantReason;

/// Number of sweeps in which the rooms of every socket are computed once. This detects signals that were lost without
/// any other sign.
const ROUNDS: u64 = 5;
/// Period over which `sync:required` is sent, so that clients do not all reload at once.
const SPREAD: Duration = Duration::from_secs(3);

/// The sockets to reconcile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReconcileScope {
    /// Sockets whose session has changed, or whose last computation failed.
    Changed,
    /// Those of [`Self::Changed`], and one part of the others.
    Round(u64),
    /// Every socket, because signals may have been lost.
    All,
}

impl ReconcileScope {
    /// Whether sockets of this session are included although no change is known.
    fn includes(self, session: &SessionId) -> bool {
        match self {
            Self::Changed => false,
            Self::Round(round) => {
                let mut hasher = DefaultHasher::new();
                session.hash(&mut hasher);
                hasher.finish() % ROUNDS == round % ROUNDS
            }
            Self::All => true,
        }
    }
}

impl RealtimeServer {
    /// Runs the next sweep.
    pub async fn reconcile_round(&self) -> Result<()> {
        let round = self.0.reconcile_rounds.fetch_add(1, Ordering::Relaxed);
        self.reconcile(ReconcileScope::Round(round)).await
    }

    /// Sweeps once, without waiting for the interval.
    pub async fn reconcile_now(&self) -> Result<()> {
        self.reconcile(ReconcileScope::Changed).await
    }

    /// Disconnects sockets whose session has ended and corrects rooms.
    pub(super) async fn reconcile(&self, tx: ReconcileScope) -> Result<()> {
        self.0.websockets.remove_closed();
        self.0.activity.remove_expired();
        self.0.typing.remove_expired(clock::now());
        let connected: Vec<_> = self
            .sockets()
            .into_iter()
            .filter_map(|socket| SocketConnection::of(&socket).map(|connection| (socket, connection)))
            .collect();
        let sessions: HashSet<SessionId> = connected
            .iter()
            .map(|(_, connection)| connection.session().clone())
            .collect();
        let (Some(first), Some(last)) = (sessions.iter().min().cloned(), sessions.iter().max().cloned()) else {
            return Ok(());
        };
        let valid = self
            .0
            .store
            .platform_read(CrossTenantReason::SessionLookup, move |platform| {
                platform.valid_sessions(&first, &last, clock::now())
            });
        let valid: HashMap<_, _> = valid.await?.into_iter().collect();
        for session in sessions.into_iter().filter(|session| !valid.contains_key(session)) {
            self.kill(&ConnectionTarget::Session(session), KillReason::Expired);
        }
        let due = connected
            .into_iter()
            .filter(|(_, connection)| match valid.get(connection.session()) {
                Some(access_fingerprint) => {
                    tx.includes(connection.session()) || connection.needs_refresh(access_fingerprint)
                }
                None => false,
            });
        self.refresh_all(due.map(|(socket, _)| socket).collect()).await;
        Ok(())
    }

    /// Sends `sync:required` to every socket, spread over a few seconds.
    pub(super) fn send_sync_required(&self) {
        let sockets = self.sockets();
        tokio::spawn(async move {
            let pause = SPREAD / u32::try_from(sockets.len().max(1)).unwrap_or(u32::MAX);
            for socket in sockets {
                emit_sync_required(&socket);
                tokio::time::sleep(pause).await;
            }
        });
    }
}

fn emit_sync_required(socket: &SocketRef) {
    let payload = payload(Event::SyncRequired, None, None, &EmptyPayload {});
    if let Err(error) = socket.emit(Event::SyncRequired.as_str(), &payload) {
        tracing::debug!(%error, "socket closed before `sync:required` was sent");
    }
}
