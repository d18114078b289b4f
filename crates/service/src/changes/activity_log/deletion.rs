//! Log entries of deleted objects that are restored or deleted for good.

use domain::activity::{Action, Category};
use domain::change::DeletionChange;
use domain::deleted_object::{DeletedNoun, DeletedObject};
use domain::id::AssignmentId;
use serde_json::json;

use db::activity::LogEntry;

pub(super) fn entry(change: &DeletionChange) -> LogEntry {
    match change {
        DeletionChange::Restored {
            deletion,
            outcome,
            restored: _,
        } => about(Action::Restore, deletion).details(json!({
            "deletedAt": deletion.deleted_at,
            "counts": deletion.counts,
            "renamedTo": outcome.renamed_to,
            "renumberedGroups": outcome.renumbered_groups,
            "leftOut": outcome.left_out,
            "missing": outcome.missing,
        })),
        DeletionChange::Discarded { deletion } => about(Action::Discard, deletion)
            .details(json!({"deletedAt": deletion.deleted_at, "counts": deletion.counts})),
    }
}

fn about(action: Action, deletion: &DeletedObject) -> LogEntry {
    let (category, kind) = match deletion.noun {
        DeletedNoun::Class => (Category::Class, "class"),
        DeletedNoun::Course => (Category::Course, "course"),
        DeletedNoun::Group => (Category::Group, "group"),
        DeletedNoun::Assignment => (Category::Assignment, "assignment"),
        DeletedNoun::Document => (Category::Document, "document"),
    };
    let entry = LogEntry::new(category, action, kind, &deletion.object_id, &deletion.name)
        .class(&deletion.class_id)
        .course(deletion.course_id.as_ref());
    let topic = (deletion.noun == DeletedNoun::Assignment).then(|| AssignmentId::new(&deletion.object_id));
    LogEntry {
        group_id: deletion.group_id.clone(),
        assignment_id: topic,
        ..entry
    }
}
