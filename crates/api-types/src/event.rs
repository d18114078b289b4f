//! Payloads of real-time events (docs/events.md): scalar fields and ids. Clients fetch texts, except those of room
//! messages, direct messages and feedback. The catalog in `views/event_catalog.rs` assigns a payload to each event.

use model::assignment::AssignmentStatus;
use model::document::{DocumentStatus, Open};
use model::id::{
    AssignmentId, ClassId, CourseId, DocumentId, FeedbackId, GroupAssignmentId, GroupId, HomeroomId, OrganizationId,
    SubjectId, SubmissionId, UserId, WorkRoomId,
};
use model::news::{Event, EventAction, GroupDeletionReason, KillReason, MembershipAction, MembershipRole};
use model::number::GroupNumber;
use model::text::{HelpMessage, ShortName, Title};
use model::time::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::audience::StaffOnly;
use super::document::DocumentFieldsView;
pub use super::event_parts::{
    EventAssignment, EventClass, EventCourse, EventGrade, EventGroup, EventGroupAssignment, EventPerson,
    EventSubmission,
};
use super::message::{DirectMessageView, RoomMessageView};
use super::submission::FeedbackView;

/// Fields common to all events.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventEnvelope)]
pub struct Envelope {
    /// Unique id of the event. Identical in all copies of an event, also if their payloads differ between audiences.
    pub event_id: String,
    pub at: Timestamp,
    #[schema(required)]
    pub organization_id: Option<OrganizationId>,
    #[schema(required)]
    pub class_id: Option<ClassId>,
    /// The user who caused the event.
    #[schema(required)]
    pub actor: Option<EventPerson>,
}

impl Envelope {
    /// Returns the payload: the common fields and those of the event.
    pub fn with(self, event: Event, rest: &impl Serialize) -> Value {
        let mut payload = json!(self);
        if let (Value::Object(payload), Value::Object(rest)) = (&mut payload, json!(rest)) {
            payload.extend(rest);
        }
        event.fit(&mut payload);
        payload
    }
}

/// Payload of `group:created`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupCreated {
    pub group: EventGroup,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    #[schema(required)]
    pub subject_id: Option<SubjectId>,
}

/// Payload of `group:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupUpdated<'a> {
    pub group: EventGroup,
    /// Names of the changed fields.
    pub changed: &'a [&'a str],
}

/// Payload of `group:deleted`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupDeleted {
    pub group_id: GroupId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    pub reason: GroupDeletionReason,
}

/// Payload of `group:removed`. It does not contain the reason.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupRemoved {
    pub group_id: GroupId,
}

/// Payload of `group:member:added` and `group:member:removed`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupMembership {
    pub group_id: GroupId,
    pub user: EventPerson,
    /// The members after the change.
    pub member_ids: Vec<UserId>,
}

/// Payload of `group:help`.
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
    #[schema(required)]
    pub requested_by: Option<EventPerson>,
    /// The teacher who claimed the help request.
    #[schema(required)]
    pub help_claimed_by_id: Option<UserId>,
    #[schema(required)]
    pub course_id: Option<CourseId>,
}

/// Payload of `group:help:resolved`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupHelpResolved {
    pub group_id: GroupId,
    pub needs_help: bool,
    pub resolved_by: EventPerson,
    pub waited_seconds: i64,
}

/// Payload of `assignment:created`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentCreated {
    pub assignment: EventAssignment,
    pub assignment_id: AssignmentId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    pub is_shared: bool,
    /// Staff only.
    #[serde(skip_serializing_if = "StaffOnly::is_absent")]
    #[schema(value_type = Vec<GroupId>, required = false)]
    pub group_ids: StaffOnly<Vec<GroupId>>,
    /// Students only: the link of their group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// Payload of `assignment:updated`.
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
    /// Names of the changed fields.
    pub changed: &'a [&'a str],
    /// Staff only.
    #[serde(skip_serializing_if = "StaffOnly::is_absent")]
    #[schema(value_type = Vec<GroupId>, required = false)]
    pub affected_group_ids: StaffOnly<Vec<GroupId>>,
    /// Students only: the link of their group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// Payload of `assignment:deleted`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentDeleted {
    pub assignment_id: AssignmentId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    /// Students only: their group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<GroupId>,
}

/// Payload of `assignment:attached` and `assignment:detached`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentLinked {
    pub assignment_id: AssignmentId,
    #[schema(required)]
    pub course_id: Option<CourseId>,
    pub group_id: GroupId,
    /// Null if the group was detached.
    #[schema(required)]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// Payload of `assignment:finished` and `assignment:reopened`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentSwitched {
    pub assignment_id: AssignmentId,
    pub status: AssignmentStatus,
    #[schema(required)]
    pub finished_at: Option<Timestamp>,
    /// The documents that were locked or unlocked; for students, those of their own group.
    pub documents: Vec<EventDocumentStatus>,
}

