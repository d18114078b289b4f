//! Work rooms in responses: members, documents, topics and the latest message.

use api_macros::view;
use domain::details::GroupDetails;
use domain::from_fields;
use domain::group::GroupLabel;
use domain::id::{GroupId, MessageId, OrganizationId, UserId, WorkRoomId};
use domain::message::{MessageType, WorkRoom};
use domain::text::ChatText;
use domain::time::Timestamp;
use domain::user::Person;

use super::audience::{Audience, StaffOnly};
use super::document::DocumentView;
use super::group::GroupMemberView;
use super::group_assignment::GroupAssignmentView;

/// A work room in a list.
#[view]
pub struct WorkRoomSummaryView {
    id: WorkRoomId,
    group_id: GroupId,
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
    group: GroupLabel,
    /// Number of messages the caller has not read.
    unread_count: i64,
    /// Staff only: number of documents.
    document_count: StaffOnly<i64>,
    last_message: Option<LastMessageView>,
}

/// A work room with its members, documents and topics.
#[view]
pub struct WorkRoomView {
    #[serde(flatten)]
    summary: WorkRoomSummaryView,
    members: Vec<GroupMemberView>,
    /// The owner of the class.
    teacher: Person,
    documents: Vec<DocumentView>,
    group_assignments: Vec<GroupAssignmentView>,
    /// Who claimed the help request of the group and is on the way.
    help_claimed_by: Option<Person>,
    /// The members who are online. Presence is never stored.
    online: Vec<UserId>,
    /// The members who are writing.
    writing: Vec<UserId>,
}

/// Which members of a group are online and which are writing.
#[derive(Debug, Clone, Default)]
pub struct RoomPresence {
    pub online: Vec<UserId>,
    pub writing: Vec<UserId>,
}

/// The latest message of a room.
#[view]
pub struct LastMessageView {
    pub id: MessageId,
    /// Sequence number in the room.
    pub seq: i64,
    pub r#type: MessageType,
    /// Empty if the message is deleted.
    pub content: ChatText,
    pub created_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    /// The author; null for messages of the service.
    pub sender: Option<Person>,
}

impl WorkRoomSummaryView {
    /// Returns the room in a list for a user with access to it.
    pub fn new(room: WorkRoom, group: GroupLabel, unread: i64, documents: i64, audience: &Audience) -> Self {
        from_fields!(room => Self {
            id, group_id, organization_id, created_at, updated_at,
            group: group,
            unread_count: unread,
            document_count: audience.staff_only(documents),
            last_message: None,
        })
    }

    #[must_use]
    pub fn with_last_message(mut self, last_message: Option<LastMessageView>) -> Self {
        self.last_message = last_message;
        self
    }

    /// Adds the members, documents and topics of the room.
    pub fn details(
        self,
        group: &GroupDetails,
        teacher: Person,
        help_claimed_by: Option<Person>,
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
            help_claimed_by,
            online: Vec::new(),
            writing: Vec::new(),
        }
    }
}

impl WorkRoomView {
    /// Returns the ids of the members.
    pub fn member_ids(&self) -> Vec<UserId> {
        self.members.iter().map(|member| member.user_id().clone()).collect()
    }

    /// Adds who is online and who is writing.
    #[must_use]
    pub fn with_presence(self, presence: RoomPresence) -> Self {
        let RoomPresence { online, writing } = presence;
        Self {
            online,
            writing,
            ..self
        }
    }

    pub fn group_id(&self) -> &GroupId {
        &self.summary.group_id
    }

    pub fn organization_id(&self) -> &OrganizationId {
        &self.summary.organization_id
    }
}
