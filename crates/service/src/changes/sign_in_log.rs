//! Logs failed sign-ins, sign-ins without a password, and changes of second factors in the activity log of an organization. Sessions belong to no
//! organization, so the organization of the account is looked up first. `broadcast` handles the sockets of sessions.

use domain::access::PlatformRole;
use domain::change::{Change, PasskeyEvent, SecondFactorEvent, SessionChange};
use domain::id::OrganizationId;
use domain::user::User;

use super::activity_log;
use common::clock;
use common::error::Result;
use db::Actor;
use db::platform::PlatformWriteTx;

/// Logs the change for the organization of the account.
pub fn record(tx: &mut PlatformWriteTx<'_>, change: &SessionChange) -> Result<()> {
    let no_one = None;
    let (user, impersonated_by, is_proven) = match change {
        SessionChange::SignedIn { user, .. } => (user, &no_one, true),
        SessionChange::Passkey { user, event, .. } => {
            let is_proven = matches!(event, PasskeyEvent::Added | PasskeyEvent::Removed);
            (user, &no_one, is_proven)
        }
        SessionChange::LoginFailed {
            user: Some(user),
            impersonated_by,
            ..
        } => (user, impersonated_by, false),
        SessionChange::SecondFactor {
            user,
            event,
            impersonated_by,
            ..
        } => (user, impersonated_by, *event != SecondFactorEvent::CodeRejected),
        _ => return Ok(()),
    };
    let Some(entry) = activity_log::entry(&Change::Session(change.clone())) else {
        return Ok(());
    };
    let account = tx.profile(user)?;
    let organization = match change {
        SessionChange::SignedIn {
            organization: Some(organization),
            ..
        } => Some(organization.clone()),
        _ => account.home_organization_id.clone(),
    };
    let Some(organization) = organization else {
        return Ok(());
    };
    let actor = if is_proven {
        actor(tx, &account, &organization)?
    } else {
        // The client has not proved to be the user, so the entry has no actor.
        Actor {
            user: None,
            name: String::new(),
            role: "none",
            impersonated_by: None,
            api_token: None,
            request_id: None,
        }
    };
    let actor = Actor {
        impersonated_by: impersonated_by.clone(),
        ..actor
    };
    tx.write_in_organization(&organization, actor, clock::now(), |tx| tx.insert_log(&entry))
}

/// Returns the user with the role in an organization.
fn actor(tx: &mut PlatformWriteTx<'_>, account: &User, organization: &OrganizationId) -> Result<Actor> {
    let memberships = tx.organizations_of(&account.id)?;
    let found = memberships
        .into_iter()
        .find(|seen| seen.organization.id == *organization);
    let role = match (account.role, found.and_then(|seen| seen.member)) {
        (PlatformRole::SuperAdmin, _) => "SUPER_ADMIN",
        (_, Some(member)) => member.role.as_str(),
        (_, None) => "none",
    };
    Ok(Actor {
        user: Some(account.id.clone()),
        name: account.name.as_str().to_owned(),
        role,
        impersonated_by: None,
        api_token: None,
        request_id: None,
    })
}
