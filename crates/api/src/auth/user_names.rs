//! Sign-in with a user name, in the wire format of better-auth's plugin `username`, and with a printed code
//! (docs/user-names.md).

use better_auth::error::AuthError;
use better_auth::password;
use domain::access::MemberRole;
use domain::text::{Slug, Username};
use domain::user_name::{FULL_NAME_MAX, TypedUserName};
use serde_json::json;

use super::request::AuthRequest;
use super::response::{AuthResult, json_response};
use super::schema;
use super::sign_in::{sign_in_with_password, signed_in};
use db::platform::organizations::OrganizationName;
use db::platform::sign_in::SignInAttempt;
use service::actions::sign_in as signing;

/// Sign in with user name and password
#[utoipa::path(post, path = "/auth/sign-in/username",
    params(("org" = Option<String>, Query, description = "The short name of the organization, present or former")),
    request_body = schema::AuthSignInUsername,
    responses((status = 200, body = schema::AuthSignInResponse, description = "redirect, token, user; sets the session cookies"),
        (status = 401, description = "INVALID_USERNAME_OR_PASSWORD"),
        (status = 403, description = "BANNED_USER, PASSWORDS_OFF, INVALID_ORIGIN, CROSS_SITE_NAVIGATION_LOGIN_BLOCKED, \
         INVALID_CALLBACK_URL"),
        (status = 422, description = "USERNAME_TOO_SHORT, USERNAME_TOO_LONG, INVALID_USERNAME"),
        (status = 503, description = "OVERLOADED"),
        (status = 400, description = "BAD_REQUEST, PASSWORD_TOO_LONG")))]
pub(crate) async fn sign_in(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let (typed, password) = (reader.string("username"), reader.string("password"));
    let slug = reader.optional_string("organizationSlug");
    let callback = reader.optional_string("callbackURL");
    let remember = reader.optional_bool("rememberMe").unwrap_or(true);
    reader.finish()?;
    request.check_form()?;
    if typed.is_empty() || password.is_empty() {
        return Err(AuthError::invalid_username_or_password().into());
    }
    let typed = parse(typed)?;
    password::check_not_too_long(password)?;

    let named = slug.or_else(|| request.query("org")).filter(|slug| !slug.is_empty());
    let (named, host) = (
        named.map(|slug| Slug::try_from(slug.to_lowercase().as_str())),
        request.host().cloned(),
    );
    let load = request.read(move |platform| {
        let school = match (named, &host) {
            // An invalid short name names no organization.
            (Some(slug), _) => slug.ok(),
            (None, Some(host)) => platform.slug_of_host(host)?,
            (None, None) => None,
        };
        signing::key_of_user_name(platform, &typed, school.as_ref())
    });
    let attempt = SignInAttempt {
        account_key: load.await?,
        address: request.address(),
    };
    let wrong = AuthError::invalid_username_or_password();
    sign_in_with_password(&request, attempt, password, remember, callback, wrong).await
}

/// Check whether a user name is free
///
/// For administrators of the organization of the session. Others cannot find out which names exist.
#[utoipa::path(post, path = "/auth/is-username-available",
    request_body = schema::AuthUsername,
    responses((status = 200, body = schema::AuthUsernameAvailable, description = "available"),
        (status = 401, description = "UNAUTHORIZED"), (status = 403, description = "FORBIDDEN"),
        (status = 422, description = "USERNAME_TOO_SHORT, USERNAME_TOO_LONG, INVALID_USERNAME")))]
pub(crate) async fn is_available(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let typed = reader.string("username");
    reader.finish()?;
    let current_session = request.current_session().await?;
    if typed.is_empty() {
        return Err(AuthError::invalid_username().into());
    }
    let typed = parse(typed)?;
    let (user, chosen) = (current_session.user.id, current_session.session.active_organization_id);
    let host = request.host().cloned();
    let load = request.read(move |platform| {
        let school = match (chosen, &host) {
            (Some(id), _) => Some(OrganizationName::Id(id.into_string())),
            (None, Some(host)) => platform
                .slug_of_host(host)?
                .map(|slug| OrganizationName::Slug(slug.to_string())),
            (None, None) => None,
        };
        let seen = school
            .map(|name| platform.organization(&name, &user))
            .transpose()?
            .flatten();
        let seen = seen.filter(|seen| {
            let role = seen.member.as_ref().map(|member| member.role);
            matches!(role, Some(MemberRole::Owner | MemberRole::Admin))
        });
        let Some(seen) = seen.filter(|seen| typed.slug.as_ref().is_none_or(|slug| *slug == seen.organization.slug))
        else {
            return Ok(None);
        };
        let key = platform.key_of_user_name(&seen.organization.id, &typed.name)?;
        Ok(Some(key.is_none()))
    });
    let Some(is_available) = load.await? else {
        return Err(AuthError::message_only(403, "Only administrators check user names of their organization.").into());
    };
    Ok(json_response(
        &json!({ "available": is_available }),
        current_session.cookies,
    ))
}

/// Sign in once with a printed code
///
/// The code is used up by this request, and expires with the temporary password that was created with it.
#[utoipa::path(post, path = "/auth/sign-in/slip",
    request_body = schema::AuthSlip,
    responses((status = 200, body = schema::AuthSignInResponse, description = "redirect, token, user; sets the session cookies"),
        (status = 401, description = "INVALID_TOKEN"),
        (status = 403, description = "BANNED_USER, PASSWORDS_OFF, INVALID_ORIGIN, CROSS_SITE_NAVIGATION_LOGIN_BLOCKED")))]
pub(crate) async fn sign_in_with_slip(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let token = reader.string("token").to_owned();
    let remember = reader.optional_bool("rememberMe").unwrap_or(true);
    reader.finish()?;
    request.check_form()?;
    let (session, now) = (request.new_session(domain::id::UserId::new("")), request.now);
    let (address, browser) = (request.address(), request.browser());
    let known = browser.clone();
    let result = request
        .act(move |tx| signing::sign_in_with_slip(tx, &token, &address, &session, &known, now))
        .await?;
    signed_in(
        &request,
        &browser,
        result,
        remember,
        None,
        AuthError::invalid_token_of_sign_in(),
    )
    .await
}

/// Parses `name` or `name@slug`.
fn parse(text: &str) -> Result<TypedUserName, AuthError> {
    let length = text.trim().chars().count();
    if length < Username::MIN {
        return Err(AuthError::username_too_short());
    }
    if length > FULL_NAME_MAX {
        return Err(AuthError::username_too_long());
    }
    TypedUserName::parse(text).map_err(|_| AuthError::invalid_username())
}
