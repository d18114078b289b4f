//! What a backup needs of the database besides its rows: that no file goes while it is at work, who was erased, and whether
//! a restore was left half done.

use model::file::FileKey;
use model::id::UserId;
use model::time::Timestamp;

use super::Platform;
use super::erasure::Traces;
use crate::error::Result;
use crate::{args, clock, statements};

statements! {
    /// Holds all files until a moment.
    HOLD = "INSERT INTO settings (name, value, updated_at) VALUES ($1, '', $2)
        ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at";
    /// Holds them no longer; what others left behind goes too.
    RELEASE = "DELETE FROM settings WHERE name = $1 OR (name LIKE 'backup-%' AND updated_at < $2)";
    /// How far a restore has come that was begun and not ended.
    RESTORE = "SELECT value FROM settings WHERE name = 'restore'";
    /// Everybody who was erased.
    ERASED = "SELECT id FROM users WHERE erased_at IS NOT NULL ORDER BY id";
    /// The address of somebody who is not erased.
    ADDRESS = "SELECT email FROM users WHERE id = $1 AND erased_at IS NULL";
    /// Files that go after the commit.
    FORGET = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        VALUES ('', $1, $2, $3, $3)";
    /// Whether a file waits to be removed.
    WAITS = "SELECT EXISTS (SELECT 1 FROM file_removals WHERE file_key = $1)";
}

impl Platform<'_> {
    /// Says that a backup is at work: no file is removed until then.
    pub fn hold_files(&mut self, name: &str, until: Timestamp) -> Result<()> {
        self.connection.run(&HOLD, args![name, until]).map(drop)
    }

    /// Says that it is done.
    pub fn release_files(&mut self, name: &str, now: Timestamp) -> Result<()> {
        self.connection.run(&RELEASE, args![name, now]).map(drop)
    }

    /// Whether a restore was begun here and not ended.
    pub fn is_half_restored(&mut self) -> Result<bool> {
        let found = self.connection.maybe(&RESTORE, args![], |row| row.take::<String>())?;
        Ok(found.is_some())
    }

    /// Everybody who was erased.
    pub fn erased_people(&mut self) -> Result<Vec<UserId>> {
        self.connection.many(&ERASED, args![], |row| row.take())
    }

    /// Erases a person whom a backup brought back; false when there is nobody to erase.
    pub fn erase_again(&mut self, user: &UserId, now: Timestamp) -> Result<bool> {
        let Some(address) = self
            .connection
            .maybe(&ADDRESS, args![user], |row| row.take::<String>())?
        else {
            return Ok(false);
        };
        self.erase_from_log(user, &address.to_lowercase(), &Traces::default())?;
        let (_, files) = self.erase_person(user, now)?;
        for file in files {
            self.connection
                .run(&FORGET, args![clock::new_id(), file.as_str(), now])?;
        }
        Ok(true)
    }

    /// Those of some files that no row names, and that nobody is about to remove.
    pub fn abandoned_files(&mut self, keys: Vec<FileKey>) -> Result<Vec<FileKey>> {
        let mut abandoned = Vec::new();
        for key in self.unnamed_files(keys)? {
            let waits = self.connection.maybe(&WAITS, args![key.as_str()], |row| row.take())?;
            if !waits.unwrap_or(false) {
                abandoned.push(key);
            }
        }
        Ok(abandoned)
    }
}
