//! The organization of a session: listing the caller's organizations and choosing the active one. See
//! docs/specification.md#authentication.

use better_auth::error::AuthError;
use better_auth::object::FullOrganizationObject;
use better_auth::schema::Nullable;
use domain::access::effective_role;
use serde_json::Value;

use super::dto;
use super::request::{AuthRequest, CurrentSession};
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use auth::actor;
use common::error::Result;
use db::RequestContext;
use db::platform::organizations::{OrganizationName, OrganizationOfUser};
use service::actions::sessions::{self, OrganizationChoice};

/// Set the active organization of this session
#[utoipa::path(post, path = "/auth/organization/set-active",
    request_body = schema::AuthActiveOrganization,
    responses((status = 200, body = Option<schema::AuthOrganization>, description = "the organization, or null; rewrites the session cookies"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION"),
        (status = 400, description = "ORGANIZATION_NOT_FOUND, BAD_REQUEST")))]
pub(crate) async fn set_active(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let (id, slug) = (
        reader.nullable_string("organizationId"),
        reader.optional_string("organizationSlug"),
    );
    reader.finish()?;
    let mut current_session = request.current_session().await?;
    if id == Nullable::Null {
        return leave(&request, current_session).await;
    }
    let Some(name) = named(&current_session, id, slug) else {
        return Ok(json_response(&Value::Null, current_session.cookies));
    };
    let (session, user, now) = (
        current_session.session.clone(),
        current_session.user.clone(),
        request.now,
    );
    let choice = request
        .act(move |tx| sessions::choose_organization(tx, &session, &user, &name, now))
        .await?;
    match choice {
        OrganizationChoice::Unknown => {
            Err(AuthRejection::from(AuthError::organization_not_found()).with(current_session.cookies))
        }
        OrganizationChoice::NotAMember => {
            current_session.session.active_organization_id = None;
            current_session.session.updated_at = now;
            let cookies = request.issue(
                &current_session.session,
                &current_session.user,
                current_session.remember,
            );
            Err(AuthRejection::from(AuthError::not_a_member_of_the_organization()).with(cookies))
        }
        OrganizationChoice::Chosen(organization) => {
            current_session.session.active_organization_id = Some(organization.id.clone());
            current_session.session.updated_at = now;
            let cookies = request.issue(
                &current_session.session,
                &current_session.user,
                current_session.remember,
            );
            Ok(json_response(&dto::organization(&organization), cookies))
        }
    }
}

async fn leave(request: &AuthRequest, mut current_session: CurrentSession) -> AuthResult {
    if current_session.session.active_organization_id.is_none() {
        return Ok(json_response(&Value::Null, current_session.cookies));
    }
    let (session, now) = (current_session.session.clone(), request.now);
    request
        .act(move |tx| sessions::leave_organization(tx, &session, now))
        .await?;
    current_session.session.active_organization_id = None;
    current_session.session.updated_at = now;
    Ok(json_response(
        &Value::Null,
        request.issue(
            &current_session.session,
            &current_session.user,
            current_session.remember,
        ),
    ))
}

/// The id takes precedence over the slug. Without both, the active organization is meant.
fn named(current_session: &CurrentSession, id: Nullable<'_>, slug: Option<&str>) -> Option<OrganizationName> {
    match (id, slug.filter(|slug| !slug.is_empty())) {
        (Nullable::Text(id), _) if !id.is_empty() => Some(OrganizationName::Id(id.to_owned())),
        (_, Some(slug)) => Some(OrganizationName::Slug(slug.to_owned())),
        _ => active(current_session),
    }
}

/// List the caller's organizations
#[utoipa::path(get, path = "/auth/organization/list", responses((status = 200, body = [schema::AuthOrganization], description = "organizations")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let (user, session) = (current_session.user.id, current_session.session);
    let load = request.read(move |platform| platform.organizations_open_to(&user));
    let organizations: Vec<_> = load
        .await?
        .iter()
        .filter(|seen| session.is_valid_in(&seen.organization.id))
        .map(|seen| dto::organization(&seen.organization))
        .collect();
    Ok(json_response(&organizations, current_session.cookies))
}

