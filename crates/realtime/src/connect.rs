//! The Socket.IO handshake: the guard authenticates every poll and upgrade, the namespace authenticates again, then the
//! server joins the rooms and sends `ready`. Clients never name a room.

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use model::id::UserId;
use model::news::{Event, KillReason, Party, Room};
use model::rate::{Meter, Rate};
use socketioxide::extract::{SocketRef, TryData};
use socketioxide::handler::ConnectHandler;
use socketioxide::{ParserConfig, SocketIo};
use tokio::sync::SemaphorePermit;

use super::abort::AbortHandle;
use super::seat::{Look, Seat, Ticket};
use super::wire::{self, Engine};
use super::{Live, Parts, activity, orders, payload};
use api_types::event::EmptyPayload;
use common::error::{Error, Result};
use db::platform::organizations::HostName;

/// The path of the channel.
pub(super) const PATH: &str = "/api/socket.io";
/// Size limit of a client message in bytes. Clients send almost nothing.
const LARGEST_MESSAGE: usize = 64 * 1024;
/// Packets that are queued for a client. Further events are dropped.
const BUFFER: usize = 1024;
/// Read buffer of a socket in bytes. Clients send almost nothing, and every socket holds this buffer permanently.
const READ_AT_ONCE: usize = 256;
/// Timeout from the connection to the CONNECT packet of the namespace.
const CONNECT: Duration = Duration::from_secs(10);
/// Sockets per user.
const SOCKETS_PER_USER: usize = 20;
/// Concurrent look-ups for sockets that connect.
pub(super) const TURNS: usize = 32;
/// Attempts to read the rooms of a socket before it is disconnected and has to reconnect.
const TRIES: u32 = 4;

/// Builds the engine and its only namespace.
pub(super) fn build(live: &Live) -> (Engine, SocketIo) {
    let (engine, io) = SocketIo::builder()
        .req_path(PATH)
        .max_payload(LARGEST_MESSAGE as u64)
        .ws_max_message_size(LARGEST_MESSAGE)
        .ws_max_frame_size(LARGEST_MESSAGE)
        .ws_read_buffer_size(READ_AT_ONCE)
        .max_buffer_size(BUFFER)
        .connect_timeout(CONNECT)
        .with_parser(
            ParserConfig::common()
                .max_incoming_binaries(0)
                .max_incoming_binary_buf_size(0),
        )
        .build_with_inner_svc(wire::Nothing);
    // The engine is owned by `Live`. A strong reference here would be a cycle and leak both.
    let (admitting, seating) = (Arc::downgrade(&live.0), Arc::downgrade(&live.0));
    let admit = move |socket: SocketRef| async move { admit(&socket, &admitting).await };
    let seat = move |socket: SocketRef| async move { seat(socket, &seating).await };
    io.ns("/", seat.with(admit));
    (engine, io)
}

/// Whether a path belongs to the channel.
fn is_channel(path: &str) -> bool {
    path.strip_prefix(PATH)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Middleware in front of the engine: checks origin and session of every poll, message and upgrade. Other requests are
/// passed on.
pub async fn guard(State(live): State<Live>, request: Request, next: Next) -> Response {
    if is_channel(request.uri().path()) {
        // Boxed, so that the futures of other requests do not have to be large enough for it.
        Box::pin(live.answer(request)).await
    } else {
        next.run(request).await
    }
}

/// The unverified credentials of a request for the channel.
struct Claimed {
    token: Option<String>,
    host: Option<HostName>,
    /// The client address in the form that rate limits use.
    address: String,
}

/// Whether a query names a session of the engine, so that the request opens none.
fn has_session_id(query: &str) -> bool {
    query.split('&').any(|part| part.starts_with("sid="))
}

fn within_rate(meter: Option<Meter>) -> Result<()> {
    match meter.filter(|meter| meter.is_refused) {
        None => Ok(()),
        Some(meter) => Err(Error::RateLimited {
            retry_after: u64::try_from(meter.resets_in).unwrap_or(1).max(1),
        }),
    }
}

impl Live {
    async fn answer(&self, request: Request) -> Response {
        // Collected before the first await, so that the body is not held meanwhile.
        let claim = self.claim(&request);
        // An upgraded connection belongs to this client; a polled one may be a proxy's.
        let is_upgrade = request.headers().contains_key(header::UPGRADE);
        let abort_handle = request
            .extensions()
            .get::<AbortHandle>()
            .filter(|_| is_upgrade)
            .cloned();
        let opens = !has_session_id(request.uri().query().unwrap_or_default());
        let rate = if opens { Rate::Socket } else { Rate::Poll };
        let ticket = match self.check(claim, rate, abort_handle).await {
            Ok(ticket) => Arc::new(ticket),
            Err(error) => return error.into_response(),
        };
        if let Some(abort_handle) = &ticket.abort_handle {
            self.0
                .websockets
                .insert(&ticket.session, &ticket.user, abort_handle.clone());
        }
        let engine = self.0.engine.get().expect("`new` sets it").clone();
        wire::answer(engine, request, ticket).await
    }

    fn claim(&self, request: &Request) -> Result<Claimed> {
        let origin = request.headers().get(header::ORIGIN);
        if origin.is_some_and(|origin| origin.as_bytes() != self.0.frontend_origin.as_bytes()) {
            return Err(Error::InvalidOrigin);
        }
        if self.0.closing.is_cancelled() {
            return Err(Error::NotReady);
        }
        let claim = self.0.gate.claim(request, &self.0.frontend_origin);
        Ok(Claimed {
            token: claim.token,
            host: claim.host,
            address: claim.address,
        })
    }

    async fn check(&self, claim: Result<Claimed>, rate: Rate, abort_handle: Option<AbortHandle>) -> Result<Ticket> {
        let Claimed { token, host, address } = claim?;
        let rates = self.rates();
        let Some(token) = token else {
            let meter = rates.and_then(|rates| rates.address(&address));
            within_rate(meter)?;
            return Err(Error::Unauthenticated);
        };
        // A caller beyond the rate limit costs no session look-up.
        within_rate(rates.and_then(|rates| rates.spent(rate, &token)))?;
        let _turn = self.turn().await;
        let facts = self.0.gate.facts(token.clone(), host.clone(), None).await?;
        let Some(facts) = facts else {
            within_rate(rates.and_then(|rates| rates.address(&address)))?;
            return Err(Error::Unauthenticated);
        };
        if let Some(rates) = rates
            && let Some(meter) = rates.person(rate, &facts.user.id).filter(|meter| meter.is_refused)
        {
            rates.remember_spent(rate, &token, meter);
            within_rate(Some(meter))?;
        }
        Ok(Ticket {
            user: facts.user.id,
            session: facts.session.id,
            token,
            host,
            abort_handle,
        })
    }

    /// Limits concurrent look-ups: after a restart all clients reconnect at once, and ordinary requests need the
    /// database readers as well.
    async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.0.entrance.acquire().await.ok()
    }

    fn sockets_of(&self, user: &UserId) -> usize {
        self.count(&Room::User(user.clone()))
    }
}

