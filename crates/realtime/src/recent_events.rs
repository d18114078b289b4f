//! Remembers the events of the last minutes. A client reads the data of its page before its socket has joined its rooms;
//! `ready` lists the events that it missed meanwhile, so that it fetches only what they name. Nothing is replayed.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use common::clock;
use domain::realtime::Event;

/// A page needs seconds from its first request until its socket is connected; slow ones need more.
const RETENTION: Duration = Duration::from_mins(2);
/// Limits the memory: about 200 bytes each.
const CAPACITY: usize = 4_096;

/// The events of the last minutes, and the time since which they are complete.
pub struct RecentEvents {
    /// Distinguishes this instance from others and from earlier runs, whose positions mean nothing here.
    instance: u32,
    started: Instant,
    state: Mutex<RecentState>,
}

#[derive(Default)]
struct RecentState {
    events: VecDeque<RecentEvent>,
    /// Microseconds since the start; earlier events are unknown.
    complete_since: u64,
}

struct RecentEvent {
    /// Microseconds since the start.
    at: u64,
    event: Event,
    rooms: Vec<String>,
    except: Vec<String>,
}

impl RecentEvents {
    pub fn new() -> Self {
        Self {
            instance: clock::random_seed(),
            started: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// The current position in the stream of events. Data that is read after this call contains every change whose event
    /// was recorded before. It is a time and no counter, because a counter would show the activity of other schools.
    pub fn position(&self) -> String {
        format!("{:08x}-{:x}", self.instance, self.micros())
    }

    /// Records an event before it is sent, so that a socket that joins meanwhile either receives it or finds it here.
    pub fn record(&self, event: Event, rooms: Vec<String>, except: Vec<String>) {
        let now = self.micros();
        let mut state = self.state();
        let oldest = now.saturating_sub(micros(RETENTION));
        while state.events.len() >= CAPACITY || state.events.front().is_some_and(|event| event.at < oldest) {
            if let Some(event) = state.events.pop_front() {
                state.complete_since = event.at + 1;
            }
        }
        // The time is read before the lock is acquired; the deque stays sorted.
        let at = state.events.back().map_or(now, |last| last.at.max(now));
        state.events.push_back(RecentEvent {
            at,
            event,
            rooms,
            except,
        });
    }

    /// Discards everything, because events may have been lost.
    pub fn clear(&self) {
        let now = self.micros();
        let mut state = self.state();
        state.events.clear();
        state.complete_since = now;
    }

    /// The events since a position that were sent to one of these rooms. `None` if they are unknown: the position is of
    /// another instance, invalid, or too old.
    pub fn missed(&self, since: &str, joined: &HashSet<String>) -> Option<Vec<Event>> {
        let (instance, at) = since.split_once('-')?;
        let at = u64::from_str_radix(at, 16).ok()?;
        let state = self.state();
        if u32::from_str_radix(instance, 16).ok()? != self.instance || at < state.complete_since {
            return None;
        }
        let is_joined = |rooms: &[String]| rooms.iter().any(|room| joined.contains(room));
        let newer = state.events.iter().rev().take_while(|event| event.at >= at);
        let missed = newer.filter(|event| is_joined(&event.rooms) && !is_joined(&event.except));
        let missed: BTreeSet<Event> = missed.map(|event| event.event).collect();
        Some(missed.into_iter().collect())
    }

    fn micros(&self) -> u64 {
        micros(self.started.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, RecentState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooms(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn joined(names: &[&str]) -> HashSet<String> {
        rooms(names).into_iter().collect()
    }

    /// A position after everything that was recorded.
    fn next_position(recent: &RecentEvents) -> String {
        let now = recent.micros();
        while recent.micros() == now {
            std::hint::spin_loop();
        }
        recent.position()
    }

    #[test]
    fn events_after_position_in_joined_rooms_are_missed_once() {
        let recent = RecentEvents::new();
        recent.record(Event::GroupHelp, rooms(&["staff"]), Vec::new());
        let since = next_position(&recent);
        assert_eq!(recent.missed(&since, &joined(&["staff"])), Some(Vec::new()));
        recent.record(Event::GroupUpdated, rooms(&["group", "staff"]), Vec::new());
        recent.record(Event::GroupUpdated, rooms(&["group"]), Vec::new());
        recent.record(Event::MessageNew, rooms(&["other"]), Vec::new());
        assert_eq!(
            recent.missed(&since, &joined(&["staff"])),
            Some(vec![Event::GroupUpdated])
        );
        assert_eq!(recent.missed(&since, &joined(&["elsewhere"])), Some(Vec::new()));
    }

    #[test]
    fn event_that_excludes_a_joined_room_is_not_missed() {
        let recent = RecentEvents::new();
        let since = recent.position();
        recent.record(Event::GroupUpdated, rooms(&["class"]), rooms(&["staff"]));
        assert_eq!(recent.missed(&since, &joined(&["class", "staff"])), Some(Vec::new()));
        assert_eq!(
            recent.missed(&since, &joined(&["class"])),
            Some(vec![Event::GroupUpdated])
        );
    }

    #[test]
    fn unknown_position_has_unknown_events() {
        let recent = RecentEvents::new();
        let since = recent.position();
        for position in ["", "-", "x-1", "00000000", "nothing", &RecentEvents::new().position()] {
            assert_eq!(recent.missed(position, &joined(&["staff"])), None, "{position}");
        }
        next_position(&recent);
        recent.clear();
        assert_eq!(recent.missed(&since, &joined(&["staff"])), None, "events were lost");
        assert_eq!(recent.missed(&recent.position(), &joined(&["staff"])), Some(Vec::new()));
    }

    #[test]
    fn position_before_discarded_events_has_unknown_events() {
        let recent = RecentEvents::new();
        let since = recent.position();
        for _ in 0..=CAPACITY {
            recent.record(Event::GroupUpdated, rooms(&["group"]), Vec::new());
        }
        assert_eq!(recent.missed(&since, &joined(&["group"])), None);
        assert_eq!(recent.state().events.len(), CAPACITY);
    }
}
