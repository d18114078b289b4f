//! What people do with courses. Every change of a course is logged (specification, Courses 3).

use garde::Validate;
use model::change::course::CourseChange;
use model::course::{Course, CourseEdit, CourseStatus};
use model::id::{ClassId, CourseId, SubjectId};
use model::text::{CourseDescription, Name};
use model::whole::WholeCourse;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::clock;
use crate::error::Result;
use crate::store::Work;

/// A course to be created.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCourse {
    /// Unique with class and subject.
    #[garde(dive)]
    pub name: Name,
    /// What is planned.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub description: Option<CourseDescription>,
    /// The one class it belongs to.
    #[garde(skip)]
    pub class_id: ClassId,
    /// The one subject it belongs to; the class learns it when it does not list it yet.
    #[garde(skip)]
    pub subject_id: SubjectId,
    /// ACTIVE unless said otherwise.
    #[garde(skip)]
    pub status: Option<CourseStatus>,
}

/// Adds a course to a class the caller manages.
pub fn create(work: &mut Work<'_>, new: &NewCourse) -> Result<WholeCourse> {
    let class = work.class_to_write(&new.class_id)?;
    let subject = work.subject(&new.subject_id)?;
    work.add_class_subject(&class.id, &subject.id)?;
    let course = Course {
        id: CourseId::new(clock::new_id()),
        organization_id: work.organization().clone(),
        class_id: class.id,
        subject_id: subject.id,
        name: new.name.clone(),
        description: new.description.clone(),
        status: new.status.unwrap_or(CourseStatus::Active),
        created_at: work.now(),
        updated_at: work.now(),
    };
    work.insert_course(&course)?;
    let whole = work.course(&course.id)?;
    work.record(CourseChange::Created {
        course: Box::new(whole.clone()),
    });
    Ok(whole)
}

/// Changes what a PATCH names; the class only while the course is empty.
pub fn edit(work: &mut Work<'_>, id: &CourseId, edit: &CourseEdit) -> Result<WholeCourse> {
    let WholeCourse { mut course, counts, .. } = work.course_to_write(id)?;
    if let Some(class) = edit.class_id.value() {
        work.class_to_write(class)?;
    }
    if let Some(subject) = edit.subject_id.value() {
        work.subject(subject)?;
    }
    let changed = course.edit(edit.clone(), counts.groups + counts.assignments == 0, work.now())?;
    if !changed.is_empty() {
        work.add_class_subject(&course.class_id, &course.subject_id)?;
        work.update_course(&course, changed.has("subjectId"))?;
        let course = Box::new(work.course(id)?);
        work.record(CourseChange::Updated { course, changed });
    }
    work.course(id)
}
