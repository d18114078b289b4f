//! Real-time events: rooms, event types, and the signals that deliver events or change subscriptions. Signals are
//! exchanged between instances, so they are serialized as JSON. Room names as strings exist only in the server.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{ClassId, DocumentId, GroupId, OrganizationId, SessionId, UserId};
use crate::string_enum::string_enum;

/// A group of sockets that receive the same events. Only the server adds sockets to rooms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Room {
    /// The sockets of one user.
    User(UserId),
    /// The students of a class (unless it is a draft), its teachers, and the admins.
    Class(ClassId),
    /// The teachers of a class and the admins.
    Staff(ClassId),
    /// The students of a group that is visible to them.
    Group(GroupId),
    /// The open pages of a document in the built-in editor.
    Document(DocumentId),
    /// The members of an organization whose active organization it is.
    Organization(OrganizationId),
    /// The teachers and admins of an organization whose active organization it is.
    OrganizationStaff(OrganizationId),
    /// The admins of an organization whose active organization it is.
    OrganizationAdmins(OrganizationId),
}

string_enum! {
    /// Event sent to clients.
    Event {
        GroupCreated = "group:created",
        GroupUpdated = "group:updated",
        GroupDeleted = "group:deleted",
        /// A student lost access to a group.
        GroupRemoved = "group:removed",
        GroupMemberAdded = "group:member:added",
        GroupMemberRemoved = "group:member:removed",
        /// A group requested help.
        GroupHelp = "group:help",
        /// A help request was resolved.
        GroupHelpResolved = "group:help:resolved",
        /// A teacher claimed the help request of the group.
        HelpClaimed = "help:claimed",
        /// Presence or typing in a group changed, for its students.
        GroupPresence = "group:presence",
        AssignmentCreated = "assignment:created",
        /// A group was attached to a topic.
        AssignmentAttached = "assignment:attached",
        /// A group was detached from a topic.
        AssignmentDetached = "assignment:detached",
        AssignmentUpdated = "assignment:updated",
        AssignmentDeleted = "assignment:deleted",
        AssignmentFinished = "assignment:finished",
        AssignmentReopened = "assignment:reopened",
        DocumentCreated = "document:created",
        /// A document was renamed or saved.
        DocumentUpdated = "document:updated",
        DocumentDeleted = "document:deleted",
        /// The status of a document changed.
        DocumentStatus = "document:status",
        /// A submission or a finish begins: clients keep their editor open until it has sent all pending edits.
        DocumentFreezing = "document:freezing",
        /// New commits of a document in the built-in editor.
        DocumentCommits = "document:commits",
        /// The cursor of a page moved in the built-in editor, or the page was closed.
        DocumentCursor = "document:cursor",
        /// The comments on a document changed.
        DocumentComments = "document:comments",
        /// Work was submitted.
        SubmissionCreated = "submission:created",
        /// A submission was withdrawn.
        SubmissionWithdrawn = "submission:withdrawn",
        /// Work was returned for revision.
        SubmissionReturned = "submission:returned",
        /// A grade was published, or a published grade changed.
        GradePublished = "grade:published",
        /// A published grade became a draft again.
        GradeWithdrawn = "grade:withdrawn",
        /// The draft of a grade changed.
        GradeDrafted = "grade:drafted",
        FeedbackCreated = "feedback:created",
        FeedbackUpdated = "feedback:updated",
        /// A room message was sent.
        MessageNew = "message:new",
        /// A room message was edited.
        MessageUpdated = "message:updated",
        /// A room message was deleted.
        MessageDeleted = "message:deleted",
        /// The user read a room in another session.
        MessageRead = "message:read",
        /// Presence or typing on the lesson board changed.
        BoardActivity = "board:activity",
        CourseCreated = "course:created",
        CourseUpdated = "course:updated",
        CourseDeleted = "course:deleted",
        ClassCreated = "class:created",
        ClassUpdated = "class:updated",
        ClassDeleted = "class:deleted",
        /// A student or a teacher joined or left a class.
        ClassMembership = "class:membership",
        /// A subject was created, changed or deleted.
        SubjectUpdated = "subject:updated",
        /// A homeroom was created, changed or deleted, or its students changed.
        HomeroomUpdated = "homeroom:updated",
        /// A user joined, changed or left.
        UserUpdated = "user:updated",
        OrganizationUpdated = "organization:updated",
        /// A direct message or an announcement arrived.
        DirectNew = "direct:new",
        /// A rubric was created, changed or deleted.
        RubricUpdated = "rubric:updated",
        /// The text snippets of the user changed in another page.
        SnippetsUpdated = "snippets:updated",
        /// Progress of an import.
        ImportProgress = "import:progress",
        /// The session ended.
        SessionRevoked = "session:revoked",
        /// The socket joined its rooms; the client should fetch what it shows.
        Ready = "ready",
        /// Events may have been missed; the client should fetch what it shows.
        SyncRequired = "sync:required",
    }
}

string_enum! {
    /// Type of change, for objects with a single event type.
    EventAction {
        Created = "CREATED",
        Updated = "UPDATED",
        Deleted = "DELETED",
        /// Several objects were imported.
        Imported = "IMPORTED",
    }
}

