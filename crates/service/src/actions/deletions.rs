//! Keeps deleted objects for some time, restores them and deletes them for good. See docs/undo.md.

use domain::change::{DeletionChange, RestoredObjects};
use domain::deleted_object::{DeletedNoun, DeletedObject, DeletionRetention, RestoreOutcome};
use domain::document::DOCUMENTS_MAX;
use domain::domain_error::DomainError;
use domain::id::{AssignmentId, ClassId, CourseId, DeletionId, DocumentId, GroupId};
use domain::time::Timestamp;

use super::homeroom_following::{FollowScope, follow};
use common::error::{Error, Result};
use db::WriteTx;
use db::archives::{NewDeletion, Restoration};
use db::assignments::AssignmentFilter;
use db::courses::CourseFilter;
use db::groups::GroupFilter;

/// A deletion that can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDeletion {
    pub id: DeletionId,
    /// Until when it can be restored.
    pub until: Timestamp,
}

impl KeptDeletion {
    /// Returns the id, and until when it can be restored.
    pub fn into_parts(self) -> (DeletionId, Timestamp) {
        (self.id, self.until)
    }
}

/// An object that is about to be deleted.
pub struct Deleting<'a> {
    pub noun: DeletedNoun,
    pub id: &'a str,
    pub name: &'a str,
    pub class: &'a ClassId,
    pub course: Option<&'a CourseId>,
    pub group: Option<(&'a GroupId, &'a str)>,
}

/// Archives an object before it is deleted, unless the installation keeps no deleted objects. The caller holds the lock
/// of the class.
pub fn keep(
    tx: &mut WriteTx<'_>,
    retention: DeletionRetention,
    deleting: &Deleting<'_>,
) -> Result<Option<KeptDeletion>> {
    let Some(until) = retention.until(tx.now()) else {
        return Ok(None);
    };
    let id = tx.archive(&NewDeletion {
        noun: deleting.noun,
        object_id: deleting.id.to_owned(),
        name: deleting.name.to_owned(),
        class_id: deleting.class.clone(),
        course_id: deleting.course.cloned(),
        group: deleting.group.map(|(id, name)| (id.clone(), name.to_owned())),
        expires_at: until,
    })?;
    Ok(Some(KeptDeletion { id, until }))
}

/// Restores a deleted object with everything that was deleted with it.
pub fn restore(tx: &mut WriteTx<'_>, id: &DeletionId) -> Result<(DeletedObject, RestoreOutcome)> {
    let seen = tx.deleted_object(id)?;
    // Lock order: the class before everything else.
    if seen.noun != DeletedNoun::Class {
        match tx.lock_writable_class(&seen.class_id) {
            Err(Error::NotFound) if seen.restored_at.is_none() => {
                return Err(DomainError::ParentMissing {
                    noun: "class",
                    id: seen.class_id.to_string(),
                    name: seen.class_name,
                }
                .into());
            }
            locked => locked.map(drop)?,
        }
    }
    let deletion = tx.lock_deleted_object(id)?;
    if deletion.restored_at.is_some() {
        return Err(DomainError::AlreadyRestored.into());
    }
    let Restoration { outcome, relinked } = tx.restore_archive(&deletion)?;
    let restored = Box::new(restored_objects(tx, &deletion, relinked)?);
    let class = restored.class.as_ref().map(|details| details.class.clone());
    tx.record(DeletionChange::Restored {
        deletion: Box::new(deletion.clone()),
        outcome: outcome.clone(),
        restored,
    });
    if let Some(class) = class {
        follow(tx, FollowScope::Class(&class))?;
    }
    Ok((deletion, outcome))
}

/// Deletes a deleted object for good, with its files.
pub fn discard(tx: &mut WriteTx<'_>, id: &DeletionId) -> Result<DeletedObject> {
    let deletion = tx.lock_deleted_object(id)?;
    if deletion.restored_at.is_some() {
        return Err(DomainError::AlreadyRestored.into());
    }
    tx.delete_archive(id)?;
    tx.record(DeletionChange::Discarded {
        deletion: Box::new(deletion.clone()),
    });
    Ok(deletion)
}

/// Reads what was restored, for the events.
fn restored_objects(
    tx: &mut WriteTx<'_>,
    deletion: &DeletedObject,
    relinked: Vec<DocumentId>,
) -> Result<RestoredObjects> {
    let mut restored = match deletion.noun {
        DeletedNoun::Class => objects_of_class(tx, &deletion.class_id)?,
        DeletedNoun::Course => objects_of_course(tx, &CourseId::new(&deletion.object_id))?,
        DeletedNoun::Group => RestoredObjects {
            groups: vec![tx.whole_group(&GroupId::new(&deletion.object_id))?],
            ..RestoredObjects::default()
        },
        DeletedNoun::Assignment => RestoredObjects {
            assignments: vec![tx.assignment(&AssignmentId::new(&deletion.object_id))?.details],
            ..RestoredObjects::default()
        },
        DeletedNoun::Document => {
            let seen = tx.document(&DocumentId::new(&deletion.object_id))?;
            let (_, count) = tx.lock_room_for_documents(&seen.details.document.work_room_id)?;
            DomainError::check_limit("documents in a work room", count, DOCUMENTS_MAX)?;
            RestoredObjects {
                document: Some((seen.group_context, seen.details)),
                ..RestoredObjects::default()
            }
        }
    };
    if !relinked.is_empty() {
        restored.relinked = tx.group_documents(&deletion.class_id, &relinked)?;
    }
    Ok(restored)
}

fn objects_of_class(tx: &mut WriteTx<'_>, id: &ClassId) -> Result<RestoredObjects> {
    let of_class = CourseFilter {
        class_id: Some(id.clone()),
        ..CourseFilter::default()
    };
    let groups = GroupFilter {
        class_id: Some(id.clone()),
        ..GroupFilter::default()
    };
    let topics = AssignmentFilter {
        class_id: Some(id.clone()),
        ..AssignmentFilter::default()
    };
    Ok(RestoredObjects {
        class: Some(tx.whole_class(id)?),
        students: tx.class_student_ids(id)?,
        courses: tx.courses(&of_class)?,
        groups: tx.groups(&groups)?.into_iter().map(|seen| seen.details).collect(),
        assignments: tx.assignments(&topics)?.into_iter().map(|seen| seen.details).collect(),
        ..RestoredObjects::default()
    })
}

fn objects_of_course(tx: &mut WriteTx<'_>, id: &CourseId) -> Result<RestoredObjects> {
    let groups = GroupFilter {
        course: Some(db::groups::CourseChoice::Of(id.clone())),
        ..GroupFilter::default()
    };
    let topics = AssignmentFilter {
        course_id: Some(id.clone()),
        ..AssignmentFilter::default()
    };
    Ok(RestoredObjects {
        courses: vec![tx.course(id)?],
        groups: tx.groups(&groups)?.into_iter().map(|seen| seen.details).collect(),
        assignments: tx.assignments(&topics)?.into_iter().map(|seen| seen.details).collect(),
        ..RestoredObjects::default()
    })
}
