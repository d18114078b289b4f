//! Links that confirm a new email address of a user.

use domain::id::UserId;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    /// Inserts a link that is sent to the address it confirms.
    INSERT = "INSERT INTO verifications (id, identifier, value, address, expires_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6)";
    /// Consumes a link.
    TAKE = "DELETE FROM verifications WHERE identifier = $1 AND address IS NOT NULL RETURNING value, address,
        expires_at";
    /// Sets a confirmed email address.
    CHANGE = "UPDATE users SET email = $2, email_verified = TRUE, updated_at = $3, row_version = row_version + 1
        WHERE id = $1";
}

impl PlatformTx<'_> {
    /// Inserts a link that is sent to `address`.
    pub fn insert_address_link(
        &mut self,
        identifier: &str,
        user: &UserId,
        address: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        let id = clock::new_id();
        let arguments = args![id, identifier, user, address, expires_at, now];
        self.execute(&INSERT, arguments)
    }

    /// Consumes a link; returns the user and the confirmed address unless it has expired.
    pub fn take_address_link(&mut self, identifier: &str, now: Timestamp) -> Result<Option<(UserId, String)>> {
        let found = self.fetch_optional(&TAKE, args![identifier], |row| {
            Ok((
                row.get::<UserId>("value")?,
                row.get::<String>("address")?,
                row.get::<Timestamp>("expires_at")?,
            ))
        })?;
        let good = found.filter(|(_, _, expires_at)| *expires_at >= now);
        Ok(good.map(|(user, address, _)| (user, address)))
    }

    /// Sets the email address of a user; one that is in use is `DUPLICATE_EMAIL`.
    pub fn change_address(&mut self, user: &UserId, address: &str, now: Timestamp) -> Result<()> {
        self.execute(&CHANGE, args![user, address, now])
    }
}
