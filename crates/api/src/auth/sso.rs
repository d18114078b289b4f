//! Sign-on through the OpenID Connect provider of a school, in the wire format of better-auth's sso plugin. The official
//! client starts a sign-in with `POST /auth/sign-in/sso`; the provider sends the browser back to
//! `/auth/sso/callback/{providerId}`. See docs/single-sign-on.md.

use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use better_auth::error::AuthError;
use better_auth::session::Remember;
use domain::id::{SignOnProviderId, UserId};
use domain::sign_on::{ATTEMPT_SECONDS, SignOnProvider, SignOnSession};
use serde_json::json;

use super::super::context::App;
use super::request::AuthRequest;
use super::reset::redirect;
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use super::second_factor::{challenge_cookies, method_names, trust_cookie};
use common::error::Error;
use db::platform::CrossTenantReason;
use service::actions::sign_in::OpenedSession;
use service::actions::sign_on_sessions::{self, SignOnResult};
use service::sign_on::{self, AuthorizationResponse, ProviderChoice, ReturnPages};

/// The page for errors of sign-ins that are unknown, and therefore name no page.
const ERROR_PAGE: &str = "/login";
/// The page on which the user enters the code of the second factor.
const SECOND_STEP_PAGE: &str = "/login?step=code";
/// Maximum length of a page in the body.
const PAGE_MAX: usize = 2000;
/// Maximum length of a login hint.
const HINT_MAX: usize = 254;
/// How long a sign-out waits for the configuration of the provider.
const SIGN_OUT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(3);

/// Start a sign-in through a sign-on provider
///
/// The provider is found by `providerId`, `organizationSlug`, `domain`, the domain of `email`, or the Host.
#[utoipa::path(post, path = "/auth/sign-in/sso",
    request_body = schema::AuthSignOnStart,
    responses((status = 200, body = schema::AuthSignOnStarted, description = "url of the provider, redirect: true; sets a cookie that binds the sign-in to the browser"),
        (status = 400, description = "BAD_REQUEST"), (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "SIGN_ON_FAILED"), (status = 503, description = "OVERLOADED"),
        (status = 403, description = "INVALID_ORIGIN, CROSS_SITE_NAVIGATION_LOGIN_BLOCKED, INVALID_CALLBACK_URL, \
         INVALID_ERROR_CALLBACK_URL, INVALID_NEW_USER_CALLBACK_URL")))]
pub(crate) async fn sign_in(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let callback = reader.string("callbackURL");
    let mut text = |key: &str| reader.optional_string(key).filter(|text| !text.is_empty());
    let (email, domain) = (text("email"), text("domain"));
    let choice = ProviderChoice {
        provider_id: text("providerId").map(str::to_owned),
        organization_slug: text("organizationSlug").map(str::to_owned),
        domain: domain.or(email).map(str::to_owned),
        issuer: text("issuer").map(str::to_owned),
        host: request.host().cloned(),
    };
    let (error_page, new_user_page) = (text("errorCallbackURL"), text("newUserCallbackURL"));
    let hint = text("loginHint").or(email).filter(|hint| hint.len() <= HINT_MAX);
    let kind = reader.optional_enum("providerType", &["oidc", "saml"]);
    reader.finish()?;
    request.check_form()?;
    // The library allows an empty address, which leads to the page itself.
    let callback = if callback.is_empty() { "/" } else { callback };
    let pages = [
        callback,
        error_page.unwrap_or(callback),
        new_user_page.unwrap_or(callback),
    ];
    if pages.iter().any(|page| page.len() > PAGE_MAX) {
        return Err(AuthError::invalid_callback_url().into());
    }
    if kind == Some("saml") {
        return Err(AuthError::message_only(400, "SAML provider is not configured").into());
    }
    let is_named = choice.provider_id.is_some() || choice.organization_slug.is_some() || choice.domain.is_some();
    if !is_named && choice.host.is_none() {
        return Err(AuthError::message_only(400, "email, organizationSlug, domain or providerId is required").into());
    }
    let load = request
        .app
        .store()
        .platform_read(CrossTenantReason::SignOn, move |platform| {
            sign_on::find_provider(platform, &choice)
        });
    let provider = load.await?;
    let provider = provider.ok_or_else(|| AuthError::message_only(404, "No provider found for the issuer"))?;
    let [callback, error, new_user] = pages.map(str::to_owned);
    let pages = ReturnPages {
        callback,
        error,
        new_user,
    };
    // A browser may start several sign-ins, so its cookie is kept.
    let browser = binding(&request).unwrap_or_else(sign_on::secret);
    let started = request
        .app
        .sign_on()
        .start(&provider, pages, (&browser, hint), request.now);
    let started = started.await?;
    let (attempt, now) = (started.attempt, request.now);
    request
        .act(move |tx| sign_on_sessions::begin(tx, &attempt, now))
        .await?;
    let cookies = vec![binding_cookie(&request, &browser)];
    Ok(json_response(&json!({ "url": started.url, "redirect": true }), cookies))
}

