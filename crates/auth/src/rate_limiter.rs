//! Rate limits per user, or per address for requests without a session: fixed windows in the memory of this instance.
//! Instances report active keys to each other (`realtime::peers`), so that several instances together admit hardly
//! more than one. Limits that must be exact are counted in the database (`crates/db/src/rate_windows.rs`).

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use domain::id::{DocumentId, UserId};
use domain::rate::{EXPORTS_AT_ONCE, Meter, Rate, RateLimit, RateWindow};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::windows::Windows;
use common::clock;
use common::error::{Error, Result};
use common::fair_queue::{FairSemaphore, Permit};
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
    hasher: Sha256,
    reporter: OnceLock<CountReporter>,
    users: Windows,
    /// Separate from users, so that many addresses cannot evict the windows of users.
    addresses: Windows,
    /// Requests of the document server per document. Only requests with a valid token are counted.
    documents: Windows,
    running_exports: FairSemaphore<UserId>,
    clock_offset: AtomicI64,
}

impl RateLimiter {
    /// Creates a limiter with `RATE_LIMIT_FACTOR` and the secret that all instances of the installation share.
    pub fn new(factor: f64, secret: &Secret) -> Self {
        let seed = Sha256::new_with_prefix(b"groupwork rates").chain_update(secret.expose());
        Self(Arc::new(RateLimiterInner {
            factor,
            hasher: Sha256::new_with_prefix(seed.finalize()),
            reporter: OnceLock::new(),
            users: Windows::default(),
            addresses: Windows::default(),
            documents: Windows::default(),
            running_exports: FairSemaphore::new(usize::MAX, EXPORTS_AT_ONCE),
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
        self.check(RateBucket::Users, rate, &[user.as_str()])
    }

    /// Counts a request without a session.
    pub fn check_address(&self, address: &str) -> Option<Meter> {
        self.check(RateBucket::Addresses, Rate::Address, &[address])
    }

    /// Counts a request of the document server for a document on one of its two routes.
    pub fn check_document(&self, route: &'static str, document: &DocumentId) -> Option<Meter> {
        self.check(RateBucket::Documents, Rate::Document, &[route, document.as_str()])
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
            self.0.users.put(self.key(rate, &[token]), window, now);
        }
    }

    /// The meter of a token whose owner has exhausted the window. Such requests cause no database work.
    pub fn exhausted(&self, rate: Rate, token: &str) -> Option<Meter> {
        let (limit, now) = (self.limit(rate)?, self.now());
        let window = self.0.users.get(self.key(rate, &[token]), now)?;
        (!window.is_over(limit, now)).then(|| window.meter(limit, now, true))
    }

    /// Starts an export. Fails when the user has too many running; returns `None` when limits are off.
    pub fn acquire_export(&self, user: &UserId) -> Result<Option<Permit<UserId>>> {
        if self.limit(Rate::Export).is_none() {
            return Ok(None);
        }
        let permit = self.0.running_exports.try_acquire(user.clone());
        permit.map(Some).map_err(|_| Error::RateLimited {
            retry_after: EXPORT_PAUSE,
        })
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

    fn check(&self, bucket: RateBucket, rate: Rate, subject: &[&str]) -> Option<Meter> {
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

    /// Hashes the key, so that memory is bounded by a number per key. Without the seed, collisions cannot be provoked. All
    /// instances compute the same key, also those of another release.
    fn key(&self, rate: Rate, subject: &[&str]) -> u64 {
        let mut hasher = self.0.hasher.clone();
        hasher.update(format!("{rate:?}"));
        for part in subject {
            // Each part ends with a byte that no text contains.
            hasher.update([0xff]);
            hasher.update(part);
        }
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize()[..8]);
        u64::from_be_bytes(first)
    }
}

#[cfg(test)]
mod tests;