/// Authenticates again, because a client may send CONNECT at any time, also after its session has ended.
async fn admit(socket: &SocketRef, live: &Weak<Parts>) -> Result<(), &'static str> {
    let live = live.upgrade().map(Live).ok_or("NOT_READY")?;
    let ticket = socket.req_parts().extensions.get::<Arc<Ticket>>();
    let ticket = ticket.ok_or("UNAUTHENTICATED")?;
    let _turn = live.turn().await;
    match live.0.gate.facts(ticket.token.clone(), ticket.host.clone(), None).await {
        Ok(Some(_)) if live.sockets_of(&ticket.user) >= SOCKETS_PER_USER => Err("TOO_MANY_SOCKETS"),
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err("UNAUTHENTICATED"),
        Err(error) => {
            tracing::warn!(%error, "socket authentication failed");
            Err("NOT_READY")
        }
    }
}

async fn seat(socket: SocketRef, live: &Weak<Parts>) {
    let Some(live) = live.upgrade().map(Live) else { return };
    let Some(ticket) = socket.req_parts().extensions.get::<Arc<Ticket>>().cloned() else {
        return;
    };
    let seat = Seat::take(&socket, ticket, Arc::clone(&live.0.moves));
    activity::listen(&socket, &live);
    if live.sockets_of(seat.user()) > SOCKETS_PER_USER {
        // Several sockets connected concurrently and passed the check in `admit`.
        return orders::turn_away(socket, &seat);
    }
    for attempt in 1..=TRIES {
        let turn = live.turn().await;
        let looked = seat.look(&socket, &live.0.gate, &live.0.store).await;
        drop(turn);
        match looked {
            Ok(Look::Seated { .. }) => return tell_ready(&socket, &seat),
            Ok(Look::Over) => {
                let party = Party::Session(seat.session().clone());
                return live.kill(&party, KillReason::Revoked);
            }
            Err(error) => {
                tracing::warn!(%error, attempt, "socket rooms could not be read");
                tokio::time::sleep(Duration::from_millis(200) * attempt * attempt).await;
            }
        }
    }
    orders::turn_away(socket, &seat);
}

/// Emits `ready`: the rooms are joined.
pub(super) fn tell_ready(socket: &SocketRef, seat: &Seat) {
    let payload = payload(Event::Ready, seat.organization(), None, &EmptyPayload {});
    if let Err(error) = socket.emit(Event::Ready.as_str(), &payload) {
        tracing::debug!(%error, "socket closed before `ready` was sent");
    }
}

/// The payload of `document:activity`.
pub(super) type Said = TryData<activity::Writing>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_channel_and_what_is_below_it_is_guarded() {
        for path in ["/api/socket.io", "/api/socket.io/", "/api/socket.io/x"] {
            assert!(is_channel(path), "{path}");
        }
        for path in ["/api/socket.iox", "/api/socket", "/socket.io", "/api//socket.io"] {
            assert!(!is_channel(path), "{path}");
        }
    }
}
