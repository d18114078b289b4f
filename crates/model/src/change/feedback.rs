//! What happens to feedback.

use crate::feedback::Feedback;
use crate::whole::WholeGroupAssignment;

/// What happened to a feedback.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedbackChange {
    /// It was given.
    Created {
        /// The work it is about.
        link: Box<WholeGroupAssignment>,
        /// The feedback.
        feedback: Box<Feedback>,
    },
    /// It changed.
    Updated {
        /// The work it is about.
        link: Box<WholeGroupAssignment>,
        /// The feedback as it is now.
        feedback: Box<Feedback>,
        /// Whether students could read it before.
        was_visible: bool,
    },
    /// It was deleted.
    Deleted {
        /// The work it was about.
        link: Box<WholeGroupAssignment>,
        /// The feedback as it was.
        feedback: Box<Feedback>,
    },
}
