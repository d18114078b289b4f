//! Objects contained in event payloads: scalar fields and ids, without texts and attachments.

use domain::assignment::{Assignment, AssignmentStatus, LatePolicy};
use domain::class::ClassStatus;
use domain::course::CourseStatus;
use domain::details::{ClassDetails, CourseDetails, GroupAssignmentDetails, GroupDetails};
use domain::from_fields;
use domain::grade::{Grade, GradeStatus, MemberGrade};
use domain::group_assignment::GroupAssignmentStatus;
use domain::id::{
    AssignmentId, ClassId, CourseId, DocumentId, GroupAssignmentId, GroupId, HomeroomId, SubjectId, SubmissionId,
    UserId,
};
use domain::number::{Points, RequiredSubmissions};
use domain::submission::Submission;
use domain::text::{AcademicYear, ExternalId, GradeScale, GradeValue, Name, Semester, Title};
use domain::time::Timestamp;
use domain::user::Person;
use serde::Serialize;
use utoipa::ToSchema;

use super::audience::Audience;
use super::group::GroupSummaryView;
use super::submission::shown_grade;

/// A user in events.
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
    /// Returns the group as visible to the audience.
    pub fn new(details: &GroupDetails, audience: &Audience, now: Timestamp) -> Self {
        let count = i64::try_from(details.members.len()).unwrap_or(i64::MAX);
        Self {
            fields: GroupSummaryView::new(&details.group, count, audience, now),
            member_ids: details.member_ids(),
        }
    }
}

/// The fields of a topic without its task text.
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
        from_fields!(&topic => Self {
            id, title, deadline, required_submissions, class_id, course_id, is_shared, max_points, grade_scale,
            late_policy, created_by_id, created_at, updated_at,
            status: topic.status(),
            finished_at: topic.finished.as_ref().map(|finish| finish.at),
            finished_by_id: topic.finished.as_ref().and_then(|finish| finish.by.clone()),
        })
    }
}

/// The progress of a group on a topic, without the task text.
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

impl From<&GroupAssignmentDetails> for EventGroupAssignment {
    fn from(details: &GroupAssignmentDetails) -> Self {
        let link = &details.link;
        from_fields!(&link => Self { id, group_id, assignment_id, status, current_submission_id })
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

impl From<&CourseDetails> for EventCourse {
    fn from(details: &CourseDetails) -> Self {
        let course = &details.course;
        from_fields!(&course => Self { id, name, class_id, subject_id, status, created_at, updated_at })
    }
}

/// The fields of a class without its lists, counts and timetable.
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
    follows_homeroom: bool,
    #[schema(required)]
    external_id: Option<ExternalId>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<&ClassDetails> for EventClass {
    fn from(details: &ClassDetails) -> Self {
        let class = &details.class;
        from_fields!(&class => Self {
            id, name, academic_year, semester, start_date, end_date, status, teacher_id, homeroom_id, follows_homeroom,
            external_id, created_at, updated_at,
        })
    }
}

/// A submission attempt of a group.
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
    /// Returns the attempt with the documents the event concerns.
    pub fn new(submission: &Submission, document_ids: Vec<DocumentId>) -> Self {
        from_fields!(&submission => Self {
            id, attempt, submitted_at, submitted_by_id,
            is_late: submission.lateness.is_late,
            document_ids: document_ids,
        })
    }
}

/// A published grade without comments.
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
    /// For staff, all individual grades; for a student, only their own.
    member_grades: Vec<EventMemberGrade>,
}

/// The individual grade of a member without the comment.
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
    /// Returns the grade as visible to the audience; `None` unless it is published.
    pub fn new(grade: &Grade, audience: &Audience) -> Option<Self> {
        if grade.status != GradeStatus::Published {
            return None;
        }
        let grade = shown_grade(grade, audience)?;
        let own = |grade: MemberGrade| from_fields!(grade => EventMemberGrade { user_id, value, points });
        Some(from_fields!(grade => Self {
            value, points, status, graded_by_id, graded_at, published_at,
            member_grades: grade.member_grades.into_iter().map(own).collect(),
        }))
    }
}
