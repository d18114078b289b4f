//! Enrolls students in classes, unenrolls them and marks enrolments as completed.

use domain::change::class::ClassChange;
use domain::class::ClassEnrollment;
use domain::domain_error::DomainError;
use domain::id::{ClassId, GroupId, HomeroomId, UserId};
use domain::list::List;
use domain::patch::FieldPatch;
use domain::time::Timestamp;
use garde::Validate;
use serde::Deserialize;
use utoipa::ToSchema;

use common::error::Result;
use db::WriteTx;

/// The students to enroll: either a list, or all students of a homeroom.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewStudents {
    /// Students of the organization with active accounts.
    #[serde(default, alias = "memberIds", alias = "userIds")]
    #[garde(dive)]
    pub student_ids: Option<List<UserId>>,
    /// The homeroom whose students are enrolled.
    #[garde(skip)]
    pub homeroom_id: Option<HomeroomId>,
}

/// The fields of an enrolment that a PATCH can change.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnrollmentEdit {
    /// When the student completed the class; null if they did not.
    #[serde(default)]
    #[garde(skip)]
    pub completed_at: FieldPatch<Timestamp>,
}

/// The result of an enrolment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enrolled {
    /// The number of students who were enrolled.
    pub added: usize,
    /// The number of students who were enrolled before.
    pub already_enrolled: usize,
}

/// Enrolls students; those who are enrolled already are unchanged.
pub fn enroll(tx: &mut WriteTx<'_>, id: &ClassId, new: &NewStudents) -> Result<Enrolled> {
    let by_homeroom = match (&new.student_ids, &new.homeroom_id) {
        (Some(_), None) => None,
        (None, Some(homeroom)) => Some(homeroom),
        _ => {
            return Err(DomainError::Invalid {
                path: "studentIds",
                code: "exactly_one",
                message: "or homeroomId must be given, and only one of them",
            }
            .into());
        }
    };
    let class = tx.lock_managed_class(id)?;
    let wanted = if let Some(homeroom) = by_homeroom {
        tx.homeroom_label(homeroom)?;
        tx.homeroom_learners(homeroom)?
    } else {
        let named = new.student_ids.as_deref().unwrap_or_default();
        named
            .iter()
            .map(|student| tx.learning_member(student))
            .collect::<Result<Vec<_>>>()?
    };
    class.writable()?;
    let asked = wanted.len();
    let mut students = Vec::new();
    for student in wanted {
        let is_new = match by_homeroom {
            Some(_) => tx.enroll_from_homeroom(id, &student.id)?,
            None => tx.enroll(id, &student.id)?,
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
        tx.record(ClassChange::Enrolled { class, students });
    }
    Ok(enrolled)
}

/// Ends an enrolment and the memberships of the student in all groups of the class. Returns those groups. Submissions
/// keep the list of their participants.
pub fn unenroll(tx: &mut WriteTx<'_>, id: &ClassId, student_id: &UserId) -> Result<Vec<GroupId>> {
    let class = tx.lock_managed_class(id)?;
    let student = tx.class_student(id, student_id)?.person;
    class.writable()?;
    let left = tx.end_enrollment(id, student_id)?;
    let removed_from = left.iter().map(|details| details.group.id.clone()).collect();
    let class = Box::new(class);
    tx.record(ClassChange::Unenrolled { class, student, left });
    Ok(removed_from)
}

/// Sets or clears the date on which a student completed the class.
pub fn edit(tx: &mut WriteTx<'_>, id: &ClassId, student_id: &UserId, edit: &EnrollmentEdit) -> Result<ClassEnrollment> {
    let class = tx.lock_managed_class(id)?;
    let found = tx.class_student(id, student_id)?;
    let (mut enrollment, student) = (found.enrollment, found.person);
    let changed = edit.completed_at.clone().apply(&mut enrollment.completed_at);
    if changed {
        class.writable()?;
        let completed_at = enrollment.completed_at;
        tx.complete_enrollment(id, student_id, completed_at)?;
        let class = Box::new(class);
        tx.record(ClassChange::EnrollmentUpdated {
            class,
            student,
            completed_at,
        });
    }
    Ok(enrollment)
}
