//! Submissions: attempts of a group to submit an assignment. Each attempt is the full set of documents submitted at its
//! time, with members and lateness frozen. A submission always names its assignment.

use crate::assignment::Assignment;
use crate::document::Document;
use crate::document_kind::FileExtension;
use crate::domain_error::DomainError;
use crate::file::FileKey;
use crate::group_assignment::{GroupAssignment, GroupAssignmentStatus, Lateness, StatusTransition};
use crate::id::{
    AssignmentId, DocumentId, GroupAssignmentId, OrganizationId, SubmissionDocumentId, SubmissionId, UserId,
};
use crate::string_enum::string_enum;
use crate::text::Note;
use crate::time::Timestamp;

string_enum! {
    /// Status of an attempt.
    SubmissionStatus {
        /// The current attempt.
        Active = "ACTIVE",
        /// Replaced by a newer attempt.
        Superseded = "SUPERSEDED",
        /// Withdrawn by the group.
        Withdrawn = "WITHDRAWN",
        /// Returned by a teacher for revision.
        Returned = "RETURNED",
    }
}

/// One submission attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub id: SubmissionId,
    pub organization_id: OrganizationId,
    pub group_assignment_id: GroupAssignmentId,
    /// Number of the attempt: 1, 2, …
    pub attempt: i64,
    pub status: SubmissionStatus,
    pub submitted_by_id: UserId,
    pub submitted_at: Timestamp,
    /// Whether a teacher submitted it for the group.
    pub on_behalf: bool,
    /// Determined at submission time; recomputed only on explicit request.
    pub lateness: Lateness,
    /// The members of the group at submission time.
    pub member_ids: Vec<UserId>,
    /// Note of the group.
    pub note: Option<Note>,
    pub withdrawn_at: Option<Timestamp>,
    pub withdrawn_by_id: Option<UserId>,
    /// When the row was inserted.
    pub created_at: Timestamp,
}

/// The immutable copy of a document in an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionDocument {
    pub id: SubmissionDocumentId,
    pub submission_id: SubmissionId,
    /// `None` once the document is deleted.
    pub document_id: Option<DocumentId>,
    /// Number of the submitted revision.
    pub document_version: i64,
    /// Title at submission time.
    pub title: String,
    pub file_extension: FileExtension,
    /// Size in bytes.
    pub size: i64,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
    pub file_key: FileKey,
}

/// The attempt that results from submitting or withdrawing a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextAttempt {
    pub attempt: i64,
    /// All documents of the attempt.
    pub documents: Vec<DocumentId>,
    pub lateness: Lateness,
    /// The submission time of the attempt.
    pub submitted_at: Timestamp,
}

/// Rejects a submission without a topic; the service never infers it.
pub fn explicit(assignment: Option<AssignmentId>) -> Result<AssignmentId, DomainError> {
    assignment
        .filter(|id| !id.as_str().trim().is_empty())
        .ok_or(DomainError::AssignmentIdRequired)
}

/// Returns the index of the preselected topic in `candidates`, which are sorted by deadline: the topic the document is
/// linked to or, by default, the one with the nearest deadline.
pub fn preselected(candidates: &[&AssignmentId], linked: Option<&AssignmentId>) -> usize {
    candidates
        .iter()
        .position(|candidate| Some(*candidate) == linked)
        .unwrap_or_default()
}

/// Submits a document for a topic. `link` is the group's link to the topic, `submitted` are the documents of the
/// current attempt, `attempts` counts all attempts so far. The caller still has to set the id of the new submission in
/// the link ([`GroupAssignment::apply_transition_with`]).
pub fn submit(
    document: &mut Document,
    assignment: &Assignment,
    link: Option<&GroupAssignment>,
    submitted: &[DocumentId],
    attempts: i64,
    by: &UserId,
    now: Timestamp,
) -> Result<NextAttempt, DomainError> {
    let open = document.status.writable()?;
    let link = link.filter(|link| link.assignment_id == assignment.id && link.group_id == document.group_id);
    let link = link.ok_or(DomainError::GroupNotOnAssignment)?;
    // Checked first: a published grade is the more important reason, even if the document is submitted already.
    link.status.after(StatusTransition::Submitted)?;
    open.submit()?;
    let lateness = link.takes_submission(assignment, now)?;
    document.mark_submitted(&assignment.id, by, now)?;
    let mut documents: Vec<_> = submitted.iter().filter(|id| **id != document.id).cloned().collect();
    documents.push(document.id.clone());
    Ok(NextAttempt {
        attempt: attempts + 1,
        documents,
        lateness,
        submitted_at: now,
    })
}

