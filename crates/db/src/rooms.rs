//! The socket rooms of a user, read in one statement with the same visibility rules as HTTP.

use domain::id::{ClassId, DocumentId, GroupId};
use domain::realtime::Room;

use super::ReadTx;
use crate::visibility::{CAN_MANAGE_CLASS, CAN_VIEW_GROUP};
use crate::{args, statements};
use common::error::{Error, Result};

statements! {
    /// The rooms of the viewer: the classes they manage (a staff room and a class room each), the classes they are
    /// enrolled in, and the groups they can view.
    ROOMS = "SELECT 'STAFF' AS kind, k.id FROM classes k WHERE k.organization_id = $1 AND {CAN_MANAGE_CLASS}
        UNION ALL
        SELECT 'CLASS', k.id FROM class_enrollments e
            JOIN classes k ON k.organization_id = e.organization_id AND k.id = e.class_id
            WHERE e.organization_id = $1 AND e.student_id = $3 AND $2 = 'STUDENT' AND k.status <> 'DRAFT'
        UNION ALL
        SELECT 'GROUP', g.id FROM group_members m
            JOIN groups g ON g.organization_id = m.organization_id AND g.id = m.group_id
            JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
            WHERE m.organization_id = $1 AND m.user_id = $3 AND $2 = 'STUDENT' AND {CAN_VIEW_GROUP}";
    /// The group of a document, if the viewer can view it.
    GROUP_OF_DOCUMENT = "SELECT g.id FROM documents d
            JOIN work_rooms w ON w.organization_id = d.organization_id AND w.id = d.work_room_id
            JOIN groups g ON g.organization_id = w.organization_id AND g.id = w.group_id
            JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
            WHERE d.organization_id = $1 AND d.id = $5 AND {CAN_VIEW_GROUP}";
}

impl ReadTx<'_> {
    /// Lists the rooms that the viewer may join in this organization.
    pub fn rooms(&mut self) -> Result<Vec<Room>> {
        let found = self.fetch_all_visible(&ROOMS, args![], |row| {
            let (kind, id): (String, String) = (row.get("kind")?, row.get("id")?);
            match kind.as_str() {
                "STAFF" => Ok(vec![Room::Staff(ClassId::new(&id)), Room::Class(ClassId::new(&id))]),
                "CLASS" => Ok(vec![Room::Class(ClassId::new(&id))]),
                "GROUP" => Ok(vec![Room::Group(GroupId::new(&id))]),
                other => Err(Error::Internal(anyhow::anyhow!("no such room: {other}"))),
            }
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns the group of a document, or `NotFound` if the viewer cannot view it.
    pub fn group_of_document(&mut self, document: &DocumentId) -> Result<GroupId> {
        self.fetch_one_visible(&GROUP_OF_DOCUMENT, args![document], |row| row.get("id"))
    }
}
