//! Sessions: one row per sign-in, with user and active organization.

use domain::access::{MemberRole, PlatformRole};
use domain::account_email::AccountEmail;
use domain::id::{OrganizationId, SessionId, SignOnProviderId, UserId};
use domain::organization::Metadata;
use domain::second_factor::RequiredMembers;
use domain::sign_on::SignOnSession;
use domain::text::{Slug, Username};
use domain::time::Timestamp;

use super::PlatformTx;
use crate::sql::Columns;
use crate::{Tenant, args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    SESSION_COLUMNS = "s.id, s.token, s.user_id, s.expires_at, s.created_at, s.updated_at, s.ip_address, s.user_agent,
            s.active_organization_id, s.impersonated_by, s.new_password_until, s.sign_on_organization_id,
            s.sign_on_provider_id, s.sign_on_subject, s.sign_on_session, s.confirmed_at";
    /// The short name of the organization that created account `u`.
    pub(crate) HOME_SLUG = "(SELECT h.slug FROM organizations h WHERE h.id = u.home_organization_id
            AND h.deleted_at IS NULL)";
}

statements! {
    /// All data that a request is authorized with: session, user, active organization, membership. Expired sessions,
    /// sessions of banned or inactive users and invalid impersonations are excluded.
    BY_TOKEN = "SELECT {SESSION_COLUMNS},
            u.name, u.email, u.email_verified, u.image, u.role, u.has_second_factor, u.created_at AS user_created_at,
            u.updated_at AS user_updated_at, u.user_name, {HOME_SLUG} AS home_slug,
            o.id AS active_id, o.status AS active_status, o.metadata AS active_metadata, m.role AS member_role,
            COALESCE(u.password_organization_id <> o.id, FALSE) AS is_password_foreign
        FROM sessions s
        JOIN users u ON u.id = s.user_id
        LEFT JOIN organizations o ON o.id = s.active_organization_id AND o.deleted_at IS NULL
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = u.id AND m.is_active
        WHERE s.token = $1 AND s.expires_at >= $2 AND u.is_active
            AND (NOT u.banned OR u.ban_expires < $2) AND (s.impersonated_by IS NULL OR (u.role <> 'SUPER_ADMIN'
            AND EXISTS (SELECT 1 FROM users a
                WHERE a.id = s.impersonated_by AND a.role = 'SUPER_ADMIN' AND a.is_active
                    AND (NOT a.banned OR a.ban_expires < $2))))";
    INSERT = "INSERT INTO sessions (id, user_id, token, expires_at, ip_address, user_agent, active_organization_id,
            impersonated_by, created_at, updated_at, new_password_until, sign_on_organization_id, sign_on_provider_id,
            sign_on_subject, sign_on_session, sign_on_id_token)
        VALUES (:id, :user_id, :token, :expires_at, :ip_address, :user_agent, :active_organization_id, :impersonated_by,
            :created_at, :updated_at, :new_password_until, :sign_on_organization_id, :sign_on_provider_id,
            :sign_on_subject, :sign_on_session, :sign_on_id_token)";
    SIGN_ON_ID_TOKEN = "SELECT sign_on_id_token FROM sessions WHERE token = $1";
    /// Ends the permission to set a new password once without the old one.
    USE_NEW_PASSWORD = "UPDATE sessions SET new_password_until = NULL
        WHERE id = $1 AND user_id = $2 AND new_password_until >= $3 AND impersonated_by IS NULL
            AND EXISTS (SELECT 1 FROM users u WHERE u.id = $2 AND u.must_change_password AND u.is_active)
        RETURNING id";
    /// The unexpired sessions of a user, oldest first, without impersonations.
    OF_USER = "SELECT {SESSION_COLUMNS} FROM sessions s
        WHERE s.user_id = $1 AND s.expires_at >= $2 AND s.impersonated_by IS NULL ORDER BY s.created_at, s.id";
    /// Extends a session.
    RENEW = "UPDATE sessions SET expires_at = $2, updated_at = $3 WHERE id = $1";
    /// Sets the active organization of a session.
    CHOOSE = "UPDATE sessions SET active_organization_id = $2, updated_at = $3 WHERE id = $1";
    /// Deletes the session with a token.
    END = "DELETE FROM sessions WHERE token = $1 RETURNING id, user_id";
    /// Deletes one session of a user.
    END_ONE = "DELETE FROM sessions WHERE user_id = $1 AND token = $2 RETURNING id";
    /// The unexpired sessions of a user including impersonations, for platform administrators.
    ALL_OF_USER = "SELECT {SESSION_COLUMNS} FROM sessions s
        WHERE s.user_id = $1 AND s.expires_at >= $2 ORDER BY s.created_at, s.id";
    /// Deletes the sessions of a user, optionally except one, and those in which they impersonate others.
    END_ALL = "DELETE FROM sessions
        WHERE (user_id = $1 OR impersonated_by = $1) AND (CAST($2 AS TEXT) IS NULL OR id <> $2) RETURNING id";
    /// Deletes the expired sessions of a user.
    FORGET = "DELETE FROM sessions WHERE user_id = $1 AND expires_at < $2";
}

