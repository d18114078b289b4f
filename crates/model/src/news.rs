//! What is told to clients: rooms, events, and the orders that move or end sockets.
//! Signals cross a bus between instances, so they are read and written as JSON; room names as strings exist in the server only.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{ClassId, GroupId, OrganizationId, SessionId, UserId};
use crate::word::words;

/// Where sockets listen; only the server puts them there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Room {
    /// The sockets of one user.
    User(UserId),
    /// The students of a class that is no draft, its teachers, and the admins.
    Class(ClassId),
    /// The teachers of a class and the admins.
    Staff(ClassId),
    /// The students of a group that is open to them.
    Group(GroupId),
    /// The members of an organization who work in it now.
    Organization(OrganizationId),
    /// The teachers and admins of an organization who work in it now.
    OrganizationStaff(OrganizationId),
    /// The admins of an organization who work in it now.
    OrganizationAdmins(OrganizationId),
}

words! {
    /// Every event that clients may hear.
    Event {
        /// A group was made.
        GroupCreated = "group:created",
        /// A group changed.
        GroupUpdated = "group:updated",
        /// A group is gone.
        GroupDeleted = "group:deleted",
        /// A student lost access to a group.
        GroupRemoved = "group:removed",
        /// Someone joined a group.
        GroupMemberAdded = "group:member:added",
        /// Someone left a group.
        GroupMemberRemoved = "group:member:removed",
        /// A group asks for help.
        GroupHelp = "group:help",
        /// A call for help was handled.
        GroupHelpResolved = "group:help:resolved",
        /// A topic was made.
        AssignmentCreated = "assignment:created",
        /// A group joined a topic.
        AssignmentAttached = "assignment:attached",
        /// A group left a topic.
        AssignmentDetached = "assignment:detached",
        /// A topic changed.
        AssignmentUpdated = "assignment:updated",
        /// A topic is gone.
        AssignmentDeleted = "assignment:deleted",
        /// A topic was finished.
        AssignmentFinished = "assignment:finished",
        /// A topic was reopened.
        AssignmentReopened = "assignment:reopened",
        /// A document was made.
        DocumentCreated = "document:created",
        /// A document was renamed or saved.
        DocumentUpdated = "document:updated",
        /// A document is gone.
        DocumentDeleted = "document:deleted",
        /// The status of a document changed.
        DocumentStatus = "document:status",
        /// A hand-in or a finish begins: pages keep their editor until it has sent what was typed.
        DocumentFreezing = "document:freezing",
        /// Work was handed in.
        SubmissionCreated = "submission:created",
        /// A hand-in was taken back.
        SubmissionWithdrawn = "submission:withdrawn",
        /// Work was returned for revision.
        SubmissionReturned = "submission:returned",
        /// A grade is out, or one that is out changed.
        GradePublished = "grade:published",
        /// A grade that was out is a draft again.
        GradeWithdrawn = "grade:withdrawn",
        /// A draft of a grade changed.
        GradeDrafted = "grade:drafted",
        /// A feedback was given.
        FeedbackCreated = "feedback:created",
        /// A feedback changed.
        FeedbackUpdated = "feedback:updated",
        /// A chat message was written.
        MessageNew = "message:new",
        /// A chat message was changed.
        MessageUpdated = "message:updated",
        /// A chat message was deleted.
        MessageDeleted = "message:deleted",
        /// A room was read in another tab.
        MessageRead = "message:read",
        /// Presence or writing on the lesson board changed.
        BoardActivity = "board:activity",
        /// A course was made.
        CourseCreated = "course:created",
        /// A course changed.
        CourseUpdated = "course:updated",
        /// A course is gone.
        CourseDeleted = "course:deleted",
        /// A class was made.
        ClassCreated = "class:created",
        /// A class changed.
        ClassUpdated = "class:updated",
        /// A class is gone.
        ClassDeleted = "class:deleted",
        /// A student or a teacher came into a class or left it.
        ClassMembership = "class:membership",
        /// A subject was made, changed or deleted.
        SubjectUpdated = "subject:updated",
        /// A homeroom was made, changed or deleted, or its students changed.
        HomeroomUpdated = "homeroom:updated",
        /// A person came, changed or left.
        UserUpdated = "user:updated",
        /// An organization changed.
        OrganizationUpdated = "organization:updated",
        /// A direct message or an announcement arrived.
        DirectNew = "direct:new",
        /// How far an import is.
        ImportProgress = "import:progress",
        /// The session is over.
        SessionRevoked = "session:revoked",
        /// Rooms are joined; fetch what is shown.
        Ready = "ready",
        /// Events may have been missed; fetch what is shown.
        SyncRequired = "sync:required",
    }
}

