//! A topic once more, for the same class or another one: the task comes along, the work on it stays where it is. The copy
//! is of the moment in which it was asked for; the bytes of files are copied between that and the unit that writes it.

use garde::Validate;
use model::assignment::Assignment;
use model::change::assignment::AssignmentChange;
use model::course::Course;
use model::edit::Edit;
use model::id::{AssignmentId, ClassId, CourseId};
use model::time::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::assignments::person;
use super::class_clones::{FileCopy, insert_copy, shared_files};
use common::clock;
use common::error::Result;
use db::assignments::SeenAssignment;
use db::{Scope, Work};

/// Where a topic is to come once more, and until when it is to be done there.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[garde(allow_unvalidated)]
pub struct NewCopy {
    /// The class it comes into; its own unless said otherwise.
    pub class_id: Option<ClassId>,
    /// The course it comes into, null for none. Unless said otherwise it stays in its course, and in another class it has
    /// none.
    #[serde(default)]
    pub course_id: Edit<CourseId>,
    /// The deadline of the copy; one in the past is allowed.
    pub deadline: Timestamp,
    /// Whether the files come along that all groups share.
    #[serde(default)]
    pub with_files: bool,
}

/// A topic as it is to be copied, with the keys of its files to be.
#[derive(Debug, Clone)]
pub struct Original {
    topic: Assignment,
    /// The files to be copied before [`clone`] is called.
    pub files: Vec<FileCopy>,
}

/// The topic that is to be copied. Everything that [`clone`] would refuse is refused here already, before a byte is copied.
pub fn original(scope: &mut Scope<'_>, id: &AssignmentId, new: &NewCopy) -> Result<Original> {
    let whole = scope.assignment(id)?.whole;
    place(scope, &whole.assignment, new)?;
    let files = shared_files(&whole).filter(|_| new.with_files);
    Ok(Original {
        files: files.map(FileCopy::of).collect(),
        topic: whole.assignment,
    })
}

/// Makes the copy: the same task with another deadline, for no group yet.
pub fn clone(work: &mut Work<'_>, new: &NewCopy, original: &Original) -> Result<SeenAssignment> {
    let old = &original.topic;
    // Gone meanwhile is gone: nobody copies what he could not look up.
    work.assignment(&old.id)?;
    let class_id = new.class_id.as_ref().unwrap_or(&old.class_id).clone();
    work.class_to_manage(&class_id)?;
    let course = place(work, old, new)?;
    let topic = Assignment {
        id: AssignmentId::new(clock::new_id()),
        class_id,
        course_id: course.map(|course| course.id),
        deadline: new.deadline,
        finished: None,
        created_by_id: person(work)?,
        created_at: work.now(),
        updated_at: work.now(),
        ..old.clone()
    };
    work.insert_assignment(&topic)?;
    for copy in &original.files {
        insert_copy(work, &topic.id, copy)?;
    }
    let seen = work.assignment(&topic.id)?;
    work.record(AssignmentChange::Created {
        assignment: Box::new(seen.whole.clone()),
        copied_from: Some(old.label()),
    });
    Ok(seen)
}

/// The course a copy comes into, if it comes into one. The caller knows topic, class and course and manages both classes;
/// class and course take new work.
fn place(scope: &mut Scope<'_>, topic: &Assignment, new: &NewCopy) -> Result<Option<Course>> {
    let class_id = new.class_id.as_ref().unwrap_or(&topic.class_id);
    let own_course = topic.course_id.as_ref().filter(|_| *class_id == topic.class_id);
    let course_id = new.course_id.clone().resolve(own_course.cloned());
    scope.class(class_id)?;
    let course = course_id.map(|id| scope.course(&id)).transpose()?;
    scope.managed_class(&topic.class_id)?;
    scope.managed_class(class_id)?.writable()?;
    let course = course.map(|record| record.course);
    if let Some(course) = &course {
        course.belongs_to(class_id)?;
        course.takes_new_work()?;
    }
    Ok(course)
}
