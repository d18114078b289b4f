//! The room of a group as answers show it (contract 3.7): who is there, its documents, its topics, its latest message.

use model::group::GroupLabel;
use model::id::{GroupId, MessageId, OrganizationId, WorkRoomId};
use model::message::{MessageType, WorkRoom};
use model::text::ChatText;
use model::time::Timestamp;
use model::user::Person;
use model::whole::WholeGroup;
use serde::Serialize;
use utoipa::ToSchema;

use super::audience::{Audience, StaffOnly};
use super::document::DocumentView;
use super::group::GroupMemberView;
use super::group_assignment::GroupAssignmentView;

/// A room in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkRoomSummary)]
pub struct WorkRoomSummaryView {
    id: WorkRoomId,
    group_id: GroupId,
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
    group: GroupLabel,
    /// Messages that the caller has not read
    unread_count: i64,
    /// Staff only: how many documents it has
    #[serde(skip_serializing_if = "StaffOnly::is_absent")]
    #[schema(value_type = i64, required = false)]
    document_count: StaffOnly<i64>,
    #[schema(required)]
    last_message: Option<LastMessageView>,
}

/// A room with everything in it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkRoom)]
pub struct WorkRoomView {
    #[serde(flatten)]
    summary: WorkRoomSummaryView,
    members: Vec<GroupMemberView>,
    /// The owner of the class
    teacher: Person,
    documents: Vec<DocumentView>,
    group_assignments: Vec<GroupAssignmentView>,
}

/// The latest message of a room.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LastMessage)]
pub struct LastMessageView {
    /// Its id.
    pub id: MessageId,
    /// Its place in the room
    pub seq: i64,
    /// What it is.
    pub r#type: MessageType,
    /// What it says; nothing once it is deleted
    pub content: ChatText,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was deleted
    #[schema(required)]
    pub deleted_at: Option<Timestamp>,
    /// Who wrote it; null for the service
    #[schema(required)]
    pub sender: Option<Person>,
}

impl WorkRoomSummaryView {
    /// The room in a list for somebody who sees its inside.
    pub fn new(room: WorkRoom, group: GroupLabel, unread: i64, documents: i64, audience: &Audience) -> Self {
        Self {
            id: room.id,
            group_id: room.group_id,
            organization_id: room.organization_id,
            created_at: room.created_at,
            updated_at: room.updated_at,
            group,
            unread_count: unread,
            document_count: audience.staff_only(documents),
            last_message: None,
        }
    }

    /// The same with the latest message of the room.
    #[must_use]
    pub fn with_last_message(mut self, last_message: Option<LastMessageView>) -> Self {
        self.last_message = last_message;
        self
    }

    /// The same with everything in the room.
    pub fn whole(
        self,
        group: &WholeGroup,
        teacher: Person,
        documents: Vec<DocumentView>,
        audience: &Audience,
    ) -> WorkRoomView {
        let member = |member| GroupMemberView::new(member, audience);
        let link = |link| GroupAssignmentView::new(link, audience);
        WorkRoomView {
            summary: self,
            members: group.members.iter().map(member).collect(),
            teacher,
            documents,
            group_assignments: group.links.iter().map(link).collect(),
        }
    }
}
