//! Database support for backups: holds file removals during a backup, lists erased users, and detects unfinished
//! restores.

use domain::file::FileKey;
use domain::id::UserId;
use domain::time::Timestamp;

use super::PlatformTx;
use super::erasure::LogScan;
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    /// Suspends file removals until a point in time.
    HOLD = "INSERT INTO settings (name, value, updated_at) VALUES ($1, '', $2)
        ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at";
    /// Ends the suspension, and deletes expired ones of other backups.
    RELEASE = "DELETE FROM settings WHERE name = $1 OR (name LIKE 'backup-%' AND updated_at < $2)";
    /// The progress of an unfinished restore.
    RESTORE = "SELECT value FROM settings WHERE name = 'restore'";
    /// The expected id of the file storage marker.
    STORAGE_ID = "SELECT value FROM settings WHERE name = 'storage'";
    /// Records the storage id unless one is recorded.
    RECORD_STORAGE = "INSERT INTO settings (name, value, updated_at) VALUES ('storage', $1, $2)
        ON CONFLICT (name) DO NOTHING";
    /// A sample of the files that rows refer to, the newest of each table.
    SAMPLED_FILES = "SELECT file_key FROM
            (SELECT file_key FROM document_revisions ORDER BY file_key DESC LIMIT $1) a
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM submission_documents ORDER BY file_key DESC LIMIT $1) b
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM assignment_attachments ORDER BY file_key DESC LIMIT $1) c
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM group_attachments ORDER BY file_key DESC LIMIT $1) d
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM message_attachments ORDER BY file_key DESC LIMIT $1) e
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM converted_files ORDER BY file_key DESC LIMIT $1) f
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM late_texts ORDER BY file_key DESC LIMIT $1) g
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM document_images ORDER BY file_key DESC LIMIT $1) h
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM deletion_archive_files ORDER BY file_key DESC LIMIT $1) i
        UNION ALL SELECT file_key FROM
            (SELECT file_key FROM grade_files ORDER BY file_key DESC LIMIT $1) j";
    /// The erased users.
    ERASED = "SELECT id FROM users WHERE erased_at IS NOT NULL ORDER BY id";
    /// The email address of a user who is not erased.
    ADDRESS = "SELECT email FROM users WHERE id = $1 AND erased_at IS NULL";
    /// Schedules a file for removal after the commit.
    FORGET = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        VALUES ('', $1, $2, $3, $3)";
    /// Whether a file is scheduled for removal.
    WAITS = "SELECT EXISTS (SELECT 1 FROM file_removals WHERE file_key = $1)";
}

impl PlatformTx<'_> {
    /// Suspends file removals until `until`, for a running backup.
    pub fn suspend_file_removals(&mut self, name: &str, until: Timestamp) -> Result<()> {
        self.execute(&HOLD, args![name, until])
    }

    /// Ends the suspension of file removals.
    pub fn resume_file_removals(&mut self, name: &str, now: Timestamp) -> Result<()> {
        self.execute(&RELEASE, args![name, now])
    }

    /// Returns whether a restore was begun and not completed.
    pub fn is_half_restored(&mut self) -> Result<bool> {
        let found = self.fetch_optional(&RESTORE, args![], |row| row.get::<String>("value"))?;
        Ok(found.is_some())
    }

    /// Returns the expected id of the file storage marker, if one is recorded.
    pub fn storage_id(&mut self) -> Result<Option<String>> {
        self.fetch_optional(&STORAGE_ID, args![], |row| row.get("value"))
    }

    /// Records a storage id unless one is recorded, and returns the recorded one.
    pub fn record_storage(&mut self, id: &str, now: Timestamp) -> Result<Option<String>> {
        self.execute(&RECORD_STORAGE, args![id, now])?;
        self.storage_id()
    }

    /// Returns at most `limit` files that rows refer to, the newest of each table.
    pub fn sampled_files(&mut self, limit: usize) -> Result<Vec<FileKey>> {
        let each = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut keys: Vec<String> = self.fetch_all(&SAMPLED_FILES, args![each], |row| row.get("file_key"))?;
        // Keys are random except for their timestamp prefix: sorting by their reversed bytes mixes the tables.
        keys.sort_unstable_by(|one, other| one.bytes().rev().cmp(other.bytes().rev()));
        keys.truncate(limit);
        Ok(keys.into_iter().map(FileKey::new).collect())
    }

    /// Lists the erased users.
    pub fn erased_users(&mut self) -> Result<Vec<UserId>> {
        self.fetch_all(&ERASED, args![], |row| row.get("id"))
    }

    /// Erases a user that a restored backup contains; returns false if there is nothing to erase.
    pub fn erase_again(&mut self, user: &UserId, now: Timestamp) -> Result<bool> {
        let Some(address) = self.fetch_optional(&ADDRESS, args![user], |row| row.get::<String>("email"))? else {
            return Ok(false);
        };
        self.erase_from_log(user, &address.to_lowercase(), &LogScan::default())?;
        let (_, files) = self.erase_person(user, now)?;
        for file in files {
            self.execute(&FORGET, args![clock::new_id(), file.as_str(), now])?;
        }
        Ok(true)
    }

    /// Returns the files that no row refers to and that are not scheduled for removal.
    pub fn unreferenced_stored_files(&mut self, keys: Vec<FileKey>) -> Result<Vec<FileKey>> {
        let mut abandoned = Vec::new();
        for key in self.unreferenced_files(keys)? {
            let waits = self.fetch_optional(&WAITS, args![key.as_str()], |row| row.only())?;
            if !waits.unwrap_or(false) {
                abandoned.push(key);
            }
        }
        Ok(abandoned)
    }
}