/// Receive the response of a sign-on provider
#[utoipa::path(get, path = "/auth/sso/callback/{providerId}",
    params(("providerId" = String, Path, description = "The provider"),
        ("state" = Option<String>, Query, description = "The state of the sign-in"),
        ("code" = Option<String>, Query, description = "The code of the provider"),
        ("iss" = Option<String>, Query, description = "The issuer of the response"),
        ("error" = Option<String>, Query, description = "The error of the provider")),
    responses((status = 302, description = "Redirect to callbackURL with the session cookies, or to errorCallbackURL with error")))]
pub(crate) async fn follow(
    State(app): State<App>,
    Path(provider): Path<SignOnProviderId>,
    request: Request,
) -> AuthResult {
    let request = AuthRequest::from_request(request, &app).await?;
    complete(request, provider, false).await
}

/// Receive the response of a sign-on provider as a form (`response_mode=form_post`)
///
/// The form comes from a page of the provider. It is accepted from any origin, because state and cookie bind it to a
/// sign-in that this browser has started.
#[utoipa::path(post, path = "/auth/sso/callback/{providerId}",
    params(("providerId" = String, Path, description = "The provider")),
    request_body(content = Option<schema::AuthSignOnResponse>, content_type = "application/x-www-form-urlencoded"),
    responses((status = 302, description = "Redirect to callbackURL with the session cookies, or to errorCallbackURL with error"),
        (status = 415, description = "UNSUPPORTED_MEDIA_TYPE")))]
pub(crate) async fn receive(
    State(app): State<App>,
    Path(provider): Path<SignOnProviderId>,
    request: Request,
) -> AuthResult {
    let request = AuthRequest::from_request(request, &app).await?;
    complete(request, provider, true).await
}

/// End sessions that a sign-on provider opened (back-channel logout)
///
/// Called by the provider with a signed logout token, which is accepted once.
#[utoipa::path(post, path = "/auth/sso/backchannel-logout/{providerId}",
    params(("providerId" = String, Path, description = "The provider")),
    request_body(content = schema::AuthSignOnLogout, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, body = schema::AuthSuccess, description = "success"),
        (status = 400, description = "INVALID_LOGOUT_TOKEN"), (status = 415, description = "UNSUPPORTED_MEDIA_TYPE")))]
pub(crate) async fn end(
    State(app): State<App>,
    Path(provider): Path<SignOnProviderId>,
    request: Request,
) -> AuthResult {
    let request = AuthRequest::from_request(request, &app).await?;
    let invalid = || AuthRejection::from(AuthError::invalid_logout_token());
    let token = request.field("logout_token", true).ok_or_else(invalid)?.to_owned();
    let id = provider.clone();
    let load = app.store().platform_read(CrossTenantReason::SignOn, move |platform| {
        platform.enabled_sign_on_provider(&id)
    });
    let (_, provider) = load.await?.ok_or_else(invalid)?;
    let verified = app.sign_on().verify_logout(&provider, &token, request.now).await;
    let logout = verified.map_err(|error| {
        tracing::warn!(provider_id = %provider.id, error = error.code(), "logout token rejected");
        invalid()
    })?;
    let now = request.now;
    request
        .act(move |tx| sign_on_sessions::end(tx, &provider, &logout, now))
        .await?;
    let mut response = json_response(&json!({ "success": true }), Vec::new());
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, no_store);
    Ok(response)
}

/// A provider whose session ends with one of this service, and the encrypted ID token of that session.
pub type SignOutAtProvider = (SignOnProvider, Option<String>);

/// Returns what a sign-out at the provider of a session needs. It has to be read before the session ends.
pub async fn provider_of_session(app: &App, sign_on: &SignOnSession, token: String) -> Option<SignOutAtProvider> {
    let id = sign_on.provider_id.clone();
    let load = app.store().platform_read(CrossTenantReason::SignOn, move |platform| {
        let found = platform.enabled_sign_on_provider(&id)?;
        Ok((found, platform.sign_on_id_token(&token)?))
    });
    let (found, id_token) = load.await.ok()?;
    found.map(|(_, provider)| (provider, id_token))
}

/// Returns the address at which a provider ends its own session.
pub async fn end_session_url(app: &App, (provider, id_token): &SignOutAtProvider) -> Option<String> {
    let url = app.sign_on().end_session_url(provider, id_token.as_deref());
    tokio::time::timeout(SIGN_OUT_TIMEOUT, url).await.ok()?
}

