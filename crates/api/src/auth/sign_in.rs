//! Signing in and out, and the sign-up that is always rejected.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use better_auth::email;
use better_auth::error::AuthError;
use better_auth::password;
use better_auth::session::Remember;
use domain::account_email::is_placeholder;
use domain::id::UserId;
use serde_json::json;

use super::super::context::App;
use super::dto;
use super::request::AuthRequest;
use super::response::{AuthResult, json_response};
use super::schema;
use super::second_factor::{challenge, trust_cookie};
use super::sso;
use common::error::{Error, Result};
use db::platform::CrossTenantReason;
use db::platform::sign_in::SignInAttempt;
use service::actions::second_factor::SignInBrowser;
use service::actions::sessions;
use service::actions::sign_in::{self as signing, OpenedSession, SignIn, SignInResult};

/// Begins the account key of an address that can have no account.
const NO_ACCOUNT: &str = "!";

/// Maximum length of a stored email address.
pub const LONGEST_EMAIL: usize = 254;

/// Sign in with email address and password
#[utoipa::path(post, path = "/auth/sign-in/email",
    request_body = schema::AuthSignIn,
    responses((status = 200, body = schema::AuthSignInResponse, description = "redirect, token, user; sets the session cookies. With a second \
         factor twoFactorRedirect and twoFactorMethods; sets the cookie of the waiting sign-in"),
        (status = 401, description = "INVALID_EMAIL_OR_PASSWORD"),
        (status = 403, description = "BANNED_USER, PASSWORDS_OFF, INVALID_ORIGIN, CROSS_SITE_NAVIGATION_LOGIN_BLOCKED, \
         INVALID_CALLBACK_URL"),
        (status = 503, description = "OVERLOADED"),
        (status = 400, description = "BAD_REQUEST, INVALID_EMAIL, PASSWORD_TOO_LONG")))]
pub(crate) async fn sign_in(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let (address, password) = (reader.string("email"), reader.string("password"));
    let callback = reader.optional_string("callbackURL");
    let remember = reader.optional_bool("rememberMe").unwrap_or(true);
    reader.finish()?;
    request.check_form()?;
    if address.len() > LONGEST_EMAIL || !email::is_email(address) {
        return Err(AuthError::invalid_email().into());
    }
    password::check_not_too_long(password)?;

    // A placeholder is no identifier: it must not lead to the account that has it.
    let account_key = match email::lower_case(address) {
        placeholder if is_placeholder(&placeholder) => format!("{NO_ACCOUNT}{placeholder}"),
        address => address,
    };
    let attempt = SignInAttempt {
        account_key,
        address: request.address(),
    };
    let wrong = AuthError::invalid_email_or_password();
    sign_in_with_password(&request, attempt, password, remember, callback, wrong).await
}

/// Checks the password of an account and creates the session. `wrong` is the error for a wrong password and for an
/// unknown account.
pub(super) async fn sign_in_with_password(
    request: &AuthRequest,
    attempt: SignInAttempt,
    password: &str,
    remember: bool,
    callback: Option<&str>,
    wrong: AuthError,
) -> AuthResult {
    let fitted = verified_hash(&request.app, &attempt, password).await?;
    let rehashed = match &fitted {
        Some(hash) if password::needs_rehash(hash) => Some(request.hash(password).await?),
        _ => None,
    };
    let session = request.new_session(UserId::new(""));
    let browser = request.browser();
    let sign_in = SignIn {
        attempt,
        fitted,
        rehashed,
        session,
        browser: browser.clone(),
    };
    let now = request.now;
    let result = request.act(move |tx| signing::sign_in(tx, &sign_in, now)).await?;
    signed_in(request, &browser, result, remember, callback, wrong).await
}

