//! Checks the file storage: whether it can be written, whether it belongs to the database, and the free disk space.

use std::path::Path;

use super::{DoctorReport, Finding, disk, fault};
use crate::config::Config;
use adapters::blob_store::BlobStore;
use backup::ownership;
use common::error::{Error, Result};
use db::Store;

/// A storage that is opened without creating folders of the service.
struct OpenedStorage {
    files: BlobStore,
    /// The staging folder of an object store, deleted on drop.
    _staging: Option<StagingFolder>,
}

/// A temporary folder.
struct StagingFolder(std::path::PathBuf);

impl Drop for StagingFolder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Opens the storage; `None` if its folder does not exist yet.
async fn open(config: &Config) -> Result<Option<OpenedStorage>> {
    let storage = &config.storage;
    let url = storage
        .files_url
        .as_deref()
        .map(str::trim)
        .filter(|url| !url.is_empty());
    let (folder, staging) = match url {
        Some(_) => {
            let folder = std::env::temp_dir().join(format!("groupwork-doctor-{}", common::clock::new_id()));
            (folder.clone(), Some(StagingFolder(folder)))
        }
        None if storage.data_dir.join("files").is_dir() => (storage.data_dir.clone(), None),
        None => return Ok(None),
    };
    let files = storage.open_files_staged_in(&folder).await?;
    Ok(Some(OpenedStorage {
        files,
        _staging: staging,
    }))
}

/// Checks that rows and files belong together. Ignores a storage that is unavailable, which another check reports.
pub async fn check_owner(config: &Config, store: &Store, found: &mut DoctorReport) {
    let Ok(Some(opened)) = open(config).await else {
        return;
    };
    match ownership::verify(store, &opened.files).await {
        Ok(()) => found.add(
            "rows and files",
            Finding::Fine("the file storage belongs to the database".to_owned()),
        ),
        Err(Error::NotReady) => {}
        Err(error) => found.add("rows and files", fault(&error)),
    }
}

/// Checks whether files can be written.
pub async fn examine(config: &Config, found: &mut DoctorReport) {
    let storage = &config.storage;
    if let Some(url) = storage
        .files_url
        .as_deref()
        .map(str::trim)
        .filter(|url| !url.is_empty())
    {
        let finding = match BlobStore::diagnose_bucket(url, &storage.object_store).await {
            Ok(()) => Finding::Fine(format!("{url} can be written, read, listed and deleted from")),
            Err(why) => Finding::Fault(why),
        };
        found.add("files", finding);
    } else {
        found.add("files", check_folder(config).await);
    }
    found.add("disk", disk::examine(&storage.data_dir));
}

async fn check_folder(config: &Config) -> Finding {
    let folder = &config.storage.data_dir;
    let shown = folder.display();
    match open(config).await {
        Ok(Some(opened)) if opened.files.is_writable().await => Finding::Fine(format!("{shown} can be written")),
        Ok(Some(_)) => Finding::Fault(format!(
            "{shown} cannot be written; compare the owner and the free space"
        )),
        Ok(None) => check_new_folder(folder),
        Err(error) => fault(&error),
    }
}

/// Checks that a start could create the folder.
fn check_new_folder(folder: &Path) -> Finding {
    let shown = folder.display();
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let Some(existing) = absolute.ancestors().find(|path| path.exists()) else {
        return Finding::Fault(format!("{shown} has no place"));
    };
    // A probe instead of the permission bits, which say nothing about a read-only or virtual file system.
    let probe = existing.join(format!(".groupwork-doctor-{}", common::clock::new_id()));
    match std::fs::create_dir(&probe).and_then(|()| std::fs::remove_dir(&probe)) {
        Ok(()) => Finding::Fine(format!("{shown} can be written; the first start creates its folders")),
        Err(error) => Finding::Fault(format!("{shown} cannot be created: {}: {error}", existing.display())),
    }
}
