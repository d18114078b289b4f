//! Limits uploads before they are stored: uploads per user at a time, staged bytes against the storage quota of the
//! organization, and free disk space. Saves of the document server are exempt, so that no work is lost because of other
//! uploads.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::{OrganizationId, UserId};

use common::error::{Error, Result};
use common::fair_queue::{FairSemaphore, Permit};

/// Concurrent uploads of one user.
pub const UPLOADS_AT_ONCE: usize = 8;
/// Concurrent conversions of uploads per user; further ones wait.
pub const CONVERSIONS_AT_ONCE: usize = 2;
/// `Retry-After` of a user with too many uploads, in seconds.
const PAUSE: u64 = 5;
/// Free disk space is checked again after this many bytes.
const DISK_CHECK_BYTES: u64 = 1 << 20;

/// Counts the uploads of this instance; clones share the counts.
#[derive(Clone)]
pub struct Uploads(Arc<UploadLimits>);

struct UploadLimits {
    folder: PathBuf,
    /// Bytes that must stay free on the disk of `folder`; 0 for no limit.
    free_min: u64,
    running: FairSemaphore<UserId>,
    converting: FairSemaphore<UserId>,
    state: Mutex<UploadState>,
}

#[derive(Default)]
struct UploadState {
    /// Staged and announced bytes.
    by_organization: HashMap<OrganizationId, u64>,
    /// Announced bytes that have not been written yet.
    unwritten: u64,
}

/// The storage quota that an upload counts against.
pub struct UploadQuota {
    pub organization: OrganizationId,
    /// Bytes that were free when the upload began.
    pub free: u64,
}

/// An upload in progress. Its bytes are counted until this is dropped.
pub struct UploadPermit {
    uploads: Uploads,
    _running: Permit<UserId>,
    quota: Option<UploadQuota>,
    reserved: u64,
    received: u64,
}

impl Uploads {
    /// Counts uploads into `folder`, on whose disk at least `free_min` bytes must stay free.
    pub fn new(folder: PathBuf, free_min: u64) -> Self {
        Self(Arc::new(UploadLimits {
            folder,
            free_min,
            running: FairSemaphore::new(usize::MAX, UPLOADS_AT_ONCE),
            converting: FairSemaphore::new(usize::MAX, CONVERSIONS_AT_ONCE),
            state: Mutex::default(),
        }))
    }

    /// Returns the free and the total bytes of the disk of the folder.
    pub fn disk(&self) -> Option<(u64, u64)> {
        let disk = rustix::fs::statvfs(&self.0.folder).ok()?;
        Some((
            disk.f_bavail.saturating_mul(disk.f_frsize),
            disk.f_blocks.saturating_mul(disk.f_frsize),
        ))
    }

    /// Starts an upload of at least `announced` bytes.
    pub async fn begin(&self, user: &UserId, quota: Option<UploadQuota>, announced: u64) -> Result<UploadPermit> {
        let running = self.0.running.try_acquire(user.clone());
        let mut permit = UploadPermit {
            uploads: self.clone(),
            _running: running.map_err(|_| Error::RateLimited { retry_after: PAUSE })?,
            quota,
            reserved: 0,
            received: 0,
        };
        permit.reserve(announced)?;
        self.check_disk_space().await?;
        Ok(permit)
    }

    /// Acquires one of the [`CONVERSIONS_AT_ONCE`] permits of a user.
    pub async fn begin_conversion(&self, user: &UserId) -> Result<Permit<UserId>> {
        let permit = self.0.converting.acquire(user.clone(), usize::MAX).await;
        permit.ok_or(Error::NotReady)
    }

    /// Fails with [`Error::DiskFull`] when the disk is nearly full, counting the bytes that uploads will still write.
    pub async fn check_disk_space(&self) -> Result<()> {
        if self.0.free_min == 0 {
            return Ok(());
        }
        let folder = self.0.folder.clone();
        let disk = tokio::task::spawn_blocking(move || rustix::fs::statvfs(&folder));
        let disk = match disk.await.map_err(|error| anyhow::anyhow!(error))? {
            Ok(disk) => disk,
            Err(error) => {
                tracing::warn!(%error, "free disk space could not be read");
                return Ok(());
            }
        };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let unwritten = self.state().unwritten;
        if free >= self.0.free_min.saturating_add(unwritten) {
            return Ok(());
        }
        tracing::error!(
            free,
            unwritten,
            free_min = self.0.free_min,
            "upload rejected: disk nearly full"
        );
        Err(Error::DiskFull)
    }

    fn state(&self) -> MutexGuard<'_, UploadState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UploadPermit {
    /// Counts received bytes before they are written.
    pub async fn receive(&mut self, bytes: u64) -> Result<()> {
        let before = self.received;
        self.reserve((before + bytes).saturating_sub(self.reserved))?;
        self.received += bytes;
        self.uploads.state().unwritten -= bytes;
        if before / DISK_CHECK_BYTES != self.received / DISK_CHECK_BYTES {
            self.uploads.check_disk_space().await?;
        }
        Ok(())
    }

