//! Builds the signals of one change. Every payload has the same envelope: event id, time, organization, class and
//! actor.

use model::edit::Changed;
use model::group::Place;
use model::id::{ClassId, OrganizationId, UserId};
use model::news::{Event, KillReason, Party, Room, Signal};
use model::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use api_types::audience::Audience;
use api_types::event::{Envelope, EventPerson};
use common::clock;
use db::Actor;

/// The signals of one change.
pub struct Telling<'a> {
    actor: Option<EventPerson>,
    organization: &'a OrganizationId,
    now: Timestamp,
    signals: Vec<Signal>,
}

/// One event; the versions for different audiences share its event id.
pub struct Told {
    class: Option<ClassId>,
    event: Event,
    id: String,
}

impl<'a> Telling<'a> {
    pub fn new(actor: &Actor, organization: &'a OrganizationId, now: Timestamp) -> Self {
        let actor = actor.user.as_ref().map(|user| EventPerson {
            id: user.clone(),
            name: actor.name.clone(),
        });
        Self {
            actor,
            organization,
            now,
            signals: Vec::new(),
        }
    }

    /// Returns the time of the change.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the collected signals.
    pub fn signals(self) -> Vec<Signal> {
        self.signals
    }

    /// Creates an event about a class.
    pub fn event(class: &ClassId, event: Event) -> Told {
        Told {
            class: Some(class.clone()),
            event,
            id: clock::new_id(),
        }
    }

    /// Creates an event without a class.
    pub fn event_without_class(event: Event) -> Told {
        Told {
            class: None,
            event,
            id: clock::new_id(),
        }
    }

    /// Emits the event to the union of these rooms.
    pub fn tell(&mut self, told: &Told, rooms: Vec<Room>, rest: impl Serialize) {
        self.tell_except(told, rooms, Vec::new(), rest);
    }

    /// Emits the event to the union of `rooms`, without the sockets in `except`.
    pub fn tell_except(&mut self, told: &Told, rooms: Vec<Room>, except: Vec<Room>, rest: impl Serialize) {
        if rooms.is_empty() {
            return;
        }
        let payload = self.payload(told, &rest);
        self.signals.push(Signal::Emit {
            organization: Some(self.organization.clone()),
            rooms,
            except,
            event: told.event,
            payload,
        });
    }

    /// Emits the event to staff of its class.
    pub fn tell_staff(&mut self, told: &Told, rest: impl Serialize) {
        let rooms = told.class.iter().map(|class| Room::Staff(class.clone())).collect();
        self.tell(told, rooms, rest);
    }

    /// Emits the event to the students of a group, while the group is open to them.
    pub fn tell_members(&mut self, told: &Told, place: &Place, rest: impl Serialize) {
        if place.is_open(self.now) {
            // A socket in both rooms must not receive the event twice.
            let staff = vec![Room::Staff(place.class.clone())];
            self.tell_except(told, vec![Room::Group(place.group.id.clone())], staff, rest);
        }
    }

    /// Emits an event to the rooms of a group, with a payload per audience.
    pub fn tell_group<T: Serialize>(&mut self, place: &Place, event: Event, rest: impl Fn(&Audience) -> T) {
        let told = Self::event(&place.class, event);
        self.tell_staff(&told, rest(&Audience::Staff));
        self.tell_members(&told, place, rest(&Audience::Group));
    }

    /// Emits an event with the same payload to both audiences of a group; each socket receives it once.
    pub fn tell_group_alike(&mut self, place: &Place, event: Event, rest: impl Serialize) {
        let rooms = place.rooms(self.now);
        self.tell(&Self::event(&place.class, event), rooms, rest);
    }

    /// Adds commands to sockets, without an event.
    pub fn order(&mut self, orders: Vec<Signal>) {
        self.signals.extend(orders);
    }

    /// Recomputes the rooms of these users' sockets, after they left some immediately.
    pub fn resync_users<'u>(&mut self, users: impl IntoIterator<Item = &'u UserId>, leave: Vec<Room>) {
        let parties = users.into_iter().cloned().map(Party::User).collect();
        self.resync(parties, leave);
    }

    /// Recomputes the rooms of sockets, after they left some immediately.
    pub fn resync(&mut self, parties: Vec<Party>, leave: Vec<Room>) {
        if !parties.is_empty() {
            self.signals.push(Signal::Resync { parties, leave });
        }
    }

    /// Closes sockets.
    pub fn kill(&mut self, party: Party, reason: KillReason) {
        self.signals.push(Signal::Kill { party, reason });
    }

    /// Returns the room of all members of the organization.
    pub fn organization(&self) -> Room {
        Room::Organization(self.organization.clone())
    }

    /// Returns the room of its teachers and administrators.
    pub fn organization_staff(&self) -> Room {
        Room::OrganizationStaff(self.organization.clone())
    }

    /// Returns the room of its administrators.
    pub fn organization_admins(&self) -> Room {
        Room::OrganizationAdmins(self.organization.clone())
    }

    /// Returns the administrators of the organization; their sockets are in the rooms of every class.
    pub fn admins(&self) -> Party {
        Party::Admins(self.organization.clone())
    }

    fn payload(&self, told: &Told, rest: &impl Serialize) -> Value {
        let envelope = Envelope {
            event_id: told.id.clone(),
            at: self.now,
            organization_id: Some(self.organization.clone()),
            class_id: told.class.clone(),
            actor: self.actor.clone(),
        };
        envelope.with(told.event, rest)
    }
}

/// Returns the names of the changed fields.
pub fn names(changed: &Changed) -> Vec<&'static str> {
    changed.iter().map(|change| change.field).collect()
}