/// Withdraws a document. Returns the attempt without it, or `None` if no submitted document remains and the current
/// attempt is withdrawn. The new attempt keeps the submission time and lateness of the previous one, because nothing is
/// submitted.
pub fn unsubmit(
    document: &mut Document,
    link: &GroupAssignment,
    current: &Submission,
    submitted: &[DocumentId],
    attempts: i64,
    now: Timestamp,
) -> Result<Option<NextAttempt>, DomainError> {
    let open = document.status.writable()?;
    if link.status == GroupAssignmentStatus::Graded {
        return Err(DomainError::GradePublished);
    }
    open.unsubmit()?;
    let documents: Vec<_> = submitted.iter().filter(|id| **id != document.id).cloned().collect();
    link.status.after(StatusTransition::Unsubmitted {
        others_remain: !documents.is_empty(),
    })?;
    document.mark_withdrawn(now)?;
    let lateness = current.lateness;
    let submitted_at = current.submitted_at;
    Ok((!documents.is_empty()).then(|| NextAttempt {
        attempt: attempts + 1,
        documents,
        lateness,
        submitted_at,
    }))
}

/// Records work that was shown instead of written, such as a talk or a poster: an attempt without documents, so that it
/// can be graded. A finished topic accepts it, because nothing that it locked changes.
pub fn record(
    assignment: &Assignment,
    link: &GroupAssignment,
    attempts: i64,
    now: Timestamp,
) -> Result<NextAttempt, DomainError> {
    link.published(assignment, now)?;
    link.status.after(StatusTransition::Submitted)?;
    if link.status.has_submission() {
        return Err(DomainError::AlreadyRecorded);
    }
    Ok(NextAttempt {
        attempt: attempts + 1,
        documents: Vec::new(),
        // The teacher decides when it was shown.
        lateness: Lateness::default(),
        submitted_at: now,
    })
}

/// Removes a recorded attempt without documents. `copies` counts its documents; `has_document` is whether the group has
/// a document for the topic.
pub fn remove_record(
    link: &mut GroupAssignment,
    current: &mut Submission,
    copies: usize,
    has_document: bool,
    by: &UserId,
    now: Timestamp,
) -> Result<(), DomainError> {
    if copies > 0 {
        return Err(DomainError::HasDocuments);
    }
    link.apply_transition_with(StatusTransition::RecordRemoved { has_document }, None, now)?;
    current.withdraw(by, now);
    Ok(())
}

/// Returns the work of a group for revision: its documents become drafts. Rejected for a finished topic, which has to
/// be reopened first.
pub fn return_submission<'d>(
    documents: impl IntoIterator<Item = &'d mut Document>,
    assignment: &Assignment,
    link: &mut GroupAssignment,
    now: Timestamp,
) -> Result<(), DomainError> {
    if !assignment.is_active() {
        return Err(DomainError::DocumentLocked);
    }
    let documents: Vec<_> = documents.into_iter().collect();
    for document in &documents {
        document.status.writable()?;
    }
    link.apply_transition_with(StatusTransition::Returned, None, now)?;
    for document in documents {
        // A document that was never submitted, or was withdrawn in the meantime, is a draft already.
        if document.assignment_id.as_ref() == Some(&assignment.id) && document.status.unsubmit().is_ok() {
            document.mark_withdrawn(now)?;
        }
    }
    Ok(())
}

impl Submission {
    /// Returns the submission of an attempt, without members and note.
    pub fn new(
        id: SubmissionId,
        organization_id: OrganizationId,
        link: GroupAssignmentId,
        next: &NextAttempt,
        submitted_by_id: UserId,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            organization_id,
            group_assignment_id: link,
            attempt: next.attempt,
            status: SubmissionStatus::Active,
            submitted_by_id,
            submitted_at: next.submitted_at,
            on_behalf: false,
            lateness: next.lateness,
            member_ids: Vec::new(),
            note: None,
            withdrawn_at: None,
            withdrawn_by_id: None,
            created_at: now,
        }
    }

    /// Recomputes the lateness after a teacher changed the deadline and requested it. Returns whether it changed.
    pub fn update_lateness(&mut self, link: &GroupAssignment, assignment: &Assignment) -> bool {
        let lateness = link.lateness(assignment, self.submitted_at);
        let changed = lateness != self.lateness;
        self.lateness = lateness;
        changed
    }

    /// Ends the attempt because a newer one replaces it.
    pub fn supersede(&mut self) {
        if self.status == SubmissionStatus::Active {
            self.status = SubmissionStatus::Superseded;
        }
    }

    /// Ends the attempt because the group withdrew it.
    pub fn withdraw(&mut self, by: &UserId, now: Timestamp) {
        if self.status == SubmissionStatus::Active {
            self.status = SubmissionStatus::Withdrawn;
            self.withdrawn_at = Some(now);
            self.withdrawn_by_id = Some(by.clone());
        }
    }

    /// Ends the attempt because a teacher returned it for revision.
    pub fn return_submission(&mut self) {
        if self.status == SubmissionStatus::Active {
            self.status = SubmissionStatus::Returned;
        }
    }
}

#[cfg(test)]
#[path = "submission_tests.rs"]
mod tests;
