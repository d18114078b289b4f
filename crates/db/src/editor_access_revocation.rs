//! Open editing sessions and the present role of their editors, to revoke the access of users who can no longer view a
//! document.

use domain::access::MemberRole;
use domain::id::UserId;

use super::ReadTx;
use super::saves::{EditingSession, session};
use crate::saves::SESSION_COLUMNS;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// The editing sessions that have editors.
    OPEN = "SELECT {SESSION_COLUMNS} FROM editing_sessions e
        WHERE e.organization_id = $1 AND e.editors <> '[]' ORDER BY e.document_id, e.generation";
    /// The role of an active member who can sign in.
    ROLE = "SELECT m.role FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2 AND m.is_active AND u.is_active AND NOT u.banned";
}

impl ReadTx<'_> {
    /// Lists the editing sessions that have editors.
    pub fn sessions_with_editors(&mut self) -> Result<Vec<EditingSession>> {
        self.fetch_all(&OPEN, args![], session)
    }

    /// Lists the editing sessions with at least one of these users.
    pub fn sessions_edited_by(&mut self, people: &[UserId]) -> Result<Vec<EditingSession>> {
        let mut open = self.sessions_with_editors()?;
        open.retain(|session| session.editors.iter().any(|editor| people.contains(editor)));
        Ok(open)
    }

    /// Returns the present role of a user in the organization; `None` if they left or cannot sign in.
    pub fn current_role(&mut self, user: &UserId) -> Result<Option<MemberRole>> {
        self.fetch_optional(&ROLE, args![user], |row| row.get::<MemberRole>("role"))
    }
}
