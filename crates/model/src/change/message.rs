//! What happens to messages: in the chat of a work room, and from person to person.

use crate::file::FileKey;
use crate::group::Place;
use crate::id::{UserId, WorkRoomId};
use crate::message::{DirectMessage, RoomMessage};
use crate::time::Timestamp;

/// What happened to messages.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageChange {
    /// A chat message was written.
    Sent {
        /// The group of the room.
        place: Place,
        /// The message.
        message: Box<RoomMessage>,
    },
    /// A chat message was changed.
    Edited {
        /// The group of the room.
        place: Place,
        /// The message as it is now.
        message: Box<RoomMessage>,
    },
    /// A chat message was deleted.
    Deleted {
        /// The group of the room.
        place: Place,
        /// The message as it is now.
        message: Box<RoomMessage>,
    },
    /// Somebody read the room; only their other tabs hear of it.
    Read {
        /// The group of the room.
        place: Place,
        /// The room.
        work_room_id: WorkRoomId,
        /// Who read.
        user: UserId,
        /// When.
        last_read_at: Timestamp,
        /// What is left unread.
        unread_count: i64,
    },
    /// A direct message or an announcement was sent.
    DirectSent {
        /// The message; its class or its recipients hear it.
        message: Box<DirectMessage>,
    },
    /// Messages deleted long ago, or files no message ever named, were dropped.
    Pruned {
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
}
