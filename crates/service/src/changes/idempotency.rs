//! Deletes idempotency keys with their responses after a day.

use std::time::Duration;

use model::idempotency::KEPT_SECONDS;
use model::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use common::clock;
use common::error::Result;
use db::Store;
use db::platform::{Platform, PlatformProof};

/// The pause between two sweeps. An expired key counts no more, whether it is deleted yet or not.
const INTERVAL: Duration = Duration::from_mins(10);

/// Starts the task; it ends when the value is dropped.
pub fn start(store: Store) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = sweep(&store, clock::now()).await {
                tracing::warn!(
                    error = format!("{error:?}"),
                    "expired idempotency keys were not deleted"
                );
            }
        }
    }))
}

/// Deletes what has expired at this moment.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let expired = now.plus_seconds(-KEPT_SECONDS);
    let look = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.has_expired_keys(expired)
    });
    if look.await? {
        let delete = move |platform: &mut Platform<'_>| platform.expire_keys(expired);
        store.platform_write(PlatformProof::housekeeping(), delete).await?;
    }
    Ok(())
}
