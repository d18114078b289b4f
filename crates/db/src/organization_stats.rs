//! Statistics of an organization.

use domain::time::Timestamp;

use super::ReadTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Counts that an index of the organization supports.
    COUNTS = "SELECT
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'owner'),
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'admin'),
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'teacher'),
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'student'),
        (SELECT COUNT(*) FROM classes WHERE organization_id = $1),
        (SELECT COUNT(*) FROM courses WHERE organization_id = $1),
        (SELECT COUNT(*) FROM groups WHERE organization_id = $1),
        (SELECT COUNT(*) FROM assignments WHERE organization_id = $1),
        (SELECT COUNT(*) FROM groups WHERE organization_id = $1 AND needs_help),
        (SELECT COUNT(*) FROM sessions s
            JOIN members m ON m.organization_id = $1 AND m.user_id = s.user_id
            WHERE s.active_organization_id = $1 AND s.expires_at >= $2 AND s.impersonated_by IS NULL)";
}

/// Statistics of an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrganizationStats {
    /// Members by role: owners, admins, teachers, students.
    pub members: [i64; 4],
    pub classes: i64,
    pub courses: i64,
    pub groups: i64,
    pub assignments: i64,
    /// Groups with an open help request.
    pub open_help: i64,
    /// Sessions of members with this active organization.
    pub active_sessions: i64,
}

impl ReadTx<'_> {
    /// Returns the statistics of the organization.
    pub fn organization_stats(&mut self) -> Result<OrganizationStats> {
        let now: Timestamp = self.now();
        self.fetch_one(&COUNTS, args![now], |row| {
            Ok(OrganizationStats {
                members: [row.take()?, row.take()?, row.take()?, row.take()?],
                classes: row.take()?,
                courses: row.take()?,
                groups: row.take()?,
                assignments: row.take()?,
                open_help: row.take()?,
                active_sessions: row.take()?,
            })
        })
    }
}
