//! Members of an organization in the format of better-auth. A student receives only the own membership.

use std::cmp::Ordering;

use better_auth::error::AuthError;
use better_auth::object::{MemberObject, MembersObject};
use domain::access::MemberRole;
use serde_json::json;

use super::dto;
use super::organization::{active, context, find_organization, find_organization_or, named_organization};
use super::request::{AuthRequest, CurrentSession};
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use db::members::MemberWithUser;
use db::platform::organizations::OrganizationOfUser;

/// The permissions of the library's default roles. The other routes of this service do not use them.
const PERMISSIONS: &[(&str, &[&str], &[MemberRole])] = &[
    ("organization", &["update"], &[MemberRole::Owner, MemberRole::Admin]),
    ("organization", &["delete"], &[MemberRole::Owner]),
    (
        "member",
        &["create", "update", "delete"],
        &[MemberRole::Owner, MemberRole::Admin],
    ),
    (
        "invitation",
        &["create", "cancel"],
        &[MemberRole::Owner, MemberRole::Admin],
    ),
    (
        "team",
        &["create", "update", "delete"],
        &[MemberRole::Owner, MemberRole::Admin],
    ),
    (
        "ac",
        &["create", "update", "delete"],
        &[MemberRole::Owner, MemberRole::Admin],
    ),
    ("ac", &["read"], MemberRole::ALL),
];

/// Get the caller's membership in the active organization
#[utoipa::path(get, path = "/auth/organization/get-active-member",
    responses((status = 200, body = schema::AuthMember, description = "member with user"),
        (status = 400, description = "NO_ACTIVE_ORGANIZATION, MEMBER_NOT_FOUND")))]
pub(crate) async fn own(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let Some(name) = active(&current_session) else {
        return current_session.reject(AuthError::no_active_organization());
    };
    let Ok(seen) = find_organization(&request, &current_session, name).await else {
        return current_session.reject(AuthError::member_not_found());
    };
    match known(&request, &current_session, &seen, current_session.user.id.as_str()).await? {
        Some(member) => Ok(json_response(&dto::member(member), current_session.cookies)),
        None => current_session.reject(AuthError::member_not_found()),
    }
}

/// Get the role of a member, by default the caller's own
#[utoipa::path(get, path = "/auth/organization/get-active-member-role",
    params(("userId" = Option<String>, Query, description = "The user. Defaults to the caller"),
        ("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one"),
        ("organizationSlug" = Option<String>, Query, description = "The slug of the organization, instead of its id")),
    responses((status = 200, body = schema::AuthMemberRole, description = "role"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION"),
        (status = 400, description = "NO_ACTIVE_ORGANIZATION, MEMBER_NOT_FOUND")))]
pub(crate) async fn role(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let Some(name) = named_organization(&request).or_else(|| active(&current_session)) else {
        return current_session.reject(AuthError::no_active_organization());
    };
    let Ok(seen) = find_organization(&request, &current_session, name).await else {
        return current_session.reject(AuthError::not_a_member_of_this_organization());
    };
    let user = request.query("userId").filter(|user| !user.is_empty());
    if user.is_none() && seen.member.is_none() {
        return current_session.reject(AuthError::not_a_member_of_this_organization());
    }
    match known(
        &request,
        &current_session,
        &seen,
        user.unwrap_or(current_session.user.id.as_str()),
    )
    .await?
    {
        Some(known) => Ok(json_response(
            &json!({ "role": known.member.role }),
            current_session.cookies,
        )),
        None => current_session.reject(AuthError::member_not_found()),
    }
}

