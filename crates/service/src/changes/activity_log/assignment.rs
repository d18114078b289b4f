//! Log entries of topics and of their group assignments.

use domain::activity::{Action, Category};
use domain::assignment::{Assignment, AssignmentLabel};
use domain::change::{AssignmentChange, GroupDocument};
use domain::document::Document;
use domain::file::AssignmentAttachment;
use domain::id::{DocumentId, GroupId};
use domain::patch::FieldDiff;
use domain::rubric::TopicRubric;
use serde_json::{Value, json};

use super::{LogEntry, added_or_removed, difference_and, group_name};

pub(super) fn entry(change: &AssignmentChange) -> Option<LogEntry> {
    Some(match change {
        AssignmentChange::Created {
            assignment,
            copied_from,
        } => {
            let mut details = json!({"groupIds": assignment.group_ids()});
            add_source(&mut details, copied_from.as_ref());
            about(Action::Create, &assignment.assignment).details(details)
        }
        AssignmentChange::Updated {
            assignment,
            changed,
            overridden,
            excepted,
            ..
        } => about(Action::Update, &assignment.assignment).details(updated(changed, overridden, excepted)),
        AssignmentChange::BulkUpdated {
            assignment, changed, ..
        } => {
            let groups = json!({"assignmentId": assignment.assignment.id, "groupIds": assignment.group_ids()});
            about(Action::BulkUpdate, &assignment.assignment).details(difference_and(changed, groups))
        }
        AssignmentChange::RubricChanged { assignment, rubric, .. } => {
            about(Action::Update, &assignment.assignment).details(topic_rubric(rubric.as_deref()))
        }
        AssignmentChange::GroupsAttached { assignment, attached } => {
            about(Action::Attach, &assignment.assignment).details(json!({"groupIds": attached}))
        }
        AssignmentChange::GroupDetached {
            assignment,
            group_context,
            was_published: _,
            submissions,
            released,
            files: _,
        } => about(Action::Detach, &assignment.assignment)
            .group_context(group_context)
            .details(json!({
                "group": group_name(group_context),
                "deletedSubmissions": submissions,
                "releasedDocuments": documents(released),
            })),
        AssignmentChange::LinkUpdated { link, changed, .. } => about(Action::Update, &link.assignment)
            .group_context(&link.group_context)
            .details(difference_and(
                changed,
                json!({"group": group_name(&link.group_context)}),
            )),
        // A staged file is logged only when a bulk edit adds it.
        AssignmentChange::AttachmentChanged { attachment, .. } if attachment.staged_at.is_some() => return None,
        AssignmentChange::AttachmentChanged {
            assignment,
            attachment,
            is_added,
        } => about(Action::Update, &assignment.assignment).details(file(*is_added, attachment)),
        // A repeated finish that locks no more documents changes nothing.
        AssignmentChange::Finished {
            already_finished: true,
            documents,
            ..
        } if documents.is_empty() => return None,
        AssignmentChange::Finished {
            assignment,
            already_finished,
            documents: locked,
            open,
            unsaved,
        } => about(Action::Finish, &assignment.assignment).details(json!({
            "groupIds": assignment.group_ids(),
            "lockedDocuments": documents(locked),
            "openDocuments": open,
            "unsavedDocuments": unsaved,
            "alreadyFinished": already_finished,
        })),
        AssignmentChange::Reopened {
            assignment,
            documents: changed,
        } => about(Action::Reopen, &assignment.assignment).details(json!({
            "groupIds": assignment.group_ids(),
            "unlockedDocuments": documents_that(changed, |document| !document.status.is_locked()),
            "stillLockedDocuments": documents_that(changed, |document| document.status.is_locked()),
        })),
        AssignmentChange::Deleted {
            assignment,
            group_contexts,
            published_groups: _,
            submissions,
            released,
            files: _,
        } => about(Action::Delete, assignment).details(json!({
            "groups": group_contexts.iter().map(group_name).collect::<Vec<Value>>(),
            "deletedSubmissions": submissions,
            "releasedDocuments": documents(released),
        })),
        AssignmentChange::Reminded { assignment, groups } => {
            about(Action::Remind, assignment).details(json!({"groupIds": groups}))
        }
        AssignmentChange::Exported { assignment, format } => {
            about(Action::Export, assignment).details(json!({"format": format}))
        }
    })
}

fn topic_rubric(rubric: Option<&TopicRubric>) -> Value {
    json!({
        "changed": ["rubric"],
        "rubric": rubric.map(|rubric| &rubric.title),
        "isRubricShown": rubric.map(|rubric| rubric.is_shown),
    })
}

fn updated(changed: &FieldDiff, overridden: &[GroupId], excepted: &[GroupId]) -> Value {
    let mut groups = json!({"overriddenGroupIds": overridden});
    if !excepted.is_empty() {
        groups["publicationGroupIds"] = json!(excepted);
    }
    difference_and(changed, groups)
}

fn add_source(details: &mut Value, copied_from: Option<&AssignmentLabel>) {
    if let Some(from) = copied_from {
        details["copiedFrom"] = json!({"id": from.id, "title": from.title});
    }
}

fn about(action: Action, assignment: &Assignment) -> LogEntry {
    let (id, name) = (&assignment.id, assignment.title.as_str());
    LogEntry::new(Category::Assignment, action, "assignment", id, name)
        .class(&assignment.class_id)
        .course(assignment.course_id.as_ref())
        .assignment(Some(&assignment.id))
}

fn documents(placed: &[GroupDocument]) -> Vec<&DocumentId> {
    documents_that(placed, |_| true)
}

fn documents_that(placed: &[GroupDocument], is_included: impl Fn(&Document) -> bool) -> Vec<&DocumentId> {
    let documents = placed.iter().map(|placed| &placed.document);
    documents
        .filter(|document| is_included(document))
        .map(|document| &document.id)
        .collect()
}

fn file(is_added: bool, attachment: &AssignmentAttachment) -> Value {
    json!({
        "changed": ["attachments"],
        added_or_removed(is_added): {
            "id": attachment.id,
            "fileName": attachment.file.file_name,
            "groupAssignmentId": attachment.group_assignment_id,
        },
    })
}
