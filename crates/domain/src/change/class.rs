//! Changes of classes and their enrolments.

use super::deletion::CascadeDeletion;
use super::{documents, groups};
use crate::class::{Class, ClassLabel};
use crate::details::{ClassDetails, GroupDetails};
use crate::file::FileKey;
use crate::id::UserId;
use crate::patch::FieldDiff;
use crate::time::Timestamp;
use crate::user::Person;
use crate::version::VersionedObject;

/// A change of a class.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassChange {
    Created {
        class: Box<ClassDetails>,
        /// The class it is a copy of.
        copied_from: Option<ClassLabel>,
    },
    /// Fields or subjects of the class changed.
    Updated {
        class: Box<ClassDetails>,
        /// The changed fields; `subjectIds` for the subjects.
        changed: FieldDiff,
        /// Its students, whose subscriptions change when the class becomes a draft or stops being one.
        students: Vec<UserId>,
    },
    Deleted {
        /// The class before its deletion.
        class: Box<Class>,
        /// Everything deleted with it.
        removed: CascadeDeletion,
        students: Vec<UserId>,
        /// Its owner and co-teachers.
        teachers: Vec<UserId>,
    },
    /// Co-teachers were added or removed.
    TeachersChanged {
        class: Box<ClassDetails>,
        added: Vec<Person>,
        removed: Vec<Person>,
    },
    Enrolled {
        class: Box<Class>,
        students: Vec<Person>,
    },
    /// A student left the class and all groups of the class.
    Unenrolled {
        class: Box<Class>,
        student: Person,
        /// The groups after the student left.
        left: Vec<GroupDetails>,
    },
    /// The completion date of a student was set or cleared.
    EnrollmentUpdated {
        class: Box<Class>,
        student: Person,
        completed_at: Option<Timestamp>,
    },
}

impl ClassChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::Deleted { removed, .. } => &removed.files,
            Self::Created { .. }
            | Self::Updated { .. }
            | Self::TeachersChanged { .. }
            | Self::Enrolled { .. }
            | Self::Unenrolled { .. }
            | Self::EnrollmentUpdated { .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { class, .. } | Self::TeachersChanged { class, .. } => vec![(&class.class.id).into()],
            Self::Unenrolled { left, .. } => groups(left),
            Self::Deleted { removed, .. } => documents(&removed.released),
            Self::Created { .. } | Self::Enrolled { .. } | Self::EnrollmentUpdated { .. } => Vec::new(),
        }
    }
}