#[derive(Debug, Clone)]
pub struct Session {
    pub id: SessionId,
    /// The unsigned token. It is returned only by routes under `/auth`.
    pub token: String,
    pub user_id: UserId,
    pub expires_at: Timestamp,
    /// The time of the sign-in.
    pub created_at: Timestamp,
    /// The time of the last extension.
    pub updated_at: Timestamp,
    /// The IP address of the sign-in.
    pub ip_address: Option<String>,
    /// The `SessionUser-Agent` of the sign-in.
    pub user_agent: Option<String>,
    pub active_organization_id: Option<OrganizationId>,
    /// The super admin who impersonates the user.
    pub impersonated_by: Option<UserId>,
    /// Until when the session may set a new password without the old one; it was opened with a provisional one.
    pub new_password_until: Option<Timestamp>,
    /// When the user last proved the password in the session; `None` if only at the sign-in.
    pub confirmed_at: Option<Timestamp>,
    /// The provider that opened the session; `None` if the user entered a password.
    pub sign_on: Option<Box<SignOnSession>>,
}

impl Session {
    /// Returns whether the session may be used in an organization. One that a provider opened is valid in the
    /// organization of the provider only.
    pub fn is_valid_in(&self, organization: &OrganizationId) -> bool {
        let sign_on = self.sign_on.as_ref();
        sign_on.is_none_or(|sign_on| sign_on.organization_id == *organization)
    }

    /// Returns whether another session of the user may be seen and ended in this session. One that a provider opened
    /// has no rights over sessions that its organization did not open.
    pub fn may_manage(&self, other: &Self) -> bool {
        let organization = |session: &Self| session.sign_on.as_ref().map(|sign_on| sign_on.organization_id.clone());
        self.sign_on.is_none() || organization(self) == organization(other)
    }
}

