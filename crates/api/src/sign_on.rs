//! `/sign-on` and `/admin/sign-on`: the sign-on providers of an organization, for its sign-in page and its
//! administrators. See docs/single-sign-on.md.

use api_macros::query;
use axum::Json;
use axum::extract::{Path, Query, Request, State};
use domain::id::{ExternalIdentityId, SignOnProviderId};
use domain::sign_on::SignOnProvider;
use serde::Deserialize;
use utoipa::IntoParams;

use super::context::{App, Context};
use super::dry_run::DryRunQuery;
use super::pagination::{Cursor, ExternalIdentities, Limit, Page, window};
use super::patch_fields::Editable;
use super::response::{Ack, Created};
use super::tenants::request_host;
use super::valid::{Patch, Valid, ValidQuery};
use api_types::sign_on::{ExternalIdentityView, SignOnOptionView, SignOnProviderView, SignOnTestView};
use common::error::Result;
use db::WriteTx;
use db::platform::CrossTenantReason;
use db::sign_on::NamedIdentity;
use service::actions::sign_on::{self, NewExternalIdentity, NewSignOnProvider, SignOnProviderEdit};

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct SignOnOptionQuery {
    /// The slug of the organization. Without it, the Host names the organization.
    organization_slug: Option<String>,
}

#[query]
pub(crate) struct IdentityListQuery {
    /// Maximum number of identities. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, ExternalIdentities>>,
}

impl Editable for SignOnProviderEdit {
    type Resource = SignOnProviderView;
}

/// List the sign-on providers of an organization for its sign-in page
///
/// Empty for an unknown organization.
#[utoipa::path(get, path = "/sign-on/providers", params(SignOnOptionQuery),
    responses((status = 200, body = [SignOnOptionView])))]
pub(crate) async fn options(
    State(app): State<App>,
    Query(query): Query<SignOnOptionQuery>,
    request: Request,
) -> Result<Json<Vec<SignOnOptionView>>> {
    let host = request_host(&app, &request);
    let slug = query.organization_slug.filter(|slug| !slug.contains('\0'));
    let load = app
        .store()
        .platform_read(CrossTenantReason::SignOn, move |platform| match (slug, host) {
            (Some(slug), _) => platform.sign_on_providers_of_slug(&slug),
            (None, Some(host)) => platform.sign_on_providers_of_host(&host),
            (None, None) => Ok(Vec::new()),
        });
    Ok(Json(load.await?.into_iter().map(SignOnOptionView::from).collect()))
}

fn view(cx: &Context, provider: SignOnProvider) -> SignOnProviderView {
    let sign_on = cx.app().sign_on();
    let (redirect, logout) = (sign_on.redirect_uri(&provider.id), sign_on.logout_uri(&provider.id));
    SignOnProviderView::new(provider, redirect, logout)
}

/// List the sign-on providers of the organization, by name
#[utoipa::path(get, path = "/admin/sign-on", responses((status = 200, body = [SignOnProviderView]),
    (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn list(cx: Context) -> Result<Json<Vec<SignOnProviderView>>> {
    let providers = cx.read(|tx| tx.sign_on_providers()).await?;
    Ok(Json(
        providers.into_iter().map(|provider| view(&cx, provider)).collect(),
    ))
}

/// Add a sign-on provider
///
/// `redirectUri` of the response has to be registered at the provider.
#[utoipa::path(post, path = "/admin/sign-on", request_body = NewSignOnProvider,
    responses((status = 201, body = SignOnProviderView), (status = 409, description = "LIMIT_REACHED")))]
pub(crate) async fn add(cx: Context, Valid(new): Valid<NewSignOnProvider>) -> Result<Created<SignOnProviderView>> {
    let sign_on = cx.app().sign_on().clone();
    let context = cx.clone();
    let add = move |tx: &mut WriteTx<'_>| {
        let provider = sign_on::add(tx, &new, &sign_on)?;
        Ok(Created(
            format!("/api/admin/sign-on/{}", provider.id),
            view(&context, provider),
        ))
    };
    cx.create(add).await
}

