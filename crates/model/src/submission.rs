//! Submissions: attempts of a group to hand in an assignment. Each attempt is the full set of submitted documents at its
//! moment, with members and lateness frozen. A submission always names its assignment.

use crate::assignment::Assignment;
use crate::document::Document;
use crate::document_kind::FileExtension;
use crate::file::FileKey;
use crate::group_assignment::{GroupAssignment, GroupAssignmentStatus, Lateness, Step};
use crate::id::{
    AssignmentId, DocumentId, GroupAssignmentId, OrganizationId, SubmissionDocumentId, SubmissionId, UserId,
};
use crate::refusal::Refusal;
use crate::text::Note;
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// What became of an attempt.
    SubmissionStatus {
        /// It is the current one.
        Active = "ACTIVE",
        /// A newer attempt took its place.
        Superseded = "SUPERSEDED",
        /// The group took it back.
        Withdrawn = "WITHDRAWN",
        /// The teacher gave it back for revision.
        Returned = "RETURNED",
    }
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Its id.
    pub id: SubmissionId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// What it is an attempt at.
    pub group_assignment_id: GroupAssignmentId,
    /// Its number: 1, 2, …
    pub attempt: i64,
    /// What became of it.
    pub status: SubmissionStatus,
    /// Who handed it in.
    pub submitted_by_id: UserId,
    /// When.
    pub submitted_at: Timestamp,
    /// Whether a teacher handed it in for the group.
    pub on_behalf: bool,
    /// Whether it came late; never judged anew unless somebody asks for it.
    pub lateness: Lateness,
    /// Who was in the group then.
    pub member_ids: Vec<UserId>,
    /// A remark of the group.
    pub note: Option<Note>,
    /// When it was taken back.
    pub withdrawn_at: Option<Timestamp>,
    /// By whom.
    pub withdrawn_by_id: Option<UserId>,
    /// When it was stored.
    pub created_at: Timestamp,
}

/// The immutable copy of a document in an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionDocument {
    /// Its id.
    pub id: SubmissionDocumentId,
    /// The attempt.
    pub submission_id: SubmissionId,
    /// The document; none once it is deleted.
    pub document_id: Option<DocumentId>,
    /// The number of the revision that was handed in.
    pub document_version: i64,
    /// Its title then.
    pub title: String,
    /// The extension of its file.
    pub file_extension: FileExtension,
    /// Bytes.
    pub size: i64,
    /// Hexadecimal SHA-256 of the bytes.
    pub sha256: String,
    /// Where the copy is.
    pub file_key: FileKey,
}

/// The attempt that follows from submitting or taking back a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextAttempt {
    /// Its number.
    pub attempt: i64,
    /// Every document in it.
    pub documents: Vec<DocumentId>,
    /// Whether it is late.
    pub lateness: Lateness,
    /// When it counts as handed in.
    pub submitted_at: Timestamp,
}

/// A submission names its topic; the service never guesses it.
pub fn explicit(assignment: Option<AssignmentId>) -> Result<AssignmentId, Refusal> {
    assignment
        .filter(|id| !id.as_str().trim().is_empty())
        .ok_or(Refusal::AssignmentIdRequired)
}

/// The place of the preselected topic in `candidates`, which are in order of their deadlines (specification: the nearest one
/// is marked). A document that is linked to one of them goes there.
pub fn preselected(candidates: &[&AssignmentId], linked: Option<&AssignmentId>) -> usize {
    candidates
        .iter()
        .position(|candidate| Some(*candidate) == linked)
        .unwrap_or_default()
}

