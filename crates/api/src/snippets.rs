//! `/snippets`: texts that the caller inserts into feedback, private to the caller. See docs/rubrics.md.

use axum::Json;
use axum::extract::Path;
use domain::id::SnippetId;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::patch_fields::Editable;
use super::response::{Ack, Created};
use super::valid::{Patch, Valid, ValidQuery};
use api_types::snippet::SnippetView;
use common::error::Result;
use db::WriteTx;
use service::actions::snippets::{self, NewSnippet, SnippetEdit};

impl Editable for SnippetEdit {
    type Resource = SnippetView;
}

/// List the text snippets of the caller, oldest first
///
/// At most 200. No other user can read them, not even administrators.
#[utoipa::path(get, path = "/snippets", responses((status = 200, body = [SnippetView])))]
pub(crate) async fn list(cx: Context) -> Result<Json<Vec<SnippetView>>> {
    let user = cx.caller().user.id.clone();
    let found = cx.read(move |tx| tx.snippets(&user)).await?;
    Ok(Json(found.into_iter().map(SnippetView::from).collect()))
}

/// Create a text snippet
#[utoipa::path(post, path = "/snippets", request_body = NewSnippet,
    responses((status = 201, body = SnippetView), (status = 409, description = "LIMIT_REACHED")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewSnippet>) -> Result<Created<SnippetView>> {
    let create = move |tx: &mut WriteTx<'_>| {
        let view = SnippetView::from(snippets::create(tx, &new)?);
        Ok(Created(format!("/api/snippets/{}", view.id), view))
    };
    cx.create(create).await
}

/// Change a text snippet
#[utoipa::path(patch, path = "/snippets/{id}", params(("id" = String, Path)), request_body = SnippetEdit,
    responses((status = 200, body = SnippetView)))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<SnippetId>,
    patch: Patch<SnippetEdit>,
) -> Result<Json<SnippetView>> {
    let edited = cx.write(move |tx| snippets::edit(tx, &id, &patch.edit)).await?;
    Ok(Json(SnippetView::from(edited)))
}

/// Delete a text snippet
#[utoipa::path(delete, path = "/snippets/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack)))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<SnippetId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| snippets::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
