//! Organizations: when one closes, its sockets are cut off.

use model::change::organization::OrganizationChange;
use model::news::{KillReason, Party};

use super::telling::Telling;

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
        // Whoever came back meanwhile sits there without rooms.
        OrganizationChange::Activated {
            organization: _,
            sessions,
        } => telling.resync(sessions.iter().cloned().map(Party::Session).collect(), Vec::new()),
        OrganizationChange::Created { .. } | OrganizationChange::Updated { .. } | OrganizationChange::Purged { .. } => {
        }
    }
}
