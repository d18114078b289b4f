//! The queue of emails as the sending instances see it: due emails, leases and outcomes; and emails without an
//! organization.

use anyhow::Context as _;
use domain::email::{EmailKind, QueuedEmail};
use domain::time::Timestamp;

use super::PlatformTx;
use crate::sql::Columns;
use crate::{args, statements};
use common::error::Result;

/// Emails read per page.
const PAGE: i64 = 500;

statements! {
    /// An email without an organization.
    INSERT = "INSERT INTO letters (id, kind, sealed, next_attempt_at, expires_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $4)";
    /// Due emails, oldest first.
    DUE = "SELECT id, kind, sealed, created_at, expires_at, attempts, next_attempt_at FROM letters
        WHERE next_attempt_at <= $1 ORDER BY next_attempt_at, id LIMIT $2";
    /// A page of queued emails by id.
    AFTER = "SELECT id, kind, sealed, created_at, expires_at, attempts, next_attempt_at FROM letters
        WHERE id > $1 ORDER BY id LIMIT $2";
    /// Claims an email unless another instance claimed it since it was read.
    CLAIM = "UPDATE letters SET next_attempt_at = $3 WHERE id = $1 AND next_attempt_at = $2";
    /// Deletes an email accepted by the mail server.
    DELETE = "DELETE FROM letters WHERE id = $1";
    /// Schedules a retry.
    POSTPONE = "UPDATE letters SET attempts = $2, next_attempt_at = $3 WHERE id = $1";
}

/// An email that is due.
#[derive(Debug, Clone)]
pub struct DueEmail {
    pub email: QueuedEmail,
    /// Number of failed attempts.
    pub attempts: i64,
    /// The due time as read; a claim succeeds only if it is unchanged.
    pub due_at: Timestamp,
}

impl PlatformTx<'_> {
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

    /// Lists due emails, at most `limit`.
    pub fn due_emails(&mut self, now: Timestamp, limit: i64) -> Result<Vec<DueEmail>> {
        self.fetch_all(&DUE, args![now, limit], due_email)
    }

    /// Lists a page of all queued emails, by id.
    pub fn queued_emails_after(&mut self, id: &str) -> Result<Vec<QueuedEmail>> {
        let found = self.fetch_all(&AFTER, args![id, PAGE], due_email)?;
        Ok(found.into_iter().map(|due| due.email).collect())
    }

    /// Claims an email for sending until `lease`; returns false if another instance has claimed it.
    pub fn claim_email(&mut self, id: &str, due_at: Timestamp, lease: Timestamp) -> Result<bool> {
        Ok(self.execute_counted(&CLAIM, args![id, due_at, lease])? == 1)
    }

    /// Deletes an email that was handed over to the mail server or is abandoned.
    pub fn delete_queued_email(&mut self, id: &str) -> Result<()> {
        self.execute(&DELETE, args![id])
    }

    /// Records the number of failed attempts and schedules a retry.
    pub fn postpone_email(&mut self, id: &str, attempts: i64, next: Timestamp) -> Result<()> {
        self.execute(&POSTPONE, args![id, attempts, next])
    }
}

fn due_email(row: &Columns<'_>) -> Result<DueEmail> {
    let (kind, sealed): (String, _) = (row.get("kind")?, row.get("sealed")?);
    let (created_at, expires_at) = (row.get("created_at")?, row.get("expires_at")?);
    let (id, attempts, due_at) = (row.get("id")?, row.get("attempts")?, row.get("next_attempt_at")?);
    Ok(DueEmail {
        email: QueuedEmail {
            id,
            kind: EmailKind::parse(&kind).context("an unknown kind of email")?,
            sealed,
            created_at,
            expires_at,
        },
        attempts,
        due_at,
    })
}