/// Hands a document in for a topic. `link` is the group's link to the topic, `submitted` are the documents of the current
/// attempt, `attempts` counts all attempts so far. The link still needs the id of the new submission ([`GroupAssignment::step_with`]).
pub fn submit(
    document: &mut Document,
    assignment: &Assignment,
    link: Option<&GroupAssignment>,
    submitted: &[DocumentId],
    attempts: i64,
    by: &UserId,
    now: Timestamp,
) -> Result<NextAttempt, Refusal> {
    let open = document.status.writable()?;
    let link = link.filter(|link| link.assignment_id == assignment.id && link.group_id == document.group_id);
    let link = link.ok_or(Refusal::GroupNotOnAssignment)?;
    // A published grade is the stronger reason, also for a document that is handed in already.
    link.status.after(Step::Submitted)?;
    open.submit()?;
    let lateness = link.takes_submission(assignment, now)?;
    document.hand_in(&assignment.id, by, now)?;
    let mut documents: Vec<_> = submitted.iter().filter(|id| **id != document.id).cloned().collect();
    documents.push(document.id.clone());
    Ok(NextAttempt {
        attempt: attempts + 1,
        documents,
        lateness,
        submitted_at: now,
    })
}

/// Takes a document back. Answers the attempt without it, or nothing when no submitted document remains and the current
/// attempt is withdrawn. Taking back hands nothing in, so the attempt keeps the moment and the lateness of the one before.
pub fn unsubmit(
    document: &mut Document,
    link: &GroupAssignment,
    current: &Submission,
    submitted: &[DocumentId],
    attempts: i64,
    now: Timestamp,
) -> Result<Option<NextAttempt>, Refusal> {
    let open = document.status.writable()?;
    if link.status == GroupAssignmentStatus::Graded {
        return Err(Refusal::GradePublished);
    }
    open.unsubmit()?;
    let documents: Vec<_> = submitted.iter().filter(|id| **id != document.id).cloned().collect();
    link.status.after(Step::Unsubmitted {
        others_remain: !documents.is_empty(),
    })?;
    document.take_back(now)?;
    let lateness = current.lateness;
    let submitted_at = current.submitted_at;
    Ok((!documents.is_empty()).then(|| NextAttempt {
        attempt: attempts + 1,
        documents,
        lateness,
        submitted_at,
    }))
}

/// Gives the work of a group back for revision: its documents become drafts. A finished topic is reopened first.
pub fn give_back<'d>(
    documents: impl IntoIterator<Item = &'d mut Document>,
    assignment: &Assignment,
    link: &mut GroupAssignment,
    now: Timestamp,
) -> Result<(), Refusal> {
    if !assignment.is_active() {
        return Err(Refusal::DocumentLocked);
    }
    let documents: Vec<_> = documents.into_iter().collect();
    for document in &documents {
        document.status.writable()?;
    }
    link.step_with(Step::Returned, None, now)?;
    for document in documents {
        // A document that was never handed in, or was taken back meanwhile, is a draft already.
        if document.assignment_id.as_ref() == Some(&assignment.id) && document.status.unsubmit().is_ok() {
            document.take_back(now)?;
        }
    }
    Ok(())
}

impl Submission {
    /// Judges lateness anew, because a teacher changed the deadline and asked for it; answers whether it changed.
    pub fn judge_anew(&mut self, link: &GroupAssignment, assignment: &Assignment) -> bool {
        let lateness = link.lateness(assignment, self.submitted_at);
        let changed = lateness != self.lateness;
        self.lateness = lateness;
        changed
    }

    /// Ends the attempt because a newer one took its place.
    pub fn supersede(&mut self) {
        if self.status == SubmissionStatus::Active {
            self.status = SubmissionStatus::Superseded;
        }
    }

    /// Ends the attempt because the group took it back.
    pub fn withdraw(&mut self, by: &UserId, now: Timestamp) {
        if self.status == SubmissionStatus::Active {
            self.status = SubmissionStatus::Withdrawn;
            self.withdrawn_at = Some(now);
            self.withdrawn_by_id = Some(by.clone());
        }
    }

    /// Ends the attempt because the teacher gave it back for revision.
    pub fn give_back(&mut self) {
        if self.status == SubmissionStatus::Active {
            self.status = SubmissionStatus::Returned;
        }
    }
}

#[cfg(test)]
#[path = "submission_tests.rs"]
mod tests;