string_enum! {
    /// Change of a class membership.
    MembershipAction {
        /// A student was enrolled.
        Enrolled = "ENROLLED",
        /// A teacher was added.
        Added = "ADDED",
        /// The user is no longer in the class.
        Removed = "REMOVED",
        /// The completion date of a student was set or cleared.
        Updated = "UPDATED",
    }
}

string_enum! {
    /// Role of a user in a class.
    MembershipRole {
        Student = "STUDENT",
        /// The owner or a co-teacher.
        Teacher = "TEACHER",
    }
}

string_enum! {
    /// Why a group was deleted.
    GroupDeletionReason {
        /// The group or its class was deleted.
        Deleted = "DELETED",
        /// Its course was deleted.
        CourseDeleted = "COURSE_DELETED",
    }
}

/// Maximum size, in bytes, of the payload of an event that carries no user-written text.
pub const PAYLOAD_MAX: usize = 2048;
/// Maximum size, in bytes, of a string in an oversized payload, including the ellipsis.
const STRING_MAX: usize = 160;

impl Event {
    /// Returns whether the payload contains a text written by a user: a message, a feedback or a commit.
    pub const fn has_free_text(self) -> bool {
        matches!(
            self,
            Self::MessageNew
                | Self::MessageUpdated
                | Self::MessageDeleted
                | Self::DirectNew
                | Self::FeedbackCreated
                | Self::FeedbackUpdated
                | Self::DocumentCommits
        )
    }

    /// Reduces a payload to [`PAYLOAD_MAX`], unless the event carries a text: lists are replaced by null, the largest
    /// first, then long strings are truncated. Clients fetch the missing data.
    pub fn fit(self, payload: &mut Value) {
        if self.has_free_text() {
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

/// Iterates over the lists in an object, at any depth, that are not nested in another list.
fn lists(value: &mut Value) -> Box<dyn Iterator<Item = &mut Value> + '_> {
    match value {
        Value::Array(_) => Box::new(std::iter::once(value)),
        Value::Object(fields) => Box::new(fields.values_mut().flat_map(lists)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Iterates over the strings in an object, at any depth.
fn strings(value: &mut Value) -> Box<dyn Iterator<Item = &mut String> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text)),
        Value::Object(fields) => Box::new(fields.values_mut().flat_map(strings)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Set of sockets that a signal applies to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConnectionTarget {
    /// All sockets of a user.
    User(UserId),
    /// The sockets of one session.
    Session(SessionId),
    /// All sockets that are currently in a room.
    Room(Room),
    /// The sockets of the owners and admins of an organization, who are in the rooms of every class.
    Admins(OrganizationId),
}

string_enum! {
    /// Why sockets are disconnected.
    KillReason {
        /// The session was revoked.
        Revoked = "REVOKED",
        /// The user signed out.
        SignedOut = "SIGNED_OUT",
        /// The account was deactivated, banned or erased.
        Deactivated = "DEACTIVATED",
        /// The password was reset or changed.
        PasswordChanged = "PASSWORD_CHANGED",
        /// The membership of the organization ended.
        MembershipEnded = "MEMBERSHIP_ENDED",
        /// The organization was suspended or deleted.
        OrganizationClosed = "ORGANIZATION_CLOSED",
        /// The session expired.
        Expired = "EXPIRED",
    }
}

/// A command to all instances. The signals of a change are processed in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Signal {
    /// Emits an event to the union of some rooms; a socket in several of them receives it once.
    Emit {
        /// Restricts delivery to sockets in this organization; `None` for events that concern a user in every
        /// organization.
        organization: Option<OrganizationId>,
        rooms: Vec<Room>,
        /// Sockets in these rooms do not receive the event.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        except: Vec<Room>,
        event: Event,
        payload: Value,
    },
    /// Recomputes the rooms of some sockets.
    Resync {
        parties: Vec<ConnectionTarget>,
        /// Rooms left before the new rooms are looked up, so that a failed look-up never leaves access that was
        /// revoked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        leave: Vec<Room>,
    },
    /// Notifies some sockets of the reason and disconnects them.
    Kill {
        party: ConnectionTarget,
        reason: KillReason,
    },
}

impl Signal {
    /// Returns the users whose rooms are recomputed or who are disconnected, because they may have lost access.
    pub fn affected_users(&self) -> impl Iterator<Item = &UserId> {
        let parties = match self {
            Self::Emit { .. } => &[],
            Self::Resync { parties, leave: _ } => parties.as_slice(),
            Self::Kill { party, reason: _ } => std::slice::from_ref(party),
        };
        parties.iter().filter_map(|party| match party {
            ConnectionTarget::User(user) => Some(user),
            ConnectionTarget::Session(_) | ConnectionTarget::Room(_) | ConnectionTarget::Admins(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use serde_json::json;

    use super::*;

    #[test]
    fn signals_roundtrip_through_the_bus() {
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
                    ConnectionTarget::User(UserId::new("ben")),
                    ConnectionTarget::Room(Room::Class(ClassId::new("c"))),
                ],
                leave: vec![Room::Group(GroupId::new("g"))],
            },
            Signal::Kill {
                party: ConnectionTarget::Session(SessionId::new("s")),
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
    fn event_is_serialized_by_its_name() {
        assert_eq!(json!(Event::GroupHelpResolved), json!("group:help:resolved"));
    }
}
