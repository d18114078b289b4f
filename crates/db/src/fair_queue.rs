//! Fair queue in front of the database threads: FIFO per tenant, round-robin between tenants. However many jobs one
//! tenant enqueues, another waits for at most one job of each tenant.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::id::OrganizationId;

use common::fair_queue::{FairQueue, Permit, PermitPool};

/// The key of a queue: an organization, or the service itself (sign-in, housekeeping), which counts as one tenant.
pub type TenantKey = Option<OrganizationId>;

/// For how long after a job of one organization a worker is kept free for it.
const ACTIVE_WINDOW: Duration = Duration::from_mins(1);

/// The reason why a job was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrySendError {
    /// The tenant has its share of a full queue.
    Full,
    /// The queue has no workers any more.
    Closed,
}

/// The sending half; dropping the last clone closes the queue.
pub struct Sender<T>(Arc<Shared<T>>, Arc<CloseOnSenderDrop<T>>);

/// The receiving half. Clones share the queue; dropping the last one closes it.
pub struct Receiver<T>(Arc<Shared<T>>, Arc<CloseOnReceiverDrop<T>>);

struct Shared<T> {
    state: Mutex<QueueState<T>>,
    available: Condvar,
    /// Maximum number of queued jobs before tenants with their share are rejected.
    capacity: usize,
    /// The number of worker threads.
    workers: usize,
}

struct QueueState<T> {
    queue: FairQueue<TenantKey, T>,
    /// The organization of the last job and the last different one before it, to detect whether a tenant is alone.
    latest: Option<(TenantKey, Instant)>,
    before: Option<(TenantKey, Instant)>,
    is_closed: bool,
}

/// Closes the queue when the last sender is dropped.
struct CloseOnSenderDrop<T>(Arc<Shared<T>>);

/// Closes the queue and drops its jobs when the last receiver is dropped.
struct CloseOnReceiverDrop<T>(Arc<Shared<T>>);

/// Creates a queue with the given capacity for the given number of workers.
pub fn channel<T: Send + 'static>(capacity: usize, workers: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(QueueState {
            queue: FairQueue::default(),
            latest: None,
            before: None,
            is_closed: false,
        }),
        available: Condvar::new(),
        capacity,
        workers,
    });
    let sender = Sender(Arc::clone(&shared), Arc::new(CloseOnSenderDrop(Arc::clone(&shared))));
    let receiver = Receiver(Arc::clone(&shared), Arc::new(CloseOnReceiverDrop(shared)));
    (sender, receiver)
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), Arc::clone(&self.1))
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), Arc::clone(&self.1))
    }
}

impl<T: Send + 'static> Sender<T> {
    /// Enqueues a job unless its tenant is over its share of a full queue.
    pub fn try_send(&self, tenant: TenantKey, job: T) -> Result<(), TrySendError> {
        let mut state = self.0.lock();
        if state.is_closed {
            return Err(TrySendError::Closed);
        }
        if state.queue.is_full_for(&tenant, self.0.capacity) {
            return Err(TrySendError::Full);
        }
        state.queue.push(tenant, job);
        drop(state);
        self.0.available.notify_one();
        Ok(())
    }

    /// Returns the number of queued jobs of a tenant.
    pub fn waiting_of(&self, tenant: &TenantKey) -> usize {
        self.0.lock().queue.waiting_of(tenant)
    }
}

