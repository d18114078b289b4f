//! Changes of courses.

use super::deletion::CascadeDeletion;
use super::documents;
use crate::course::Course;
use crate::details::CourseDetails;
use crate::file::FileKey;
use crate::patch::FieldDiff;
use crate::version::VersionedObject;

/// A change of a course.
#[derive(Clone, Debug, PartialEq)]
pub enum CourseChange {
    Created {
        course: Box<CourseDetails>,
    },
    /// Fields of the course changed. Groups that follow it to another subject are recorded as changes of their own.
    Updated {
        course: Box<CourseDetails>,
        changed: FieldDiff,
    },
    /// The course was deleted with everything in it.
    Deleted {
        /// The course before its deletion.
        course: Box<Course>,
        /// Everything deleted with it.
        removed: CascadeDeletion,
    },
}

impl CourseChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::Deleted { removed, .. } => &removed.files,
            Self::Created { .. } | Self::Updated { .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { course, .. } => vec![(&course.course.id).into()],
            Self::Deleted { removed, .. } => documents(&removed.released),
            Self::Created { .. } => Vec::new(),
        }
    }
}