/// Get the active organization, or another organization of the caller
#[utoipa::path(get, path = "/auth/organization/get-organization",
    params(("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one"),
        ("organizationSlug" = Option<String>, Query, description = "The slug of the organization, instead of its id")),
    responses((status = 200, body = Option<schema::AuthOrganization>, description = "organization; null without an organization"),
        (status = 400, description = "ORGANIZATION_NOT_FOUND"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION")))]
pub(crate) async fn get(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let Some(name) = named_organization(&request).or_else(|| active(&current_session)) else {
        return Ok(json_response(&Value::Null, current_session.cookies));
    };
    let seen = find_organization(&request, &current_session, name).await?;
    Ok(json_response(
        &dto::organization(&seen.organization),
        current_session.cookies,
    ))
}

/// Get an organization with its members
///
/// A student receives only the own membership.
#[utoipa::path(get, path = "/auth/organization/get-full-organization",
    params(("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one"),
        ("organizationSlug" = Option<String>, Query, description = "The slug of the organization, instead of its id"),
        ("membersLimit" = Option<String>, Query, description = "Maximum number of members")),
    responses((status = 200, body = Option<schema::AuthFullOrganization>, description = "organization, members, invitations (for administrators); null without an organization"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION")))]
pub(crate) async fn show(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let Some(name) = named_organization(&request).or_else(|| active(&current_session)) else {
        return Ok(json_response(&Value::Null, current_session.cookies));
    };
    let seen = find_organization(&request, &current_session, name).await?;
    let context = context(&request, &current_session, &seen)?;
    let is_administrator = context.viewer == domain::access::Viewer::Admin;
    let load = request.app.store().read(context, move |tx| {
        let invitations = if is_administrator {
            tx.newest_invitations()?
        } else {
            Vec::new()
        };
        Ok((tx.members()?, invitations))
    });
    let (members, invitations) = load.await?;
    let most = request
        .query("membersLimit")
        .and_then(|most| most.parse().ok())
        .unwrap_or(usize::MAX);
    let full = FullOrganizationObject {
        organization: dto::organization(&seen.organization),
        invitations: invitations.into_iter().map(dto::invitation).collect(),
        members: members.into_iter().take(most).map(dto::member).collect(),
    };
    Ok(json_response(&full, current_session.cookies))
}

/// The organization that the query names. The slug takes precedence.
pub fn named_organization(request: &AuthRequest) -> Option<OrganizationName> {
    let given = |key| request.query(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let slug = given("organizationSlug").map(OrganizationName::Slug);
    slug.or_else(|| given("organizationId").map(OrganizationName::Id))
}

/// The active organization of the session.
pub fn active(current_session: &CurrentSession) -> Option<OrganizationName> {
    let id = current_session.session.active_organization_id.as_ref()?;
    Some(OrganizationName::Id(id.as_str().to_owned()))
}

/// Reads an organization of which the caller is a member; a SUPER_ADMIN may read any. Unlike in the library, a rejected
/// request does not change the active organization: a GET has no side effects.
pub async fn find_organization(
    request: &AuthRequest,
    current_session: &CurrentSession,
    name: OrganizationName,
) -> Result<OrganizationOfUser, AuthRejection> {
    find_organization_or(
        request,
        current_session,
        name,
        AuthError::not_a_member_of_the_organization(),
    )
    .await
}

/// Like [`find_organization`], with another error for callers who are not members.
pub async fn find_organization_or(
    request: &AuthRequest,
    current_session: &CurrentSession,
    name: OrganizationName,
    not_a_member: AuthError,
) -> Result<OrganizationOfUser, AuthRejection> {
    let (user, is_slug) = (
        current_session.user.id.clone(),
        matches!(name, OrganizationName::Slug(_)),
    );
    let load = request.read(move |platform| platform.organization(&name, &user));
    let refusal = match load.await? {
        Some(seen)
            if current_session.session.is_valid_in(&seen.organization.id)
                && effective_role(current_session.user.role, role(&seen))
                    .viewer(current_session.user.id.clone())
                    .is_some() =>
        {
            return Ok(seen);
        }
        None if is_slug => AuthError::organization_not_found(),
        _ => not_a_member,
    };
    Err(AuthRejection::from(refusal).with(current_session.cookies.clone()))
}

/// The request context of the caller in an organization returned by [`find_organization`].
pub fn context(
    request: &AuthRequest,
    current_session: &CurrentSession,
    seen: &OrganizationOfUser,
) -> Result<RequestContext, AuthRejection> {
    let viewer = effective_role(current_session.user.role, role(seen)).viewer(current_session.user.id.clone());
    Ok(RequestContext {
        tenant: seen.tenant.clone(),
        viewer: viewer.ok_or_else(AuthError::not_a_member_of_the_organization)?,
        actor: actor(&current_session.user, &current_session.session, role(seen), None),
        now: request.now,
    })
}

fn role(seen: &OrganizationOfUser) -> Option<domain::access::MemberRole> {
    seen.member.as_ref().map(|member| member.role)
}
