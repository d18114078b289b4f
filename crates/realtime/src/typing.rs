//! Typing activity of groups: who is writing, and the number of activity events in each of the last 20 minutes. It is
//! kept in memory only and is never stored or logged.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::id::{GroupId, OrganizationId, UserId};
use domain::time::Timestamp;

/// Minutes that a board shows.
pub const MINUTES: usize = 20;
/// A user counts as writing for this long after an activity event, in seconds.
const TYPING_SECONDS: i64 = 30;

/// The key of a group.
pub type GroupKey = (OrganizationId, GroupId);

/// The groups with recent activity.
#[derive(Default)]
pub struct TypingActivity(Mutex<TypingState>);

#[derive(Default)]
struct TypingState {
    by_group: HashMap<GroupKey, GroupActivity>,
    changed: HashSet<GroupKey>,
}

#[derive(Default)]
struct GroupActivity {
    writing: HashMap<UserId, Timestamp>,
    minutes: BTreeMap<i64, u32>,
}

impl TypingActivity {
    /// Records that a user is writing.
    pub fn record(&self, group_key: GroupKey, user: UserId, now: Timestamp) {
        let mut state = self.state();
        let activity = state.by_group.entry(group_key.clone()).or_default();
        activity.writing.insert(user, now);
        *activity.minutes.entry(minute(now)).or_default() += 1;
        state.changed.insert(group_key);
    }

    /// The users who are writing in a group, and its event counts per minute; the last one is the current minute.
    pub fn get(&self, group_key: &GroupKey, now: Timestamp) -> (Vec<UserId>, [u32; MINUTES]) {
        let state = self.state();
        let Some(activity) = state.by_group.get(group_key) else {
            return (Vec::new(), [0; MINUTES]);
        };
        let mut writing: Vec<UserId> = activity
            .writing
            .iter()
            .filter(|(_, last_event)| is_recent(**last_event, now))
            .map(|(user, _)| user.clone())
            .collect();
        writing.sort();
        let mut counts = [0; MINUTES];
        for (count, minute) in counts.iter_mut().rev().zip((0..=minute(now)).rev()) {
            *count = activity.minutes.get(&minute).copied().unwrap_or_default();
        }
        (writing, counts)
    }

    /// Takes the groups that changed since the last call: a user started or stopped writing.
    pub fn take_changed(&self, now: Timestamp) -> HashSet<GroupKey> {
        let mut state = self.state();
        let mut changed = std::mem::take(&mut state.changed);
        for (group_key, activity) in &mut state.by_group {
            let before = activity.writing.len();
            activity.writing.retain(|_, last_event| is_recent(*last_event, now));
            if activity.writing.len() < before {
                changed.insert(group_key.clone());
            }
        }
        changed
    }

    /// Removes minutes that no board shows any more.
    pub fn remove_expired(&self, now: Timestamp) {
        let oldest = minute(now) - i64::try_from(MINUTES).unwrap_or(i64::MAX) + 1;
        self.state().by_group.retain(|_, activity| {
            activity.minutes = activity.minutes.split_off(&oldest);
            !activity.minutes.is_empty() || !activity.writing.is_empty()
        });
    }

    fn state(&self) -> MutexGuard<'_, TypingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn minute(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(60_000)
}

fn is_recent(last_event: Timestamp, now: Timestamp) -> bool {
    now < last_event.plus_seconds(TYPING_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + seconds * 1000)
    }

    fn group_key(group: &str) -> GroupKey {
        (OrganizationId::new("north"), GroupId::new(group))
    }

    #[test]
    fn typing_user_is_listed_in_that_group_briefly() {
        let (by_group, ben) = (TypingActivity::default(), UserId::new("ben"));
        by_group.record(group_key("g"), ben.clone(), at(0));
        assert_eq!(by_group.get(&group_key("g"), at(29)).0, [ben]);
        assert!(by_group.get(&group_key("g"), at(30)).0.is_empty());
        assert!(by_group.get(&group_key("h"), at(0)).0.is_empty());
    }

    #[test]
    fn typing_is_emitted_at_start_and_end_only() {
        let by_group = TypingActivity::default();
        by_group.record(group_key("g"), UserId::new("ben"), at(0));
        assert_eq!(by_group.take_changed(at(1)), HashSet::from([group_key("g")]));
        assert!(by_group.take_changed(at(2)).is_empty());
        assert_eq!(by_group.take_changed(at(31)), HashSet::from([group_key("g")]));
        assert!(by_group.take_changed(at(32)).is_empty());
    }

    #[test]
    fn typing_minutes_shift_and_expire() {
        let by_group = TypingActivity::default();
        for second in [0, 10, 65] {
            by_group.record(group_key("g"), UserId::new("ben"), at(second));
        }
        let counts = |now| by_group.get(&group_key("g"), at(now)).1;
        assert_eq!(counts(70)[18..], [2, 1]);
        assert_eq!(counts(19 * 60)[..2], [2, 1]);
        assert_eq!(counts(20 * 60)[0], 1);
        by_group.remove_expired(at(20 * 60));
        assert_eq!(counts(20 * 60)[0], 1);
        by_group.take_changed(at(21 * 60));
        by_group.remove_expired(at(21 * 60));
        assert!(by_group.state().by_group.is_empty());
    }
}
