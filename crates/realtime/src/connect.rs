//! The Socket.IO handshake: the guard authenticates every poll and upgrade, the namespace authenticates again, then the
//! server joins the rooms and sends `ready`. Clients never name a room.

use std::borrow::Cow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::id::UserId;
use domain::rate::{Meter, Rate};
use domain::realtime::{ConnectionTarget, Event, KillReason};
use serde::Deserialize;
use socketioxide::extract::{SocketRef, TryData};
use socketioxide::handler::ConnectHandler;
use socketioxide::{ParserConfig, SocketIo};
use tokio::sync::SemaphorePermit;

use super::abort::AbortHandle;
use super::connection::{Handshake, RefreshOutcome, SocketConnection};
use super::engine_io::{self, Engine};
use super::{RealtimeInner, RealtimeServer, activity, dispatch, editor_rooms, payload, rooms};
use api_types::event::Ready;
use common::error::{Error, Result};
use db::platform::organizations::HostName;

/// The path of the channel.
pub(super) const PATH: &str = "/api/socket.io";
/// Size limit of a client message in bytes. Clients send almost nothing.
const LARGEST_MESSAGE: usize = 64 * 1024;
/// Packets that are queued for a client. Further events are dropped.
const PACKET_BUFFER: usize = 1024;
/// Read buffer of a socket in bytes. Clients send almost nothing, and every socket holds this buffer permanently.
const READ_BUFFER: usize = 256;
/// Timeout from the connection to the CONNECT packet of the namespace.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Sockets per user.
const SOCKETS_PER_USER: usize = 20;
/// Concurrent look-ups for sockets that connect.
pub(super) const CONCURRENT_LOOKUPS: usize = 32;
/// Attempts to read the rooms of a socket before it is disconnected and has to reconnect.
const ATTEMPTS: u32 = 4;

/// Builds the engine and its only namespace.
pub(super) fn build(realtime: &RealtimeServer) -> (Engine, SocketIo) {
    let (service, io) = SocketIo::builder()
        .req_path(PATH)
        .max_payload(LARGEST_MESSAGE as u64)
        .ws_max_message_size(LARGEST_MESSAGE)
        .ws_max_frame_size(LARGEST_MESSAGE)
        .ws_read_buffer_size(READ_BUFFER)
        .max_buffer_size(PACKET_BUFFER)
        .connect_timeout(CONNECT_TIMEOUT)
        .with_parser(
            ParserConfig::common()
                .max_incoming_binaries(0)
                .max_incoming_binary_buf_size(0),
        )
        .build_with_inner_svc(engine_io::NoInnerService);
    // The engine is owned by `RealtimeServer`. A strong reference here would be a cycle and leak both.
    let (authenticating, connecting) = (Arc::downgrade(&realtime.0), Arc::downgrade(&realtime.0));
    let authenticate = move |socket: SocketRef| async move { authenticate(&socket, &authenticating).await };
    let connect = move |socket: SocketRef, TryData(auth): TryData<ConnectAuth>| async move {
        connect(socket, auth.unwrap_or_default(), &connecting).await;
    };
    io.ns("/", connect.with(authenticate));
    (Engine::new(service), io)
}

