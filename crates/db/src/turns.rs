//! Fair queue in front of the database threads: FIFO per tenant, round-robin between tenants. However many jobs one
//! tenant enqueues, another waits for at most one job of each tenant.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::id::OrganizationId;

/// The key of a queue: an organization, or the service itself (sign-in, housekeeping), which counts as one tenant.
pub type Party = Option<OrganizationId>;

/// For how long after a job of one organization a worker is kept free for it.
const COMPANY: Duration = Duration::from_mins(1);

/// Items of many tenants, dequeued round-robin.
#[derive(Debug)]
pub struct Lines<T> {
    waiting_of: HashMap<Party, VecDeque<T>>,
    /// Tenants with queued items, the next one first.
    order: VecDeque<Party>,
    /// The number of running items per tenant.
    running: HashMap<Party, usize>,
    waiting: usize,
    /// The number of running items of all tenants.
    busy: usize,
}

impl<T> Default for Lines<T> {
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

impl<T> Lines<T> {
    /// Returns the number of queued items.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the number of queued items of a tenant.
    pub fn waiting_of(&self, party: &Party) -> usize {
        self.waiting_of.get(party).map_or(0, VecDeque::len)
    }

    /// Returns the number of running items.
    pub fn running(&self) -> usize {
        self.busy
    }

    /// Returns whether the queue accepts no further item of this tenant: `capacity` is reached and the tenant has its
    /// share of it. A tenant without queued items is always accepted, so a flood by one tenant does not reject others.
    pub fn is_full_for(&self, party: &Party, capacity: usize) -> bool {
        let own = self.waiting_of(party);
        self.waiting >= capacity && own > 0 && own >= capacity / self.order.len().max(1)
    }

    /// Appends an item to the queue of its tenant.
    pub fn push(&mut self, party: Party, item: T) {
        self.waiting += 1;
        let line = self.waiting_of.entry(party.clone()).or_default();
        if line.is_empty() {
            self.order.push_back(party);
        }
        line.push_back(item);
    }

    /// Dequeues the next item of the first tenant below its limit: `most` returns the number of items of a tenant that
    /// may run concurrently. The item counts as running until [`Lines::done`].
    pub fn take(&mut self, most: impl Fn(&Party) -> usize) -> Option<(Party, T)> {
        let running = &self.running;
        let is_free = |party: &Party| running.get(party).copied().unwrap_or(0) < most(party);
        let place = self.order.iter().position(is_free)?;
        let party = self.order.remove(place)?;
        let line = self.waiting_of.get_mut(&party)?;
        let item = line.pop_front()?;
        if line.is_empty() {
            self.waiting_of.remove(&party);
        } else {
            self.order.push_back(party.clone());
        }
        self.waiting -= 1;
        self.busy += 1;
        *self.running.entry(party.clone()).or_default() += 1;
        Some((party, item))
    }

    /// Ends a running item.
    pub fn done(&mut self, party: &Party) {
        if let Some(running) = self.running.get_mut(party) {
            *running -= 1;
            self.busy -= 1;
            if *running == 0 {
                self.running.remove(party);
            }
        }
    }
}

/// The reason why a job was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The tenant has its share of a full queue.
    Full,
    /// The queue has no workers any more.
    Closed,
}

/// The sending half; dropping the last clone closes the queue.
pub struct Entrance<T>(Arc<Shared<T>>, Arc<Shut<T>>);

/// The receiving half. Clones share the queue; dropping the last one closes it.
pub struct Exit<T>(Arc<Shared<T>>, Arc<Abandoned<T>>);

/// A permit for a running job: until it is dropped, the job counts against the limit of its tenant.
pub struct Turn<T> {
    shared: Arc<Shared<T>>,
    party: Party,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    bell: Condvar,
    /// Maximum number of queued jobs before tenants with their share are rejected.
    capacity: usize,
    /// The number of worker threads.
    workers: usize,
}