words! {
    /// What happened to something that has a single event.
    EventAction {
        /// It is new.
        Created = "CREATED",
        /// It changed.
        Updated = "UPDATED",
        /// It is gone.
        Deleted = "DELETED",
        /// Many of them were imported.
        Imported = "IMPORTED",
    }
}

words! {
    /// What happened to a membership in a class.
    MembershipAction {
        /// A student was enrolled.
        Enrolled = "ENROLLED",
        /// A teacher came.
        Added = "ADDED",
        /// The person is in the class no more.
        Removed = "REMOVED",
        /// The completion of a student was noted or cleared.
        Updated = "UPDATED",
    }
}

words! {
    /// As what a person is in a class.
    MembershipRole {
        /// A student.
        Student = "STUDENT",
        /// The owner or a co-teacher.
        Teacher = "TEACHER",
    }
}

words! {
    /// Why a group is gone.
    GroupDeletionReason {
        /// It was deleted, or its class was.
        Deleted = "DELETED",
        /// Its course was deleted.
        CourseDeleted = "COURSE_DELETED",
    }
}

/// The most bytes of the payload of an event that carries no text.
pub const PAYLOAD_MAX: usize = 2048;
/// A string in a payload that would be too large is cut to so many bytes, its ellipsis included.
const STRING_MAX: usize = 160;

impl Event {
    /// Whether the payload carries a text that a user wrote: a message or a feedback.
    pub const fn carries_text(self) -> bool {
        matches!(
            self,
            Self::MessageNew
                | Self::MessageUpdated
                | Self::MessageDeleted
                | Self::DirectNew
                | Self::FeedbackCreated
                | Self::FeedbackUpdated
        )
    }

    /// Makes a payload fit into [`PAYLOAD_MAX`], unless the event carries a text: first lists become null, the largest
    /// first, then long strings are cut. Clients fetch what is missing.
    pub fn fit(self, payload: &mut Value) {
        if self.carries_text() {
            return;
        }
        while size(payload) > PAYLOAD_MAX {
            let Some(largest) = lists(payload).max_by_key(|list| size(list)) else {
                break;
            };
            *largest = Value::Null;
        }
        while size(payload) > PAYLOAD_MAX {
            let Some(longest) = strings(payload)
                .filter(|text| text.len() > STRING_MAX)
                .max_by_key(|text| text.len())
            else {
                break;
            };
            let end = longest.floor_char_boundary(STRING_MAX - "…".len());
            longest.truncate(end);
            longest.push('…');
        }
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// The lists in the fields of an object, at any depth, that are not in a list themselves.
fn lists(value: &mut Value) -> Box<dyn Iterator<Item = &mut Value> + '_> {
    match value {
        Value::Array(_) => Box::new(std::iter::once(value)),
        Value::Object(fields) => Box::new(fields.values_mut().flat_map(lists)),
        _ => Box::new(std::iter::empty()),
    }
}

/// The strings in the fields of an object, at any depth.
fn strings(value: &mut Value) -> Box<dyn Iterator<Item = &mut String> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text)),
        Value::Object(fields) => Box::new(fields.values_mut().flat_map(strings)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Whose sockets an order is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Party {
    /// All sockets of a user.
    User(UserId),
    /// The sockets of one session.
    Session(SessionId),
    /// All sockets that are in a room now.
    Room(Room),
    /// The sockets of the owners and admins of an organization, who are in the rooms of every class.
    Admins(OrganizationId),
}

words! {
    /// Why sockets are cut off.
    KillReason {
        /// The session was revoked.
        Revoked = "REVOKED",
        /// The user signed out.
        SignedOut = "SIGNED_OUT",
        /// The account was switched off, banned or erased.
        Deactivated = "DEACTIVATED",
        /// The password was reset or changed.
        PasswordChanged = "PASSWORD_CHANGED",
        /// The membership of the organization ended.
        MembershipEnded = "MEMBERSHIP_ENDED",
        /// The organization was suspended or removed.
        OrganizationClosed = "ORGANIZATION_CLOSED",
        /// The session's time is over.
        Expired = "EXPIRED",
    }
}

/// One order to all instances, carried out in the order of a change's signals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Signal {
    /// Tell an event to the union of some rooms; a socket in several gets one copy.
    Emit {
        /// Users' sockets hear it only in this organization; none for what concerns a user everywhere.
        organization: Option<OrganizationId>,
        /// Who hears it.
        rooms: Vec<Room>,
        /// Who does not hear it although the rooms say so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        except: Vec<Room>,
        /// Its name.
        event: Event,
        /// What it says.
        payload: Value,
    },
    /// Work out anew which rooms some sockets belong to.
    Resync {
        /// Whose sockets.
        parties: Vec<Party>,
        /// Rooms they leave before anything is looked up, so that a failing look-up never leaves a door open.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        leave: Vec<Room>,
    },
    /// Tell some sockets why, and cut them off.
    Kill {
        /// Whose sockets.
        party: Party,
        /// Why.
        reason: KillReason,
    },
}

