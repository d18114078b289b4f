//! Ends sessions and selects the organization of a session. Only rows change here; sockets are closed when the
//! recorded changes are processed.

use domain::access::PlatformRole;
use domain::change::SessionChange;
use domain::id::{OrganizationId, SessionId, UserId};
use domain::organization::Organization;
use domain::realtime::KillReason;
use domain::time::Timestamp;

use common::error::{Error, Result};
use db::platform::organizations::OrganizationName;
use db::platform::sessions::{Session, SessionUser};
use db::platform::{PlatformTx, PlatformWriteTx};

/// Signs out; an invalid token is ignored. After an impersonation the administrator's own session (`way_back`) ends
/// too, because no browser holds its token any more.
pub fn sign_out(tx: &mut PlatformWriteTx<'_>, token: &str, way_back: Option<&str>) -> Result<()> {
    for token in std::iter::once(token).chain(way_back) {
        if let Some((session, user)) = tx.end_session(token)? {
            record_ended(tx, &user, vec![session], KillReason::SignedOut);
        }
    }
    Ok(())
}

/// Revokes a session of the user of this session. An unknown token, or one of another user, is ignored without an error.
pub fn revoke(tx: &mut PlatformWriteTx<'_>, own: &Session, token: &str, now: Timestamp) -> Result<()> {
    if own.sign_on.is_some() {
        let sessions = tx.sessions(&own.user_id, now)?;
        let is_known = |other: &Session| other.token == token && own.may_manage(other);
        if !sessions.iter().any(is_known) {
            return Ok(());
        }
    }
    let session = tx.end_session_of(&own.user_id, token)?;
    record_ended(tx, &own.user_id, session.into_iter().collect(), KillReason::Revoked);
    Ok(())
}

/// Revokes the sessions of the user of this session, optionally except this one.
pub fn revoke_own(tx: &mut PlatformWriteTx<'_>, own: &Session, keeps_own: bool, now: Timestamp) -> Result<()> {
    let except = keeps_own.then_some(&own.id);
    if own.sign_on.is_none() {
        return revoke_all(tx, &own.user_id, except, KillReason::Revoked).map(drop);
    }
    for other in tx.sessions(&own.user_id, now)? {
        if own.may_manage(&other) && Some(&other.id) != except {
            revoke(tx, own, &other.token, now)?;
        }
    }
    Ok(())
}

/// Revokes the sessions of a user, optionally except one, and returns how many.
pub fn revoke_all(
    tx: &mut PlatformWriteTx<'_>,
    user: &UserId,
    except: Option<&SessionId>,
    reason: KillReason,
) -> Result<usize> {
    let sessions = tx.end_sessions(user, except)?;
    let count = sessions.len();
    record_ended(tx, user, sessions, reason);
    Ok(count)
}

/// Extends a session; fails if it has ended.
pub fn renew(tx: &mut PlatformWriteTx<'_>, session: &SessionId, expires_at: Timestamp, now: Timestamp) -> Result<()> {
    if tx.renew_session(session, expires_at, now)? {
        Ok(())
    } else {
        Err(Error::Unauthenticated)
    }
}

/// Rejects a change of an account, or an export of all its data, in a session that a provider opened, if the account is
/// used outside of the organization of the provider: its administrators must not reach what belongs to others.
pub fn may_use_account(platform: &mut PlatformTx<'_>, session: &Session) -> Result<()> {
    let Some(sign_on) = &session.sign_on else { return Ok(()) };
    let own = &sign_on.organization_id;
    let is_elsewhere = platform.memberships(&session.user_id)?.iter().any(|other| other != own);
    if is_elsewhere || platform.profile(&session.user_id)?.home_organization_id.as_ref() != Some(own) {
        return Err(Error::SignedOnElsewhere);
    }
    Ok(())
}

/// The result of selecting an organization.
#[derive(Debug, Clone)]
pub enum OrganizationChoice {
    /// The organization of the session was changed.
    Chosen(Box<Organization>),
    /// No organization has this short name; nothing changed.
    Unknown,
    /// The organization does not exist or the user is not a member. The session has no organization now.
    NotAMember,
}

/// Selects the organization of a session. As in better-auth, selecting an organization without being a member clears
/// the former selection.
pub fn choose_organization(
    tx: &mut PlatformWriteTx<'_>,
    session: &Session,
    user: &SessionUser,
    name: &OrganizationName,
    now: Timestamp,
) -> Result<OrganizationChoice> {
    let found = tx.organization(name, &user.id)?;
    if found.is_none() && matches!(name, OrganizationName::Slug(_)) {
        return Ok(OrganizationChoice::Unknown);
    }
    match found {
        Some(seen)
            if session.is_valid_in(&seen.organization.id)
                && (seen.member.is_some() || user.role == PlatformRole::SuperAdmin) =>
        {
            choose(tx, session, Some(&seen.organization.id), now)?;
            Ok(OrganizationChoice::Chosen(Box::new(seen.organization)))
        }
        _ => {
            choose(tx, session, None, now)?;
            Ok(OrganizationChoice::NotAMember)
        }
    }
}

/// Clears the organization of a session.
pub fn leave_organization(tx: &mut PlatformWriteTx<'_>, session: &Session, now: Timestamp) -> Result<()> {
    choose(tx, session, None, now)
}

pub(super) fn choose(
    tx: &mut PlatformWriteTx<'_>,
    session: &Session,
    organization: Option<&OrganizationId>,
    now: Timestamp,
) -> Result<()> {
    if !tx.choose_organization(&session.id, organization, now)? {
        return Err(Error::Unauthenticated);
    }
    tx.record(SessionChange::OrganizationChosen {
        session: session.id.clone(),
        organization: organization.cloned(),
    });
    Ok(())
}

/// Records that sessions have ended.
pub(super) fn record_ended(tx: &mut PlatformWriteTx<'_>, user: &UserId, sessions: Vec<SessionId>, reason: KillReason) {
    if !sessions.is_empty() {
        tx.record(SessionChange::Ended {
            user: user.clone(),
            sessions,
            reason,
        });
    }
}