struct State<T> {
    lines: Lines<T>,
    /// The organization of the last job and the last different one before it, to detect whether a tenant is alone.
    latest: Option<(Party, Instant)>,
    before: Option<(Party, Instant)>,
    is_closed: bool,
}

/// Closes the queue when the last sender is dropped.
struct Shut<T>(Arc<Shared<T>>);

/// Closes the queue and drops its jobs when the last receiver is dropped.
struct Abandoned<T>(Arc<Shared<T>>);

/// Creates a queue with the given capacity for the given number of workers.
pub fn line<T>(capacity: usize, workers: usize) -> (Entrance<T>, Exit<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            lines: Lines::default(),
            latest: None,
            before: None,
            is_closed: false,
        }),
        bell: Condvar::new(),
        capacity,
        workers,
    });
    let entrance = Entrance(Arc::clone(&shared), Arc::new(Shut(Arc::clone(&shared))));
    let exit = Exit(Arc::clone(&shared), Arc::new(Abandoned(shared)));
    (entrance, exit)
}

impl<T> Clone for Entrance<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), Arc::clone(&self.1))
    }
}

impl<T> Clone for Exit<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), Arc::clone(&self.1))
    }
}

impl<T> Entrance<T> {
    /// Enqueues a job unless its tenant is over its share of a full queue.
    pub fn try_send(&self, party: Party, job: T) -> Result<(), Refused> {
        let mut state = self.0.lock();
        if state.is_closed {
            return Err(Refused::Closed);
        }
        if state.lines.is_full_for(&party, self.0.capacity) {
            return Err(Refused::Full);
        }
        state.lines.push(party, job);
        drop(state);
        self.0.bell.notify_one();
        Ok(())
    }

    /// Returns the number of queued jobs of a tenant.
    pub fn waiting_of(&self, party: &Party) -> usize {
        self.0.lock().lines.waiting_of(party)
    }
}

impl<T> Exit<T> {
    /// Waits for the next job; returns `None` when the queue is closed and empty.
    pub fn receive(&self) -> Option<(T, Turn<T>)> {
        let mut state = self.0.lock();
        loop {
            if let Some(found) = self.0.take(&mut state) {
                return Some(found);
            }
            if state.is_closed && state.lines.waiting() == 0 {
                return None;
            }
            state = self.0.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the next job without waiting.
    pub fn try_receive(&self) -> Option<(T, Turn<T>)> {
        let mut state = self.0.lock();
        self.0.take(&mut state)
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, state: &mut State<T>) -> Option<(T, Turn<T>)> {
        let now = Instant::now();
        let State {
            lines, latest, before, ..
        } = state;
        let most = |party: &Party| match party {
            // While other organizations are active, an organization leaves one worker to them, even for jobs enqueued
            // first.
            Some(_) if self.workers > 1 && has_company(party, [latest, before], now) => self.workers - 1,
            // Jobs of the service itself are short, and sign-ins affect all organizations.
            _ => usize::MAX,
        };
        let (party, job) = lines.take(most)?;
        if party.is_some() {
            match latest {
                Some((last, at)) if *last == party => *at = now,
                _ => *before = latest.replace((party.clone(), now)),
            }
        }
        let shared = Arc::clone(self);
        Some((job, Turn { shared, party }))
    }
}

/// Returns whether another organization ran a job recently.
fn has_company(party: &Party, turns: [&Option<(Party, Instant)>; 2], now: Instant) -> bool {
    let mut others = turns.into_iter().flatten().filter(|(other, _)| other != party);
    others.any(|(_, at)| now.saturating_duration_since(*at) < COMPANY)
}

impl<T> Drop for Turn<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.lines.done(&self.party);
        let is_closed = state.is_closed;
        drop(state);
        // A job of this tenant may have waited for the permit.
        if is_closed {
            self.shared.bell.notify_all();
        } else {
            self.shared.bell.notify_one();
        }
    }
}

impl<T> Drop for Shut<T> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.bell.notify_all();
    }
}

