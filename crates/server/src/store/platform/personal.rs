//! Which schools hold something about a person: where he is a member, and where he has left traces.

use model::id::UserId;

use super::Platform;
use crate::error::Result;
use crate::store::Tenant;
use crate::{args, statements};

statements! {
    /// Organizations with their short names, which are unique.
    HOLDERS = "SELECT o.id, o.slug FROM organizations o
        WHERE EXISTS (SELECT 1 FROM members x WHERE x.organization_id = o.id AND x.user_id = $1)
            OR EXISTS (SELECT 1 FROM activity_logs x WHERE x.organization_id = o.id AND x.user_id = $1)
            OR EXISTS (SELECT 1 FROM direct_messages x WHERE x.organization_id = o.id AND x.sender_id = $1)
            OR EXISTS (SELECT 1 FROM message_recipients x WHERE x.organization_id = o.id AND x.user_id = $1)
            OR EXISTS (SELECT 1 FROM work_room_messages x WHERE x.organization_id = o.id AND x.sender_id = $1)
            OR EXISTS (SELECT 1 FROM submissions x WHERE x.organization_id = o.id
                AND (x.submitted_by_id = $1 OR x.member_ids LIKE '%' || $1 || '%'))
        ORDER BY o.slug";
    /// The short name of an organization.
    SLUG = "SELECT slug FROM organizations WHERE id = $1";
}

impl Platform<'_> {
    /// The organizations that hold something about a person, with their short names.
    pub fn holders_of(&mut self, user: &UserId) -> Result<Vec<(Tenant, String)>> {
        self.connection
            .many(&HOLDERS, args![user], |row| Ok((Tenant(row.take()?), row.take()?)))
    }

    /// The short name of an organization.
    pub fn slug_of(&mut self, tenant: &Tenant) -> Result<String> {
        let found = self.connection.maybe(&SLUG, args![tenant.id()], |row| row.take())?;
        found.ok_or(crate::error::Error::NotFound)
    }
}
