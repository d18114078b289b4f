//! The sessions of other users.

use better_auth::error::AuthError;
use model::id::UserId;
use serde_json::json;

use super::super::answer::{Answered, Refused, answer};
use super::super::asked::Asked;
use super::super::wire;
use super::administrator;
use super::schema;
use db::platform::CrossTenantReason;
use service::actions::administration;

/// List the sessions of a user, impersonations included
#[utoipa::path(post, path = "/auth/admin/list-user-sessions",
    request_body = schema::UserName,
    responses((status = 200, body = schema::UserSessions, description = "sessions with their tokens"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_LIST_USERS_SESSIONS")))]
pub async fn list(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    let (present, admin) = administrator(&asked, AuthError::may_not_list_sessions_of_users()).await?;
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.all_sessions(&user, admin.now)
        });
    let sessions: Vec<_> = load.await?.iter().map(wire::session).collect();
    Ok(answer(&json!({ "sessions": sessions }), present.cookies))
}

/// End a session of a user
#[utoipa::path(post, path = "/auth/admin/revoke-user-session",
    request_body = schema::UserSessionToken,
    responses((status = 200, body = schema::Success, description = "success: true, also for an unknown token"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS")))]
pub async fn revoke(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let token = reader.string("sessionToken").to_owned();
    reader.finish()?;
    let (present, admin) = administrator(&asked, AuthError::may_not_revoke_sessions_of_users()).await?;
    let is_own = token == present.session.token;
    asked
        .act(move |tx| administration::revoke_session(tx, &admin, &token))
        .await?;
    let cookies = if is_own { asked.clear() } else { present.cookies };
    Ok(answer(&json!({ "success": true }), cookies))
}

/// End all sessions of a user
#[utoipa::path(post, path = "/auth/admin/revoke-user-sessions",
    request_body = schema::UserName,
    responses((status = 200, body = schema::Success, description = "success: true"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS")))]
pub async fn revoke_all(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    let (present, admin) = administrator(&asked, AuthError::may_not_revoke_sessions_of_users()).await?;
    let is_own = user == admin.id;
    asked
        .act(move |tx| administration::revoke_sessions(tx, &admin, &user))
        .await
        .map_err(Refused::about_users)?;
    let cookies = if is_own { asked.clear() } else { present.cookies };
    Ok(answer(&json!({ "success": true }), cookies))
}
