//! Quarantines orphaned files: a crash may leave a file that was stored before its row was inserted. They are moved,
//! never deleted: if the rows are missing by mistake, the bytes are still there.

use domain::file::FileKey;
use domain::installation::{ORPHANS_MAX, may_quarantine};
use domain::time::Timestamp;

use adapters::blob_store::{BlobStore, SHARDS};
use common::clock;
use common::error::{Error, Result};
use db::Store;
use db::platform::CrossTenantReason;

/// The minimum age of an orphaned file. A transaction inserts its row within seconds.
const AGE_SECONDS: i64 = 86_400;

/// Quarantines orphaned files and deletes what uploads left behind.
pub async fn clean_up(store: &Store, files: &BlobStore) -> Result<()> {
    match sweep(store, files, clock::now().plus_seconds(-AGE_SECONDS)).await {
        Ok(0) => {}
        Ok(found) => tracing::warn!(files = found, "orphaned files quarantined"),
        Err(error) => tracing::error!(error = format!("{error:?}"), "orphaned file sweep failed"),
    }
    files.remove_abandoned().await
}

/// Quarantines files that were stored before `before` and have no row; returns how many. Fails without moving any
/// file if there are more of them than crashes can leave: then the database is probably the wrong one.
pub async fn sweep(store: &Store, files: &BlobStore, before: Timestamp) -> Result<usize> {
    let (mut all, mut orphans) = (0, Vec::new());
    for shard in SHARDS {
        let aged = files.list_older_than(shard, before).await?;
        all += aged.len();
        // Beyond the limit, files are only counted.
        if !aged.is_empty() && orphans.len() <= ORPHANS_MAX {
            orphans.extend(without_rows(store, aged).await?);
        }
    }
    if !may_quarantine(orphans.len(), all) {
        let orphans = orphans.len();
        return Err(Error::Internal(anyhow::anyhow!(
            "{orphans} or more of {all} files have no row, which is too many for leftovers of crashes; none was put aside. \
             Is this the right database? `groupwork scrub` names the files"
        )));
    }
    // A transaction may have inserted a row in the meantime.
    let orphans = without_rows(store, orphans).await?;
    for key in &orphans {
        files.quarantine(key).await?;
    }
    Ok(orphans.len())
}

async fn without_rows(store: &Store, keys: Vec<FileKey>) -> Result<Vec<FileKey>> {
    let read = store.platform_read(CrossTenantReason::Housekeeping, move |platform| {
        platform.unreferenced_files(keys)
    });
    read.await
}
