//! Homerooms and their students in responses.

use api_macros::view;
use domain::account_email::AccountEmail;
use domain::details::ClassDetails;
use domain::from_fields;
use domain::homeroom::{HomeroomClassProblem, HomeroomEnrollment};
use domain::id::{ClassId, EnrollmentId, HomeroomId, OrganizationId, UserId};
use domain::text::{AcademicYear, ExternalId, GradeLevel, ShortName};
use domain::time::Timestamp;
use domain::user::Person;

/// A homeroom.
#[view]
pub struct HomeroomView {
    id: HomeroomId,
    name: ShortName,
    grade_level: Option<GradeLevel>,
    academic_year: Option<AcademicYear>,
    teacher_id: Option<UserId>,
    organization_id: OrganizationId,
    external_id: Option<ExternalId>,
    student_count: i64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl HomeroomView {
    pub fn new(homeroom: domain::homeroom::Homeroom, student_count: i64) -> Self {
        from_fields!(homeroom => Self {
            id, name, grade_level, academic_year, teacher_id, organization_id, external_id, created_at, updated_at,
            student_count: student_count,
        })
    }

    pub fn id(&self) -> &HomeroomId {
        &self.id
    }
}

/// Membership of a student in a homeroom.
#[view]
pub struct HomeroomEnrollmentView {
    id: EnrollmentId,
    homeroom_id: HomeroomId,
    student_id: UserId,
    enrolled_at: Timestamp,
}

/// The student of a homeroom membership.
#[view]
pub struct HomeroomPerson {
    id: UserId,
    name: String,
    image: Option<String>,
    /// Present for admins, and for teachers of a class of the student; null if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    email: Option<AccountEmail>,
}

/// A student of a homeroom.
#[view]
pub struct HomeroomStudentView {
    enrollment: HomeroomEnrollmentView,
    user: HomeroomPerson,
}

impl HomeroomStudentView {
    /// Returns the student; `email` only if the viewer may see it.
    pub fn new(enrollment: HomeroomEnrollment, person: Person, email: Option<AccountEmail>) -> Self {
        Self {
            enrollment: from_fields!(enrollment => HomeroomEnrollmentView {
                id, homeroom_id, student_id, enrolled_at,
            }),
            user: from_fields!(person => HomeroomPerson { id, name, image, email: email }),
        }
    }
}

/// The classes that were created from homerooms, or that a dry run would create.
#[view]
pub struct HomeroomClasses {
    created: Vec<HomeroomClass>,
    /// The homerooms for which no class was created.
    problems: Vec<SkippedHomeroom>,
}

/// A class that was created from a homeroom.
#[view]
pub struct HomeroomClass {
    homeroom_id: HomeroomId,
    /// The class; absent in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    class_id: Option<ClassId>,
    name: String,
    /// The owner of the class.
    teacher: Person,
    /// Number of enrolled students.
    students: i64,
}

/// A homeroom for which no class was created.
#[view]
pub struct SkippedHomeroom {
    homeroom_id: HomeroomId,
    /// The name of the homeroom; empty if it is unknown.
    name: String,
    problem: HomeroomClassProblem,
}

impl HomeroomClasses {
    /// Adds a created class.
    pub fn add_class(&mut self, homeroom_id: HomeroomId, details: ClassDetails, is_dry_run: bool) {
        self.created.push(HomeroomClass {
            homeroom_id,
            class_id: (!is_dry_run).then_some(details.class.id),
            name: details.class.name.into_string(),
            teacher: details.teacher,
            students: details.counts.students,
        });
    }

    /// Adds a homeroom for which no class was created.
    pub fn add_problem(&mut self, homeroom_id: HomeroomId, name: String, problem: HomeroomClassProblem) {
        self.problems.push(SkippedHomeroom {
            homeroom_id,
            name,
            problem,
        });
    }

    /// Returns an empty result for a number of homerooms.
    pub fn with_capacity(homerooms: usize) -> Self {
        Self {
            created: Vec::with_capacity(homerooms),
            problems: Vec::new(),
        }
    }
}
