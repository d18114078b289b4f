//! The caller's own sessions: the current one, the others, and ending them. A revoked token is invalid immediately,
//! whatever the cookie cache contains.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use better_auth::cache;
use better_auth::error::AuthError;
use better_auth::object::SessionAndUser;
use better_auth::schema::query_flag;
use better_auth::session::{Lifecycle, Remember};
use model::realtime::KillReason;
use serde_json::{Value, json};

use super::answer::{Answered, Refused, answer};
use super::asked::{Asked, Present};
use super::schema;
use super::wire;
use db::platform::CrossTenantReason;
use service::actions::sessions;

/// Get the current session and user, or null
#[utoipa::path(get, path = "/auth/get-session",
    params(("disableCookieCache" = Option<String>, Query, description = "1: read from the database instead of the cookie cache"), ("disableRefresh" = Option<String>, Query, description = "1: do not renew the session")),
    responses((status = 200, body = Option<schema::SessionAndUser>, description = "session and user, or null; renews cookies that are due")))]
pub async fn show(asked: Asked) -> Answered {
    let mut response = shown(&asked).await?;
    response
        .headers_mut()
        .insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    Ok(response)
}

async fn shown(asked: &Asked) -> Answered {
    let nobody = serde_json::Value::Null;
    let Some(token) = asked.token() else {
        return Ok(answer(&nobody, Vec::new()));
    };
    let Some(facts) = asked.app.authenticator().find_session(token, None, None).await? else {
        return Ok(answer(&nobody, asked.cookies().clear()));
    };
    let mut present = Present {
        session: facts.session,
        user: facts.user,
        remember: asked.remember(),
        cookies: Vec::new(),
    };
    let is_still = query_flag(asked.query("disableRefresh")) || present.remember == Remember::No;
    if !is_still && asked.is_renewal_due(&present) {
        match asked.renew(&mut present).await {
            Ok(()) => {}
            Err(refused) if refused.is_unauthorized() => return Ok(answer(&nobody, asked.cookies().clear())),
            Err(refused) => return Err(refused),
        }
    }
    let body = wire::session_and_user(&present.session, &present.user);
    let wants_copy = query_flag(asked.query("disableCookieCache")) || !is_copied(asked, &body);
    if !is_still && present.cookies.is_empty() && wants_copy {
        let cookies = asked.cookies();
        present.cookies = cookies.session_data(&body.session, &body.user, wire::time(asked.now), present.remember);
    }
    Ok(answer(&body, present.cookies))
}

/// Whether the cookie cache of the browser already contains exactly this.
fn is_copied(asked: &Asked, body: &SessionAndUser) -> bool {
    let Some(value) = asked.cached_copy() else { return false };
    let (secret, now) = (asked.app.authenticator().secret(), wire::time(asked.now));
    cache::verify(secret, &value, &body.session.token, now)
        .is_some_and(|copy| copy.session == json!(body.session) && copy.user == json!(body.user))
}

/// Get the session with POST, for deferred renewal only (not supported)
#[utoipa::path(post, path = "/auth/get-session", responses((status = 405, description = "METHOD_NOT_ALLOWED_DEFER_SESSION_REQUIRED")))]
pub async fn refuse_post(_: Asked) -> Answered {
    Err(AuthError::post_needs_deferred_refresh().into())
}

/// List the caller's sessions
#[utoipa::path(get, path = "/auth/list-sessions",
    responses((status = 200, body = [schema::AuthSession], description = "sessions with their tokens"),
        (status = 403, description = "SESSION_NOT_FRESH")))]
pub async fn list(asked: Asked) -> Answered {
    let present = asked.present().await?;
    if !Lifecycle::STANDARD.is_fresh(wire::time(present.session.created_at), wire::time(asked.now)) {
        return Err(AuthError::session_not_fresh().into());
    }
    let (user, now) = (present.user.id, asked.now);
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.sessions(&user, now)
        });
    let sessions: Vec<_> = load.await?.iter().map(wire::session).collect();
    Ok(answer(&sessions, present.cookies))
}

/// End one of the caller's sessions
#[utoipa::path(post, path = "/auth/revoke-session",
    request_body = schema::SessionToken,
    responses((status = 200, body = schema::AuthStatus, description = "status: true, also for an unknown token"),
        (status = 401, description = "UNAUTHORIZED")))]
pub async fn revoke(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let token = reader.string("token").to_owned();
    reader.finish()?;
    let present = asked.present().await?;
    let is_own = token == present.session.token;
    let user = present.user.id;
    asked.act(move |tx| sessions::revoke(tx, &user, &token)).await?;
    Ok(done(if is_own {
        asked.cookies().clear()
    } else {
        present.cookies
    }))
}

/// End all of the caller's sessions
#[utoipa::path(post, path = "/auth/revoke-sessions",
    responses((status = 200, body = schema::AuthStatus, description = "status: true; clears the session cookies"),
        (status = 401, description = "UNAUTHORIZED")))]
pub async fn revoke_all(asked: Asked) -> Answered {
    let user = asked.present().await?.user.id;
    asked
        .act(move |tx| sessions::revoke_all(tx, &user, None, KillReason::Revoked))
        .await?;
    Ok(done(asked.cookies().clear()))
}

/// End all of the caller's sessions except the current one
#[utoipa::path(post, path = "/auth/revoke-other-sessions",
    responses((status = 200, body = schema::AuthStatus, description = "status: true"), (status = 401, description = "UNAUTHORIZED")))]
pub async fn revoke_others(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let (user, own) = (present.user.id, present.session.id);
    asked
        .act(move |tx| sessions::revoke_all(tx, &user, Some(&own), KillReason::Revoked))
        .await?;
    Ok(done(present.cookies))
}

/// Session fields that the library never accepts from the owner.
const NOT_OWN: [&str; 2] = ["activeOrganizationId", "impersonatedBy"];

/// Update the current session
///
/// A session has no field that its owner may write, so every request is rejected.
#[utoipa::path(post, path = "/auth/update-session", request_body = schema::SessionUpdate,
    responses((status = 400, description = "FIELD_NOT_ALLOWED, BAD_REQUEST"), (status = 401, description = "UNAUTHORIZED")))]
pub async fn update(asked: Asked) -> Answered {
    let Some(keys) = asked.keys() else {
        let invalid = asked.reader().finish().err().unwrap_or_else(AuthError::invalid_json);
        return Err(invalid.into());
    };
    let present = asked.present().await?;
    let is_given = |key: &&str| keys.get(*key).is_some_and(is_truthy);
    let refusal = match NOT_OWN.into_iter().find(is_given) {
        Some(key) => AuthError::field_not_allowed(key),
        None => AuthError::no_fields_to_update(),
    };
    Err(Refused::from(refusal).with(present.cookies))
}

/// Whether the value is truthy in JavaScript.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// The library's response without further content.
pub fn done(cookies: Vec<String>) -> Response {
    answer(&json!({ "status": true }), cookies)
}
