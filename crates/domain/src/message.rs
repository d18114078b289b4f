//! Messages: the chat of a work room, direct messages, and announcements to a class.

use crate::access::{MemberRole, PlatformRole, Viewer};
use crate::domain_error::DomainError;
use crate::file::MessageAttachment;
use crate::id::{ClassId, GroupId, MessageId, OrganizationId, UserId, WorkRoomId};
use crate::string_enum::string_enum;
use crate::text::{ChatText, ClientMessageId, MessageSubject};
use crate::time::Timestamp;
use crate::user::Person;
use api_macros::view;

/// How long an author may edit or delete a room message, in seconds.
pub const EDIT_SECONDS: i64 = 15 * 60;
/// How long the text and files of a deleted message are kept for moderation, in seconds.
pub const RETENTION_SECONDS: i64 = 30 * 86_400;
/// How long an uploaded file may remain without a message that refers to it, in seconds.
pub const WAITING_SECONDS: i64 = 86_400;

/// The workspace of one group, with its documents and chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkRoom {
    pub id: WorkRoomId,
    pub organization_id: OrganizationId,
    /// Unique: a group has exactly one room.
    pub group_id: GroupId,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

string_enum! {
    /// Type of a room message.
    MessageType {
        Text = "TEXT",
        /// A message with attachments.
        File = "FILE",
        /// A message of the service.
        System = "SYSTEM",
    }
}

/// Sender of a room message.
#[view(PartialEq, Eq)]
#[schema(as = Sender)]
pub struct MessageSender {
    pub id: UserId,
    pub name: String,
    /// Present role of the sender, expressed as an account role.
    pub role: PlatformRole,
    /// URL of the profile image.
    pub image: Option<String>,
}

impl MessageSender {
    /// Returns the role shown for a sender: that of the membership or, without one, that of the account.
    pub fn role(account: PlatformRole, member: Option<MemberRole>) -> PlatformRole {
        match (account, member) {
            (PlatformRole::SuperAdmin, _) | (_, None) => account,
            (_, Some(member)) => member.platform_role(),
        }
    }
}

/// A message in the chat of a work room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomMessage {
    pub id: MessageId,
    pub organization_id: OrganizationId,
    pub work_room_id: WorkRoomId,
    /// Sequence number in the room: 1, 2, … without gaps.
    pub seq: i64,
    /// `None` for messages of the service.
    pub sender: Option<MessageSender>,
    pub kind: MessageType,
    /// Text of the message. Kept for some time after its deletion, but not shown ([`Self::shown_content`]).
    pub content: ChatText,
    pub attachments: Vec<MessageAttachment>,
    /// The message this one replies to.
    pub reply_to_id: Option<MessageId>,
    /// Id assigned by the client, to detect repeated requests.
    pub client_message_id: Option<ClientMessageId>,
    pub created_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
}

impl RoomMessage {
    /// Returns the text as shown to users: empty once the message is deleted.
    pub fn shown_content(&self) -> &str {
        if self.deleted_at.is_some() {
            ""
        } else {
            self.content.as_str()
        }
    }

    /// Rejects the edit unless the user is the author and the message is not older than [`EDIT_SECONDS`].
    pub fn editable_by(&self, user: &UserId, now: Timestamp) -> Result<(), DomainError> {
        self.written_by(user)?;
        if self.deleted_at.is_some() || now > self.created_at.plus_seconds(EDIT_SECONDS) {
            return Err(DomainError::EditTimeOver);
        }
        Ok(())
    }

    /// Rejects the deletion unless the viewer is staff, or the author within [`EDIT_SECONDS`].
    pub fn removable_by(&self, viewer: &Viewer, user: &UserId, now: Timestamp) -> Result<(), DomainError> {
        if viewer.is_staff() {
            return Ok(());
        }
        self.written_by(user)?;
        // A repeated request, sent because the first response was lost, must succeed even if the time is over.
        if self.deleted_at.is_some() {
            Ok(())
        } else {
            self.editable_by(user, now)
        }
    }

    /// Changes the text and returns whether it differs. The text must not become empty unless the message has files.
    pub fn rewrite(&mut self, content: ChatText, now: Timestamp) -> Result<bool, DomainError> {
        has_content(Some(&content), self.attachments.len())?;
        let is_changed = self.content != content;
        if is_changed {
            self.content = content;
            self.edited_at = Some(now);
        }
        Ok(is_changed)
    }

