//! Look-up of the organizations that hold personal data of a user: memberships and other rows.

use domain::id::UserId;

use super::PlatformTx;
use crate::{Tenant, args, statements};
use common::error::Result;

statements! {
    /// Organizations with their slugs, which are unique. Submissions are scanned once, not once per organization.
    HOLDERS = "SELECT o.id, o.slug FROM organizations o WHERE o.id IN (
            SELECT organization_id FROM members WHERE user_id = $1
            UNION SELECT organization_id FROM activity_logs WHERE user_id = $1
            UNION SELECT organization_id FROM direct_messages WHERE sender_id = $1
            UNION SELECT organization_id FROM message_recipients WHERE user_id = $1
            UNION SELECT organization_id FROM work_room_messages WHERE sender_id = $1
            UNION SELECT organization_id FROM submissions
                WHERE submitted_by_id = $1 OR member_ids LIKE '%' || $1 || '%')
        ORDER BY o.slug";
    SLUG = "SELECT slug FROM organizations WHERE id = $1";
}

impl PlatformTx<'_> {
    /// Lists the organizations that hold personal data of a user, with their slugs.
    pub fn holders_of(&mut self, user: &UserId) -> Result<Vec<(Tenant, String)>> {
        self.fetch_all(&HOLDERS, args![user], |row| {
            Ok((Tenant(row.get("id")?), row.get("slug")?))
        })
    }

    /// Returns the slug of an organization.
    pub fn slug_of(&mut self, tenant: &Tenant) -> Result<String> {
        let found = self.fetch_optional(&SLUG, args![tenant.id()], |row| row.get("slug"))?;
        found.ok_or(common::error::Error::NotFound)
    }
}
