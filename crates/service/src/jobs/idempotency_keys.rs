//! Deletes idempotency keys and their stored responses after a day.

use domain::idempotency::RETENTION_SECONDS;
use domain::time::Timestamp;

use common::error::Result;
use db::Store;
use db::platform::{CrossTenantReason, PlatformTx};

/// Deletes the keys that have expired at `now`. They are invalid even before.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let expired = now.plus_seconds(-RETENTION_SECONDS);
    let look = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.has_expired_keys(expired)
    });
    if look.await? {
        let delete = move |platform: &mut PlatformTx<'_>| platform.expire_keys(expired);
        store.platform_write(CrossTenantReason::Housekeeping, delete).await?;
    }
    Ok(())
}
