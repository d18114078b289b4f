//! One socket and its user. The rooms are computed from the database, one computation at a time: every relevant change
//! sends a signal to compute them again, and the socket joins the rooms of its user and session before the first
//! computation, so no signal is missed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::access::{MemberRole, PlatformRole, Viewer};
use model::id::{OrganizationId, SessionId, UserId};
use model::news::Room;
use socketioxide::extract::SocketRef;

use super::abort::AbortHandle;
use super::presence::Guest;
use super::rooms;
use auth::{self, Gate};
use common::error::Result;
use db::platform::listeners::Standing;
use db::platform::organizations::HostName;
use db::platform::sessions::SessionFacts;
use db::{Standpoint, Store};

/// The result of the handshake. It lives as long as the socket.
pub struct Ticket {
    pub user: UserId,
    pub session: SessionId,
    /// The session token, to authenticate again. It is never logged or stored.
    pub token: String,
    /// The host of the request.
    pub host: Option<HostName>,
    /// Aborts the connection of the socket.
    pub abort_handle: Option<AbortHandle>,
}

/// A connected socket of a user.
pub struct Seat {
    ticket: Arc<Ticket>,
    place: Mutex<Place>,
    /// Serializes room computations, so that an older result does not overwrite a newer one.
    turn: tokio::sync::Mutex<()>,
    stale: AtomicBool,
    /// Incremented when a socket connects, disconnects or changes its organization.
    moves: Arc<AtomicU64>,
}

#[derive(Default)]
struct Place {
    is_gone: bool,
    guest: Option<Arc<Guest>>,
    standpoint: Option<Standpoint>,
    standing: Option<Standing>,
}

/// The result of a room computation.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    /// The rooms are up to date. `moved` means that the organization has changed.
    Seated { moved: bool },
    /// The session has ended.
    Over,
}

impl Seat {
    /// Joins a socket to the rooms of its user and session, before anything else is known.
    pub fn take(socket: &SocketRef, ticket: Arc<Ticket>, moves: Arc<AtomicU64>) -> Arc<Self> {
        let seat = Arc::new(Self {
            place: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            stale: AtomicBool::new(false),
            moves,
            ticket,
        });
        socket.extensions.insert(Arc::clone(&seat));
        socket.join(seat.own_rooms());
        seat
    }

    /// The seat of a socket.
    pub fn of(socket: &SocketRef) -> Option<Arc<Self>> {
        socket.extensions.get::<Arc<Self>>()
    }

    pub fn user(&self) -> &UserId {
        &self.ticket.user
    }

    pub fn session(&self) -> &SessionId {
        &self.ticket.session
    }

    /// Aborts the connection of the socket.
    pub fn abort_handle(&self) -> Option<&AbortHandle> {
        self.ticket.abort_handle.as_ref()
    }

    /// The organization of the socket.
    pub fn organization(&self) -> Option<OrganizationId> {
        self.place()
            .standpoint
            .as_ref()
            .map(|standpoint| standpoint.tenant.id().clone())
    }

    /// The user in the organization of the socket.
    pub fn guest(&self) -> Option<Arc<Guest>> {
        self.place().guest.clone()
    }

    /// The request context of the user in that organization, at the current time.
    pub fn standpoint(&self) -> Option<Standpoint> {
        let mut standpoint = self.place().standpoint.clone()?;
        standpoint.now = common::clock::now();
        Some(standpoint)
    }

    /// Whether the user is a student in that organization.
    pub fn is_student(&self) -> bool {
        let place = self.place();
        let viewer = place.standpoint.as_ref().map(|standpoint| &standpoint.viewer);
        matches!(viewer, Some(Viewer::Student(_)))
    }

    /// Whether the last computation failed, or its inputs have changed.
    pub fn needs_look(&self, now: &Standing) -> bool {
        self.stale.load(Ordering::Relaxed) || self.place().standing.as_ref().is_some_and(|then| then != now)
    }

