//! How often one person, or one address without a session, has asked lately: fixed windows in the memory of this
//! instance, forgotten with the process. Instances tell each other of whoever asks much (`live/neighbours.rs`), so that
//! several of them let through hardly more than one; what has to hold exactly is counted in the store (`store/rates.rs`).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::id::{DocumentId, UserId};
use model::rate::{EXPORTS_AT_ONCE, Limit, Meter, Rate, Window};
use model::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::clock;
use crate::config::Secret;
use crate::error::{Error, Result};

/// Locks, so that requests of different people seldom wait for each other.
const SHARDS: usize = 16;
/// Windows a generation of a shard holds at most; all kinds together stay below 16 MiB.
const CROWD: usize = 4096;
/// How long a generation lasts: no window that is kept here is longer.
const GENERATION: i64 = 60;
/// When to come again while too many exports of one's own are running, in seconds.
const EXPORT_PAUSE: u64 = 5;

/// The windows of this instance; copies are the same one.
#[derive(Clone)]
pub struct Rates(Arc<Parts>);

/// Requests that one instance let through, for the others to add. It names nobody: the key is a number that only
/// whoever has AUTH_SECRET can work out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    crowd: Crowd,
    key: u64,
    hits: i64,
    began_at: i64,
    seconds: i64,
}

/// Who is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Crowd {
    People,
    Addresses,
    Documents,
}

/// Tells the other instances.
type Tell = Box<dyn Fn(Count) + Send + Sync>;

