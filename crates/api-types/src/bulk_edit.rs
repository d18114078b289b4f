//! What a bulk edit did, or would do (contract 6.9).

use model::edit::Changed;
use model::id::GroupId;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::assignment::AssignmentView;

/// The response to a bulk edit; `result` is PREVIEW or DONE.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "result", rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = BulkEdit)]
pub enum BulkEditView {
    /// It is done.
    Done(Box<BulkDoneView>),
    /// It would be done.
    Preview(BulkPreviewView),
}

/// What a bulk edit did.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkDone)]
pub struct BulkDoneView {
    assignment: AssignmentView,
    /// All groups of the topic
    affected_group_ids: Vec<GroupId>,
    /// The fields that changed, with their new values
    #[schema(value_type = Object)]
    updated: Value,
}

/// What a bulk edit would do.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkPreview)]
pub struct BulkPreviewView {
    /// Always true
    dry_run: bool,
    /// All groups of the topic
    affected_group_ids: Vec<GroupId>,
    /// How many they are
    count: usize,
    /// The fields that would change: `{from, to}` for each
    #[schema(value_type = Object)]
    changes: Value,
}

impl BulkEditView {
    /// It is done.
    pub fn done(assignment: AssignmentView, affected_group_ids: Vec<GroupId>, changed: &Changed) -> Self {
        Self::Done(Box::new(BulkDoneView {
            assignment,
            affected_group_ids,
            updated: changed.after(),
        }))
    }

    /// It would be done.
    pub fn preview(affected_group_ids: Vec<GroupId>, edited: &Changed) -> Self {
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
