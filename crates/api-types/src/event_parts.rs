//! Objects contained in event payloads: scalar fields and ids, without texts and attachments.

use api_macros::view;
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

use super::audience::Audience;
use super::group::GroupSummaryView;
use super::submission::shown_grade;

/// A user in events.
#[view]
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
#[view]
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
#[view]
pub struct EventAssignment {
    id: AssignmentId,
    title: Title,
    deadline: Timestamp,
    required_submissions: RequiredSubmissions,
    class_id: ClassId,
    course_id: Option<CourseId>,
    is_shared: bool,
    status: AssignmentStatus,
    finished_at: Option<Timestamp>,
    finished_by_id: Option<UserId>,
    max_points: Option<Points>,
    grade_scale: Option<GradeScale>,
    late_policy: LatePolicy,
    created_by_id: UserId,
    created_at: Timestamp,
    updated_at: Timestamp,
}

view_from!(topic: &Assignment => EventAssignment {
    id, title, deadline, required_submissions, class_id, course_id, is_shared, max_points, grade_scale,
    late_policy, created_by_id, created_at, updated_at,
    status: topic.status(),
    finished_at: topic.finished.as_ref().map(|finish| finish.at),
    finished_by_id: topic.finished.as_ref().and_then(|finish| finish.by.clone()),
});

/// The progress of a group on a topic, without the task text.
#[view]
pub struct EventGroupAssignment {
    id: GroupAssignmentId,
    group_id: GroupId,
    assignment_id: AssignmentId,
    status: GroupAssignmentStatus,
    current_submission_id: Option<SubmissionId>,
}

impl From<&GroupAssignmentDetails> for EventGroupAssignment {
    fn from(details: &GroupAssignmentDetails) -> Self {
        let link = &details.link;
        from_fields!(&link => Self { id, group_id, assignment_id, status, current_submission_id })
    }
}

/// The fields of a course without its description.
#[view]
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
#[view]
pub struct EventClass {
    id: ClassId,
    name: Name,
    academic_year: AcademicYear,
    semester: Option<Semester>,
    start_date: Option<Timestamp>,
    end_date: Option<Timestamp>,
    status: ClassStatus,
    teacher_id: UserId,
    homeroom_id: Option<HomeroomId>,
    follows_homeroom: bool,
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
#[view]
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
#[view]
pub struct EventGrade {
    value: Option<GradeValue>,
    points: Option<Points>,
    status: GradeStatus,
    graded_by_id: UserId,
    graded_at: Timestamp,
    published_at: Option<Timestamp>,
    /// For staff, all individual grades; for a student, only their own.
    member_grades: Vec<EventMemberGrade>,
}

/// The individual grade of a member without the comment.
#[view]
pub struct EventMemberGrade {
    user_id: UserId,
    value: Option<GradeValue>,
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
