//! The payloads of events (docs/events.md): scalar fields and ids. A text is fetched, except the texts of chat messages,
//! direct messages and feedback. The catalog in `api-types/event_catalog.rs` names the payload of each event.

use api_macros::view;
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
#[view]
#[schema(as = EventEnvelope)]
pub struct Envelope {
    /// The same for every version of one event
    pub event_id: String,
    pub at: Timestamp,
    pub organization_id: Option<OrganizationId>,
    pub class_id: Option<ClassId>,
    /// Who did it
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
#[view]
pub struct GroupCreated {
    pub group: EventGroup,
    pub course_id: Option<CourseId>,
    pub subject_id: Option<SubjectId>,
}

/// `group:updated`
#[view]
pub struct GroupUpdated<'a> {
    pub group: EventGroup,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
}

/// `group:deleted`
#[view]
pub struct GroupDeleted {
    pub group_id: GroupId,
    pub course_id: Option<CourseId>,
    pub reason: GroupDeletionReason,
}

/// `group:removed`: no reason is given
#[view]
pub struct GroupRemoved {
    pub group_id: GroupId,
}

/// `group:member:added`, `group:member:removed`
#[view]
pub struct GroupMembership {
    pub group_id: GroupId,
    pub user: EventPerson,
    /// The members as they are now
    pub member_ids: Vec<UserId>,
}

/// `group:help`
#[view]
pub struct GroupHelp {
    pub group_id: GroupId,
    pub group_name: ShortName,
    pub group_number: GroupNumber,
    pub needs_help: bool,
    pub help_message: Option<HelpMessage>,
    pub help_requested_at: Option<Timestamp>,
    /// When a student marked the request as no longer needed
    pub help_withdrawn_at: Option<Timestamp>,
    pub requested_by: Option<EventPerson>,
    /// Who is on the way
    pub help_claimed_by_id: Option<UserId>,
    pub course_id: Option<CourseId>,
}

/// `group:help:resolved`
#[view]
pub struct GroupHelpResolved {
    pub group_id: GroupId,
    pub needs_help: bool,
    pub resolved_by: EventPerson,
    pub waited_seconds: i64,
}

/// `help:claimed`
#[view]
pub struct GroupHelpClaimed {
    pub group_id: GroupId,
    /// Who is on the way
    pub claimed_by: EventPerson,
}

/// `group:presence`
#[view]
pub struct GroupPresence {
    pub group_id: GroupId,
    /// The members who are online
    pub online: Vec<UserId>,
    /// The members who are writing
    pub writing: Vec<UserId>,
}

/// `assignment:created`
#[view]
pub struct AssignmentCreated {
    pub assignment: EventAssignment,
    pub assignment_id: AssignmentId,
    pub course_id: Option<CourseId>,
    pub is_shared: bool,
    /// Staff only
    pub group_ids: StaffOnly<Vec<GroupId>>,
    /// Students only: their group
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// `assignment:updated`
#[view]
pub struct AssignmentUpdated<'a> {
    pub assignment_id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
    pub is_shared: bool,
    pub course_id: Option<CourseId>,
    pub status: AssignmentStatus,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
    /// Staff only
    pub affected_group_ids: StaffOnly<Vec<GroupId>>,
    /// Students only: their group
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_assignment: Option<EventGroupAssignment>,
}

/// `assignment:deleted`
#[view]
pub struct AssignmentDeleted {
    pub assignment_id: AssignmentId,
    pub course_id: Option<CourseId>,
    /// Students only: their group
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<GroupId>,
}

/// `assignment:attached`, `assignment:detached`
#[view]
pub struct AssignmentLinked {
    pub assignment_id: AssignmentId,
    pub course_id: Option<CourseId>,
    pub group_id: GroupId,
    /// Null when the group was detached
    pub group_assignment: Option<EventGroupAssignment>,
}

/// `assignment:finished`, `assignment:reopened`
#[view]
pub struct AssignmentSwitched {
    pub assignment_id: AssignmentId,
    pub status: AssignmentStatus,
    pub finished_at: Option<Timestamp>,
    /// The documents that were locked or unlocked; students find those of their own group
    pub documents: Vec<EventDocumentStatus>,
}

/// The status of a document.
#[view]
pub struct EventDocumentStatus {
    pub id: DocumentId,
    pub status: DocumentStatus,
    pub status_before_lock: Option<UnlockedStatus>,
}

/// `document:created`, `document:updated`
#[view]
pub struct DocumentEvent<'a> {
    pub document: DocumentFieldsView,
    /// The names of the fields that changed; absent when the document was saved
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub changed: Option<&'a [&'a str]>,
}

/// `document:deleted`, `document:freezing`
#[view]
pub struct DocumentRef {
    pub document_id: DocumentId,
    pub group_id: GroupId,
}

/// `document:status`
#[view]
pub struct DocumentStatusChanged {
    pub document_id: DocumentId,
    pub group_id: GroupId,
    pub status: DocumentStatus,
    pub status_before_lock: Option<UnlockedStatus>,
    pub assignment_id: Option<AssignmentId>,
    pub version: i64,
    pub content_pending: bool,
}

