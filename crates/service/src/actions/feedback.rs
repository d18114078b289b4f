//! What teachers write about the work of a group, and giving work back for revision.

use garde::Validate;
use model::change::feedback::FeedbackChange;
use model::change::submission::SubmissionChange;
use model::document::Document;
use model::feedback::{About, Feedback, FeedbackEdit, FeedbackVisibility};
use model::id::{DocumentId, FeedbackId, GroupAssignmentId, SubmissionId};
use model::refusal::Refusal;
use model::submission;
use model::text::FeedbackText;
use model::user::Person;
use model::whole::WholeGroupAssignment;
use serde::Deserialize;
use utoipa::ToSchema;

use super::grades::{author, hold_work, writable};
use super::submissions::whole_link;
use common::clock;
use common::error::Result;
use db::Work;
use db::submissions::grades::GroupWork;

/// A feedback to be given, about exactly one thing.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewFeedback {
    /// About the work of a group on a topic.
    #[garde(skip)]
    pub group_assignment_id: Option<GroupAssignmentId>,
    /// About one attempt.
    #[garde(skip)]
    pub submission_id: Option<SubmissionId>,
    /// About one document.
    #[garde(skip)]
    pub document_id: Option<DocumentId>,
    /// What it says.
    #[garde(dive)]
    pub text: FeedbackText,
    /// Who may read it; GROUP unless said otherwise.
    #[garde(skip)]
    pub visibility: Option<FeedbackVisibility>,
    /// False holds it back from the group; true unless said otherwise.
    #[garde(skip)]
    pub publish: Option<bool>,
}

/// What is said with work that is given back.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GiveBack {
    /// What has to be done; the group reads it.
    #[garde(dive)]
    pub feedback: FeedbackText,
}

/// Which work a feedback is about.
struct Subject {
    at: GroupWork,
    submission: Option<SubmissionId>,
    document: Option<DocumentId>,
}

/// Gives a feedback.
pub fn create(work: &mut Work<'_>, new: &NewFeedback) -> Result<Feedback> {
    let about = About::one_of(
        new.group_assignment_id.clone(),
        new.submission_id.clone(),
        new.document_id.clone(),
    )?;
    let Subject {
        at,
        submission,
        document,
    } = subject(work, about)?;
    work.hold_class(&at.class_id)?;
    let at = work.work_of_link(&at.link_id)?;
    writable(at.class_status)?;
    let feedback = Feedback {
        submission_id: submission,
        document_id: document,
        visibility: new.visibility.unwrap_or(FeedbackVisibility::Group),
        published_at: new.publish.unwrap_or(true).then(|| work.now()),
        ..said(work, &at.link_id, &new.text)?
    };
    let feedback = insert(work, &feedback)?;
    let link = whole_link(work, &at.assignment_id, &at.group_id)?;
    work.record(FeedbackChange::Created {
        link: Box::new(link),
        feedback: Box::new(feedback.clone()),
    });
    Ok(feedback)
}

/// Changes a feedback.
pub fn edit(work: &mut Work<'_>, id: &FeedbackId, edit: &FeedbackEdit) -> Result<Feedback> {
    let (mut feedback, at) = to_write(work, id)?;
    let was_visible = feedback.visible_to_students();
    let changed = feedback.edit(edit.clone(), work.now())?;
    if changed.is_empty() {
        return Ok(feedback);
    }
    work.update_feedback(&feedback)?;
    let link = whole_link(work, &at.assignment_id, &at.group_id)?;
    work.record(FeedbackChange::Updated {
        link: Box::new(link),
        feedback: Box::new(feedback.clone()),
        was_visible,
    });
    Ok(feedback)
}

/// Deletes a feedback.
pub fn remove(work: &mut Work<'_>, id: &FeedbackId) -> Result<()> {
    let (feedback, at) = to_write(work, id)?;
    work.delete_feedback(id)?;
    let link = whole_link(work, &at.assignment_id, &at.group_id)?;
    work.record(FeedbackChange::Deleted {
        link: Box::new(link),
        feedback: Box::new(feedback),
    });
    Ok(())
}

