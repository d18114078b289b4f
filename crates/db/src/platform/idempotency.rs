//! Idempotency keys that are older than a day, of all organizations.

use model::time::Timestamp;

use super::Platform;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Whether there is anything to delete.
    ANY = "SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE created_at <= $1)";
    /// Deletes them.
    EXPIRE = "DELETE FROM idempotency_keys WHERE created_at <= $1";
}

impl Platform<'_> {
    /// Whether a key was used at or before a moment.
    pub fn has_expired_keys(&mut self, at: Timestamp) -> Result<bool> {
        let found = self.connection.maybe(&ANY, args![at], |row| row.take());
        Ok(found?.unwrap_or(false))
    }

    /// Deletes the keys that were used at or before a moment.
    pub fn expire_keys(&mut self, at: Timestamp) -> Result<()> {
        self.connection.run(&EXPIRE, args![at]).map(drop)
    }
}
