//! Submits documents and withdraws submissions. A submission (an attempt) contains all submitted documents of a group
//! as immutable copies. The copies are stored before the transaction begins, so that the document's status, the
//! submission and the group assignment change atomically.

use api_macros::body;
use std::collections::HashMap;

use domain::change::SubmissionChange;
use domain::details::{GroupAssignmentDetails, SubmissionDetails};
use domain::document_kind::FileExtension;
use domain::domain_error::DomainError;
use domain::file::FileKey;
use domain::group_assignment::{GroupAssignment, StatusTransition};
use domain::id::{
    AssignmentId, DocumentId, GroupAssignmentId, GroupId, RevisionId, SubmissionDocumentId, SubmissionId, UserId,
};
use domain::list::List;
use domain::submission::{self, NextAttempt, Submission, SubmissionDocument};
use domain::text::Note;
use domain::time::Timestamp;

use super::acting_user::acting_user;
use super::freeze::{self, Freeze};
use super::grades::check_groups_of_topic;
use adapters::onlyoffice::DocumentServer;
use common::clock;
use common::error::{Error, Result};
use db::documents::VisibleDocument;
use db::group_assignments::SubmissionCandidate;
use db::{ReadTx, WriteTx};

/// A document to submit.
#[body(Default)]
pub struct SubmitDocument {
    /// The topic to submit for. It is required and never inferred.
    #[schema(required)]
    pub assignment_id: Option<AssignmentId>,
    /// A note from the group.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub note: Option<Note>,
    /// Whether the user has confirmed. May be absent, but not false: clients send no request if the user declines.
    #[garde(custom(not_declined))]
    pub confirm: Option<bool>,
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "garde needs it")]
fn not_declined(confirm: &Option<bool>, (): &()) -> garde::Result {
    match confirm {
        Some(false) => Err(garde::Error::new("must be true")),
        Some(true) | None => Ok(()),
    }
}

/// A document to withdraw.
#[body(Default)]
pub struct WithdrawSubmission {
    /// The reason.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub reason: Option<Note>,
}

/// Work of a group without documents.
#[body(Default)]
pub struct RecordWork {
    /// What was shown, for example a talk or a poster. The group reads it.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub note: Option<Note>,
}

/// Work of several groups without documents.
#[body]
pub struct RecordGroupWork {
    /// The groups; none of them may have a submission.
    #[garde(dive, custom(domain::list::not_empty))]
    pub group_ids: List<GroupId>,
    /// What was shown, for example a talk or a poster. The groups read it.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub note: Option<Note>,
}

/// A copy of a document's bytes under a separate key, which no row refers to yet.
#[derive(Debug, Clone)]
pub struct SubmissionCopy {
    /// The id that the copy will have.
    pub id: SubmissionDocumentId,
    /// The copied revision; `None` for the blank template.
    pub revision: Option<RevisionId>,
    /// The version number of the revision.
    pub version: i64,
    pub extension: FileExtension,
    pub key: FileKey,
    pub size: i64,
    /// The hexadecimal SHA-256 of the bytes.
    pub sha256: String,
    /// The text with its authors, as JSON.
    pub authorship: Option<String>,
}

/// What remains to do after a submission: open editors have to be asked for pending changes.
#[derive(Debug, Clone)]
pub struct SubmittedDocument {
    /// Editing sessions that may be open.
    pub freezes: Vec<Freeze>,
}

/// The state that responses about a submission are built from.
#[derive(Debug, Clone)]
pub struct SubmissionState {
    pub seen: VisibleDocument,
    /// The group assignment of the submission.
    pub link: GroupAssignmentDetails,
    /// The current submission, if there is one.
    pub submission: Option<SubmissionDetails>,
}

/// Rejects early, before bytes are copied, what the transaction would reject.
pub fn may_submit(tx: &mut ReadTx<'_>, document: &DocumentId, assignment: &AssignmentId) -> Result<VisibleDocument> {
    let seen = tx.document(document)?;
    tx.assignment(assignment)?;
    seen.writable()?;
    Ok(seen)
}

