//! Work rooms: each group has exactly one. It is visible to everyone who can view the group.

use domain::group::GroupContext;
use domain::id::{GroupId, MessageId, WorkRoomId};
use domain::message::{MessageType, WorkRoom};
use domain::text::ChatText;
use domain::time::Timestamp;
use domain::user::Person;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::groups::OWN_GROUPS;
use crate::labels::{group_context, person};
use crate::visibility::{CAN_VIEW_GROUP, UNREAD_MESSAGES};
use crate::{args, fragments, from_row, statements};
use common::error::Result;

fragments! {
    SELECT_ROOMS = "SELECT w.id, w.organization_id, w.group_id, w.created_at, w.updated_at, g.name AS group_name,
        g.group_number,
                g.display_name, g.course_id AS group_course_id, k.id AS class_id, k.status AS class_status,
                g.start_date,
                t.id AS user_id, t.name AS user_name, t.image AS user_image,
                (SELECT COUNT(*) FROM documents d WHERE d.organization_id = $1
                AND d.work_room_id = w.id) AS document_count,
                {UNREAD_MESSAGES} AS unread,
                k.name_key AS class_key, m.id AS message_id, m.seq, m.type, m.content, m.created_at AS sent_at,
                m.deleted_at,
                u.id AS sender_id, u.name AS sender_name, u.image AS sender_image,
                h.id AS helper_id, h.name AS helper_name, h.image AS helper_image
            FROM groups g JOIN classes k ON k.id = g.class_id JOIN work_rooms w ON w.group_id = g.id
            JOIN users t ON t.id = k.teacher_id
            LEFT JOIN work_room_messages m ON m.work_room_id = w.id AND m.seq = w.last_message_seq
            LEFT JOIN users u ON u.id = m.sender_id
            LEFT JOIN users h ON h.id = g.help_claimed_by_id
            WHERE g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND {CAN_VIEW_GROUP}";
}

statements! {
    BY_ID = "{SELECT_ROOMS} AND w.id = $6";
    BY_GROUP = "{SELECT_ROOMS} AND g.id = $6";
    /// All rooms visible to a viewer who is staff.
    ALL = "{SELECT_ROOMS} ORDER BY k.sort_key, k.id, g.group_number, g.id";
    /// The rooms of a student. The search starts at their memberships.
    OF_STUDENT = "{SELECT_ROOMS} AND {OWN_GROUPS} ORDER BY k.sort_key, k.id, g.group_number, g.id";
    INSERT = "INSERT INTO work_rooms (organization_id, id, group_id, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $4)";
}

/// A room with the context that responses contain.
#[derive(Debug, Clone)]
pub struct VisibleWorkRoom {
    pub room: WorkRoom,
    pub group_context: GroupContext,
    /// The owner of its class.
    pub teacher: Person,
    /// The number of documents.
    pub documents: i64,
    /// The number of messages the user has not read.
    pub unread: i64,
    /// The sort key of its class.
    pub class_key: String,
    /// The newest message.
    pub last_message: Option<LastMessage>,
    /// Who claimed the help request of the group.
    pub help_claimed_by: Option<Person>,
}

impl VisibleWorkRoom {
    /// Returns the sort key of lists by class and group number.
    pub fn position(&self) -> impl Ord + Send + use<> {
        let group = &self.group_context.group;
        (
            self.class_key.clone(),
            self.group_context.class.clone(),
            group.group_number,
            group.id.clone(),
        )
    }
}

/// The newest message of a room. Its content is hidden once it is deleted.
#[derive(Debug, Clone)]
pub struct LastMessage {
    pub id: MessageId,
    /// The sequence number in the room.
    pub seq: i64,
    pub kind: MessageType,
    pub content: ChatText,
    pub created_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    /// `None` for messages of the service.
    pub sender: Option<Person>,
}

impl ReadTx<'_> {
    /// Returns a room, or `NotFound` if the viewer cannot view its group.
    pub fn work_room(&mut self, id: &WorkRoomId) -> Result<VisibleWorkRoom> {
        let user = self.user_text();
        self.fetch_one_visible(&BY_ID, args![user, id], room)
    }

    /// Returns the room of a group, or `NotFound` if the viewer cannot view the group.
    pub fn work_room_of(&mut self, group: &GroupId) -> Result<VisibleWorkRoom> {
        let user = self.user_text();
        self.fetch_one_visible(&BY_GROUP, args![user, group], room)
    }

    /// Lists the rooms visible to the viewer, by class and group number.
    pub fn work_rooms(&mut self) -> Result<Vec<VisibleWorkRoom>> {
        let user = self.user_text();
        let set = if self.viewer().is_staff() { &ALL } else { &OF_STUDENT };
        self.fetch_all_visible(set, args![user], room)
    }
}

impl WriteTx<'_> {
    /// Inserts the work room of a new group.
    pub(super) fn insert_work_room(&mut self, id: &WorkRoomId, group: &GroupId) -> Result<()> {
        let now = self.now();
        self.execute(&INSERT, args![id, group, now])
    }
}

fn room(row: &Columns<'_>) -> Result<VisibleWorkRoom> {
    from_row!(row => VisibleWorkRoom {
        documents = "document_count", unread, class_key,
        room: from_row!(row => WorkRoom { id, organization_id, group_id, created_at, updated_at })?,
        group_context: group_context(row)?,
        teacher: person(row)?,
        last_message: last_message(row)?,
        help_claimed_by: helper(row)?,
    })
}

fn helper(row: &Columns<'_>) -> Result<Option<Person>> {
    Ok(match (row.get("helper_id")?, row.get("helper_name")?) {
        (Some(id), Some(name)) => Some(Person {
            id,
            name,
            image: row.get("helper_image")?,
        }),
        _ => None,
    })
}

fn last_message(row: &Columns<'_>) -> Result<Option<LastMessage>> {
    let Some(id) = row.get("message_id")? else {
        return Ok(None);
    };
    let (seq, kind) = (row.get("seq")?, row.get::<MessageType>("type")?);
    let content: ChatText = row.get("content")?;
    let (created_at, deleted_at): (Timestamp, Option<Timestamp>) = (row.get("sent_at")?, row.get("deleted_at")?);
    let sender = match (row.get("sender_id")?, row.get("sender_name")?) {
        (Some(id), Some(name)) => Some(Person {
            id,
            name,
            image: row.get("sender_image")?,
        }),
        _ => None,
    };
    let content = if deleted_at.is_some() {
        ChatText::stored("")
    } else {
        content
    };
    Ok(Some(LastMessage {
        id,
        seq,
        kind,
        content,
        created_at,
        deleted_at,
        sender,
    }))
}
