//! Presence: users connected to this instance, and to other instances according to their messages. It is kept in memory
//! only; entries of other instances expire unless they are repeated.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::id::{OrganizationId, UserId};

/// Lifetime of an entry of another instance, three times the interval at which they are repeated.
const BELIEVED: Duration = Duration::from_secs(30);

/// A user in an organization.
pub type Guest = (OrganizationId, UserId);

/// The presence of users by instance.
#[derive(Default)]
pub struct Presence(Mutex<Places>);

#[derive(Default)]
struct Places {
    /// Shared with the seats, so that each of ten thousand names is stored once.
    here: HashSet<Arc<Guest>>,
    elsewhere: HashMap<Arc<Guest>, HashMap<String, Instant>>,
    anywhere: HashSet<Arc<Guest>>,
}

/// Changes since the last update.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Users who connected to this instance.
    pub came: Vec<Arc<Guest>>,
    /// Users who disconnected from this instance.
    pub went: Vec<Arc<Guest>>,
    /// Users who went online or offline, over all instances.
    pub changed: Vec<Arc<Guest>>,
}

impl Presence {
    /// Updates the users connected to this instance (`None` if unchanged) and returns the changes.
    pub fn refresh(&self, here: Option<HashSet<Arc<Guest>>>, now: Instant) -> Turn {
        let mut places = self.places();
        if here.is_none() && places.elsewhere.is_empty() && places.anywhere.len() == places.here.len() {
            return Turn::default();
        }
        let here = here.unwrap_or_else(|| places.here.clone());
        places.elsewhere.retain(|_, told| {
            told.retain(|_, at| now.saturating_duration_since(*at) < BELIEVED);
            !told.is_empty()
        });
        let anywhere: HashSet<Arc<Guest>> = here.iter().chain(places.elsewhere.keys()).cloned().collect();
        let turn = Turn {
            came: here.difference(&places.here).cloned().collect(),
            went: places.here.difference(&here).cloned().collect(),
            changed: anywhere.symmetric_difference(&places.anywhere).cloned().collect(),
        };
        places.here = here;
        places.anywhere = anywhere;
        turn
    }

    /// Adds users that another instance reported as connected.
    pub fn note(&self, instance: &str, guests: Vec<Guest>, now: Instant) {
        let mut places = self.places();
        for guest in guests {
            places
                .elsewhere
                .entry(Arc::new(guest))
                .or_default()
                .insert(instance.to_owned(), now);
        }
    }

    /// Removes users that another instance reported as disconnected.
    pub fn forget(&self, instance: &str, guests: &[Guest]) {
        let mut places = self.places();
        for guest in guests {
            if let Some(told) = places.elsewhere.get_mut(guest) {
                told.remove(instance);
            }
        }
    }

    /// Whether another instance reported a user as connected.
    pub fn is_elsewhere(&self, guest: &Guest, now: Instant) -> bool {
        let places = self.places();
        let told = places.elsewhere.get(guest).into_iter().flatten();
        told.into_iter()
            .any(|(_, at)| now.saturating_duration_since(*at) < BELIEVED)
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(user: &str) -> Guest {
        (OrganizationId::new("north"), UserId::new(user))
    }

    fn here(users: &[&str]) -> HashSet<Arc<Guest>> {
        users.iter().map(|user| Arc::new(guest(user))).collect()
    }

    fn told(guests: &[Arc<Guest>]) -> Vec<Guest> {
        guests.iter().map(|guest| Guest::clone(guest)).collect()
    }

    #[test]
    fn coming_and_going_is_told_once() {
        let (presence, now) = (Presence::default(), Instant::now());
        let turn = presence.refresh(Some(here(&["ben"])), now);
        assert_eq!(
            (told(&turn.came), told(&turn.changed)),
            (vec![guest("ben")], vec![guest("ben")])
        );
        assert_eq!(presence.refresh(Some(here(&["ben"])), now), Turn::default());
        assert_eq!(presence.refresh(None, now), Turn::default(), "nobody moved");
        let turn = presence.refresh(Some(here(&[])), now);
        assert_eq!(
            (told(&turn.went), told(&turn.changed)),
            (vec![guest("ben")], vec![guest("ben")])
        );
    }

    #[test]
    fn whoever_is_at_another_instance_is_online_until_it_says_no_more() {
        let (presence, now) = (Presence::default(), Instant::now());
        presence.note("second", vec![guest("ben"), guest("cem")], now);
        assert!(presence.is_elsewhere(&guest("ben"), now));
        assert_eq!(presence.refresh(None, now).changed.len(), 2);
        // Ben is connected here as well: nothing changes, also not when Ben disconnects there.
        assert!(presence.refresh(Some(here(&["ben"])), now).changed.is_empty());
        presence.forget("second", &[guest("ben")]);
        assert!(presence.refresh(None, now).changed.is_empty());
        let later = now + BELIEVED;
        assert!(!presence.is_elsewhere(&guest("cem"), later));
        let turn = presence.refresh(None, later);
        assert_eq!(told(&turn.changed), [guest("cem")]);
        assert!(turn.went.is_empty(), "Ben is here all the time");
    }
}
