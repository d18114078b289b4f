//! Second factors: the wire format of better-auth, and what an attacker with the password tries in order to sign in
//! without the second factor.

use db::args;
use serde_json::{Value, json};

use super::{
    AGE_FAILURES, AGE_LINKS, BAN, Browser, FACTOR_ENTRIES, FORGET_FAILURES, FORGET_STEP, PASSWORD, SET_HOME,
    STORED_SECRET, enable, one, run, signed_in,
};
use crate::password_resets::mailed_token;
use test_support::accounts::hash;
use test_support::browser::{TOKEN, set_cookies};
use test_support::second_factor::{enter, present_step, recover, secret_of, set_up, set_up_in};
use test_support::{Answer, SecondInstance, TestApp, TestUser};

const PENDING: &str = "better-auth.two_factor";
const TRUST: &str = "better-auth.trust_device";
const NEW_PASSWORD: &str = "Dreieck und Kreis";

/// Sends a request with the password of all test users.
async fn with_password(browser: &Browser, action: &str) -> Answer {
    browser
        .post(&format!("/auth/two-factor/{action}"), json!({"password": PASSWORD}))
        .await
}

async fn enter_and_trust(browser: &Browser, code: &str) -> Answer {
    let body = json!({"code": code, "trustDevice": true});
    browser.post("/auth/two-factor/verify-totp", body).await
}

/// Expects that a browser has no session.
async fn assert_signed_out(browser: &Browser) {
    assert_eq!(browser.get("/auth/get-session").await.expect(200), Value::Null);
    browser.get("/users/me").await.refused(401, "UNAUTHENTICATED");
}

/// Expects that a sign-in in this browser waits for a code.
async fn assert_challenged(browser: &Browser, person: &TestUser, password: &str) {
    let body = browser.sign_in(&person.email, password).await.expect(200);
    assert_eq!(body["twoFactorRedirect"], true, "{body}");
    assert_signed_out(browser).await;
}

/// Counts the entries of an action in the log of the user's school.
fn logged(app: &TestApp, person: &TestUser, action: &str) -> i64 {
    one(app, &FACTOR_ENTRIES, args![app.world.north, person.id, action])
}

both!(app_is_set_up_with_password_and_first_code, |app| {
    let ada = &app.world.ada;
    run(app, &SET_HOME, args![ada.id, app.world.north]);
    let (browser, other) = (signed_in(app, ada).await, signed_in(app, ada).await);
    let wrong = json!({"password": "another password"});
    browser
        .post("/auth/two-factor/enable", wrong.clone())
        .await
        .refused(400, "INVALID_PASSWORD");
    let by_mail = json!({"password": PASSWORD, "method": "otp"});
    browser
        .post("/auth/two-factor/enable", by_mail)
        .await
        .refused(400, "OTP_NOT_CONFIGURED");
    enter(&browser, "123456").await.refused(400, "TOTP_NOT_ENABLED");

    let first = with_password(&browser, "enable").await.expect(200);
    let named = json!({"password": PASSWORD, "issuer": "Our School"});
    let body = browser.post("/auth/two-factor/enable", named).await.expect(200);
    assert_eq!(body["method"], "totp");
    let uri = body["totpURI"].as_str().unwrap();
    assert!(uri.starts_with("otpauth://totp/Our%20School:ada"), "{uri}");
    let codes = body["backupCodes"].as_array().unwrap();
    assert_eq!(codes.len(), 10);
    assert_ne!(
        secret_of(&first),
        secret_of(&body),
        "a second request replaces an unconfirmed secret"
    );

    // Nothing is required before the first code.
    Browser::new(app).sign_in(&ada.email, PASSWORD).await.expect(200)["token"]
        .as_str()
        .unwrap();
    recover(&browser, codes[0].as_str().unwrap())
        .await
        .refused(400, "BACKUP_CODES_NOT_ENABLED");
    with_password(&browser, "generate-backup-codes")
        .await
        .refused(400, "TWO_FACTOR_NOT_ENABLED");
    let step = present_step();
    enter(&browser, &secret_of(&first).code(step))
        .await
        .refused(401, "INVALID_CODE");
    let token = browser.token();
    let done = enter(&browser, &secret_of(&body).code(step)).await.expect(200);
    assert_eq!(
        (&done["token"], &done["user"]["twoFactorEnabled"]),
        (&json!(token), &json!(true))
    );
    let session = browser.get("/auth/get-session").await.expect(200);
    assert_eq!(session["user"]["twoFactorEnabled"], true);
    assert_signed_out(&other).await;
    with_password(&browser, "enable")
        .await
        .refused(400, "TOTP_ALREADY_ENABLED");
    let shown = with_password(&browser, "get-totp-uri").await.expect(200);
    assert_eq!(secret_of(&shown), secret_of(&body));
    browser
        .post("/auth/two-factor/get-totp-uri", wrong)
        .await
        .refused(400, "INVALID_PASSWORD");

    let stored: String = one(app, &STORED_SECRET, args![ada.id]);
    assert!(
        !stored.contains(&secret_of(&body).to_base32()),
        "the secret is encrypted"
    );
    assert_eq!(logged(app, ada, "FACTOR_ENABLED"), 1);
    assert_eq!(logged(app, ada, "FACTOR_FAILED"), 1);
});

