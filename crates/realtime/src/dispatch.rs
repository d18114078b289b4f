//! Dispatches signals to the sockets of this instance: emit an event, compute rooms again, disconnect. The order of
//! signals is preserved.

use std::time::Duration;

use domain::id::OrganizationId;
use domain::realtime::{ConnectionTarget, Event, KillReason, Room, Signal};
use futures_util::StreamExt as _;
use serde_json::Value;
use socketioxide::extract::SocketRef;

use super::connection::{RefreshOutcome, SocketConnection};
use super::save_throttle::ThrottleDecision;
use super::{RealtimeServer, connect, payload, rooms};
use api_types::event::SessionRevoked;

/// Concurrent room computations. After a restart all clients reconnect at once.
const CONCURRENT_REFRESHES: usize = 8;
/// Time for a socket to receive `session:revoked` before its connection is aborted.
const ABORT_DELAY: Duration = Duration::from_millis(400);

/// An event to be emitted, see [`Signal::Emit`].
#[derive(Debug)]
pub struct Emission {
    pub organization: Option<OrganizationId>,
    pub rooms: Vec<Room>,
    pub except: Vec<Room>,
    pub event: Event,
    pub payload: Value,
}

impl RealtimeServer {
    /// Dispatches the signals of one transaction.
    pub(super) async fn dispatch(&self, signals: Vec<Signal>) {
        for signal in signals {
            match signal {
                Signal::Emit {
                    organization,
                    rooms,
                    except,
                    event,
                    payload,
                } => {
                    let emission = Emission {
                        organization,
                        rooms,
                        except,
                        event,
                        payload,
                    };
                    self.emit_throttled(emission).await;
                }
                Signal::Resync { parties, leave } => self.resync(&parties, &leave).await,
                Signal::Kill { party, reason } => self.kill(&party, reason),
            }
        }
    }

    async fn emit_throttled(&self, emission: Emission) {
        match self.0.save_throttle.decide(emission) {
            ThrottleDecision::Now(emissions) => {
                for emission in emissions {
                    self.emit(emission).await;
                }
            }
            ThrottleDecision::NowThenPause(emission, document) => {
                self.pause_saves(document, emission.rooms.clone());
                self.emit(*emission).await;
            }
            ThrottleDecision::Later => {}
        }
    }

    /// Emits an event to the union of its rooms.
    pub(super) async fn emit(&self, emission: Emission) {
        let (organization, event) = (emission.organization.as_ref(), emission.event.as_str());
        let names = rooms::names(&emission.rooms, organization);
        // socketioxide treats an empty list of rooms as all sockets.
        let (false, Some(all)) = (names.is_empty(), self.io().of("/")) else {
            return;
        };
        let except = rooms::names(&emission.except, organization);
        // Sockets join the room of an open document on request, so they cannot have missed these frequent events. The
        // presence of a group is emitted again for each student who connects.
        if !matches!(
            emission.event,
            Event::DocumentCursor | Event::DocumentCommits | Event::GroupPresence
        ) {
            self.0
                .recent_events
                .record(emission.event, names.clone(), except.clone());
        }
        let broadcast = all.to(names).except(except);
        if let Err(error) = broadcast.emit(event, &emission.payload).await {
            tracing::warn!(%error, event, "event could not be sent to every socket");
        }
    }

    async fn resync(&self, parties: &[ConnectionTarget], leave: &[Room]) {
        let mut sockets: Vec<SocketRef> = Vec::new();
        for socket in parties.iter().flat_map(|party| self.sockets_of_party(party)) {
            if !sockets.contains(&socket) {
                sockets.push(socket);
            }
        }
        if !leave.is_empty() {
            let names = rooms::names(leave, None);
            for socket in &sockets {
                socket.leave(names.clone());
            }
        }
        self.refresh_all(sockets).await;
    }

    /// Computes the rooms of these sockets again, a few at a time.
    pub(super) async fn refresh_all(&self, sockets: Vec<SocketRef>) {
        futures_util::stream::iter(sockets)
            .for_each_concurrent(CONCURRENT_REFRESHES, |socket| async move {
                if let Some(connection) = SocketConnection::of(&socket) {
                    self.refresh(&socket, &connection).await;
                }
            })
            .await;
    }

    /// Computes the rooms of a socket again. After a failure the next sweep repeats it.
    pub(super) async fn refresh(&self, socket: &SocketRef, connection: &SocketConnection) {
        match connection.refresh(socket, &self.0.authenticator, &self.0.store).await {
            Ok(RefreshOutcome::Refreshed {
                has_new_organization: true,
            }) => connect::emit_ready(socket, connection, None),
            Ok(
                RefreshOutcome::Refreshed {
                    has_new_organization: false,
                }
                | RefreshOutcome::Closed,
            ) => {}
            Ok(RefreshOutcome::Over) => self.kill(
                &ConnectionTarget::Session(connection.session().clone()),
                KillReason::Revoked,
            ),
            Err(error) => tracing::warn!(%error, "socket rooms could not be read, retrying at the next check"),
        }
    }

    /// Sends the reason to sockets and disconnects them. The row of the session is deleted already, so they cannot
    /// reconnect.
    pub(super) fn kill(&self, party: &ConnectionTarget, reason: KillReason) {
        let sockets = self.sockets_of_party(party);
        let mut sessions: Vec<_> = sockets
            .iter()
            .filter_map(|socket| SocketConnection::of(socket).map(|connection| connection.session().clone()))
            .collect();
        match party {
            ConnectionTarget::Session(session) => sessions.push(session.clone()),
            ConnectionTarget::User(user) => sessions.extend(self.0.websockets.sessions_of(user)),
            ConnectionTarget::Room(_) | ConnectionTarget::Admins(_) => {}
        }
        let payload = payload(Event::SessionRevoked, None, None, &SessionRevoked { reason });
        for socket in sockets {
            if let Some(connection) = SocketConnection::of(&socket) {
                connection.leave(&socket);
            }
            // Both fail for a client that does not read; its connection is aborted below.
            drop(socket.emit(Event::SessionRevoked.as_str(), &payload));
            drop(socket.disconnect());
        }
        let websockets: Vec<_> = sessions
            .iter()
            .flat_map(|session| self.0.websockets.remove(session))
            .collect();
        if !websockets.is_empty() {
            tokio::spawn(async move {
                tokio::time::sleep(ABORT_DELAY).await;
                websockets.iter().for_each(super::abort::AbortHandle::abort);
            });
        }
    }

    fn sockets_of_party(&self, party: &ConnectionTarget) -> Vec<SocketRef> {
        self.sockets_in(match party {
            ConnectionTarget::User(user) => rooms::sockets_of(user),
            ConnectionTarget::Session(session) => rooms::session(session),
            ConnectionTarget::Room(room) => rooms::name(room),
            ConnectionTarget::Admins(organization) => rooms::name(&Room::OrganizationAdmins(organization.clone())),
        })
    }
}

/// Disconnects a socket, which may reconnect later.
pub(super) fn disconnect(socket: SocketRef, connection: &SocketConnection) {
    connection.leave(&socket);
    let abort_handle = connection.abort_handle().cloned();
    drop(socket.disconnect());
    if let Some(abort_handle) = abort_handle {
        tokio::spawn(async move {
            tokio::time::sleep(ABORT_DELAY).await;
            abort_handle.abort();
        });
    }
}
