//! Changes of feedback.

use crate::details::GroupAssignmentDetails;
use crate::feedback::Feedback;

/// A change of a feedback.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedbackChange {
    Created {
        /// The group link the feedback belongs to.
        link: Box<GroupAssignmentDetails>,
        feedback: Box<Feedback>,
    },
    Updated {
        link: Box<GroupAssignmentDetails>,
        feedback: Box<Feedback>,
        /// Whether students could read it before the change.
        was_visible: bool,
    },
    Deleted {
        link: Box<GroupAssignmentDetails>,
        /// The feedback before its deletion.
        feedback: Box<Feedback>,
    },
}
