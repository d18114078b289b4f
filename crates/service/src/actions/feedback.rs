//! Feedback of teachers on the work of a group, and returning submissions for revision.

use api_macros::body;
use domain::change::{AssignmentChange, FeedbackChange, SubmissionChange};
use domain::details::GroupAssignmentDetails;
use domain::document::Document;
use domain::domain_error::DomainError;
use domain::feedback::{Feedback, FeedbackEdit, FeedbackTarget, FeedbackVisibility};
use domain::group_assignment::GroupAssignmentEdit;
use domain::id::{DocumentId, FeedbackId, GroupAssignmentId, SubmissionId};
use domain::patch::FieldPatch;
use domain::submission;
use domain::text::FeedbackText;
use domain::time::Timestamp;

use super::acting_user::acting_person;
use super::grades::{lock_group_work, writable};
use super::submissions::whole_link;
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::submissions::grades::GroupWork;

/// Feedback to create, about exactly one of a group assignment, a submission and a document.
#[body]
pub struct NewFeedback {
    /// The work of a group on a topic.
    pub group_assignment_id: Option<GroupAssignmentId>,
    /// One submission.
    pub submission_id: Option<SubmissionId>,
    /// One document.
    pub document_id: Option<DocumentId>,
    /// The text.
    pub text: FeedbackText,
    /// Who may read the feedback. Defaults to GROUP.
    pub visibility: Option<FeedbackVisibility>,
    /// Whether to publish it immediately. Defaults to true; if false, students do not see it.
    pub publish: Option<bool>,
}

/// A submission to return for revision.
#[body]
pub struct ReturnSubmission {
    /// What has to be revised. The group sees this text.
    pub feedback: FeedbackText,
    /// The new deadline of the group, in the future. Without it the deadline stays, so that the revised work may be late.
    pub late_allowed_until: Option<Timestamp>,
}

/// The work that a feedback is about.
struct FeedbackContext {
    at: GroupWork,
    submission: Option<SubmissionId>,
    document: Option<DocumentId>,
}

pub fn create(tx: &mut WriteTx<'_>, new: &NewFeedback) -> Result<Feedback> {
    let about = FeedbackTarget::one_of(
        new.group_assignment_id.clone(),
        new.submission_id.clone(),
        new.document_id.clone(),
    )?;
    let FeedbackContext {
        at,
        submission,
        document,
    } = find_target(tx, about)?;
    tx.lock_class(&at.class_id)?;
    let at = tx.work_of_link(&at.link_id)?;
    writable(at.class_status)?;
    let feedback = Feedback {
        submission_id: submission,
        document_id: document,
        visibility: new.visibility.unwrap_or(FeedbackVisibility::Group),
        published_at: new.publish.unwrap_or(true).then(|| tx.now()),
        ..build_feedback(tx, &at.link_id, &new.text)?
    };
    let feedback = insert(tx, &feedback)?;
    let link = whole_link(tx, &at.assignment_id, &at.group_id)?;
    tx.record(FeedbackChange::Created {
        link: Box::new(link),
        feedback: Box::new(feedback.clone()),
    });
    Ok(feedback)
}

pub fn edit(tx: &mut WriteTx<'_>, id: &FeedbackId, edit: &FeedbackEdit) -> Result<Feedback> {
    let (mut feedback, at) = feedback_to_change(tx, id)?;
    let was_visible = feedback.visible_to_students();
    let changed = feedback.edit(edit.clone(), tx.now())?;
    if changed.is_empty() {
        return Ok(feedback);
    }
    tx.update_feedback(&feedback)?;
    let link = whole_link(tx, &at.assignment_id, &at.group_id)?;
    tx.record(FeedbackChange::Updated {
        link: Box::new(link),
        feedback: Box::new(feedback.clone()),
        was_visible,
    });
    Ok(feedback)
}

pub fn remove(tx: &mut WriteTx<'_>, id: &FeedbackId) -> Result<()> {
    let (feedback, at) = feedback_to_change(tx, id)?;
    tx.delete_feedback(id)?;
    let link = whole_link(tx, &at.assignment_id, &at.group_id)?;
    tx.record(FeedbackChange::Deleted {
        link: Box::new(link),
        feedback: Box::new(feedback),
    });
    Ok(())
}

