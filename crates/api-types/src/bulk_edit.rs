//! Result or preview of a bulk edit.

use api_macros::view;
use domain::id::GroupId;
use domain::patch::FieldDiff;
use serde_json::{Map, Value, json};

use super::assignment::AssignmentView;

/// Response to a bulk edit; `result` is PREVIEW or DONE.
#[view]
#[serde(tag = "result", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BulkEditView {
    /// The bulk edit was applied.
    Done(Box<BulkDoneView>),
    /// A dry run; nothing was changed.
    Preview(BulkPreviewView),
}

/// Result of a bulk edit.
#[view]
pub struct BulkDoneView {
    assignment: AssignmentView,
    /// All groups of the topic.
    affected_group_ids: Vec<GroupId>,
    /// The changed fields with their new values.
    #[schema(value_type = Object)]
    updated: Value,
}

/// Preview of a bulk edit.
#[view]
pub struct BulkPreviewView {
    /// Always true.
    dry_run: bool,
    /// All groups of the topic.
    affected_group_ids: Vec<GroupId>,
    /// Number of affected groups.
    count: usize,
    /// The fields that would change, each with `{from, to}`.
    #[schema(value_type = Object)]
    changes: Value,
}

impl BulkEditView {
    pub fn done(assignment: AssignmentView, affected_group_ids: Vec<GroupId>, changed: &FieldDiff) -> Self {
        Self::Done(Box::new(BulkDoneView {
            assignment,
            affected_group_ids,
            updated: changed.after(),
        }))
    }

    pub fn preview(affected_group_ids: Vec<GroupId>, edited: &FieldDiff) -> Self {
        let change = edited
            .iter()
            .map(|field| (field.field.to_owned(), json!({"from": field.from, "to": field.to})));
        let changes = Value::Object(change.collect::<Map<_, _>>());
        Self::Preview(BulkPreviewView {
            dry_run: true,
            count: affected_group_ids.len(),
            affected_group_ids,
            changes,
        })
    }
}
