//! Works off `file_removals` after the commits that wrote them: a file goes when its rows are gone, never before, and a
//! failure is tried again later and later.

use std::time::Duration;

use model::late_text;
use model::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use adapters::files::Files;
use common::clock;
use common::error::Result;
use common::failpoint;
use db::Store;
use db::platform::file_removals::FileRemoval;
use db::platform::{Platform, PlatformProof};

/// How often the list is looked at.
const PAUSE: Duration = Duration::from_secs(2);
/// Files of one round.
const ROUND: i64 = 100;
/// How long a staged file waits for the bulk edit that names it, in seconds.
const STAGED_MAX: i64 = 86_400;
/// The longest wait between two attempts, in seconds.
const WAIT_MAX: i64 = 3_600;

/// Starts the task; it ends with the value.
pub fn start(store: Store, files: Files) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            match round(&store, &files).await {
                // More may wait than fits a round.
                Ok(done) if done == ROUND => {}
                Ok(_) => tokio::time::sleep(PAUSE).await,
                Err(error) => {
                    tracing::warn!(error = format!("{error:?}"), "files wait for their removal");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }))
}

async fn round(store: &Store, files: &Files) -> Result<i64> {
    let now = clock::now();
    drop_stale(store, now).await?;
    expire_late_texts(store, now).await?;
    let due = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.due_file_removals(now, ROUND)
    });
    let due = due.await?;
    let count = i64::try_from(due.len()).unwrap_or(ROUND);
    if due.is_empty() {
        return Ok(0);
    }
    let mut tried = Vec::new();
    for removal in due {
        let gone = remove(store, files, &removal).await;
        failpoint::hit("removal.gone");
        if let Err(error) = &gone {
            tracing::warn!(error = format!("{error:?}"), file.key = %removal.key, "a file could not be removed");
        }
        tried.push((removal, gone.map_err(|error| format!("{error:?}"))));
    }
    // One unit for the whole round: a save that drops an old version would cost two commits otherwise. An end before it
    // removes files again that are gone already.
    let noted = move |platform: &mut Platform<'_>| {
        for (FileRemoval { id, attempts, .. }, gone) in &tried {
            let wait = 10_i64.saturating_mul(1 << attempts.clamp(&0, &20)).min(WAIT_MAX);
            match gone {
                Ok(()) => platform.delete_file_removal(id)?,
                Err(why) => platform.postpone_file_removal(id, now.plus_seconds(wait), why)?,
            }
        }
        Ok(())
    };
    store.platform_write(PlatformProof::housekeeping(), noted).await?;
    Ok(count)
}

/// Staged files that no bulk edit ever named go after a day.
async fn drop_stale(store: &Store, now: Timestamp) -> Result<()> {
    let before = now.plus_seconds(-STAGED_MAX);
    let look = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.has_stale_staged_files(before)
    });
    if look.await? {
        let drop = move |platform: &mut Platform<'_>| platform.drop_staged_files(before, now);
        store.platform_write(PlatformProof::housekeeping(), drop).await?;
    }
    Ok(())
}

/// Texts of deleted documents go a day after they arrived.
pub async fn expire_late_texts(store: &Store, now: Timestamp) -> Result<()> {
    let (texts, documents) = (
        now.plus_seconds(-late_text::KEPT_SECONDS),
        now.plus_seconds(-late_text::KEYS_KEPT_SECONDS),
    );
    let look = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.has_expired_late_texts(texts, documents)
    });
    if look.await? {
        let expire = move |platform: &mut Platform<'_>| platform.expire_late_texts(texts, documents, now);
        store.platform_write(PlatformProof::housekeeping(), expire).await?;
    }
    Ok(())
}

async fn remove(store: &Store, files: &Files, removal: &FileRemoval) -> Result<()> {
    let key = removal.key.clone();
    let named = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.file_is_named(&key)
    });
    if named.await? {
        // Two rows shared the bytes, or the list is wrong; either way somebody still needs them.
        return Ok(());
    }
    files.remove(&removal.key).await
}
