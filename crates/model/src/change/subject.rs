//! What happens to subjects.

use crate::edit::Changed;
use crate::subject::Subject;

/// What happened to a subject.
#[derive(Clone, Debug, PartialEq)]
pub enum SubjectChange {
    /// It was made.
    Created {
        /// The subject.
        subject: Subject,
    },
    /// Its fields changed.
    Updated {
        /// The subject as it is now.
        subject: Subject,
        /// What changed.
        changed: Changed,
    },
    /// It was deleted.
    Deleted {
        /// The subject as it was.
        subject: Subject,
    },
}
