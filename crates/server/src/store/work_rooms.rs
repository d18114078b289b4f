//! Work rooms: one for each group, made with it. Who sees the inside of the group sees its room; nobody else knows of it.

use model::document::{Document, DocumentStatus, Open, Status};
use model::document_kind::{DocumentType, FileExtension};
use model::id::{GroupId, WorkRoomId};
use model::message::WorkRoom;

use super::sql::Columns;
use super::{Scope, Work};
use crate::error::Result;
use crate::{args, sees_group, statements};

/// The columns of a document `d` in room `w`, as [`document`] reads them.
macro_rules! document_columns {
    () => {
        "d.id, d.organization_id, d.work_room_id, w.group_id, d.title, d.document_type, d.file_extension, d.status,
            d.status_before_lock, d.locked_at, d.locked_by_assignment_id, d.assignment_id, d.generation,
            d.current_revision_id, d.version, d.size, d.created_by_id, d.last_edited_by, d.last_activity,
            d.save_failed_at, d.submitted_at, d.submitted_by_id, d.created_at, d.updated_at"
    };
}
pub(in crate::store) use document_columns;

macro_rules! rooms {
    ($condition:literal) => {
        concat!(
            "SELECT w.id, w.organization_id, w.group_id, w.created_at, w.updated_at
            FROM work_rooms w JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
            WHERE w.organization_id = $1 AND ",
            sees_group!(),
            $condition
        )
    };
}

statements! {
    /// One room the viewer sees.
    BY_ID = rooms!(" AND w.id = $5");
    /// The room of a group the viewer sees.
    BY_GROUP = rooms!(" AND g.id = $5");
    /// The documents of one room, oldest first.
    DOCUMENTS = concat!("SELECT ", document_columns!(), " FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
        WHERE d.organization_id = $1 AND d.work_room_id = $2
        ORDER BY d.created_at, d.id");
    /// A new room.
    INSERT = "INSERT INTO work_rooms (organization_id, id, group_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)";
}

impl Scope<'_> {
    /// One room, if the viewer sees its inside.
    pub fn work_room(&mut self, id: &WorkRoomId) -> Result<WorkRoom> {
        self.one_visible(&BY_ID, args![id], room)
    }

    /// The room of a group, if the viewer sees its inside.
    pub fn work_room_of(&mut self, group: &GroupId) -> Result<WorkRoom> {
        self.one_visible(&BY_GROUP, args![group], room)
    }

    /// The documents of a room that the caller has loaded, oldest first.
    pub fn documents_in_room(&mut self, room: &WorkRoomId) -> Result<Vec<Document>> {
        self.many(&DOCUMENTS, args![room], document)
    }
}

impl Work<'_> {
    /// Writes the one room of a new group.
    pub(super) fn insert_work_room(&mut self, id: &WorkRoomId, group: &GroupId) -> Result<()> {
        let now = self.now();
        self.run(&INSERT, args![id, group, now]).map(drop)
    }
}

fn room(row: &mut Columns<'_>) -> Result<WorkRoom> {
    Ok(WorkRoom {
        id: row.take()?,
        organization_id: row.take()?,
        group_id: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

/// Reads [`document_columns`].
pub(super) fn document(row: &mut Columns<'_>) -> Result<Document> {
    Ok(Document {
        id: row.take()?,
        organization_id: row.take()?,
        work_room_id: row.take()?,
        group_id: row.take()?,
        title: row.take()?,
        document_type: row.parse(DocumentType::parse)?,
        file_extension: row.parse(FileExtension::parse)?,
        status: {
            let word = row.parse(DocumentStatus::parse)?;
            Status::stored(word, row.parse_option(Open::parse)?)
        },
        locked_at: row.take()?,
        locked_by_assignment_id: row.take()?,
        assignment_id: row.take()?,
        generation: row.take()?,
        current_revision_id: row.take()?,
        version: row.take()?,
        size: row.take()?,
        created_by_id: row.take()?,
        last_edited_by: row.take()?,
        last_activity: row.take()?,
        save_failed_at: row.take()?,
        submitted_at: row.take()?,
        submitted_by_id: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}
