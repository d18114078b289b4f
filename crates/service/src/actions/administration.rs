//! What platform administrators do with accounts (`/auth/admin`). An account belongs to no organization, but every
//! organization that the user is a member of gets an entry in its activity log.

use domain::access::{PlatformRole, Viewer};
use domain::account_email::AccountEmail;
use domain::change::{AdministrationChange, Change, UserChange};
use domain::id::UserId;
use domain::patch::{FieldDiff, FieldPatch};
use domain::realtime::KillReason;
use domain::text::Name;
use domain::time::Timestamp;

use super::{members, passwords, second_factor, sessions};
use adapters::mailer::{Mailer, Recipient};
use common::error::{Error, Result};
use db::platform::PlatformWriteTx;
use db::platform::administration::{AdministeredAccount, Ban};
use db::platform::sessions::Session;
use db::platform::users::NewUserAccount;
use db::{Actor, RequestContext, Tenant};

/// An acting platform administrator.
#[derive(Debug, Clone)]
pub struct Administrator {
    pub id: UserId,
    /// The administrator as the activity log shows them.
    pub actor: Actor,
    /// The time of the request.
    pub now: Timestamp,
}

/// A change of an account; absent fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AccountEdit {
    /// The display name.
    pub name: Option<Name>,
    /// The email address in lower case.
    pub email: Option<String>,
    /// Whether the email address is verified.
    pub email_verified: Option<bool>,
    /// The profile picture; null removes it.
    pub image: FieldPatch<String>,
    pub role: Option<PlatformRole>,
    /// The ban; null lifts it.
    pub ban: FieldPatch<Ban>,
}

/// Creates an account without an organization. Fails with `DUPLICATE_EMAIL` if the address is taken.
pub fn create(tx: &mut PlatformWriteTx<'_>, new: &NewUserAccount, now: Timestamp) -> Result<AdministeredAccount> {
    tx.insert_user(new, now)?;
    tx.account(&new.id)
}