/// List the members of an organization
///
/// A student receives only the own membership.
#[utoipa::path(get, path = "/auth/organization/list-members",
    params(("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one"),
        ("organizationSlug" = Option<String>, Query, description = "The slug of the organization, instead of its id"),
        ("limit" = Option<String>, Query, description = "Maximum number of members"),
        ("offset" = Option<String>, Query, description = "Number of members to skip"),
        ("sortBy" = Option<String>, Query, description = "The field to sort by"),
        ("sortDirection" = Option<String>, Query, description = "asc or desc"),
        ("filterField" = Option<String>, Query, description = "The field to compare"),
        ("filterOperator" = Option<String>, Query, description = "How to compare: eq, ne, lt, lte, gt, gte, in, contains …"),
        ("filterValue" = Option<Vec<String>>, Query, description = "The value or values to compare with")),
    responses((status = 200, body = schema::AuthMembers, description = "members and their total number"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION"),
        (status = 400, description = "NO_ACTIVE_ORGANIZATION, ORGANIZATION_NOT_FOUND")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let Some(name) = named_organization(&request).or_else(|| active(&current_session)) else {
        return current_session.reject(AuthError::no_active_organization());
    };
    let not_a_member = AuthError::not_a_member_of_this_organization();
    let seen = find_organization_or(&request, &current_session, name, not_a_member).await?;
    let context = context(&request, &current_session, &seen)?;
    let members = request.app.store().read(context, |tx| tx.members()).await?;
    let members: Vec<_> = members.into_iter().map(dto::member).collect();
    Ok(json_response(&page(&request, members), current_session.cookies))
}

/// Applies filter, order, offset and limit. Without a limit all members are returned.
fn page(request: &AuthRequest, mut members: Vec<MemberObject>) -> MembersObject {
    if let Some(field) = request.query("filterField") {
        let (operator, values) = (
            request.query("filterOperator").unwrap_or("eq"),
            request.queries("filterValue"),
        );
        members.retain(|member| field_of(member, field).is_some_and(|text| matches_filter(&text, operator, &values)));
    }
    if let Some(field) = request.query("sortBy") {
        members.sort_by_key(|member| field_of(member, field));
        if request.query("sortDirection") == Some("desc") {
            members.reverse();
        }
    }
    let number = |key| request.query(key).and_then(|text| text.parse::<usize>().ok());
    let total = members.len() as u64;
    let members = members
        .into_iter()
        .skip(number("offset").unwrap_or(0))
        .take(number("limit").unwrap_or(usize::MAX));
    MembersObject {
        members: members.collect(),
        total,
    }
}

/// A column of the library's member table as text. The text of times sorts chronologically.
fn field_of(member: &MemberObject, field: &str) -> Option<String> {
    Some(match field {
        "id" => member.id.clone(),
        "userId" => member.user_id.clone(),
        "organizationId" => member.organization_id.clone(),
        "role" => member.role.clone(),
        "createdAt" => member.created_at.to_string(),
        _ => return None,
    })
}

fn matches_filter(text: &str, operator: &str, values: &[&str]) -> bool {
    let value = values.first().copied().unwrap_or_default();
    let order = text.cmp(value);
    match operator {
        "ne" => order != Ordering::Equal,
        "lt" => order == Ordering::Less,
        "lte" => order != Ordering::Greater,
        "gt" => order == Ordering::Greater,
        "gte" => order != Ordering::Less,
        "in" => values.contains(&text),
        "not_in" => !values.contains(&text),
        "contains" => text.contains(value),
        "starts_with" => text.starts_with(value),
        "ends_with" => text.ends_with(value),
        _ => order == Ordering::Equal,
    }
}

/// Check whether the caller's role has permissions
#[utoipa::path(post, path = "/auth/organization/has-permission",
    request_body = schema::AuthPermissionsQuestion,
    responses((status = 200, body = schema::AuthPermissions, description = "success: true or false"),
        (status = 401, description = "UNAUTHORIZED, USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION"),
        (status = 400, description = "NO_ACTIVE_ORGANIZATION, BAD_REQUEST")))]
pub(crate) async fn has_permission(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let id = reader.optional_string("organizationId").filter(|id| !id.is_empty());
    if request.keys().is_some_and(|keys| !keys.contains_key("permissions")) {
        reader.finish()?;
        request.current_session().await?;
        return Err(AuthError::no_permissions_passed().into());
    }
    let requested = reader.record_of_lists("permissions").cloned().unwrap_or_default();
    reader.finish()?;
    let current_session = request.current_session().await?;
    let named = id.map(|id| db::platform::organizations::OrganizationName::Id(id.to_owned()));
    let Some(name) = named.or_else(|| active(&current_session)) else {
        return current_session.reject(AuthError::no_active_organization());
    };
    let seen = find_organization(&request, &current_session, name).await.ok();
    let Some(member) = seen.and_then(|seen| seen.member) else {
        return current_session.reject(AuthError::permission_of_not_a_member());
    };
    let may = |resource: &str, action: Option<&str>| {
        PERMISSIONS.iter().any(|(known, actions, roles)| {
            *known == resource && action.is_some_and(|action| actions.contains(&action)) && roles.contains(&member.role)
        })
    };
    let success = requested.iter().all(|(resource, actions)| {
        actions
            .as_array()
            .is_some_and(|actions| actions.iter().all(|action| may(resource, action.as_str())))
    });
    Ok(json_response(
        &json!({ "error": null, "success": success }),
        current_session.cookies,
    ))
}

async fn known(
    request: &AuthRequest,
    current_session: &CurrentSession,
    seen: &OrganizationOfUser,
    user: &str,
) -> Result<Option<MemberWithUser>, AuthRejection> {
    let user = user.to_owned();
    let context = context(request, current_session, seen)?;
    Ok(request.app.store().read(context, move |tx| tx.member_of(&user)).await?)
}
