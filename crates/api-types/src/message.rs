//! Messages as answers and events show them (contract 3.7). What was deleted says nothing any more.

use model::file::MessageAttachment;
use model::id::{AssignmentId, AttachmentId, ClassId, MessageId, UserId, WorkRoomId};
use model::message::{DirectMessage, MessageType, RoomMessage, Sender};
use model::text::{ChatText, ClientMessageId, MessageSubject};
use model::time::Timestamp;
use model::user::Person;
use serde::Serialize;
use utoipa::ToSchema;

/// A message in the chat of a work room.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkRoomMessage)]
pub struct RoomMessageView {
    id: MessageId,
    work_room_id: WorkRoomId,
    /// Its place in the room: 1, 2, … without gaps
    seq: i64,
    #[schema(required)]
    sender_id: Option<UserId>,
    #[schema(required)]
    sender: Option<Sender>,
    #[serde(rename = "type")]
    kind: MessageType,
    /// Empty once it is deleted
    content: String,
    attachments: Vec<MessageAttachmentView>,
    #[schema(required)]
    reply_to_id: Option<MessageId>,
    #[schema(required)]
    client_message_id: Option<ClientMessageId>,
    created_at: Timestamp,
    #[schema(required)]
    edited_at: Option<Timestamp>,
    #[schema(required)]
    deleted_at: Option<Timestamp>,
}

/// A file of a chat message.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MessageAttachment)]
pub struct MessageAttachmentView {
    id: AttachmentId,
    file_name: String,
    mime_type: String,
    size: i64,
    url: String,
}

impl MessageAttachmentView {
    /// Where its bytes are.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl RoomMessageView {
    /// Where it stands.
    pub fn address(&self) -> String {
        format!("/api/workrooms/{}/messages/{}", self.work_room_id, self.id)
    }
}

/// A message from person to person, or an announcement to a class.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DirectMessage)]
pub struct DirectMessageView {
    id: MessageId,
    sender: Person,
    #[schema(required)]
    class_id: Option<ClassId>,
    #[schema(required)]
    subject: Option<MessageSubject>,
    content: ChatText,
    created_at: Timestamp,
}

/// A message in the view of one person.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Message)]
pub struct MessageView {
    #[serde(flatten)]
    message: DirectMessageView,
    /// When the caller read it; null also for what he sent
    #[schema(required)]
    read_at: Option<Timestamp>,
    /// For its sender only: how many got it
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient_count: Option<i64>,
    /// For its sender only: who got it, in lists the first five; empty for an announcement
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<Vec<Person>>,
}

/// A sent message: a direct message, or the messages written into rooms; `kind` is the kind.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = SentMessage)]
pub enum SentMessageView {
    /// To persons or to a class.
    Direct(MessageView),
    /// Into the room of a group.
    Room(RoomMessageView),
    /// Into the rooms of all groups of a topic.
    Rooms(RoomMessagesView),
}

/// One message in the room of each group of a topic.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SentToRooms)]
pub struct RoomMessagesView {
    /// The topic
    pub assignment_id: AssignmentId,
    /// The messages, by group number
    pub messages: Vec<RoomMessageView>,
}

impl MessageView {
    /// A message that came to the caller.
    pub fn received(message: &DirectMessage, read_at: Option<Timestamp>) -> Self {
        Self {
            message: DirectMessageView::from(message),
            read_at,
            recipient_count: None,
            recipients: None,
        }
    }

    /// A message of the caller's own.
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
        Self {
            id: message.id.clone(),
            work_room_id: message.work_room_id.clone(),
            seq: message.seq,
            sender_id: message.sender.as_ref().map(|sender| sender.id.clone()),
            sender: message.sender.clone(),
            kind: message.kind,
            content: message.shown_content().to_owned(),
            attachments: files.iter().map(MessageAttachmentView::from).collect(),
            reply_to_id: message.reply_to_id.clone(),
            client_message_id: message.client_message_id.clone(),
            created_at: message.created_at,
            edited_at: message.edited_at,
            deleted_at: message.deleted_at,
        }
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
    /// Without the other recipients: who else got it is nobody's business.
    fn from(message: &DirectMessage) -> Self {
        Self {
            id: message.id.clone(),
            sender: message.sender.clone(),
            class_id: message.class_id.clone(),
            subject: message.subject.clone(),
            content: message.content.clone(),
            created_at: message.created_at,
        }
    }
}
