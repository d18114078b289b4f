//! Statistics of an organization.

use domain::time::Timestamp;

use super::ReadTx;
use crate::{args, from_row, statements};
use common::error::Result;

statements! {
    /// Counts that an index of the organization supports.
    COUNTS = "SELECT
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'owner') AS owners,
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'admin') AS admins,
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'teacher') AS teachers,
        (SELECT COUNT(*) FROM members WHERE organization_id = $1 AND role = 'student') AS students,
        (SELECT COUNT(*) FROM classes WHERE organization_id = $1) AS class_count,
        (SELECT COUNT(*) FROM courses WHERE organization_id = $1) AS course_count,
        (SELECT COUNT(*) FROM groups WHERE organization_id = $1) AS group_count,
        (SELECT COUNT(*) FROM assignments WHERE organization_id = $1) AS assignment_count,
        (SELECT COUNT(*) FROM groups WHERE organization_id = $1 AND needs_help) AS help_count,
        (SELECT COUNT(*) FROM sessions s
            JOIN members m ON m.organization_id = $1 AND m.user_id = s.user_id
            WHERE s.active_organization_id = $1 AND s.expires_at >= $2 AND s.impersonated_by IS NULL) AS session_count";
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
            from_row!(row => OrganizationStats {
                classes = "class_count", courses = "course_count", groups = "group_count",
                assignments = "assignment_count", open_help = "help_count", active_sessions = "session_count",
                members: [
                    row.get("owners")?,
                    row.get("admins")?,
                    row.get("teachers")?,
                    row.get("students")?,
                ],
            })
        })
    }
}
