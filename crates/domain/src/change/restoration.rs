//! Changes of deleted objects: they are restored, or deleted for good.

use super::documents;
use crate::deleted_object::{DeletedObject, RestoreOutcome};
use crate::details::{AssignmentDetails, ClassDetails, CourseDetails, DocumentDetails, GroupDetails};
use crate::group::GroupContext;
use crate::id::UserId;

use super::deletion::GroupDocument;
use crate::version::VersionedObject;

/// A change of a deleted object.
#[derive(Clone, Debug, PartialEq)]
pub enum DeletionChange {
    /// The object exists again.
    Restored {
        deletion: Box<DeletedObject>,
        outcome: RestoreOutcome,
        restored: Box<RestoredObjects>,
    },
    /// The object was deleted for good before its time.
    Discarded { deletion: Box<DeletedObject> },
}

impl DeletionChange {
    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Restored { restored, .. } => documents(&restored.relinked),
            Self::Discarded { .. } => Vec::new(),
        }
    }
}

/// Everything that exists again, with the data that events need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestoredObjects {
    /// Only when a class was restored, with its students.
    pub class: Option<ClassDetails>,
    pub students: Vec<UserId>,
    pub courses: Vec<CourseDetails>,
    pub groups: Vec<GroupDetails>,
    pub assignments: Vec<AssignmentDetails>,
    /// Only when a document was restored.
    pub document: Option<(GroupContext, DocumentDetails)>,
    /// Documents that were not deleted and are linked to or locked by a restored topic again.
    pub relinked: Vec<GroupDocument>,
}
