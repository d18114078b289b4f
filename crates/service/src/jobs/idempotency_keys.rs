//! Deletes idempotency keys and their stored responses after a day.

use std::time::Duration;

use domain::idempotency::RETENTION_SECONDS;
use domain::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use common::clock;
use common::error::Result;
use db::Store;
use db::platform::{CrossTenantReason, PlatformTx};

/// The interval of the cleanup. An expired key is invalid even before it is deleted.
const INTERVAL: Duration = Duration::from_mins(10);

/// Starts the task; it is aborted when the handle is dropped.
pub fn start(store: Store) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = sweep(&store, clock::now()).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    "cleanup of expired idempotency keys failed"
                );
            }
        }
    }))
}

/// Deletes the keys that have expired at `now`.
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
