//! The sessions of members in an organization as visible to its admins: without tokens and without impersonations.

use domain::access::{MemberRole, PlatformRole};
use domain::account_email::AccountEmail;
use domain::id::{SessionId, UserId};
use domain::time::Timestamp;
use domain::user::Person;

use super::page::{Position, Slice, Window};
use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, person};
use crate::{args, fragments, from_row, statements};
use common::error::Result;

fragments! {
    SELECT_SESSIONS = "SELECT s.id, s.expires_at, s.created_at, s.updated_at, s.ip_address, s.user_agent,
                {PERSON_COLUMNS},
                u.email, u.role AS platform_role, m.role AS member_role
            FROM sessions s
            JOIN members m ON m.organization_id = $1 AND m.user_id = s.user_id
            JOIN users u ON u.id = s.user_id
            WHERE s.active_organization_id = $1 AND s.expires_at >= $2 AND s.impersonated_by IS NULL";
}

statements! {
    /// A page of sessions, newest first.
    PAGE = "{SELECT_SESSIONS} AND (s.created_at, s.id) < ($3, $4) AND (CAST($6 AS TEXT) IS NULL OR s.user_id = $6)
        ORDER BY s.created_at DESC, s.id DESC LIMIT $5";
    BY_ID = "{SELECT_SESSIONS} AND s.id = $3";
    END = "DELETE FROM sessions WHERE id = $2 AND active_organization_id = $1";
}

/// A session with its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationSession {
    pub id: SessionId,
    pub expires_at: Timestamp,
    /// The time of the sign-in.
    pub created_at: Timestamp,
    /// The time of the last extension.
    pub updated_at: Timestamp,
    /// The IP address of the sign-in.
    pub ip_address: Option<String>,
    /// The `User-Agent` of the sign-in.
    pub user_agent: Option<String>,
    pub person: Person,
    pub email: AccountEmail,
    /// The platform role of the user.
    pub platform_role: PlatformRole,
    pub member_role: MemberRole,
}

impl ReadTx<'_> {
    /// Lists a page of the sessions in the organization, newest first, optionally those of one user.
    pub fn organization_sessions(
        &mut self,
        user: Option<&UserId>,
        window: &Window<i64>,
    ) -> Result<Slice<OrganizationSession, i64>> {
        let (now, (time, id)) = (self.now(), window.newest_before());
        let rows = self.fetch_all(&PAGE, args![now, time, id, window.rows(), user], session)?;
        Ok(window.cut(rows, |session| Position {
            key: session.created_at.as_millis(),
            id: session.id.to_string(),
        }))
    }

    /// Returns a session in the organization.
    pub fn organization_session(&mut self, id: &SessionId) -> Result<OrganizationSession> {
        let now = self.now();
        self.fetch_one(&BY_ID, args![now, id], session)
    }
}

impl WriteTx<'_> {
    /// Ends a session; returns false if it no longer exists.
    pub fn end_organization_session(&mut self, id: &SessionId) -> Result<bool> {
        Ok(self.execute_counted(&END, args![id])? > 0)
    }
}

fn session(row: &Columns<'_>) -> Result<OrganizationSession> {
    from_row!(row => OrganizationSession {
        id, expires_at, created_at, updated_at, ip_address, user_agent, email, platform_role, member_role,
        person: person(row)?,
    })
}
