//! Sessions: one row per sign-in, with the person and the active organization behind it.

use model::access::{MemberRole, PlatformRole};
use model::id::{OrganizationId, SessionId, UserId};
use model::time::Timestamp;

use super::Platform;
use crate::Tenant;
use crate::sql::Columns;
use crate::{args, statements};
use common::error::Result;

macro_rules! session_columns {
    () => {
        "s.id, s.token, s.user_id, s.expires_at, s.created_at, s.updated_at, s.ip_address, s.user_agent,
            s.active_organization_id, s.impersonated_by"
    };
}
/// Nobody is acted as but by somebody who runs the platform at this moment, and nobody who runs it is acted as.
#[macro_export]
macro_rules! good_impersonation {
    ($now:literal) => {
        concat!(
            "(s.impersonated_by IS NULL OR (u.role <> 'SUPER_ADMIN' AND EXISTS (SELECT 1 FROM users a
                WHERE a.id = s.impersonated_by AND a.role = 'SUPER_ADMIN' AND a.is_active
                    AND (NOT a.banned OR a.ban_expires < ",
            $now,
            "))))"
        )
    };
}
statements! {
    /// All that decides about a request: session, person, active organization, membership. Expired sessions, banned and
    /// inactive people have none; nor has whoever acts as somebody and may not any more.
    BY_TOKEN = concat!("SELECT ", session_columns!(), ",
            u.name, u.email, u.email_verified, u.image, u.role, u.created_at, u.updated_at,
            o.id, o.status, m.role, COALESCE(u.password_organization_id <> o.id, FALSE)
        FROM sessions s
        JOIN users u ON u.id = s.user_id
        LEFT JOIN organizations o ON o.id = s.active_organization_id AND o.deleted_at IS NULL
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = u.id AND m.is_active
        WHERE s.token = $1 AND s.expires_at >= $2 AND u.is_active
            AND (NOT u.banned OR u.ban_expires < $2) AND ", good_impersonation!("$2"));
    /// A sign-in.
    INSERT = "INSERT INTO sessions (id, user_id, token, expires_at, ip_address, user_agent, active_organization_id,
            impersonated_by, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    /// The sessions of a person that are not over, oldest first; nobody sees that somebody acts in his name.
    OF_USER = concat!("SELECT ", session_columns!(), " FROM sessions s
        WHERE s.user_id = $1 AND s.expires_at >= $2 AND s.impersonated_by IS NULL ORDER BY s.created_at, s.id");
    /// Prolongs a session.
    RENEW = "UPDATE sessions SET expires_at = $2, updated_at = $3 WHERE id = $1";
    /// Chooses the organization of a session.
    CHOOSE = "UPDATE sessions SET active_organization_id = $2, updated_at = $3 WHERE id = $1";
    /// Ends the session of a token.
    END = "DELETE FROM sessions WHERE token = $1 RETURNING id, user_id";
    /// Ends one session of a person.
    END_ONE = "DELETE FROM sessions WHERE user_id = $1 AND token = $2 RETURNING id";
    /// The same for those who run the platform, who see that too.
    ALL_OF_USER = concat!("SELECT ", session_columns!(), " FROM sessions s
        WHERE s.user_id = $1 AND s.expires_at >= $2 ORDER BY s.created_at, s.id");
    /// Ends the sessions of a person, except perhaps one, and those in which he acts as somebody else.
    END_ALL = "DELETE FROM sessions
        WHERE (user_id = $1 OR impersonated_by = $1) AND (CAST($2 AS TEXT) IS NULL OR id <> $2) RETURNING id";
    /// Forgets sessions of a person whose time is over.
    FORGET = "DELETE FROM sessions WHERE user_id = $1 AND expires_at < $2";
}

/// A session row.
#[derive(Debug, Clone)]
pub struct Session {
    /// The row's id.
    pub id: SessionId,
    /// The unsigned token; it leaves the service only under `/auth`.
    pub token: String,
    /// Whose session it is.
    pub user_id: UserId,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When it was last prolonged.
    pub updated_at: Timestamp,
    /// Where the sign-in came from.
    pub ip_address: Option<String>,
    /// The program it came with.
    pub user_agent: Option<String>,
    /// The organization the person works in.
    pub active_organization_id: Option<OrganizationId>,
    /// The super admin who acts as this person.
    pub impersonated_by: Option<UserId>,
}

/// The person of a session.
#[derive(Debug, Clone)]
pub struct User {
    /// The account.
    pub id: UserId,
    /// The name others see.
    pub name: String,
    /// The address, lower-case.
    pub email: String,
    /// Whether the address is known to be his.
    pub email_verified: bool,
    /// A picture.
    pub image: Option<String>,
    /// The platform role.
    pub role: PlatformRole,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When the profile last changed.
    pub updated_at: Timestamp,
}

/// The organization a request is for, and the caller's part in it.
#[derive(Debug, Clone)]
pub struct OrganizationFacts {
    /// The organization.
    pub tenant: Tenant,
    /// Suspended organizations let nobody in but the platform.
    pub suspended: bool,
    /// The caller's role, if the caller is an active member and the password opens this organization.
    pub member_role: Option<MemberRole>,
    /// Whether the caller is a member whose password an administrator of another organization chose.
    pub is_password_foreign: bool,
}

/// All that decides about a request.
#[derive(Debug, Clone)]
pub struct SessionFacts {
    /// The session.
    pub session: Session,
    /// The person.
    pub user: User,
    /// The active organization, if it still exists.
    pub organization: Option<OrganizationFacts>,
}

impl Platform<'_> {
    /// Writes a new session.
    pub fn insert_session(&mut self, session: &Session) -> Result<()> {
        self.connection
            .run(
                &INSERT,
                args![
                    session.id,
                    session.user_id,
                    session.token,
                    session.expires_at,
                    session.ip_address,
                    session.user_agent,
                    session.active_organization_id,
                    session.impersonated_by,
                    session.created_at,
                    session.updated_at,
                ],
            )
            .map(drop)
    }

    /// The facts behind a token, or nothing when it is unknown, expired or no longer good.
    pub fn session(&mut self, token: &str, now: Timestamp) -> Result<Option<SessionFacts>> {
        self.connection.maybe(&BY_TOKEN, args![token, now], |row| {
            let session = session(row)?;
            let user = User {
                id: session.user_id.clone(),
                name: row.take()?,
                email: row.take()?,
                email_verified: row.take()?,
                image: row.take()?,
                role: row.parse(PlatformRole::parse)?,
                created_at: row.take()?,
                updated_at: row.take()?,
            };
            Ok(SessionFacts {
                session,
                user,
                organization: organization(row)?,
            })
        })
    }

    /// The sessions of a person that are not over.
    pub fn sessions(&mut self, user: &UserId, now: Timestamp) -> Result<Vec<Session>> {
        self.connection.many(&OF_USER, args![user, now], session)
    }

    /// The same with those in which somebody acts as this person.
    pub fn all_sessions(&mut self, user: &UserId, now: Timestamp) -> Result<Vec<Session>> {
        self.connection.many(&ALL_OF_USER, args![user, now], session)
    }

    /// Prolongs a session; false when it is gone.
    pub fn renew_session(&mut self, id: &SessionId, expires_at: Timestamp, now: Timestamp) -> Result<bool> {
        Ok(self.connection.run(&RENEW, args![id, expires_at, now])? > 0)
    }

    /// Chooses the organization of a session; false when the session is gone.
    pub fn choose_organization(
        &mut self,
        id: &SessionId,
        organization: Option<&OrganizationId>,
        now: Timestamp,
    ) -> Result<bool> {
        Ok(self.connection.run(&CHOOSE, args![id, organization, now])? > 0)
    }

    /// Ends the session of a token and says which one it was, and whose.
    pub fn end_session(&mut self, token: &str) -> Result<Option<(SessionId, UserId)>> {
        self.connection
            .maybe(&END, args![token], |row| Ok((row.take()?, row.take()?)))
    }

    /// Ends one session of a person; a token of somebody else names none.
    pub fn end_session_of(&mut self, user: &UserId, token: &str) -> Result<Option<SessionId>> {
        self.connection.maybe(&END_ONE, args![user, token], |row| row.take())
    }

    /// Ends the sessions of a person, except perhaps one, and those in which he acts as somebody else.
    pub fn end_sessions(&mut self, user: &UserId, except: Option<&SessionId>) -> Result<Vec<SessionId>> {
        self.connection.many(&END_ALL, args![user, except], |row| row.take())
    }

    /// Forgets sessions of a person whose time is over.
    pub fn forget_sessions(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.connection.run(&FORGET, args![user, now]).map(drop)
    }
}

fn session(row: &mut Columns<'_>) -> Result<Session> {
    Ok(Session {
        id: row.take()?,
        token: row.take()?,
        user_id: row.take()?,
        expires_at: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
        ip_address: row.take()?,
        user_agent: row.take()?,
        active_organization_id: row.take()?,
        impersonated_by: row.take()?,
    })
}

/// Organization id, status, the member's role, and whether an administrator of another organization chose the password. Such a
/// password opens no membership here: this is the one place that decides it.
pub(super) fn organization(row: &mut Columns<'_>) -> Result<Option<OrganizationFacts>> {
    let id: Option<OrganizationId> = row.take()?;
    let status: Option<String> = row.take()?;
    let member_role = row.parse_option(MemberRole::parse)?;
    let is_password_foreign: bool = row.take()?;
    Ok(id.map(|id| OrganizationFacts {
        tenant: Tenant(id),
        suspended: status.as_deref() != Some("ACTIVE"),
        member_role: member_role.filter(|_| !is_password_foreign),
        is_password_foreign: is_password_foreign && member_role.is_some(),
    }))
}
