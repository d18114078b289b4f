//! How often one person, or one address without a session, has asked lately: fixed windows in the memory of this
//! instance. They are forgotten with the process, and two instances let through twice as much; what has to hold across
//! instances is counted in the store (`store/rates.rs`).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::id::{DocumentId, UserId};
use model::rate::{EXPORTS_AT_ONCE, Limit, Meter, Rate, Window};
use model::time::Timestamp;

use crate::clock;
use crate::error::{Error, Result};

/// Locks, so that requests of different people seldom wait for each other.
const SHARDS: usize = 16;
/// Windows a generation of a shard holds at most; all kinds together stay below 12 MiB.
const CROWD: usize = 4096;
/// How long a generation lasts: no window that is kept here is longer.
const GENERATION: i64 = 60;
/// When to come again while too many exports of one's own are running, in seconds.
const EXPORT_PAUSE: u64 = 5;

/// The windows of this instance; copies are the same one.
#[derive(Clone)]
pub struct Rates(Arc<Parts>);

struct Parts {
    factor: f64,
    hasher: RandomState,
    people: Windows,
    /// Apart from people: strangers with many addresses must not push out what is remembered of them.
    addresses: Windows,
    /// Documents, as the document server asks about them; only its genuine requests are counted.
    documents: Windows,
    exporting: Mutex<HashMap<UserId, usize>>,
    ahead: AtomicI64,
}

/// A running export; it is over when this goes.
pub struct Exporting {
    rates: Rates,
    user: UserId,
}

impl Rates {
    /// The windows of an installation with this factor (RATE_LIMIT_FACTOR).
    pub fn new(factor: f64) -> Self {
        Self(Arc::new(Parts {
            factor,
            hasher: RandomState::new(),
            people: Windows::default(),
            addresses: Windows::default(),
            documents: Windows::default(),
            exporting: Mutex::default(),
            ahead: AtomicI64::new(0),
        }))
    }

    /// The limit here, if there is one.
    pub fn limit(&self, rate: Rate) -> Option<Limit> {
        rate.limit().times(self.0.factor)
    }

    /// Counts a request of a person.
    pub fn person(&self, rate: Rate, user: &UserId) -> Option<Meter> {
        self.hit(&self.0.people, rate, user)
    }

    /// Counts a request without a session.
    pub fn address(&self, address: &str) -> Option<Meter> {
        self.hit(&self.0.addresses, Rate::Address, &address)
    }

    /// Counts a request of the document server about a document at one of its two doors.
    pub fn document(&self, door: &'static str, document: &DocumentId) -> Option<Meter> {
        self.hit(&self.0.documents, Rate::Document, &(door, document))
    }

    /// Remembers that the owner of this token has used up his window, so that [`Rates::spent`] can refuse the token
    /// without looking it up.
    pub fn remember_spent(&self, rate: Rate, token: &str, meter: Meter) {
        if let Some(limit) = self.limit(rate) {
            let now = self.now();
            let started_at = now.plus_seconds(meter.resets_in - limit.window);
            let window = Window {
                started_at,
                hits: limit.hits,
            };
            self.0.people.put(self.key(rate, &token), window, now);
        }
    }

    /// The meter of a token whose owner has used up his window: however many requests come, the store has no work.
    pub fn spent(&self, rate: Rate, token: &str) -> Option<Meter> {
        let (limit, now) = (self.limit(rate)?, self.now());
        let window = self.0.people.get(self.key(rate, &token), now)?;
        (!window.is_over(limit, now)).then(|| window.meter(limit, now, true))
    }

    /// Begins an export, unless enough of this person's are running; nothing to count where there are no limits.
    pub fn begin_export(&self, user: &UserId) -> Result<Option<Exporting>> {
        if self.limit(Rate::Export).is_none() {
            return Ok(None);
        }
        let mut exporting = self.0.exporting.lock().unwrap_or_else(PoisonError::into_inner);
        let running = exporting.entry(user.clone()).or_default();
        if *running >= EXPORTS_AT_ONCE {
            return Err(Error::RateLimited {
                retry_after: EXPORT_PAUSE,
            });
        }
        *running += 1;
        Ok(Some(Exporting {
            rates: self.clone(),
            user: user.clone(),
        }))
    }

    /// Lets the clock of the windows run ahead, for tests that will not wait.
    pub fn pass(&self, seconds: i64) {
        self.0.ahead.fetch_add(seconds, Ordering::Relaxed);
    }

    fn now(&self) -> Timestamp {
        clock::now().plus_seconds(self.0.ahead.load(Ordering::Relaxed))
    }

    fn hit(&self, windows: &Windows, rate: Rate, who: &impl Hash) -> Option<Meter> {
        let limit = self.limit(rate)?;
        Some(windows.hit(self.key(rate, who), limit, self.now()))
    }

    /// A number instead of a text keeps the memory bounded; nobody outside can make two fall together.
    fn key(&self, rate: Rate, who: &impl Hash) -> u64 {
        self.0.hasher.hash_one((rate, who))
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        let mut exporting = self.rates.0.exporting.lock().unwrap_or_else(PoisonError::into_inner);
        let left = exporting.get_mut(&self.user).map(|running| {
            *running -= 1;
            *running
        });
        if left == Some(0) {
            exporting.remove(&self.user);
        }
    }
}

