//! Expiry of files that were staged for a bulk edit of topics but never published.

use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    ANY = "SELECT EXISTS (SELECT 1 FROM assignment_attachments WHERE staged_at < $1)";
    /// Schedules their files for removal after the commit. A file that a concurrent bulk edit publishes keeps its row,
    /// and therefore its bytes.
    LIST = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT organization_id, id, file_key, $2, $2 FROM assignment_attachments WHERE staged_at < $1";
    DELETE = "DELETE FROM assignment_attachments WHERE staged_at < $1";
}

impl PlatformTx<'_> {
    /// Returns whether a file was staged before this time.
    pub fn has_stale_staged_files(&mut self, before: Timestamp) -> Result<bool> {
        Ok(self
            .fetch_optional(&ANY, args![before], |row| row.only())?
            .unwrap_or(false))
    }

    /// Deletes files that were staged before this time.
    pub fn delete_staged_files(&mut self, before: Timestamp, now: Timestamp) -> Result<()> {
        self.execute(&LIST, args![before, now])?;
        self.execute(&DELETE, args![before])
    }
}
