//! Files without rows: what a crash left between keeping the bytes and writing the row that names them. They are put
//! aside, never removed: should it be the rows that are missing, the bytes are still there.

use std::time::Duration;

use model::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use crate::clock;
use crate::error::Result;
use crate::files::{Files, PARTS};
use crate::store::Store;
use crate::store::platform::PlatformProof;

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
                Err(error) => tracing::warn!(error = format!("{error:?}"), "files without rows were not looked for"),
            }
            if let Err(error) = files.clear_away().await {
                tracing::warn!(error = format!("{error:?}"), "abandoned uploads stay for another day");
            }
            tokio::time::sleep(AGAIN).await;
        }
    }))
}

/// Puts aside what was kept before a moment and has no row; answers how many files.
pub async fn sweep(store: &Store, files: &Files, before: Timestamp) -> Result<usize> {
    let mut found = 0;
    for part in PARTS {
        let aged = files.aged(part, before).await?;
        if aged.is_empty() {
            continue;
        }
        let unnamed = store.platform_read(PlatformProof::housekeeping(), move |platform| {
            platform.unnamed_files(aged)
        });
        for key in unnamed.await? {
            files.quarantine(&key).await?;
            found += 1;
        }
    }
    Ok(found)
}