/// Returns the active topics that a group may submit for. The flag marks the preselected one: that of `document`, or
/// the one with the earliest deadline. [`Error::NotFound`] if the caller cannot view the group, or the document is
/// not in it.
pub fn submission_candidates(
    tx: &mut ReadTx<'_>,
    group: &GroupId,
    document: Option<&DocumentId>,
) -> Result<Vec<(SubmissionCandidate, bool)>> {
    let candidates = tx.submission_candidates(group)?;
    let linked = match document {
        Some(id) => {
            let document = tx.document(id)?.details.document;
            if document.group_id != *group {
                return Err(Error::NotFound);
            }
            document.assignment_id
        }
        None => None,
    };
    let ids: Vec<&AssignmentId> = candidates.iter().map(|candidate| &candidate.assignment_id).collect();
    let preselected = submission::preselected(&ids, linked.as_ref());
    let candidates = candidates.into_iter().enumerate();
    Ok(candidates
        .map(|(group_context, candidate)| (candidate, group_context == preselected))
        .collect())
}

/// Submits a document. Returns `None` if the copy is not of its current content any more.
pub fn submit(
    tx: &mut WriteTx<'_>,
    id: &DocumentId,
    assignment: &AssignmentId,
    note: Option<&Note>,
    copied: &SubmissionCopy,
    (server, until): (&DocumentServer, Timestamp),
) -> Result<Option<SubmittedDocument>> {
    let by = acting_user(tx)?;
    let class = tx.document(id)?.group_context.class;
    tx.lock_class(&class)?;
    let seen = tx.lock_writable_document(id)?;
    let topic = tx.assignment(assignment)?.details.assignment;
    seen.writable()?;
    let mut document = seen.document().clone();
    let link = tx.link(assignment, &document.group_id)?;
    let current = match link.as_ref().and_then(|link| link.current_submission_id.clone()) {
        Some(current) => Some(tx.submission(&current)?),
        None => None,
    };
    let attempts = match &link {
        Some(link) => tx.attempts(&link.id)?,
        None => 0,
    };
    let former_key = document.key();
    let handed_in = documents_of(current.as_ref());
    let now = tx.now();
    let next = submission::submit(&mut document, &topic, link.as_ref(), &handed_in, attempts, &by, now)?;
    let mut link = link.ok_or(DomainError::GroupNotOnAssignment)?;
    if document.current_revision_id != copied.revision {
        return Ok(None);
    }
    let new = Submission {
        id: SubmissionId::new(clock::new_id()),
        on_behalf: tx.viewer().is_staff(),
        member_ids: tx.member_ids_of(&document.group_id)?,
        note: note.cloned(),
        ..attempt(tx, &link.id, &next, by)
    };
    let documents = next.documents.iter().map(|own| {
        if *own == document.id {
            Ok(copy_of(&document.title, &document.id, copied))
        } else {
            former_copy(current.as_ref(), own)
        }
    });
    let documents = documents.collect::<Result<Vec<_>>>()?;
    let superseded = match current.map(|current| current.submission) {
        Some(mut former) => {
            former.supersede();
            tx.update_submission(&former)?;
            Some(former.id)
        }
        None => None,
    };
    begin(tx, &new, &documents)?;
    if let Some(former) = &superseded {
        tx.carry_authorship(former, &new.id)?;
    }
    if let Some(authorship) = &copied.authorship {
        tx.set_authorship(&copied.id, authorship)?;
    }
    link.apply_transition_with(StatusTransition::Submitted, Some(new.id.clone()), now)?;
    tx.update_link(&link)?;
    let sessions = tx.editing_sessions(id)?;
    let freezes = freeze::begin(tx, &mut document, Some(former_key), &sessions, server, until)?;
    tx.update_document(&document)?;
    let snapshot = find_state(tx, id, assignment)?;
    let submission = Box::new(tx.submission(&new.id)?);
    tx.record(SubmissionChange::Submitted {
        link: Box::new(snapshot.link),
        document: Box::new(snapshot.seen.details),
        submission,
        superseded,
    });
    Ok(Some(SubmittedDocument { freezes }))
}

