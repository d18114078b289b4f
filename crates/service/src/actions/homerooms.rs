//! Creates, updates and deletes homerooms, and manages their students.

use garde::Validate;
use model::change::homeroom::HomeroomChange;
use model::homeroom::{Homeroom, HomeroomEdit};
use model::id::{HomeroomId, UserId};
use model::list::List;
use model::text::{AcademicYear, GradeLevel, ShortName};
use serde::Deserialize;
use utoipa::ToSchema;

use common::clock;
use common::error::Result;
use db::Work;
use db::homerooms::{CountedHomeroom, ReleasedByHomeroom};

/// A homeroom to create.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewHomeroom {
    /// The name, unique per school year in the organization.
    #[garde(dive)]
    pub name: ShortName,
    /// The grade level.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub grade_level: Option<GradeLevel>,
    /// The school year, for example 2026/2027.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub academic_year: Option<AcademicYear>,
    /// The homeroom teacher: a teacher, an administrator or an owner of the organization.
    #[garde(skip)]
    pub teacher_id: Option<UserId>,
}

/// The students to add to a homeroom.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewHomeroomStudents {
    /// Students of the organization with active accounts.
    #[serde(alias = "memberIds", alias = "userIds")]
    #[garde(dive)]
    pub student_ids: List<UserId>,
}

pub fn create(work: &mut Work<'_>, new: &NewHomeroom) -> Result<CountedHomeroom> {
    if let Some(teacher) = &new.teacher_id {
        work.teaching_member(teacher)?;
    }
    let homeroom = Homeroom {
        id: HomeroomId::new(clock::new_id()),
        organization_id: work.organization().clone(),
        name: new.name.clone(),
        grade_level: new.grade_level.clone(),
        academic_year: new.academic_year.clone(),
        teacher_id: new.teacher_id.clone(),
        external_id: None,
        created_at: work.now(),
        updated_at: work.now(),
    };
    work.insert_homeroom(&homeroom)?;
    work.record(HomeroomChange::Created {
        homeroom: homeroom.clone(),
    });
    Ok(CountedHomeroom { homeroom, students: 0 })
}

/// Applies a PATCH. The membership of a homeroom teacher is checked only when the teacher changes.
pub fn edit(work: &mut Work<'_>, id: &HomeroomId, edit: &HomeroomEdit) -> Result<CountedHomeroom> {
    let mut homeroom = work.homeroom_to_change(id)?;
    if let Some(teacher) = edit
        .teacher_id
        .value()
        .filter(|teacher| homeroom.teacher_id.as_ref() != Some(*teacher))
    {
        work.teaching_member(teacher)?;
    }
    let changed = homeroom.edit(edit.clone(), work.now())?;
    if !changed.is_empty() {
        work.update_homeroom(&homeroom)?;
        let students = work.homeroom_student_ids(id)?;
        work.record(HomeroomChange::Updated {
            homeroom,
            changed,
            students,
        });
    }
    work.homeroom(id)
}

/// Deletes a homeroom. Its students stay in the organization and in their classes.
pub fn remove(work: &mut Work<'_>, id: &HomeroomId) -> Result<()> {
    let homeroom = work.homeroom_to_change(id)?;
    let ReleasedByHomeroom { students, classes } = work.delete_homeroom(id)?;
    work.record(HomeroomChange::Deleted {
        homeroom,
        students,
        classes,
    });
    Ok(())
}

/// Adds students; those who are in the homeroom already are unchanged. Returns the number of new students.
pub fn add_students(work: &mut Work<'_>, id: &HomeroomId, new: &NewHomeroomStudents) -> Result<usize> {
    let homeroom = work.homeroom_to_change(id)?;
    let wanted = new
        .student_ids
        .iter()
        .map(|student| work.learning_member(student))
        .collect::<Result<Vec<_>>>()?;
    let mut students = Vec::new();
    for student in wanted {
        if work.enroll_in_homeroom(id, &student.id)? {
            students.push(student);
        }
    }
    let added = students.len();
    if added > 0 {
        work.record(HomeroomChange::StudentsAdded { homeroom, students });
    }
    Ok(added)
}

/// Removes a student from a homeroom. Class enrolments stay.
pub fn remove_student(work: &mut Work<'_>, id: &HomeroomId, student_id: &UserId) -> Result<()> {
    let homeroom = work.homeroom_to_change(id)?;
    let student = work.homeroom_student(id, student_id)?;
    work.leave_homeroom(id, student_id)?;
    work.record(HomeroomChange::StudentRemoved { homeroom, student });
    Ok(())
}
