//! The payloads of events (docs/events.md): scalar fields and ids. A text is fetched, except the texts of chat messages,
//! direct messages and feedback. The catalog in `changes/events.rs` names the payload of each event.

#![expect(missing_docs, reason = "a field of a payload is documented by its name")]

use model::assignment::{Assignment, AssignmentStatus, LatePolicy};
use model::class::ClassStatus;
use model::course::CourseStatus;
use model::document::{DocumentStatus, Open};
use model::grade::{Grade, GradeStatus, MemberGrade};
use model::group_assignment::GroupAssignmentStatus;
use model::id::{
    AssignmentId, ClassId, CourseId, DocumentId, FeedbackId, GroupAssignmentId, GroupId, HomeroomId, OrganizationId,
    SubjectId, SubmissionId, UserId, WorkRoomId,
};
use model::news::{Event, EventAction, GroupDeletionReason, KillReason, MembershipAction, MembershipRole};
use model::number::{GroupNumber, Points, RequiredSubmissions};
use model::submission::Submission;
use model::text::{AcademicYear, ExternalId, GradeScale, GradeValue, HelpMessage, Name, Semester, ShortName, Title};
use model::time::Timestamp;
use model::user::Person;
use model::whole::{WholeClass, WholeCourse, WholeGroup, WholeGroupAssignment};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::audience::{Audience, StaffOnly};
use super::document::DocumentFieldsView;
use super::group::GroupSummaryView;
use super::message::{DirectMessageView, RoomMessageView};
use super::submission::{FeedbackView, shown_grade};

/// With what every payload begins.
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

/// A person as events mention them.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EventPerson {
    pub id: UserId,
    pub name: String,
}

impl From<&Person> for EventPerson {
    fn from(person: &Person) -> Self {
        Self {
            id: person.id.clone(),
            name: person.name.clone(),
        }
    }
}

/// The fields of a group and the ids of its members.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventGroup {
    #[serde(flatten)]
    fields: GroupSummaryView,
    member_ids: Vec<UserId>,
}

impl EventGroup {
    /// The group as this audience sees it.
    pub fn new(whole: &WholeGroup, audience: &Audience, now: Timestamp) -> Self {
        let count = i64::try_from(whole.members.len()).unwrap_or(i64::MAX);
        Self {
            fields: GroupSummaryView::new(&whole.group, count, audience, now),
            member_ids: whole.member_ids(),
        }
    }
}

/// The fields of a topic without its text.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventAssignment {
    id: AssignmentId,
    title: Title,
    deadline: Timestamp,
    required_submissions: RequiredSubmissions,
    class_id: ClassId,
    #[schema(required)]
    course_id: Option<CourseId>,
    is_shared: bool,
    status: AssignmentStatus,
    #[schema(required)]
    finished_at: Option<Timestamp>,
    #[schema(required)]
    finished_by_id: Option<UserId>,
    #[schema(required)]
    max_points: Option<Points>,
    #[schema(required)]
    grade_scale: Option<GradeScale>,
    late_policy: LatePolicy,
    created_by_id: UserId,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<&Assignment> for EventAssignment {
    fn from(topic: &Assignment) -> Self {
        Self {
            id: topic.id.clone(),
            title: topic.title.clone(),
            deadline: topic.deadline,
            required_submissions: topic.required_submissions,
            class_id: topic.class_id.clone(),
            course_id: topic.course_id.clone(),
            is_shared: topic.is_shared,
            status: topic.status(),
            finished_at: topic.finished.as_ref().map(|finish| finish.at),
            finished_by_id: topic.finished.as_ref().and_then(|finish| finish.by.clone()),
            max_points: topic.max_points,
            grade_scale: topic.grade_scale.clone(),
            late_policy: topic.late_policy,
            created_by_id: topic.created_by_id.clone(),
            created_at: topic.created_at,
            updated_at: topic.updated_at,
        }
    }
}

/// How far a group is with a topic; its text is fetched.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventGroupAssignment {
    id: GroupAssignmentId,
    group_id: GroupId,
    assignment_id: AssignmentId,
    status: GroupAssignmentStatus,
    #[schema(required)]
    current_submission_id: Option<SubmissionId>,
}