/// Gives an attempt back for revision: its documents are drafts again, under new keys, and the group reads why.
pub fn give_back(work: &mut Work<'_>, id: &SubmissionId, words: &GiveBack) -> Result<WholeGroupAssignment> {
    let at = hold_work(work, id)?;
    let mut link = whole_link(work, &at.assignment_id, &at.group_id)?;
    // The lock of the topic is said before everything else that stands in the way.
    if !link.assignment.is_active() {
        return Err(Refusal::DocumentLocked.into());
    }
    writable(at.class_status)?;
    let mut attempt = work.submission(id)?;
    if link.link.current_submission_id.as_ref() != Some(id) {
        return Err(Refusal::NotSubmitted.into());
    }
    let mut copied: Vec<DocumentId> = attempt
        .documents
        .iter()
        .filter_map(|copy| copy.document_id.clone())
        .collect();
    // Whoever takes several documents takes them in this order.
    copied.sort();
    let taken = copied
        .iter()
        .map(|document| Ok(work.document_to_write(document)?.whole.document));
    let mut documents = taken.collect::<Result<Vec<Document>>>()?;
    let now = work.now();
    submission::give_back(documents.iter_mut(), &link.assignment, &mut link.link, now)?;
    for document in &documents {
        work.update_document(document)?;
    }
    attempt.submission.give_back();
    work.update_submission(&attempt.submission)?;
    work.update_link(&link.link)?;
    let feedback = Feedback {
        submission_id: Some(id.clone()),
        published_at: Some(now),
        ..said(work, &at.link_id, &words.feedback)?
    };
    let feedback = insert(work, &feedback)?;
    let link = whole_link(work, &at.assignment_id, &at.group_id)?;
    let submission = Box::new(work.submission(id)?);
    let documents = copied.iter().map(|document| Ok(work.document(document)?.whole));
    let documents = documents.collect::<Result<Vec<_>>>()?;
    work.record(SubmissionChange::Returned {
        link: Box::new(link.clone()),
        submission,
        documents,
        feedback: Some(Box::new(feedback)),
    });
    Ok(link)
}

/// Finds what a feedback is about, as far as the caller sees it. What is said about a document that is handed in belongs to
/// the attempt, too.
fn subject(work: &mut Work<'_>, about: About) -> Result<Subject> {
    match about {
        About::GroupAssignment(link) => Ok(Subject {
            at: work.work_of_link(&link)?,
            submission: None,
            document: None,
        }),
        About::Submission(submission) => Ok(Subject {
            at: work.work_of_submission(&submission)?,
            submission: Some(submission),
            document: None,
        }),
        About::Document(document) => {
            let seen = work.document(&document)?;
            let topic = seen.document().assignment_id.as_ref().ok_or(Refusal::Invalid {
                path: "documentId",
                code: "no_topic",
                message: "is for no topic yet; link the document to one first",
            })?;
            let link = whole_link(work, topic, &seen.place.group.id)?.link;
            let attempt = work.submission_of_document(&document)?;
            Ok(Subject {
                at: work.work_of_link(&link.id)?,
                submission: attempt.map(|attempt| attempt.submission.id),
                document: Some(document),
            })
        }
    }
}

/// A feedback that the caller may change, with its class held.
fn to_write(work: &mut Work<'_>, id: &FeedbackId) -> Result<(Feedback, GroupWork)> {
    let link = work.feedback(id)?.group_assignment_id;
    let class = work.work_of_link(&link)?.class_id;
    work.hold_class(&class)?;
    let feedback = work.feedback(id)?;
    let at = work.work_of_link(&link)?;
    feedback.editable_by(work.viewer())?;
    writable(at.class_status)?;
    Ok((feedback, at))
}

/// A feedback of the caller for the group, held back.
fn said(work: &Work<'_>, link: &GroupAssignmentId, text: &FeedbackText) -> Result<Feedback> {
    Ok(Feedback {
        id: FeedbackId::new(clock::new_id()),
        group_assignment_id: link.clone(),
        submission_id: None,
        document_id: None,
        author: Person {
            id: author(work)?,
            name: work.actor().name.clone(),
            image: None,
        },
        text: text.clone(),
        visibility: FeedbackVisibility::Group,
        published_at: None,
        created_at: work.now(),
        updated_at: work.now(),
    })
}

/// Writes a feedback and answers it as everybody reads it.
fn insert(work: &mut Work<'_>, new: &Feedback) -> Result<Feedback> {
    work.insert_feedback(new)?;
    work.feedback(&new.id)
}