    /// Reserves further bytes in the storage quota of the organization.
    fn reserve(&mut self, bytes: u64) -> Result<()> {
        let mut state = self.uploads.state();
        if let Some(quota) = &self.quota {
            let staged = state
                .by_organization
                .get(&quota.organization)
                .copied()
                .unwrap_or_default();
            if bytes > 0 && staged.saturating_add(bytes) > quota.free {
                return Err(Error::QuotaExceeded);
            }
            if bytes > 0 {
                state.by_organization.insert(quota.organization.clone(), staged + bytes);
            }
        }
        state.unwritten += bytes;
        self.reserved += bytes;
        Ok(())
    }
}

impl Drop for UploadPermit {
    fn drop(&mut self) {
        let mut state = self.uploads.state();
        state.unwritten -= self.reserved - self.received;
        if let Some(quota) = &self.quota {
            let left = state.by_organization.get_mut(&quota.organization).map(|staged| {
                *staged -= self.reserved;
                *staged
            });
            if left == Some(0) {
                state.by_organization.remove(&quota.organization);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    fn uploads(free_min: u64) -> Uploads {
        Uploads::new(std::env::temp_dir(), free_min)
    }

    fn quota(free: u64) -> UploadQuota {
        let organization = OrganizationId::new("north");
        UploadQuota { organization, free }
    }

    #[tokio::test]
    async fn staged_bytes_of_all_uploads_count_against_free_space() {
        let (uploads, ben) = (uploads(0), UserId::new("ben"));
        let mut announced = uploads.begin(&ben, Some(quota(100)), 60).await.unwrap();
        let mut streamed = uploads.begin(&ben, Some(quota(100)), 0).await.unwrap();
        assert!(streamed.receive(40).await.is_ok());
        assert!(matches!(streamed.receive(1).await, Err(Error::QuotaExceeded)));
        assert!(
            announced.receive(60).await.is_ok(),
            "what was announced is not counted twice"
        );
        assert!(matches!(
            uploads.begin(&ben, Some(quota(100)), 1).await,
            Err(Error::QuotaExceeded)
        ));
        let other = UserId::new("dana");
        assert!(uploads.begin(&other, None, 1 << 40).await.is_ok(), "without a quota");
        drop(streamed);
        assert!(uploads.begin(&ben, Some(quota(100)), 40).await.is_ok());
        drop(announced);
        let state = uploads.state();
        assert!(uploads.0.running.is_idle() && state.by_organization.is_empty() && state.unwritten == 0);
    }

    #[tokio::test]
    async fn concurrent_uploads_of_user_are_limited() {
        let (uploads, ben) = (uploads(0), UserId::new("ben"));
        let mut held = Vec::new();
        for _ in 0..UPLOADS_AT_ONCE {
            held.push(uploads.begin(&ben, None, 0).await.unwrap());
        }
        assert!(matches!(
            uploads.begin(&ben, None, 0).await,
            Err(Error::RateLimited { .. })
        ));
        assert!(uploads.begin(&UserId::new("dana"), None, 0).await.is_ok());
        held.pop();
        assert!(uploads.begin(&ben, None, 0).await.is_ok());
    }

    #[tokio::test]
    async fn concurrent_conversions_of_user_are_limited() {
        let (uploads, ben) = (uploads(0), UserId::new("ben"));
        let mut held = Vec::new();
        for _ in 0..CONVERSIONS_AT_ONCE {
            held.push(uploads.begin_conversion(&ben).await.unwrap());
        }
        let short = std::time::Duration::from_millis(20);
        let third = tokio::time::timeout(short, uploads.begin_conversion(&ben)).await;
        assert!(third.is_err(), "it waits");
        let dana = uploads.begin_conversion(&UserId::new("dana")).await.unwrap();
        held.pop();
        drop(uploads.begin_conversion(&ben).await.unwrap());
        drop((held, dana));
        drop(uploads.begin_conversion(&ben).await.unwrap());
        assert!(uploads.0.converting.is_idle());
    }

    #[tokio::test]
    async fn no_upload_starts_on_nearly_full_disk() {
        let ben = UserId::new("ben");
        let full = uploads(u64::MAX);
        assert!(matches!(full.begin(&ben, None, 0).await, Err(Error::DiskFull)));
        assert!(full.0.running.is_idle());
        let uploads = uploads(1);
        let announced = uploads.begin(&ben, None, 1 << 60).await;
        assert!(
            matches!(announced, Err(Error::DiskFull)),
            "what was announced counts before it is written"
        );
        assert!(uploads.begin(&ben, None, 0).await.is_ok());
    }
}