/// The user of a session.
#[derive(Debug, Clone)]
pub struct SessionUser {
    pub id: UserId,
    pub name: String,
    /// The email address in lower case, if the account has one.
    pub email: AccountEmail,
    /// The user name, and the short name of the organization it belongs to.
    pub user_name: Option<(Username, Slug)>,
    /// Whether the email address is verified.
    pub email_verified: bool,
    /// URL of a picture.
    pub image: Option<String>,
    pub role: PlatformRole,
    /// Whether a sign-in of the user requires a second factor.
    pub has_second_factor: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The organization of a request with the membership of the caller.
#[derive(Debug, Clone)]
pub struct OrganizationFacts {
    pub tenant: Tenant,
    /// A suspended organization is accessible to super admins only.
    pub suspended: bool,
    /// The role of the caller; `None` unless they are an active member whose password is valid in this organization.
    pub member_role: Option<MemberRole>,
    /// Whether the caller is a member whose password was set by an administrator of another organization.
    pub is_password_foreign: bool,
    /// The members whom the organization requires to have a second factor. Read for staff only.
    pub required_members: Option<RequiredMembers>,
    /// Whether a provider of another organization opened the session.
    pub is_sign_on_foreign: bool,
}

impl OrganizationFacts {
    /// Removes the role of the caller if the session is not valid in this organization.
    #[must_use]
    pub fn in_session(mut self, session: &Session) -> Self {
        if !session.is_valid_in(self.tenant.id()) {
            self.member_role = None;
            self.is_sign_on_foreign = true;
        }
        self
    }
}

/// All data that a request is authorized with.
#[derive(Debug, Clone)]
pub struct SessionFacts {
    pub session: Session,
    pub user: SessionUser,
    /// The active organization, if it still exists.
    pub organization: Option<OrganizationFacts>,
    /// Whether the user is required to have a second factor and has none. Decided by `auth`.
    pub is_second_factor_missing: bool,
}

impl PlatformTx<'_> {
    /// Inserts a session.
    pub fn insert_session(&mut self, session: &Session) -> Result<()> {
        let sign_on = session.sign_on.as_ref();
        self.execute_named(
            &INSERT,
            named![session =>
                id, user_id, token, expires_at, ip_address, user_agent, active_organization_id, impersonated_by,
                created_at, updated_at, new_password_until,
                sign_on_organization_id: sign_on.map(|sign_on| &sign_on.organization_id),
                sign_on_provider_id: sign_on.map(|sign_on| &sign_on.provider_id),
                sign_on_subject: sign_on.map(|sign_on| &sign_on.subject),
                sign_on_session: sign_on.and_then(|sign_on| sign_on.session.as_ref()),
                sign_on_id_token: sign_on.and_then(|sign_on| sign_on.id_token.as_ref()),
            ],
        )
    }

    /// Returns the encrypted ID token with which a provider opened a session.
    pub fn sign_on_id_token(&mut self, token: &str) -> Result<Option<String>> {
        let found: Option<Option<String>> = self.fetch_optional(&SIGN_ON_ID_TOKEN, args![token], |row| row.only())?;
        Ok(found.flatten())
    }

    /// Returns the data behind a token; `None` if it is unknown, expired or invalid.
    pub fn session(&mut self, token: &str, now: Timestamp) -> Result<Option<SessionFacts>> {
        self.fetch_optional(&BY_TOKEN, args![token, now], |row| {
            let session = session(row)?;
            let user = from_row!(row => SessionUser {
                name, email, email_verified, image, role, has_second_factor, created_at = "user_created_at",
                updated_at = "user_updated_at",
                id: session.user_id.clone(),
                user_name: user_name(row)?,
            })?;
            let organization = organization(row)?.map(|organization| organization.in_session(&session));
            Ok(SessionFacts {
                session,
                user,
                organization,
                is_second_factor_missing: false,
            })
        })
    }

    /// Lists the unexpired sessions of a user, without impersonations.
    pub fn sessions(&mut self, user: &UserId, now: Timestamp) -> Result<Vec<Session>> {
        self.fetch_all(&OF_USER, args![user, now], session)
    }

    /// Lists the unexpired sessions of a user, including impersonations.
    pub fn all_sessions(&mut self, user: &UserId, now: Timestamp) -> Result<Vec<Session>> {
        self.fetch_all(&ALL_OF_USER, args![user, now], session)
    }

    /// Extends a session; returns false if it no longer exists.
    pub fn renew_session(&mut self, id: &SessionId, expires_at: Timestamp, now: Timestamp) -> Result<bool> {
        Ok(self.execute_counted(&RENEW, args![id, expires_at, now])? > 0)
    }

    /// Sets the active organization of a session; returns false if the session no longer exists.
    pub fn choose_organization(
        &mut self,
        id: &SessionId,
        organization: Option<&OrganizationId>,
        now: Timestamp,
    ) -> Result<bool> {
        Ok(self.execute_counted(&CHOOSE, args![id, organization, now])? > 0)
    }