/// Update a sign-on provider
///
/// The issuer cannot be changed, because identities belong to it.
#[utoipa::path(patch, path = "/admin/sign-on/{id}", params(("id" = String, Path, description = "The id of a sign-on provider")),
    request_body = SignOnProviderEdit, responses((status = 200, body = SignOnProviderView)))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<SignOnProviderId>,
    patch: Patch<SignOnProviderEdit>,
) -> Result<Json<SignOnProviderView>> {
    let sign_on = cx.app().sign_on().clone();
    let edit = move |tx: &mut WriteTx<'_>| sign_on::edit(tx, &id, &patch.edit, &sign_on);
    let provider = cx.write(edit).await?;
    Ok(Json(view(&cx, provider)))
}

/// Remove a sign-on provider with its identities
///
/// The sessions that it opened end. Accounts remain.
#[utoipa::path(delete, path = "/admin/sign-on/{id}",
    params(("id" = String, Path, description = "The id of a sign-on provider"), DryRunQuery),
    responses((status = 200, body = Ack)))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<SignOnProviderId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| sign_on::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

/// Test the connection to a sign-on provider
///
/// Reads configuration and keys from the provider.
#[utoipa::path(post, path = "/admin/sign-on/{id}/test", params(("id" = String, Path, description = "The id of a sign-on provider")),
    responses((status = 200, body = SignOnTestView), (status = 409, description = "SIGN_ON_FAILED")))]
pub(crate) async fn test(cx: Context, Path(id): Path<SignOnProviderId>) -> Result<Json<SignOnTestView>> {
    let provider = cx.read(move |tx| tx.sign_on_provider(&id)).await?;
    // No transaction is open during the requests.
    let metadata = cx.app().sign_on().test(&provider).await?;
    Ok(Json(SignOnTestView {
        authorization_endpoint: metadata.authorization_endpoint.clone(),
        supports_logout: metadata.end_session_endpoint.is_some(),
        announces_issuer: metadata.announces_issuer,
    }))
}

fn identity_view(found: NamedIdentity) -> ExternalIdentityView {
    ExternalIdentityView::new(found.identity, found.person)
}

/// List the identities of a sign-on provider, newest first
#[utoipa::path(get, path = "/admin/sign-on/{id}/identities",
    params(("id" = String, Path, description = "The id of a sign-on provider"), IdentityListQuery),
    responses((status = 200, body = Page<ExternalIdentityView>)))]
pub(crate) async fn identities(
    cx: Context,
    Path(id): Path<SignOnProviderId>,
    ValidQuery(query): ValidQuery<IdentityListQuery>,
) -> Result<Json<Page<ExternalIdentityView>>> {
    let window = window(query.limit, query.cursor);
    let slice = cx
        .read(move |tx| {
            tx.sign_on_provider(&id)?;
            tx.external_identities(&id, &window)
        })
        .await?;
    Ok(Json(Page::of(ExternalIdentities, slice, identity_view)))
}

/// Link an identity of a sign-on provider to a member of lower rank
#[utoipa::path(post, path = "/admin/sign-on/{id}/identities", params(("id" = String, Path, description = "The id of a sign-on provider")),
    request_body = NewExternalIdentity,
    responses((status = 201, body = ExternalIdentityView), (status = 403, description = "FORBIDDEN_RANK"),
        (status = 409, description = "DUPLICATE_IDENTITY")))]
pub(crate) async fn link(
    cx: Context,
    Path(id): Path<SignOnProviderId>,
    Valid(new): Valid<NewExternalIdentity>,
) -> Result<Created<ExternalIdentityView>> {
    let link = move |tx: &mut WriteTx<'_>| {
        let linked = sign_on::link(tx, &id, &new)?;
        let path = format!("/api/admin/sign-on/{id}/identities/{}", linked.identity.id);
        Ok(Created(path, identity_view(linked)))
    };
    cx.create(link).await
}

/// Unlink an identity of a sign-on provider
///
/// The sessions that the provider opened for its user end.
#[utoipa::path(delete, path = "/admin/sign-on/{id}/identities/{identityId}",
    params(("id" = String, Path, description = "The id of a sign-on provider"),
        ("identityId" = String, Path, description = "The id of an identity"), DryRunQuery),
    responses((status = 200, body = Ack)))]
pub(crate) async fn unlink(
    cx: Context,
    Path((id, identity)): Path<(SignOnProviderId, ExternalIdentityId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| sign_on::unlink(tx, &id, &identity))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
