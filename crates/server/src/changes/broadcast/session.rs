//! Sessions: whoever is signed out is cut off, whoever chooses another organization changes rooms.

use model::change::session::SessionChange;
use model::news::Party;

use super::telling::Telling;

pub fn tell(change: &SessionChange, telling: &mut Telling<'_>) {
    match change {
        SessionChange::Ended {
            user: _,
            sessions,
            reason,
        } => {
            for session in sessions {
                telling.kill(Party::Session(session.clone()), *reason);
            }
        }
        SessionChange::OrganizationChosen {
            session,
            organization: _,
        } => telling.resync(vec![Party::Session(session.clone())], Vec::new()),
        SessionChange::LoginFailed { .. } => {}
    }
}
