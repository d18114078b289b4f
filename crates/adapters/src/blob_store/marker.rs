//! The marker of a storage: the id of the installation that owns its files. It is stored below `files/`, so that a
//! copy of that folder includes it. Its functions, and those that inspect a storage without a marker, work while the
//! storage is suspended.

use domain::file::FileKey;

use super::{Backend, BlobStore, blocking, check};
use common::error::Result;

/// The path of the marker, below `files/`.
pub(super) const MARKER: &str = "installation/id";
/// The maximum size of a marker in bytes; longer ones were not written by this program.
pub(super) const MARKER_MAX: u64 = 4_096;

impl BlobStore {
    /// Returns whether the storage is persistent; only then it has a marker.
    pub fn is_persistent(&self) -> bool {
        !matches!(self.backend, Backend::Memory(_))
    }

    /// Returns the id in the marker, if there is one. Invalid text is returned as an id that matches no installation.
    pub async fn marker(&self) -> Result<Option<String>> {
        let text = match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.marker()).await?
            }
            Backend::S3(objects) => objects.marker().await?,
            Backend::Memory(_) => None,
        };
        Ok(text.map(|text| text.lines().next().unwrap_or_default().trim().to_owned()))
    }

    /// Writes the marker, replacing an existing one.
    pub async fn write_marker(&self, id: &str) -> Result<()> {
        let text = format!(
            "{id}\nThe installation of groupwork whose files these are. Its database records the same id; the service refuses\n\
             to start when they differ (docs/operation.md).\n"
        );
        match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.write_marker(&text)).await
            }
            Backend::S3(objects) => objects.write_marker(text).await,
            Backend::Memory(_) => Ok(()),
        }
    }

    /// Returns whether no file is stored.
    pub async fn is_empty(&self) -> Result<bool> {
        match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.is_empty()).await
            }
            Backend::S3(objects) => objects.is_empty().await,
            Backend::Memory(_) => Ok(true),
        }
    }

    /// Returns whether a file is stored.
    pub async fn has(&self, key: &FileKey) -> Result<bool> {
        check(key)?;
        match &self.fallback {
            Some(fallback) if !self.has_here(key).await? => fallback.has_here(key).await,
            Some(_) => Ok(true),
            None => self.has_here(key).await,
        }
    }

    /// Returns whether a file is stored in this storage itself.
    pub(super) async fn has_here(&self, key: &FileKey) -> Result<bool> {
        match &self.backend {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                blocking(move || disk.has(&key)).await
            }
            Backend::S3(objects) => objects.has(key).await,
            Backend::Memory(memory) => Ok(memory.get(key).is_ok()),
        }
    }

    /// Returns the keys of all quarantined files.
    pub async fn list_quarantined(&self) -> Result<Vec<FileKey>> {
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.list_quarantined()).await
            }
            Backend::S3(objects) => objects.list_quarantined().await,
            Backend::Memory(_) => Ok(Vec::new()),
        }
    }

    /// Moves a file out of the quarantine. Returns false if a file with this key exists; it is never replaced.
    pub async fn restore_from_quarantine(&self, key: &FileKey) -> Result<bool> {
        check(key)?;
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                blocking(move || disk.restore_from_quarantine(&key)).await
            }
            Backend::S3(objects) => objects.restore_from_quarantine(key).await,
            Backend::Memory(_) => Ok(false),
        }
    }
}
