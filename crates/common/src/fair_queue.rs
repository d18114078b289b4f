//! Fair scheduling between the keys of requests (tenants, users, addresses): a queue that serves its keys in turn, a
//! semaphore on top of it, and the one permit type of everything that is limited by key.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// What a queue distinguishes.
pub trait Key: Clone + Eq + Hash + Send + Sync + 'static {}

impl<K: Clone + Eq + Hash + Send + Sync + 'static> Key for K {}

/// Items of many keys, FIFO per key and dequeued round-robin between keys. However many items one key enqueues, another
/// waits for at most one item of each key.
#[derive(Debug)]
pub struct FairQueue<K, T> {
    waiting_of: HashMap<K, VecDeque<T>>,
    /// Keys with queued items, the next one first.
    order: VecDeque<K>,
    /// The number of running items per key.
    running: HashMap<K, usize>,
    waiting: usize,
    /// The number of running items of all keys.
    busy: usize,
}

impl<K, T> Default for FairQueue<K, T> {
    fn default() -> Self {
        Self {
            waiting_of: HashMap::new(),
            order: VecDeque::new(),
            running: HashMap::new(),
            waiting: 0,
            busy: 0,
        }
    }
}

impl<K: Key, T> FairQueue<K, T> {
    /// Returns the number of queued items.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the number of queued items of a key.
    pub fn waiting_of(&self, key: &K) -> usize {
        self.waiting_of.get(key).map_or(0, VecDeque::len)
    }

    /// Returns the number of running items.
    pub fn running(&self) -> usize {
        self.busy
    }

    /// Returns the number of running items of a key.
    pub fn running_of(&self, key: &K) -> usize {
        self.running.get(key).copied().unwrap_or_default()
    }

    /// Returns whether the queue accepts no further item of this key: `capacity` is reached and the key has its share of
    /// it. A key without queued items is always accepted, so a flood by one key does not reject others.
    pub fn is_full_for(&self, key: &K, capacity: usize) -> bool {
        let own = self.waiting_of(key);
        self.waiting >= capacity && own > 0 && own >= capacity / self.order.len().max(1)
    }

    /// Appends an item to the queue of its key.
    pub fn push(&mut self, key: K, item: T) {
        self.waiting += 1;
        let items = self.waiting_of.entry(key.clone()).or_default();
        if items.is_empty() {
            self.order.push_back(key);
        }
        items.push_back(item);
    }

    /// Dequeues the next item of the first key below its limit: `limit` returns the number of items of a key that may
    /// run concurrently. The item counts as running until [`FairQueue::release`].
    pub fn take(&mut self, limit: impl Fn(&K) -> usize) -> Option<(K, T)> {
        let position = self.order.iter().position(|key| self.running_of(key) < limit(key))?;
        let key = self.order.remove(position)?;
        let items = self.waiting_of.get_mut(&key)?;
        let item = items.pop_front()?;
        if items.is_empty() {
            self.waiting_of.remove(&key);
        } else {
            self.order.push_back(key.clone());
        }
        self.waiting -= 1;
        self.start(key.clone());
        Some((key, item))
    }

    /// Counts an item as running that was not queued.
    pub fn start(&mut self, key: K) {
        self.busy += 1;
        *self.running.entry(key).or_default() += 1;
    }

    /// Ends a running item.
    pub fn release(&mut self, key: &K) {
        if let Some(running) = self.running.get_mut(key) {
            *running -= 1;
            self.busy -= 1;
            if *running == 0 {
                self.running.remove(key);
            }
        }
    }
}

/// Owner of permits.
pub trait PermitPool<K>: Send + Sync {
    /// Called when a permit of `key` is dropped.
    fn release(self: Arc<Self>, key: &K);
}

/// Counts against the limit of its key until it is dropped.
pub struct Permit<K> {
    key: K,
    pool: Arc<dyn PermitPool<K>>,
}