/// Updates an account. Administrators cannot change their own platform role or ban themselves.
pub fn edit(
    tx: &mut PlatformWriteTx<'_>,
    admin: &Administrator,
    user: &UserId,
    edit: &AccountEdit,
) -> Result<AdministeredAccount> {
    let mut account = tx.lock_account(user)?;
    let former_email = account.user.email.clone();
    let edit = edit.clone();
    let mut changed = FieldDiff::new();
    if let Some(name) = edit.name {
        changed.write("name", &mut account.user.name, name.into_string());
    }
    if let Some(email) = edit.email {
        changed.write("email", &mut account.user.email, AccountEmail::stored(email));
    }
    // A new email address is unverified.
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
        && tx
            .mailbox(user)?
            .is_some_and(|mailbox| mailbox.password_organization.is_some())
    {
        // An organization's administrator who chose this password could sign in as a platform administrator.
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
    tx.update_account(&account)?;
    if changed.has("email") {
        // Links sent to the old address must not work any more.
        tx.delete_verifications(user)?;
        tx.move_sign_in_history(former_email.stored_form(), account.user.email.stored_form())?;
    }
    let person = account.person();
    if !changed.is_empty() {
        let profile = Box::new(tx.profile(user)?);
        for tenant in tenants(tx, user)? {
            tx.write_in_tenant(context(admin, tenant), |tx| {
                let seen_in = tx.classes_showing(user, &changed)?;
                tx.record(UserChange::Updated {
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
        // Access granted under the old role ends: sessions of the user, impersonations of the user and impersonations
        // by the user.
        let ended_sessions = sessions::revoke_all(tx, user, None, KillReason::Revoked)?;
        let change = AdministrationChange::PlatformRoleChanged {
            user: person,
            from,
            to,
            ended_sessions,
        };
        record_change(tx, admin, user, change)?;
    }
    if is_ban_changed {
        apply_ban(tx, admin, &account)?;
    }
    Ok(account)
}

/// Emits the change; a banned user loses all sessions.
fn apply_ban(tx: &mut PlatformWriteTx<'_>, admin: &Administrator, account: &AdministeredAccount) -> Result<()> {
    let (id, user) = (&account.user.id, account.person());
    let change = match &account.ban {
        Some(ban) => {
            sessions::revoke_all(tx, id, None, KillReason::Deactivated)?;
            AdministrationChange::Banned { user, until: ban.until }
        }
        None => AdministrationChange::Unbanned { user },
    };
    record_change(tx, admin, id, change)
}

/// Sets a user's password. All sessions end and all emailed links become invalid.
pub fn set_password(tx: &mut PlatformWriteTx<'_>, admin: &Administrator, user: &UserId, hash: &str) -> Result<()> {
    let account = tx.lock_account(user)?;
    passwords::replace(tx, user, hash, admin.now)?;
    tx.record_password_reset(user, admin.now)?;
    let person = account.person();
    record_change(tx, admin, user, UserChange::PasswordReset { user: person })
}

/// Removes the second factor of a user who lost it, and ends all sessions. `mail` notifies the user, if there is one.
/// Returns whether there was a second factor.
pub fn reset_second_factor(
    tx: &mut PlatformWriteTx<'_>,
    admin: &Administrator,
    user: &UserId,
    mail: Option<&Mailer>,
) -> Result<bool> {
    let account = tx.lock_account(user)?;
    if !second_factor::remove(tx, user)? {
        return Ok(false);
    }
    sessions::revoke_all(tx, user, None, KillReason::Revoked)?;
    let profile = tx.profile(user)?;
    if let Some(mail) = mail.filter(|_| profile.email_verified) {
        let school = tx.settings_of_school(user)?;
        let to = Recipient::from_user(&profile, school.as_ref());
        tx.enqueue_email(&mail.second_factor_reset(to, &admin.actor.name, admin.now)?)?;
    }
    record_change(
        tx,
        admin,
        user,
        UserChange::SecondFactorReset { user: account.person() },
    )?;
    Ok(true)
}

/// Ends the session of a token, whichever user it belongs to. An unknown token is ignored.
pub fn revoke_session(tx: &mut PlatformWriteTx<'_>, admin: &Administrator, token: &str) -> Result<()> {
    let Some((session, user)) = tx.end_session(token)? else {
        return Ok(());
    };
    sessions::record_ended(tx, &user, vec![session], KillReason::Revoked);
    record_revoked(tx, admin, &user, 1)
}

/// Ends all sessions of a user.
pub fn revoke_sessions(tx: &mut PlatformWriteTx<'_>, admin: &Administrator, user: &UserId) -> Result<()> {
    let count = sessions::revoke_all(tx, user, None, KillReason::Revoked)?;
    if count == 0 {
        return Ok(());
    }
    record_revoked(tx, admin, user, count)
}

fn record_revoked(tx: &mut PlatformWriteTx<'_>, admin: &Administrator, user: &UserId, count: usize) -> Result<()> {
    let person = tx.account(user)?.person();
    record_change(
        tx,
        admin,
        user,
        AdministrationChange::SessionsRevoked { user: person, count },
    )
}

/// Removes a user: every membership ends in the same way as when an organization removes it, and the account is
/// emptied and disabled. The row stays, because group work and records refer to it. Returns the former email address.
pub fn remove(tx: &mut PlatformWriteTx<'_>, admin: &Administrator, user: &UserId) -> Result<String> {
    // Lock order of the whole service: organizations by id, then users.
    let mut tenants = tenants(tx, user)?;
    tenants.sort_by(|one, other| one.id().cmp(other.id()));
    for tenant in &tenants {
        tx.write_in_tenant(context(admin, tenant.clone()), |tx| tx.lock_membership_changes())?;
    }
    let account = tx.lock_account(user)?;
    for tenant in tenants {
        tx.write_in_tenant(context(admin, tenant), |tx| {
            let membership = tx.lock_membership(user)?;
            members::end(tx, membership)
        })?;
    }
    sessions::revoke_all(tx, user, None, KillReason::Deactivated)?;
    tx.clear_account(&account, admin.now)?;
    Ok(account.user.email.stored_form().to_owned())
}

/// The result of a request to impersonate a user.
#[derive(Debug, Clone)]
pub enum Impersonation {
    /// Started; contains the new session.
    Begun(Session),
    /// Rejected: platform administrators cannot be impersonated.
    OfSuperAdmin,
    /// Rejected: the user is banned and cannot have sessions.
    OfBanned,
    /// Rejected: the account is disabled and cannot have sessions.
    OfInactive,
}

/// Starts to impersonate a user, in a separate session.
pub fn impersonate(
    tx: &mut PlatformWriteTx<'_>,
    admin: &Administrator,
    user: &UserId,
    session: &Session,
) -> Result<Impersonation> {
    let account = tx.lock_account(user)?;
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
    tx.insert_session(&session)?;
    let person = account.person();
    record_change(
        tx,
        admin,
        user,
        AdministrationChange::ImpersonationBegun { user: person },
    )?;
    Ok(Impersonation::Begun(session))
}

/// Ends an impersonation.
pub fn stop_impersonating(tx: &mut PlatformWriteTx<'_>, actor: &Actor, token: &str, now: Timestamp) -> Result<()> {
    let Some((session, user)) = tx.end_session(token)? else {
        return Ok(());
    };
    sessions::record_ended(tx, &user, vec![session], KillReason::SignedOut);
    let admin = Administrator {
        id: user.clone(),
        actor: actor.clone(),
        now,
    };
    let person = tx.account(&user)?.person();
    record_change(
        tx,
        &admin,
        &user,
        AdministrationChange::ImpersonationEnded { user: person },
    )
}

/// Records a change of the account in the activity log of every organization of the user.
fn record_change(
    tx: &mut PlatformWriteTx<'_>,
    admin: &Administrator,
    user: &UserId,
    change: impl Into<Change>,
) -> Result<()> {
    let change = change.into();
    for tenant in tenants(tx, user)? {
        tx.write_in_tenant(context(admin, tenant), |tx| {
            tx.record(change.clone());
            Ok(())
        })?;
    }
    Ok(())
}

fn tenants(tx: &mut PlatformWriteTx<'_>, user: &UserId) -> Result<Vec<Tenant>> {
    let seen = tx.organizations_of(user)?;
    Ok(seen.into_iter().map(|seen| seen.tenant).collect())
}

fn context(admin: &Administrator, tenant: Tenant) -> RequestContext {
    RequestContext {
        tenant,
        viewer: Viewer::Admin,
        actor: admin.actor.clone(),
        now: admin.now,
    }
}
