//! `/users/me/email`: changing the caller's own address. The link of the email is served under `/auth`. See
//! docs/api-contract.md#people.

use api_macros::{body, view};
use std::net::IpAddr;

use axum::Json;
use axum::extract::Extension;
use axum::http::HeaderMap;

use super::auth;
use super::context::Context;
use super::valid::Valid;
use ::auth::Peer;
use ::auth::host_resolver::network_text;
use common::error::{Error, Result};
use db::platform::sign_in::SignInAttempt;
use db::platform::{CrossTenantReason, PlatformWriteTx};
use service::actions::addresses::{self, NewAddress};
use service::actions::passwords::PasswordCheck;
use service::actions::people;
use service::actions::sessions;
use service::actions::users::is_address;

/// The new address for the caller's account.
#[body]
pub(crate) struct EmailChange {
    /// The new address for sign-in.
    #[garde(custom(is_address))]
    new_email: String,
    /// The caller's password.
    #[garde(custom(check_password))]
    password: String,
}

/// Confirms that the request was accepted.
#[view]
pub(crate) struct EmailChangeAccepted {
    /// Always true, whether or not the address is in use.
    status: bool,
}

/// Request a change of the caller's email address
///
/// The change takes effect when the link in the email to the new address is opened.
#[utoipa::path(post, path = "/users/me/email", request_body = EmailChange,
    responses((status = 200, body = EmailChangeAccepted), (status = 400, description = "VALIDATION_ERROR, also for a wrong password"),
    (status = 403, description = "SHARED_ACCOUNT: an administrator chose the password, and other organizations know the account; SIGNED_ON_ELSEWHERE"),
    (status = 429, description = "Wrong passwords count as failed sign-ins; at most three emails an hour")))]
pub(crate) async fn request_change(
    cx: Context,
    headers: HeaderMap,
    peer: Option<Extension<Peer>>,
    Valid(request): Valid<EmailChange>,
) -> Result<Json<EmailChangeAccepted>> {
    let (user, old, now) = (
        cx.caller().user.id.clone(),
        cx.caller().user.email.clone(),
        cx.caller().now,
    );
    let address = people::address(&request.new_email).unwrap_or_default();
    if old.address() == Some(address.as_str()) {
        return Err(Error::invalid("newEmail", "same", "is the address you have"));
    }
    let from: Option<IpAddr> = peer.map(|Extension(peer)| peer.0.ip());
    let from = cx.app().authenticator().host_resolver().client_address(&headers, from);
    let prover = PasswordCheck {
        user,
        impersonated_by: cx.caller().session.impersonated_by.clone(),
        attempt: SignInAttempt {
            account_key: old.stored_form().to_owned(),
            address: from.map(network_text).unwrap_or_default(),
        },
    };
    let token = better_auth::token::reset_token();
    let new = NewAddress {
        fitted: auth::verified_hash(cx.app(), &prover.attempt, &request.password).await?,
        address,
        path: format!("/api/auth/verify-email?token={token}&callbackURL=%2F"),
        token,
    };
    let (app, proof, mail) = (cx.app(), CrossTenantReason::SessionLookup, cx.app().mail().clone());
    let session = cx.caller().session.clone();
    let act = move |tx: &mut PlatformWriteTx<'_>| {
        sessions::may_use_account(tx, &session)?;
        addresses::request_change(tx, &mail, &prover, &new, now)
    };
    if !app.transactor().write_platform(proof, act).await? {
        return Err(Error::invalid("password", "wrong", "is not your password"));
    }
    Ok(Json(EmailChangeAccepted { status: true }))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by garde")]
fn check_password(password: &str, (): &()) -> garde::Result {
    better_auth::password::check_not_too_long(password).map_err(|error| garde::Error::new(error.message))
}
