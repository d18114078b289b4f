//! Remembers the last known organization of a session or document, which selects the queue of its next look-up. Without
//! it all look-ups would share one queue, and the load of one organization would delay all others.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use model::id::OrganizationId;

/// Maximum number of entries per generation; two generations take less than 4 MiB.
const CROWD: usize = 16_384;

/// A bounded in-memory map of this instance. Clones share it.
#[derive(Clone, Default)]
pub struct Whereabouts(Arc<Parts>);

#[derive(Default)]
struct Parts {
    hasher: RandomState,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    current: HashMap<u64, OrganizationId>,
    before: HashMap<u64, OrganizationId>,
}

impl Whereabouts {
    /// Returns the last known organization of a session token or document id, if it was recorded recently.
    pub fn of(&self, name: &str) -> Option<OrganizationId> {
        let key = self.0.hasher.hash_one(name);
        let generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let found = generations.current.get(&key).or_else(|| generations.before.get(&key));
        found.cloned()
    }

    /// Records the organization of a session token or document id.
    pub fn note(&self, name: &str, organization: &OrganizationId) {
        let key = self.0.hasher.hash_one(name);
        let mut generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if generations.current.get(&key) == Some(organization) {
            return;
        }
        if generations.current.len() >= CROWD {
            generations.before = std::mem::take(&mut generations.current);
        }
        generations.current.insert(key, organization.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_forgotten_and_the_latest_are_known() {
        let whereabouts = Whereabouts::default();
        for number in 0..(3 * CROWD) {
            whereabouts.note(&number.to_string(), &OrganizationId::new("north"));
        }
        assert_eq!(whereabouts.of("0"), None);
        let latest = (3 * CROWD - 1).to_string();
        whereabouts.note(&latest, &OrganizationId::new("south"));
        assert_eq!(whereabouts.of(&latest), Some(OrganizationId::new("south")));
    }
}
