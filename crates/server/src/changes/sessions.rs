//! What follows when something happens to sessions: what the sockets do, and the one thing a school wants to read in its
//! log. Sessions belong to no organization, so their changes come here and not through `log` and `broadcast`.

use model::change::session::SessionChange;
use model::id::SessionId;
use model::news::{Party, Signal};

use super::log::entry;
use crate::clock;
use crate::error::Result;
use crate::store::Actor;
use crate::store::platform::PlatformWork;

/// The orders to the sockets of every instance.
pub fn signals(change: &SessionChange) -> Vec<Signal> {
    match change {
        SessionChange::Ended { sessions, reason, .. } => {
            let kill = |session: &SessionId| Signal::Kill {
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

/// Tells the school of an account that somebody tried to sign in with a wrong password (contract 3.8).
pub fn log(work: &mut PlatformWork<'_>, change: &SessionChange) -> Result<()> {
    let user = match change {
        SessionChange::LoginFailed { user: Some(user), .. } => user,
        SessionChange::LoginFailed { user: None, .. }
        | SessionChange::Ended { .. }
        | SessionChange::OrganizationChosen { .. } => return Ok(()),
    };
    let account = work.profile(user)?;
    // Whoever it was has not proved to be that person.
    let nobody = Actor {
        user: None,
        name: String::new(),
        role: "none",
        impersonated_by: None,
        request_id: None,
    };
    let Some(mut entry) = entry(&change.clone().into()) else { return Ok(()) };
    entry.entity_name = Some(account.name.as_str().to_owned());
    work.at_home(&account, nobody, clock::now(), |work| work.insert_log(&entry))
}
