//! Limits concurrent password hashing, which is slow on purpose: a semaphore in front of blocking threads. A request
//! that waits too long is rejected with [`Error::Overloaded`], so that work does not pile up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use better_auth::password;
use domain::time::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use common::error::{Error, Result};

/// How long a request may wait for a permit. It is long enough for a whole class to sign in together on a small
/// machine.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long the result of the look-up for imported hashes is cached, in seconds.
const IMPORTED_CHECK_SECONDS: i64 = 600;

/// The hashing permits, and whether imported hashes exist in the database.
#[derive(Clone)]
pub struct PasswordHasher(Arc<HasherInner>);

struct HasherInner {
    permits: Arc<Semaphore>,
    imported_exist: AtomicBool,
    imported_checked_at: AtomicI64,
    hash_count: AtomicU64,
}

impl Default for PasswordHasher {
    /// One permit for each core but one, so that other requests are still served.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(HasherInner {
            permits: Arc::new(Semaphore::new(cores.saturating_sub(1).max(1))),
            imported_exist: AtomicBool::new(true),
            imported_checked_at: AtomicI64::new(i64::MIN),
            hash_count: AtomicU64::new(0),
        }))
    }
}

impl PasswordHasher {
    /// Verifies a password. Does the same work when the account does not exist (`stored` is `None`).
    pub async fn verify(&self, password: String, stored: Option<String>) -> Result<bool> {
        let imported_exist = self.0.imported_exist.load(Ordering::Relaxed);
        let permit = self.acquire(LONGEST_WAIT).await?;
        self.run(permit, move || {
            password::verify_account(&password, stored.as_deref(), imported_exist)
        })
        .await
    }

    /// Hashes a new password.
    pub async fn hash(&self, password: String) -> Result<String> {
        let permit = self.acquire(LONGEST_WAIT).await?;
        self.run(permit, move || password::hash(&password)).await
    }

    /// Hashes a password and discards the result, to equalize timing. Uses only a permit that no request waits for,
    /// because anonymous callers may trigger this at will; the response does not depend on it.
    pub async fn equalize_timing(&self, password: String) {
        if let Ok(permit) = Arc::clone(&self.0.permits).try_acquire_owned() {
            let hashed = self.run(permit, move || password::hash(&password)).await;
            drop(std::hint::black_box(hashed));
        }
    }

    /// Number of passwords hashed or verified since the start. Tests use it to prove that rejected requests cost as
    /// much as others.
    pub fn hash_count(&self) -> u64 {
        self.0.hash_count.load(Ordering::Relaxed)
    }

    /// Whether the cached result about imported hashes has expired.
    pub fn is_imported_check_due(&self, now: Timestamp) -> bool {
        let checked_at = self.0.imported_checked_at.load(Ordering::Relaxed);
        now.as_millis().saturating_sub(checked_at) > IMPORTED_CHECK_SECONDS * 1000
    }

    /// Caches whether imported hashes exist.
    pub fn set_imported_exist(&self, imported_exist: bool, now: Timestamp) {
        self.0.imported_exist.store(imported_exist, Ordering::Relaxed);
        self.0.imported_checked_at.store(now.as_millis(), Ordering::Relaxed);
    }

    async fn acquire(&self, wait: Duration) -> Result<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.0.permits).acquire_owned();
        let permit = tokio::time::timeout(wait, permit)
            .await
            .map_err(|_| Error::Overloaded)?;
        permit.map_err(|_| Error::NotReady)
    }

    /// Runs `task` on a blocking thread. The thread owns the permit, so a disconnected caller does not release it
    /// early.
    async fn run<T: Send + 'static>(
        &self,
        permit: OwnedSemaphorePermit,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.0.hash_count.fetch_add(1, Ordering::Relaxed);
        let outcome = tokio::task::spawn_blocking(move || {
            let outcome = task();
            drop(permit);
            outcome
        });
        outcome.await.map_err(|error| Error::Internal(error.into()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[tokio::test]
    async fn unknown_account_hash_uses_no_hashing_permit() {
        let password_hasher = PasswordHasher::default();
        let free = u32::try_from(password_hasher.0.permits.available_permits()).unwrap();
        let all = Arc::clone(&password_hasher.0.permits)
            .acquire_many_owned(free)
            .await
            .unwrap();
        tokio::time::timeout(
            Duration::from_millis(50),
            password_hasher.equalize_timing("long enough".to_owned()),
        )
        .await
        .unwrap();
        drop(all);
        assert!(!password_hasher.verify("wrong password".to_owned(), None).await.unwrap());
    }

    #[tokio::test]
    async fn long_wait_for_hashing_is_rejected_with_retry_after() {
        let password_hasher = PasswordHasher::default();
        let free = u32::try_from(password_hasher.0.permits.available_permits()).unwrap();
        let _all = Arc::clone(&password_hasher.0.permits)
            .acquire_many_owned(free)
            .await
            .unwrap();
        assert!(matches!(
            password_hasher.acquire(Duration::from_millis(10)).await,
            Err(Error::Overloaded)
        ));
    }
}
