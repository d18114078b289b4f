//! Windows by key, and how they are forgotten: the memory they take is bounded, whoever asks.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use model::rate::{Limit, Meter, Window};
use model::time::Timestamp;

/// Locks, so that requests of different people seldom wait for each other.
const SHARDS: usize = 16;
/// Windows a generation of a shard holds at most; all kinds together stay below 16 MiB.
const CROWD: usize = 4096;
/// How long a generation lasts: no window that is kept here is longer.
const GENERATION: i64 = 60;

/// Windows by key, in shards.
#[derive(Default)]
pub(super) struct Windows([Mutex<Generations>; SHARDS]);

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
    pub(super) fn hit(&self, key: u64, limit: Limit, now: Timestamp) -> (Meter, Option<Window>) {
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
    pub(super) fn add(&self, key: u64, told: Window, limit: Limit, now: Timestamp) {
        self.with(key, now, |generations| {
            let before = generations.find(key).filter(|kept| !kept.window.is_over(limit, now));
            if let Some(window) = Window::join(before.map(|kept| kept.window), told, limit, now) {
                let untold = before.map_or(0, |kept| kept.untold);
                generations.current.insert(key, Kept { window, untold });
            }
        });
    }

    pub(super) fn put(&self, key: u64, window: Window, now: Timestamp) {
        self.with(key, now, |generations| {
            generations.current.insert(key, Kept { window, untold: 0 })
        });
    }

    pub(super) fn get(&self, key: u64, now: Timestamp) -> Option<Window> {
        self.with(key, now, |generations| generations.find(key).map(|kept| kept.window))
    }

    /// How many are remembered, and how many may be at most.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        let of = |generations: &Generations| generations.current.len() + generations.before.len();
        let kept = self
            .0
            .iter()
            .map(|shard| of(&shard.lock().unwrap_or_else(PoisonError::into_inner)));
        (kept.sum(), 2 * SHARDS * CROWD)
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
