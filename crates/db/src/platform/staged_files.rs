//! Files of topics that were staged for a bulk edit which never came.

use model::time::Timestamp;

use super::Platform;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Whether one has waited too long.
    ANY = "SELECT EXISTS (SELECT 1 FROM assignment_attachments WHERE staged_at < $1)";
    /// Their bytes go after the commit. A file that a bulk edit names at this very moment keeps its row, and then its bytes.
    LIST = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT organization_id, id, file_key, $2, $2 FROM assignment_attachments WHERE staged_at < $1";
    /// Their rows go.
    DELETE = "DELETE FROM assignment_attachments WHERE staged_at < $1";
}

impl Platform<'_> {
    /// Whether a file was staged before this moment.
    pub fn has_stale_staged_files(&mut self, before: Timestamp) -> Result<bool> {
        Ok(self
            .connection
            .maybe(&ANY, args![before], |row| row.take())?
            .unwrap_or(false))
    }

    /// Drops files that were staged before this moment.
    pub fn drop_staged_files(&mut self, before: Timestamp, now: Timestamp) -> Result<()> {
        self.connection.run(&LIST, args![before, now])?;
        self.connection.run(&DELETE, args![before]).map(drop)
    }
}