impl From<&WholeGroupAssignment> for EventGroupAssignment {
    fn from(whole: &WholeGroupAssignment) -> Self {
        let link = &whole.link;
        Self {
            id: link.id.clone(),
            group_id: link.group_id.clone(),
            assignment_id: link.assignment_id.clone(),
            status: link.status,
            current_submission_id: link.current_submission_id.clone(),
        }
    }
}

/// The fields of a course without its description.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventCourse {
    id: CourseId,
    name: Name,
    class_id: ClassId,
    subject_id: SubjectId,
    status: CourseStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<&WholeCourse> for EventCourse {
    fn from(whole: &WholeCourse) -> Self {
        let course = &whole.course;
        Self {
            id: course.id.clone(),
            name: course.name.clone(),
            class_id: course.class_id.clone(),
            subject_id: course.subject_id.clone(),
            status: course.status,
            created_at: course.created_at,
            updated_at: course.updated_at,
        }
    }
}

/// The fields of a class without its lists, counts and schedule.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventClass {
    id: ClassId,
    name: Name,
    academic_year: AcademicYear,
    #[schema(required)]
    semester: Option<Semester>,
    #[schema(required)]
    start_date: Option<Timestamp>,
    #[schema(required)]
    end_date: Option<Timestamp>,
    status: ClassStatus,
    teacher_id: UserId,
    #[schema(required)]
    homeroom_id: Option<HomeroomId>,
    #[schema(required)]
    external_id: Option<ExternalId>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<&WholeClass> for EventClass {
    fn from(whole: &WholeClass) -> Self {
        let class = &whole.class;
        Self {
            id: class.id.clone(),
            name: class.name.clone(),
            academic_year: class.academic_year.clone(),
            semester: class.semester.clone(),
            start_date: class.start_date,
            end_date: class.end_date,
            status: class.status,
            teacher_id: class.teacher_id.clone(),
            homeroom_id: class.homeroom_id.clone(),
            external_id: class.external_id.clone(),
            created_at: class.created_at,
            updated_at: class.updated_at,
        }
    }
}

/// An attempt of a group.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventSubmission {
    id: SubmissionId,
    attempt: i64,
    submitted_at: Timestamp,
    is_late: bool,
    submitted_by_id: UserId,
    document_ids: Vec<DocumentId>,
}

impl EventSubmission {
    /// The attempt with the documents it concerns.
    pub fn new(submission: &Submission, document_ids: Vec<DocumentId>) -> Self {
        Self {
            id: submission.id.clone(),
            attempt: submission.attempt,
            submitted_at: submission.submitted_at,
            is_late: submission.lateness.is_late,
            submitted_by_id: submission.submitted_by_id.clone(),
            document_ids,
        }
    }
}

/// A published grade without the texts written with it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventGrade {
    #[schema(required)]
    value: Option<GradeValue>,
    #[schema(required)]
    points: Option<Points>,
    status: GradeStatus,
    graded_by_id: UserId,
    graded_at: Timestamp,
    #[schema(required)]
    published_at: Option<Timestamp>,
    /// All for the staff, the own for a student
    member_grades: Vec<EventMemberGrade>,
}

/// The grade of a single member without the text written with it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventMemberGrade {
    user_id: UserId,
    #[schema(required)]
    value: Option<GradeValue>,
    #[schema(required)]
    points: Option<Points>,
}

impl EventGrade {
    /// The grade as this audience sees it, when it is published.
    pub fn new(grade: &Grade, audience: &Audience) -> Option<Self> {
        if grade.status != GradeStatus::Published {
            return None;
        }
        let grade = shown_grade(grade, audience)?;
        let own = |grade: MemberGrade| EventMemberGrade {
            user_id: grade.user_id,
            value: grade.value,
            points: grade.points,
        };
        Some(Self {
            value: grade.value,
            points: grade.points,
            status: grade.status,
            graded_by_id: grade.graded_by_id,
            graded_at: grade.graded_at,
            published_at: grade.published_at,
            member_grades: grade.member_grades.into_iter().map(own).collect(),
        })
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
    pub status_before_lock: Option<Open>,
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
    pub status_before_lock: Option<Open>,
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
    /// How often somebody wrote in each of the last 20 minutes
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
    /// The names of the fields that changed; for admins also `invitations` and `domains`
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

/// `class:deleted`, `ready`, `sync:required`: the common fields say everything
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NothingMore {}
