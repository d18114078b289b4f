//! What those who run the platform do with accounts (`/auth/admin`). An account belongs to no organization, but each one
//! whose member it is reads in its log what was done to it.

use model::access::{PlatformRole, Viewer};
use model::change::Change;
use model::change::administration::AdministrationChange;
use model::change::user::UserChange;
use model::edit::{Changed, Edit};
use model::id::UserId;
use model::news::KillReason;
use model::text::Name;
use model::time::Timestamp;

use super::{members, passwords, sessions};
use common::error::{Error, Result};
use db::platform::PlatformWork;
use db::platform::administration::{Account, Ban};
use db::platform::sessions::Session;
use db::platform::users::NewUser;
use db::{Actor, Standpoint, Tenant};

/// Somebody who runs the platform, at work.
#[derive(Debug, Clone)]
pub struct Administrator {
    /// Who it is.
    pub id: UserId,
    /// How the log names him.
    pub actor: Actor,
    /// The request's clock.
    pub now: Timestamp,
}

/// What of an account is to change; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AccountEdit {
    /// The name shown to others.
    pub name: Option<Name>,
    /// The address in lower case.
    pub email: Option<String>,
    /// Whether the address is known to be his.
    pub email_verified: Option<bool>,
    /// A picture, or none.
    pub image: Edit<String>,
    /// The platform role.
    pub role: Option<PlatformRole>,
    /// A ban, or none.
    pub ban: Edit<Ban>,
}

/// Makes an account without an organization; a taken address is `DUPLICATE_EMAIL`.
pub fn create(work: &mut PlatformWork<'_>, new: &NewUser, now: Timestamp) -> Result<Account> {
    work.insert_user(new, now)?;
    work.account(&new.id)
}

/// Changes an account. Nobody changes the own platform role (contract 5), and nobody bans himself.
pub fn edit(work: &mut PlatformWork<'_>, admin: &Administrator, user: &UserId, edit: &AccountEdit) -> Result<Account> {
    let mut account = work.account_to_change(user)?;
    let former_email = account.user.email.clone();
    let edit = edit.clone();
    let mut changed = Changed::new();
    if let Some(name) = edit.name {
        changed.write("name", &mut account.user.name, name.into_string());
    }
    if let Some(email) = edit.email {
        changed.write("email", &mut account.user.email, email);
    }
    // The new mailbox is not verified.
    let is_moved = changed.has("email");
    if let Some(verified) = edit.email_verified.or(is_moved.then_some(false)) {
        changed.write("emailVerified", &mut account.user.email_verified, verified);
    }
    changed.edit_nullable("image", &mut account.user.image, edit.image);
    let role = edit.role.filter(|role| *role != account.user.role);
    if user == &admin.id && (role.is_some() || edit.ban.value().is_some()) {
        return Err(Error::ForbiddenRole);
    }
    let runs_platform = role == Some(PlatformRole::SuperAdmin);
    if runs_platform
        && work
            .mailbox(user)?
            .is_some_and(|mailbox| mailbox.password_organization.is_some())
    {
        // The administrator who chose the password would run the platform with it.
        return Err(Error::PasswordNotConfirmed);
    }
    let is_ban_changed = edit.ban.apply(&mut account.ban);
    let from = account.user.role;
    if let Some(role) = role {
        account.user.role = role;
    }
    if changed.is_empty() && role.is_none() && !is_ban_changed {
        return Ok(account);
    }
    account.user.updated_at = admin.now;
    work.update_account(&account)?;
    if changed.has("email") {
        // Whoever reads the old letter box must not get in any more.
        work.delete_verifications(user)?;
        work.move_sign_in_history(&former_email, &account.user.email)?;
    }
    let person = account.person();
    if !changed.is_empty() {
        let profile = Box::new(work.profile(user)?);
        for tenant in tenants(work, user)? {
            work.within(standpoint(admin, tenant), |work| {
                let seen_in = work.classes_showing(user, &changed)?;
                work.record(UserChange::Updated {
                    user: profile.clone(),
                    changed: changed.clone(),
                    seen_in,
                    is_imported: false,
                });
                Ok(())
            })?;
        }
    }
    if let Some(to) = role {
        // Nothing opened under the old role survives it: no session of the user, no impersonation of the user,
        // no impersonation by the user.
        let ended_sessions = sessions::revoke_all(work, user, None, KillReason::Revoked)?;
        let change = AdministrationChange::PlatformRoleChanged {
            user: person,
            from,
            to,
            ended_sessions,
        };
        tell(work, admin, user, change)?;
    }
    if is_ban_changed {
        ban_changed(work, admin, &account)?;
    }
    Ok(account)
}

/// Whoever is kept out has no sessions any more.
fn ban_changed(work: &mut PlatformWork<'_>, admin: &Administrator, account: &Account) -> Result<()> {
    let (id, user) = (&account.user.id, account.person());
    let change = match &account.ban {
        Some(ban) => {
            sessions::revoke_all(work, id, None, KillReason::Deactivated)?;
            AdministrationChange::Banned { user, until: ban.until }
        }
        None => AdministrationChange::Unbanned { user },
    };
    tell(work, admin, id, change)
}

