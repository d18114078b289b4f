//! `/tenants`: the organizations of the platform, for SUPER_ADMINs. Actions run in the organization of the path,
//! whichever organization is active in the session. See docs/api-contract.md#tenants.

use api_macros::query;
use axum::Json;
use axum::extract::{Path, Request, State};
use domain::id::OrganizationId;
use domain::organization::OrganizationEdit;
use domain::text::Search;
use domain::version::VersionedObject;

use super::context::{App, Context};
use super::dry_run::DryRunQuery;
use super::existing;
use super::pagination::{Cursor, Limit, Page, TenantMembers, window};
use super::patch_fields::Editable;
use super::response::{Created, Versioned, or_current};
use super::valid::{Patch, Valid, ValidQuery};
use api_types::invitation::InvitationView;
use api_types::tenant::{BrandingView, CreatedTenantView, OwnerView, RemovedTenantView};
use api_types::user::{MemberView, OrganizationView};
use auth::{Peer, temporary_password};
use common::error::{Error, Result};
use db::WriteTx;
use db::members::MemberFilter;
use db::platform::CrossTenantReason;
use db::platform::organizations::{HostName, OrganizationBranding};
use service::actions::organizations::{self, Confirmation, NewTenant, OrganizationDeletion};
use service::actions::people::Provisioned;

#[query]
pub(crate) struct TenantListQuery {
    /// Substring of the name or the slug. Names that begin with it come first.
    search: Option<Search>,
}

#[query]
pub(crate) struct TenantMemberListQuery {
    /// Maximum number of members. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<String, TenantMembers>>,
}

impl Editable for OrganizationEdit {
    type Resource = OrganizationView;
}

/// List the organizations of the platform, by name
#[utoipa::path(get, path = "/tenants", params(TenantListQuery), responses((status = 200, body = [OrganizationView])))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(filter): ValidQuery<TenantListQuery>,
) -> Result<Json<Vec<OrganizationView>>> {
    let search = filter.search.map(Search::into_string).filter(|text| !text.is_empty());
    let load = cx
        .app()
        .store()
        .platform_read(CrossTenantReason::SuperAdmin, move |platform| {
            platform.organizations(search.as_deref())
        });
    Ok(Json(load.await?.into_iter().map(OrganizationView::from).collect()))
}

/// Create an organization with its first owner
///
/// An owner without an account gets one with a temporary password, which is returned only here. An owner with an
/// account is invited; the organization has no owner until the invitation is accepted.
#[utoipa::path(post, path = "/tenants", request_body = NewTenant,
    responses((status = 201, body = CreatedTenantView), (status = 409, description = "DUPLICATE_SLUG, DUPLICATE_DOMAIN")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewTenant>) -> Result<Created<CreatedTenantView>> {
    let authenticator = cx.app().authenticator();
    let password = temporary_password::generate();
    let (hash, hosts) = (
        authenticator.password_hasher().hash(password.clone()).await?,
        authenticator.host_resolver().platform_hosts(),
    );
    let email = new.owner_email.trim().to_lowercase();
    let mail = cx.app().mail().clone();
    let (slug, domain) = (new.slug.clone(), new.custom_domain.clone());
    let founded = cx
        .in_new_organization()
        .write(move |tx| organizations::create(tx, &hosts, &new, &hash, &mail))
        .await;
    let founded = existing::organization(&cx, founded, Some(slug), domain).await?;
    let (owner, invitation) = match founded.owner {
        Provisioned::Member(joined) => {
            let owner = OwnerView {
                id: joined.person.id,
                member_id: joined.member.id,
                email,
                role: joined.member.role,
                is_new_account: joined.is_new_account,
            };
            (Some(owner), None)
        }
        Provisioned::Invited(invitation) => (None, Some(InvitationView::new(*invitation))),
    };
    let view = CreatedTenantView {
        temporary_password: owner.is_some().then_some(password),
        owner,
        invitation,
        tenant: founded.organization.into(),
    };
    Ok(Created(format!("/api/tenants/{}", view.tenant.id()), view))
}

/// Get the public data of the organization that the Host names
#[utoipa::path(get, path = "/tenants/current",
    responses((status = 200, body = BrandingView),
        (status = 404, description = "The Host names no organization, NOT_FOUND")))]
pub(crate) async fn current(State(app): State<App>, request: Request) -> Result<Json<BrandingView>> {
    let host = request_host(&app, &request);
    let OrganizationBranding { name, slug, logo } = find_branding(&app, host).await?.ok_or(Error::NotFound)?;
    Ok(Json(BrandingView { name, slug, logo }))
}

/// The host of a request, if it may name an organization.
pub(super) fn request_host(app: &App, request: &Request) -> Option<HostName> {
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    app.authenticator()
        .host_resolver()
        .resolve(request.uri(), request.headers(), peer)
}

