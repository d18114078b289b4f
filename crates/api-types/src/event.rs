//! The payloads of events (docs/events.md): scalar fields and ids. A text is fetched, except the texts of chat messages,
//! direct messages and feedback. The catalog in `views/event_catalog.rs` names the payload of each event.

use domain::assignment::AssignmentStatus;
use domain::document::{DocumentStatus, UnlockedStatus};
use domain::id::{
    AssignmentId, ClassId, CommentThreadId, CourseId, DocumentId, FeedbackId, GroupAssignmentId, GroupId, HomeroomId,
    OrganizationId, RubricId, SubjectId, SubmissionId, UserId, WorkRoomId,
};
use domain::number::GroupNumber;
use domain::realtime::{Event, EventAction, GroupDeletionReason, KillReason, MembershipAction, MembershipRole};
use domain::text::{HelpMessage, ShortName, Title};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::audience::StaffOnly;
use super::document::DocumentFieldsView;
use super::document_log::CommitView;
pub use super::event_parts::{
    EventAssignment, EventClass, EventCourse, EventGrade, EventGroup, EventGroupAssignment, EventPerson,
    EventSubmission,
};
use super::message::{DirectMessageView, RoomMessageView};
use super::submission::FeedbackView;

/// The fields that begin every payload.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventEnvelope)]
pub struct Envelope {
    /// The same for every version of one event
    pub event_id: String,
    pub at: Timestamp,
    #[schema(required)]
    pub organization_id: Option<OrganizationId>,
    #[schema(required)]
    pub class_id: Option<ClassId>,
    /// Who did it
    #[schema(required)]
    pub actor: Option<EventPerson>,
}

impl Envelope {
    /// The payload: this and what the event carries.
    pub fn with(self, event: Event, rest: &impl Serialize) -> Value {
        let mut payload = json!(self);
        if let (Value::Object(payload), Value::Object(rest)) = (&mut payload, json!(rest)) {
            payload.extend(rest);
        }
        event.fit(&mut payload);
        payload
    }
}

/// `group:created`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupCreated {
    pub group: EventGroup,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    #[schema(required)]
    pub subject_id: Option<SubjectId>,
}

/// `group:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupUpdated<'a> {
    pub group: EventGroup,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
}

/// `group:deleted`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupDeleted {
    pub group_id: GroupId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    pub reason: GroupDeletionReason,
}

/// `group:removed`: no reason is given
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupRemoved {
    pub group_id: GroupId,
}

/// `group:member:added`, `group:member:removed`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupMembership {
    pub group_id: GroupId,
    pub user: EventPerson,
    /// The members as they are now
    pub member_ids: Vec<UserId>,
}

/// `group:help`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupHelp {
    pub group_id: GroupId,
    pub group_name: ShortName,
    pub group_number: GroupNumber,
    pub needs_help: bool,
    #[schema(required)]
    pub help_message: Option<HelpMessage>,
    #[schema(required)]
    pub help_requested_at: Option<Timestamp>,
    /// When a student marked the request as no longer needed
    #[schema(required)]
    pub help_withdrawn_at: Option<Timestamp>,
    #[schema(required)]
    pub requested_by: Option<EventPerson>,
    /// Who is on the way
    #[schema(required)]
    pub help_claimed_by_id: Option<UserId>,
    #[schema(required)]
    pub course_id: Option<CourseId>,
}

/// `group:help:resolved`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupHelpResolved {
    pub group_id: GroupId,
    pub needs_help: bool,
    pub resolved_by: EventPerson,
    pub waited_seconds: i64,
}

/// `help:claimed`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupHelpClaimed {
    pub group_id: GroupId,
    /// Who is on the way
    pub claimed_by: EventPerson,
}

/// `group:presence`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupPresence {
    pub group_id: GroupId,
    /// The members who are online
    pub online: Vec<UserId>,
    /// The members who are writing
    pub writing: Vec<UserId>,
}

/// `assignment:created`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentCreated {
    pub assignment: EventAssignment,
    pub assignment_id: AssignmentId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    pub is_shared: bool,
    /// Staff only
    #[serde(skip_serializing_if = "StaffOnly::is_absent")]
    #[schema(value_type = Vec<GroupId>, required = false)]
    pub group_ids: StaffOnly<Vec<GroupId>>,
    /// Students only: their group
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// `assignment:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentUpdated<'a> {
    pub assignment_id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
    pub is_shared: bool,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    pub status: AssignmentStatus,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
    /// Staff only
    #[serde(skip_serializing_if = "StaffOnly::is_absent")]
    #[schema(value_type = Vec<GroupId>, required = false)]
    pub affected_group_ids: StaffOnly<Vec<GroupId>>,
    /// Students only: their group
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// `assignment:deleted`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentDeleted {
    pub assignment_id: AssignmentId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    /// Students only: their group
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<GroupId>,
}

/// `assignment:attached`, `assignment:detached`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentLinked {
    pub assignment_id: AssignmentId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    pub group_id: GroupId,
    /// Null when the group was detached
    #[schema(required)]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// `assignment:finished`, `assignment:reopened`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentSwitched {
    pub assignment_id: AssignmentId,
    pub status: AssignmentStatus,
    #[schema(required)]
    pub finished_at: Option<Timestamp>,
    /// The documents that were locked or unlocked; students find those of their own group
    pub documents: Vec<EventDocumentStatus>,
}

/// The status of a document.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventDocumentStatus {
    pub id: DocumentId,
    pub status: DocumentStatus,
    #[schema(required)]
    pub status_before_lock: Option<UnlockedStatus>,
}