impl Signal {
    /// The people whose rooms are worked out anew, or who are cut off: they may have lost sight of something.
    pub fn movers(&self) -> impl Iterator<Item = &UserId> {
        let parties = match self {
            Self::Emit { .. } => &[],
            Self::Resync { parties, leave: _ } => parties.as_slice(),
            Self::Kill { party, reason: _ } => std::slice::from_ref(party),
        };
        parties.iter().filter_map(|party| match party {
            Party::User(user) => Some(user),
            Party::Session(_) | Party::Room(_) | Party::Admins(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use serde_json::json;

    use super::*;

    #[test]
    fn signals_survive_the_bus() {
        let signals = [
            Signal::Emit {
                organization: Some(OrganizationId::new("school")),
                rooms: vec![Room::Group(GroupId::new("g")), Room::Staff(ClassId::new("c"))],
                except: vec![Room::User(UserId::new("ada"))],
                event: Event::GroupMemberAdded,
                payload: json!({"groupId": "g"}),
            },
            Signal::Resync {
                parties: vec![
                    Party::User(UserId::new("ben")),
                    Party::Room(Room::Class(ClassId::new("c"))),
                ],
                leave: vec![Room::Group(GroupId::new("g"))],
            },
            Signal::Kill {
                party: Party::Session(SessionId::new("s")),
                reason: KillReason::Revoked,
            },
        ];
        for signal in signals {
            let json = serde_json::to_value(&signal).unwrap();
            assert_eq!(serde_json::from_value::<Signal>(json).unwrap(), signal);
        }
    }

    #[test]
    fn payload_too_large_loses_lists_then_long_strings() {
        let id = "0195b7a4-7a52-7c63-9d3e-0b8f6c1f2a4d";
        let mut payload = json!({
            "groupId": id,
            "group": {"name": "😀".repeat(80), "memberIds": vec![id; 50], "few": [id]},
            "helpMessage": "ü".repeat(900),
        });
        Event::GroupUpdated.fit(&mut payload);
        assert!(size(&payload) <= PAYLOAD_MAX, "{}", size(&payload));
        assert_eq!(payload["groupId"], id);
        assert!(payload["group"]["memberIds"].is_null());
        assert!(payload["helpMessage"].as_str().unwrap().ends_with('…'));
        assert_eq!(payload["group"]["name"].as_str().unwrap().chars().count(), 80);
        let text = json!({"message": {"content": "x".repeat(4000)}});
        let mut message = text.clone();
        Event::MessageNew.fit(&mut message);
        assert_eq!(message, text);
    }

    #[test]
    fn an_event_is_written_by_its_name_on_the_wire() {
        assert_eq!(json!(Event::GroupHelpResolved), json!("group:help:resolved"));
    }
}
