//! Log entries of submissions, grades and feedback. They never contain a grade's value.

use domain::activity::{Action, Category};
use domain::change::{FeedbackChange, RubricChange, SubmissionChange};
use domain::details::{DocumentDetails, GroupAssignmentDetails};
use domain::feedback::Feedback;
use domain::grade::Publication;
use domain::rubric::Rubric;
use domain::submission::Submission;
use serde_json::{Value, json};

use super::{LogEntry, added_or_removed, difference_and};

pub(super) fn entry(change: &SubmissionChange) -> Option<LogEntry> {
    match change {
        SubmissionChange::Submitted {
            link,
            document,
            submission,
            superseded,
        } => {
            let submission = &submission.submission;
            Some(about(Action::Submit, link, submission).details(json!({
                "document": name(document),
                "attempt": submission.attempt,
                "onBehalf": submission.on_behalf,
                "isLate": submission.lateness.is_late,
                "lateBySeconds": submission.lateness.late_by_seconds,
                "supersededId": superseded,
            })))
        }
        SubmissionChange::Recorded { link, submission } => {
            let submission = &submission.submission;
            Some(about(Action::Submit, link, submission).details(json!({
                "attempt": submission.attempt,
                "onBehalf": submission.on_behalf,
                "withoutDocuments": true,
            })))
        }
        SubmissionChange::RecordRemoved { link, former } => {
            Some(about(Action::Unsubmit, link, former).details(json!({
                "attempt": former.attempt,
                "withoutDocuments": true,
            })))
        }
        // A late save completed the bytes of the submission; what was submitted and when has not changed.
        SubmissionChange::Completed { .. } | SubmissionChange::Frozen { .. } => None,
        SubmissionChange::Unsubmitted {
            link,
            document,
            former,
            next,
            reason,
        } => Some(about(Action::Unsubmit, link, former).details(json!({
            "document": name(document),
            "attempt": former.attempt,
            "nextId": next.as_ref().map(|next| &next.submission.id),
            "reason": reason,
        }))),
        SubmissionChange::Returned {
            link,
            submission,
            documents,
            feedback,
        } => Some(about(Action::Return, link, &submission.submission).details(json!({
            "attempt": submission.submission.attempt,
            "documents": documents.iter().map(name).collect::<Vec<_>>(),
            "feedbackId": feedback.as_ref().map(|feedback| &feedback.id),
        }))),
        SubmissionChange::GradeFileChanged {
            link,
            submission,
            file,
            members: _,
            is_added,
        } => Some(about(Action::Grade, link, &submission.submission).details(json!({
            "attempt": submission.submission.attempt,
            "status": submission.grade.as_ref().map(|grade| grade.status),
            added_or_removed(*is_added): {"id": file.id, "fileName": file.file.file_name},
        }))),
        SubmissionChange::Graded {
            link,
            submission,
            written,
            members: _,
        } => {
            let action = match written.publication {
                Publication::Published => Action::GradePublish,
                Publication::Kept | Publication::Withdrawn => Action::Grade,
            };
            Some(about(action, link, &submission.submission).details(json!({
                "attempt": submission.submission.attempt,
                "status": submission.grade.as_ref().map(|grade| grade.status),
                "version": submission.grade.as_ref().map(|grade| grade.version),
                "withdrawn": written.publication == Publication::Withdrawn,
            })))
        }
    }
}

pub(super) fn feedback(change: &FeedbackChange) -> LogEntry {
    let about = |action, link: &GroupAssignmentDetails, feedback: &Feedback| {
        let (id, name) = (&feedback.id, link.assignment.title.as_str());
        let entry = LogEntry::new(Category::Feedback, action, "feedback", id, name);
        at(entry, link).details(json!({
            "groupAssignmentId": link.link.id,
            "submissionId": feedback.submission_id,
            "documentId": feedback.document_id,
            "visibility": feedback.visibility,
            "isPublished": feedback.published_at.is_some(),
        }))
    };
    match change {
        FeedbackChange::Created { link, feedback } => about(Action::Create, link, feedback),
        FeedbackChange::Updated {
            link,
            feedback,
            was_visible: _,
        } => about(Action::Update, link, feedback),
        FeedbackChange::Deleted { link, feedback } => about(Action::Delete, link, feedback),
    }
}

pub(super) fn rubric(change: &RubricChange) -> LogEntry {
    let about = |action, rubric: &Rubric| {
        LogEntry::new(Category::Feedback, action, "rubric", &rubric.id, rubric.title.as_str()).details(json!({
            "isShared": rubric.is_shared,
            "criteria": rubric.criteria.len(),
        }))
    };
    match change {
        RubricChange::Created { rubric } => about(Action::Create, rubric),
        RubricChange::Updated { rubric, changed, .. } => {
            about(Action::Update, rubric).details(difference_and(changed, json!({"ownerId": rubric.owner_id})))
        }
        RubricChange::Deleted { rubric } => about(Action::Delete, rubric),
    }
}

fn about(action: Action, link: &GroupAssignmentDetails, submission: &Submission) -> LogEntry {
    let name = format!("{} – {}", link.assignment.title, link.group_context.group.name);
    at(
        LogEntry::new(Category::Submission, action, "submission", &submission.id, &name),
        link,
    )
}

/// Sets the group, its class, and the topic with its course.
fn at(entry: LogEntry, link: &GroupAssignmentDetails) -> LogEntry {
    entry
        .group_context(&link.group_context)
        .course(link.assignment.course_id.as_ref())
        .assignment(Some(&link.assignment.id))
}

fn name(document: &DocumentDetails) -> Value {
    json!({"id": document.document.id, "title": document.document.title})
}