/// Whether a path belongs to the channel.
fn is_channel(path: &str) -> bool {
    path.strip_prefix(PATH)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Header with the position in the stream of events before the response was read from the database.
const EVENT_POSITION: HeaderName = HeaderName::from_static("event-position");

/// The payload of CONNECT.
#[derive(Debug, Default, Deserialize)]
struct ConnectAuth {
    /// The first `Event-Position` that the client received; `ready` lists the events since then.
    since: Option<String>,
}

/// Middleware in front of the engine: checks origin and session of every poll, message and upgrade. Other requests are
/// passed on, and those to the API get the position in the stream of events.
pub async fn guard(State(realtime): State<RealtimeServer>, request: Request, next: Next) -> Response {
    if is_channel(request.uri().path()) {
        // Boxed, so that the futures of other requests do not have to be large enough for it.
        Box::pin(realtime.handle(request)).await
    } else if request.uri().path().starts_with("/api/") {
        let position = realtime.0.recent_events.position();
        let mut response = next.run(request).await;
        let position = HeaderValue::try_from(position).expect("hexadecimal digits");
        response.headers_mut().insert(EVENT_POSITION, position);
        response
    } else {
        next.run(request).await
    }
}

/// The unverified credentials of a request for the channel.
struct SocketCredentials {
    token: Option<String>,
    host: Option<HostName>,
    /// The client address in the form that rate limits use.
    address: String,
}

/// Whether a query names a session of the engine, so that the request opens none.
fn has_session_id(query: &str) -> bool {
    query.split('&').any(|part| part.starts_with("sid="))
}

fn check_rate_limit(meter: Option<Meter>) -> Result<()> {
    match meter.filter(|meter| meter.is_refused) {
        None => Ok(()),
        Some(meter) => Err(Error::RateLimited {
            retry_after: u64::try_from(meter.resets_in).unwrap_or(1).max(1),
        }),
    }
}

impl RealtimeServer {
    async fn handle(&self, request: Request) -> Response {
        // Collected before the first await, so that the body is not held meanwhile.
        let credentials = self.credentials(&request);
        // An upgraded connection belongs to this client; a polled one may be a proxy's.
        let is_upgrade = request.headers().contains_key(header::UPGRADE);
        let abort_handle = request
            .extensions()
            .get::<AbortHandle>()
            .filter(|_| is_upgrade)
            .cloned();
        let opens_session = !has_session_id(request.uri().query().unwrap_or_default());
        let rate = if opens_session { Rate::Socket } else { Rate::Poll };
        let handshake = match self.check(credentials, rate, abort_handle).await {
            Ok(handshake) => Arc::new(handshake),
            Err(error) => return error.into_response(),
        };
        if let Some(abort_handle) = &handshake.abort_handle {
            self.0
                .websockets
                .insert(&handshake.session, &handshake.user, abort_handle.clone());
        }
        let engine = self.0.engine.get().expect("`new` sets it").clone();
        engine_io::handle(engine, request, handshake).await
    }

    fn credentials(&self, request: &Request) -> Result<SocketCredentials> {
        let origin = request.headers().get(header::ORIGIN);
        if origin.is_some_and(|origin| origin.as_bytes() != self.0.frontend_origin.as_bytes()) {
            return Err(Error::InvalidOrigin);
        }
        if self.0.closing.is_cancelled() {
            return Err(Error::NotReady);
        }
        let credentials = self.0.authenticator.credentials(request, &self.0.frontend_origin);
        Ok(SocketCredentials {
            token: credentials.token,
            host: credentials.host,
            address: credentials.address,
        })
    }

    async fn check(
        &self,
        credentials: Result<SocketCredentials>,
        rate: Rate,
        abort_handle: Option<AbortHandle>,
    ) -> Result<Handshake> {
        let SocketCredentials { token, host, address } = credentials?;
        let rate_limiter = self.rate_limiter();
        let Some(token) = token else {
            let meter = rate_limiter.and_then(|rate_limiter| rate_limiter.check_address(&address));
            check_rate_limit(meter)?;
            return Err(Error::Unauthenticated);
        };
        // A caller beyond the rate limit costs no session look-up.
        check_rate_limit(rate_limiter.and_then(|rate_limiter| rate_limiter.exhausted(rate, &token)))?;
        let _permit = self.acquire_lookup_permit().await;
        let facts = self
            .0
            .authenticator
            .find_session(token.clone(), host.clone(), None)
            .await?;
        let Some(facts) = facts else {
            check_rate_limit(rate_limiter.and_then(|rate_limiter| rate_limiter.check_address(&address)))?;
            return Err(Error::Unauthenticated);
        };
        if facts.is_second_factor_missing {
            return Err(Error::SecondFactorRequired);
        }
        if let Some(rate_limiter) = rate_limiter
            && let Some(meter) = rate_limiter
                .check_user(rate, &facts.user.id)
                .filter(|meter| meter.is_refused)
        {
            rate_limiter.remember_exhausted(rate, &token, meter);
            check_rate_limit(Some(meter))?;
        }
        Ok(Handshake {
            user: facts.user.id,
            session: facts.session.id,
            token,
            host,
            abort_handle,
        })
    }

    /// Limits concurrent look-ups: after a restart all clients reconnect at once, and ordinary requests need the
    /// database readers as well.
    async fn acquire_lookup_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.0.lookup_permits.acquire().await.ok()
    }

    /// The events that the socket would have received since its client began to read; called after it joined its rooms.
    fn missed_events(&self, socket: &SocketRef, auth: &ConnectAuth) -> Option<Vec<Event>> {
        let joined = socket.rooms().into_iter().map(Cow::into_owned).collect();
        self.0.recent_events.missed(auth.since.as_deref()?, &joined)
    }

    fn sockets_of(&self, user: &UserId) -> usize {
        self.sockets_in(rooms::sockets_of(user)).len()
    }
}

