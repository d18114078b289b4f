//! The sessions of other users.

use better_auth::error::AuthError;
use domain::id::UserId;
use serde_json::json;

use super::super::dto;
use super::super::request::AuthRequest;
use super::super::response::{AuthRejection, AuthResult, json_response};
use super::administrator;
use super::schema;
use service::actions::administration;

/// List the sessions of a user, impersonations included
#[utoipa::path(post, path = "/auth/admin/list-user-sessions",
    request_body = schema::AuthUserId,
    responses((status = 200, body = schema::AuthUserSessions, description = "sessions with their tokens"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_LIST_USERS_SESSIONS")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_list_sessions_of_users()).await?;
    let load = request.read(move |platform| platform.all_sessions(&user, admin.now));
    let sessions: Vec<_> = load.await?.iter().map(dto::session).collect();
    Ok(json_response(&json!({ "sessions": sessions }), current_session.cookies))
}

/// End a session of a user
#[utoipa::path(post, path = "/auth/admin/revoke-user-session",
    request_body = schema::AuthUserSessionToken,
    responses((status = 200, body = schema::AuthSuccess, description = "success: true, also for an unknown token"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS")))]
pub(crate) async fn revoke(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let token = reader.string("sessionToken").to_owned();
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_revoke_sessions_of_users()).await?;
    let is_own = token == current_session.session.token;
    request
        .act(move |tx| administration::revoke_session(tx, &admin, &token))
        .await?;
    let cookies = if is_own {
        request.clear()
    } else {
        current_session.cookies
    };
    Ok(json_response(&json!({ "success": true }), cookies))
}

/// End all sessions of a user
#[utoipa::path(post, path = "/auth/admin/revoke-user-sessions",
    request_body = schema::AuthUserId,
    responses((status = 200, body = schema::AuthSuccess, description = "success: true"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS")))]
pub(crate) async fn revoke_all(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_revoke_sessions_of_users()).await?;
    let is_own = user == admin.id;
    request
        .act(move |tx| administration::revoke_sessions(tx, &admin, &user))
        .await
        .map_err(AuthRejection::about_users)?;
    let cookies = if is_own {
        request.clear()
    } else {
        current_session.cookies
    };
    Ok(json_response(&json!({ "success": true }), cookies))
}
