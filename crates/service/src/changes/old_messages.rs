//! The chat forgets: files that no message named within a day, and what deleted messages said, after the time for which
//! it is kept for moderation.

use std::time::Duration;

use model::message::{KEPT_SECONDS, WAITING_SECONDS};
use model::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use common::clock;
use common::error::Result;
use db::Store;
use db::platform::{Platform, PlatformProof};

/// How often there is a look; days and weeks do not depend on it.
const PAUSE: Duration = Duration::from_mins(10);

/// Starts the task; it ends with the value.
pub fn start(store: Store) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = sweep(&store, clock::now()).await {
                tracing::warn!(error = format!("{error:?}"), "old chat messages were not looked for");
            }
        }
    }))
}

/// Drops what is old at this moment.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let (waiting, deleted) = (now.plus_seconds(-WAITING_SECONDS), now.plus_seconds(-KEPT_SECONDS));
    let look = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.has_old_messages(waiting, deleted)
    });
    if look.await? {
        let drop = move |platform: &mut Platform<'_>| platform.drop_old_messages(waiting, deleted, now);
        store.platform_write(PlatformProof::housekeeping(), drop).await?;
    }
    Ok(())
}