impl<T: Send + 'static> Receiver<T> {
    /// Waits for the next job; returns `None` when the queue is closed and empty.
    pub fn receive(&self) -> Option<(T, Permit<TenantKey>)> {
        let mut state = self.0.lock();
        loop {
            if let Some(found) = self.0.take(&mut state) {
                return Some(found);
            }
            if state.is_closed && state.queue.waiting() == 0 {
                return None;
            }
            state = self.0.available.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the next job without waiting.
    pub fn try_receive(&self) -> Option<(T, Permit<TenantKey>)> {
        let mut state = self.0.lock();
        self.0.take(&mut state)
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Shared<T> {
    fn take(self: &Arc<Self>, state: &mut QueueState<T>) -> Option<(T, Permit<TenantKey>)> {
        let now = Instant::now();
        let QueueState {
            queue, latest, before, ..
        } = state;
        let limit = |tenant: &TenantKey| match tenant {
            // While other organizations are active, an organization leaves one worker to them, even for jobs enqueued
            // first.
            Some(_) if self.workers > 1 && has_other_active_tenant(tenant, [latest, before], now) => self.workers - 1,
            // Jobs of the service itself are short, and sign-ins affect all organizations.
            _ => usize::MAX,
        };
        let (tenant, job) = queue.take(limit)?;
        if tenant.is_some() {
            match latest {
                Some((last, at)) if *last == tenant => *at = now,
                _ => *before = latest.replace((tenant.clone(), now)),
            }
        }
        let pool: Arc<dyn PermitPool<TenantKey>> = Arc::clone(self) as _;
        Some((job, Permit::new(tenant, pool)))
    }
}

/// Returns whether another organization ran a job recently.
fn has_other_active_tenant(tenant: &TenantKey, recent: [&Option<(TenantKey, Instant)>; 2], now: Instant) -> bool {
    let mut others = recent.into_iter().flatten().filter(|(other, _)| other != tenant);
    others.any(|(_, at)| now.saturating_duration_since(*at) < ACTIVE_WINDOW)
}

impl<T: Send> PermitPool<TenantKey> for Shared<T> {
    fn release(self: Arc<Self>, tenant: &TenantKey) {
        let mut state = self.lock();
        state.queue.release(tenant);
        let is_closed = state.is_closed;
        drop(state);
        // A job of this tenant may have waited for the permit.
        if is_closed {
            self.available.notify_all();
        } else {
            self.available.notify_one();
        }
    }
}

impl<T> Drop for CloseOnSenderDrop<T> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.available.notify_all();
    }
}

impl<T> Drop for CloseOnReceiverDrop<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        let left = std::mem::take(&mut state.queue);
        drop(state);
        // Dropping the jobs notifies their callers that they will not run.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    #![expect(clippy::unnecessary_wraps, reason = "a school is a party")]
    use super::*;

    fn school(name: &str) -> TenantKey {
        Some(OrganizationId::new(name))
    }

    #[test]
    fn tenants_are_served_round_robin_and_fifo_each() {
        let (sender, receiver) = channel(100, 1);
        for number in 0..5 {
            sender.try_send(school("north"), format!("north {number}")).unwrap();
        }
        for number in 0..2 {
            sender.try_send(school("south"), format!("south {number}")).unwrap();
        }
        sender.try_send(None, "service 0".to_owned()).unwrap();
        let order: Vec<String> = std::iter::from_fn(|| receiver.try_receive().map(|(job, _)| job)).collect();
        let expected = [
            "north 0",
            "south 0",
            "service 0",
            "north 1",
            "south 1",
            "north 2",
            "north 3",
            "north 4",
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn served_tenant_queues_behind_waiting_tenants() {
        let (sender, receiver) = channel(100, 1);
        sender.try_send(school("north"), 1).unwrap();
        sender.try_send(school("north"), 2).unwrap();
        drop(receiver.try_receive());
        sender.try_send(school("south"), 3).unwrap();
        sender.try_send(school("north"), 4).unwrap();
        let order: Vec<i32> = std::iter::from_fn(|| receiver.try_receive().map(|(job, _)| job)).collect();
        assert_eq!(order, [2, 3, 4]);
    }

    #[test]
    fn full_queue_rejects_only_its_own_tenant() {
        let (sender, receiver) = channel(8, 1);
        for number in 0..8 {
            sender.try_send(school("north"), number).unwrap();
        }
        assert_eq!(sender.try_send(school("north"), 8), Err(TrySendError::Full));
        for number in 0..4 {
            sender.try_send(school("south"), number).unwrap();
        }
        // North has half of the capacity, and all of it is in use.
        assert_eq!(sender.try_send(school("south"), 4), Err(TrySendError::Full));
        assert_eq!(sender.try_send(school("north"), 8), Err(TrySendError::Full));
        sender.try_send(school("west"), 0).unwrap();
        sender.try_send(None, 0).unwrap();
        for _ in 0..14 {
            receiver.try_receive().unwrap();
        }
        assert!(receiver.try_receive().is_none());
        sender.try_send(school("north"), 8).unwrap();
    }

    #[test]
    fn tenant_leaves_one_worker_free_if_others_wait() {
        let (sender, receiver) = channel(100, 2);
        for number in 0..3 {
            sender.try_send(school("north"), number).unwrap();
        }
        // A single organization can use both workers.
        let (first, second) = (receiver.try_receive().unwrap(), receiver.try_receive().unwrap());
        drop((first, second));
        sender.try_send(school("south"), 10).unwrap();
        let (held, kept) = receiver.try_receive().unwrap();
        assert_eq!(held, 2, "it was first in line");
        let (job, _south) = receiver.try_receive().unwrap();
        assert_eq!(job, 10);
        sender.try_send(school("north"), 3).unwrap();
        sender.try_send(None, 20).unwrap();
        assert_eq!(receiver.try_receive().unwrap().0, 20, "the service is not a school");
        assert!(
            receiver.try_receive().is_none(),
            "the other worker is not for the north"
        );
        drop(kept);
        assert_eq!(receiver.try_receive().unwrap().0, 3);
    }

    #[test]
    fn every_queued_job_runs_exactly_once() {
        let (sender, receiver) = channel(10_000, 4);
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                std::thread::spawn(move || {
                    let mut received = Vec::new();
                    while let Some((job, _turn)) = receiver.receive() {
                        received.push(job);
                    }
                    received
                })
            })
            .collect();
        drop(receiver);
        for number in 0..2_000_u32 {
            let tenant = school(["north", "south", "west"][number as usize % 3]);
            sender.try_send(tenant, number).unwrap();
        }
        drop(sender);
        let mut received: Vec<u32> = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
        received.sort_unstable();
        assert_eq!(received, (0..2_000).collect::<Vec<_>>());
    }

    #[test]
    fn queue_without_receiver_is_closed() {
        let (sender, receiver) = channel(10, 1);
        drop(receiver);
        assert_eq!(sender.try_send(None, 1), Err(TrySendError::Closed));
    }
}
