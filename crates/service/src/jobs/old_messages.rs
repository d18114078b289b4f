//! Cleans up chats: deletes files that were not sent within a day, and the content of deleted messages after the
//! moderation period.

use domain::message::{RETENTION_SECONDS, WAITING_SECONDS};
use domain::time::Timestamp;

use common::error::Result;
use db::Store;
use db::platform::{CrossTenantReason, PlatformTx};

/// Deletes what has expired at `now`.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let (waiting, deleted) = (now.plus_seconds(-WAITING_SECONDS), now.plus_seconds(-RETENTION_SECONDS));
    let look = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.has_old_messages(waiting, deleted)
    });
    if look.await? {
        let drop = move |platform: &mut PlatformTx<'_>| platform.delete_old_messages(waiting, deleted, now);
        store.platform_write(CrossTenantReason::Housekeeping, drop).await?;
    }
    Ok(())
}
