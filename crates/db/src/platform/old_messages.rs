//! What the chat keeps for a while only: words and files of deleted messages, and files that no message ever named.

use model::time::Timestamp;

use super::Platform;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Whether there is anything to drop.
    ANY = "SELECT EXISTS (SELECT 1 FROM message_attachments WHERE message_id IS NULL AND created_at < $1)
            OR EXISTS (SELECT 1 FROM work_room_messages WHERE deleted_at < $2 AND content <> '')
            OR EXISTS (SELECT 1 FROM work_room_messages m JOIN message_attachments f ON f.message_id = m.id
                WHERE m.deleted_at < $2)";
    /// Bytes go after the commit. A file that a message names at this very moment keeps its row, and then its bytes.
    LIST_WAITING = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT organization_id, id, file_key, $2, $2 FROM message_attachments WHERE message_id IS NULL AND created_at < $1";
    /// Rows of files that no message named.
    DELETE_WAITING = "DELETE FROM message_attachments WHERE message_id IS NULL AND created_at < $1";
    /// The bytes of deleted messages, too.
    LIST_DELETED = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT f.organization_id, f.id, f.file_key, $2, $2
        FROM work_room_messages m JOIN message_attachments f ON f.message_id = m.id WHERE m.deleted_at < $1";
    /// Rows of their files.
    DELETE_DELETED = "DELETE FROM message_attachments
        WHERE message_id IN (SELECT m.id FROM work_room_messages m WHERE m.deleted_at < $1)";
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
        self.connection.run(&LIST_WAITING, args![waiting, now])?;
        self.connection.run(&DELETE_WAITING, args![waiting])?;
        self.connection.run(&LIST_DELETED, args![deleted, now])?;
        self.connection.run(&DELETE_DELETED, args![deleted])?;
        self.connection.run(&EMPTY, args![deleted]).map(drop)
    }
}
