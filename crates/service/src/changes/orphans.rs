//! Files without rows: what a crash left between keeping the bytes and writing the row that names them. They are put
//! aside, never removed: should it be the rows that are missing, the bytes are still there.

use std::time::Duration;

use model::file::FileKey;
use model::installation::{ORPHANS_MAX, may_quarantine};
use model::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use adapters::files::{Files, PARTS};
use common::clock;
use common::error::{Error, Result};
use db::Store;
use db::platform::PlatformProof;

/// How old a file must be; a unit that writes its row takes seconds.
const AGE_SECONDS: i64 = 86_400;
/// When to look for the first time, and how often.
const FIRST: Duration = Duration::from_mins(5);
const AGAIN: Duration = Duration::from_hours(24);

/// Starts the task; it ends with the value.
pub fn start(store: Store, files: Files) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(FIRST).await;
        loop {
            match sweep(&store, &files, clock::now().plus_seconds(-AGE_SECONDS)).await {
                Ok(0) => {}
                Ok(found) => tracing::warn!(files = found, "files without rows were put aside"),
                Err(error) => tracing::error!(error = format!("{error:?}"), "sweep of files without rows stopped"),
            }
            if let Err(error) = files.clear_away().await {
                tracing::warn!(error = format!("{error:?}"), "abandoned uploads stay for another day");
            }
            tokio::time::sleep(AGAIN).await;
        }
    }))
}

/// Puts aside what was kept before a moment and has no row; returns how many files. When there are more of them than crashes
/// leave, the database is probably the wrong one: nothing is touched, and it fails.
pub async fn sweep(store: &Store, files: &Files, before: Timestamp) -> Result<usize> {
    let (mut all, mut orphans) = (0, Vec::new());
    for part in PARTS {
        let aged = files.aged(part, before).await?;
        all += aged.len();
        // More are only counted.
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
    // A unit may have written the row of one meanwhile.
    let orphans = without_rows(store, orphans).await?;
    for key in &orphans {
        files.quarantine(key).await?;
    }
    Ok(orphans.len())
}

async fn without_rows(store: &Store, keys: Vec<FileKey>) -> Result<Vec<FileKey>> {
    let read = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.unnamed_files(keys)
    });
    read.await
}
