//! What an operator watches: the queue of emails and the last backup.

use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Number of queued emails, and when the oldest was queued.
    EMAIL_QUEUE = "SELECT COUNT(*) AS length, MIN(created_at) AS oldest FROM letters";
    /// Records the end of a complete backup.
    RECORD_BACKUP = "INSERT INTO settings (name, value, updated_at) VALUES ('last_backup', '', $1)
        ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at";
    /// When the last complete backup ended.
    LAST_BACKUP = "SELECT updated_at FROM settings WHERE name = 'last_backup'";
}

/// The queue of emails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmailQueue {
    pub length: i64,
    /// When the oldest email was queued; `None` if the queue is empty.
    pub oldest: Option<Timestamp>,
}

impl PlatformTx<'_> {
    /// Returns length and age of the email queue.
    pub fn email_queue(&mut self) -> Result<EmailQueue> {
        let read = self.connection.fetch_optional(&EMAIL_QUEUE, args![], |row| {
            Ok(EmailQueue {
                length: row.get("length")?,
                oldest: row.get("oldest")?,
            })
        })?;
        Ok(read.unwrap_or(EmailQueue {
            length: 0,
            oldest: None,
        }))
    }

    /// Records that a complete backup was made.
    pub fn record_backup(&mut self, now: Timestamp) -> Result<()> {
        self.connection.execute(&RECORD_BACKUP, args![now]).map(drop)
    }

    /// Returns when the last complete backup was made.
    pub fn last_backup(&mut self) -> Result<Option<Timestamp>> {
        self.connection
            .fetch_optional(&LAST_BACKUP, args![], |row| row.get("updated_at"))
    }
}
