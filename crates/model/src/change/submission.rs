//! What happens to submissions and grades.

use crate::feedback::Feedback;
use crate::grade::GradeWritten;
use crate::id::{SubmissionId, UserId};
use crate::submission::Submission;
use crate::text::Note;
use crate::whole::{WholeDocument, WholeGroupAssignment, WholeSubmission};

/// What happened to a submission.
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionChange {
    /// A document was handed in.
    Submitted {
        /// The link as it is now; its current submission is the new one.
        link: Box<WholeGroupAssignment>,
        /// The document as it is now.
        document: Box<WholeDocument>,
        /// The new attempt.
        submission: Box<WholeSubmission>,
        /// The attempt whose place it took.
        superseded: Option<SubmissionId>,
    },
    /// The freeze of a document that was handed in is complete: its copy is what there was at the cut.
    Frozen {
        /// The link as it is now.
        link: Box<WholeGroupAssignment>,
        /// The document as it is now.
        document: Box<WholeDocument>,
        /// The attempt.
        submission: Box<WholeSubmission>,
    },
    /// The bytes of a submission were completed by a save that had been on its way.
    Completed {
        /// The link as it is now.
        link: Box<WholeGroupAssignment>,
        /// The attempt as it is now.
        submission: Box<WholeSubmission>,
    },
    /// A document was taken back.
    Unsubmitted {
        /// The link as it is now.
        link: Box<WholeGroupAssignment>,
        /// The document as it is now.
        document: Box<WholeDocument>,
        /// The attempt that is no longer current.
        former: Box<Submission>,
        /// The attempt with the other documents, if any remain.
        next: Option<Box<WholeSubmission>>,
        /// Why.
        reason: Option<Note>,
    },
    /// The work was given back for revision.
    Returned {
        /// The link as it is now.
        link: Box<WholeGroupAssignment>,
        /// The attempt that was given back.
        submission: Box<WholeSubmission>,
        /// Its documents, drafts again.
        documents: Vec<WholeDocument>,
        /// What the teacher wrote with it.
        feedback: Option<Box<Feedback>>,
    },
    /// A grade was written.
    Graded {
        /// The link as it is now.
        link: Box<WholeGroupAssignment>,
        /// The attempt with its grade.
        submission: Box<WholeSubmission>,
        /// What changed, and whether students see it.
        written: GradeWritten,
        /// Who is in the group now: each is sent the own grade.
        members: Vec<UserId>,
    },
}
