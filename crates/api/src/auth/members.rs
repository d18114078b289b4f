//! Members of an organization in the format of better-auth. A student receives only the own membership.

use std::cmp::Ordering;

use better_auth::error::AuthError;
use better_auth::object::{MemberObject, MembersObject};
use model::access::MemberRole;
use serde_json::json;

use super::answer::{Answered, Refused, answer};
use super::asked::{Asked, Present};
use super::organization::{active, asked_for, context, reach, reach_or};
use super::schema;
use super::wire;
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
pub async fn own(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(name) = active(&present) else {
        return refused(AuthError::no_active_organization(), &present);
    };
    let Ok(seen) = reach(&asked, &present, name).await else {
        return refused(AuthError::member_not_found(), &present);
    };
    match known(&asked, &present, &seen, present.user.id.as_str()).await? {
        Some(member) => Ok(answer(&wire::member(member), present.cookies)),
        None => refused(AuthError::member_not_found(), &present),
    }
}

/// Get the role of a member, by default the caller's own
#[utoipa::path(get, path = "/auth/organization/get-active-member-role",
    params(("userId" = Option<String>, Query, description = "The user. Defaults to the caller"),
        ("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one"),
        ("organizationSlug" = Option<String>, Query, description = "The slug of the organization, instead of its id")),
    responses((status = 200, body = schema::AuthRole, description = "role"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION"),
        (status = 400, description = "NO_ACTIVE_ORGANIZATION, MEMBER_NOT_FOUND")))]
pub async fn role(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(name) = asked_for(&asked).or_else(|| active(&present)) else {
        return refused(AuthError::no_active_organization(), &present);
    };
    let Ok(seen) = reach(&asked, &present, name).await else {
        return refused(AuthError::not_a_member_of_this_organization(), &present);
    };
    let user = asked.query("userId").filter(|user| !user.is_empty());
    if user.is_none() && seen.member.is_none() {
        return refused(AuthError::not_a_member_of_this_organization(), &present);
    }
    match known(&asked, &present, &seen, user.unwrap_or(present.user.id.as_str())).await? {
        Some(known) => Ok(answer(&json!({ "role": known.member.role }), present.cookies)),
        None => refused(AuthError::member_not_found(), &present),
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
    responses((status = 200, body = schema::Members, description = "members and their total number"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION"),
        (status = 400, description = "NO_ACTIVE_ORGANIZATION, ORGANIZATION_NOT_FOUND")))]
pub async fn list(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(name) = asked_for(&asked).or_else(|| active(&present)) else {
        return refused(AuthError::no_active_organization(), &present);
    };
    let not_a_member = AuthError::not_a_member_of_this_organization();
    let seen = reach_or(&asked, &present, name, not_a_member).await?;
    let context = context(&asked, &present, &seen)?;
    let members = asked.app.store().read(context, |tx| tx.members()).await?;
    let members: Vec<_> = members.into_iter().map(wire::member).collect();
    Ok(answer(&page(&asked, members), present.cookies))
}

/// Applies filter, order, offset and limit. Without a limit all members are returned.
fn page(asked: &Asked, mut members: Vec<MemberObject>) -> MembersObject {
    if let Some(field) = asked.query("filterField") {
        let (operator, values) = (
            asked.query("filterOperator").unwrap_or("eq"),
            asked.queries("filterValue"),
        );
        members.retain(|member| field_of(member, field).is_some_and(|text| fits(&text, operator, &values)));
    }
    if let Some(field) = asked.query("sortBy") {
        members.sort_by_key(|member| field_of(member, field));
        if asked.query("sortDirection") == Some("desc") {
            members.reverse();
        }
    }
    let number = |key| asked.query(key).and_then(|text| text.parse::<usize>().ok());
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

fn fits(text: &str, operator: &str, values: &[&str]) -> bool {
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
    request_body = schema::PermissionsQuestion,
    responses((status = 200, body = schema::AuthPermissions, description = "success: true or false"),
        (status = 401, description = "UNAUTHORIZED, USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION"),
        (status = 400, description = "NO_ACTIVE_ORGANIZATION, BAD_REQUEST")))]
pub async fn has_permission(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let id = reader.optional_string("organizationId").filter(|id| !id.is_empty());
    if asked.keys().is_some_and(|keys| !keys.contains_key("permissions")) {
        reader.finish()?;
        asked.present().await?;
        return Err(AuthError::no_permissions_passed().into());
    }
    let wanted = reader.record_of_lists("permissions").cloned().unwrap_or_default();
    reader.finish()?;
    let present = asked.present().await?;
    let named = id.map(|id| db::platform::organizations::OrganizationName::Id(id.to_owned()));
    let Some(name) = named.or_else(|| active(&present)) else {
        return refused(AuthError::no_active_organization(), &present);
    };
    let seen = reach(&asked, &present, name).await.ok();
    let Some(member) = seen.and_then(|seen| seen.member) else {
        return refused(AuthError::permission_of_not_a_member(), &present);
    };
    let may = |resource: &str, action: Option<&str>| {
        PERMISSIONS.iter().any(|(known, actions, roles)| {
            *known == resource && action.is_some_and(|action| actions.contains(&action)) && roles.contains(&member.role)
        })
    };
    let success = wanted.iter().all(|(resource, actions)| {
        actions
            .as_array()
            .is_some_and(|actions| actions.iter().all(|action| may(resource, action.as_str())))
    });
    Ok(answer(&json!({ "error": null, "success": success }), present.cookies))
}

async fn known(
    asked: &Asked,
    present: &Present,
    seen: &OrganizationOfUser,
    user: &str,
) -> Result<Option<MemberWithUser>, Refused> {
    let user = user.to_owned();
    let context = context(asked, present, seen)?;
    Ok(asked.app.store().read(context, move |tx| tx.member_of(&user)).await?)
}

fn refused(error: AuthError, present: &Present) -> Answered {
    Err(Refused::from(error).with(present.cookies.clone()))
}