struct Parts {
    factor: f64,
    /// It has taken in what only the instances of this installation know.
    hasher: DefaultHasher,
    tell: OnceLock<Tell>,
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
    /// The windows of an installation with this factor (RATE_LIMIT_FACTOR) and this secret, which all its instances share.
    pub fn new(factor: f64, secret: &Secret) -> Self {
        let mut hasher = DefaultHasher::new();
        let seed = Sha256::new_with_prefix(b"groupwork rates").chain_update(secret.expose());
        hasher.write(&seed.finalize());
        Self(Arc::new(Parts {
            factor,
            hasher,
            tell: OnceLock::new(),
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

    /// From now on other instances are told of whoever asks much.
    pub fn tell_with(&self, tell: impl Fn(Count) + Send + Sync + 'static) {
        drop(self.0.tell.set(Box::new(tell)));
    }

    /// Adds what another instance let through.
    pub fn add(&self, count: Count) {
        let told = Window {
            started_at: Timestamp::from_millis(count.began_at),
            hits: count.hits,
        };
        // Only the length of a window says whether it is over.
        let limit = Limit {
            hits: i64::MAX,
            window: count.seconds,
        };
        self.windows(count.crowd).add(count.key, told, limit, self.now());
    }

    /// Counts a request of a person.
    pub fn person(&self, rate: Rate, user: &UserId) -> Option<Meter> {
        self.hit(Crowd::People, rate, user)
    }

    /// Counts a request without a session.
    pub fn address(&self, address: &str) -> Option<Meter> {
        self.hit(Crowd::Addresses, Rate::Address, &address)
    }

    /// Counts a request of the document server about a document at one of its two doors.
    pub fn document(&self, door: &'static str, document: &DocumentId) -> Option<Meter> {
        self.hit(Crowd::Documents, Rate::Document, &(door, document))
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

    fn windows(&self, crowd: Crowd) -> &Windows {
        match crowd {
            Crowd::People => &self.0.people,
            Crowd::Addresses => &self.0.addresses,
            Crowd::Documents => &self.0.documents,
        }
    }

    fn hit(&self, crowd: Crowd, rate: Rate, who: &impl Hash) -> Option<Meter> {
        let (limit, key) = (self.limit(rate)?, self.key(rate, who));
        let (meter, untold) = self.windows(crowd).hit(key, limit, self.now());
        if let (Some(untold), Some(tell)) = (untold, self.0.tell.get()) {
            tell(Count {
                crowd,
                key,
                hits: untold.hits,
                began_at: untold.started_at.as_millis(),
                seconds: limit.window,
            });
        }
        Some(meter)
    }

    /// A number instead of a text keeps the memory bounded; nobody outside can make two fall together.
    fn key(&self, rate: Rate, who: &impl Hash) -> u64 {
        let mut hasher = self.0.hasher.clone();
        (rate, who).hash(&mut hasher);
        hasher.finish()
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
    current: HashMap<u64, Kept>,
    before: HashMap<u64, Kept>,
    began_at: Timestamp,
}

/// A window, and how many of its requests no other instance knows of.
#[derive(Clone, Copy)]
struct Kept {
    window: Window,
    untold: i64,
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
    /// Counts one request. Answers also what other instances are to be told now: the requests they do not know of, once
    /// these are a share of the limit or the last ones of it.
    fn hit(&self, key: u64, limit: Limit, now: Timestamp) -> (Meter, Option<Window>) {
        self.with(key, now, |generations| {
            let before = generations.find(key).filter(|kept| !kept.window.is_over(limit, now));
            let (window, meter) = Window::hit(before.map(|kept| kept.window), limit, now);
            let untold = before.map_or(0, |kept| kept.untold) + i64::from(!meter.is_refused);
            let is_due = untold >= limit.share() || (untold > 0 && window.hits >= limit.hits);
            let kept = Kept {
                window,
                untold: if is_due { 0 } else { untold },
            };
            generations.current.insert(key, kept);
            let news = is_due.then_some(Window {
                started_at: window.started_at,
                hits: untold,
            });
            (meter, news)
        })
    }

    /// Adds what was counted elsewhere.
    fn add(&self, key: u64, told: Window, limit: Limit, now: Timestamp) {
        self.with(key, now, |generations| {
            let before = generations.find(key).filter(|kept| !kept.window.is_over(limit, now));
            if let Some(window) = Window::join(before.map(|kept| kept.window), told, limit, now) {
                let untold = before.map_or(0, |kept| kept.untold);
                generations.current.insert(key, Kept { window, untold });
            }
        });
    }

    fn put(&self, key: u64, window: Window, now: Timestamp) {
        self.with(key, now, |generations| {
            generations.current.insert(key, Kept { window, untold: 0 })
        });
    }

    fn get(&self, key: u64, now: Timestamp) -> Option<Window> {
        self.with(key, now, |generations| generations.find(key).map(|kept| kept.window))
    }

    fn with<T>(&self, key: u64, now: Timestamp, act: impl FnOnce(&mut Generations) -> T) -> T {
        let shard = usize::try_from(key % SHARDS as u64).unwrap_or_default();
        let mut generations = self.0[shard].lock().unwrap_or_else(PoisonError::into_inner);
        generations.turn(now);
        act(&mut generations)
    }
}

impl Generations {
    fn find(&self, key: u64) -> Option<Kept> {
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

    fn with_factor(factor: f64) -> Rates {
        Rates::new(factor, &Secret::new("of all instances"))
    }

    /// Several instances whose words arrive at once.
    fn instances(number: usize, factor: f64, words: &Arc<AtomicI64>) -> Vec<Rates> {
        let all: Vec<Rates> = (0..number).map(|_| with_factor(factor)).collect();
        for (own, rates) in all.iter().enumerate() {
            let (others, words) = (all.clone(), Arc::clone(words));
            rates.tell_with(move |count| {
                words.fetch_add(1, Ordering::Relaxed);
                let heard = serde_json::from_str(&serde_json::to_string(&count).unwrap()).unwrap();
                assert_eq!(count, heard);
                let others = others.iter().enumerate().filter(|(other, _)| *other != own);
                others.for_each(|(_, rates)| rates.add(heard));
            });
        }
        all
    }

    #[test]
    fn several_instances_let_through_hardly_more_than_one() {
        let ben = UserId::new("ben");
        for number in 1..=4_usize {
            for order in ["in turn", "one after the other"] {
                let words = Arc::default();
                let all = instances(number, 0.16, &words);
                let limit = all[0].limit(Rate::Change).unwrap();
                let asks = usize::try_from(limit.hits).unwrap() * number * 2;
                let let_through = (0..asks).filter(|ask| {
                    let at = if order == "in turn" {
                        ask % number
                    } else {
                        ask * number / asks
                    };
                    !all[at].person(Rate::Change, &ben).unwrap().is_refused
                });
                let let_through = i64::try_from(let_through.count()).unwrap();
                let more = (i64::try_from(number).unwrap() - 1) * (limit.share() - 1);
                let fits = (limit.hits..=limit.hits + more).contains(&let_through);
                assert!(fits, "{number} {order}: {let_through} of {limit:?}");
                assert!(words.load(Ordering::Relaxed) <= 8 + 2 * i64::try_from(number).unwrap());
                assert!(
                    all.iter()
                        .all(|rates| rates.person(Rate::Change, &ben).unwrap().remaining == 0)
                );
                assert!(!all[0].person(Rate::Change, &UserId::new("cem")).unwrap().is_refused);
            }
        }
    }

    #[test]
    fn nothing_is_told_of_those_who_ask_little_and_all_of_those_who_may_seldom() {
        let words = Arc::default();
        let all = instances(2, 1.0, &words);
        for number in 0..100 {
            let pupil = UserId::new(format!("pupil {number}"));
            for _ in 0..149 {
                all[number % 2].person(Rate::Read, &pupil);
            }
            all[1].address("192.0.2.1");
        }
        assert_eq!(words.load(Ordering::Relaxed), 0);
        let ben = UserId::new("ben");
        let refused = (0..8).map(|ask| all[ask % 2].person(Rate::Export, &ben).unwrap().is_refused);
        assert_eq!(refused.filter(|refused| *refused).count(), 2, "six exports, wherever");
    }

    #[test]
    fn a_word_of_a_former_window_counts_for_nothing() {
        let words = Arc::default();
        let all = instances(2, 0.02, &words);
        let ben = UserId::new("ben");
        let (late, told) = (with_factor(0.02), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&told);
        late.tell_with(move |count| kept.lock().unwrap().push(count));
        for _ in 0..12 {
            late.person(Rate::Change, &ben);
        }
        all[0].pass(61);
        told.lock().unwrap().iter().for_each(|count| all[0].add(*count));
        assert_eq!(all[0].person(Rate::Change, &ben).unwrap().remaining, 11);
        told.lock().unwrap().iter().for_each(|count| all[1].add(*count));
        assert!(
            all[1].person(Rate::Change, &ben).unwrap().is_refused,
            "on time it counts"
        );
    }

    #[test]
    fn people_are_counted_apart_and_windows_pass() {
        let rates = with_factor(0.005);
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
        let rates = with_factor(0.001);
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
        let rates = with_factor(0.000_1);
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
        let rates = with_factor(1.0);
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
        let rates = with_factor(0.0);
        assert_eq!(rates.person(Rate::Change, &UserId::new("ben")), None);
        assert_eq!(rates.address("192.0.2.1"), None);
        assert!(rates.begin_export(&UserId::new("ben")).unwrap().is_none());
    }
}
