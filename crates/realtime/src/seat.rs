//! One socket and who sits there. Its rooms are worked out from the store, one look after another: whatever changes
//! after a look sends an order to look again, and the socket stands in its user's and its session's room before the
//! first look, so no order can miss it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::access::{MemberRole, PlatformRole, Viewer};
use model::id::{OrganizationId, SessionId, UserId};
use model::news::Room;
use socketioxide::extract::SocketRef;

use super::cut::Cut;
use super::presence::Guest;
use super::rooms;
use auth::{self, Gate};
use common::error::Result;
use db::platform::listeners::Standing;
use db::platform::organizations::HostName;
use db::platform::sessions::SessionFacts;
use db::{Standpoint, Store};

/// What the guard found out about the connection; it lives as long as the socket.
pub struct Ticket {
    /// Whose.
    pub user: UserId,
    /// The session it came with.
    pub session: SessionId,
    /// The session's token, to ask for it again; never written anywhere.
    pub token: String,
    /// The host it was sent to.
    pub host: Option<HostName>,
    /// Ends the connection it came on.
    pub cut: Option<Cut>,
}

/// A socket of a user, in the server's eyes.
pub struct Seat {
    ticket: Arc<Ticket>,
    place: Mutex<Place>,
    /// Looks happen one after another: an older one must not overwrite a newer one.
    turn: tokio::sync::Mutex<()>,
    stale: AtomicBool,
    /// Counts who comes, goes and works in another organization.
    moves: Arc<AtomicU64>,
}

#[derive(Default)]
struct Place {
    is_gone: bool,
    guest: Option<Arc<Guest>>,
    standpoint: Option<Standpoint>,
    standing: Option<Standing>,
}

/// How a look ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    /// The rooms are right; told whether the organization is another one than before.
    Seated { moved: bool },
    /// The session is over.
    Over,
}

impl Seat {
    /// Puts a socket into its user's and its session's room; nothing else is known yet.
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

    /// Whose socket it is.
    pub fn user(&self) -> &UserId {
        &self.ticket.user
    }

    /// The session it came with.
    pub fn session(&self) -> &SessionId {
        &self.ticket.session
    }

    /// Ends the connection it came on.
    pub fn cut(&self) -> Option<&Cut> {
        self.ticket.cut.as_ref()
    }

    /// The organization it works in.
    pub fn organization(&self) -> Option<OrganizationId> {
        self.place()
            .standpoint
            .as_ref()
            .map(|standpoint| standpoint.tenant.id().clone())
    }

    /// Its user in the organization it works in.
    pub fn guest(&self) -> Option<Arc<Guest>> {
        self.place().guest.clone()
    }

    /// Where its user stands there, with the clock of now.
    pub fn standpoint(&self) -> Option<Standpoint> {
        let mut standpoint = self.place().standpoint.clone()?;
        standpoint.now = common::clock::now();
        Some(standpoint)
    }

    /// Whether its user is a student there.
    pub fn is_student(&self) -> bool {
        let place = self.place();
        let viewer = place.standpoint.as_ref().map(|standpoint| &standpoint.viewer);
        matches!(viewer, Some(Viewer::Student(_)))
    }

    /// Whether the last look failed, or something that decides about the rooms is no longer what it was then.
    pub fn needs_look(&self, now: &Standing) -> bool {
        self.stale.load(Ordering::Relaxed) || self.place().standing.as_ref().is_some_and(|then| then != now)
    }

    /// Takes the socket out of all rooms for good; a look that is under way cannot bring it back.
    pub fn leave(&self, socket: &SocketRef) {
        let mut place = self.place();
        place.is_gone = true;
        place.standpoint = None;
        place.guest = None;
        self.moves.fetch_add(1, Ordering::Relaxed);
        socket.leave_all();
    }

    /// Works out the rooms anew.
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
        // Without an organization, without membership or in a suspended one there is nothing but the own room.
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

    /// Leaves what is no longer due, joins what is missing.
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

/// The facts as the sweep reads them; an organization that only the Host names is not among them.
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
