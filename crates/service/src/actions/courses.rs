//! Creates, updates and deletes courses. Every change of a course is logged (`docs/specification.md`).

use api_macros::body;
use domain::change::{CascadeDeletion, CourseChange, GroupChange};
use domain::course::{Course, CourseEdit, CourseStatus};
use domain::deleted_object::{DeletedNoun, DeletionRetention};
use domain::details::{CourseDetails, GroupDetails};
use domain::id::{ClassId, CourseId, SubjectId};
use domain::text::{CourseDescription, Name};

use super::deletions::{self, Deleting, KeptDeletion};
use common::clock;
use common::error::Result;
use db::WriteTx;
use db::groups::{CourseChoice, GroupFilter};

/// A course to create.
#[body]
pub struct NewCourse {
    /// The name, unique within the class and subject.
    pub name: Name,
    /// A description of the course.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub description: Option<CourseDescription>,
    /// The class of the course.
    pub class_id: ClassId,
    /// The subject of the course. It is added to the subjects of the class if necessary.
    pub subject_id: SubjectId,
    /// Defaults to ACTIVE.
    pub status: Option<CourseStatus>,
}

/// Creates a course in a class that the caller manages.
pub fn create(tx: &mut WriteTx<'_>, new: &NewCourse) -> Result<CourseDetails> {
    let class = tx.lock_writable_class(&new.class_id)?;
    let subject = tx.subject(&new.subject_id)?;
    tx.add_class_subject(&class.id, &subject.id)?;
    let (id, school) = (CourseId::new(clock::new_id()), tx.organization().clone());
    let blank = Course::new(id, school, class.id, subject.id, new.name.clone(), tx.now());
    let course = Course {
        description: new.description.clone(),
        status: new.status.unwrap_or(blank.status),
        ..blank
    };
    tx.insert_course(&course)?;
    let details = tx.course(&course.id)?;
    tx.record(CourseChange::Created {
        course: Box::new(details.clone()),
    });
    Ok(details)
}

/// Applies a PATCH. The class can change only while the course is empty.
pub fn edit(tx: &mut WriteTx<'_>, id: &CourseId, edit: &CourseEdit) -> Result<CourseDetails> {
    let CourseDetails { mut course, counts, .. } = tx.lock_writable_course(id)?;
    if let Some(class) = edit.class_id.value() {
        tx.lock_writable_class(class)?;
    }
    if let Some(subject) = edit.subject_id.value() {
        tx.subject(subject)?;
    }
    let changed = course.edit(edit.clone(), counts.groups + counts.assignments == 0, tx.now())?;
    if !changed.is_empty() {
        tx.add_class_subject(&course.class_id, &course.subject_id)?;
        let groups = if changed.has("subjectId") {
            groups_of(tx, id)?
        } else {
            Vec::new()
        };
        tx.update_course(&course, changed.has("subjectId"))?;
        let details = Box::new(tx.course(id)?);
        tx.record(CourseChange::Updated {
            course: details,
            changed,
        });
        record_inherited_changes(tx, &course, groups)?;
    }
    tx.course(id)
}

/// Returns the groups of a course.
fn groups_of(tx: &mut WriteTx<'_>, id: &CourseId) -> Result<Vec<GroupDetails>> {
    let filter = GroupFilter {
        course: Some(CourseChoice::Of(id.clone())),
        ..GroupFilter::default()
    };
    Ok(tx.groups(&filter)?.into_iter().map(|known| known.details).collect())
}

/// Records that the groups of a course moved with it to another subject.
fn record_inherited_changes(tx: &mut WriteTx<'_>, course: &Course, before: Vec<GroupDetails>) -> Result<()> {
    for details in before {
        let (before, mut group) = (details.group_context(), details.group);
        let changed = group.follow_subject(course, tx.now());
        if !changed.is_empty() {
            let group = Box::new(tx.whole_group(&group.id)?);
            tx.record(GroupChange::Updated { group, before, changed });
        }
    }
    Ok(())
}

/// Deletes a course with its groups, topics, work rooms, documents and submissions.
pub fn remove(
    tx: &mut WriteTx<'_>,
    id: &CourseId,
    retention: DeletionRetention,
) -> Result<(CascadeDeletion, Option<KeptDeletion>)> {
    let course = tx.lock_writable_course(id)?.course;
    let deleting = Deleting {
        noun: DeletedNoun::Course,
        id: id.as_str(),
        name: course.name.as_str(),
        class: &course.class_id,
        course: Some(id),
        group: None,
    };
    let kept = deletions::keep(tx, retention, &deleting)?;
    let mut removed = tx.delete_course(id)?;
    if kept.is_some() {
        removed.files.clear();
    }
    tx.record(CourseChange::Deleted {
        course: Box::new(course),
        removed: removed.clone(),
    });
    Ok((removed, kept))
}
