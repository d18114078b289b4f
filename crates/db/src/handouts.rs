//! Handouts: copies of a topic's file in the rooms of its groups.

use domain::id::{AssignmentId, AttachmentId, DocumentId, GroupId, WorkRoomId};

use super::{ReadTx, WriteTx};
use crate::{args, statements};
use common::error::Result;

statements! {
    ROOMS = "SELECT ga.group_id, w.id FROM group_assignments ga JOIN work_rooms w ON w.group_id = ga.group_id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2 ORDER BY ga.id";
    /// The groups of a topic that have a copy of a file.
    HANDED_OUT = "SELECT ga.group_id FROM group_assignments ga JOIN work_rooms w ON w.group_id = ga.group_id
        JOIN documents d ON d.work_room_id = w.id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2 AND d.handed_out_from = $3 ORDER BY ga.id";
    NOTE = "UPDATE documents SET handed_out_from = $3 WHERE organization_id = $1 AND id = $2";
}

impl ReadTx<'_> {
    /// Lists the groups of a topic with their rooms.
    pub fn rooms_of_topic(&mut self, topic: &AssignmentId) -> Result<Vec<(GroupId, WorkRoomId)>> {
        self.fetch_all(&ROOMS, args![topic], |row| row.pair("group_id", "id"))
    }

    /// Lists the groups of a topic that still have a copy of a file.
    pub fn groups_with_handout(&mut self, topic: &AssignmentId, attachment: &AttachmentId) -> Result<Vec<GroupId>> {
        self.fetch_all(&HANDED_OUT, args![topic, attachment], |row| row.get("group_id"))
    }
}

impl WriteTx<'_> {
    /// Records the file of which a document is a copy.
    pub fn record_handout(&mut self, document: &DocumentId, attachment: &AttachmentId) -> Result<()> {
        self.execute(&NOTE, args![document, attachment])
    }
}
