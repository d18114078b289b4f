//! The organization of a session: listing the caller's organizations and choosing the active one. See
//! docs/specification.md#authentication.

use better_auth::error::AuthError;
use better_auth::object::FullOrganizationObject;
use better_auth::schema::Nullable;
use model::access::effective_role;
use serde_json::Value;

use super::answer::{Answered, Refused, answer};
use super::asked::{Asked, Present};
use super::schema;
use super::wire;
use auth::actor;
use common::error::Result;
use db::RequestContext;
use db::platform::CrossTenantReason;
use db::platform::organizations::{OrganizationName, OrganizationOfUser};
use service::actions::sessions::{self, OrganizationChoice};

/// Set the active organization of this session
#[utoipa::path(post, path = "/auth/organization/set-active",
    request_body = schema::ActiveOrganization,
    responses((status = 200, body = Option<schema::AuthOrganization>, description = "the organization, or null; rewrites the session cookies"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION"),
        (status = 400, description = "ORGANIZATION_NOT_FOUND, BAD_REQUEST")))]
pub async fn set_active(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let (id, slug) = (
        reader.nullable_string("organizationId"),
        reader.optional_string("organizationSlug"),
    );
    reader.finish()?;
    let mut present = asked.present().await?;
    if id == Nullable::Null {
        return leave(&asked, present).await;
    }
    let Some(name) = named(&present, id, slug) else {
        return Ok(answer(&Value::Null, present.cookies));
    };
    let (session, user, now) = (present.session.clone(), present.user.clone(), asked.now);
    let choice = asked
        .act(move |tx| sessions::choose_organization(tx, &session, &user, &name, now))
        .await?;
    match choice {
        OrganizationChoice::Unknown => Err(Refused::from(AuthError::organization_not_found()).with(present.cookies)),
        OrganizationChoice::NotAMember => {
            present.session.active_organization_id = None;
            present.session.updated_at = now;
            let cookies = asked.issue(&present.session, &present.user, present.remember);
            Err(Refused::from(AuthError::not_a_member_of_the_organization()).with(cookies))
        }
        OrganizationChoice::Chosen(organization) => {
            present.session.active_organization_id = Some(organization.id.clone());
            present.session.updated_at = now;
            let cookies = asked.issue(&present.session, &present.user, present.remember);
            Ok(answer(&wire::organization(&organization), cookies))
        }
    }
}

async fn leave(asked: &Asked, mut present: Present) -> Answered {
    if present.session.active_organization_id.is_none() {
        return Ok(answer(&Value::Null, present.cookies));
    }
    let (session, now) = (present.session.clone(), asked.now);
    asked
        .act(move |tx| sessions::leave_organization(tx, &session, now))
        .await?;
    present.session.active_organization_id = None;
    present.session.updated_at = now;
    Ok(answer(
        &Value::Null,
        asked.issue(&present.session, &present.user, present.remember),
    ))
}

/// The id takes precedence over the slug. Without both, the active organization is meant.
fn named(present: &Present, id: Nullable<'_>, slug: Option<&str>) -> Option<OrganizationName> {
    match (id, slug.filter(|slug| !slug.is_empty())) {
        (Nullable::Text(id), _) if !id.is_empty() => Some(OrganizationName::Id(id.to_owned())),
        (_, Some(slug)) => Some(OrganizationName::Slug(slug.to_owned())),
        _ => active(present),
    }
}

/// List the caller's organizations
#[utoipa::path(get, path = "/auth/organization/list", responses((status = 200, body = [schema::AuthOrganization], description = "organizations")))]
pub async fn list(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let user = present.user.id;
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.organizations_open_to(&user)
        });
    let organizations: Vec<_> = load
        .await?
        .iter()
        .map(|seen| wire::organization(&seen.organization))
        .collect();
    Ok(answer(&organizations, present.cookies))
}