both!(sign_in_waits_for_code_in_format_of_library, |app| {
    let user = set_up(app, &app.world.ada).await;
    let browser = Browser::new(app);
    browser.set_cookie(TOKEN, "an old session");
    let body = json!({"email": user.email, "password": PASSWORD, "rememberMe": false});
    let answer = browser.post("/auth/sign-in/email", body).await;
    let cookies = set_cookies(&answer);
    assert_eq!(
        answer.expect(200),
        json!({"twoFactorRedirect": true, "twoFactorMethods": ["totp"]})
    );
    let line = |name: &str| {
        cookies
            .iter()
            .find(|line| line.starts_with(&format!("{name}=")))
            .unwrap()
    };
    assert!(
        line(PENDING).ends_with("; Max-Age=600; Path=/; HttpOnly; SameSite=Lax"),
        "{cookies:?}"
    );
    assert!(line(TOKEN).contains("Max-Age=0;"), "{cookies:?}");
    assert_signed_out(&browser).await;

    enter(&browser, &user.wrong_code()).await.refused(401, "INVALID_CODE");
    let answer = enter(&browser, &user.code()).await;
    let cookies = set_cookies(&answer);
    let body = answer.expect(200);
    assert_eq!(
        (&body["token"], &body["user"]["email"]),
        (&json!(browser.token()), &json!(user.email))
    );
    let token = cookies
        .iter()
        .find(|line| line.starts_with(&format!("{TOKEN}=")))
        .unwrap();
    assert!(
        !token.contains("Max-Age"),
        "rememberMe of the first step applies: {token}"
    );
    assert!(browser.cookie(PENDING).is_none() && browser.cookie(TRUST).is_none());
    browser.session().await["token"].as_str().unwrap();
    let again = enter(&browser, &user.code_after(1)).await.expect(200);
    assert_eq!(
        again["token"],
        json!(browser.token()),
        "a signed-in user may enter a code"
    );
    browser
        .post("/auth/two-factor/send-otp", json!({}))
        .await
        .refused(400, "OTP_NOT_CONFIGURED");
    browser
        .post("/auth/two-factor/verify-otp", json!({"code": "1"}))
        .await
        .refused(400, "OTP_HAS_EXPIRED");
});

both!(code_is_accepted_once, |app| {
    let user = set_up(app, &app.world.ada).await;
    let (first, second) = (user.waiting(app).await, user.waiting(app).await);
    let step = present_step();
    let (code, former) = (user.secret.code(step), user.secret.code(step - 1));
    enter(&first, &code).await.expect(200);
    enter(&second, &code).await.refused(401, "INVALID_CODE");
    enter(&second, &former).await.refused(401, "INVALID_CODE");
    enter(&second, &user.code_after(1)).await.expect(200);
});

tenants!(one_of_two_concurrent_uses_of_a_code_is_accepted, |app| {
    let user = set_up(app, &app.world.ada).await;
    let (first, second) = (user.waiting(app).await, user.waiting(app).await);
    let code = user.code();
    let (one, other) = tokio::join!(enter(&first, &code), enter(&second, &code));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
});

both!(code_of_another_user_is_rejected, |app| {
    let (ada, cyd) = (set_up(app, &app.world.ada).await, set_up(app, &app.world.adam).await);
    let browser = ada.waiting(app).await;
    enter(&browser, &cyd.code()).await.refused(401, "INVALID_CODE");
    recover(&browser, &cyd.recovery_codes[0])
        .await
        .refused(401, "INVALID_BACKUP_CODE");
    let theirs = cyd.waiting(app).await;
    recover(&theirs, &cyd.recovery_codes[0]).await.expect(200);
});

