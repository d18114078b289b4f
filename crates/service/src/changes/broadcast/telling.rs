//! Collects the signals of one change. Every payload begins alike: event id, time, organization, class, actor.

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

/// The signals of one change so far.
pub struct Telling<'a> {
    actor: Option<EventPerson>,
    organization: &'a OrganizationId,
    now: Timestamp,
    signals: Vec<Signal>,
}

/// One event for whom it concerns; both versions of it carry the same event id.
pub struct Told {
    class: Option<ClassId>,
    event: Event,
    id: String,
}

impl<'a> Telling<'a> {
    /// Nothing so far.
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

    /// The clock of the change.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// What was collected.
    pub fn signals(self) -> Vec<Signal> {
        self.signals
    }

    /// Begins an event about something in a class.
    pub fn event(class: &ClassId, event: Event) -> Told {
        Told {
            class: Some(class.clone()),
            event,
            id: clock::new_id(),
        }
    }

    /// Begins an event that is about no class.
    pub fn event_without_class(event: Event) -> Told {
        Told {
            class: None,
            event,
            id: clock::new_id(),
        }
    }

    /// Tells it to the union of these rooms, as it is.
    pub fn tell(&mut self, told: &Told, rooms: Vec<Room>, rest: impl Serialize) {
        self.tell_except(told, rooms, Vec::new(), rest);
    }

    /// The same, but not to some.
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

    /// Tells it to the staff of its class.
    pub fn tell_staff(&mut self, told: &Told, rest: impl Serialize) {
        let rooms = told.class.iter().map(|class| Room::Staff(class.clone())).collect();
        self.tell(told, rooms, rest);
    }

    /// Tells the students of a group, while it is open to them.
    pub fn tell_members(&mut self, told: &Told, place: &Place, rest: impl Serialize) {
        if place.is_open(self.now) {
            // Nobody hears it twice, whatever rooms he is in.
            let staff = vec![Room::Staff(place.class.clone())];
            self.tell_except(told, vec![Room::Group(place.group.id.clone())], staff, rest);
        }
    }

    /// Tells the rooms of a group, each audience its own version.
    pub fn tell_group<T: Serialize>(&mut self, place: &Place, event: Event, rest: impl Fn(&Audience) -> T) {
        let told = Self::event(&place.class, event);
        self.tell_staff(&told, rest(&Audience::Staff));
        self.tell_members(&told, place, rest(&Audience::Group));
    }

    /// Tells the rooms of a group what is the same for both audiences: one event, one copy for each socket.
    pub fn tell_group_alike(&mut self, place: &Place, event: Event, rest: impl Serialize) {
        let rooms = place.rooms(self.now);
        self.tell(&Self::event(&place.class, event), rooms, rest);
    }

    /// Gives orders to sockets without a word to anybody.
    pub fn order(&mut self, orders: Vec<Signal>) {
        self.signals.extend(orders);
    }

    /// Lets the sockets of these users find their rooms anew, after they left some at once.
    pub fn resync_users<'u>(&mut self, users: impl IntoIterator<Item = &'u UserId>, leave: Vec<Room>) {
        let parties = users.into_iter().cloned().map(Party::User).collect();
        self.resync(parties, leave);
    }

    /// Lets sockets find their rooms anew, after they left some at once.
    pub fn resync(&mut self, parties: Vec<Party>, leave: Vec<Room>) {
        if !parties.is_empty() {
            self.signals.push(Signal::Resync { parties, leave });
        }
    }

    /// Cuts sockets off.
    pub fn kill(&mut self, party: Party, reason: KillReason) {
        self.signals.push(Signal::Kill { party, reason });
    }

    /// The room of all users who work in the organization.
    pub fn organization(&self) -> Room {
        Room::Organization(self.organization.clone())
    }

    /// The room of its teachers and admins.
    pub fn organization_staff(&self) -> Room {
        Room::OrganizationStaff(self.organization.clone())
    }

    /// The room of its admins.
    pub fn organization_admins(&self) -> Room {
        Room::OrganizationAdmins(self.organization.clone())
    }

    /// The admins of the organization: they are in the rooms of every class.
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

/// The names of the fields that changed.
pub fn names(changed: &Changed) -> Vec<&'static str> {
    changed.iter().map(|change| change.field).collect()
}
