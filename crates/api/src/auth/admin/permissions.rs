//! Permissions of platform roles in the library's format.

use better_auth::error::AuthError;
use domain::access::PlatformRole;
use serde_json::json;

use super::super::request::AuthRequest;
use super::super::response::{AuthResult, json_response};
use super::schema;

/// The permissions of a SUPER_ADMIN. Impersonating another SUPER_ADMIN is not included.
const PERMISSIONS: &[(&str, &[&str])] = &[
    (
        "user",
        &[
            "create",
            "list",
            "set-role",
            "ban",
            "impersonate",
            "delete",
            "set-password",
            "set-email",
            "get",
            "update",
        ],
    ),
    ("session", &["list", "revoke", "delete"]),
];

/// Check whether the caller's platform role has permissions
#[utoipa::path(post, path = "/auth/admin/has-permission",
    request_body = schema::AuthPermissionsQuestion,
    responses((status = 200, body = schema::AuthPermissions, description = "success: true or false"), (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "BAD_REQUEST")))]
pub(crate) async fn has(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    if request.keys().is_some_and(|keys| !keys.contains_key("permissions")) {
        reader.finish()?;
        return Err(AuthError::no_permissions_passed().into());
    }
    let requested = reader.record_of_lists("permissions").cloned().unwrap_or_default();
    // The value is not used; reading it validates its type, as documented.
    reader.optional_string("organizationId");
    reader.finish()?;
    let current_session = request.current_session().await?;
    let may = |resource: &str, action: Option<&str>| {
        let known = PERMISSIONS.iter().find(|(known, _)| *known == resource);
        known.is_some_and(|(_, actions)| action.is_some_and(|action| actions.contains(&action)))
    };
    let all = requested.iter().all(|(resource, actions)| {
        actions
            .as_array()
            .is_some_and(|actions| actions.iter().all(|action| may(resource, action.as_str())))
    });
    let success = current_session.user.role == PlatformRole::SuperAdmin && !requested.is_empty() && all;
    Ok(json_response(
        &json!({ "error": null, "success": success }),
        current_session.cookies,
    ))
}
