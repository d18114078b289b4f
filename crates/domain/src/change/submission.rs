//! Changes of submissions and grades.

use crate::details::{DocumentDetails, GroupAssignmentDetails, SubmissionDetails};
use crate::feedback::Feedback;
use crate::file::{FileKey, GradeFile};
use crate::grade::GradeWritten;
use crate::id::{SubmissionId, UserId};
use crate::submission::Submission;
use crate::text::Note;
use crate::version::VersionedObject;

/// A change of a submission.
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionChange {
    Submitted {
        /// The group link after the change; its current submission is the new one.
        link: Box<GroupAssignmentDetails>,
        document: Box<DocumentDetails>,
        /// The new attempt.
        submission: Box<SubmissionDetails>,
        /// The attempt that the new one replaced as current.
        superseded: Option<SubmissionId>,
    },
    /// A teacher recorded work without documents for a group.
    Recorded {
        link: Box<GroupAssignmentDetails>,
        submission: Box<SubmissionDetails>,
    },
    /// A recorded attempt without documents was removed.
    RecordRemoved {
        link: Box<GroupAssignmentDetails>,
        former: Box<Submission>,
    },
    /// The freeze of a submitted document is complete: its copy holds the content at the time of submission.
    Frozen {
        link: Box<GroupAssignmentDetails>,
        document: Box<DocumentDetails>,
        submission: Box<SubmissionDetails>,
    },
    /// A save that was still pending completed the content of the submission.
    Completed {
        link: Box<GroupAssignmentDetails>,
        submission: Box<SubmissionDetails>,
    },
    /// A document was withdrawn.
    Unsubmitted {
        link: Box<GroupAssignmentDetails>,
        document: Box<DocumentDetails>,
        /// The attempt that is no longer current.
        former: Box<Submission>,
        /// The attempt with the remaining documents, if there are any.
        next: Option<Box<SubmissionDetails>>,
        reason: Option<Note>,
    },
    /// The submission was returned for revision.
    Returned {
        link: Box<GroupAssignmentDetails>,
        /// The attempt that was returned.
        submission: Box<SubmissionDetails>,
        /// Its documents, which are drafts again.
        documents: Vec<DocumentDetails>,
        /// The feedback written with the return.
        feedback: Option<Box<Feedback>>,
    },
    /// A file was added to a grade, or removed from it.
    GradeFileChanged {
        link: Box<GroupAssignmentDetails>,
        /// The attempt with its grade after the change.
        submission: Box<SubmissionDetails>,
        file: GradeFile,
        /// The present members of the group.
        members: Vec<UserId>,
        is_added: bool,
    },
    /// A grade was saved.
    Graded {
        link: Box<GroupAssignmentDetails>,
        /// The attempt with its grade.
        submission: Box<SubmissionDetails>,
        /// What changed, and whether students can see it.
        written: GradeWritten,
        /// The present members of the group; each receives their own grade.
        members: Vec<UserId>,
    },
}

impl SubmissionChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::GradeFileChanged {
                file, is_added: false, ..
            } => std::slice::from_ref(&file.file.key),
            Self::Submitted { .. }
            | Self::Recorded { .. }
            | Self::RecordRemoved { .. }
            | Self::Frozen { .. }
            | Self::Completed { .. }
            | Self::Unsubmitted { .. }
            | Self::Returned { .. }
            | Self::GradeFileChanged { is_added: true, .. }
            | Self::Graded { .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Submitted {
                document, superseded, ..
            } => {
                let mut objects = vec![VersionedObject::from(&document.document.id)];
                objects.extend(superseded.iter().map(VersionedObject::from));
                objects
            }
            // A new attempt has its first version.
            Self::Recorded { .. } => Vec::new(),
            Self::RecordRemoved { former, .. } => vec![(&former.id).into()],
            Self::Frozen { submission, .. } | Self::Completed { submission, .. } => {
                vec![(&submission.submission.id).into()]
            }
            Self::Unsubmitted {
                document, former, next, ..
            } => {
                let mut objects = vec![VersionedObject::from(&document.document.id), (&former.id).into()];
                objects.extend(next.iter().map(|next| VersionedObject::from(&next.submission.id)));
                objects
            }
            Self::Returned {
                submission, documents, ..
            } => {
                let mut objects = vec![VersionedObject::from(&submission.submission.id)];
                objects.extend(
                    documents
                        .iter()
                        .map(|details| VersionedObject::from(&details.document.id)),
                );
                objects
            }
            Self::Graded { submission, .. } | Self::GradeFileChanged { submission, .. } => graded(submission),
        }
    }
}

/// Returns the submission and its documents, which show its grade.
fn graded(details: &SubmissionDetails) -> Vec<VersionedObject> {
    let mut objects = vec![VersionedObject::from(&details.submission.id)];
    let documents = details.documents.iter().filter_map(|copy| copy.document_id.as_ref());
    objects.extend(documents.map(VersionedObject::from));
    objects
}