/// Responds to a sign-in: with the session cookies, or with the request for a second factor.
pub(super) async fn signed_in(
    request: &AuthRequest,
    browser: &SignInBrowser,
    result: SignInResult,
    remember: bool,
    callback: Option<&str>,
    wrong: AuthError,
) -> AuthResult {
    let remember = if remember { Remember::Yes } else { Remember::No };
    let (session, is_trusted) = match result {
        SignInResult::Verified(OpenedSession::Opened { session, is_trusted }) => (session, is_trusted),
        SignInResult::Verified(OpenedSession::SecondFactorRequired(methods)) => {
            return Ok(challenge(request, browser, methods, remember));
        }
        SignInResult::InvalidCredentials => return Err(wrong.into()),
        SignInResult::Banned => return Err(AuthError::banned_user().into()),
        SignInResult::PasswordsOff => return Err(Error::PasswordsOff.into()),
    };
    let facts = request
        .app
        .authenticator()
        .find_session(session.token, None, None)
        .await?;
    // A user who was deactivated at this moment gets the same error as an unknown one.
    let facts = facts.ok_or(wrong)?;
    let mut cookies = request.issue(&facts.session, &facts.user, remember);
    cookies.extend(trust_cookie(request, browser, is_trusted));
    let callback = callback.filter(|callback| !callback.is_empty());
    let mut body = json!({ "redirect": callback.is_some(), "token": facts.session.token });
    if let Some(callback) = callback {
        body["url"] = callback.into();
    }
    body["user"] = json!(dto::user(&facts.user));
    let mut response = json_response(&body, cookies);
    if let Some(location) = callback.and_then(|callback| HeaderValue::from_str(callback).ok()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Finds the stored hash that the password matches. Limits are checked first, so that no hash is computed in vain;
/// unknown accounts cost the same work as known ones.
pub async fn verified_hash(app: &App, attempt: &SignInAttempt, password: &str) -> Result<Option<String>> {
    let (password_hasher, now) = (app.authenticator().password_hasher(), common::clock::now());
    let (attempt, unsure) = (attempt.clone(), password_hasher.is_imported_check_due(now));
    let load = app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            signing::within_limits(platform, &attempt, now)?;
            let imported_exist = if unsure {
                Some(platform.has_imported_hashes()?)
            } else {
                None
            };
            Ok((platform.credential(&attempt.account_key, now)?, imported_exist))
        });
    let (credential, imported_exist) = load.await?;
    if let Some(imported_exist) = imported_exist {
        password_hasher.set_imported_exist(imported_exist, now);
    }
    let stored = credential
        .and_then(|credential| credential.password)
        .map(|(_, hash)| hash);
    let fits = password_hasher.verify(password.to_owned(), stored.clone()).await?;
    Ok(stored.filter(|_| fits))
}

/// Sign up (always rejected; accounts are created by administrators and imports)
#[utoipa::path(post, path = "/auth/sign-up/email",
    request_body = schema::AuthSignUp,
    responses((status = 422, description = "FAILED_TO_CREATE_USER"), (status = 403, description = "INVALID_ORIGIN")))]
pub(crate) async fn sign_up(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    reader.string("name");
    reader.email("email");
    let password = reader.filled_string("password");
    reader.optional_string("image");
    reader.optional_string("callbackURL");
    reader.optional_bool("rememberMe");
    reader.finish()?;
    request.check_form()?;
    // The address is not looked up, so the response time does not reveal whether it is known. The work is the same for
    // every password of allowed length; longer ones are cut, to bound the cost.
    let sample: String = password.chars().take(password::MAX_LENGTH).collect();
    request
        .app
        .authenticator()
        .password_hasher()
        .equalize_timing(sample)
        .await;
    Err(AuthError::failed_to_create_user().into())
}

/// Sign out
#[utoipa::path(post, path = "/auth/sign-out",
    responses((status = 200, body = schema::AuthSignedOut, description = "success; clears the session cookies; url of the sign-on provider that opened the session"),
        (status = 403, description = "INVALID_ORIGIN"), (status = 415, description = "UNSUPPORTED_MEDIA_TYPE")))]
pub(crate) async fn sign_out(request: AuthRequest) -> AuthResult {
    let mut at_provider = None;
    if let Some(token) = request.token() {
        let facts = request
            .app
            .authenticator()
            .find_session(token.clone(), None, None)
            .await?;
        if let Some(sign_on) = facts.and_then(|facts| facts.session.sign_on) {
            at_provider = sso::provider_of_session(&request.app, &sign_on, token.clone()).await;
        }
        let impersonator_session = request.impersonator_session().map(|(token, _)| token);
        request
            .act(move |tx| sessions::sign_out(tx, &token, impersonator_session.as_deref()))
            .await?;
    }
    let url = match &at_provider {
        Some(at_provider) => sso::end_session_url(&request.app, at_provider).await,
        None => None,
    };
    let mut response = sso::signed_out(url, request.clear());
    // On a shared computer the next user must find neither pages nor drafts of this one.
    let name = HeaderName::from_static("clear-site-data");
    response
        .headers_mut()
        .insert(name, HeaderValue::from_static("\"cache\", \"storage\""));
    Ok(response)
}

/// Check that the auth routes respond
#[utoipa::path(get, path = "/auth/ok", responses((status = 200, body = schema::AuthOk, description = "ok: true")))]
pub(crate) async fn alive(_: AuthRequest) -> Response {
    json_response(&json!({ "ok": true }), Vec::new()).into_response()
}
