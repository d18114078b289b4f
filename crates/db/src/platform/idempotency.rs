//! Expiry of the idempotency keys of all organizations.

use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    ANY = "SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE created_at <= $1)";
    EXPIRE = "DELETE FROM idempotency_keys WHERE created_at <= $1";
}

impl PlatformTx<'_> {
    /// Returns whether a key was claimed at or before `at`.
    pub fn has_expired_keys(&mut self, at: Timestamp) -> Result<bool> {
        self.fetch_one(&ANY, args![at], |row| row.only())
    }

    /// Deletes the keys claimed at or before `at`.
    pub fn expire_keys(&mut self, at: Timestamp) -> Result<()> {
        self.execute(&EXPIRE, args![at])
    }
}
