//! Socket commands for sessions: an ended session closes its sockets, another organization changes their rooms.

use domain::change::SessionChange;
use domain::id::SessionId;
use domain::realtime::{ConnectionTarget, KillReason, Signal};

use super::event_builder::EventBuilder;

pub fn emit(change: &SessionChange, builder: &mut EventBuilder<'_>) {
    builder.push_signals(signals(change));
}

/// Returns the commands to the sockets of every instance. They emit no event, so they need no organization.
pub fn signals(change: &SessionChange) -> Vec<Signal> {
    match change {
        SessionChange::Ended {
            user: _,
            sessions,
            reason,
        } => {
            let close_session = |session: &SessionId| Signal::Kill {
                party: ConnectionTarget::Session(session.clone()),
                reason: *reason,
            };
            sessions.iter().map(close_session).collect()
        }
        SessionChange::RevokedByAdmin { user: _, session } => vec![Signal::Kill {
            party: ConnectionTarget::Session(session.clone()),
            reason: KillReason::Revoked,
        }],
        SessionChange::OrganizationChosen {
            session,
            organization: _,
        } => vec![Signal::Resync {
            parties: vec![ConnectionTarget::Session(session.clone())],
            leave: Vec::new(),
        }],
        SessionChange::LoginFailed { .. }
        | SessionChange::SignedIn { .. }
        | SessionChange::Passkey { .. }
        | SessionChange::SecondFactor { .. } => Vec::new(),
    }
}
