//! Deletes expired personal data: records of failed sign-ins (failures, known addresses, counters, and the oldest
//! counters of accounts that do not exist, so that attackers cannot grow the tables without bound), and old emails in
//! the outbox folder. Also deletes the emails to a user who was erased.

use std::time::Duration;

use domain::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use adapters::mailer::Mailer;
use common::clock;
use common::error::Result;
use db::Store;
use db::platform::{CrossTenantReason, PlatformTx};

/// The interval of the cleanup.
const INTERVAL: Duration = Duration::from_mins(10);

/// Starts the task; it is aborted when the handle is dropped.
pub fn start(store: Store, mail: Mailer) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = sweep(&store, clock::now()).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    "cleanup of expired sign-in records failed"
                );
            }
            if let Err(error) = mail.outbox().delete_expired(clock::now()).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    "cleanup of old emails in the outbox folder failed"
                );
            }
        }
    }))
}

/// Deletes what has expired at `now`.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let look = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.has_expired_sign_ins(now)
    });
    if look.await? {
        let expire = move |platform: &mut PlatformTx<'_>| platform.expire_sign_ins(now);
        store.platform_write(CrossTenantReason::Housekeeping, expire).await?;
    }
    Ok(())
}

/// Deletes the emails to an address, both queued ones and those in the outbox folder.
pub async fn delete_emails(store: &Store, mail: &Mailer, address: &str) -> Result<()> {
    let mut after = String::new();
    loop {
        let asked = after.clone();
        let look = store.platform_read(CrossTenantReason::PersonalData, move |platform| {
            platform.queued_emails_after(&asked)
        });
        let letters = look.await?;
        let Some(last) = letters.last() else { break };
        after.clone_from(&last.id);
        let found: Vec<String> = letters
            .iter()
            .filter(|letter| mail.is_addressed_to(letter, address))
            .map(|letter| letter.id.clone())
            .collect();
        if !found.is_empty() {
            let delete = move |platform: &mut PlatformTx<'_>| {
                found.iter().try_for_each(|letter| platform.delete_queued_email(letter))
            };
            store.platform_write(CrossTenantReason::PersonalData, delete).await?;
        }
    }
    mail.outbox().delete(address).await.map(drop)
}