/// Withdraws a document from its submission.
pub fn unsubmit(tx: &mut WriteTx<'_>, id: &DocumentId, reason: Option<&Note>) -> Result<SubmissionState> {
    let by = acting_user(tx)?;
    let class = tx.document(id)?.group_context.class;
    tx.lock_class(&class)?;
    let seen = tx.lock_writable_document(id)?;
    seen.writable()?.unsubmit()?;
    let mut document = seen.document().clone();
    let assignment = document.assignment_id.clone().ok_or(DomainError::NotSubmitted)?;
    let mut link = tx
        .link(&assignment, &document.group_id)?
        .ok_or(DomainError::NotSubmitted)?;
    let current = tx.submission_of_document(id)?.ok_or(DomainError::NotSubmitted)?;
    let handed_in = documents_of(Some(&current));
    let attempts = tx.attempts(&link.id)?;
    let now = tx.now();
    let next = submission::unsubmit(&mut document, &link, &current.submission, &handed_in, attempts, now)?;
    let next = match next {
        Some(next) => {
            // Withdrawing submits nothing: the remaining documents keep their submitter, time and members.
            let new = Submission {
                on_behalf: current.submission.on_behalf,
                member_ids: current.submission.member_ids.clone(),
                note: current.submission.note.clone(),
                ..attempt(tx, &link.id, &next, current.submission.submitted_by_id.clone())
            };
            let copies = next.documents.iter().map(|own| former_copy(Some(&current), own));
            Some((new, copies.collect::<Result<Vec<_>>>()?))
        }
        None => None,
    };
    let mut former = current.submission;
    let others_remain = next.is_some();
    if others_remain {
        former.supersede();
    } else {
        former.withdraw(&by, now);
    }
    tx.update_submission(&former)?;
    if let Some((new, copies)) = &next {
        begin(tx, new, copies)?;
        tx.carry_authorship(&former.id, &new.id)?;
    }
    let current_id = next.map(|(new, _)| new.id);
    link.apply_transition_with(StatusTransition::Unsubmitted { others_remain }, current_id.clone(), now)?;
    tx.update_link(&link)?;
    tx.update_document(&document)?;
    let snapshot = find_state(tx, id, &assignment)?;
    let next = current_id.map(|id| tx.submission(&id)).transpose()?.map(Box::new);
    tx.record(SubmissionChange::Unsubmitted {
        link: Box::new(snapshot.link.clone()),
        document: Box::new(snapshot.seen.details.clone()),
        former: Box::new(former),
        next,
        reason: reason.cloned(),
    });
    Ok(snapshot)
}

/// Records work without documents for a group, such as a talk or a poster.
pub fn record(
    tx: &mut WriteTx<'_>,
    assignment: &AssignmentId,
    group: &GroupId,
    new: &RecordWork,
) -> Result<(SubmissionDetails, GroupAssignmentDetails)> {
    let by = acting_user(tx)?;
    let topic = tx.lock_writable_assignment(assignment)?.assignment;
    let mut link = tx.get_link(assignment, group)?;
    let (attempts, now) = (tx.attempts(&link.id)?, tx.now());
    let next = submission::record(&topic, &link, attempts, now)?;
    let new = Submission {
        member_ids: tx.member_ids_of(group)?,
        note: new.note.clone(),
        ..attempt(tx, &link.id, &next, by)
    };
    let id = insert_record(tx, &mut link, new)?;
    let (link, submission) = (whole_link(tx, assignment, group)?, tx.submission(&id)?);
    tx.record(SubmissionChange::Recorded {
        link: Box::new(link.clone()),
        submission: Box::new(submission.clone()),
    });
    Ok((submission, link))
}

/// Records work without documents for several groups of a topic, or for none of them if one is rejected. Returns how
/// many were recorded.
pub fn record_for_groups(tx: &mut WriteTx<'_>, assignment: &AssignmentId, new: &RecordGroupWork) -> Result<i64> {
    let by = acting_user(tx)?;
    let details = tx.lock_writable_assignment(assignment)?;
    check_groups_of_topic(tx, &details, &new.group_ids)?;
    let attempts = tx.attempts_of_topic(assignment)?;
    let mut members: HashMap<GroupId, Vec<UserId>> = HashMap::new();
    for (group, user) in tx.members_of_topic(assignment)? {
        members.entry(group).or_default().push(user);
    }
    let is_meant = |link: &&GroupAssignmentDetails| new.group_ids.contains(&link.link.group_id);
    for link in details.links.iter().filter(is_meant) {
        let mut link = link.link.clone();
        let former = attempts.get(&link.id).copied().unwrap_or_default();
        let next = submission::record(&details.assignment, &link, former, tx.now())?;
        let recorded = Submission {
            member_ids: members.remove(&link.group_id).unwrap_or_default(),
            note: new.note.clone(),
            ..attempt(tx, &link.id, &next, by.clone())
        };
        insert_record(tx, &mut link, recorded)?;
    }
    let links = tx.assignment(assignment)?.details.links;
    for link in links.iter().filter(is_meant) {
        let submission = link.current_submission.clone().ok_or(Error::NotFound)?;
        tx.record(SubmissionChange::Recorded {
            link: Box::new(link.clone()),
            submission: Box::new(submission),
        });
    }
    Ok(i64::try_from(new.group_ids.len()).unwrap_or(i64::MAX))
}

