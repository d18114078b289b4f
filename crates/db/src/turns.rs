//! The lines in front of the threads that own the connections: a school stands in its own, in the order in which it
//! came, and the schools take turns. However much one of them asks for, another waits for one job of each, not for all.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::id::OrganizationId;

/// Who stands in line: an organization, or the service itself (sign-in, housekeeping), which is one among them.
pub type Party = Option<OrganizationId>;

/// How long a school that had a turn keeps a worker free for the next of its turns.
const COMPANY: Duration = Duration::from_mins(1);

/// Items of many parties, taken out in turns.
#[derive(Debug)]
pub struct Lines<T> {
    waiting_of: HashMap<Party, VecDeque<T>>,
    /// Parties with something in line, the next one first.
    order: VecDeque<Party>,
    /// How much is being done for whom.
    running: HashMap<Party, usize>,
    waiting: usize,
    /// How much is being done for everybody.
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
    /// How much waits.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// How much of one party waits.
    pub fn waiting_of(&self, party: &Party) -> usize {
        self.waiting_of.get(party).map_or(0, VecDeque::len)
    }

    /// How much is being done.
    pub fn running(&self) -> usize {
        self.busy
    }

    /// Whether `capacity` has no room for more of this party: all places are taken, and it has its share of them. Whoever
    /// has nothing in line is always let in, so a crowd of one school is no reason to refuse another.
    pub fn is_full_for(&self, party: &Party, capacity: usize) -> bool {
        let own = self.waiting_of(party);
        self.waiting >= capacity && own > 0 && own >= capacity / self.order.len().max(1)
    }

    /// Puts something at the end of its party's line.
    pub fn push(&mut self, party: Party, item: T) {
        self.waiting += 1;
        let line = self.waiting_of.entry(party.clone()).or_default();
        if line.is_empty() {
            self.order.push_back(party);
        }
        line.push_back(item);
    }

    /// The next item of the first party that may have one: `most` says how many of a party may run at once. It counts as
    /// running until [`Lines::done`].
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

    /// Something that was taken out is done.
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

/// Why a job was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The party has its share of a full line.
    Full,
    /// Nobody serves this line any more.
    Closed,
}

/// The end of a line at which jobs are put in; the last copy that goes closes it.
pub struct Entrance<T>(Arc<Shared<T>>, Arc<Shut<T>>);

/// The end at which workers take them out; copies are the same one, and the last that goes closes it.
pub struct Exit<T>(Arc<Shared<T>>, Arc<Abandoned<T>>);

/// A job on its way: while this lives it counts against the turns of its party.
pub struct Turn<T> {
    shared: Arc<Shared<T>>,
    party: Party,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    bell: Condvar,
    /// Jobs that may wait before more of the same party is refused.
    capacity: usize,
    /// How many threads serve the line.
    workers: usize,
}

struct State<T> {
    lines: Lines<T>,
    /// The organization that had the last turn, and the last one before it that was another: whether a party is alone.
    latest: Option<(Party, Instant)>,
    before: Option<(Party, Instant)>,
    is_closed: bool,
}

/// Nobody puts anything in any more.
struct Shut<T>(Arc<Shared<T>>);

/// Nobody takes anything out any more.
struct Abandoned<T>(Arc<Shared<T>>);

/// A line for so many jobs, served by so many workers.
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
    /// Puts a job into the line of its party, unless there is no room for it.
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

    /// How many jobs of one party are queued and not yet taken by a worker.
    pub fn waiting_of(&self, party: &Party) -> usize {
        self.0.lock().lines.waiting_of(party)
    }
}

impl<T> Exit<T> {
    /// Waits for the next job; nothing when the line is closed and empty.
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

    /// The next job, if one waits.
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
            // A school that is not alone leaves a worker to the others, even for what it asked first.
            Some(_) if self.workers > 1 && has_company(party, [latest, before], now) => self.workers - 1,
            // What the service itself does is short, and sign-ins belong to everybody.
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

/// Whether another school has had a turn lately.
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
        // What this party was kept from may go on now.
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
        // Whoever waits for one of these learns that it will not be done.
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
        // Half of the places are its own, and all are taken.
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
        // Alone it has both.
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
