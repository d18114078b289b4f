//! Remembers the last known organization of a session or document, which selects the queue of its next look-up. Without
//! it all look-ups would share one queue, and the load of one organization would delay all others.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::OrganizationId;

/// Maximum number of entries per generation; two generations take less than 4 MiB.
const GENERATION_MAX: usize = 16_384;

/// A bounded in-memory map of this instance. Clones share it.
#[derive(Clone, Default)]
pub struct TenantHints(Arc<Inner>);

#[derive(Default)]
struct Inner {
    hasher: RandomState,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    current: HashMap<u64, OrganizationId>,
    previous: HashMap<u64, OrganizationId>,
}

impl TenantHints {
    /// Returns the last known organization of a session token or document id, if it was recorded recently.
    pub fn get(&self, key: &str) -> Option<OrganizationId> {
        let hash = self.0.hasher.hash_one(key);
        let generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let found = generations
            .current
            .get(&hash)
            .or_else(|| generations.previous.get(&hash));
        found.cloned()
    }

    /// Records the organization of a session token or document id.
    pub fn record(&self, key: &str, organization: &OrganizationId) {
        let hash = self.0.hasher.hash_one(key);
        let mut generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if generations.current.get(&hash) == Some(organization) {
            return;
        }
        if generations.current.len() >= GENERATION_MAX {
            generations.previous = std::mem::take(&mut generations.current);
        }
        generations.current.insert(hash, organization.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_hints_are_evicted_and_recent_ones_kept() {
        let tenant_hints = TenantHints::default();
        for number in 0..(3 * GENERATION_MAX) {
            tenant_hints.record(&number.to_string(), &OrganizationId::new("north"));
        }
        assert_eq!(tenant_hints.get("0"), None);
        let latest = (3 * GENERATION_MAX - 1).to_string();
        tenant_hints.record(&latest, &OrganizationId::new("south"));
        assert_eq!(tenant_hints.get(&latest), Some(OrganizationId::new("south")));
    }
}