impl<K> Permit<K> {
    pub fn new(key: K, pool: Arc<dyn PermitPool<K>>) -> Self {
        Self { key, pool }
    }

    pub fn key(&self) -> &K {
        &self.key
    }
}

impl<K> Drop for Permit<K> {
    fn drop(&mut self) {
        Arc::clone(&self.pool).release(&self.key);
    }
}

/// Limits what runs at once, in total and per key; clones share the permits. Memory use is bounded by the permits and
/// the requests that wait.
pub struct FairSemaphore<K>(Arc<SemaphoreInner<K>>);

struct SemaphoreInner<K> {
    total: usize,
    per_key: usize,
    /// Requests that wait; each is notified through its channel.
    queue: Mutex<FairQueue<K, oneshot::Sender<Permit<K>>>>,
}

/// The limit that rejects a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitReached {
    Total,
    Key,
}

impl<K> Clone for FairSemaphore<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Key> FairSemaphore<K> {
    /// Allows `total` permits at once, of which a key has at most `per_key`.
    pub fn new(total: usize, per_key: usize) -> Self {
        Self(Arc::new(SemaphoreInner {
            total,
            per_key,
            queue: Mutex::default(),
        }))
    }

    /// Waits for a permit, FIFO per key and round-robin between keys. Returns `None` if too many requests of this key
    /// wait already: its share of `waiting_max`.
    pub async fn acquire(&self, key: K, waiting_max: usize) -> Option<Permit<K>> {
        let (sender, granted) = oneshot::channel();
        {
            let mut queue = self.0.lock();
            if queue.is_full_for(&key, waiting_max) {
                return None;
            }
            queue.push(key, sender);
        }
        self.0.grant_waiting();
        granted.await.ok()
    }

    /// Acquires a permit without waiting.
    pub fn try_acquire(&self, key: K) -> Result<Permit<K>, LimitReached> {
        self.try_acquire_up_to(self.0.per_key, key)
    }

    /// Acquires a permit without waiting, for a key that is not limited.
    pub fn try_acquire_unlimited(&self, key: K) -> Result<Permit<K>, LimitReached> {
        self.try_acquire_up_to(usize::MAX, key)
    }

    fn try_acquire_up_to(&self, per_key: usize, key: K) -> Result<Permit<K>, LimitReached> {
        let mut queue = self.0.lock();
        if queue.running() >= self.0.total {
            return Err(LimitReached::Total);
        }
        if queue.running_of(&key) >= per_key {
            return Err(LimitReached::Key);
        }
        queue.start(key.clone());
        Ok(self.0.permit(key))
    }

    /// Returns whether all permits are in use.
    pub fn is_exhausted(&self) -> bool {
        self.0.lock().running() >= self.0.total
    }

    /// Returns whether no permit is in use and no request waits.
    pub fn is_idle(&self) -> bool {
        let queue = self.0.lock();
        queue.running() == 0 && queue.waiting() == 0
    }
}

impl<K: Key> SemaphoreInner<K> {
    fn lock(&self) -> MutexGuard<'_, FairQueue<K, oneshot::Sender<Permit<K>>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn permit(self: &Arc<Self>, key: K) -> Permit<K> {
        Permit::new(key, Arc::clone(self) as Arc<dyn PermitPool<K>>)
    }

    /// Grants permits to waiting requests while any are free.
    fn grant_waiting(self: &Arc<Self>) {
        loop {
            let (key, sender) = {
                let mut queue = self.lock();
                if queue.running() >= self.total {
                    return;
                }
                let Some((key, sender)) = queue.take(|_| self.per_key) else {
                    return;
                };
                if sender.is_closed() {
                    // The waiting request was cancelled.
                    queue.release(&key);
                    continue;
                }
                (key, sender)
            };
            drop(sender.send(self.permit(key)));
        }
    }
}

