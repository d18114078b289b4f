//! `/assignments/{id}/handouts`: copies a file of a topic into the room of every group. See
//! docs/api-contract.md#topics.

use api_macros::view;
use axum::Json;
use axum::extract::Path;
use domain::id::{AssignmentId, GroupId};

use super::context::Context;
use super::documents::shown;
use super::files;
use super::valid::Valid;
use api_types::document::DocumentView;
use common::error::Result;
use db::{ReadTx, WriteTx};
use service::actions::handouts::{self, Handout, NewHandout};

/// The result of handing out a file.
#[view]
pub(super) struct HandoutView {
    /// The new documents.
    documents: Vec<DocumentView>,
    /// Groups that already had a copy.
    had: Vec<GroupId>,
    /// Groups whose rooms have reached the maximum number of documents.
    full: Vec<GroupId>,
}

/// Copy a file of a topic as a document into the room of every group
///
/// Hidden groups receive a copy and see it when they start. A repeated request creates copies only for groups without
/// one.
#[utoipa::path(post, path = "/assignments/{id}/handouts", params(("id" = String, Path)), request_body = NewHandout,
    responses((status = 200, body = HandoutView),
        (status = 409, description = "ASSIGNMENT_FINISHED, ASSIGNMENT_NOT_PUBLISHED, CLASS_ARCHIVED"),
        (status = 507, description = "QUOTA_EXCEEDED, DISK_FULL"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn hand_out(
    cx: Context,
    Path(id): Path<AssignmentId>,
    Valid(new): Valid<NewHandout>,
) -> Result<Json<HandoutView>> {
    let (topic, requested) = (id.clone(), new.clone());
    let prepare = move |tx: &mut ReadTx<'_>| {
        let handout = handouts::prepare(tx, &topic, &requested)?;
        let content = handout.copies.iter().filter_map(|copy| copy.creation.content.as_ref());
        let keys = content
            .map(|content| (handout.from.clone(), content.file_key.clone()))
            .collect();
        Ok((handout, keys))
    };
    let act = move |handout: Handout| {
        let (id, new) = (id.clone(), new.clone());
        move |tx: &mut WriteTx<'_>| handouts::hand_out(tx, &id, &new, &handout)
    };
    let done = files::copy_files(&cx, prepare, act).await?;
    let documents = done.documents.iter().map(|seen| shown(&cx, seen));
    Ok(Json(HandoutView {
        documents: documents.collect::<Result<_>>()?,
        had: done.had,
        full: done.full,
    }))
}
