//! Deletes the files listed in `file_removals`, after the commits that inserted them: a file is deleted only when its
//! rows are gone. Failures are retried with increasing delays.

use domain::late_text;
use domain::time::Timestamp;

use adapters::blob_store::BlobStore;
use common::error::Result;
use common::scheduler::Next;
use common::{clock, failpoint};
use db::Store;
use db::platform::file_removals::FileRemoval;
use db::platform::{CrossTenantReason, PlatformTx};

/// The maximum number of files in one round.
const BATCH: i64 = 100;
/// The maximum number of expired archives in one round.
const ARCHIVES: i64 = 20;
/// The lifetime of a staged file without a bulk edit, in seconds.
const STAGED_MAX_AGE: i64 = 86_400;
/// The maximum delay between two attempts, in seconds.
const RETRY_DELAY_MAX: i64 = 3_600;

/// Removes the files that are due, and ends what expired.
pub async fn remove_batch(store: &Store, files: &BlobStore) -> Result<Next> {
    let now = clock::now();
    delete_stale_staged_files(store, now).await?;
    expire_late_texts(store, now).await?;
    expire_archives(store, now).await?;
    let due = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.due_file_removals(now, BATCH)
    });
    let due = due.await?;
    let is_full = i64::try_from(due.len()).unwrap_or(BATCH) == BATCH;
    if due.is_empty() {
        return Ok(Next::Wait);
    }
    let mut tried = Vec::new();
    for removal in due {
        let outcome = remove(store, files, &removal).await;
        failpoint::hit("removal.gone");
        if let Err(error) = &outcome {
            tracing::warn!(error = format!("{error:?}"), file.key = %removal.key, "file removal failed: retry scheduled");
        }
        tried.push((removal, outcome.map_err(|error| format!("{error:?}"))));
    }
    // One transaction for the whole round: a save that drops an old version would cost two commits otherwise. If it
    // fails, files that are already gone are deleted again, which has no effect.
    let write = move |platform: &mut PlatformTx<'_>| {
        for (FileRemoval { id, attempts, .. }, outcome) in &tried {
            let wait = 10_i64.saturating_mul(1 << attempts.clamp(&0, &20)).min(RETRY_DELAY_MAX);
            match outcome {
                Ok(()) => platform.delete_file_removal(id)?,
                Err(reason) => platform.postpone_file_removal(id, now.plus_seconds(wait), reason)?,
            }
        }
        Ok(())
    };
    store.platform_write(CrossTenantReason::Housekeeping, write).await?;
    Ok(if is_full { Next::Immediately } else { Next::Wait })
}

/// Deletes staged files that no bulk edit used within a day.
async fn delete_stale_staged_files(store: &Store, now: Timestamp) -> Result<()> {
    let before = now.plus_seconds(-STAGED_MAX_AGE);
    let look = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.has_stale_staged_files(before)
    });
    if look.await? {
        let drop = move |platform: &mut PlatformTx<'_>| platform.delete_staged_files(before, now);
        store.platform_write(CrossTenantReason::Housekeeping, drop).await?;
    }
    Ok(())
}

/// Deletes the archives of deleted objects that can no longer be restored. The next round continues.
pub async fn expire_archives(store: &Store, now: Timestamp) -> Result<()> {
    let look = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.has_expired_archives(now)
    });
    if look.await? {
        let expire = move |platform: &mut PlatformTx<'_>| platform.expire_archives(now, ARCHIVES);
        let expired = store.platform_write(CrossTenantReason::Housekeeping, expire).await?;
        tracing::info!(expired, "deleted objects removed for good");
    }
    Ok(())
}

/// Deletes saves of deleted documents a day after they arrived.
pub async fn expire_late_texts(store: &Store, now: Timestamp) -> Result<()> {
    let (texts, documents) = (
        now.plus_seconds(-late_text::RETENTION_SECONDS),
        now.plus_seconds(-late_text::KEY_RETENTION_SECONDS),
    );
    let look = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.has_expired_late_texts(texts, documents)
    });
    if look.await? {
        let expire = move |platform: &mut PlatformTx<'_>| platform.expire_late_texts(texts, documents, now);
        store.platform_write(CrossTenantReason::Housekeeping, expire).await?;
    }
    Ok(())
}

async fn remove(store: &Store, files: &BlobStore, removal: &FileRemoval) -> Result<()> {
    let key = removal.key.clone();
    let named = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.is_file_referenced(&key)
    });
    if named.await? {
        // A row still refers to the file: two rows shared the bytes, or the list is wrong. Keep the file.
        return Ok(());
    }
    files.remove(&removal.key).await
}