/// Windows by key, in shards.
#[derive(Default)]
struct Windows([Mutex<Generations>; SHARDS]);

/// What was asked for lately, and what was before. Forgetting is dropping the older map at once: no request ever pays
/// for a sweep.
struct Generations {
    current: HashMap<u64, Window>,
    before: HashMap<u64, Window>,
    began_at: Timestamp,
}

impl Default for Generations {
    fn default() -> Self {
        Self {
            current: HashMap::new(),
            before: HashMap::new(),
            began_at: Timestamp::from_millis(0),
        }
    }
}

impl Windows {
    fn hit(&self, key: u64, limit: Limit, now: Timestamp) -> Meter {
        self.with(key, now, |generations| {
            let (window, meter) = Window::hit(generations.find(key), limit, now);
            generations.current.insert(key, window);
            meter
        })
    }

    fn put(&self, key: u64, window: Window, now: Timestamp) {
        self.with(key, now, |generations| generations.current.insert(key, window));
    }

    fn get(&self, key: u64, now: Timestamp) -> Option<Window> {
        self.with(key, now, |generations| generations.find(key))
    }

    fn with<T>(&self, key: u64, now: Timestamp, act: impl FnOnce(&mut Generations) -> T) -> T {
        let shard = usize::try_from(key % SHARDS as u64).unwrap_or_default();
        let mut generations = self.0[shard].lock().unwrap_or_else(PoisonError::into_inner);
        generations.turn(now);
        act(&mut generations)
    }
}

impl Generations {
    fn find(&self, key: u64) -> Option<Window> {
        self.current.get(&key).or_else(|| self.before.get(&key)).copied()
    }

    /// Begins the next generation on time, or early in a crowd.
    fn turn(&mut self, now: Timestamp) {
        let age = now.seconds_since(self.began_at);
        if age.abs() >= GENERATION || self.current.len() >= CROWD {
            self.before = std::mem::take(&mut self.current);
            self.began_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn people_are_counted_apart_and_windows_pass() {
        let rates = Rates::new(0.005);
        let (ben, cem) = (UserId::new("ben"), UserId::new("cem"));
        let refused = |user: &UserId| rates.person(Rate::Change, user).unwrap().is_refused;
        assert_eq!([(); 4].map(|()| refused(&ben)), [false, false, false, true]);
        assert!(!refused(&cem));
        assert!(
            !rates.person(Rate::Read, &ben).unwrap().is_refused,
            "reads are counted apart"
        );
        rates.pass(59);
        assert!(refused(&ben), "a generation ends, the window does not");
        rates.pass(1);
        assert!(!refused(&ben));
    }

    #[test]
    fn a_spent_token_is_known_until_the_window_ends() {
        let rates = Rates::new(0.001);
        let ben = UserId::new("ben");
        rates.person(Rate::Change, &ben);
        let meter = rates.person(Rate::Change, &ben).unwrap();
        rates.remember_spent(Rate::Change, "token", meter);
        assert!(rates.spent(Rate::Change, "token").unwrap().is_refused);
        assert_eq!(rates.spent(Rate::Change, "other"), None);
        assert_eq!(rates.spent(Rate::Read, "token"), None);
        rates.pass(meter.resets_in);
        assert_eq!(rates.spent(Rate::Change, "token"), None);
    }

    #[test]
    fn a_crowd_of_addresses_takes_bounded_memory_and_leaves_people_alone() {
        let rates = Rates::new(0.000_1);
        let ben = UserId::new("ben");
        rates.person(Rate::Change, &ben);
        for number in 0..(3 * SHARDS * CROWD) {
            rates.address(&number.to_string());
        }
        let kept: usize = rates
            .0
            .addresses
            .0
            .iter()
            .map(|shard| {
                let generations = shard.lock().unwrap();
                generations.current.len() + generations.before.len()
            })
            .sum();
        assert!(kept <= 2 * SHARDS * CROWD, "{kept}");
        assert!(rates.person(Rate::Change, &ben).unwrap().is_refused);
    }

    #[test]
    fn two_exports_of_one_person_run_at_once() {
        let rates = Rates::new(1.0);
        let (ben, cem) = (UserId::new("ben"), UserId::new("cem"));
        let first = rates.begin_export(&ben).unwrap();
        let _second = rates.begin_export(&ben).unwrap();
        assert!(matches!(rates.begin_export(&ben), Err(Error::RateLimited { .. })));
        assert!(rates.begin_export(&cem).is_ok());
        drop(first);
        assert!(rates.begin_export(&ben).is_ok());
        assert_eq!(
            rates.0.exporting.lock().unwrap().len(),
            1,
            "who exports nothing is forgotten"
        );
    }

    #[test]
    fn without_a_factor_nothing_is_counted() {
        let rates = Rates::new(0.0);
        assert_eq!(rates.person(Rate::Change, &UserId::new("ben")), None);
        assert_eq!(rates.address("192.0.2.1"), None);
        assert!(rates.begin_export(&UserId::new("ben")).unwrap().is_none());
    }
}
