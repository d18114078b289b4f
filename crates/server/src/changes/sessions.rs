//! What the sockets do when something happens to sessions. Sessions belong to no organization, so nothing of this stands
//! in a school's log.

use model::change::session::SessionChange;
use model::news::{Party, Signal};

/// The orders to the sockets of every instance.
pub fn signals(change: &SessionChange) -> Vec<Signal> {
    match change {
        SessionChange::Ended { sessions, reason, .. } => {
            let kill = |session: &model::id::SessionId| Signal::Kill {
                party: Party::Session(session.clone()),
                reason: *reason,
            };
            sessions.iter().map(kill).collect()
        }
        SessionChange::OrganizationChosen { session, .. } => vec![Signal::Resync {
            parties: vec![Party::Session(session.clone())],
            leave: Vec::new(),
        }],
        SessionChange::LoginFailed { .. } => Vec::new(),
    }
}
