//! Users with a second factor.

use better_auth::timestamp::UnixMillis;
use better_auth::totp::{TotpSecret, step_at};
use common::clock;
use serde_json::{Value, json};

use super::accounts::{PASSWORD, signed_in};
use super::{Answer, Browser, TestApp, TestUser};

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

    /// Returns the code that the app shows this number of steps later.
    pub fn code_after(&self, steps: i64) -> String {
        let now = UnixMillis::from_millis(clock::now().as_millis());
        self.secret.code(step_at(now) + steps)
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

/// Sets up the second factor of a user. The code of the present step is used up.
pub async fn set_up(app: &TestApp, person: &TestUser) -> FactorUser {
    let browser = signed_in(app, person).await;
    set_up_in(browser, &person.email).await
}

/// Sets up the second factor of the user who is signed in in this browser.
pub async fn set_up_in(browser: Browser, email: &str) -> FactorUser {
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
    // The code of the last step, so that those of the present and the next step can be used by the test.
    enter(&user.browser, &user.code_after(-1)).await.expect(200);
    user
}

/// Returns the secret of an `otpauth:` URI.
pub fn secret_of(body: &Value) -> TotpSecret {
    let uri = body["totpURI"].as_str().unwrap();
    let (_, rest) = uri.split_once("secret=").unwrap();
    TotpSecret::from_base32(rest.split('&').next().unwrap()).unwrap()
}