/// Get the active organization, or another organization of the caller
#[utoipa::path(get, path = "/auth/organization/get-organization",
    params(("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one"),
        ("organizationSlug" = Option<String>, Query, description = "The slug of the organization, instead of its id")),
    responses((status = 200, body = Option<schema::AuthOrganization>, description = "organization; null without an organization"),
        (status = 400, description = "ORGANIZATION_NOT_FOUND"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION")))]
pub async fn get(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(name) = asked_for(&asked).or_else(|| active(&present)) else {
        return Ok(answer(&Value::Null, present.cookies));
    };
    let seen = reach(&asked, &present, name).await?;
    Ok(answer(&wire::organization(&seen.organization), present.cookies))
}

/// Get an organization with its members
///
/// A student receives only the own membership.
#[utoipa::path(get, path = "/auth/organization/get-full-organization",
    params(("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one"),
        ("organizationSlug" = Option<String>, Query, description = "The slug of the organization, instead of its id"),
        ("membersLimit" = Option<String>, Query, description = "Maximum number of members")),
    responses((status = 200, body = Option<schema::FullOrganization>, description = "organization, members, invitations (for administrators); null without an organization"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION")))]
pub async fn show(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(name) = asked_for(&asked).or_else(|| active(&present)) else {
        return Ok(answer(&Value::Null, present.cookies));
    };
    let seen = reach(&asked, &present, name).await?;
    let context = context(&asked, &present, &seen)?;
    let administers = context.viewer == model::access::Viewer::Admin;
    let load = asked.app.store().read(context, move |tx| {
        let invitations = if administers {
            tx.newest_invitations()?
        } else {
            Vec::new()
        };
        Ok((tx.members()?, invitations))
    });
    let (members, invitations) = load.await?;
    let most = asked
        .query("membersLimit")
        .and_then(|most| most.parse().ok())
        .unwrap_or(usize::MAX);
    let full = FullOrganizationObject {
        organization: wire::organization(&seen.organization),
        invitations: invitations.into_iter().map(wire::invitation).collect(),
        members: members.into_iter().take(most).map(wire::member).collect(),
    };
    Ok(answer(&full, present.cookies))
}

/// The organization that the query names. The slug takes precedence.
pub fn asked_for(asked: &Asked) -> Option<OrganizationName> {
    let given = |key| asked.query(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let slug = given("organizationSlug").map(OrganizationName::Slug);
    slug.or_else(|| given("organizationId").map(OrganizationName::Id))
}

/// The active organization of the session.
pub fn active(present: &Present) -> Option<OrganizationName> {
    let id = present.session.active_organization_id.as_ref()?;
    Some(OrganizationName::Id(id.as_str().to_owned()))
}

/// Reads an organization of which the caller is a member; a SUPER_ADMIN may read any. Unlike in the library, a rejected
/// request does not change the active organization: a GET has no side effects.
pub async fn reach(asked: &Asked, present: &Present, name: OrganizationName) -> Result<OrganizationOfUser, Refused> {
    reach_or(asked, present, name, AuthError::not_a_member_of_the_organization()).await
}

/// Like [`reach`], with another error for callers who are not members.
pub async fn reach_or(
    asked: &Asked,
    present: &Present,
    name: OrganizationName,
    not_a_member: AuthError,
) -> Result<OrganizationOfUser, Refused> {
    let (user, is_slug) = (present.user.id.clone(), matches!(name, OrganizationName::Slug(_)));
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.organization(&name, &user)
        });
    let refusal = match load.await? {
        Some(seen)
            if effective_role(present.user.role, role(&seen))
                .viewer(present.user.id.clone())
                .is_some() =>
        {
            return Ok(seen);
        }
        None if is_slug => AuthError::organization_not_found(),
        _ => not_a_member,
    };
    Err(Refused::from(refusal).with(present.cookies.clone()))
}

/// The request context of the caller in an organization returned by [`reach`].
pub fn context(asked: &Asked, present: &Present, seen: &OrganizationOfUser) -> Result<RequestContext, Refused> {
    let viewer = effective_role(present.user.role, role(seen)).viewer(present.user.id.clone());
    Ok(RequestContext {
        tenant: seen.tenant.clone(),
        viewer: viewer.ok_or_else(AuthError::not_a_member_of_the_organization)?,
        actor: actor(&present.user, &present.session, role(seen), None),
        now: asked.now,
    })
}

fn role(seen: &OrganizationOfUser) -> Option<model::access::MemberRole> {
    seen.member.as_ref().map(|member| member.role)
}
