//! Classes and their students in responses and events. The staff of a class see all fields, other teachers a summary,
//! and students everything except counts and email addresses.

use api_macros::view;
use domain::access::Viewer;
use domain::account_email::AccountEmail;
use domain::class::{ClassEnrollment, ClassStatus};
use domain::details::{ClassCounts, ClassDetails};
use domain::from_fields;
use domain::homeroom::HomeroomLabel;
use domain::id::{ClassId, EnrollmentId, GroupId, HomeroomId, OrganizationId, UserId};
use domain::schedule::Schedule;
use domain::subject::SubjectLabel;
use domain::text::{AcademicYear, ExternalId, Name, Semester};
use domain::time::Timestamp;
use domain::user::Person;

/// A class.
#[view]
pub struct ClassView {
    id: ClassId,
    organization_id: OrganizationId,
    name: Name,
    academic_year: AcademicYear,
    semester: Option<Semester>,
    start_date: Option<Timestamp>,
    end_date: Option<Timestamp>,
    status: ClassStatus,
    teacher_id: UserId,
    homeroom_id: Option<HomeroomId>,
    /// Whether students who join or leave the homeroom join or leave the class.
    follows_homeroom: bool,
    external_id: Option<ExternalId>,
    schedule: Option<Schedule>,
    created_at: Timestamp,
    updated_at: Timestamp,
    teacher: Person,
    homeroom: Option<HomeroomLabel>,
    /// Absent in the summary for teachers of other classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    co_teachers: Option<Vec<CoTeacherView>>,
    /// Absent in the summary for teachers of other classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    subjects: Option<Vec<SubjectLabel>>,
    /// Present for the staff of the organization only.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<ClassCounts>,
}

/// A co-teacher of a class.
#[view(PartialEq, Eq)]
pub struct CoTeacherView {
    id: UserId,
    name: String,
}

impl From<Person> for CoTeacherView {
    fn from(person: Person) -> Self {
        Self {
            id: person.id,
            name: person.name,
        }
    }
}

impl ClassView {
    pub fn id(&self) -> &ClassId {
        &self.id
    }

    /// Returns the class as visible to a viewer who may see it.
    pub fn of(details: ClassDetails, viewer: &Viewer) -> Self {
        let co_teachers: Vec<UserId> = details.co_teachers.iter().map(|person| person.id.clone()).collect();
        let shows_lists = !viewer.is_staff() || details.class.managed_by(viewer, &co_teachers);
        let counts = viewer.is_staff().then_some(details.counts);
        let lists = shows_lists.then(|| (details.co_teachers.clone(), details.subjects.clone()));
        let mut view = Self::summary(details);
        view.counts = counts;
        if let Some((co_teachers, subjects)) = lists {
            view.co_teachers = Some(co_teachers.into_iter().map(CoTeacherView::from).collect());
            view.subjects = Some(subjects);
        }
        view
    }

    /// Returns the class without lists and counts, as sent in events to all its members.
    pub fn summary(details: ClassDetails) -> Self {
        let class = details.class;
        from_fields!(class => Self {
            id, organization_id, name, academic_year, semester, start_date, end_date, status, teacher_id, homeroom_id,
            follows_homeroom, external_id, schedule, created_at, updated_at,
            teacher: details.teacher,
            homeroom: details.homeroom,
            co_teachers: None,
            subjects: None,
            counts: None,
        })
    }
}

/// Enrolment of a student in a class.
#[view]
pub struct ClassEnrollmentView {
    id: EnrollmentId,
    class_id: ClassId,
    student_id: UserId,
    enrolled_at: Timestamp,
    completed_at: Option<Timestamp>,
}

view_from!(enrollment: ClassEnrollment => ClassEnrollmentView { id, class_id, student_id, enrolled_at, completed_at });

/// Who joined and left a class because of its homeroom, or would in a dry run.
#[view]
pub struct ClassFollowing {
    follows_homeroom: bool,
    homeroom_id: Option<HomeroomId>,
    /// Students of the homeroom who were not enrolled.
    joined: Vec<Person>,
    left: Vec<ClassLeaver>,
}

/// A student who left a class together with the homeroom.
#[view]
pub struct ClassLeaver {
    student: Person,
    /// The groups from which the student was removed.
    removed_from_groups: Vec<GroupId>,
}

impl ClassFollowing {
    /// Returns the result; `left` are the students with their former groups.
    pub fn new(details: &ClassDetails, joined: Vec<Person>, left: Vec<(Person, Vec<GroupId>)>) -> Self {
        let leaver = |(student, removed_from_groups)| ClassLeaver {
            student,
            removed_from_groups,
        };
        Self {
            follows_homeroom: details.class.follows_homeroom,
            homeroom_id: details.class.homeroom_id.clone(),
            joined,
            left: left.into_iter().map(leaver).collect(),
        }
    }
}

/// A student, as visible to the staff of the class.
#[view]
pub struct StudentView {
    id: UserId,
    name: String,
    image: Option<String>,
    /// Null for accounts without an email address.
    #[schema(required, value_type = Option<String>)]
    email: AccountEmail,
}

impl StudentView {
    pub fn new(person: Person, email: AccountEmail) -> Self {
        from_fields!(person => Self { id, name, image, email: email })
    }
}

/// A student of a class with the enrolment and the groups.
#[view]
pub struct ClassStudentView {
    enrollment: ClassEnrollmentView,
    user: StudentView,
    group_ids: Vec<GroupId>,
}

impl ClassStudentView {
    /// Returns the student with all details visible to staff.
    pub fn new(enrollment: ClassEnrollment, person: Person, email: AccountEmail, group_ids: Vec<GroupId>) -> Self {
        Self {
            enrollment: enrollment.into(),
            user: StudentView::new(person, email),
            group_ids,
        }
    }
}

/// A student of a class with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(tag = "view", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RosterEntryView {
    /// For the staff of the class: with email address, enrolment and groups.
    Full(Box<ClassStudentView>),
    /// For students of the class: name and image only.
    Outline(Person),
}