/// Gives somebody another password; all sessions and all mailed links are worth nothing any more (contract 6.1).
pub fn set_password(work: &mut PlatformWork<'_>, admin: &Administrator, user: &UserId, hash: &str) -> Result<()> {
    let account = work.account_to_change(user)?;
    passwords::replace(work, user, hash, admin.now)?;
    work.note_password_reset(user, admin.now)?;
    let person = account.person();
    tell(work, admin, user, UserChange::PasswordReset { user: person })
}

/// Ends the session of a token, whosever it is; an unknown one ends nothing.
pub fn revoke_session(work: &mut PlatformWork<'_>, admin: &Administrator, token: &str) -> Result<()> {
    let Some((session, user)) = work.end_session(token)? else {
        return Ok(());
    };
    sessions::ended(work, &user, vec![session], KillReason::Revoked);
    revoked(work, admin, &user, 1)
}

/// Ends all sessions of somebody.
pub fn revoke_sessions(work: &mut PlatformWork<'_>, admin: &Administrator, user: &UserId) -> Result<()> {
    let count = sessions::revoke_all(work, user, None, KillReason::Revoked)?;
    if count == 0 {
        return Ok(());
    }
    revoked(work, admin, user, count)
}

fn revoked(work: &mut PlatformWork<'_>, admin: &Administrator, user: &UserId, count: usize) -> Result<()> {
    let person = work.account(user)?.person();
    tell(
        work,
        admin,
        user,
        AdministrationChange::SessionsRevoked { user: person, count },
    )
}

/// Removes a person: every membership ends as an administrator would end it, and what is left of the account is emptied and
/// switched off. The row stays, because group work and records name it. Returns the address that the account had.
pub fn remove(work: &mut PlatformWork<'_>, admin: &Administrator, user: &UserId) -> Result<String> {
    // Organizations are held before people, and in one order, as everywhere.
    let mut tenants = tenants(work, user)?;
    tenants.sort_by(|one, other| one.id().cmp(other.id()));
    for tenant in &tenants {
        work.within(standpoint(admin, tenant.clone()), |work| work.hold_organization())?;
    }
    let account = work.account_to_change(user)?;
    for tenant in tenants {
        work.within(standpoint(admin, tenant), |work| {
            let membership = work.membership_to_change(user)?;
            members::end(work, membership)
        })?;
    }
    sessions::revoke_all(work, user, None, KillReason::Deactivated)?;
    work.empty_account(&account, admin.now)?;
    Ok(account.user.email)
}

/// How the wish to act as somebody ended.
#[derive(Debug, Clone)]
pub enum Impersonation {
    /// The session in which it happens.
    Begun(Session),
    /// Nobody acts as those who run the platform.
    OfSuperAdmin,
    /// The person is banned and has no sessions.
    OfBanned,
    /// The account is switched off and has no sessions.
    OfInactive,
}

/// Begins to act as somebody, in a session of its own.
pub fn impersonate(
    work: &mut PlatformWork<'_>,
    admin: &Administrator,
    user: &UserId,
    session: &Session,
) -> Result<Impersonation> {
    let account = work.account_to_change(user)?;
    if account.user.role == PlatformRole::SuperAdmin {
        return Ok(Impersonation::OfSuperAdmin);
    }
    if account.ban_at(admin.now).is_some() {
        return Ok(Impersonation::OfBanned);
    }
    if !account.is_active {
        return Ok(Impersonation::OfInactive);
    }
    let session = Session {
        user_id: user.clone(),
        impersonated_by: Some(admin.id.clone()),
        ..session.clone()
    };
    work.insert_session(&session)?;
    let person = account.person();
    tell(
        work,
        admin,
        user,
        AdministrationChange::ImpersonationBegun { user: person },
    )?;
    Ok(Impersonation::Begun(session))
}

/// Stops acting as somebody.
pub fn stop_impersonating(work: &mut PlatformWork<'_>, actor: &Actor, token: &str, now: Timestamp) -> Result<()> {
    let Some((session, user)) = work.end_session(token)? else {
        return Ok(());
    };
    sessions::ended(work, &user, vec![session], KillReason::SignedOut);
    let admin = Administrator {
        id: user.clone(),
        actor: actor.clone(),
        now,
    };
    let person = work.account(&user)?.person();
    tell(
        work,
        &admin,
        &user,
        AdministrationChange::ImpersonationEnded { user: person },
    )
}

/// Tells every organization of a person what was done to the account.
fn tell(work: &mut PlatformWork<'_>, admin: &Administrator, user: &UserId, change: impl Into<Change>) -> Result<()> {
    let change = change.into();
    for tenant in tenants(work, user)? {
        work.within(standpoint(admin, tenant), |work| {
            work.record(change.clone());
            Ok(())
        })?;
    }
    Ok(())
}

fn tenants(work: &mut PlatformWork<'_>, user: &UserId) -> Result<Vec<Tenant>> {
    let seen = work.organizations_of(user)?;
    Ok(seen.into_iter().map(|seen| seen.tenant).collect())
}

fn standpoint(admin: &Administrator, tenant: Tenant) -> Standpoint {
    Standpoint {
        tenant,
        viewer: Viewer::Admin,
        actor: admin.actor.clone(),
        now: admin.now,
    }
}
