//! Changes of feedback.

use crate::feedback::Feedback;
use crate::whole::WholeGroupAssignment;

/// A change of a feedback.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedbackChange {
    Created {
        /// The group link the feedback belongs to.
        link: Box<WholeGroupAssignment>,
        feedback: Box<Feedback>,
    },
    Updated {
        link: Box<WholeGroupAssignment>,
        feedback: Box<Feedback>,
        /// Whether students could read it before the change.
        was_visible: bool,
    },
    Deleted {
        link: Box<WholeGroupAssignment>,
        /// The feedback before its deletion.
        feedback: Box<Feedback>,
    },
}
