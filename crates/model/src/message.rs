//! Messages: the chat of a work room, direct messages, and announcements to a class.

use crate::access::Viewer;
use crate::file::MessageAttachment;
use crate::id::{AttachmentId, ClassId, GroupId, MessageId, OrganizationId, UserId, WorkRoomId};
use crate::policy::{self, Clause};
use crate::refusal::Refusal;
use crate::text::{ChatText, ClientMessageId, MessageSubject};
use crate::time::Timestamp;
use crate::user::Person;
use crate::word::words;

/// How long an author may change a chat message.
pub const EDIT_SECONDS: i64 = 15 * 60;

/// The place where one group writes and talks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkRoom {
    /// Its id.
    pub id: WorkRoomId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Its group; there is exactly one room for a group.
    pub group_id: GroupId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

words! {
    /// What a chat message is.
    MessageType {
        /// Text.
        Text = "TEXT",
        /// Files.
        File = "FILE",
        /// Something the service says.
        System = "SYSTEM",
    }
}

/// A message in the chat of a work room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomMessage {
    /// Its id.
    pub id: MessageId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Its room.
    pub work_room_id: WorkRoomId,
    /// Its place in the room: 1, 2, … without gaps.
    pub seq: i64,
    /// Who wrote it; none for the service.
    pub sender: Option<Person>,
    /// What it is.
    pub kind: MessageType,
    /// What it says; kept for a while after its deletion, but never shown again ([`Self::shown_content`]).
    pub content: ChatText,
    /// Its files.
    pub attachments: Vec<MessageAttachment>,
    /// The message it answers.
    pub reply_to_id: Option<MessageId>,
    /// The client's own id, to recognise a repeat.
    pub client_message_id: Option<ClientMessageId>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub edited_at: Option<Timestamp>,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
}

impl RoomMessage {
    /// What everybody reads: nothing once it is deleted.
    pub fn shown_content(&self) -> &str {
        if self.deleted_at.is_some() {
            ""
        } else {
            self.content.as_str()
        }
    }

    /// Only its author changes a message, for a quarter of an hour.
    pub fn editable_by(&self, user: &UserId, now: Timestamp) -> Result<(), Refusal> {
        self.written_by(user)?;
        if self.deleted_at.is_some() || now > self.created_at.plus_seconds(EDIT_SECONDS) {
            return Err(Refusal::EditTimeOver);
        }
        Ok(())
    }

    /// Its author deletes a message for a quarter of an hour; staff delete any message at any time.
    pub fn removable_by(&self, viewer: &Viewer, user: &UserId, now: Timestamp) -> Result<(), Refusal> {
        if viewer.is_staff() {
            Ok(())
        } else {
            self.editable_by(user, now)
        }
    }

    fn written_by(&self, user: &UserId) -> Result<(), Refusal> {
        let is_author = self.sender.as_ref().is_some_and(|sender| sender.id == *user);
        if policy::holds(Clause::MessageAuthor, is_author) {
            Ok(())
        } else {
            Err(Refusal::NotAuthor)
        }
    }
}

/// A chat message says something or brings files.
pub fn has_content(content: Option<&ChatText>, attachments: &[AttachmentId]) -> Result<(), Refusal> {
    if content.is_none_or(ChatText::is_empty) && attachments.is_empty() {
        Err(Refusal::Invalid {
            path: "content",
            code: "required",
            message: "is required when there are no files",
        })
    } else {
        Ok(())
    }
}

/// A message from person to person, or an announcement to a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectMessage {
    /// Its id.
    pub id: MessageId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Who wrote it.
    pub sender: Person,
    /// Who gets it; empty for an announcement.
    pub recipients: Vec<Person>,
    /// The class it is announced to.
    pub class_id: Option<ClassId>,
    /// Its subject line.
    pub subject: Option<MessageSubject>,
    /// What it says.
    pub content: ChatText,
    /// When it was written.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    fn message() -> RoomMessage {
        RoomMessage {
            id: MessageId::new("m"),
            organization_id: OrganizationId::new("school"),
            work_room_id: WorkRoomId::new("room"),
            seq: 1,
            sender: Some(Person {
                id: UserId::new("ben"),
                name: "Ben".to_owned(),
                image: None,
            }),
            kind: MessageType::Text,
            content: ChatText::stored("hello"),
            attachments: Vec::new(),
            reply_to_id: None,
            client_message_id: None,
            created_at: at(0),
            edited_at: None,
            deleted_at: None,
        }
    }

    #[test]
    fn an_author_changes_a_message_for_a_quarter_of_an_hour() {
        let (ben, zoe) = (UserId::new("ben"), UserId::new("zoe"));
        assert_eq!(message().editable_by(&ben, at(15)), Ok(()));
        assert_eq!(message().editable_by(&ben, at(16)), Err(Refusal::EditTimeOver));
        assert_eq!(message().editable_by(&zoe, at(1)), Err(Refusal::NotAuthor));
        assert_eq!(
            RoomMessage {
                sender: None,
                ..message()
            }
            .editable_by(&ben, at(1)),
            Err(Refusal::NotAuthor)
        );
    }

    #[test]
    fn staff_delete_any_message_and_students_their_own() {
        let ada = UserId::new("ada");
        assert_eq!(
            message().removable_by(&Viewer::Teacher(ada.clone()), &ada, at(999)),
            Ok(())
        );
        let zoe = UserId::new("zoe");
        assert_eq!(
            message().removable_by(&Viewer::Student(zoe.clone()), &zoe, at(1)),
            Err(Refusal::NotAuthor)
        );
    }

    #[test]
    fn a_deleted_message_says_nothing_and_stays_deleted() {
        let deleted = RoomMessage {
            deleted_at: Some(at(1)),
            ..message()
        };
        assert_eq!((message().shown_content(), deleted.shown_content()), ("hello", ""));
        assert_eq!(
            deleted.editable_by(&UserId::new("ben"), at(2)),
            Err(Refusal::EditTimeOver)
        );
    }

    #[test]
    fn a_message_says_something_or_brings_files() {
        let blank = ChatText::stored("");
        assert!(has_content(Some(&blank), &[]).is_err() && has_content(None, &[]).is_err());
        assert_eq!(has_content(None, &[AttachmentId::new("a")]), Ok(()));
        assert_eq!(has_content(Some(&ChatText::stored("x")), &[]), Ok(()));
    }
}
