//! Letters about accounts. Links lead to the page of the settings, never to what a request calls itself. A letter that
//! cannot be sent fails nothing: what it tells of has happened, and there is another way (a reset, asking again).

use model::user::User;

use super::auth;
use super::context::App;
use crate::mail::{Letter, Outbox};

/// Invites somebody to choose his first password.
pub async fn invite(app: &App, user: &User, token: &str) {
    let front = &app.config().frontend_url;
    let page: String = form_urlencoded::byte_serialize(auth::RESET_PAGE.as_bytes()).collect();
    let link = format!("{front}/api/auth/reset-password/{token}?callbackURL={page}");
    let letter = Letter {
        to: user.email.clone(),
        subject: "Your account is ready".to_owned(),
        text: format!(
            "Hello {name},\r\n\r\nyour school made an account for you. Open this link within a week to choose your \
             password:\r\n\r\n{link}\r\n\r\nThen sign in with this address.",
            name = user.name
        ),
    };
    send(app, letter).await;
}

/// Asks whether an address is the person's.
pub async fn confirm_address(app: &App, address: &str, token: &str) {
    let front = &app.config().frontend_url;
    let letter = Letter {
        to: address.to_owned(),
        subject: "Is this your address?".to_owned(),
        text: format!(
            "Somebody asked to sign in with this address from now on. If it was you, open this link within an \
             hour:\r\n\r\n{front}/api/auth/verify-email?token={token}&callbackURL=%2F\r\n\r\nIf it was not you, there is \
             nothing to do."
        ),
    };
    send(app, letter).await;
}

/// Tells the old address that another one was asked for.
pub async fn tell_old_address(app: &App, old: &str, new: &str) {
    let letter = Letter {
        to: old.to_owned(),
        subject: "Your address is about to change".to_owned(),
        text: format!(
            "Somebody who knows your password asked to use {new} for your account instead of this address. If it was \
             you, follow the link in the letter to the new address. If it was not you, change your password and tell \
             your school."
        ),
    };
    send(app, letter).await;
}

async fn send(app: &App, letter: Letter) {
    if let Err(error) = Outbox::of(&app.config().storage.data_dir).send(letter).await {
        tracing::error!(error = format!("{error:?}"), "a letter was not sent");
    }
}