/// Authenticates again, because a client may send CONNECT at any time, also after its session has ended.
async fn authenticate(socket: &SocketRef, realtime: &Weak<RealtimeInner>) -> Result<(), &'static str> {
    let realtime = realtime.upgrade().map(RealtimeServer).ok_or("NOT_READY")?;
    let handshake = socket.req_parts().extensions.get::<Arc<Handshake>>();
    let handshake = handshake.ok_or("UNAUTHENTICATED")?;
    let _permit = realtime.acquire_lookup_permit().await;
    match realtime
        .0
        .authenticator
        .find_session(handshake.token.clone(), handshake.host.clone(), None)
        .await
    {
        Ok(Some(_)) if realtime.sockets_of(&handshake.user) >= SOCKETS_PER_USER => Err("TOO_MANY_SOCKETS"),
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err("UNAUTHENTICATED"),
        Err(error) => {
            tracing::warn!(%error, "socket authentication failed");
            Err("NOT_READY")
        }
    }
}

async fn connect(socket: SocketRef, auth: ConnectAuth, realtime: &Weak<RealtimeInner>) {
    let Some(realtime) = realtime.upgrade().map(RealtimeServer) else {
        return;
    };
    let Some(handshake) = socket.req_parts().extensions.get::<Arc<Handshake>>().cloned() else {
        return;
    };
    let connection = SocketConnection::open(&socket, handshake, Arc::clone(&realtime.0.presence_changes));
    activity::register_handlers(&socket, &realtime);
    editor_rooms::register_handlers(&socket, &realtime);
    if realtime.sockets_of(connection.user()) > SOCKETS_PER_USER {
        // Several sockets connected concurrently and passed the check in `authenticate`.
        return dispatch::disconnect(socket, &connection);
    }
    for attempt in 1..=ATTEMPTS {
        let permit = realtime.acquire_lookup_permit().await;
        let outcome = connection
            .refresh(&socket, &realtime.0.authenticator, &realtime.0.store)
            .await;
        drop(permit);
        match outcome {
            Ok(RefreshOutcome::Refreshed { .. }) => {
                return emit_ready(&socket, &connection, realtime.missed_events(&socket, &auth));
            }
            Ok(RefreshOutcome::Closed) => return,
            Ok(RefreshOutcome::Over) => {
                let party = ConnectionTarget::Session(connection.session().clone());
                return realtime.kill(&party, KillReason::Revoked);
            }
            Err(error) => {
                tracing::warn!(%error, attempt, "socket rooms could not be read");
                tokio::time::sleep(Duration::from_millis(200) * attempt * attempt).await;
            }
        }
    }
    dispatch::disconnect(socket, &connection);
}

/// Emits `ready`: the rooms are joined. Without `missed` the client may have missed any event.
pub(super) fn emit_ready(socket: &SocketRef, connection: &SocketConnection, missed: Option<Vec<Event>>) {
    let payload = payload(Event::Ready, connection.organization(), None, &Ready { missed });
    if let Err(error) = socket.emit(Event::Ready.as_str(), &payload) {
        tracing::debug!(%error, "socket closed before `ready` was sent");
    }
}

/// The payload of `document:activity`.
pub(super) type ActivityPayload = TryData<activity::DocumentActivity>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_socket_path_and_paths_below_are_authenticated() {
        for path in ["/api/socket.io", "/api/socket.io/", "/api/socket.io/x"] {
            assert!(is_channel(path), "{path}");
        }
        for path in ["/api/socket.iox", "/api/socket", "/socket.io", "/api//socket.io"] {
            assert!(!is_channel(path), "{path}");
        }
    }
}