both!(waiting_sign_in_belongs_to_one_browser, |app| {
    let user = set_up(app, &app.world.ada).await;
    let browser = user.waiting(app).await;
    let other = Browser::new(app);
    for code in [user.code(), user.wrong_code()] {
        enter(&other, &code).await.refused(401, "INVALID_TWO_FACTOR_COOKIE");
    }
    recover(&other, &user.recovery_codes[0])
        .await
        .refused(401, "INVALID_TWO_FACTOR_COOKIE");
    // A cookie whose signature is not that of the service.
    other.set_cookie(PENDING, &better_auth::cookie::sign("another secret", "token"));
    enter(&other, &user.code())
        .await
        .refused(401, "INVALID_TWO_FACTOR_COOKIE");
    // A signed value of another kind: the token of a session.
    other.set_cookie(PENDING, &user.browser.cookie(TOKEN).unwrap());
    enter(&other, &user.code())
        .await
        .refused(401, "INVALID_TWO_FACTOR_COOKIE");
    // Without the second step nothing opens.
    other.set_cookie(TOKEN, &browser.cookie(PENDING).unwrap());
    assert_signed_out(&other).await;
    enter(&browser, &user.code()).await.expect(200);
});

both!(waiting_sign_in_is_used_once_and_expires, |app| {
    let user = set_up(app, &app.world.ada).await;
    let browser = user.waiting(app).await;
    let copy = browser.copy();
    enter(&browser, &user.code()).await.expect(200);
    enter(&copy, &user.code_after(1))
        .await
        .refused(401, "INVALID_TWO_FACTOR_COOKIE");

    let late = user.waiting(app).await;
    run(app, &AGE_LINKS, args![540_000]);
    enter(&late, &user.wrong_code()).await.refused(401, "INVALID_CODE");
    run(app, &AGE_LINKS, args![60_001]);
    enter(&late, &user.code_after(1))
        .await
        .refused(401, "INVALID_TWO_FACTOR_COOKIE");
});

both!(five_wrong_codes_end_the_waiting_sign_in, |app| {
    let user = set_up(app, &app.world.ada).await;
    let browser = user.waiting(app).await;
    for _ in 0..5 {
        enter(&browser, &user.wrong_code()).await.refused(401, "INVALID_CODE");
        run(app, &FORGET_FAILURES, args![]);
    }
    enter(&browser, &user.code())
        .await
        .refused(400, "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE");
    assert!(browser.cookie(PENDING).is_none());
    assert_signed_out(&browser).await;
    enter(&user.waiting(app).await, &user.code()).await.expect(200);
});

both!(concurrent_guesses_get_no_more_attempts_than_sequential_ones, |app| {
    let user = set_up(app, &app.world.ada).await;
    let browser = std::sync::Arc::new(user.waiting(app).await);
    let guesses: Vec<_> = user
        .wrong_codes()
        .take(12)
        .map(|code| {
            let browser = std::sync::Arc::clone(&browser);
            tokio::spawn(async move {
                let answer = enter(&browser, &code).await;
                serde_json::from_slice::<Value>(&answer.bytes).unwrap()["code"].clone()
            })
        })
        .collect();
    let mut wrong = 0;
    for guess in guesses {
        wrong += usize::from(guess.await.unwrap() == "INVALID_CODE");
    }
    assert_eq!(wrong, 5);
    // The limits of failed sign-ins count codes, too, so that new sign-ins give no further attempts.
    run(app, &AGE_FAILURES, args![-1_800_000]);
    let next = Browser::new(app);
    next.sign_in(&user.email, PASSWORD).await.refused(429, "RATE_LIMITED");
});

both!(right_password_does_not_reset_failures_of_codes, |app| {
    let user = set_up(app, &app.world.ada).await;
    for _ in 0..10 {
        let browser = user.waiting(app).await;
        let answer = enter(&browser, &user.wrong_code()).await;
        answer.refused(401, "INVALID_CODE");
        run(app, &FORGET_FAILURES, args![]);
    }
    let browser = user.waiting(app).await;
    enter(&browser, &user.code())
        .await
        .refused(429, "ACCOUNT_TEMPORARILY_LOCKED");
    recover(&browser, &user.recovery_codes[0])
        .await
        .refused(429, "ACCOUNT_TEMPORARILY_LOCKED");
});

