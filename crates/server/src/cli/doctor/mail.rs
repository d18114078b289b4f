//! Checks the SMTP server and the queue of emails.

use super::{DoctorReport, Finding, fault};
use crate::config::Config;
use common::clock;
use db::Store;
use db::platform::CrossTenantReason;

/// The age in seconds of a queued email that is reported: retries are minutes apart.
const QUEUE_AGE_MAX_SECONDS: i64 = 15 * 60;
/// The age in seconds of a backup that is reported.
const BACKUP_AGE_MAX_SECONDS: i64 = 48 * 3_600;

/// Connects and signs in to the SMTP server.
pub async fn examine(config: &Config, found: &mut DoctorReport) {
    let Some(server) = &config.smtp else {
        let message = "SMTP_URL is unset: emails are written to DATA_DIR/outbox";
        return found.add("mail", Finding::Notice(message.to_owned()));
    };
    let domain = config.mail_from.email.domain();
    let finding = match server.check(domain).await {
        Ok(()) => Finding::Fine(format!(
            "{server:?} is reachable and accepts the sign-in; groupwork mail test ADDRESS sends a message"
        )),
        Err(why) => Finding::Fault(format!("{server:?}: {why}; compare SMTP_URL")),
    };
    found.add("mail", finding);
}

/// Checks what the service has recorded: emails that wait, the last backup, and the maintenance mode.
pub async fn examine_records(store: &Store, found: &mut DoctorReport) {
    let read = store.platform_read(CrossTenantReason::CommandLine, |platform| {
        Ok((
            platform.email_queue()?,
            platform.last_backup()?,
            platform.maintenance()?,
        ))
    });
    let (queue, last_backup, maintenance) = match read.await {
        Ok(read) => read,
        Err(error) => return found.add("records", fault(&error)),
    };
    if let Some(mode) = maintenance {
        let message = format!(
            "on since {}: nothing can be changed; groupwork maintenance off",
            mode.since
        );
        found.add("maintenance", Finding::Notice(message));
    }
    let now = clock::now();
    let age = queue.oldest.map_or(0, |oldest| now.seconds_since(oldest));
    let message = format!("{} emails wait", queue.length);
    found.add(
        "mail queue",
        if age > QUEUE_AGE_MAX_SECONDS {
            Finding::Fault(format!("{message}, the oldest for {} minutes", age / 60))
        } else {
            Finding::Fine(message)
        },
    );
    found.add(
        "backup",
        match last_backup {
            None => Finding::Notice("no complete backup was made yet: groupwork backup --folder FOLDER".to_owned()),
            Some(at) => {
                let age = now.seconds_since(at);
                let message = format!("the last complete one is {} hours old", age / 3_600);
                if age > BACKUP_AGE_MAX_SECONDS {
                    Finding::Fault(format!("{message}; see systemctl status groupwork-backup"))
                } else {
                    Finding::Fine(message)
                }
            }
        },
    );
}
