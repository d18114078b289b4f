//! Messages in responses and events. Deleted messages have no content.

use api_macros::view;
use domain::file::MessageAttachment;
use domain::from_fields;
use domain::id::{AssignmentId, AttachmentId, ClassId, MessageId, UserId, WorkRoomId};
use domain::message::{DirectMessage, MessageSender, MessageType, RoomMessage};
use domain::text::{ChatText, ClientMessageId, MessageSubject};
use domain::time::Timestamp;
use domain::user::Person;

/// A message in the chat of a work room.
#[view]
#[schema(as = WorkRoomMessage)]
pub struct RoomMessageView {
    id: MessageId,
    work_room_id: WorkRoomId,
    /// Sequence number in the room: 1, 2, … without gaps.
    seq: i64,
    sender_id: Option<UserId>,
    sender: Option<MessageSender>,
    #[serde(rename = "type")]
    kind: MessageType,
    /// Empty if the message is deleted.
    content: String,
    attachments: Vec<MessageAttachmentView>,
    reply_to_id: Option<MessageId>,
    client_message_id: Option<ClientMessageId>,
    created_at: Timestamp,
    edited_at: Option<Timestamp>,
    deleted_at: Option<Timestamp>,
}

/// An attachment of a room message.
#[view]
pub struct MessageAttachmentView {
    id: AttachmentId,
    file_name: String,
    mime_type: String,
    size: i64,
    url: String,
}

impl MessageAttachmentView {
    /// Returns the download URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl RoomMessageView {
    /// Returns the URL of the message.
    pub fn address(&self) -> String {
        format!("/api/workrooms/{}/messages/{}", self.work_room_id, self.id)
    }
}

/// A direct message, or an announcement to a class.
#[view]
pub struct DirectMessageView {
    id: MessageId,
    sender: Person,
    class_id: Option<ClassId>,
    subject: Option<MessageSubject>,
    content: ChatText,
    created_at: Timestamp,
}

/// A direct message or announcement from the perspective of the caller.
#[view]
pub struct MessageView {
    #[serde(flatten)]
    message: DirectMessageView,
    /// When the caller read the message; null for messages sent by the caller.
    read_at: Option<Timestamp>,
    /// Present for the sender only: number of recipients.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient_count: Option<i64>,
    /// Present for the sender only: the recipients, at most five in lists; empty for an announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<Vec<Person>>,
}

/// A sent message: a direct message, or messages in work rooms, as indicated by `kind`.
#[view]
#[serde(tag = "kind", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SentMessageView {
    /// A direct message, or an announcement to a class.
    Direct(MessageView),
    /// A message in the room of one group.
    Room(RoomMessageView),
    /// Messages in the rooms of all groups of a topic.
    Rooms(RoomMessagesView),
}

/// One message in the room of each group of a topic.
#[view]
#[schema(as = SentToRooms)]
pub struct RoomMessagesView {
    pub assignment_id: AssignmentId,
    /// The messages, by group number.
    pub messages: Vec<RoomMessageView>,
}

impl MessageView {
    /// Returns a message received by the caller.
    pub fn received(message: &DirectMessage, read_at: Option<Timestamp>) -> Self {
        Self {
            message: DirectMessageView::from(message),
            read_at,
            recipient_count: None,
            recipients: None,
        }
    }

    /// Returns a message sent by the caller.
    pub fn sent(message: &DirectMessage, read_at: Option<Timestamp>, recipient_count: i64) -> Self {
        Self {
            recipient_count: Some(recipient_count),
            recipients: Some(message.recipients.clone()),
            ..Self::received(message, read_at)
        }
    }
}

impl From<&RoomMessage> for RoomMessageView {
    fn from(message: &RoomMessage) -> Self {
        let files = if message.deleted_at.is_some() {
            &[]
        } else {
            message.attachments.as_slice()
        };
        from_fields!(&message => Self {
            id, work_room_id, seq, sender, kind, reply_to_id, client_message_id, created_at, edited_at, deleted_at,
            sender_id: message.sender.as_ref().map(|sender| sender.id.clone()),
            content: message.shown_content().to_owned(),
            attachments: files.iter().map(MessageAttachmentView::from).collect(),
        })
    }
}

impl From<&MessageAttachment> for MessageAttachmentView {
    fn from(attachment: &MessageAttachment) -> Self {
        Self {
            id: attachment.id.clone(),
            file_name: attachment.file.file_name.as_str().to_owned(),
            mime_type: attachment.file.mime_type.clone(),
            size: attachment.file.size,
            url: format!(
                "/api/workrooms/{}/messages/attachments/{}/download",
                attachment.work_room_id, attachment.id
            ),
        }
    }
}

impl From<&DirectMessage> for DirectMessageView {
    /// Omits the other recipients, which only the sender may see.
    fn from(message: &DirectMessage) -> Self {
        from_fields!(&message => Self { id, sender, class_id, subject, content, created_at })
    }
}
