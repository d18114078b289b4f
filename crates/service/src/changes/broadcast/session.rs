//! Socket commands for sessions: an ended session closes its sockets, another organization changes their rooms.

use model::change::session::SessionChange;
use model::id::SessionId;
use model::news::{KillReason, Party, Signal};

use super::telling::Telling;

pub fn tell(change: &SessionChange, telling: &mut Telling<'_>) {
    telling.order(orders(change));
}

/// Returns the commands to the sockets of every instance. They emit no event, so they need no organization.
pub fn orders(change: &SessionChange) -> Vec<Signal> {
    match change {
        SessionChange::Ended {
            user: _,
            sessions,
            reason,
        } => {
            let kill = |session: &SessionId| Signal::Kill {
                party: Party::Session(session.clone()),
                reason: *reason,
            };
            sessions.iter().map(kill).collect()
        }
        SessionChange::RevokedByAdmin { user: _, session } => vec![Signal::Kill {
            party: Party::Session(session.clone()),
            reason: KillReason::Revoked,
        }],
        SessionChange::OrganizationChosen {
            session,
            organization: _,
        } => vec![Signal::Resync {
            parties: vec![Party::Session(session.clone())],
            leave: Vec::new(),
        }],
        SessionChange::LoginFailed { .. } => Vec::new(),
    }
}
