//! `/admin/api-tokens`: tokens with which programs call the API for an administrator. See docs/api-tokens.md.

use axum::Json;
use axum::extract::Path;
use domain::id::ApiTokenId;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::response::{Ack, Created};
use super::valid::{Valid, ValidQuery};
use api_types::api_token::{CreatedApiTokenView, ListedApiTokenView};
use common::error::Result;
use db::WriteTx;
use service::actions::api_tokens::{self, NewApiToken};

/// List the API tokens of the organization, by name
#[utoipa::path(get, path = "/admin/api-tokens", responses((status = 200, body = [ListedApiTokenView]),
    (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn list(cx: Context) -> Result<Json<Vec<ListedApiTokenView>>> {
    let (tokens, now) = (cx.read(|tx| tx.api_tokens()).await?, cx.caller().now);
    let views = tokens
        .into_iter()
        .map(|listed| ListedApiTokenView::new(listed.token, listed.created_by, listed.is_administrator, now));
    Ok(Json(views.collect()))
}

/// Create an API token
///
/// The response is the only one that contains the token. It acts for the caller, as an administrator of this
/// organization, until it expires, is revoked, or the caller no longer administers the organization. Impersonated
/// callers cannot create one.
#[utoipa::path(post, path = "/admin/api-tokens", request_body = NewApiToken,
    responses((status = 201, body = CreatedApiTokenView), (status = 409, description = "LIMIT_REACHED")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewApiToken>) -> Result<Created<CreatedApiTokenView>> {
    let create = move |tx: &mut WriteTx<'_>| {
        let (token, text) = api_tokens::create(tx, &new)?;
        let path = format!("/api/admin/api-tokens/{}", token.id);
        Ok(Created(path, CreatedApiTokenView::new(token, &text)))
    };
    cx.create(create).await
}

/// Revoke an API token
#[utoipa::path(delete, path = "/admin/api-tokens/{id}",
    params(("id" = String, Path, description = "The id of an API token"), DryRunQuery),
    responses((status = 200, body = Ack)))]
pub(crate) async fn revoke(
    cx: Context,
    Path(id): Path<ApiTokenId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| api_tokens::revoke(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
