//! Renews the session of an ordinary request within the refresh window, as the library's get-session does: the row and
//! both cookies.

use axum::http::{HeaderMap, header};
use better_auth::cookie::RequestCookies;
use better_auth::session::{Lifecycle, Remember};
use better_auth::set_cookie::SetCookies;

use super::super::context::App;
use super::dto;
use auth::Caller;
use db::platform::CrossTenantReason;
use service::actions::sessions;

/// Whether a session must be renewed. Sessions that end with the browser and impersonations are never renewed.
pub fn is_due(caller: &Caller, remember: Remember) -> bool {
    let (expires_at, now) = (dto::time(caller.session.expires_at), dto::time(caller.now));
    remember == Remember::Yes
        && caller.session.impersonated_by.is_none()
        && caller.api_token.is_none()
        && Lifecycle::STANDARD.is_refresh_due(expires_at, now)
}

/// Renews the session of the caller when that is due and returns the cookies to set. A failure is logged and does not
/// fail the request.
pub async fn renew(app: &App, headers: &HeaderMap, caller: &Caller) -> Vec<String> {
    // Fast path: most requests return before a cookie is parsed.
    if !is_due(caller, Remember::Yes) {
        return Vec::new();
    }
    let authenticator = app.authenticator();
    let cookies = RequestCookies::parse(headers.get_all(header::COOKIE));
    let remember = cookies.remember(authenticator.names(), authenticator.verifying_secrets());
    if !is_due(caller, remember) {
        return Vec::new();
    }
    let (id, now) = (caller.session.id.clone(), caller.now);
    let expires_at = dto::to_timestamp(Lifecycle::STANDARD.expires_at(dto::time(now)));
    let proof = CrossTenantReason::SessionLookup;
    let renewed = app
        .transactor()
        .write_platform(proof, move |tx| sessions::renew(tx, &id, expires_at, now));
    if let Err(error) = renewed.await {
        tracing::warn!(error = format!("{error:?}"), "session renewal failed");
        return Vec::new();
    }
    let mut session = caller.session.clone();
    session.expires_at = expires_at;
    session.updated_at = now;
    let set = SetCookies {
        names: authenticator.names(),
        secret: authenticator.secret(),
        lifecycle: &Lifecycle::STANDARD,
        received: &cookies,
    };
    set.issue(
        &dto::session(&session),
        &dto::user(&caller.user),
        dto::time(now),
        remember,
    )
}
