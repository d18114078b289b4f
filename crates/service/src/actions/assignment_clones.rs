//! Copies a topic into the same class or another one: the task is copied, the work of the groups is not. The content
//! is read when the copy is requested; the bytes of files are copied between that read and the transaction that
//! inserts the copy.

use std::collections::HashMap;

use domain::assignment::Assignment;
use domain::change::AssignmentChange;
use domain::copy::{DateShift, PublicationOfCopy};
use domain::course::Course;
use domain::details::AssignmentDetails;
use domain::id::{AssignmentId, ClassId, CourseId};
use domain::patch::FieldPatch;
use domain::time::Timestamp;
use garde::Validate;
use serde::Deserialize;
use utoipa::ToSchema;

use super::class_clones::{FileCopy, shared_files};
use super::copies::{CopyPlan, insert_topic};
use common::error::Result;
use db::assignments::VisibleAssignment;
use db::{ReadTx, WriteTx};

/// Where to create the copy of a topic, and its deadline.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[garde(allow_unvalidated)]
pub struct NewCopy {
    /// The class of the copy. Defaults to the class of the original.
    pub class_id: Option<ClassId>,
    /// The course of the copy; null means no course. By default the copy stays in the course of the original if the
    /// class is the same, and has no course otherwise.
    #[serde(default)]
    pub course_id: FieldPatch<CourseId>,
    /// The deadline of the copy. It may be in the past.
    pub deadline: Timestamp,
    /// Whether to copy the files that are shared by all groups.
    #[serde(default)]
    pub with_files: bool,
    /// When students see the copy: DRAFT, or SAME with its time shifted like the deadline. By default, the copy of a
    /// published topic is published and any other is a draft.
    pub publication: Option<PublicationOfCopy>,
}

/// A snapshot of the topic to copy, with the keys reserved for the copies of its files.
#[derive(Debug, Clone)]
pub struct Original {
    details: AssignmentDetails,
    /// The files to copy before [`clone`] is called.
    pub files: Vec<FileCopy>,
}

/// Reads the topic to copy. Rejects everything that [`clone`] would reject, before any byte is copied.
pub fn original(tx: &mut ReadTx<'_>, id: &AssignmentId, new: &NewCopy) -> Result<Original> {
    let details = tx.assignment(id)?.details;
    target_course(tx, &details.assignment, new)?;
    let files = shared_files(&details).filter(|_| new.with_files);
    Ok(Original {
        files: files.map(FileCopy::from_attachment).collect(),
        details,
    })
}

/// Inserts the copy: the same task with another deadline and without groups.
pub fn clone(tx: &mut WriteTx<'_>, new: &NewCopy, original: &Original) -> Result<VisibleAssignment> {
    let old = &original.details.assignment;
    // Rejects the copy if the caller can no longer see the original.
    tx.assignment(&old.id)?;
    let class = new.class_id.as_ref().unwrap_or(&old.class_id).clone();
    tx.lock_managed_class(&class)?;
    let course = target_course(tx, old, new)?;
    let span = new.deadline.as_millis().saturating_sub(old.deadline.as_millis());
    let plan = CopyPlan {
        class,
        groups: &HashMap::new(),
        publication: new.publication,
        zone: &tx.time_zone()?,
        files: original.files.iter().map(|copy| (&copy.of.id, copy)).collect(),
    };
    let course_id = course.map(|course| course.id);
    let topic = insert_topic(tx, &original.details, course_id, DateShift::Millis(span), &plan)?;
    let seen = tx.assignment(&topic.id)?;
    tx.record(AssignmentChange::Created {
        assignment: Box::new(seen.details.clone()),
        copied_from: Some(old.label()),
    });
    Ok(seen)
}

/// Returns the course of the copy, if any. Checks that the caller sees the topic, the class and the course, manages
/// both classes, and that the class and the course accept new work.
fn target_course(tx: &mut ReadTx<'_>, topic: &Assignment, new: &NewCopy) -> Result<Option<Course>> {
    let class_id = new.class_id.as_ref().unwrap_or(&topic.class_id);
    let own_course = topic.course_id.as_ref().filter(|_| *class_id == topic.class_id);
    let course_id = new.course_id.clone().resolve(own_course.cloned());
    tx.class(class_id)?;
    let course = course_id.map(|id| tx.course(&id)).transpose()?;
    tx.managed_class(&topic.class_id)?;
    tx.managed_class(class_id)?.writable()?;
    let course = course.map(|record| record.course);
    if let Some(course) = &course {
        course.belongs_to(class_id)?;
        course.takes_new_work()?;
    }
    Ok(course)
}
