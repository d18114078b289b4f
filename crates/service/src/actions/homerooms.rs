//! Creates, updates and deletes homerooms, and manages their students. Classes that follow a homeroom change with it.

use api_macros::body;
use domain::change::HomeroomChange;
use domain::homeroom::{Homeroom, HomeroomEdit};
use domain::id::{HomeroomId, UserId};
use domain::list::List;
use domain::patch::FieldDiff;
use domain::text::{AcademicYear, GradeLevel, ShortName};

use super::homeroom_following::{FollowScope, follow};
use common::clock;
use common::error::Result;
use db::WriteTx;
use db::homerooms::{HomeroomRemoval, HomeroomWithCount};

/// A homeroom to create.
#[body]
pub struct NewHomeroom {
    /// The name, unique per school year in the organization.
    pub name: ShortName,
    /// The grade level.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub grade_level: Option<GradeLevel>,
    /// The school year, for example 2026/2027.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub academic_year: Option<AcademicYear>,
    /// The homeroom teacher: a teacher, an administrator or an owner of the organization.
    pub teacher_id: Option<UserId>,
}

/// The students to add to a homeroom.
#[body]
pub struct NewHomeroomStudents {
    /// Students of the organization with active accounts.
    #[serde(alias = "memberIds", alias = "userIds")]
    pub student_ids: List<UserId>,
}

pub fn create(tx: &mut WriteTx<'_>, new: &NewHomeroom) -> Result<HomeroomWithCount> {
    if let Some(teacher) = &new.teacher_id {
        tx.teaching_member(teacher)?;
    }
    let homeroom = Homeroom {
        id: HomeroomId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        name: new.name.clone(),
        grade_level: new.grade_level.clone(),
        academic_year: new.academic_year.clone(),
        teacher_id: new.teacher_id.clone(),
        external_id: None,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    tx.insert_homeroom(&homeroom)?;
    tx.record(HomeroomChange::Created {
        homeroom: homeroom.clone(),
    });
    Ok(HomeroomWithCount { homeroom, students: 0 })
}

/// Applies a PATCH. The membership of a homeroom teacher is checked only when the teacher changes.
pub fn edit(tx: &mut WriteTx<'_>, id: &HomeroomId, edit: &HomeroomEdit) -> Result<HomeroomWithCount> {
    let mut homeroom = tx.lock_homeroom(id)?;
    if let Some(teacher) = edit
        .teacher_id
        .value()
        .filter(|teacher| homeroom.teacher_id.as_ref() != Some(*teacher))
    {
        tx.teaching_member(teacher)?;
    }
    let changed = homeroom.edit(edit.clone(), tx.now())?;
    if !changed.is_empty() {
        update(tx, homeroom, changed)?;
    }
    tx.homeroom(id)
}

/// Writes and records a changed homeroom.
pub fn update(tx: &mut WriteTx<'_>, homeroom: Homeroom, changed: FieldDiff) -> Result<()> {
    tx.update_homeroom(&homeroom)?;
    let students = tx.homeroom_student_ids(&homeroom.id)?;
    tx.record(HomeroomChange::Updated {
        homeroom,
        changed,
        students,
    });
    Ok(())
}

/// Deletes a homeroom. Its students stay in the organization and in their classes, which stop following it.
pub fn remove(tx: &mut WriteTx<'_>, id: &HomeroomId) -> Result<()> {
    let homeroom = tx.lock_homeroom(id)?;
    let HomeroomRemoval { students, classes } = tx.delete_homeroom(id)?;
    tx.record(HomeroomChange::Deleted {
        homeroom,
        students,
        classes,
    });
    Ok(())
}

/// Adds students; those who are in the homeroom already are unchanged. Returns the number of new students.
pub fn add_students(tx: &mut WriteTx<'_>, id: &HomeroomId, new: &NewHomeroomStudents) -> Result<usize> {
    let homeroom = tx.lock_homeroom(id)?;
    let wanted = new
        .student_ids
        .iter()
        .map(|student| tx.learning_member(student))
        .collect::<Result<Vec<_>>>()?;
    let mut students = Vec::new();
    for student in wanted {
        if tx.enroll_in_homeroom(id, &student.id)? {
            students.push(student);
        }
    }
    let added = students.len();
    if added > 0 {
        tx.record(HomeroomChange::StudentsAdded { homeroom, students });
        follow(tx, FollowScope::Homeroom(id))?;
    }
    Ok(added)
}

/// Removes a student from a homeroom, and from the classes that follow it. Other enrolments stay.
pub fn remove_student(tx: &mut WriteTx<'_>, id: &HomeroomId, student_id: &UserId) -> Result<()> {
    let homeroom = tx.lock_homeroom(id)?;
    let student = tx.homeroom_student(id, student_id)?;
    tx.leave_homeroom(id, student_id)?;
    tx.record(HomeroomChange::StudentRemoved { homeroom, student });
    follow(tx, FollowScope::Homeroom(id)).map(drop)
}
