//! Presence: users connected to this instance, and to other instances according to their messages. It is kept in memory
//! only; entries of other instances expire unless they are repeated.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::id::{OrganizationId, UserId};

/// Lifetime of an entry of another instance, three times the interval at which they are repeated.
const REPORT_LIFETIME: Duration = Duration::from_secs(30);

/// A user in an organization.
pub type OrganizationUser = (OrganizationId, UserId);

/// The presence of users by instance.
#[derive(Default)]
pub struct Presence(Mutex<PresenceState>);

#[derive(Default)]
struct PresenceState {
    /// Shared with the seats, so that each of ten thousand names is stored once.
    local: HashSet<Arc<OrganizationUser>>,
    remote: HashMap<Arc<OrganizationUser>, HashMap<String, Instant>>,
    online: HashSet<Arc<OrganizationUser>>,
}

/// Changes since the last update.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PresenceChanges {
    /// Users who connected to this instance.
    pub connected: Vec<Arc<OrganizationUser>>,
    /// Users who disconnected from this instance.
    pub disconnected: Vec<Arc<OrganizationUser>>,
    /// Users who went online or offline, over all instances.
    pub changed: Vec<Arc<OrganizationUser>>,
}

impl Presence {
    /// Updates the users connected to this instance (`None` if unchanged) and returns the changes.
    pub fn update(&self, local: Option<HashSet<Arc<OrganizationUser>>>, now: Instant) -> PresenceChanges {
        let mut state = self.state();
        if local.is_none() && state.remote.is_empty() && state.online.len() == state.local.len() {
            return PresenceChanges::default();
        }
        let local = local.unwrap_or_else(|| state.local.clone());
        state.remote.retain(|_, reports| {
            reports.retain(|_, at| now.saturating_duration_since(*at) < REPORT_LIFETIME);
            !reports.is_empty()
        });
        let online: HashSet<Arc<OrganizationUser>> = local.iter().chain(state.remote.keys()).cloned().collect();
        let changes = PresenceChanges {
            connected: local.difference(&state.local).cloned().collect(),
            disconnected: state.local.difference(&local).cloned().collect(),
            changed: online.symmetric_difference(&state.online).cloned().collect(),
        };
        state.local = local;
        state.online = online;
        changes
    }

    /// Adds users that another instance reported as connected.
    pub fn insert_remote(&self, instance: &str, users: Vec<OrganizationUser>, now: Instant) {
        let mut state = self.state();
        for organization_user in users {
            state
                .remote
                .entry(Arc::new(organization_user))
                .or_default()
                .insert(instance.to_owned(), now);
        }
    }

    /// Removes users that another instance reported as disconnected.
    pub fn remove_remote(&self, instance: &str, users: &[OrganizationUser]) {
        let mut state = self.state();
        for organization_user in users {
            if let Some(reports) = state.remote.get_mut(organization_user) {
                reports.remove(instance);
            }
        }
    }

    /// Whether another instance reported a user as connected.
    pub fn is_online_remotely(&self, organization_user: &OrganizationUser, now: Instant) -> bool {
        let state = self.state();
        let reports = state.remote.get(organization_user).into_iter().flatten();
        reports
            .into_iter()
            .any(|(_, at)| now.saturating_duration_since(*at) < REPORT_LIFETIME)
    }

    fn state(&self) -> MutexGuard<'_, PresenceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn organization_user(user: &str) -> OrganizationUser {
        (OrganizationId::new("north"), UserId::new(user))
    }

    fn local(users: &[&str]) -> HashSet<Arc<OrganizationUser>> {
        users.iter().map(|user| Arc::new(organization_user(user))).collect()
    }

    fn reports(users: &[Arc<OrganizationUser>]) -> Vec<OrganizationUser> {
        users
            .iter()
            .map(|organization_user| OrganizationUser::clone(organization_user))
            .collect()
    }

    #[test]
    fn presence_changes_are_emitted_once() {
        let (presence, now) = (Presence::default(), Instant::now());
        let changes = presence.update(Some(local(&["ben"])), now);
        assert_eq!(
            (reports(&changes.connected), reports(&changes.changed)),
            (vec![organization_user("ben")], vec![organization_user("ben")])
        );
        assert_eq!(presence.update(Some(local(&["ben"])), now), PresenceChanges::default());
        assert_eq!(presence.update(None, now), PresenceChanges::default(), "nobody moved");
        let changes = presence.update(Some(local(&[])), now);
        assert_eq!(
            (reports(&changes.disconnected), reports(&changes.changed)),
            (vec![organization_user("ben")], vec![organization_user("ben")])
        );
    }

    #[test]
    fn user_at_other_instance_is_online_until_its_reports_end() {
        let (presence, now) = (Presence::default(), Instant::now());
        presence.insert_remote("second", vec![organization_user("ben"), organization_user("cem")], now);
        assert!(presence.is_online_remotely(&organization_user("ben"), now));
        assert_eq!(presence.update(None, now).changed.len(), 2);
        // Ben is connected here as well: nothing changes, also not when Ben disconnects there.
        assert!(presence.update(Some(local(&["ben"])), now).changed.is_empty());
        presence.remove_remote("second", &[organization_user("ben")]);
        assert!(presence.update(None, now).changed.is_empty());
        let later = now + REPORT_LIFETIME;
        assert!(!presence.is_online_remotely(&organization_user("cem"), later));
        let changes = presence.update(None, later);
        assert_eq!(reports(&changes.changed), [organization_user("cem")]);
        assert!(changes.disconnected.is_empty(), "Ben is here all the time");
    }
}
