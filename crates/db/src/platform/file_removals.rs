//! The queue of file removals: files of deleted rows.

use domain::file::{ConversionSource, FileKey};
use domain::id::ConversionSourceId;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, from_row, statements};
use common::error::Result;

statements! {
    /// Due removals, oldest first; none during a backup.
    DUE = "SELECT id, file_key, attempts FROM file_removals WHERE next_attempt_at <= $1
            AND NOT EXISTS (SELECT 1 FROM settings WHERE name LIKE 'backup-%' AND updated_at > $1)
        ORDER BY next_attempt_at, id LIMIT $2";
    /// Whether a row refers to the file.
    IS_NAMED = "SELECT EXISTS (SELECT 1 FROM document_revisions WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM submission_documents WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM assignment_attachments WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM group_attachments WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM message_attachments WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM converted_files WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM late_texts WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM deletion_archive_files WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM document_images WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM grade_files WHERE file_key = $1)
            OR EXISTS (SELECT 1 FROM jobs WHERE file_key = $1)";
    /// A file that the document server may download until its removal is due.
    FETCHABLE = "SELECT file_key FROM file_removals WHERE id = $1 AND next_attempt_at > $2";
    DELETE = "DELETE FROM file_removals WHERE id = $1";
    /// Schedules a retry.
    POSTPONE = "UPDATE file_removals SET attempts = attempts + 1, next_attempt_at = $2, last_error = $3 WHERE id = $1";
}

/// A scheduled file removal.
#[derive(Debug, Clone)]
pub struct FileRemoval {
    pub id: String,
    pub key: FileKey,
    /// Number of failed attempts.
    pub attempts: i64,
}

impl PlatformTx<'_> {
    /// Returns due file removals, at most `limit`.
    pub fn due_file_removals(&mut self, now: Timestamp, limit: i64) -> Result<Vec<FileRemoval>> {
        self.fetch_all(
            &DUE,
            args![now, limit],
            |row| from_row!(row => FileRemoval { id, key = "file_key", attempts }),
        )
    }

    /// Returns the files that no row of any organization refers to.
    pub fn unreferenced_files(&mut self, keys: Vec<FileKey>) -> Result<Vec<FileKey>> {
        let mut unnamed = Vec::new();
        for key in keys {
            if !self.is_file_referenced(&key)? {
                unnamed.push(key);
            }
        }
        Ok(unnamed)
    }

    /// Returns whether a row of any organization refers to the file. Such a file must not be removed.
    pub fn is_file_referenced(&mut self, key: &FileKey) -> Result<bool> {
        self.fetch_one(&IS_NAMED, args![key.as_str()], |row| row.only())
    }

    /// Finds the source of a conversion while the document server may download it.
    pub fn conversion_source(&mut self, id: &ConversionSourceId, now: Timestamp) -> Result<Option<ConversionSource>> {
        let key = self.fetch_optional(&FETCHABLE, args![id, now], |row| row.get::<String>("file_key"))?;
        Ok(key.and_then(|key| ConversionSource::parse(&FileKey::new(key))))
    }

    /// Deletes a file removal from the queue.
    pub fn delete_file_removal(&mut self, id: &str) -> Result<()> {
        self.execute(&DELETE, args![id])
    }

    /// Records a failure and schedules a retry.
    pub fn postpone_file_removal(&mut self, id: &str, next: Timestamp, why: &str) -> Result<()> {
        self.execute(&POSTPONE, args![id, next, why])
    }
}