/// Returns a submission for revision: its documents become drafts with new keys, and the feedback is published to the
/// group.
pub fn return_submission(
    tx: &mut WriteTx<'_>,
    id: &SubmissionId,
    words: &ReturnSubmission,
) -> Result<GroupAssignmentDetails> {
    let at = lock_group_work(tx, id)?;
    let mut link = whole_link(tx, &at.assignment_id, &at.group_id)?;
    // A finished topic is reported before any other reason for a rejection.
    if !link.assignment.is_active() {
        return Err(DomainError::DocumentLocked.into());
    }
    writable(at.class_status)?;
    let mut attempt = tx.submission(id)?;
    if link.link.current_submission_id.as_ref() != Some(id) {
        return Err(DomainError::NotSubmitted.into());
    }
    let mut copied: Vec<DocumentId> = attempt
        .documents
        .iter()
        .filter_map(|copy| copy.document_id.clone())
        .collect();
    // Sorted: the order in which several documents are locked everywhere.
    copied.sort();
    let taken = copied
        .iter()
        .map(|document| Ok(tx.lock_writable_document(document)?.details.document));
    let mut documents = taken.collect::<Result<Vec<Document>>>()?;
    let now = tx.now();
    submission::return_submission(documents.iter_mut(), &link.assignment, &mut link.link, now)?;
    let was_published = link.is_published(now);
    let extended = match words.late_allowed_until {
        Some(until) => Some(link.link.edit(extension(until, now)?, &link.assignment, now)?),
        None => None,
    };
    for document in &documents {
        tx.update_document(document)?;
    }
    attempt.submission.return_submission();
    tx.update_submission(&attempt.submission)?;
    tx.update_link(&link.link)?;
    let feedback = Feedback {
        submission_id: Some(id.clone()),
        published_at: Some(now),
        ..build_feedback(tx, &at.link_id, &words.feedback)?
    };
    let feedback = insert(tx, &feedback)?;
    let link = whole_link(tx, &at.assignment_id, &at.group_id)?;
    let submission = Box::new(tx.submission(id)?);
    let documents = copied.iter().map(|document| Ok(tx.document(document)?.details));
    let documents = documents.collect::<Result<Vec<_>>>()?;
    if let Some(changed) = extended.filter(|changed| !changed.is_empty()) {
        tx.record(AssignmentChange::LinkUpdated {
            link: Box::new(link.clone()),
            changed,
            was_published,
        });
    }
    tx.record(SubmissionChange::Returned {
        link: Box::new(link.clone()),
        submission,
        documents,
        feedback: Some(Box::new(feedback)),
    });
    Ok(link)
}

/// Returns the edit that gives a group more time for a revision.
fn extension(until: Timestamp, now: Timestamp) -> Result<GroupAssignmentEdit> {
    if until <= now {
        return Err(Error::invalid("lateAllowedUntil", "range", "must be in the future"));
    }
    Ok(GroupAssignmentEdit {
        late_allowed_until: FieldPatch::Value(until),
        ..GroupAssignmentEdit::default()
    })
}

/// Finds what a feedback is about, if the caller can see it. Feedback about a submitted document also belongs to the
/// submission.
fn find_target(tx: &mut WriteTx<'_>, about: FeedbackTarget) -> Result<FeedbackContext> {
    match about {
        FeedbackTarget::GroupAssignment(link) => Ok(FeedbackContext {
            at: tx.work_of_link(&link)?,
            submission: None,
            document: None,
        }),
        FeedbackTarget::Submission(submission) => Ok(FeedbackContext {
            at: tx.work_of_submission(&submission)?,
            submission: Some(submission),
            document: None,
        }),
        FeedbackTarget::Document(document) => {
            let seen = tx.document(&document)?;
            let topic = seen.document().assignment_id.as_ref().ok_or(DomainError::Invalid {
                path: "documentId",
                code: "no_topic",
                message: "is for no topic yet; link the document to one first",
            })?;
            let link = whole_link(tx, topic, &seen.group_context.group.id)?.link;
            let attempt = tx.submission_of_document(&document)?;
            Ok(FeedbackContext {
                at: tx.work_of_link(&link.id)?,
                submission: attempt.map(|attempt| attempt.submission.id),
                document: Some(document),
            })
        }
    }
}

/// Locks the class and returns a feedback that the caller may change.
fn feedback_to_change(tx: &mut WriteTx<'_>, id: &FeedbackId) -> Result<(Feedback, GroupWork)> {
    let link = tx.feedback(id)?.group_assignment_id;
    let class = tx.work_of_link(&link)?.class_id;
    tx.lock_class(&class)?;
    let feedback = tx.feedback(id)?;
    let at = tx.work_of_link(&link)?;
    feedback.editable_by(tx.viewer())?;
    writable(at.class_status)?;
    Ok((feedback, at))
}

/// Builds an unpublished feedback of the caller for the group.
fn build_feedback(tx: &WriteTx<'_>, link: &GroupAssignmentId, text: &FeedbackText) -> Result<Feedback> {
    Ok(Feedback {
        id: FeedbackId::new(clock::new_id()),
        group_assignment_id: link.clone(),
        submission_id: None,
        document_id: None,
        author: acting_person(tx)?,
        text: text.clone(),
        visibility: FeedbackVisibility::Group,
        published_at: None,
        created_at: tx.now(),
        updated_at: tx.now(),
    })
}

/// Inserts a feedback and returns it as stored.
fn insert(tx: &mut WriteTx<'_>, new: &Feedback) -> Result<Feedback> {
    tx.insert_feedback(new)?;
    tx.feedback(&new.id)
}
