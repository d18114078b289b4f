//! `/admin/domains` and `/tenants/{id}/domains`: the mail domains of an organization. Its administrators prove
//! ownership with a TXT record; a SUPER_ADMIN may assign domains without proof. See docs/mail-domains.md.

use axum::Json;
use axum::extract::Path;
use domain::id::{MailDomainId, OrganizationId};

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::existing;
use super::response::{Ack, Created};
use super::valid::{Valid, ValidQuery};
use api_types::mail_domain::MailDomainView;
use common::error::Result;
use db::{ReadTx, WriteTx};
use service::actions::mail_domains::{self, NewMailDomain};

fn views(domains: Vec<domain::mail_domain::MailDomain>) -> Json<Vec<MailDomainView>> {
    Json(domains.into_iter().map(MailDomainView::from).collect())
}

/// List the mail domains of the organization, by name
#[utoipa::path(get, path = "/admin/domains", responses((status = 200, body = [MailDomainView]),
    (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn list(cx: Context) -> Result<Json<Vec<MailDomainView>>> {
    Ok(views(cx.read(|tx| tx.mail_domains()).await?))
}

/// Add a mail domain
///
/// Ownership must be proven with the TXT record in the response. Public mail providers and public suffixes are
/// rejected.
#[utoipa::path(post, path = "/admin/domains", request_body = NewMailDomain,
    responses((status = 201, body = MailDomainView), (status = 409, description = "DUPLICATE_MAIL_DOMAIN, LIMIT_REACHED")))]
pub(crate) async fn add(cx: Context, Valid(new): Valid<NewMailDomain>) -> Result<Created<MailDomainView>> {
    let name = new.name().ok();
    let add = move |tx: &mut WriteTx<'_>| {
        let domain = mail_domains::add(tx, &new)?;
        Ok(Created(format!("/api/admin/domains/{}", domain.id), domain.into()))
    };
    let find = move |tx: &mut ReadTx<'_>| name.map_or(Ok(None), |name| existing::mail_domain(tx, &name));
    existing::add_existing_id(&cx, cx.create(add).await, find).await
}

/// Check the TXT record of a mail domain now
///
/// The first organization that proves a domain holds it. A SUPER_ADMIN can let a second organization hold it.
#[utoipa::path(post, path = "/admin/domains/{id}/check", params(("id" = String, Path, description = "The id of a mail domain")),
    responses((status = 200, body = MailDomainView),
        (status = 409, description = "DOMAIN_NOT_PROVEN, DOMAIN_UNANSWERED, DOMAIN_HELD")))]
pub(crate) async fn check(cx: Context, Path(id): Path<MailDomainId>) -> Result<Json<MailDomainView>> {
    let requested = id.clone();
    let domain = cx.read(move |tx| tx.mail_domain(&requested)).await?;
    // No transaction is open during the DNS query.
    let found = cx.app().dns().check(&domain).await;
    let domain = cx.write(move |tx| mail_domains::prove(tx, &id, found)).await?;
    Ok(Json(domain.into()))
}

/// Remove a mail domain
#[utoipa::path(delete, path = "/admin/domains/{id}", params(("id" = String, Path, description = "The id of a mail domain"), DryRunQuery),
    responses((status = 200, body = Ack)))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<MailDomainId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| mail_domains::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

/// List the mail domains of an organization, by name
#[utoipa::path(get, path = "/tenants/{id}/domains", params(("id" = String, Path)),
    responses((status = 200, body = [MailDomainView])))]
pub(crate) async fn list_of_tenant(cx: Context, Path(id): Path<OrganizationId>) -> Result<Json<Vec<MailDomainView>>> {
    Ok(views(
        cx.in_organization(&id).await?.read(|tx| tx.mail_domains()).await?,
    ))
}

/// Assign a mail domain to an organization, even if another one holds it
#[utoipa::path(post, path = "/tenants/{id}/domains", params(("id" = String, Path)), request_body = NewMailDomain,
    responses((status = 201, body = MailDomainView), (status = 409, description = "LIMIT_REACHED")))]
pub(crate) async fn set(
    cx: Context,
    Path(id): Path<OrganizationId>,
    Valid(new): Valid<NewMailDomain>,
) -> Result<Created<MailDomainView>> {
    let in_organization = cx.in_organization(&id).await?;
    let set = move |tx: &mut WriteTx<'_>| {
        let domain = mail_domains::set(tx, &new)?;
        Ok(Created(
            format!("/api/tenants/{id}/domains/{}", domain.id),
            domain.into(),
        ))
    };
    in_organization.create(set).await
}

/// Remove a mail domain from an organization
#[utoipa::path(delete, path = "/tenants/{id}/domains/{domainId}",
    params(("id" = String, Path), ("domainId" = String, Path, description = "The id of a mail domain"), DryRunQuery),
    responses((status = 200, body = Ack)))]
pub(crate) async fn remove_of_tenant(
    cx: Context,
    Path((id, domain)): Path<(OrganizationId, MailDomainId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    let in_organization = cx.in_organization(&id).await?;
    in_organization
        .write_or_preview(query.dry_run, move |tx| mail_domains::remove(tx, &domain))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
