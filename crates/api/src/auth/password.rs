//! The caller's own password: verifying and changing it. A wrong password counts as a failed sign-in, so that an
//! unattended session cannot be used to guess it.

use better_auth::error::AuthError;
use better_auth::password;
use domain::id::UserId;
use serde_json::json;

use super::dto;
use super::request::{AuthRequest, CurrentSession};
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use super::sessions::done;
use super::sign_in::verified_hash;
use db::platform::sessions::Session;
use db::platform::sign_in::SignInAttempt;
use service::actions::passwords::{self, PasswordCheck, VerifiedPasswordChange};

/// Change the caller's password
#[utoipa::path(post, path = "/auth/change-password",
    request_body = schema::AuthPasswordChange,
    responses((status = 200, body = schema::AuthPasswordChanged, description = "token (of the new session, or null) and user"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_COMPROMISED, INVALID_PASSWORD, \
         CREDENTIAL_ACCOUNT_NOT_FOUND")))]
pub(crate) async fn change(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let (new, current) = (reader.string("newPassword"), reader.string("currentPassword"));
    let revoke_others = reader.optional_bool("revokeOtherSessions").unwrap_or(false);
    reader.finish()?;
    let current_session = request.current_session().await?;
    check_new_of(&request, &current_session.user.id, new).await?;
    let fitted = prove(&request, &current_session, current).await?;
    let hash = request.hash(new).await?;
    // The new session has the limits of the current one.
    let successor = revoke_others.then(|| Session {
        sign_on: current_session.session.sign_on.clone(),
        ..request.new_session(current_session.user.id.clone())
    });
    let change = VerifiedPasswordChange {
        fitted: Some(fitted),
        hash,
        successor: successor.clone(),
    };
    let (prover, now) = (prover(&request, &current_session), request.now);
    if !request
        .act(move |tx| passwords::change(tx, &prover, &change, now))
        .await?
    {
        return Err(AuthRejection::from(AuthError::invalid_password()).with(current_session.cookies));
    }
    let token = successor.as_ref().map(|session| &session.token);
    let cookies = match &successor {
        Some(session) => request.issue(session, &current_session.user, current_session.remember),
        None => current_session.cookies,
    };
    Ok(json_response(
        &json!({ "token": token, "user": dto::user(&current_session.user) }),
        cookies,
    ))
}

/// Replace the provisional password with which the session was opened
///
/// Works once, within 15 minutes after the sign-in, and without the provisional password. All other sessions end.
#[utoipa::path(post, path = "/auth/new-password",
    request_body = schema::AuthNewPassword,
    responses((status = 200, body = schema::AuthStatus, description = "status: true"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "SESSION_NOT_FRESH: change-password asks for the old password"),
        (status = 400, description = "PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_COMPROMISED")))]
pub(crate) async fn choose_new(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let new = reader.string("newPassword");
    reader.finish()?;
    let current_session = request.current_session().await?;
    // Avoids hashing for a session that may not; the transaction decides.
    let session = current_session.session.clone();
    if session.new_password_until.is_none_or(|until| until < request.now) {
        return Err(AuthRejection::from(AuthError::session_not_fresh()).with(current_session.cookies));
    }
    check_new_of(&request, &current_session.user.id, new).await?;
    let hash = request.hash(new).await?;
    let now = request.now;
    if !request
        .act(move |tx| passwords::choose_new(tx, &session, &hash, now))
        .await?
    {
        return Err(AuthRejection::from(AuthError::session_not_fresh()).with(current_session.cookies));
    }
    Ok(done(current_session.cookies))
}

/// Verify the caller's password
///
/// The session may then add and remove passkeys for 15 minutes.
#[utoipa::path(post, path = "/auth/verify-password",
    request_body = schema::AuthPassword,
    responses((status = 200, body = schema::AuthStatus, description = "status: true"), (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "INVALID_PASSWORD, CREDENTIAL_ACCOUNT_NOT_FOUND")))]
pub(crate) async fn verify(request: AuthRequest) -> AuthResult {
    let password = request.password()?;
    let current_session = request.current_session().await?;
    let fitted = prove(&request, &current_session, password).await?;
    let (prover, now) = (prover(&request, &current_session), request.now);
    // The limits are checked again in the transaction, so that concurrent requests get no more attempts than sequential
    // ones.
    let session = current_session.session.id.clone();
    let is_right = request.act(move |tx| {
        let is_right = passwords::verify(tx, &prover, Some(&fitted), now)?;
        if is_right {
            tx.confirm_session(&session, now)?;
        }
        Ok(is_right)
    });
    if !is_right.await? {
        return Err(AuthRejection::from(AuthError::invalid_password()).with(current_session.cookies));
    }
    Ok(done(current_session.cookies))
}

/// Applies the password rules and reports violations in the library's format. `own` are well-known words about the
/// user. See docs/api-contract.md#authentication.
pub fn check_new(password: &str, own: &[&str]) -> Result<(), AuthError> {
    password::check_new(password, own).map_err(AuthError::from)
}

/// Applies the rules for a new password of this account: it must not be a well-known word about the user or the
/// organization.
pub async fn check_new_of(request: &AuthRequest, user: &UserId, password: &str) -> Result<(), AuthRejection> {
    check_new(password, &[])?;
    let user = user.clone();
    let load = request.read(move |platform| platform.known_words(&user));
    let words = load.await?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(check_new(password, &words)?)
}

/// Verifies the password and returns its stored hash. A wrong password is counted.
pub(super) async fn prove(
    request: &AuthRequest,
    current_session: &CurrentSession,
    password: &str,
) -> Result<String, AuthRejection> {
    password::check_not_too_long(password)?;
    let user = current_session.user.id.clone();
    let load = request.read(move |platform| platform.password_hash(&user));
    if load.await?.is_none() {
        return Err(AuthError::credential_account_not_found().into());
    }
    let (prover, now) = (prover(request, current_session), request.now);
    if let Some(hash) = verified_hash(&request.app, &prover.attempt, password).await? {
        return Ok(hash);
    }
    request.act(move |tx| passwords::verify(tx, &prover, None, now)).await?;
    Err(AuthRejection::from(AuthError::invalid_password()).with(current_session.cookies.clone()))
}

/// The caller as the limits of failed sign-ins count them.
pub(super) fn prover(request: &AuthRequest, current_session: &CurrentSession) -> PasswordCheck {
    PasswordCheck {
        user: current_session.user.id.clone(),
        impersonated_by: current_session.session.impersonated_by.clone(),
        attempt: SignInAttempt {
            account_key: current_session.user.email.stored_form().to_owned(),
            address: request.address(),
        },
    }
}
