//! Rate limits per user, or per address for requests without a session: fixed windows in the memory of this instance.
//! Instances report active keys to each other (``realtime::peers``), so that several instances together admit hardly
//! more than one. Limits that must be exact are counted in the database (`crates/db/src/rate_limiter.rs`).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use domain::id::{DocumentId, UserId};
use domain::rate::{EXPORTS_AT_ONCE, Meter, Rate, RateLimit, RateWindow};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::windows::Windows;
use common::clock;
use common::error::{Error, Result};
use common::settings::Secret;

mod windows;

/// `Retry-After` while the user has too many exports running, in seconds.
const EXPORT_PAUSE: u64 = 5;

/// The rate limiter of this instance; clones share the windows.
#[derive(Clone)]
pub struct RateLimiter(Arc<RateLimiterInner>);

/// Requests that one instance admitted, for the others to add. It contains no personal data: the key is a keyed hash
/// that can only be computed with AUTH_SECRET.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestCount {
    #[serde(rename = "crowd")]
    bucket: RateBucket,
    key: u64,
    hits: i64,
    began_at: i64,
    seconds: i64,
}

/// What a window counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum RateBucket {
    #[serde(rename = "people")]
    Users,
    Addresses,
    Documents,
}

/// Sends counts to the other instances.
type CountReporter = Box<dyn Fn(RequestCount) + Send + Sync>;

struct RateLimiterInner {
    factor: f64,
    /// Seeded with a value that only the instances of this installation know.
    hasher: DefaultHasher,
    reporter: OnceLock<CountReporter>,
    users: Windows,
    /// Separate from users, so that many addresses cannot evict the windows of users.
    addresses: Windows,
    /// Requests of the document server per document. Only requests with a valid token are counted.
    documents: Windows,
    running_exports: Mutex<HashMap<UserId, usize>>,
    clock_offset: AtomicI64,
}

/// A running export; it ends on drop.
pub struct ExportPermit {
    rate_limiter: RateLimiter,
    user: UserId,
}

impl RateLimiter {
    /// Creates a limiter with `RATE_LIMIT_FACTOR` and the secret that all instances of the installation share.
    pub fn new(factor: f64, secret: &Secret) -> Self {
        let mut hasher = DefaultHasher::new();
        let seed = Sha256::new_with_prefix(b"groupwork rates").chain_update(secret.expose());
        hasher.write(&seed.finalize());
        Self(Arc::new(RateLimiterInner {
            factor,
            hasher,
            reporter: OnceLock::new(),
            users: Windows::default(),
            addresses: Windows::default(),
            documents: Windows::default(),
            running_exports: Mutex::default(),
            clock_offset: AtomicI64::new(0),
        }))
    }

    /// The limit of this rate multiplied by the factor; `None` when limits are off.
    pub fn limit(&self, rate: Rate) -> Option<RateLimit> {
        rate.limit().times(self.0.factor)
    }

    /// Sets the callback that reports active keys to the other instances.
    pub fn report_with(&self, reporter: impl Fn(RequestCount) + Send + Sync + 'static) {
        drop(self.0.reporter.set(Box::new(reporter)));
    }

    /// Adds requests that another instance admitted.
    pub fn add(&self, count: RequestCount) {
        let counted = RateWindow {
            started_at: Timestamp::from_millis(count.began_at),
            hits: count.hits,
        };
        // Only the length of the window is needed here, to detect that it has ended.
        let limit = RateLimit {
            hits: i64::MAX,
            window: count.seconds,
        };
        self.windows(count.bucket).add(count.key, counted, limit, self.now());
    }

    /// Counts a request of a user.
    pub fn check_user(&self, rate: Rate, user: &UserId) -> Option<Meter> {
        self.check(RateBucket::Users, rate, user)
    }

    /// Counts a request without a session.
    pub fn check_address(&self, address: &str) -> Option<Meter> {
        self.check(RateBucket::Addresses, Rate::Address, &address)
    }

    /// Counts a request of the document server for a document on one of its two routes.
    pub fn check_document(&self, route: &'static str, document: &DocumentId) -> Option<Meter> {
        self.check(RateBucket::Documents, Rate::Document, &(route, document))
    }

    /// Remembers that the owner of this token has exhausted the window, so that [`RateLimiter::exhausted`] can reject the token
    /// without a look-up.
    pub fn remember_exhausted(&self, rate: Rate, token: &str, meter: Meter) {
        if let Some(limit) = self.limit(rate) {
            let now = self.now();
            let started_at = now.plus_seconds(meter.resets_in - limit.window);
            let window = RateWindow {
                started_at,
                hits: limit.hits,
            };
            self.0.users.put(self.key(rate, &token), window, now);
        }
    }

    /// The meter of a token whose owner has exhausted the window. Such requests cause no database work.
    pub fn exhausted(&self, rate: Rate, token: &str) -> Option<Meter> {
        let (limit, now) = (self.limit(rate)?, self.now());
        let window = self.0.users.get(self.key(rate, &token), now)?;
        (!window.is_over(limit, now)).then(|| window.meter(limit, now, true))
    }

    /// Starts an export. Fails when the user has too many running; returns `None` when limits are off.
    pub fn acquire_export(&self, user: &UserId) -> Result<Option<ExportPermit>> {
        if self.limit(Rate::Export).is_none() {
            return Ok(None);
        }
        let mut running_exports = self.0.running_exports.lock().unwrap_or_else(PoisonError::into_inner);
        let running = running_exports.entry(user.clone()).or_default();
        if *running >= EXPORTS_AT_ONCE {
            return Err(Error::RateLimited {
                retry_after: EXPORT_PAUSE,
            });
        }
        *running += 1;
        Ok(Some(ExportPermit {
            rate_limiter: self.clone(),
            user: user.clone(),
        }))
    }

    /// Advances the clock of the windows, for tests.
    pub fn advance_clock(&self, seconds: i64) {
        self.0.clock_offset.fetch_add(seconds, Ordering::Relaxed);
    }

    fn now(&self) -> Timestamp {
        clock::now().plus_seconds(self.0.clock_offset.load(Ordering::Relaxed))
    }

    fn windows(&self, bucket: RateBucket) -> &Windows {
        match bucket {
            RateBucket::Users => &self.0.users,
            RateBucket::Addresses => &self.0.addresses,
            RateBucket::Documents => &self.0.documents,
        }
    }

    fn check(&self, bucket: RateBucket, rate: Rate, subject: &impl Hash) -> Option<Meter> {
        let (limit, key) = (self.limit(rate)?, self.key(rate, subject));
        let (meter, unreported) = self.windows(bucket).count(key, limit, self.now());
        if let (Some(unreported), Some(reporter)) = (unreported, self.0.reporter.get()) {
            reporter(RequestCount {
                bucket,
                key,
                hits: unreported.hits,
                began_at: unreported.started_at.as_millis(),
                seconds: limit.window,
            });
        }
        Some(meter)
    }

    /// Hashes the key, so that memory is bounded by a number per key. Without the seed, collisions cannot be provoked.
    fn key(&self, rate: Rate, subject: &impl Hash) -> u64 {
        let mut hasher = self.0.hasher.clone();
        (rate, subject).hash(&mut hasher);
        hasher.finish()
    }
}

impl Drop for ExportPermit {
    fn drop(&mut self) {
        let mut running_exports = self
            .rate_limiter
            .0
            .running_exports
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let left = running_exports.get_mut(&self.user).map(|running| {
            *running -= 1;
            *running
        });
        if left == Some(0) {
            running_exports.remove(&self.user);
        }
    }
}

#[cfg(test)]
mod tests;
