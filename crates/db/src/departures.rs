//! Who edits what in a school, and in which role: asked when somebody may have lost sight of a document he has open.

use model::access::MemberRole;
use model::id::UserId;

use super::Scope;
use super::saves::{EditingSession, session, session_columns};
use crate::{args, statements};
use common::error::Result;

statements! {
    /// The editing sessions of a school that have editors.
    OPEN = concat!("SELECT ", session_columns!(), " FROM editing_sessions e
        WHERE e.organization_id = $1 AND e.editors <> '[]' ORDER BY e.document_id, e.generation");
    /// The role of somebody who may still sign in.
    ROLE = "SELECT m.role FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2 AND m.is_active AND u.is_active AND NOT u.banned";
}

impl Scope<'_> {
    /// The editing sessions that have editors.
    pub fn open_sessions(&mut self) -> Result<Vec<EditingSession>> {
        self.many(&OPEN, args![], session)
    }

    /// The editing sessions in which at least one of these people edits.
    pub fn sessions_edited_by(&mut self, people: &[UserId]) -> Result<Vec<EditingSession>> {
        let mut open = self.open_sessions()?;
        open.retain(|session| session.editors.iter().any(|editor| people.contains(editor)));
        Ok(open)
    }

    /// The role somebody has here now; none for those who left or may not sign in.
    pub fn present_role(&mut self, user: &UserId) -> Result<Option<MemberRole>> {
        self.maybe(&ROLE, args![user], |row| row.parse(MemberRole::parse))
    }
}
