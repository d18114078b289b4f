//! What people do with their sessions: end them, and choose the organization they work in. Rows change here; sockets
//! follow what is recorded.

use model::access::PlatformRole;
use model::change::session::SessionChange;
use model::id::{OrganizationId, SessionId, UserId};
use model::news::KillReason;
use model::organization::Organization;
use model::time::Timestamp;

use common::error::{Error, Result};
use db::platform::PlatformWork;
use db::platform::organizations::OrganizationName;
use db::platform::sessions::{Session, User};

/// Signs out; a token that is worth nothing any more is none of our business. With the session of an impersonation goes
/// the way back from it, for no browser holds that one any more.
pub fn sign_out(work: &mut PlatformWork<'_>, token: &str, way_back: Option<&str>) -> Result<()> {
    for token in std::iter::once(token).chain(way_back) {
        if let Some((session, user)) = work.end_session(token)? {
            ended(work, &user, vec![session], KillReason::SignedOut);
        }
    }
    Ok(())
}

/// Revokes one of the own sessions. A token of nobody, or of somebody else, revokes nothing and says nothing.
pub fn revoke(work: &mut PlatformWork<'_>, user: &UserId, token: &str) -> Result<()> {
    let session = work.end_session_of(user, token)?;
    ended(work, user, session.into_iter().collect(), KillReason::Revoked);
    Ok(())
}

/// Revokes the sessions of a person, except perhaps the one that asks, and says how many.
pub fn revoke_all(
    work: &mut PlatformWork<'_>,
    user: &UserId,
    except: Option<&SessionId>,
    reason: KillReason,
) -> Result<usize> {
    let sessions = work.end_sessions(user, except)?;
    let count = sessions.len();
    ended(work, user, sessions, reason);
    Ok(count)
}

/// Prolongs a session that is still there.
pub fn renew(work: &mut PlatformWork<'_>, session: &SessionId, expires_at: Timestamp, now: Timestamp) -> Result<()> {
    if work.renew_session(session, expires_at, now)? {
        Ok(())
    } else {
        Err(Error::Unauthenticated)
    }
}

/// How the choice of an organization ended.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The session works in it.
    Chosen(Box<Organization>),
    /// No organization of this short name; nothing changed.
    Unknown,
    /// Not the caller's, or there is none: the session works in none now.
    NotAMember,
}

/// Chooses the organization of a session. Who asks for one that is not his loses the one he had, as in better-auth.
pub fn choose_organization(
    work: &mut PlatformWork<'_>,
    session: &Session,
    user: &User,
    name: &OrganizationName,
    now: Timestamp,
) -> Result<Choice> {
    let found = work.organization(name, &user.id)?;
    if found.is_none() && matches!(name, OrganizationName::Slug(_)) {
        return Ok(Choice::Unknown);
    }
    match found {
        Some(seen) if seen.member.is_some() || user.role == PlatformRole::SuperAdmin => {
            choose(work, session, Some(&seen.organization.id), now)?;
            Ok(Choice::Chosen(Box::new(seen.organization)))
        }
        _ => {
            choose(work, session, None, now)?;
            Ok(Choice::NotAMember)
        }
    }
}

/// Leaves the organization of a session.
pub fn leave_organization(work: &mut PlatformWork<'_>, session: &Session, now: Timestamp) -> Result<()> {
    choose(work, session, None, now)
}

pub(super) fn choose(
    work: &mut PlatformWork<'_>,
    session: &Session,
    organization: Option<&OrganizationId>,
    now: Timestamp,
) -> Result<()> {
    if !work.choose_organization(&session.id, organization, now)? {
        return Err(Error::Unauthenticated);
    }
    work.record(SessionChange::OrganizationChosen {
        session: session.id.clone(),
        organization: organization.cloned(),
    });
    Ok(())
}

/// Says that sessions are over.
pub(super) fn ended(work: &mut PlatformWork<'_>, user: &UserId, sessions: Vec<SessionId>, reason: KillReason) {
    if !sessions.is_empty() {
        work.record(SessionChange::Ended {
            user: user.clone(),
            sessions,
            reason,
        });
    }
}