/// `document:created`, `document:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentEvent<'a> {
    pub document: DocumentFieldsView,
    /// The names of the fields that changed; absent when the document was saved
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub changed: Option<&'a [&'a str]>,
}

/// `document:deleted`, `document:freezing`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentRef {
    pub document_id: DocumentId,
    pub group_id: GroupId,
}

/// `document:status`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentStatusChanged {
    pub document_id: DocumentId,
    pub group_id: GroupId,
    pub status: DocumentStatus,
    #[schema(required)]
    pub status_before_lock: Option<UnlockedStatus>,
    #[schema(required)]
    pub assignment_id: Option<AssignmentId>,
    pub version: i64,
    pub content_pending: bool,
}

/// `submission:created`, `submission:withdrawn`, `submission:returned`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmissionEvent {
    pub submission: EventSubmission,
    pub group_assignment: EventGroupAssignment,
}

/// `grade:published`, `grade:withdrawn`, `grade:drafted`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GradeEvent {
    pub group_id: GroupId,
    pub assignment_id: AssignmentId,
    pub group_assignment_id: GroupAssignmentId,
    pub submission_id: SubmissionId,
    /// Null unless the grade is published
    #[schema(required)]
    pub grade: Option<EventGrade>,
}

/// `feedback:created`, `feedback:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackEvent {
    pub group_id: GroupId,
    pub assignment_id: AssignmentId,
    pub group_assignment_id: GroupAssignmentId,
    pub feedback_id: FeedbackId,
    /// Null when it is not to be read any more
    #[schema(required)]
    pub feedback: Option<FeedbackView>,
}

/// `message:new`, `message:updated`, `message:deleted`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageEvent {
    pub message: RoomMessageView,
    pub work_room_id: WorkRoomId,
    pub group_id: GroupId,
}

/// `message:read`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageRead {
    pub work_room_id: WorkRoomId,
    pub last_read_at: Timestamp,
    pub unread_count: i64,
}

/// `board:activity`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardActivity {
    pub group_id: GroupId,
    /// The members who are online
    pub online: Vec<UserId>,
    /// The members who are writing
    pub writing: Vec<UserId>,
    /// How often members wrote in each of the last 20 minutes
    pub activity: Vec<u32>,
}

/// `course:created`, `course:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseEvent<'a> {
    pub course: EventCourse,
    pub course_id: CourseId,
    /// The names of the fields that changed; absent when the course is new
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub changed: Option<&'a [&'a str]>,
}

/// `document:commits`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentCommits {
    pub document_id: DocumentId,
    pub generation: i64,
    /// The version of the document after these commits
    pub version: i64,
    /// New commits in order; null if they have to be fetched
    #[schema(required)]
    pub commits: Option<Vec<CommitView>>,
}

/// `document:comments`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentComments {
    pub document_id: DocumentId,
    pub group_id: GroupId,
    /// The thread that changed; null if the user has read the comments: only the pages of this user receive that
    #[schema(required)]
    pub thread_id: Option<CommentThreadId>,
    /// The users whom the comment mentions since this change, without the actor; absent if there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub mentioned_user_ids: Option<Vec<UserId>>,
}

/// `document:cursor`
#[derive(Debug, Clone, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentCursor {
    pub document_id: DocumentId,
    pub generation: i64,
    /// The open page
    pub client_id: String,
    pub user_id: UserId,
    pub name: String,
    /// The version that the positions refer to
    pub version: i64,
    #[schema(required)]
    pub anchor: Option<i64>,
    #[schema(required)]
    pub head: Option<i64>,
    /// Whether the page was closed
    pub left: bool,
}

/// `course:deleted`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseDeleted {
    pub course_id: CourseId,
    pub deleted_groups: Vec<GroupId>,
    pub deleted_assignments: Vec<AssignmentId>,
}

/// `class:created`, `class:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassEvent<'a> {
    pub class: EventClass,
    /// The names of the fields that changed; empty when the class is new
    pub changed: &'a [&'a str],
}

/// `class:membership`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassMembership {
    pub user_id: UserId,
    pub role: MembershipRole,
    pub action: MembershipAction,
}

/// `subject:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectUpdated<'a> {
    pub subject_id: SubjectId,
    pub action: EventAction,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
}

/// `rubric:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RubricUpdated {
    pub rubric_id: RubricId,
    pub action: EventAction,
}

/// `homeroom:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HomeroomUpdated<'a> {
    pub homeroom_id: HomeroomId,
    pub action: EventAction,
    /// The names of the fields that changed; `students` when some came or went
    pub changed: &'a [&'a str],
}

/// `user:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserUpdated<'a> {
    /// Null when many were imported
    #[schema(required)]
    pub user_id: Option<UserId>,
    pub action: EventAction,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
}

/// `organization:updated`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationUpdated<'a> {
    /// The names of the fields that changed; for admins also `invitations`, `domains`, `apiTokens` and `signOn`
    pub changed: &'a [&'a str],
}

/// `direct:new`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectNew {
    pub message: DirectMessageView,
}

/// `import:progress`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportProgress {
    pub import_id: String,
    pub rows: i64,
    pub done: i64,
    pub created: i64,
    pub updated: i64,
    pub invited: i64,
    pub skipped: i64,
    pub failed: i64,
    pub dry_run: bool,
    pub is_finished: bool,
}

/// `session:revoked`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRevoked {
    pub reason: KillReason,
}

/// `ready`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// The events for this connection since the position that the client sent; null if they are unknown.
    pub missed: Option<Vec<Event>>,
}

/// `class:deleted`, `sync:required`: no fields but the common ones
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EmptyPayload {}
