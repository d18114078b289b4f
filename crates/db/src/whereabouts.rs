//! In which organization a session or a document was seen last: only whose line its next look-up waits in. Without it the
//! look-ups of everybody would wait in one line, and a school that asks for very much would hold up all others.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use model::id::OrganizationId;

/// What a generation remembers; both together stay below 4 MiB.
const CROWD: usize = 16_384;

/// What this instance remembers; copies are the same.
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
    /// Where the session of a token, or the document of an id, was seen last, if it was lately.
    pub fn of(&self, name: &str) -> Option<OrganizationId> {
        let key = self.0.hasher.hash_one(name);
        let generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let found = generations.current.get(&key).or_else(|| generations.before.get(&key));
        found.cloned()
    }

    /// Remembers where it was seen.
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