/// The status of a document.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventDocumentStatus {
    pub id: DocumentId,
    pub status: DocumentStatus,
    #[schema(required)]
    pub status_before_lock: Option<Open>,
}

/// Payload of `document:created` and `document:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentEvent<'a> {
    pub document: DocumentFieldsView,
    /// Names of the changed fields; absent if the document was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub changed: Option<&'a [&'a str]>,
}

/// Payload of `document:deleted` and `document:freezing`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentRef {
    pub document_id: DocumentId,
    pub group_id: GroupId,
}

/// Payload of `document:status`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentStatusChanged {
    pub document_id: DocumentId,
    pub group_id: GroupId,
    pub status: DocumentStatus,
    #[schema(required)]
    pub status_before_lock: Option<Open>,
    #[schema(required)]
    pub assignment_id: Option<AssignmentId>,
    pub version: i64,
    pub content_pending: bool,
}

/// Payload of `submission:created`, `submission:withdrawn` and `submission:returned`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmissionEvent {
    pub submission: EventSubmission,
    pub group_assignment: EventGroupAssignment,
}

/// Payload of `grade:published`, `grade:withdrawn` and `grade:drafted`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GradeEvent {
    pub group_id: GroupId,
    pub assignment_id: AssignmentId,
    pub group_assignment_id: GroupAssignmentId,
    pub submission_id: SubmissionId,
    /// Null unless the grade is published.
    #[schema(required)]
    pub grade: Option<EventGrade>,
}

/// Payload of `feedback:created` and `feedback:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackEvent {
    pub group_id: GroupId,
    pub assignment_id: AssignmentId,
    pub group_assignment_id: GroupAssignmentId,
    pub feedback_id: FeedbackId,
    /// Null if the recipients may no longer read the feedback.
    #[schema(required)]
    pub feedback: Option<FeedbackView>,
}

/// Payload of `message:new`, `message:updated` and `message:deleted`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageEvent {
    pub message: RoomMessageView,
    pub work_room_id: WorkRoomId,
    pub group_id: GroupId,
}

/// Payload of `message:read`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageRead {
    pub work_room_id: WorkRoomId,
    pub last_read_at: Timestamp,
    pub unread_count: i64,
}

/// Payload of `board:activity`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardActivity {
    pub group_id: GroupId,
    /// Members who are online.
    pub online: Vec<UserId>,
    /// Members who are typing.
    pub writing: Vec<UserId>,
    /// Typing activity in each of the last 20 minutes, oldest first.
    pub activity: Vec<u32>,
}

/// Payload of `course:created` and `course:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseEvent<'a> {
    pub course: EventCourse,
    pub course_id: CourseId,
    /// Names of the changed fields; absent for a new course.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub changed: Option<&'a [&'a str]>,
}

/// Payload of `course:deleted`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseDeleted {
    pub course_id: CourseId,
    pub deleted_groups: Vec<GroupId>,
    pub deleted_assignments: Vec<AssignmentId>,
}

/// Payload of `class:created` and `class:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassEvent<'a> {
    pub class: EventClass,
    /// Names of the changed fields; empty for a new class.
    pub changed: &'a [&'a str],
}

/// Payload of `class:membership`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassMembership {
    pub user_id: UserId,
    pub role: MembershipRole,
    pub action: MembershipAction,
}

/// Payload of `subject:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectUpdated<'a> {
    pub subject_id: SubjectId,
    pub action: EventAction,
    /// Names of the changed fields.
    pub changed: &'a [&'a str],
}

/// Payload of `homeroom:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HomeroomUpdated<'a> {
    pub homeroom_id: HomeroomId,
    pub action: EventAction,
    /// Names of the changed fields; `students` if students were added or removed.
    pub changed: &'a [&'a str],
}

/// Payload of `user:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserUpdated<'a> {
    /// The changed user; null if several users were imported.
    #[schema(required)]
    pub user_id: Option<UserId>,
    pub action: EventAction,
    /// Names of the changed fields.
    pub changed: &'a [&'a str],
}

/// Payload of `organization:updated`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationUpdated<'a> {
    /// Names of the changed fields; for admins also `invitations` and `domains`.
    pub changed: &'a [&'a str],
}

/// Payload of `direct:new`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectNew {
    pub message: DirectMessageView,
}

/// Payload of `import:progress`.
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

/// Payload of `session:revoked`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRevoked {
    pub reason: KillReason,
}

/// Payload of `class:deleted`, `ready` and `sync:required`: only the common fields.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EmptyPayload {}
