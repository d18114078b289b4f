//! Sessions for the periodic check of socket connections: valid sessions with the data that determines their rooms.

use domain::id::SessionId;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Valid sessions in a range of ids. Expired sessions and those of banned or inactive users are excluded.
    BETWEEN = "SELECT s.id, s.active_organization_id, o.status,
            CASE WHEN u.password_organization_id <> o.id OR s.sign_on_organization_id <> o.id THEN NULL
                ELSE m.role END AS member_role, u.role
        FROM sessions s
        JOIN users u ON u.id = s.user_id
        LEFT JOIN organizations o ON o.id = s.active_organization_id AND o.deleted_at IS NULL
        LEFT JOIN members m ON m.organization_id = o.id AND m.user_id = u.id AND m.is_active
        WHERE s.id >= $1 AND s.id <= $2 AND s.expires_at >= $3 AND u.is_active AND (NOT u.banned
        OR u.ban_expires < $3)
            AND (s.impersonated_by IS NULL OR (u.role <> 'SUPER_ADMIN' AND EXISTS (SELECT 1 FROM users a
                WHERE a.id = s.impersonated_by AND a.role = 'SUPER_ADMIN' AND a.is_active
                    AND (NOT a.banned OR a.ban_expires < $3))))";
}

/// The data that determines the rooms of a session, as one comparable text: active organization, its status, both
/// roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessFingerprint(String);

impl AccessFingerprint {
    pub fn new(organization: Option<&str>, is_active: bool, member_role: Option<&str>, role: &str) -> Self {
        let (organization, member_role) = (organization.unwrap_or("-"), member_role.unwrap_or("-"));
        Self(format!("{organization} {is_active} {member_role} {role}"))
    }
}

impl PlatformTx<'_> {
    /// Lists the valid sessions in a range of ids.
    pub fn valid_sessions(
        &mut self,
        first: &SessionId,
        last: &SessionId,
        now: Timestamp,
    ) -> Result<Vec<(SessionId, AccessFingerprint)>> {
        self.fetch_all(&BETWEEN, args![first, last, now], |row| {
            let id = row.get("id")?;
            let organization: Option<String> = row.get("active_organization_id")?;
            let status: Option<String> = row.get("status")?;
            let member_role: Option<String> = row.get("member_role")?;
            let role: String = row.get("role")?;
            let is_active = status.as_deref() == Some("ACTIVE");
            Ok((
                id,
                AccessFingerprint::new(organization.as_deref(), is_active, member_role.as_deref(), &role),
            ))
        })
    }
}
