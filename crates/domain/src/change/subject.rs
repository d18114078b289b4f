//! Changes of subjects.

use crate::patch::FieldDiff;
use crate::subject::Subject;
use crate::version::VersionedObject;

/// A change of a subject.
#[derive(Clone, Debug, PartialEq)]
pub enum SubjectChange {
    Created {
        subject: Subject,
    },
    Updated {
        subject: Subject,
        changed: FieldDiff,
    },
    Deleted {
        /// The subject before its deletion.
        subject: Subject,
    },
}

impl SubjectChange {
    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { subject, .. } => vec![(&subject.id).into()],
            Self::Created { .. } | Self::Deleted { .. } => Vec::new(),
        }
    }
}