impl<T> Drop for Abandoned<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        let left = std::mem::take(&mut state.lines);
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

    fn school(name: &str) -> Party {
        Some(OrganizationId::new(name))
    }

    #[test]
    fn schools_take_turns_and_each_keeps_its_order() {
        let (entrance, exit) = line(100, 1);
        for number in 0..5 {
            entrance.try_send(school("north"), format!("north {number}")).unwrap();
        }
        for number in 0..2 {
            entrance.try_send(school("south"), format!("south {number}")).unwrap();
        }
        entrance.try_send(None, "service 0".to_owned()).unwrap();
        let order: Vec<String> = std::iter::from_fn(|| exit.try_receive().map(|(job, _)| job)).collect();
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
    fn a_school_that_has_just_been_served_comes_after_who_waits() {
        let (entrance, exit) = line(100, 1);
        entrance.try_send(school("north"), 1).unwrap();
        entrance.try_send(school("north"), 2).unwrap();
        drop(exit.try_receive());
        entrance.try_send(school("south"), 3).unwrap();
        entrance.try_send(school("north"), 4).unwrap();
        let order: Vec<i32> = std::iter::from_fn(|| exit.try_receive().map(|(job, _)| job)).collect();
        assert_eq!(order, [2, 3, 4]);
    }

    #[test]
    fn a_crowd_of_one_school_refuses_that_school_only() {
        let (entrance, exit) = line(8, 1);
        for number in 0..8 {
            entrance.try_send(school("north"), number).unwrap();
        }
        assert_eq!(entrance.try_send(school("north"), 8), Err(Refused::Full));
        for number in 0..4 {
            entrance.try_send(school("south"), number).unwrap();
        }
        // North has half of the capacity, and all of it is in use.
        assert_eq!(entrance.try_send(school("south"), 4), Err(Refused::Full));
        assert_eq!(entrance.try_send(school("north"), 8), Err(Refused::Full));
        entrance.try_send(school("west"), 0).unwrap();
        entrance.try_send(None, 0).unwrap();
        for _ in 0..14 {
            exit.try_receive().unwrap();
        }
        assert!(exit.try_receive().is_none());
        entrance.try_send(school("north"), 8).unwrap();
    }

    #[test]
    fn a_school_in_company_leaves_a_worker_free() {
        let (entrance, exit) = line(100, 2);
        for number in 0..3 {
            entrance.try_send(school("north"), number).unwrap();
        }
        // A single organization can use both workers.
        let (first, second) = (exit.try_receive().unwrap(), exit.try_receive().unwrap());
        drop((first, second));
        entrance.try_send(school("south"), 10).unwrap();
        let (held, kept) = exit.try_receive().unwrap();
        assert_eq!(held, 2, "it was first in line");
        let (job, _south) = exit.try_receive().unwrap();
        assert_eq!(job, 10);
        entrance.try_send(school("north"), 3).unwrap();
        entrance.try_send(None, 20).unwrap();
        assert_eq!(exit.try_receive().unwrap().0, 20, "the service is not a school");
        assert!(exit.try_receive().is_none(), "the other worker is not for the north");
        drop(kept);
        assert_eq!(exit.try_receive().unwrap().0, 3);
    }

    #[test]
    fn nobody_starves_and_every_job_is_done_once() {
        let (entrance, exit) = line(10_000, 4);
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let exit = exit.clone();
                std::thread::spawn(move || {
                    let mut done = Vec::new();
                    while let Some((job, _turn)) = exit.receive() {
                        done.push(job);
                    }
                    done
                })
            })
            .collect();
        drop(exit);
        for number in 0..2_000_u32 {
            let party = school(["north", "south", "west"][number as usize % 3]);
            entrance.try_send(party, number).unwrap();
        }
        drop(entrance);
        let mut done: Vec<u32> = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
        done.sort_unstable();
        assert_eq!(done, (0..2_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_line_nobody_serves_is_closed() {
        let (entrance, exit) = line(10, 1);
        drop(exit);
        assert_eq!(entrance.try_send(None, 1), Err(Refused::Closed));
    }
}
