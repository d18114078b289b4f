//! Checks that the file storage belongs to the database. Both store the same id: the database in its settings, the
//! storage in its marker. Without this check, a service with a wrong or empty database would treat all files as
//! orphaned.

use std::time::Duration;

use domain::file::FileKey;
use domain::installation::{SAMPLED_FILES, StorageContents, StorageMatch, StorageMismatch, match_storage};

use adapters::blob_store::BlobStore;
use common::clock;
use common::error::{Error, Result};
use common::scheduler::Next;
use db::Store;
use db::platform::{CrossTenantReason, PlatformTx};

/// How long a start waits for a storage.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Compares the marker of the storage with the database, and writes it if the storage has none and belongs to the
/// database. Fails with the reason why the storage must not be used, or with [`Error::NotReady`] if it is
/// unavailable.
pub async fn establish(store: &Store, files: &BlobStore) -> Result<()> {
    match compare_marker(store, files).await? {
        StorageMatch::Same => Ok(()),
        StorageMatch::Adopt => adopt(store, files).await,
        StorageMatch::Refuse(mismatch) => Err(mismatch_error(mismatch)),
    }
}

/// Runs [`establish`] at startup. An unavailable storage is suspended; then [`resume`] has to be retried.
pub async fn guard(store: &Store, files: &BlobStore) -> Result<()> {
    match tokio::time::timeout(START_TIMEOUT, establish(store, files)).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(Error::NotReady)) | Err(_) => {}
        Ok(Err(error)) => return Err(error),
    }
    tracing::error!("file storage unavailable: not ready until its marker is compared with the database");
    files.suspend();
    Ok(())
}

/// Resumes a suspended storage once its marker was compared.
pub async fn resume(store: &Store, files: &BlobStore) -> Result<Next> {
    if !files.is_suspended() {
        return Ok(Next::Stop);
    }
    match establish(store, files).await {
        Ok(()) => {
            files.resume();
            tracing::info!("file storage available: its marker matches the database");
            Ok(Next::Stop)
        }
        Err(Error::NotReady) => Ok(Next::Wait),
        Err(error) => {
            tracing::error!(error = format!("{error:?}"), "file storage rejected");
            Ok(Next::Wait)
        }
    }
}

/// Compares without writing anything, for read-only commands.
pub async fn verify(store: &Store, files: &BlobStore) -> Result<()> {
    match compare_marker(store, files).await? {
        StorageMatch::Same | StorageMatch::Adopt => Ok(()),
        StorageMatch::Refuse(mismatch) => Err(mismatch_error(mismatch)),
    }
}

/// Assigns the storage to this database, regardless of its files and its marker.
pub async fn adopt(store: &Store, files: &BlobStore) -> Result<()> {
    if !files.is_persistent() {
        return Ok(());
    }
    // The row first: a storage whose marker no database contains could not be used by any.
    let record = |platform: &mut PlatformTx<'_>| platform.record_storage(&clock::new_id(), clock::now());
    let recorded = store.platform_write(CrossTenantReason::Housekeeping, record).await?;
    let id = recorded.ok_or_else(|| anyhow::anyhow!("the id of the file storage was not recorded"))?;
    files.write_marker(&id).await
}

async fn compare_marker(store: &Store, files: &BlobStore) -> Result<StorageMatch> {
    if !files.is_persistent() {
        return Ok(StorageMatch::Same);
    }
    // The marker first: it is written after the row, so a concurrent instance that does both is not mistaken for
    // another installation.
    let marker = files.marker().await?;
    let read = |platform: &mut PlatformTx<'_>| Ok((platform.storage_id()?, platform.sampled_files(SAMPLED_FILES)?));
    let (recorded, sampled) = store.platform_read(CrossTenantReason::Housekeeping, read).await?;
    let contents = match &marker {
        Some(_) => StorageContents::default(),
        None => inspect_contents(files, &sampled).await?,
    };
    Ok(match_storage(recorded.as_deref(), marker.as_deref(), contents))
}

async fn inspect_contents(files: &BlobStore, sampled: &[FileKey]) -> Result<StorageContents> {
    let mut has_sampled_file = false;
    for key in sampled {
        if files.has(key).await? {
            has_sampled_file = true;
            break;
        }
    }
    Ok(StorageContents {
        has_named_files: !sampled.is_empty(),
        has_sampled_file,
        is_empty: files.is_empty().await?,
    })
}

fn mismatch_error(mismatch: StorageMismatch) -> Error {
    let why = match mismatch {
        StorageMismatch::OtherInstallation => "the file storage has the marker of another installation",
        StorageMismatch::FilesMissing => {
            "the database names files and the file storage has none of those that were looked for"
        }
        StorageMismatch::UnknownFiles => "the file storage has files and the database names none",
    };
    Error::Internal(anyhow::anyhow!(
        "{why}: they do not belong together. Compare DATABASE_URL, DATA_DIR and FILES_URL. If this is the right storage all \
         the same, say so once with `groupwork scrub --adopt-storage`"
    ))
}
