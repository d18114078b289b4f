//! Uploaded files that the document server fetches to convert them. Each has a row in `file_removals` before it is stored, so
//! that it is removed whatever happens; until that time it can be fetched.

use domain::file::ConversionSource;
use domain::id::ConversionSourceId;
use domain::time::Timestamp;

use super::WriteTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// A source and when it is removed at the latest.
    INSERT = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        VALUES ($1, $2, $3, $4, $5)";
    /// Removes it now.
    RELEASE = "UPDATE file_removals SET next_attempt_at = created_at WHERE organization_id = $1 AND id = $2";
}

impl WriteTx<'_> {
    /// Notes a source before it is stored, and when it is removed at the latest.
    pub fn insert_conversion_source(
        &mut self,
        source: &ConversionSource,
        now: Timestamp,
        removed_at: Timestamp,
    ) -> Result<()> {
        let key = source.file_key();
        self.execute(&INSERT, args![source.id, key.as_str(), removed_at, now])
    }

    /// Ends the time in which a source can be fetched; its file is removed after the commit.
    pub fn release_conversion_source(&mut self, id: &ConversionSourceId) -> Result<()> {
        self.execute(&RELEASE, args![id])
    }
}
