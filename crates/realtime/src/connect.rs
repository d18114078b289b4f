//! How a socket comes in: the guard asks who it is on every poll and upgrade, the namespace asks again, then the server
//! seats it and says `ready`. Nothing a client sends names a room.

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

use super::cut::Cut;
use super::seat::{Look, Seat, Ticket};
use super::wire::{self, Engine};
use super::{Live, Parts, activity, orders, payload};
use api_types::event::EmptyPayload;
use common::error::{Error, Result};
use db::platform::organizations::HostName;

/// Where the channel is.
pub(super) const PATH: &str = "/api/socket.io";
/// The most a client may send at once; it has next to nothing to say.
const LARGEST_MESSAGE: usize = 64 * 1024;
/// Packets that wait for one client; beyond that its events are lost.
const BUFFER: usize = 1024;
/// What is read of a client at once: it says next to nothing, and every socket holds so much for ever.
const READ_AT_ONCE: usize = 256;
/// How long a connection may take to name the namespace.
const CONNECT: Duration = Duration::from_secs(10);
/// Sockets one user may have.
const SOCKETS_PER_USER: usize = 20;
/// Look-ups of sockets that come in that run at the same time.
pub(super) const TURNS: usize = 32;
/// How often a failing look is tried again before the socket has to come back.
const TRIES: u32 = 4;

/// Builds the engine and its one namespace.
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
    // The engine lives inside `Live`; a strong reference here would keep both for ever.
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

/// Stands before the engine: our own page or no page, a good session, for each poll, each message and each upgrade. What
/// is not for the channel goes on.
pub async fn guard(State(live): State<Live>, request: Request, next: Next) -> Response {
    if is_channel(request.uri().path()) {
        // Apart from the others, whose answers need not carry what this takes.
        Box::pin(live.answer(request)).await
    } else {
        next.run(request).await
    }
}

/// What a request for the channel claims to be.
struct Claimed {
    token: Option<String>,
    host: Option<HostName>,
    /// The client's address as limits count it.
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
        // Read first and asked then: a body is nothing to hold while waiting.
        let claim = self.claim(&request);
        // A connection that becomes a WebSocket is this client's alone; one that is polled may be a proxy's.
        let is_upgrade = request.headers().contains_key(header::UPGRADE);
        let cut = request.extensions().get::<Cut>().filter(|_| is_upgrade).cloned();
        let opens = !has_session_id(request.uri().query().unwrap_or_default());
        let rate = if opens { Rate::Socket } else { Rate::Poll };
        let ticket = match self.check(claim, rate, cut).await {
            Ok(ticket) => Arc::new(ticket),
            Err(error) => return error.into_response(),
        };
        if let Some(cut) = &ticket.cut {
            self.0.cuts.keep(&ticket.session, &ticket.user, cut.clone());
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

    async fn check(&self, claim: Result<Claimed>, rate: Rate, cut: Option<Cut>) -> Result<Ticket> {
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
            cut,
        })
    }

    /// Waits for a turn to look something up: after a restart all clients come back together, and the readers serve
    /// requests as well.
    async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.0.entrance.acquire().await.ok()
    }

    fn sockets_of(&self, user: &UserId) -> usize {
        self.count(&Room::User(user.clone()))
    }
}

/// The namespace asks again: a connection may say hello at any time, also after its session ended.
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
            tracing::warn!(%error, "a socket could not be checked");
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
        // Several came in at once, past the check of `admit`.
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
                tracing::warn!(%error, attempt, "the rooms of a socket could not be read");
                tokio::time::sleep(Duration::from_millis(200) * attempt * attempt).await;
            }
        }
    }
    orders::turn_away(socket, &seat);
}

/// Says that the rooms are joined.
pub(super) fn tell_ready(socket: &SocketRef, seat: &Seat) {
    let payload = payload(Event::Ready, seat.organization(), None, &EmptyPayload {});
    if let Err(error) = socket.emit(Event::Ready.as_str(), &payload) {
        tracing::debug!(%error, "a socket went before it was ready");
    }
}

/// What `document:activity` says.
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
