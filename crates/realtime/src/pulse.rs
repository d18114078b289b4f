//! Typing activity of groups: who is writing, and the number of activity events in each of the last 20 minutes. It is
//! kept in memory only and is never stored or logged.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::id::{GroupId, OrganizationId, UserId};
use model::time::Timestamp;

/// Minutes that a board shows.
pub const MINUTES: usize = 20;
/// A user counts as writing for this long after an activity event, in seconds.
const LATELY_SECONDS: i64 = 30;

/// The key of a group.
pub type Place = (OrganizationId, GroupId);

/// The groups with recent activity.
#[derive(Default)]
pub struct Pulses(Mutex<Groups>);

#[derive(Default)]
struct Groups {
    pulses: HashMap<Place, Pulse>,
    changed: HashSet<Place>,
}

#[derive(Default)]
struct Pulse {
    writing: HashMap<UserId, Timestamp>,
    minutes: BTreeMap<i64, u32>,
}

impl Pulses {
    /// Records that a user is writing.
    pub fn note(&self, place: Place, user: UserId, now: Timestamp) {
        let mut groups = self.groups();
        let pulse = groups.pulses.entry(place.clone()).or_default();
        pulse.writing.insert(user, now);
        *pulse.minutes.entry(minute(now)).or_default() += 1;
        groups.changed.insert(place);
    }

    /// The users who are writing in a group, and its event counts per minute; the last one is the current minute.
    pub fn of(&self, place: &Place, now: Timestamp) -> (Vec<UserId>, [u32; MINUTES]) {
        let groups = self.groups();
        let Some(pulse) = groups.pulses.get(place) else {
            return (Vec::new(), [0; MINUTES]);
        };
        let mut writing: Vec<UserId> = pulse
            .writing
            .iter()
            .filter(|(_, said)| is_lately(**said, now))
            .map(|(user, _)| user.clone())
            .collect();
        writing.sort();
        let mut counts = [0; MINUTES];
        for (count, minute) in counts.iter_mut().rev().zip((0..=minute(now)).rev()) {
            *count = pulse.minutes.get(&minute).copied().unwrap_or_default();
        }
        (writing, counts)
    }

    /// Takes the groups that changed since the last call: a user started or stopped writing.
    pub fn take_changed(&self, now: Timestamp) -> HashSet<Place> {
        let mut groups = self.groups();
        let mut changed = std::mem::take(&mut groups.changed);
        for (place, pulse) in &mut groups.pulses {
            let before = pulse.writing.len();
            pulse.writing.retain(|_, said| is_lately(*said, now));
            if pulse.writing.len() < before {
                changed.insert(place.clone());
            }
        }
        changed
    }

    /// Removes minutes that no board shows any more.
    pub fn forget_past(&self, now: Timestamp) {
        let oldest = minute(now) - i64::try_from(MINUTES).unwrap_or(i64::MAX) + 1;
        self.groups().pulses.retain(|_, pulse| {
            pulse.minutes = pulse.minutes.split_off(&oldest);
            !pulse.minutes.is_empty() || !pulse.writing.is_empty()
        });
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn minute(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(60_000)
}

fn is_lately(said: Timestamp, now: Timestamp) -> bool {
    now < said.plus_seconds(LATELY_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + seconds * 1000)
    }

    fn place(group: &str) -> Place {
        (OrganizationId::new("north"), GroupId::new(group))
    }

    #[test]
    fn whoever_writes_is_named_in_that_group_alone_and_not_for_long() {
        let (pulses, ben) = (Pulses::default(), UserId::new("ben"));
        pulses.note(place("g"), ben.clone(), at(0));
        assert_eq!(pulses.of(&place("g"), at(29)).0, [ben]);
        assert!(pulses.of(&place("g"), at(30)).0.is_empty());
        assert!(pulses.of(&place("h"), at(0)).0.is_empty());
    }

    #[test]
    fn a_group_is_told_when_writing_begins_and_when_it_ends_and_not_in_between() {
        let pulses = Pulses::default();
        pulses.note(place("g"), UserId::new("ben"), at(0));
        assert_eq!(pulses.take_changed(at(1)), HashSet::from([place("g")]));
        assert!(pulses.take_changed(at(2)).is_empty());
        assert_eq!(pulses.take_changed(at(31)), HashSet::from([place("g")]));
        assert!(pulses.take_changed(at(32)).is_empty());
    }

    #[test]
    fn minutes_move_to_the_left_and_fall_off() {
        let pulses = Pulses::default();
        for second in [0, 10, 65] {
            pulses.note(place("g"), UserId::new("ben"), at(second));
        }
        let counts = |now| pulses.of(&place("g"), at(now)).1;
        assert_eq!(counts(70)[18..], [2, 1]);
        assert_eq!(counts(19 * 60)[..2], [2, 1]);
        assert_eq!(counts(20 * 60)[0], 1);
        pulses.forget_past(at(20 * 60));
        assert_eq!(counts(20 * 60)[0], 1);
        pulses.take_changed(at(21 * 60));
        pulses.forget_past(at(21 * 60));
        assert!(pulses.groups().pulses.is_empty());
    }
}
