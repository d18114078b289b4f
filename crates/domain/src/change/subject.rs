//! Changes of subjects.

use crate::patch::FieldDiff;
use crate::subject::Subject;

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
