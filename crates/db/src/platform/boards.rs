//! Class and members of the groups on lesson boards, for the sockets of an instance. Board events are sent to the staff
//! of the class only.

use std::collections::HashSet;

use domain::id::{ClassId, GroupId, OrganizationId, UserId};

use super::PlatformTx;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// The groups of a user in unarchived classes.
    OF_MEMBER = "SELECT g.id FROM group_members m JOIN groups g ON g.id = m.group_id JOIN classes k ON k.id = g.class_id
        WHERE m.organization_id = $1 AND m.user_id = $2 AND k.status <> 'ARCHIVED' ORDER BY g.id";
    /// The class and the members of a group.
    BY_ID = "SELECT g.class_id, m.user_id FROM groups g LEFT JOIN group_members m ON m.group_id = g.id
        WHERE g.organization_id = $1 AND g.id = $2 ORDER BY m.joined_at, m.id";
}

/// A group on a lesson board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardGroup {
    pub organization: OrganizationId,
    pub id: GroupId,
    pub class: ClassId,
    pub members: Vec<UserId>,
}

impl PlatformTx<'_> {
    /// Returns the groups of these users and the listed groups.
    pub fn board_groups(
        &mut self,
        people: &[(OrganizationId, UserId)],
        groups: &HashSet<(OrganizationId, GroupId)>,
    ) -> Result<Vec<BoardGroup>> {
        let mut wanted = groups.clone();
        for (organization, user) in people {
            let of_member = self.fetch_all(&OF_MEMBER, args![organization, user], |row| row.get::<GroupId>("id"))?;
            wanted.extend(of_member.into_iter().map(|group| (organization.clone(), group)));
        }
        let mut found = Vec::with_capacity(wanted.len());
        for (organization, id) in wanted {
            let rows: Vec<(ClassId, Option<UserId>)> =
                self.fetch_all(&BY_ID, args![organization, id], |row| row.pair("class_id", "user_id"))?;
            let class = rows.first().map(|(class, _)| class.clone());
            // The group may have been deleted in the meantime.
            found.extend(class.map(|class| BoardGroup {
                organization,
                id,
                class,
                members: rows.into_iter().filter_map(|(_, member)| member).collect(),
            }));
        }
        Ok(found)
    }
}