    /// Ends the session with a token; returns its id and its user.
    pub fn end_session(&mut self, token: &str) -> Result<Option<(SessionId, UserId)>> {
        self.fetch_optional(&END, args![token], |row| row.pair("id", "user_id"))
    }

    /// Ends one session of a user; returns `None` for a token of another user.
    pub fn end_session_of(&mut self, user: &UserId, token: &str) -> Result<Option<SessionId>> {
        self.fetch_optional(&END_ONE, args![user, token], |row| row.get("id"))
    }

    /// Ends the sessions of a user, optionally except one, and those in which they impersonate others.
    pub fn end_sessions(&mut self, user: &UserId, except: Option<&SessionId>) -> Result<Vec<SessionId>> {
        self.fetch_all(&END_ALL, args![user, except], |row| row.get("id"))
    }

    /// Uses up the permission of a session to set a new password without the old one; returns false if it has none.
    pub fn use_new_password(&mut self, id: &SessionId, user: &UserId, now: Timestamp) -> Result<bool> {
        let found: Option<SessionId> =
            self.fetch_optional(&USE_NEW_PASSWORD, args![id, user, now], |row| row.get("id"))?;
        Ok(found.is_some())
    }

    /// Deletes the expired sessions of a user.
    pub fn forget_sessions(&mut self, user: &UserId, now: Timestamp) -> Result<()> {
        self.execute(&FORGET, args![user, now])
    }
}

fn session(row: &Columns<'_>) -> Result<Session> {
    from_row!(row => Session {
        id, token, user_id, expires_at, created_at, updated_at, ip_address, user_agent, active_organization_id,
        impersonated_by, new_password_until, confirmed_at,
        sign_on: sign_on(row)?,
    })
}

/// Reads the user name and the short name of the organization it belongs to.
pub(crate) fn user_name(row: &Columns<'_>) -> Result<Option<(Username, Slug)>> {
    let (name, slug): (Option<Username>, Option<Slug>) = (row.get("user_name")?, row.get("home_slug")?);
    Ok(name.zip(slug))
}

fn sign_on(row: &Columns<'_>) -> Result<Option<Box<SignOnSession>>> {
    let organization_id: Option<OrganizationId> = row.get("sign_on_organization_id")?;
    let provider_id: Option<SignOnProviderId> = row.get("sign_on_provider_id")?;
    let subject: Option<String> = row.get("sign_on_subject")?;
    let session = row.get("sign_on_session")?;
    Ok(organization_id.map(|organization_id| {
        Box::new(SignOnSession {
            organization_id,
            provider_id: provider_id.unwrap_or_else(|| SignOnProviderId::new("")),
            subject: subject.unwrap_or_default(),
            session,
            id_token: None,
        })
    }))
}

/// Reads organization id, status, the member's role, and whether an administrator of another organization set the
/// password. Such a password gives no access to memberships here; only this function decides it.
pub(super) fn organization(row: &Columns<'_>) -> Result<Option<OrganizationFacts>> {
    let id: Option<OrganizationId> = row.get("active_id")?;
    let status: Option<String> = row.get("active_status")?;
    let member_role = row.get::<Option<MemberRole>>("member_role")?;
    let is_password_foreign: bool = row.get("is_password_foreign")?;
    // Not parsed for students, who are most of the callers.
    let settings: Option<Metadata> = match member_role {
        None | Some(MemberRole::Student) => None,
        Some(_) => row.json_option("active_metadata")?,
    };
    Ok(id.map(|id| OrganizationFacts {
        tenant: Tenant(id),
        suspended: status.as_deref() != Some("ACTIVE"),
        member_role: member_role.filter(|_| !is_password_foreign),
        is_password_foreign: is_password_foreign && member_role.is_some(),
        required_members: settings.and_then(|settings| settings.require_second_factor),
        is_sign_on_foreign: false,
    }))
}