both!(recovery_code_is_used_once_also_concurrently, |app| {
    let ada = &app.world.ada;
    run(app, &SET_HOME, args![ada.id, app.world.north]);
    let user = set_up(app, ada).await;
    let code = &user.recovery_codes[3];
    let typed = code.to_uppercase().replace('-', " ");
    recover(&user.waiting(app).await, &typed).await.expect(200);
    recover(&user.waiting(app).await, code)
        .await
        .refused(401, "INVALID_BACKUP_CODE");
    let browsers = [
        user.waiting(app).await,
        user.waiting(app).await,
        user.waiting(app).await,
    ];
    let next = &user.recovery_codes[4];
    let (one, two, three) = tokio::join!(
        recover(&browsers[0], next),
        recover(&browsers[1], next),
        recover(&browsers[2], next)
    );
    let mut statuses = [one.status, two.status, three.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401, 401]);
    assert_eq!(logged(app, ada, "RECOVERY_CODE_USED"), 2);

    run(app, &FORGET_FAILURES, args![]);
    let renewed = with_password(&user.browser, "generate-backup-codes").await.expect(200);
    assert_eq!(renewed["backupCodes"].as_array().unwrap().len(), 10);
    recover(&user.waiting(app).await, &user.recovery_codes[5])
        .await
        .refused(401, "INVALID_BACKUP_CODE");
    let new = renewed["backupCodes"][0].as_str().unwrap();
    recover(&user.waiting(app).await, new).await.expect(200);
    assert_eq!(logged(app, ada, "RECOVERY_CODES_RENEWED"), 1);
    let sessionless = json!({"code": new, "disableSession": true});
    let waiting = user.waiting(app).await;
    let answer = waiting.post("/auth/two-factor/verify-backup-code", sessionless).await;
    answer.refused(400, "FIELD_NOT_ALLOWED");
});

both!(trusted_browser_needs_no_code_and_gets_a_new_token_each_time, |app| {
    let user = set_up(app, &app.world.ada).await;
    let browser = user.waiting(app).await;
    let answer = enter_and_trust(&browser, &user.code()).await;
    let cookies = set_cookies(&answer);
    answer.expect(200);
    let line = cookies.iter().find(|line| line.starts_with(TRUST)).unwrap();
    assert!(
        line.ends_with("; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax"),
        "{line}"
    );
    let first = browser.copy();
    let signed_in = browser.sign_in(&user.email, PASSWORD).await.expect(200);
    assert_eq!(signed_in["user"]["email"], json!(user.email));
    assert_ne!(browser.cookie(TRUST), first.cookie(TRUST));
    assert_challenged(&first, &app.world.ada, PASSWORD).await;
    browser
        .sign_in(&user.email, "another password")
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
});

both!(trust_belongs_to_user_and_ends_with_factor_and_password, |app| {
    let (ada, adam) = (&app.world.ada, &app.world.adam);
    let user = set_up(app, ada).await;
    let browser = user.waiting(app).await;
    enter_and_trust(&browser, &user.code()).await.expect(200);
    let trusted = || {
        let fresh = Browser::new(app);
        fresh.set_cookie(TRUST, &browser.cookie(TRUST).unwrap());
        fresh
    };
    // The trust of another user.
    let other = set_up(app, adam).await;
    assert_challenged(&trusted(), adam, PASSWORD).await;
    // A forged cookie, and a signed token that is no trust.
    let forged = Browser::new(app);
    forged.set_cookie(TRUST, &better_auth::cookie::sign("another secret", "token"));
    assert_challenged(&forged, ada, PASSWORD).await;
    forged.set_cookie(TRUST, &browser.cookie(TOKEN).unwrap());
    assert_challenged(&forged, ada, PASSWORD).await;
    drop(other);

    // The user changes the password.
    let change = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD});
    browser.post("/auth/change-password", change).await.expect(200);
    assert_challenged(&trusted(), ada, NEW_PASSWORD).await;
    // The factor is removed and set up again.
    enable(app, ada).await;
    let again = user.waiting(app).await;
    enter_and_trust(&again, &user.code_after(1)).await.expect(200);
    let disabled = with_password(&again, "disable").await;
    let cookies = set_cookies(&disabled);
    disabled.expect(200);
    assert!(
        cookies
            .iter()
            .any(|line| line.starts_with(TRUST) && line.contains("Max-Age=0;"))
    );
    let plain = Browser::new(app).sign_in(&user.email, PASSWORD).await.expect(200);
    assert_eq!(plain["user"]["twoFactorEnabled"], false);
    let copy = again.copy();
    copy.set_cookie(TRUST, &browser.cookie(TRUST).unwrap());
    drop(set_up_in(app, again, &ada.email).await);
    assert_challenged(&copy, ada, PASSWORD).await;
});

