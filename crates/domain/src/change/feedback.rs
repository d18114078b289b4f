//! Changes of feedback.

use crate::details::GroupAssignmentDetails;
use crate::feedback::Feedback;
use crate::version::VersionedObject;

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

impl FeedbackChange {
    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { feedback, .. } => vec![(&feedback.id).into()],
            Self::Created { .. } | Self::Deleted { .. } => Vec::new(),
        }
    }
}