    /// Removes the socket from all rooms permanently; a concurrent computation cannot join it again.
    pub fn leave(&self, socket: &SocketRef) {
        let mut place = self.place();
        place.is_gone = true;
        place.standpoint = None;
        place.guest = None;
        self.moves.fetch_add(1, Ordering::Relaxed);
        socket.leave_all();
    }

    /// Computes the rooms again, leaves and joins.
    pub async fn look(&self, socket: &SocketRef, gate: &Gate, store: &Store) -> Result<Look> {
        let _turn = self.turn.lock().await;
        let outcome = self.look_now(socket, gate, store).await;
        self.stale.store(outcome.is_err(), Ordering::Relaxed);
        outcome
    }

    async fn look_now(&self, socket: &SocketRef, gate: &Gate, store: &Store) -> Result<Look> {
        let (token, host) = (self.ticket.token.clone(), self.ticket.host.clone());
        let Some(facts) = gate.facts(token, host, None).await? else {
            return Ok(Look::Over);
        };
        let standing = standing(&facts);
        // Without an organization, without a membership, or in a suspended organization the socket has only its own
        // rooms.
        let standpoint = match auth::admit_to_organization(&facts) {
            Ok(()) => auth::caller(facts, None).standpoint(),
            Err(_) => None,
        };
        let found = match standpoint.clone() {
            Some(standpoint) => store.read(standpoint, |scope| scope.rooms()).await?,
            None => Vec::new(),
        };
        Ok(self.settle(socket, standpoint, standing, &found))
    }

    /// Leaves rooms that no longer apply and joins missing ones.
    fn settle(
        &self,
        socket: &SocketRef,
        standpoint: Option<Standpoint>,
        standing: Option<Standing>,
        found: &[Room],
    ) -> Look {
        let mut due: HashSet<String> = self.own_rooms().into_iter().collect();
        due.extend(found.iter().map(rooms::name));
        let organization = |standpoint: &Option<Standpoint>| standpoint.as_ref().map(|s| s.tenant.id().clone());
        let (next, mut place) = (organization(&standpoint), self.place());
        if let Some(organization) = &next {
            due.insert(rooms::user_in(self.user(), organization));
            let viewer = standpoint.as_ref().map(|standpoint| &standpoint.viewer);
            due.insert(rooms::name(&Room::Organization(organization.clone())));
            if viewer.is_some_and(Viewer::is_staff) {
                due.insert(rooms::name(&Room::OrganizationStaff(organization.clone())));
            }
            if viewer == Some(&Viewer::Admin) {
                due.insert(rooms::name(&Room::OrganizationAdmins(organization.clone())));
            }
        }
        if place.is_gone {
            return Look::Over;
        }
        let moved = organization(&place.standpoint) != next;
        let joined: HashSet<String> = socket.rooms().into_iter().map(Cow::into_owned).collect();
        socket.leave(joined.difference(&due).cloned().collect::<Vec<_>>());
        socket.join(due.difference(&joined).cloned().collect::<Vec<_>>());
        if moved || place.guest.is_none() {
            place.guest = next.map(|organization| Arc::new((organization, self.user().clone())));
            self.moves.fetch_add(1, Ordering::Relaxed);
        }
        place.standpoint = standpoint;
        place.standing = standing;
        Look::Seated { moved }
    }

    fn own_rooms(&self) -> Vec<String> {
        vec![
            rooms::name(&Room::User(self.user().clone())),
            rooms::session(self.session()),
        ]
    }

    fn place(&self) -> std::sync::MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }
}

/// The facts in the form that the sweep compares. An organization that only the Host names is not included.
fn standing(facts: &SessionFacts) -> Option<Standing> {
    let active = facts.session.active_organization_id.as_ref();
    let organization = facts
        .organization
        .as_ref()
        .filter(|organization| active == Some(organization.tenant.id()));
    if active.is_none() && facts.organization.is_some() {
        return None;
    }
    Some(Standing::new(
        active.map(OrganizationId::as_str),
        organization.is_some_and(|organization| !organization.suspended),
        organization
            .and_then(|organization| organization.member_role)
            .map(MemberRole::as_str),
        PlatformRole::as_str(facts.user.role),
    ))
}
