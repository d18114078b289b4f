//! Retention of chat data: content and files of deleted messages, and uploads that no message refers to.

use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Whether there is anything to delete.
    ANY = "SELECT EXISTS (SELECT 1 FROM message_attachments WHERE message_id IS NULL AND created_at < $1)
            OR EXISTS (SELECT 1 FROM work_room_messages WHERE deleted_at < $2 AND content <> '')
            OR EXISTS (SELECT 1 FROM work_room_messages m JOIN message_attachments f ON f.message_id = m.id
                WHERE m.deleted_at < $2)";
    /// Schedules the files for removal after the commit. A file that a concurrent transaction attaches to a message
    /// keeps its row, and therefore its bytes.
    LIST_WAITING = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT organization_id, id, file_key, $2, $2 FROM message_attachments
        WHERE message_id IS NULL AND created_at < $1";
    DELETE_WAITING = "DELETE FROM message_attachments WHERE message_id IS NULL AND created_at < $1";
    /// Schedules the files of deleted messages for removal after the commit.
    LIST_DELETED = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT f.organization_id, f.id, f.file_key, $2, $2
        FROM work_room_messages m JOIN message_attachments f ON f.message_id = m.id WHERE m.deleted_at < $1";
    DELETE_DELETED = "DELETE FROM message_attachments
        WHERE message_id IN (SELECT m.id FROM work_room_messages m WHERE m.deleted_at < $1)";
    /// Clears the content of deleted messages; their rows and sequence numbers remain.
    EMPTY = "UPDATE work_room_messages SET content = '' WHERE deleted_at < $1 AND content <> ''";
}

impl PlatformTx<'_> {
    /// Returns whether there are pending uploads from before `waiting`, or messages deleted before `deleted` with
    /// content or files.
    pub fn has_old_messages(&mut self, waiting: Timestamp, deleted: Timestamp) -> Result<bool> {
        self.fetch_one(&ANY, args![waiting, deleted], |row| row.only())
    }

    /// Deletes pending uploads from before `waiting`, and content and files of messages deleted before `deleted`.
    pub fn delete_old_messages(&mut self, waiting: Timestamp, deleted: Timestamp, now: Timestamp) -> Result<()> {
        self.execute(&LIST_WAITING, args![waiting, now])?;
        self.execute(&DELETE_WAITING, args![waiting])?;
        self.execute(&LIST_DELETED, args![deleted, now])?;
        self.execute(&DELETE_DELETED, args![deleted])?;
        self.execute(&EMPTY, args![deleted])
    }
}
