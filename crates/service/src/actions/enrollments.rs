//! Who learns in a class: enrolling, leaving, completing.

use garde::Validate;
use model::change::class::ClassChange;
use model::class::ClassEnrollment;
use model::edit::Edit;
use model::id::{ClassId, GroupId, HomeroomId, UserId};
use model::list::List;
use model::refusal::Refusal;
use model::time::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use common::error::Result;
use db::Work;

/// Students to be enrolled: named one by one, or all of a homeroom.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewStudents {
    /// Students of the organization whose accounts are active.
    #[serde(default, alias = "memberIds", alias = "userIds")]
    #[garde(dive)]
    pub student_ids: Option<List<UserId>>,
    /// The homeroom whose students come.
    #[garde(skip)]
    pub homeroom_id: Option<HomeroomId>,
}

/// What a PATCH of an enrolment may change.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnrollmentEdit {
    /// When the student completed the class.
    #[serde(default)]
    #[garde(skip)]
    pub completed_at: Edit<Timestamp>,
}

/// What enrolling did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enrolled {
    /// How many are new.
    pub added: usize,
    /// How many were there before.
    pub already_enrolled: usize,
}

/// Enrols students; whoever is there already stays.
pub fn enroll(work: &mut Work<'_>, id: &ClassId, new: &NewStudents) -> Result<Enrolled> {
    let by_homeroom = match (&new.student_ids, &new.homeroom_id) {
        (Some(_), None) => None,
        (None, Some(homeroom)) => Some(homeroom),
        _ => {
            return Err(Refusal::Invalid {
                path: "studentIds",
                code: "exactly_one",
                message: "or homeroomId must be given, and only one of them",
            }
            .into());
        }
    };
    let class = work.class_to_manage(id)?;
    let wanted = if let Some(homeroom) = by_homeroom {
        work.homeroom_label(homeroom)?;
        work.homeroom_learners(homeroom)?
    } else {
        let named = new.student_ids.as_deref().unwrap_or_default();
        named
            .iter()
            .map(|student| work.learning_member(student))
            .collect::<Result<Vec<_>>>()?
    };
    class.writable()?;
    let asked = wanted.len();
    let mut students = Vec::new();
    for student in wanted {
        let is_new = match by_homeroom {
            Some(_) => work.enroll_from_homeroom(id, &student.id)?,
            None => work.enroll(id, &student.id)?,
        };
        if is_new {
            students.push(student);
        }
    }
    let enrolled = Enrolled {
        added: students.len(),
        already_enrolled: asked - students.len(),
    };
    if !students.is_empty() {
        let class = Box::new(class);
        work.record(ClassChange::Enrolled { class, students });
    }
    Ok(enrolled)
}

/// Ends an enrolment and with it the student's memberships in all groups of the class; answers those groups. What was
/// handed in remembers who took part.
pub fn unenroll(work: &mut Work<'_>, id: &ClassId, student_id: &UserId) -> Result<Vec<GroupId>> {
    let class = work.class_to_manage(id)?;
    let student = work.class_student(id, student_id)?.person;
    class.writable()?;
    let left = work.end_enrollment(id, student_id)?;
    let removed_from = left.iter().map(|whole| whole.group.id.clone()).collect();
    let class = Box::new(class);
    work.record(ClassChange::Unenrolled { class, student, left });
    Ok(removed_from)
}

/// Notes when a student completed the class, or that he did not.
pub fn edit(work: &mut Work<'_>, id: &ClassId, student_id: &UserId, edit: &EnrollmentEdit) -> Result<ClassEnrollment> {
    let class = work.class_to_manage(id)?;
    let found = work.class_student(id, student_id)?;
    let (mut enrollment, student) = (found.enrollment, found.person);
    let changed = edit.completed_at.clone().apply(&mut enrollment.completed_at);
    if changed {
        class.writable()?;
        let completed_at = enrollment.completed_at;
        work.complete_enrollment(id, student_id, completed_at)?;
        let class = Box::new(class);
        work.record(ClassChange::EnrollmentUpdated {
            class,
            student,
            completed_at,
        });
    }
    Ok(enrollment)
}