/// `submission:created`, `submission:withdrawn`, `submission:returned`
#[view]
pub struct SubmissionEvent {
    pub submission: EventSubmission,
    pub group_assignment: EventGroupAssignment,
}

/// `grade:published`, `grade:withdrawn`, `grade:drafted`
#[view]
pub struct GradeEvent {
    pub group_id: GroupId,
    pub assignment_id: AssignmentId,
    pub group_assignment_id: GroupAssignmentId,
    pub submission_id: SubmissionId,
    /// Null unless the grade is published
    pub grade: Option<EventGrade>,
}

/// `feedback:created`, `feedback:updated`
#[view]
pub struct FeedbackEvent {
    pub group_id: GroupId,
    pub assignment_id: AssignmentId,
    pub group_assignment_id: GroupAssignmentId,
    pub feedback_id: FeedbackId,
    /// Null when it is not to be read any more
    pub feedback: Option<FeedbackView>,
}

/// `message:new`, `message:updated`, `message:deleted`
#[view]
pub struct MessageEvent {
    pub message: RoomMessageView,
    pub work_room_id: WorkRoomId,
    pub group_id: GroupId,
}

/// `message:read`
#[view]
pub struct MessageRead {
    pub work_room_id: WorkRoomId,
    pub last_read_at: Timestamp,
    pub unread_count: i64,
}

/// `board:activity`
#[view]
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
#[view]
pub struct CourseEvent<'a> {
    pub course: EventCourse,
    pub course_id: CourseId,
    /// The names of the fields that changed; absent when the course is new
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub changed: Option<&'a [&'a str]>,
}

/// `document:commits`
#[view]
pub struct DocumentCommits {
    pub document_id: DocumentId,
    pub generation: i64,
    /// The version of the document after these commits
    pub version: i64,
    /// New commits in order; null if they have to be fetched
    pub commits: Option<Vec<CommitView>>,
}

/// `document:comments`
#[view]
pub struct DocumentComments {
    pub document_id: DocumentId,
    pub group_id: GroupId,
    /// The thread that changed; null if the user has read the comments: only the pages of this user receive that
    pub thread_id: Option<CommentThreadId>,
    /// The users whom the comment mentions since this change, without the actor; absent if there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub mentioned_user_ids: Option<Vec<UserId>>,
}

/// `document:cursor`
#[view(serde::Deserialize)]
pub struct DocumentCursor {
    pub document_id: DocumentId,
    pub generation: i64,
    /// The open page
    pub client_id: String,
    pub user_id: UserId,
    pub name: String,
    /// The version that the positions refer to
    pub version: i64,
    pub anchor: Option<i64>,
    pub head: Option<i64>,
    /// Whether the page was closed
    pub left: bool,
}

/// `course:deleted`
#[view]
pub struct CourseDeleted {
    pub course_id: CourseId,
    pub deleted_groups: Vec<GroupId>,
    pub deleted_assignments: Vec<AssignmentId>,
}

/// `class:created`, `class:updated`
#[view]
pub struct ClassEvent<'a> {
    pub class: EventClass,
    /// The names of the fields that changed; empty when the class is new
    pub changed: &'a [&'a str],
}

/// `class:membership`
#[view]
pub struct ClassMembership {
    pub user_id: UserId,
    pub role: MembershipRole,
    pub action: MembershipAction,
}

/// `subject:updated`
#[view]
pub struct SubjectUpdated<'a> {
    pub subject_id: SubjectId,
    pub action: EventAction,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
}

/// `rubric:updated`
#[view]
pub struct RubricUpdated {
    pub rubric_id: RubricId,
    pub action: EventAction,
}

/// `homeroom:updated`
#[view]
pub struct HomeroomUpdated<'a> {
    pub homeroom_id: HomeroomId,
    pub action: EventAction,
    /// The names of the fields that changed; `students` when some came or went
    pub changed: &'a [&'a str],
}

/// `user:updated`
#[view]
pub struct UserUpdated<'a> {
    /// Null when many were imported
    pub user_id: Option<UserId>,
    pub action: EventAction,
    /// The names of the fields that changed
    pub changed: &'a [&'a str],
}

/// `organization:updated`
#[view]
pub struct OrganizationUpdated<'a> {
    /// The names of the fields that changed; for admins also `invitations`, `domains`, `apiTokens` and `signOn`
    pub changed: &'a [&'a str],
}

/// `direct:new`
#[view]
pub struct DirectNew {
    pub message: DirectMessageView,
}

/// `import:progress`
#[view]
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
#[view]
pub struct SessionRevoked {
    pub reason: KillReason,
}

/// `ready`
#[view]
pub struct Ready {
    /// The events for this connection since the position that the client sent; null if they are unknown.
    #[schema(required = false)]
    pub missed: Option<Vec<Event>>,
}

/// `class:deleted`, `sync:required`: no fields but the common ones
#[view]
pub struct EmptyPayload {}
