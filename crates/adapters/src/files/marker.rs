//! The marker of a storage: the id of the installation whose files it keeps. It lies below `files/`, so that copying that
//! folder from one storage to another takes it along. Reading and writing it, and looking around in a storage that has
//! none, work while the storage is suspended.

use model::file::FileKey;

use super::{Backend, Files, blocking, check};
use common::error::Result;

/// The marker, below `files/`.
pub(super) const MARKER: &str = "installation/id";
/// Longer markers were not written by this program.
pub(super) const MARKER_MAX: u64 = 4_096;

impl Files {
    /// Whether the storage outlives the process; one that does not has no marker.
    pub fn is_lasting(&self) -> bool {
        !matches!(self.backend, Backend::Memory(_))
    }

    /// The id in the marker, if there is a marker. Text that is not a marker of this program is an id that matches no installation.
    pub async fn marker(&self) -> Result<Option<String>> {
        let text = match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.marker()).await?
            }
            Backend::Objects(objects) => objects.marker().await?,
            Backend::Memory(_) => None,
        };
        Ok(text.map(|text| text.lines().next().unwrap_or_default().trim().to_owned()))
    }

    /// Writes the marker over the one that is there.
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
            Backend::Objects(objects) => objects.write_marker(text).await,
            Backend::Memory(_) => Ok(()),
        }
    }

    /// Whether no file is kept.
    pub async fn is_empty(&self) -> Result<bool> {
        match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.is_empty()).await
            }
            Backend::Objects(objects) => objects.is_empty().await,
            Backend::Memory(_) => Ok(true),
        }
    }

    /// Whether a file is kept.
    pub async fn has(&self, key: &FileKey) -> Result<bool> {
        check(key)?;
        match &self.backend {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                blocking(move || disk.has(&key)).await
            }
            Backend::Objects(objects) => objects.has(key).await,
            Backend::Memory(memory) => Ok(memory.get(key).is_ok()),
        }
    }

    /// The keys of everything in the quarantine.
    pub async fn quarantined(&self) -> Result<Vec<FileKey>> {
        match self.usable()? {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.quarantined()).await
            }
            Backend::Objects(objects) => objects.quarantined().await,
            Backend::Memory(_) => Ok(Vec::new()),
        }
    }

    /// Takes a file back out of the quarantine. False where a file of this key is kept: it is never replaced.
    pub async fn take_from_quarantine(&self, key: &FileKey) -> Result<bool> {
        check(key)?;
        match self.usable()? {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                blocking(move || disk.take_from_quarantine(&key)).await
            }
            Backend::Objects(objects) => objects.take_from_quarantine(key).await,
            Backend::Memory(_) => Ok(false),
        }
    }
}
