//! What the chat keeps for a while only: words and files of deleted messages, and files that no message ever named.

use model::time::Timestamp;

use super::Platform;
use crate::error::Result;
use crate::{args, statements};

/// File `f` goes: it waited too long for a message, or its message was deleted long ago.
macro_rules! old_files {
    () => {
        "message_attachments f WHERE (f.message_id IS NULL AND f.created_at < $1)
            OR f.message_id IN (SELECT m.id FROM work_room_messages m WHERE m.deleted_at < $2)"
    };
}

statements! {
    /// Whether there is anything to drop.
    ANY = concat!("SELECT EXISTS (SELECT 1 FROM ", old_files!(), ")
            OR EXISTS (SELECT 1 FROM work_room_messages WHERE deleted_at < $2 AND content <> '')");
    /// Bytes go after the commit. A file that a message names at this very moment keeps its row, and then its bytes.
    LIST = concat!("INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT f.organization_id, f.id, f.file_key, $3, $3 FROM ", old_files!());
    /// Their rows go.
    DELETE = "DELETE FROM message_attachments WHERE (message_id IS NULL AND created_at < $1)
            OR message_id IN (SELECT m.id FROM work_room_messages m WHERE m.deleted_at < $2)";
    /// The words go; the messages keep their places.
    EMPTY = "UPDATE work_room_messages SET content = '' WHERE deleted_at < $1 AND content <> ''";
}

impl Platform<'_> {
    /// Whether files waited since before one moment, or messages were deleted before another and still hold something.
    pub fn has_old_messages(&mut self, waiting: Timestamp, deleted: Timestamp) -> Result<bool> {
        let found = self.connection.maybe(&ANY, args![waiting, deleted], |row| row.take());
        Ok(found?.unwrap_or(false))
    }

    /// Drops them.
    pub fn drop_old_messages(&mut self, waiting: Timestamp, deleted: Timestamp, now: Timestamp) -> Result<()> {
        self.connection.run(&LIST, args![waiting, deleted, now])?;
        self.connection.run(&DELETE, args![waiting, deleted])?;
        self.connection.run(&EMPTY, args![deleted]).map(drop)
    }
}
