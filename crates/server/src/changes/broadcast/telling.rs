//! Collects the signals of one change. Every payload begins alike: event id, time, organization, class, actor.

use model::edit::Changed;
use model::group::Place;
use model::id::{ClassId, OrganizationId, UserId};
use model::news::{Event, KillReason, Party, Room, Signal};
use model::time::Timestamp;
use model::user::Person;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::clock;
use crate::store::Actor;
use crate::views::audience::Audience;

/// The signals of one change so far.
pub struct Telling<'a> {
    actor: Value,
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
        let actor = actor.user.as_ref().map(|user| json!({"id": user, "name": actor.name}));
        Self {
            actor: actor.into(),
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
    pub fn tell(&mut self, told: &Told, rooms: Vec<Room>, rest: Value) {
        self.tell_except(told, rooms, Vec::new(), rest);
    }

    /// The same, but not to some.
    pub fn tell_except(&mut self, told: &Told, rooms: Vec<Room>, except: Vec<Room>, rest: Value) {
        if rooms.is_empty() {
            return;
        }
        let payload = self.payload(told, rest);
        self.signals.push(Signal::Emit {
            organization: Some(self.organization.clone()),
            rooms,
            except,
            event: told.event,
            payload,
        });
    }

    /// Tells it to the staff of its class.
    pub fn tell_staff(&mut self, told: &Told, rest: Value) {
        let rooms = told.class.iter().map(|class| Room::Staff(class.clone())).collect();
        self.tell(told, rooms, rest);
    }

    /// Tells the students of a group, while it is open to them.
    pub fn tell_members(&mut self, told: &Told, place: &Place, rest: Value) {
        if place.is_open(self.now) {
            // Nobody hears it twice, whatever rooms he is in.
            let staff = vec![Room::Staff(place.class.clone())];
            self.tell_except(told, vec![Room::Group(place.group.id.clone())], staff, rest);
        }
    }

    /// Tells the rooms of a group, each audience its own version.
    pub fn tell_group(&mut self, place: &Place, event: Event, rest: impl Fn(&Audience) -> Value) {
        let told = Self::event(&place.class, event);
        self.tell_staff(&told, rest(&Audience::Staff));
        self.tell_members(&told, place, rest(&Audience::Group));
    }

    /// Tells the rooms of a group what is the same for both audiences: one event, one copy for each socket.
    pub fn tell_group_alike(&mut self, place: &Place, event: Event, rest: Value) {
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

    /// The admins of the organization: they are in the rooms of every class.
    pub fn admins(&self) -> Party {
        Party::Admins(self.organization.clone())
    }

    fn payload(&self, told: &Told, rest: Value) -> Value {
        let mut payload = Map::new();
        payload.insert("eventId".to_owned(), told.id.as_str().into());
        payload.insert("at".to_owned(), json!(self.now));
        payload.insert("organizationId".to_owned(), json!(self.organization));
        payload.insert("classId".to_owned(), json!(told.class));
        payload.insert("actor".to_owned(), self.actor.clone());
        if let Value::Object(rest) = rest {
            payload.extend(rest);
        }
        Value::Object(payload)
    }
}

/// A view as JSON.
pub fn json_of(view: &impl Serialize) -> Value {
    serde_json::to_value(view).expect("views are plain values")
}

/// The names of the fields that changed.
pub fn names(changed: &Changed) -> Vec<&'static str> {
    changed.iter().map(|change| change.field).collect()
}

/// A person as events mention them.
pub fn named(person: &Person) -> Value {
    json!({"id": person.id, "name": person.name})
}
