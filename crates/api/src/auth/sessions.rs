//! The caller's own sessions: the current one, the others, and ending them. A revoked token is invalid immediately,
//! whatever the cookie cache contains.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use better_auth::cache;
use better_auth::error::AuthError;
use better_auth::object::SessionAndUser;
use better_auth::schema::query_flag;
use better_auth::session::{Lifecycle, Remember};
use serde_json::{Value, json};

use super::dto;
use super::request::{AuthRequest, CurrentSession};
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use service::actions::sessions;

/// Get the current session and user, or null
#[utoipa::path(get, path = "/auth/get-session",
    params(("disableCookieCache" = Option<String>, Query, description = "1: read from the database instead of the cookie cache"), ("disableRefresh" = Option<String>, Query, description = "1: do not renew the session")),
    responses((status = 200, body = Option<schema::AuthSessionAndUser>, description = "session and user, or null; renews cookies that are due")))]
pub(crate) async fn show(request: AuthRequest) -> AuthResult {
    let mut response = shown(&request).await?;
    response
        .headers_mut()
        .insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    Ok(response)
}

async fn shown(request: &AuthRequest) -> AuthResult {
    let nobody = serde_json::Value::Null;
    let Some(token) = request.token() else {
        return Ok(json_response(&nobody, Vec::new()));
    };
    let Some(facts) = request.app.authenticator().find_session(token, None, None).await? else {
        return Ok(json_response(&nobody, request.cookies().clear()));
    };
    let mut current_session = CurrentSession {
        session: facts.session,
        user: facts.user,
        remember: request.remember(),
        cookies: Vec::new(),
    };
    let is_still = query_flag(request.query("disableRefresh")) || current_session.remember == Remember::No;
    if !is_still && request.is_renewal_due(&current_session) {
        match request.renew(&mut current_session).await {
            Ok(()) => {}
            Err(rejected) if rejected.is_unauthorized() => {
                return Ok(json_response(&nobody, request.cookies().clear()));
            }
            Err(rejected) => return Err(rejected),
        }
    }
    let body = dto::session_and_user(&current_session.session, &current_session.user);
    let wants_copy = query_flag(request.query("disableCookieCache")) || !is_copied(request, &body);
    if !is_still && current_session.cookies.is_empty() && wants_copy {
        let cookies = request.cookies();
        current_session.cookies = cookies.session_data(
            &body.session,
            &body.user,
            dto::time(request.now),
            current_session.remember,
        );
    }
    Ok(json_response(&body, current_session.cookies))
}

/// Whether the cookie cache of the browser already contains exactly this.
fn is_copied(request: &AuthRequest, body: &SessionAndUser) -> bool {
    let Some(value) = request.cached_copy() else {
        return false;
    };
    let (secret, now) = (request.app.authenticator().secret(), dto::time(request.now));
    cache::verify(secret, &value, &body.session.token, now)
        .is_some_and(|copy| copy.session == json!(body.session) && copy.user == json!(body.user))
}

/// Get the session with POST, for deferred renewal only (not supported)
#[utoipa::path(post, path = "/auth/get-session", responses((status = 405, description = "METHOD_NOT_ALLOWED_DEFER_SESSION_REQUIRED")))]
pub(crate) async fn refuse_post(_: AuthRequest) -> AuthResult {
    Err(AuthError::post_needs_deferred_refresh().into())
}

/// List the caller's sessions
#[utoipa::path(get, path = "/auth/list-sessions",
    responses((status = 200, body = [schema::AuthSession], description = "sessions with their tokens"),
        (status = 403, description = "SESSION_NOT_FRESH")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    if !Lifecycle::STANDARD.is_fresh(dto::time(current_session.session.created_at), dto::time(request.now)) {
        return Err(AuthError::session_not_fresh().into());
    }
    let (user, now) = (current_session.user.id, request.now);
    let load = request.read(move |platform| platform.sessions(&user, now));
    let own = &current_session.session;
    let sessions: Vec<_> = load
        .await?
        .iter()
        .filter(|session| own.may_manage(session))
        .map(dto::session)
        .collect();
    Ok(json_response(&sessions, current_session.cookies))
}

/// End one of the caller's sessions
#[utoipa::path(post, path = "/auth/revoke-session",
    request_body = schema::AuthSessionToken,
    responses((status = 200, body = schema::AuthStatus, description = "status: true, also for an unknown token"),
        (status = 401, description = "UNAUTHORIZED")))]
pub(crate) async fn revoke(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let token = reader.string("token").to_owned();
    reader.finish()?;
    let now = request.now;
    let current_session = request.current_session().await?;
    let is_own = token == current_session.session.token;
    let own = current_session.session;
    request.act(move |tx| sessions::revoke(tx, &own, &token, now)).await?;
    Ok(done(if is_own {
        request.cookies().clear()
    } else {
        current_session.cookies
    }))
}

/// End all of the caller's sessions
#[utoipa::path(post, path = "/auth/revoke-sessions",
    responses((status = 200, body = schema::AuthStatus, description = "status: true; clears the session cookies"),
        (status = 401, description = "UNAUTHORIZED")))]
pub(crate) async fn revoke_all(request: AuthRequest) -> AuthResult {
    let (own, now) = (request.current_session().await?.session, request.now);
    request
        .act(move |tx| sessions::revoke_own(tx, &own, false, now))
        .await?;
    Ok(done(request.cookies().clear()))
}

/// End all of the caller's sessions except the current one
#[utoipa::path(post, path = "/auth/revoke-other-sessions",
    responses((status = 200, body = schema::AuthStatus, description = "status: true"), (status = 401, description = "UNAUTHORIZED")))]
pub(crate) async fn revoke_others(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let (own, now) = (current_session.session, request.now);
    request.act(move |tx| sessions::revoke_own(tx, &own, true, now)).await?;
    Ok(done(current_session.cookies))
}

/// Session fields that the library never accepts from the owner.
const NOT_OWN: [&str; 2] = ["activeOrganizationId", "impersonatedBy"];

/// Update the current session
///
/// A session has no field that its owner may write, so every request is rejected.
#[utoipa::path(post, path = "/auth/update-session", request_body = schema::AuthSessionUpdate,
    responses((status = 400, description = "FIELD_NOT_ALLOWED, BAD_REQUEST"), (status = 401, description = "UNAUTHORIZED")))]
pub(crate) async fn update(request: AuthRequest) -> AuthResult {
    let Some(keys) = request.keys() else {
        let invalid = request.reader().finish().err().unwrap_or_else(AuthError::invalid_json);
        return Err(invalid.into());
    };
    let current_session = request.current_session().await?;
    let is_given = |key: &&str| keys.get(*key).is_some_and(is_truthy);
    let refusal = match NOT_OWN.into_iter().find(is_given) {
        Some(key) => AuthError::field_not_allowed(key),
        None => AuthError::no_fields_to_update(),
    };
    Err(AuthRejection::from(refusal).with(current_session.cookies))
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
    json_response(&json!({ "status": true }), cookies)
}