impl<K: Key> PermitPool<K> for SemaphoreInner<K> {
    fn release(self: Arc<Self>, key: &K) {
        self.lock().release(key);
        self.grant_waiting();
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use futures_util::FutureExt as _;

    use super::*;

    const WAITING_MAX: usize = 64;

    #[test]
    fn keys_are_limited_and_permits_released() {
        let semaphore = FairSemaphore::new(3, 2);
        let held = [
            semaphore.try_acquire("north").unwrap(),
            semaphore.try_acquire("north").unwrap(),
        ];
        assert_eq!(semaphore.try_acquire("north").err(), Some(LimitReached::Key));
        assert!(!semaphore.is_exhausted());
        let third = semaphore.try_acquire_unlimited("north").unwrap();
        assert!(semaphore.is_exhausted());
        assert_eq!(semaphore.try_acquire("south").err(), Some(LimitReached::Total));
        drop(held);
        let south = semaphore.try_acquire("south").unwrap();
        assert_eq!((*south.key(), *third.key()), ("south", "north"));
        drop((south, third));
        assert!(semaphore.is_idle());
    }

    #[tokio::test]
    async fn waiting_requests_get_permits_round_robin_by_key() {
        let semaphore = FairSemaphore::new(1, 1);
        let held = semaphore.acquire("west", WAITING_MAX).await.unwrap();
        let mut waiting: Vec<_> = ["north", "north", "north", "south"]
            .into_iter()
            .map(|key| Box::pin(semaphore.acquire(key, WAITING_MAX)))
            .collect();
        assert!(waiting.iter_mut().all(|request| request.now_or_never().is_none()));
        drop(held);
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let granted = waiting.iter_mut().enumerate();
            let granted = granted.filter_map(|(index, request)| Some((index, request.now_or_never()?)));
            let (index, permit) = granted.last().unwrap();
            drop(waiting.remove(index));
            order.push(*permit.unwrap().key());
        }
        assert_eq!(order, ["north", "south", "north", "north"]);
        assert!(semaphore.is_idle());
    }

    #[tokio::test]
    async fn key_gets_no_more_than_its_limit_while_permits_are_free() {
        let semaphore = FairSemaphore::new(4, 2);
        let first = semaphore.acquire("north", WAITING_MAX).await.unwrap();
        let _second = semaphore.acquire("north", WAITING_MAX).await.unwrap();
        let mut third = Box::pin(semaphore.acquire("north", WAITING_MAX));
        assert!((&mut third).now_or_never().is_none());
        let _south = semaphore.acquire("south", WAITING_MAX).now_or_never().unwrap().unwrap();
        drop(first);
        assert!(third.now_or_never().unwrap().is_some());
    }

    #[tokio::test]
    async fn cancelled_request_holds_no_permit() {
        let semaphore = FairSemaphore::new(1, 1);
        let held = semaphore.acquire("north", WAITING_MAX).await.unwrap();
        let mut cancelled = Box::pin(semaphore.acquire("north", WAITING_MAX));
        let mut waiting = Box::pin(semaphore.acquire("south", WAITING_MAX));
        assert!((&mut cancelled).now_or_never().is_none() && (&mut waiting).now_or_never().is_none());
        drop(cancelled);
        drop(held);
        assert!(waiting.now_or_never().unwrap().is_some());
        assert!(semaphore.is_idle());
    }

    #[tokio::test]
    async fn full_queue_rejects_only_the_key_that_filled_it() {
        let semaphore = FairSemaphore::new(1, 1);
        let _held = semaphore.acquire("west", 2).await.unwrap();
        let mut north: Vec<_> = (0..2).map(|_| Box::pin(semaphore.acquire("north", 2))).collect();
        assert!(north.iter_mut().all(|request| request.now_or_never().is_none()));
        assert!(semaphore.acquire("north", 2).await.is_none());
        assert!(semaphore.acquire("south", 2).now_or_never().is_none(), "it waits");
    }
}
