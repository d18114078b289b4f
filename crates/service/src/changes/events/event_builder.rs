//! Builds the signals of one change. Every payload has the same envelope: event id, time, organization, class and
//! actor.

use domain::details::GroupAssignmentDetails;
use domain::group::GroupContext;
use domain::id::{ClassId, OrganizationId, SessionId, UserId};
use domain::patch::FieldDiff;
use domain::realtime::{ConnectionTarget, Event, KillReason, Room, Signal};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use api_types::audience::Audience;
use api_types::event::{Envelope, EventPerson};
use common::clock;
use db::Actor;

/// The signals of one change.
pub struct EventBuilder<'a> {
    actor: Option<EventPerson>,
    organization: &'a OrganizationId,
    now: Timestamp,
    signals: Vec<Signal>,
}

/// One event; the versions for different audiences share its event id.
pub struct EventHeader {
    class: Option<ClassId>,
    event: Event,
    id: String,
}

impl<'a> EventBuilder<'a> {
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
    pub fn event(class: &ClassId, event: Event) -> EventHeader {
        EventHeader {
            class: Some(class.clone()),
            event,
            id: clock::new_id(),
        }
    }

    /// Creates an event without a class.
    pub fn event_without_class(event: Event) -> EventHeader {
        EventHeader {
            class: None,
            event,
            id: clock::new_id(),
        }
    }

    /// Emits the event to the union of these rooms.
    pub fn emit(&mut self, header: &EventHeader, rooms: Vec<Room>, payload: impl Serialize) {
        self.emit_except(header, rooms, Vec::new(), payload);
    }

    /// Emits the event to the union of `rooms`, without the sockets in `except`.
    pub fn emit_except(&mut self, header: &EventHeader, rooms: Vec<Room>, except: Vec<Room>, payload: impl Serialize) {
        if rooms.is_empty() {
            return;
        }
        let payload = self.payload(header, &payload);
        self.signals.push(Signal::Emit {
            organization: Some(self.organization.clone()),
            rooms,
            except,
            event: header.event,
            payload,
        });
    }

    /// Emits the event to staff of its class.
    pub fn emit_to_staff(&mut self, header: &EventHeader, payload: impl Serialize) {
        let rooms = header.class.iter().map(|class| Room::Staff(class.clone())).collect();
        self.emit(header, rooms, payload);
    }

    /// Emits the event to the students of a group, while the group is open to them.
    pub fn emit_to_members(&mut self, header: &EventHeader, group_context: &GroupContext, payload: impl Serialize) {
        if group_context.is_open(self.now) {
            // A socket in both rooms must not receive the event twice.
            let staff = vec![Room::Staff(group_context.class.clone())];
            self.emit_except(
                header,
                vec![Room::Group(group_context.group.id.clone())],
                staff,
                payload,
            );
        }
    }

    /// Emits the event to the students of the group of a link, while the group is open to them and the topic is
    /// published for it.
    pub fn emit_to_link_members(
        &mut self,
        header: &EventHeader,
        link: &GroupAssignmentDetails,
        payload: impl Serialize,
    ) {
        if link.is_published(self.now) {
            self.emit_to_members(header, &link.group_context, payload);
        }
    }

    /// Emits an event to the rooms of a group, with a payload per audience.
    pub fn emit_to_group<T: Serialize>(
        &mut self,
        group_context: &GroupContext,
        event: Event,
        payload: impl Fn(&Audience) -> T,
    ) {
        let header = Self::event(&group_context.class, event);
        self.emit_to_staff(&header, payload(&Audience::Staff));
        self.emit_to_members(&header, group_context, payload(&Audience::Group));
    }

    /// Emits an event with the same payload to both audiences of a group; each socket receives it once.
    pub fn emit_to_whole_group(&mut self, group_context: &GroupContext, event: Event, payload: impl Serialize) {
        let rooms = group_context.rooms(self.now);
        self.emit(&Self::event(&group_context.class, event), rooms, payload);
    }

    /// Adds commands to sockets, without an event.
    pub fn push_signals(&mut self, signals: Vec<Signal>) {
        self.signals.extend(signals);
    }

    /// Recomputes the rooms of these users' sockets, after they left some immediately.
    pub fn resync_users<'u>(&mut self, users: impl IntoIterator<Item = &'u UserId>, leave: Vec<Room>) {
        let parties = users.into_iter().cloned().map(ConnectionTarget::User).collect();
        self.resync(parties, leave);
    }

    /// Recomputes the rooms of sockets, after they left some immediately.
    pub fn resync(&mut self, parties: Vec<ConnectionTarget>, leave: Vec<Room>) {
        if !parties.is_empty() {
            self.signals.push(Signal::Resync { parties, leave });
        }
    }

    /// Closes sockets.
    pub fn close_sessions(&mut self, party: ConnectionTarget, reason: KillReason) {
        self.signals.push(Signal::Kill { party, reason });
    }

    /// Closes the sockets of each session.
    pub fn close_each(&mut self, sessions: &[SessionId], reason: KillReason) {
        for session in sessions {
            self.close_sessions(ConnectionTarget::Session(session.clone()), reason);
        }
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
    pub fn admins(&self) -> ConnectionTarget {
        ConnectionTarget::Admins(self.organization.clone())
    }

    fn payload(&self, header: &EventHeader, payload: &impl Serialize) -> Value {
        let envelope = Envelope {
            event_id: header.id.clone(),
            at: self.now,
            organization_id: Some(self.organization.clone()),
            class_id: header.class.clone(),
            actor: self.actor.clone(),
        };
        envelope.with(header.event, payload)
    }
}

/// Returns the names of the changed fields.
pub fn names(changed: &FieldDiff) -> Vec<&'static str> {
    changed.iter().map(|change| change.field).collect()
}
