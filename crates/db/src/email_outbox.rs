//! Enqueues emails of an organization in the transaction that causes them. `platform/email_outbox.rs` reads the queue.

use domain::email::QueuedEmail;

use super::WriteTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    INSERT = "INSERT INTO letters (organization_id, id, kind, sealed, next_attempt_at, expires_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $5)";
}

impl WriteTx<'_> {
    /// Enqueues an email. It is sent after the commit.
    pub fn enqueue_email(&mut self, email: &QueuedEmail) -> Result<()> {
        let QueuedEmail {
            id,
            kind,
            sealed,
            created_at,
            expires_at,
        } = email;
        self.execute(&INSERT, args![id, kind.as_str(), sealed, created_at, expires_at])
    }
}
