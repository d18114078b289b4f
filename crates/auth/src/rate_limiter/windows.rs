//! Windows by key with bounded memory: old keys are dropped by generation.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::rate::{Meter, RateLimit, RateWindow};
use domain::time::Timestamp;

/// Number of locks; sharding reduces contention between keys.
const SHARDS: usize = 16;
/// Most windows in one generation of a shard. All kinds together stay below 16 MiB.
const GENERATION_CAPACITY: usize = 4096;
/// Lifetime of a generation in seconds. No window kept here is longer.
const GENERATION: i64 = 60;

#[derive(Default)]
pub(super) struct Windows([Mutex<WindowGenerations>; SHARDS]);

/// The current and the previous generation of windows. Eviction drops the older map as a whole, so no request pays for
/// a sweep.
struct WindowGenerations {
    current: HashMap<u64, CountedWindow>,
    previous: HashMap<u64, CountedWindow>,
    began_at: Timestamp,
}

/// A window, and how many of its requests were not reported to other instances yet.
#[derive(Clone, Copy)]
struct CountedWindow {
    window: RateWindow,
    unreported: i64,
}

impl Default for WindowGenerations {
    fn default() -> Self {
        Self {
            current: HashMap::new(),
            previous: HashMap::new(),
            began_at: Timestamp::from_millis(0),
        }
    }
}

impl Windows {
    /// Counts one request. Also returns the requests to report to other instances, once those not yet reported are a
    /// share of the limit or exhaust it.
    pub(super) fn count(&self, key: u64, limit: RateLimit, now: Timestamp) -> (Meter, Option<RateWindow>) {
        self.with(key, now, |generations| {
            let previous = generations.find(key).filter(|entry| !entry.window.is_over(limit, now));
            let (window, meter) = RateWindow::hit(previous.map(|entry| entry.window), limit, now);
            let unreported = previous.map_or(0, |entry| entry.unreported) + i64::from(!meter.is_refused);
            let is_due = unreported >= limit.share() || (unreported > 0 && window.hits >= limit.hits);
            let entry = CountedWindow {
                window,
                unreported: if is_due { 0 } else { unreported },
            };
            generations.current.insert(key, entry);
            let report = is_due.then_some(RateWindow {
                started_at: window.started_at,
                hits: unreported,
            });
            (meter, report)
        })
    }

    /// Adds requests that another instance counted.
    pub(super) fn add(&self, key: u64, counted: RateWindow, limit: RateLimit, now: Timestamp) {
        self.with(key, now, |generations| {
            let previous = generations.find(key).filter(|entry| !entry.window.is_over(limit, now));
            if let Some(window) = RateWindow::join(previous.map(|entry| entry.window), counted, limit, now) {
                let unreported = previous.map_or(0, |entry| entry.unreported);
                generations.current.insert(key, CountedWindow { window, unreported });
            }
        });
    }

    pub(super) fn put(&self, key: u64, window: RateWindow, now: Timestamp) {
        self.with(key, now, |generations| {
            generations.current.insert(key, CountedWindow { window, unreported: 0 })
        });
    }

    pub(super) fn get(&self, key: u64, now: Timestamp) -> Option<RateWindow> {
        self.with(key, now, |generations| generations.find(key).map(|entry| entry.window))
    }

    /// Number of windows in memory, and the maximum.
    #[cfg(test)]
    pub(super) fn window_count(&self) -> (usize, usize) {
        let of = |generations: &WindowGenerations| generations.current.len() + generations.previous.len();
        let entry = self
            .0
            .iter()
            .map(|shard| of(&shard.lock().unwrap_or_else(PoisonError::into_inner)));
        (entry.sum(), 2 * SHARDS * GENERATION_CAPACITY)
    }

    fn with<T>(&self, key: u64, now: Timestamp, action: impl FnOnce(&mut WindowGenerations) -> T) -> T {
        let shard = usize::try_from(key % SHARDS as u64).unwrap_or_default();
        let mut generations = self.0[shard].lock().unwrap_or_else(PoisonError::into_inner);
        generations.rotate(now);
        action(&mut generations)
    }
}

impl WindowGenerations {
    fn find(&self, key: u64) -> Option<CountedWindow> {
        self.current.get(&key).or_else(|| self.previous.get(&key)).copied()
    }

    /// Starts the next generation when the current one has expired or is full.
    fn rotate(&mut self, now: Timestamp) {
        let age = now.seconds_since(self.began_at);
        if age.abs() >= GENERATION || self.current.len() >= GENERATION_CAPACITY {
            self.previous = std::mem::take(&mut self.current);
            self.began_at = now;
        }
    }
}
