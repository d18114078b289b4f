//! Log entries of documents. Chat messages are not logged; they are stored in the room.

use domain::activity::{Action, Category};
use domain::change::{CommentChange, DocumentChange, DocumentStep, MessageChange};
use domain::document::Document;
use domain::group::GroupContext;
use domain::save::Revision;
use serde_json::{Value, json};

use super::{LogEntry, difference, people};

/// Returns the log entry of a document, if it has one. Saves of an editor are not logged, because they are frequent
/// and listed as revisions; neither are automatic deletions.
pub(super) fn entry(change: &DocumentChange) -> Option<LogEntry> {
    match change {
        DocumentChange::Changed {
            group_context,
            document,
            step,
        } => changed(group_context, &document.document, step),
        // At most once per session, so it cannot flood the log.
        DocumentChange::LateTextKept {
            document,
            text,
            is_replacement: false,
            files: _,
        } => {
            let title = document.title.as_str();
            let entry = LogEntry::new(Category::Document, Action::Update, "document", &document.id, title);
            let details = json!({"changed": ["lateText"], "size": text.size, "expiresAt": text.expires_at()});
            let entry = entry.details(details);
            Some(match &document.class_id {
                Some(class) => entry.class(class),
                None => entry,
            })
        }
        DocumentChange::LateTextKept { .. } | DocumentChange::RevisionsPruned { .. } => None,
        DocumentChange::Deleted {
            group_context,
            document,
            files: _,
        } => Some(about(Action::Delete, group_context, document)),
    }
}

fn changed(group_context: &GroupContext, document: &Document, step: &DocumentStep) -> Option<LogEntry> {
    let (action, details) = match step {
        DocumentStep::Created => {
            let details = json!({"documentType": document.document_type, "fileExtension": document.file_extension});
            (Action::Create, details)
        }
        DocumentStep::Updated(changed) => (Action::Update, difference(changed)),
        DocumentStep::SavedLate(revision) | DocumentStep::Replaced(revision) => (Action::Update, content(revision)),
        // At most once until a save succeeds, so it cannot flood the log.
        DocumentStep::SaveFailed => (Action::Update, json!({"changed": ["saveFailedAt"]})),
        DocumentStep::PlayedBack { generation, since } => {
            (Action::Playback, json!({"generation": generation, "since": since}))
        }
        DocumentStep::Saved(_) | DocumentStep::Frozen => return None,
    };
    Some(about(action, group_context, document).details(details))
}

/// Returns the log entry of a comment, without its text, but with the users whom it begins to mention. What a user has
/// read is not logged.
pub(super) fn comment(change: &CommentChange) -> Option<LogEntry> {
    let (context, what) = match change {
        CommentChange::Created(context) | CommentChange::Replied(context) => (context, "CREATED"),
        CommentChange::Edited(context) => (context, "EDITED"),
        CommentChange::Deleted(context) => (context, "DELETED"),
        CommentChange::Resolved(context) => (context, "RESOLVED"),
        CommentChange::Reopened(context) => (context, "REOPENED"),
        CommentChange::Read { .. } => return None,
    };
    let mut details = json!({"changed": ["comments"], "comment": what});
    if !context.mentioned.is_empty() {
        details["mentioned"] = people(&context.mentioned).into();
    }
    Some(about(Action::Update, &context.group_context, &context.document).details(details))
}

/// Messages are never logged.
pub(super) fn message(change: &MessageChange) -> Option<LogEntry> {
    match change {
        MessageChange::Sent { .. }
        | MessageChange::Edited { .. }
        | MessageChange::Deleted { .. }
        | MessageChange::Read { .. }
        | MessageChange::DirectSent { .. }
        | MessageChange::Pruned { .. } => None,
    }
}

fn about(action: Action, group_context: &GroupContext, document: &Document) -> LogEntry {
    let (id, name) = (&document.id, document.title.as_str());
    LogEntry::new(Category::Document, action, "document", id, name)
        .group_context(group_context)
        .assignment(document.assignment_id.as_ref())
}

fn content(revision: &Revision) -> Value {
    json!({"changed": ["content"], "origin": revision.origin, "version": revision.version, "size": revision.size})
}
