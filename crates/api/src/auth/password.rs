//! The caller's own password: verifying and changing it. A wrong password counts as a failed sign-in, so that an
//! unattended session cannot be used to guess it.

use better_auth::error::AuthError;
use better_auth::password;
use model::id::UserId;
use serde_json::json;

use super::answer::{Answered, Refused, answer};
use super::asked::{Asked, Present};
use super::schema;
use super::sessions::done;
use super::sign_in::fitted_hash;
use super::wire;
use db::platform::CrossTenantReason;
use db::platform::sign_in::SignInAttempt;
use service::actions::passwords::{self, PasswordCheck, VerifiedPasswordChange};

/// Change the caller's password
#[utoipa::path(post, path = "/auth/change-password",
    request_body = schema::PasswordChange,
    responses((status = 200, body = schema::PasswordChanged, description = "token (of the new session, or null) and user"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_COMPROMISED, INVALID_PASSWORD, \
         CREDENTIAL_ACCOUNT_NOT_FOUND")))]
pub async fn change(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let (new, current) = (reader.string("newPassword"), reader.string("currentPassword"));
    let revoke_others = reader.optional_bool("revokeOtherSessions").unwrap_or(false);
    reader.finish()?;
    let present = asked.present().await?;
    check_new_of(&asked, &present.user.id, new).await?;
    let fitted = prove(&asked, &present, current).await?;
    let hash = asked.app.authenticator().password_hasher().hash(new.to_owned()).await?;
    let successor = revoke_others.then(|| asked.new_session(present.user.id.clone()));
    let change = VerifiedPasswordChange {
        fitted: Some(fitted),
        hash,
        successor: successor.clone(),
    };
    let (prover, now) = (prover(&asked, &present), asked.now);
    if !asked
        .act(move |tx| passwords::change(tx, &prover, &change, now))
        .await?
    {
        return Err(Refused::from(AuthError::invalid_password()).with(present.cookies));
    }
    let token = successor.as_ref().map(|session| &session.token);
    let cookies = match &successor {
        Some(session) => asked.issue(session, &present.user, present.remember),
        None => present.cookies,
    };
    Ok(answer(
        &json!({ "token": token, "user": wire::user(&present.user) }),
        cookies,
    ))
}

/// Verify the caller's password
#[utoipa::path(post, path = "/auth/verify-password",
    request_body = schema::AuthPassword,
    responses((status = 200, body = schema::AuthStatus, description = "status: true"), (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "INVALID_PASSWORD, CREDENTIAL_ACCOUNT_NOT_FOUND")))]
pub async fn verify(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let password = reader.string("password");
    reader.finish()?;
    let present = asked.present().await?;
    let fitted = prove(&asked, &present, password).await?;
    let (prover, now) = (prover(&asked, &present), asked.now);
    // The limits are checked again in the transaction, so that concurrent requests get no more attempts than sequential
    // ones.
    if !asked
        .act(move |tx| passwords::verify(tx, &prover, Some(&fitted), now))
        .await?
    {
        return Err(Refused::from(AuthError::invalid_password()).with(present.cookies));
    }
    Ok(done(present.cookies))
}

/// Applies the password rules and reports violations in the library's format. `own` are well-known words about the
/// user. See docs/api-contract.md#authentication.
pub fn check_new(password: &str, own: &[&str]) -> Result<(), AuthError> {
    password::check_new(password, own).map_err(AuthError::from)
}

/// Applies the rules for a new password of this account: it must not be a well-known word about the user or the
/// organization.
pub async fn check_new_of(asked: &Asked, user: &UserId, password: &str) -> Result<(), Refused> {
    check_new(password, &[])?;
    let user = user.clone();
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.known_words(&user)
        });
    let words = load.await?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(check_new(password, &words)?)
}

/// Verifies the password and returns its stored hash. A wrong password is counted.
async fn prove(asked: &Asked, present: &Present, password: &str) -> Result<String, Refused> {
    password::check_not_too_long(password)?;
    let user = present.user.id.clone();
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.password_hash(&user)
        });
    if load.await?.is_none() {
        return Err(AuthError::credential_account_not_found().into());
    }
    let (prover, now) = (prover(asked, present), asked.now);
    if let Some(hash) = fitted_hash(&asked.app, &prover.attempt, password).await? {
        return Ok(hash);
    }
    asked.act(move |tx| passwords::verify(tx, &prover, None, now)).await?;
    Err(Refused::from(AuthError::invalid_password()).with(present.cookies.clone()))
}

fn prover(asked: &Asked, present: &Present) -> PasswordCheck {
    PasswordCheck {
        user: present.user.id.clone(),
        impersonated_by: present.session.impersonated_by.clone(),
        attempt: SignInAttempt {
            account_key: present.user.email.clone(),
            address: asked.address(),
        },
    }
}