/// Completes a sign-in. Whatever the response contains, it is used once.
async fn complete(request: AuthRequest, provider: SignOnProviderId, is_form: bool) -> AuthResult {
    let field = |key: &str| request.field(key, is_form).filter(|text| !text.is_empty());
    let (Some(state), Some(browser)) = (field("state"), binding(&request)) else {
        return failed(&request, ERROR_PAGE, "invalid_state", None);
    };
    let digests = (sign_on::digest(state), sign_on::digest(&browser));
    let (id, now) = (provider.clone(), request.now);
    let resumed = request
        .act(move |tx| sign_on_sessions::resume(tx, &id, (&digests.0, &digests.1), now))
        .await?;
    let Some((attempt, found)) = resumed else {
        return failed(&request, ERROR_PAGE, "invalid_state", None);
    };
    let error_page = attempt.error_url.as_str();
    if let Some(error) = field("error") {
        return failed(&request, error_page, known_error(error), None);
    }
    let Some(found) = found else {
        return failed(&request, error_page, "invalid_provider", Some("provider_not_found"));
    };
    let response = AuthorizationResponse {
        code: field("code").map(str::to_owned),
        issuer: field("iss").map(str::to_owned),
    };
    let identified = request.app.sign_on().identify(&found, &attempt, &response, now).await;
    let identity = match identified {
        Ok(identity) => identity,
        Err(error) => {
            log_rejection(&found, error.code());
            return failed(&request, error_page, "invalid_provider", Some(error.code()));
        }
    };
    let (session, browser) = (request.new_session(UserId::new("")), request.browser());
    let known = browser.clone();
    let result = request
        .act(move |tx| sign_on_sessions::finish(tx, &provider, &identity, &session, &known, now))
        .await?;
    let (opened, is_new_user) = match result {
        SignOnResult::Verified { opened, is_new_user } => (opened, is_new_user),
        SignOnResult::Denied(denial) => {
            log_rejection(&found, denial.code());
            return failed(&request, error_page, denial.code(), None);
        }
    };
    let page = if is_new_user {
        &attempt.new_user_url
    } else {
        &attempt.callback_url
    };
    let (session, is_trusted) = match opened {
        OpenedSession::Opened { session, is_trusted } => (session, is_trusted),
        OpenedSession::SecondFactorRequired(methods) => {
            let next: String = form_urlencoded::byte_serialize(page.as_bytes()).collect();
            let methods = method_names(methods).join(",");
            let query = format!("methods={methods}&next={next}");
            let response = redirect(&request.app, SECOND_STEP_PAGE, &query)?;
            return with_cookies(response, challenge_cookies(&request, &browser, Remember::Yes));
        }
    };
    let facts = request
        .app
        .authenticator()
        .find_session(session.token, None, None)
        .await?;
    let Some(facts) = facts else {
        return failed(&request, error_page, "account_inactive", None);
    };
    let mut cookies = request.issue(&facts.session, &facts.user, Remember::Yes);
    cookies.extend(trust_cookie(&request, &browser, is_trusted));
    with_cookies(redirect(&request.app, page, "")?, cookies)
}

fn with_cookies(mut response: Response, cookies: Vec<String>) -> AuthResult {
    for cookie in cookies {
        let cookie = HeaderValue::from_str(&cookie).map_err(|error| Error::Internal(error.into()))?;
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

fn log_rejection(provider: &SignOnProvider, reason: &str) {
    let organization_id = &provider.organization_id;
    tracing::warn!(provider_id = %provider.id, %organization_id, reason, "sign-on rejected");
}

/// Redirects to a page of the client with an error.
fn failed(request: &AuthRequest, page: &str, error: &str, description: Option<&str>) -> AuthResult {
    let description = description
        .map(|text| format!("&error_description={text}"))
        .unwrap_or_default();
    redirect(&request.app, page, &format!("error={error}{description}"))
}

/// Returns an error code of OAuth 2.0 or OpenID Connect; other texts of a provider are not passed on.
fn known_error(error: &str) -> &'static str {
    const KNOWN: [&str; 10] = [
        "access_denied",
        "account_selection_required",
        "consent_required",
        "interaction_required",
        "invalid_request",
        "invalid_scope",
        "login_required",
        "server_error",
        "temporarily_unavailable",
        "unauthorized_client",
    ];
    KNOWN
        .into_iter()
        .find(|known| *known == error)
        .unwrap_or("invalid_provider")
}

/// The name of the cookie that binds sign-ins to a browser. With TLS no other host can set a cookie of this name.
fn binding_name(request: &AuthRequest) -> &'static str {
    if request.is_secure() {
        "__Host-groupwork.sign_on"
    } else {
        "groupwork.sign_on"
    }
}

/// The value of that cookie. Two cookies count as none, because an attacker may have set one of them.
fn binding(request: &AuthRequest) -> Option<String> {
    let value = request.only_cookie(binding_name(request))?;
    sign_on::is_secret(&value).then_some(value)
}

/// The header that sets that cookie. Forms of providers are sent from another site, so the browser must be allowed to
/// send it with them; without TLS browsers reject that.
fn binding_cookie(request: &AuthRequest, value: &str) -> String {
    let name = binding_name(request);
    let scope = if request.is_secure() {
        "Secure; SameSite=None"
    } else {
        "SameSite=Lax"
    };
    format!("{name}={value}; Max-Age={ATTEMPT_SECONDS}; Path=/; HttpOnly; {scope}")
}

/// The response to a sign-out of a session that a provider opened, with the address at which the provider ends its own.
pub fn signed_out(url: Option<String>, cookies: Vec<String>) -> Response {
    let mut body = json!({ "success": true });
    if let Some(url) = url {
        body["url"] = url.into();
    }
    json_response(&body, cookies)
}
