//! Deletes expired personal data: sign-ins that waited for a provider, records of failed sign-ins (failures, known addresses, counters, and the oldest
//! counters of accounts that do not exist, so that attackers cannot grow the tables without bound), and old emails in
//! the outbox folder. Also deletes the emails to a user who was erased.

use domain::time::Timestamp;

use adapters::mailer::Mailer;
use common::error::Result;
use db::Store;
use db::platform::{CrossTenantReason, PlatformTx};

/// Deletes what has expired at `now`.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let look = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        Ok(platform.has_expired_sign_ins(now)? || platform.has_expired_sign_ons(now)?)
    });
    if look.await? {
        let expire = move |platform: &mut PlatformTx<'_>| {
            platform.expire_sign_ins(now)?;
            platform.expire_sign_ons(now)
        };
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
        let queued_emails = look.await?;
        let Some(last) = queued_emails.last() else { break };
        after.clone_from(&last.id);
        let found: Vec<String> = queued_emails
            .iter()
            .filter(|queued| mail.is_addressed_to(queued, address))
            .map(|queued| queued.id.clone())
            .collect();
        if !found.is_empty() {
            let delete = move |platform: &mut PlatformTx<'_>| {
                found.iter().try_for_each(|queued| platform.delete_queued_email(queued))
            };
            store.platform_write(CrossTenantReason::PersonalData, delete).await?;
        }
    }
    mail.outbox().delete(address).await.map(drop)
}