both!(no_other_route_skips_the_second_factor, |app| {
    let (ada, root) = (&app.world.ada, &app.world.root);
    let user = set_up(app, ada).await;
    // A reset by email, and the sign-in after it.
    let trusted = user.waiting(app).await;
    enter_and_trust(&trusted, &user.code()).await.expect(200);
    let token = mailed_token(app, &ada.email).await;
    let reset = json!({"token": token, "newPassword": NEW_PASSWORD});
    let browser = Browser::new(app);
    browser.post("/auth/reset-password", reset).await.expect(200);
    assert_signed_out(&browser).await;
    assert_challenged(&browser, ada, NEW_PASSWORD).await;
    assert_challenged(&trusted, ada, NEW_PASSWORD).await;
    // A sign-in that waited when the password was reset is over.
    run(app, &FORGET_FAILURES, args![]);
    let waiting = Browser::new(app);
    assert_challenged(&waiting, ada, NEW_PASSWORD).await;
    let admin = signed_in(app, root).await;
    let set = json!({"userId": ada.id, "newPassword": PASSWORD});
    admin.post("/auth/admin/set-user-password", set).await.expect(200);
    enter(&waiting, &user.code_after(1))
        .await
        .refused(401, "INVALID_TWO_FACTOR_COOKIE");
    assert_challenged(&waiting, ada, PASSWORD).await;
    // Routes that issue sessions for those who have one give none to a waiting sign-in.
    let change = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD, "revokeOtherSessions": true});
    waiting
        .post("/auth/change-password", change)
        .await
        .refused(401, "UNAUTHORIZED");
    for action in ["enable", "disable", "generate-backup-codes", "get-totp-uri"] {
        with_password(&waiting, action).await.refused(401, "UNAUTHORIZED");
    }
    waiting
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .refused(401, "UNAUTHORIZED");
    let accept = json!({"invitationId": "unknown"});
    waiting
        .post("/auth/organization/accept-invitation", accept)
        .await
        .refused(401, "UNAUTHORIZED");
    // The form of a page without scripts.
    let body = json!({"email": ada.email, "password": PASSWORD, "callbackURL": "/"});
    let form = waiting.post("/auth/sign-in/email", body).await;
    assert!(form.headers.get("location").is_none());
    assert_eq!(form.expect(200)["twoFactorRedirect"], true);
    assert_signed_out(&waiting).await;
});

both!(banned_or_deactivated_user_cannot_complete_a_sign_in, |app| {
    let user = set_up(app, &app.world.ada).await;
    let browser = user.waiting(app).await;
    run(app, &BAN, args![app.world.ada.id, None::<i64>]);
    enter(&browser, &user.code())
        .await
        .refused(401, "INVALID_TWO_FACTOR_COOKIE");
    Browser::new(app)
        .sign_in(&user.email, PASSWORD)
        .await
        .refused(403, "BANNED_USER");
});

both!(secret_survives_rotation_of_the_installation_secret, |app| {
    let user = set_up(app, &app.world.ada).await;
    assert!(!hash().is_empty());
    let rotated = SecondInstance::start(
        app,
        &[
            "--auth-secret=another-auth-secret-for-tests-0123456789",
            &format!("--auth-secret-previous={}", test_support::AUTH_SECRET),
        ],
    )
    .await;
    let browser = Browser::elsewhere(&rotated.base);
    user.begin(&browser).await;
    enter(&browser, &user.code()).await.expect(200);
    rotated.close().await;
    // The start with both secrets encrypted the secret again, so the previous one is not needed any more.
    let settled = SecondInstance::start(app, &["--auth-secret=another-auth-secret-for-tests-0123456789"]).await;
    let browser = Browser::elsewhere(&settled.base);
    user.begin(&browser).await;
    enter(&browser, &user.code_after(1)).await.expect(200);
    settled.close().await;
    // Without the previous secret codes of the app are unknown, and recovery codes still work.
    let replaced = SecondInstance::start(app, &["--auth-secret=a-third-auth-secret-for-tests-01234567890"]).await;
    let browser = Browser::elsewhere(&replaced.base);
    user.begin(&browser).await;
    run(app, &FORGET_STEP, args![]);
    enter(&browser, &user.code()).await.refused(401, "INVALID_CODE");
    recover(&browser, &user.recovery_codes[0]).await.expect(200);
    replaced.close().await;
});
