//! Changes of messages: room messages and direct messages.

use crate::file::FileKey;
use crate::group::GroupContext;
use crate::id::{UserId, WorkRoomId};
use crate::message::{DirectMessage, RoomMessage};
use crate::time::Timestamp;

/// A change of messages.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageChange {
    /// A room message was sent.
    Sent {
        group_context: GroupContext,
        message: Box<RoomMessage>,
    },
    /// A room message was edited.
    Edited {
        group_context: GroupContext,
        message: Box<RoomMessage>,
    },
    /// A room message was deleted.
    Deleted {
        group_context: GroupContext,
        message: Box<RoomMessage>,
    },
    /// A user read the room. Only the user's own sessions are notified.
    Read {
        group_context: GroupContext,
        work_room_id: WorkRoomId,
        user: UserId,
        last_read_at: Timestamp,
        /// Number of messages that remain unread.
        unread_count: i64,
    },
    /// A direct message or an announcement was sent.
    DirectSent {
        /// The message; the event is sent to its class or to its recipients.
        message: Box<DirectMessage>,
    },
    /// Messages deleted long ago, or attachments never used in a message, were purged.
    Pruned {
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
}

impl MessageChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::Pruned { files } => files,
            Self::Sent { .. }
            | Self::Edited { .. }
            | Self::Deleted { .. }
            | Self::Read { .. }
            | Self::DirectSent { .. } => &[],
        }
    }
}
