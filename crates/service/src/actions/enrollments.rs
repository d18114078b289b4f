//! Enrolls students in classes, unenrolls them and marks enrolments as completed.

use api_macros::{body, patch};
use domain::change::ClassChange;
use domain::class::{Class, ClassEnrollment, EnrolledBy};
use domain::domain_error::DomainError;
use domain::id::{ClassId, GroupId, HomeroomId, UserId};
use domain::list::List;
use domain::patch::FieldPatch;
use domain::time::Timestamp;
use domain::user::Person;

use common::error::{Error, Result};
use db::WriteTx;

/// The students to enroll: either a list, or all students of a homeroom.
#[body]
pub struct NewStudents {
    /// Students of the organization with active accounts.
    #[serde(default, alias = "memberIds", alias = "userIds")]
    pub student_ids: Option<List<UserId>>,
    /// The homeroom whose students are enrolled.
    pub homeroom_id: Option<HomeroomId>,
}

/// The fields of an enrolment that a PATCH can change.
#[patch]
pub struct EnrollmentEdit {
    /// When the student completed the class; null if they did not.
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
    let (asked, students) = match by_homeroom {
        Some(homeroom) => enroll_homeroom(tx, &class, homeroom)?,
        None => enroll_by_id(tx, &class, new.student_ids.as_deref().unwrap_or_default())?,
    };
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

/// Enrols single students. Returns how many were named, and those who were not enrolled before.
fn enroll_by_id(tx: &mut WriteTx<'_>, class: &Class, named: &[UserId]) -> Result<(usize, Vec<Person>)> {
    let wanted = named
        .iter()
        .map(|student| tx.learning_member(student))
        .collect::<Result<Vec<_>>>()?;
    class.writable()?;
    let mut students = Vec::new();
    for student in wanted {
        if tx.enroll(&class.id, &student.id)? {
            students.push(student);
        }
    }
    Ok((named.len(), students))
}

/// Enrols the active students of a homeroom. Returns how many there are, and those who were not enrolled before.
fn enroll_homeroom(tx: &mut WriteTx<'_>, class: &Class, homeroom: &HomeroomId) -> Result<(usize, Vec<Person>)> {
    tx.homeroom_label(homeroom)?;
    let asked = tx.homeroom_learners(homeroom)?.len();
    class.writable()?;
    let by = EnrolledBy::caller_with_homeroom(tx.viewer());
    let is_bound = class.is_following() && class.homeroom_id.as_ref() == Some(homeroom);
    let students = tx.enroll_homeroom(&class.id, homeroom, by, is_bound)?;
    if by.is_of_school() && students.len() < asked {
        tx.confirm_homeroom(&class.id, homeroom)?;
    }
    Ok((asked, students))
}

/// Ends an enrolment and the memberships of the student in all groups of the class. Returns those groups. Submissions
/// keep the list of their participants. A class that follows its homeroom keeps the students of the homeroom.
pub fn unenroll(tx: &mut WriteTx<'_>, id: &ClassId, student_id: &UserId) -> Result<Vec<GroupId>> {
    let class = tx.lock_managed_class(id)?;
    let student = tx.class_student(id, student_id)?.person;
    class.writable()?;
    if let Some(homeroom) = class.homeroom_id.as_ref().filter(|_| class.is_following()) {
        let is_active = tx.learning_member(student_id).map(|_| true).or_else(or_false)?;
        class.may_unenroll(is_active && tx.is_in_homeroom(homeroom, student_id)?)?;
    }
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

fn or_false(error: Error) -> Result<bool> {
    match error {
        Error::NotFound => Ok(false),
        other => Err(other),
    }
}