/// The public data of the organization that a host names.
pub(super) async fn find_branding(app: &App, host: Option<HostName>) -> Result<Option<OrganizationBranding>> {
    let Some(host) = host else { return Ok(None) };
    app.store()
        .platform_read(CrossTenantReason::HostLookup, move |platform| {
            platform.branding_of_host(&host)
        })
        .await
}

/// Get an organization
#[utoipa::path(get, path = "/tenants/{id}", params(("id" = String, Path)), responses((status = 200, body = OrganizationView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<OrganizationId>) -> Result<Versioned<OrganizationView>> {
    let in_organization = cx.in_organization(&id).await?;
    let found = in_organization
        .read_object(VersionedObject::Organization, |tx| tx.current_organization())
        .await?;
    Ok(found.map(OrganizationView::from))
}

/// Update an organization
///
/// `metadata` is updated key by key.
#[utoipa::path(patch, path = "/tenants/{id}", params(("id" = String, Path)), request_body = OrganizationEdit,
    responses((status = 200, body = OrganizationView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "DUPLICATE_SLUG, DUPLICATE_DOMAIN")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<OrganizationId>,
    patch: Patch<OrganizationEdit>,
) -> Result<Versioned<OrganizationView>> {
    let hosts = cx.app().authenticator().host_resolver().platform_hosts();
    let in_organization = cx.in_organization(&id).await?;
    let (object, current) = (VersionedObject::Organization, show(cx.clone(), Path(id)));
    let (slug, domain) = (
        patch.edit.slug.value().cloned(),
        patch.edit.custom_domain.value().cloned(),
    );
    let act = move |tx: &mut WriteTx<'_>| organizations::edit(tx, &hosts, &patch.edit);
    let edited = existing::organization(&cx, in_organization.write_object(object, act).await, slug, domain).await;
    let edited = or_current(edited, current).await?;
    Ok(edited.map(OrganizationView::from))
}

/// Suspend an organization
///
/// Requests of its members are rejected until it is activated.
#[utoipa::path(post, path = "/tenants/{id}/suspend", params(("id" = String, Path)),
    responses((status = 200, body = OrganizationView)))]
pub(crate) async fn suspend(cx: Context, Path(id): Path<OrganizationId>) -> Result<Json<OrganizationView>> {
    Ok(Json(
        cx.in_organization(&id)
            .await?
            .write(organizations::suspend)
            .await?
            .into(),
    ))
}

/// Activate a suspended organization
#[utoipa::path(post, path = "/tenants/{id}/activate", params(("id" = String, Path)),
    responses((status = 200, body = OrganizationView)))]
pub(crate) async fn activate(cx: Context, Path(id): Path<OrganizationId>) -> Result<Json<OrganizationView>> {
    Ok(Json(
        cx.in_organization(&id)
            .await?
            .write(organizations::activate)
            .await?
            .into(),
    ))
}

/// Delete an organization with all its data
///
/// It becomes unavailable immediately. Rows and files are deleted in the background and cannot be restored.
#[utoipa::path(delete, path = "/tenants/{id}", params(("id" = String, Path), DryRunQuery), request_body = Confirmation,
    responses((status = 200, body = RemovedTenantView)))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<OrganizationId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(confirmation): Valid<Confirmation>,
) -> Result<Json<RemovedTenantView>> {
    let in_organization = cx.in_organization(&id).await?;
    let act = in_organization.write_or_preview(query.dry_run, move |tx| organizations::remove(tx, &confirmation));
    let OrganizationDeletion {
        organization,
        members,
        sessions,
    } = act.await?;
    if !query.dry_run.is_on() {
        // The activity log of the organization is deleted with it; this log record remains.
        tracing::warn!(organization.id = %id, organization.slug = %organization.slug, by = %cx.caller().user.id,
            "organization deleted");
        cx.app().jobs().notify();
    }
    Ok(Json(RemovedTenantView::new(organization, members, sessions)))
}

/// List the members of an organization, by name
#[utoipa::path(get, path = "/tenants/{id}/members", params(("id" = String, Path), TenantMemberListQuery),
    responses((status = 200, body = Page<MemberView>)))]
pub(crate) async fn members(
    cx: Context,
    Path(id): Path<OrganizationId>,
    ValidQuery(query): ValidQuery<TenantMemberListQuery>,
) -> Result<Json<Page<MemberView>>> {
    let window = window(query.limit, query.cursor);
    let load = cx
        .in_organization(&id)
        .await?
        .read(move |tx| tx.all_members(&MemberFilter::default(), &window))
        .await?;
    Ok(Json(Page::of(TenantMembers, load, |known| {
        MemberView::new(known.member, known.person, known.email)
    })))
}
