//! Changes of submissions and grades.

use crate::feedback::Feedback;
use crate::grade::GradeWritten;
use crate::id::{SubmissionId, UserId};
use crate::submission::Submission;
use crate::text::Note;
use crate::whole::{WholeDocument, WholeGroupAssignment, WholeSubmission};

/// A change of a submission.
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionChange {
    Submitted {
        /// The group link after the change; its current submission is the new one.
        link: Box<WholeGroupAssignment>,
        document: Box<WholeDocument>,
        /// The new attempt.
        submission: Box<WholeSubmission>,
        /// The attempt that the new one replaced as current.
        superseded: Option<SubmissionId>,
    },
    /// The freeze of a submitted document is complete: its copy holds the content at the time of submission.
    Frozen {
        link: Box<WholeGroupAssignment>,
        document: Box<WholeDocument>,
        submission: Box<WholeSubmission>,
    },
    /// A save that was still pending completed the content of the submission.
    Completed {
        link: Box<WholeGroupAssignment>,
        submission: Box<WholeSubmission>,
    },
    /// A document was withdrawn.
    Unsubmitted {
        link: Box<WholeGroupAssignment>,
        document: Box<WholeDocument>,
        /// The attempt that is no longer current.
        former: Box<Submission>,
        /// The attempt with the remaining documents, if there are any.
        next: Option<Box<WholeSubmission>>,
        reason: Option<Note>,
    },
    /// The submission was returned for revision.
    Returned {
        link: Box<WholeGroupAssignment>,
        /// The attempt that was returned.
        submission: Box<WholeSubmission>,
        /// Its documents, which are drafts again.
        documents: Vec<WholeDocument>,
        /// The feedback written with the return.
        feedback: Option<Box<Feedback>>,
    },
    /// A grade was saved.
    Graded {
        link: Box<WholeGroupAssignment>,
        /// The attempt with its grade.
        submission: Box<WholeSubmission>,
        /// What changed, and whether students can see it.
        written: GradeWritten,
        /// The present members of the group; each receives their own grade.
        members: Vec<UserId>,
    },
}
