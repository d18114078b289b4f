//! Changes of subjects.

use crate::edit::Changed;
use crate::subject::Subject;

/// A change of a subject.
#[derive(Clone, Debug, PartialEq)]
pub enum SubjectChange {
    Created {
        subject: Subject,
    },
    Updated {
        subject: Subject,
        changed: Changed,
    },
    Deleted {
        /// The subject before its deletion.
        subject: Subject,
    },
}
