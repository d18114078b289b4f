//! `/workrooms/late-texts`: saves that arrived after their document was deleted, for staff of the class. See
//! docs/api-contract.md#deleted-documents.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::id::{ClassId, LateTextId};

use super::context::Context;
use super::downloads::{Content, Download, download};
use super::valid::ValidQuery;
use adapters::blob_store::name;
use api_types::late_text::LateTextView;
use common::error::Result;
use db::deleted_documents::VisibleLateText;

#[query]
pub(crate) struct LateTextListQuery {
    /// Only texts of this class.
    class_id: Option<ClassId>,
}

/// List texts saved after their document was deleted, newest first
///
/// Includes the classes that the caller manages; administrators also see texts of deleted classes. A text is kept for
/// 24 hours.
#[utoipa::path(get, path = "/workrooms/late-texts", params(LateTextListQuery), responses((status = 200, body = [LateTextView])))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(filter): ValidQuery<LateTextListQuery>,
) -> Result<Json<Vec<LateTextView>>> {
    let found = cx.read(move |tx| tx.late_texts(filter.class_id.as_ref())).await?;
    let view = |seen: VisibleLateText| LateTextView::new(seen.text, seen.document, seen.saved_by);
    Ok(Json(found.into_iter().map(view).collect()))
}

/// Download a text saved after its document was deleted
#[utoipa::path(get, path = "/workrooms/late-texts/{id}/download", params(("id" = String, Path)),
    responses((status = 200, description = "The file"), (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"),
        (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(cx: Context, Path(id): Path<LateTextId>, headers: HeaderMap) -> Result<Response> {
    let VisibleLateText { text, document, .. } = cx.read(move |tx| tx.late_text(&id)).await?;
    let file = Download {
        name: name::from_title(document.title.as_str(), text.file_extension.as_str()),
        mime: text.file_extension.mime().to_owned(),
        sha256: text.sha256,
        content: Content::File(text.file_key, text.size),
    };
    download(cx.app().files(), &headers, file).await
}
