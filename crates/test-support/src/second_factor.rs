//! Users with a second factor.

use better_auth::timestamp::UnixMillis;
use better_auth::totp::{TotpSecret, step_at};
use common::clock;
use serde_json::{Value, json};

use super::accounts::{PASSWORD, run, signed_in};
use super::{Answer, Browser, TestApp, TestUser};

db::statements! {
    /// Makes the last code of a user acceptable again.
    FREE_LAST_STEP = "UPDATE second_factors SET last_step = last_step - 1
        WHERE user_id IN (SELECT id FROM users WHERE email = $1)";
}

/// A user whose sign-in requires a code.
pub struct FactorUser {
    pub email: String,
    /// The browser in which the second factor was set up; it is signed in.
    pub browser: Browser,
    pub secret: TotpSecret,
    pub recovery_codes: Vec<String>,
}

impl FactorUser {
    /// Returns the code that the app shows now.
    pub fn code(&self) -> String {
        self.code_after(0)
    }

    /// Returns the code that the app shows this number of steps later. That of the next step is valid for at least 30
    /// seconds, that of the last step perhaps only until the request arrives.
    pub fn code_after(&self, steps: i64) -> String {
        self.secret.code(present_step() + steps)
    }

    /// Returns codes that are not accepted: no app shows them within two steps from now.
    pub fn wrong_codes(&self) -> impl Iterator<Item = String> {
        let shown: Vec<String> = (-2..=2).map(|steps| self.code_after(steps)).collect();
        (0..)
            .map(|number: u32| format!("{number:06}"))
            .filter(move |code| !shown.contains(code))
    }

    /// Returns a code that is not accepted.
    pub fn wrong_code(&self) -> String {
        self.wrong_codes().next().unwrap()
    }

    /// Enters email address and password in a browser; the sign-in then waits for a code.
    pub async fn begin(&self, browser: &Browser) {
        let body = browser.sign_in(&self.email, PASSWORD).await.expect(200);
        assert_eq!(body, json!({"twoFactorRedirect": true, "twoFactorMethods": ["totp"]}));
    }

    /// Enters email address and password in a new browser.
    pub async fn waiting(&self, app: &TestApp) -> Browser {
        let browser = Browser::new(app);
        self.begin(&browser).await;
        browser
    }
}

/// Enters a code of the app.
pub async fn enter(browser: &Browser, code: &str) -> Answer {
    browser
        .post("/auth/two-factor/verify-totp", json!({"code": code}))
        .await
}

/// Enters a recovery code.
pub async fn recover(browser: &Browser, code: &str) -> Answer {
    browser
        .post("/auth/two-factor/verify-backup-code", json!({"code": code}))
        .await
}

/// Returns the step of the codes that apps show now.
pub fn present_step() -> i64 {
    step_at(UnixMillis::from_millis(clock::now().as_millis()))
}

/// Sets up the second factor of a user, as [`set_up_in`] does.
pub async fn set_up(app: &TestApp, person: &TestUser) -> FactorUser {
    let browser = signed_in(app, person).await;
    set_up_in(app, browser, &person.email).await
}

/// Sets up the second factor of the user who is signed in in this browser. Codes of the present and of the next step can
/// be used afterwards.
pub async fn set_up_in(app: &TestApp, browser: Browser, email: &str) -> FactorUser {
    let body = browser
        .post("/auth/two-factor/enable", json!({"password": PASSWORD}))
        .await
        .expect(200);
    let user = FactorUser {
        email: email.to_owned(),
        secret: secret_of(&body),
        recovery_codes: serde_json::from_value(body["backupCodes"].clone()).unwrap(),
        browser,
    };
    enter(&user.browser, &user.code()).await.expect(200);
    run(app, &FREE_LAST_STEP, db::args![email]);
    user
}

/// Returns the secret of an `otpauth:` URI.
pub fn secret_of(body: &Value) -> TotpSecret {
    let uri = body["totpURI"].as_str().unwrap();
    let (_, rest) = uri.split_once("secret=").unwrap();
    TotpSecret::from_base32(rest.split('&').next().unwrap()).unwrap()
}
