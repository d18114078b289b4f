//! What an operator watches and sets: the queue of emails, the last backup, the maintenance mode.

use domain::maintenance::Maintenance;
use domain::text::MaintenanceMessage;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, from_row, statements};
use common::error::Result;

statements! {
    /// Number of queued emails, and when the oldest was queued.
    EMAIL_QUEUE = "SELECT COUNT(*) AS length, MIN(created_at) AS oldest FROM letters";
    /// Records the end of a complete backup.
    RECORD_BACKUP = "INSERT INTO settings (name, value, updated_at) VALUES ('last_backup', '', $1)
        ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at";
    /// When the last complete backup ended.
    LAST_BACKUP = "SELECT updated_at FROM settings WHERE name = 'last_backup'";
    /// The maintenance mode: its message, which may be empty, and its beginning.
    MAINTENANCE = "SELECT value, updated_at FROM settings WHERE name = 'maintenance'";
    /// Begins maintenance, or changes its message.
    BEGIN_MAINTENANCE = "INSERT INTO settings (name, value, updated_at) VALUES ('maintenance', $1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    END_MAINTENANCE = "DELETE FROM settings WHERE name = 'maintenance'";
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
        let read = self.fetch_optional(
            &EMAIL_QUEUE,
            args![],
            |row| from_row!(row => EmailQueue { length, oldest }),
        )?;
        Ok(read.unwrap_or(EmailQueue {
            length: 0,
            oldest: None,
        }))
    }

    /// Records that a complete backup was made.
    pub fn record_backup(&mut self, now: Timestamp) -> Result<()> {
        self.execute(&RECORD_BACKUP, args![now])
    }

    /// Returns when the last complete backup was made.
    pub fn last_backup(&mut self) -> Result<Option<Timestamp>> {
        self.fetch_optional(&LAST_BACKUP, args![], |row| row.get("updated_at"))
    }

    /// Returns the maintenance mode if it is on.
    pub fn maintenance(&mut self) -> Result<Option<Maintenance>> {
        self.fetch_optional(&MAINTENANCE, args![], |row| {
            let message: String = row.get("value")?;
            Ok(Maintenance {
                message: Some(message)
                    .filter(|message| !message.is_empty())
                    .map(MaintenanceMessage::stored),
                since: row.get("updated_at")?,
            })
        })
    }

    /// Begins maintenance. If it is on already, only the message changes.
    pub fn begin_maintenance(&mut self, message: Option<&MaintenanceMessage>, now: Timestamp) -> Result<()> {
        let message = message.map_or("", |message| message.as_str());
        self.execute(&BEGIN_MAINTENANCE, args![message, now])
    }

    /// Ends maintenance.
    pub fn end_maintenance(&mut self) -> Result<()> {
        self.execute(&END_MAINTENANCE, args![])
    }
}