    fn written_by(&self, user: &UserId) -> Result<(), DomainError> {
        let is_author = self.sender.as_ref().is_some_and(|sender| sender.id == *user);
        if is_author { Ok(()) } else { Err(DomainError::NotAuthor) }
    }
}

/// How far a user has read a room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadingMark {
    /// Sequence number of the last message read; 0 before the first.
    pub seq: i64,
    /// Number of later messages written by the reader, which do not count as unread.
    pub own_after: i64,
}

impl ReadingMark {
    /// Returns the number of unread messages in a room, given its last sequence number.
    pub fn unread(&self, last_seq: i64) -> i64 {
        last_seq - self.seq - self.own_after
    }
}

/// Returns the type of a user's message: `FILE` if it has files, even if it also has a text.
pub const fn kind(files: usize) -> MessageType {
    if files == 0 {
        MessageType::Text
    } else {
        MessageType::File
    }
}

/// Rejects a room message that has neither text nor files.
pub fn has_content(content: Option<&ChatText>, files: usize) -> Result<(), DomainError> {
    if content.is_none_or(ChatText::is_empty) && files == 0 {
        Err(DomainError::Invalid {
            path: "content",
            code: "required",
            message: "is required when there are no files",
        })
    } else {
        Ok(())
    }
}

/// A direct message, or an announcement to a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectMessage {
    pub id: MessageId,
    pub organization_id: OrganizationId,
    pub sender: Person,
    /// Empty for an announcement.
    pub recipients: Vec<Person>,
    /// The class an announcement is addressed to.
    pub class_id: Option<ClassId>,
    pub subject: Option<MessageSubject>,
    pub content: ChatText,
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
            sender: Some(MessageSender {
                id: UserId::new("ben"),
                name: "Ben".to_owned(),
                role: PlatformRole::Student,
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
        assert_eq!(message().editable_by(&ben, at(16)), Err(DomainError::EditTimeOver));
        assert_eq!(message().editable_by(&zoe, at(1)), Err(DomainError::NotAuthor));
        assert_eq!(
            RoomMessage {
                sender: None,
                ..message()
            }
            .editable_by(&ben, at(1)),
            Err(DomainError::NotAuthor)
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
            Err(DomainError::NotAuthor)
        );
    }

    #[test]
    fn deleted_message_is_empty_and_stays_deleted() {
        let deleted = RoomMessage {
            deleted_at: Some(at(1)),
            ..message()
        };
        assert_eq!((message().shown_content(), deleted.shown_content()), ("hello", ""));
        assert_eq!(
            deleted.editable_by(&UserId::new("ben"), at(2)),
            Err(DomainError::EditTimeOver)
        );
    }

    #[test]
    fn message_requires_text_or_files() {
        let blank = ChatText::stored("");
        assert!(has_content(Some(&blank), 0).is_err() && has_content(None, 0).is_err());
        assert_eq!(has_content(None, 1), Ok(()));
        assert_eq!(has_content(Some(&ChatText::stored("x")), 0), Ok(()));
        assert_eq!((kind(0), kind(2)), (MessageType::Text, MessageType::File));
    }

    #[test]
    fn unchanged_text_is_no_edit_and_empty_text_is_rejected() {
        let mut message = message();
        assert_eq!(message.rewrite(ChatText::stored("hello"), at(1)), Ok(false));
        assert_eq!(message.edited_at, None);
        assert!(message.rewrite(ChatText::stored(""), at(1)).is_err());
        assert_eq!(message.rewrite(ChatText::stored("bye"), at(1)), Ok(true));
        assert_eq!((message.content.as_str(), message.edited_at), ("bye", Some(at(1))));
    }

    #[test]
    fn sender_role_comes_from_membership() {
        use {MemberRole as M, PlatformRole as P};
        assert_eq!(MessageSender::role(P::Student, Some(M::Owner)), P::Admin);
        assert_eq!(MessageSender::role(P::Admin, Some(M::Student)), P::Student);
        assert_eq!(MessageSender::role(P::Teacher, None), P::Teacher);
        assert_eq!(MessageSender::role(P::SuperAdmin, Some(M::Student)), P::SuperAdmin);
    }

    #[test]
    fn own_messages_are_never_unread() {
        let mark = ReadingMark { seq: 3, own_after: 2 };
        assert_eq!((mark.unread(5), mark.unread(7)), (0, 2));
        assert_eq!(ReadingMark::default().unread(4), 4);
    }
}