/// Inserts an attempt without documents and makes it the current one.
fn insert_record(tx: &mut WriteTx<'_>, link: &mut GroupAssignment, new: Submission) -> Result<SubmissionId> {
    let new = Submission { on_behalf: true, ..new };
    begin(tx, &new, &[])?;
    link.apply_transition_with(StatusTransition::Submitted, Some(new.id.clone()), tx.now())?;
    tx.update_link(link)?;
    Ok(new.id)
}

/// Removes a recorded attempt without documents.
pub fn remove_record(
    tx: &mut WriteTx<'_>,
    assignment: &AssignmentId,
    group: &GroupId,
) -> Result<GroupAssignmentDetails> {
    let by = acting_user(tx)?;
    tx.lock_writable_assignment(assignment)?;
    let mut link = tx.get_link(assignment, group)?;
    let current = link.current_submission_id.clone().ok_or(DomainError::NotSubmitted)?;
    let current = tx.submission(&current)?;
    let (has_document, now) = (tx.has_linked_document(assignment, group)?, tx.now());
    let (mut former, copies) = (current.submission, current.documents.len());
    submission::remove_record(&mut link, &mut former, copies, has_document, &by, now)?;
    tx.update_submission(&former)?;
    tx.update_link(&link)?;
    let link = whole_link(tx, assignment, group)?;
    tx.record(SubmissionChange::RecordRemoved {
        link: Box::new(link.clone()),
        former: Box::new(former),
    });
    Ok(link)
}

/// Returns the document, its group assignment and the current submission, as the viewer sees them.
pub fn find_state(tx: &mut ReadTx<'_>, id: &DocumentId, assignment: &AssignmentId) -> Result<SubmissionState> {
    let seen = tx.document(id)?;
    let link = whole_link(tx, assignment, &seen.group_context.group.id)?;
    let submission = link.current_submission.clone();
    Ok(SubmissionState { seen, link, submission })
}

/// Returns the link of a group to a topic, with the complete current submission.
pub fn whole_link(tx: &mut ReadTx<'_>, assignment: &AssignmentId, group: &GroupId) -> Result<GroupAssignmentDetails> {
    let links = tx.assignment(assignment)?.details.links.into_iter();
    let mut link = links
        .into_iter()
        .find(|link| link.link.group_id == *group)
        .ok_or(Error::NotFound)?;
    link.current_submission = match &link.link.current_submission_id {
        Some(current) => Some(tx.submission(current)?),
        None => None,
    };
    Ok(link)
}

fn documents_of(current: Option<&SubmissionDetails>) -> Vec<DocumentId> {
    let copies = current.into_iter().flat_map(|current| &current.documents);
    copies.filter_map(|copy| copy.document_id.clone()).collect()
}

/// Builds a new submission.
fn attempt(tx: &WriteTx<'_>, link: &GroupAssignmentId, next: &NextAttempt, by: UserId) -> Submission {
    let (id, school) = (SubmissionId::new(clock::new_id()), tx.organization().clone());
    Submission::new(id, school, link.clone(), next, by, tx.now())
}

fn copy_of(title: &domain::text::DocumentTitle, document: &DocumentId, copied: &SubmissionCopy) -> SubmissionDocument {
    SubmissionDocument {
        id: copied.id.clone(),
        submission_id: SubmissionId::new(""),
        document_id: Some(document.clone()),
        document_version: copied.version,
        title: title.as_str().to_owned(),
        file_extension: copied.extension,
        size: copied.size,
        sha256: copied.sha256.clone(),
        file_key: copied.key.clone(),
    }
}

/// Returns the copy of another document in the submission. Its bytes have not changed, so the next submission refers
/// to the same file.
fn former_copy(current: Option<&SubmissionDetails>, document: &DocumentId) -> Result<SubmissionDocument> {
    let copies = current.into_iter().flat_map(|current| &current.documents);
    let copy = copies
        .into_iter()
        .find(|copy| copy.document_id.as_ref() == Some(document));
    let mut copy = copy
        .cloned()
        .ok_or_else(|| anyhow::anyhow!("the attempt has no copy of {document}"))?;
    copy.id = SubmissionDocumentId::new(clock::new_id());
    Ok(copy)
}

/// Inserts a submission with its copies. The former one has ended already: at most one is current.
fn begin(tx: &mut WriteTx<'_>, new: &Submission, copies: &[SubmissionDocument]) -> Result<()> {
    tx.insert_submission(new)?;
    for copy in copies {
        let copy = SubmissionDocument {
            submission_id: new.id.clone(),
            ..copy.clone()
        };
        tx.insert_copy(&copy)?;
    }
    Ok(())
}
