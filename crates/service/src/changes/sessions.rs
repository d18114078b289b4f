//! The one thing about sessions that a school wants to read in its log. Sessions belong to no organization, so whose log
//! that is has to be found out first; what the sockets do stands in `broadcast`.

use model::change::Change;
use model::change::session::SessionChange;

use super::log;
use common::clock;
use common::error::Result;
use db::Actor;
use db::platform::PlatformWork;

/// Tells the school of an account that somebody tried to sign in with a wrong password (contract 3.8).
pub fn record(work: &mut PlatformWork<'_>, change: &SessionChange) -> Result<()> {
    let SessionChange::LoginFailed {
        user: Some(user),
        impersonated_by,
        ..
    } = change
    else {
        return Ok(());
    };
    let Some(entry) = log::entry(&Change::Session(change.clone())) else {
        return Ok(());
    };
    let account = work.profile(user)?;
    // Whoever it was has not proved to be that person.
    let nobody = Actor {
        user: None,
        name: String::new(),
        role: "none",
        impersonated_by: impersonated_by.clone(),
        request_id: None,
    };
    work.at_home(&account, nobody, clock::now(), |work| work.insert_log(&entry))
}
