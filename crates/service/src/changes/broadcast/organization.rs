//! Events of organizations. When an organization is closed, the sockets of its members are closed.

use model::change::organization::OrganizationChange;
use model::news::{Event, KillReason, Party};

use super::telling::{Telling, names};
use api_types::event::OrganizationUpdated;

pub fn tell(change: &OrganizationChange, telling: &mut Telling<'_>) {
    match change {
        OrganizationChange::Suspended {
            organization: _,
            sessions,
        }
        | OrganizationChange::Deleted {
            organization: _,
            sessions,
        } => {
            for session in sessions {
                telling.kill(Party::Session(session.clone()), KillReason::OrganizationClosed);
            }
        }
        // Sockets that connected during the suspension have no rooms.
        OrganizationChange::Activated {
            organization: _,
            sessions,
        } => telling.resync(sessions.iter().cloned().map(Party::Session).collect(), Vec::new()),
        OrganizationChange::Updated {
            organization: _,
            changed,
        } => {
            let told = Telling::event_without_class(Event::OrganizationUpdated);
            let rest = OrganizationUpdated {
                changed: &names(changed),
            };
            telling.tell(&told, vec![telling.organization()], rest);
        }
        OrganizationChange::Created { .. } | OrganizationChange::Purged { .. } => {}
    }
}

/// Notifies administrators that one of their lists changed.
pub fn list_changed(list: &str, telling: &mut Telling<'_>) {
    let told = Telling::event_without_class(Event::OrganizationUpdated);
    let rest = OrganizationUpdated { changed: &[list] };
    telling.tell(&told, vec![telling.organization_admins()], rest);
}
