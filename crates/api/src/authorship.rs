//! `GET /workrooms/documents/{id}/authorship`: who wrote which part of a document. Only for staff of the class, as the
//! contributions of a group. See docs/built-in-editor.md#authorship.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use domain::id::{DocumentId, SubmissionDocumentId};

use super::context::Context;
use super::valid::ValidQuery;
use api_types::authorship::DocumentAuthorshipView;
use common::error::Result;

/// The text whose authors are shown.
#[query]
#[serde(deny_unknown_fields)]
pub(crate) struct AuthorshipQuery {
    /// The copy of the document in a submission. Without it, the present text is shown.
    copy_id: Option<SubmissionDocumentId>,
}

/// Show who wrote which part of a document
///
/// For documents of the built-in editor. Text that was in the file before has no known author.
#[utoipa::path(get, path = "/workrooms/documents/{id}/authorship", params(("id" = String, Path), AuthorshipQuery),
    responses((status = 200, body = DocumentAuthorshipView), (status = 409, description = "EDITOR_NOT_AVAILABLE"),
        (status = 415, description = "UNREADABLE_FILE")))]
pub(crate) async fn show(
    cx: Context,
    Path(id): Path<DocumentId>,
    ValidQuery(query): ValidQuery<AuthorshipQuery>,
) -> Result<Json<DocumentAuthorshipView>> {
    let workflows = cx.app().document_workflows();
    let found = workflows.document_authorship(cx.context()?, id.clone(), query.copy_id);
    let found = found.await?;
    Ok(Json(DocumentAuthorshipView::new(id, found.text.as_ref(), found.people)))
}
