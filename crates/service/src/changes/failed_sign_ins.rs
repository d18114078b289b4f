//! Logs failed sign-ins in the activity log of an organization. Sessions belong to no organization, so the
//! organization of the account is looked up first. `broadcast` handles the sockets of sessions.

use domain::change::Change;
use domain::change::session::SessionChange;

use super::activity_log;
use common::clock;
use common::error::Result;
use db::Actor;
use db::platform::PlatformWriteTx;

/// Logs a sign-in with a wrong password for the organization of the account.
pub fn record(tx: &mut PlatformWriteTx<'_>, change: &SessionChange) -> Result<()> {
    let SessionChange::LoginFailed {
        user: Some(user),
        impersonated_by,
        ..
    } = change
    else {
        return Ok(());
    };
    let Some(entry) = activity_log::entry(&Change::Session(change.clone())) else {
        return Ok(());
    };
    let account = tx.profile(user)?;
    // The client has not proved to be the user, so the entry has no actor.
    let anonymous = Actor {
        user: None,
        name: String::new(),
        role: "none",
        impersonated_by: impersonated_by.clone(),
        api_token: None,
        request_id: None,
    };
    tx.write_in_home_tenant(&account, anonymous, clock::now(), |tx| tx.insert_log(&entry))
}
