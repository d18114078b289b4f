//! `/assignments/{id}/finish` and `/reopen` (specification, Assignments; contract 6.9): the bell, and what undoes it.

use axum::Json;
use axum::extract::Path;
use model::access::Access;
use model::assignment::AssignmentStatus;
use model::id::{AssignmentId, DocumentId};
use model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::endpoint::Endpoints;
use super::terms::Terms;
use super::valid::ValidQuery;
use crate::actions::finish as actions;
use crate::error::Result;

/// The routes of finishing and reopening a topic.
pub fn routes() -> Endpoints {
    Endpoints::new("assignments")
        .add_on(Terms::Long, Access::Staff, routes!(finish))
        .add(Access::Staff, routes!(reopen))
}

/// What finishing a topic did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FinishedTopic {
    assignment_id: AssignmentId,
    status: AssignmentStatus,
    finished_at: Timestamp,
    /// Documents that were locked by this very request
    locked_documents: i64,
    groups: i64,
    already_finished: bool,
    /// Documents whose last writing the document server could not be asked for; they are locked all the same
    unsaved_documents: Vec<DocumentId>,
}

/// What reopening a topic did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReopenedTopic {
    assignment_id: AssignmentId,
    status: AssignmentStatus,
    unlocked_documents: i64,
    groups: i64,
}

/// Finish a topic: the documents of all its groups are locked
#[utoipa::path(post, path = "/assignments/{id}/finish", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = FinishedTopic), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
async fn finish(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<FinishedTopic>> {
    let (editing, standpoint) = (cx.app().editing(), cx.standpoint()?);
    let finished = editing.finish(standpoint, id.clone(), query.dry_run.is_on()).await?;
    Ok(Json(FinishedTopic {
        assignment_id: id,
        status: AssignmentStatus::Finished,
        finished_at: finished.at,
        locked_documents: finished.locked,
        groups: finished.groups,
        already_finished: finished.already,
        unsaved_documents: finished.unsaved,
    }))
}

/// Reopen a topic: its documents are what they were before it was finished
#[utoipa::path(post, path = "/assignments/{id}/reopen", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = ReopenedTopic), (status = 409, description = "COURSE_MISMATCH, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
async fn reopen(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<ReopenedTopic>> {
    let topic = id.clone();
    let reopen = cx.write_or_preview(query.dry_run, move |work| actions::reopen(work, &topic));
    let reopened = reopen.await?;
    Ok(Json(ReopenedTopic {
        assignment_id: id,
        status: AssignmentStatus::Active,
        unlocked_documents: reopened.unlocked,
        groups: reopened.groups,
    }))
}
