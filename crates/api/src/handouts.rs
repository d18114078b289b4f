//! `/assignments/{id}/handouts`: a file of a topic copied into the room of every group.

use axum::Json;
use axum::extract::Path;
use model::access::Access;
use model::id::{AssignmentId, GroupId};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::context::Context;
use super::documents::shown;
use super::endpoint::Endpoints;
use super::files;
use super::valid::Valid;
use api_types::document::DocumentView;
use common::error::Result;
use service::actions::handouts::{self, NewHandout};

/// The route.
pub fn routes() -> Endpoints {
    Endpoints::new("assignments").add(Access::Staff, routes!(hand_out))
}

/// What was handed out, and to whom not.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Handout)]
pub(super) struct HandoutView {
    /// The new documents.
    documents: Vec<DocumentView>,
    /// Groups that had a copy already.
    had: Vec<GroupId>,
    /// Groups whose rooms have no place for another document.
    full: Vec<GroupId>,
}

/// Copy a file of a topic into the room of every group as a document for the topic
///
/// Hidden groups get theirs, too, and see it when they start. Handing out again gives a copy only to groups that have none.
#[utoipa::path(post, path = "/assignments/{id}/handouts", params(("id" = String, Path)), request_body = NewHandout,
    responses((status = 200, body = HandoutView),
        (status = 409, description = "ASSIGNMENT_FINISHED, CLASS_ARCHIVED"),
        (status = 507, description = "QUOTA_EXCEEDED, DISK_FULL"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
async fn hand_out(
    cx: Context,
    Path(id): Path<AssignmentId>,
    Valid(new): Valid<NewHandout>,
) -> Result<Json<HandoutView>> {
    let (topic, wanted) = (id.clone(), new.clone());
    let handout = cx.read(move |scope| handouts::prepare(scope, &topic, &wanted)).await?;
    let content = handout.copies.iter().filter_map(|copy| copy.beginning.content.as_ref());
    let copies = content
        .map(|content| (handout.from.clone(), content.file_key.clone()))
        .collect();
    let act = move |work: &mut db::Work<'_>| handouts::hand_out(work, &id, &new, &handout);
    let done = files::keep_copies(&cx, copies, act).await?;
    let documents = done.documents.iter().map(|seen| shown(&cx, seen));
    Ok(Json(HandoutView {
        documents: documents.collect::<Result<_>>()?,
        had: done.had,
        full: done.full,
    }))
}
