//! Sign-in and sign-out.

use better_auth::cookie;
use common::clock;
use db::args;
use serde_json::json;

use super::{
    BAN, Browser, COUNT_USERS, GET_HASH, LAST_LOGIN, PASSWORD, SET_HASH, SWITCH_OFF, TEMPORARY, enable, one, run,
    signed_in,
};
use test_support::browser::{COPY, TOKEN, cookie_names, set_cookies};
use test_support::{AUTH_SECRET, TestApp};

/// The hash of `root-password-1` as better-auth wrote it.
const BETTER_AUTH_HASH: &str = "7d6f432a69baee753fc0b1f3cdc8c906:4b3b97c205fd6ed606646cb697b8bf18f44b27489d35dc82cd5eca9f12ccec05b519b9bf6d344389437b02c92ab336c5fa6f58874593d3642637e578828547d4";

tenants!(sign_in_sets_better_auth_cookies, |app| {
    let (ada, browser) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    let before = clock::now().as_millis();
    let answer = browser.sign_in(&ada.email.to_uppercase(), PASSWORD).await;
    let lines = set_cookies(&answer);
    let body = answer.expect(200);
    assert_eq!(body["redirect"], false);
    assert_eq!(body["user"]["email"], ada.email);
    assert!(!body.to_string().contains("assword"), "{body}");

    let token = body["token"].as_str().unwrap();
    assert!(
        token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{token}"
    );
    let attributes = |age| format!("; Max-Age={age}; Path=/; HttpOnly; SameSite=Lax");
    assert_eq!(
        lines[0],
        format!("{TOKEN}={}{}", cookie::sign(AUTH_SECRET, token), attributes(86_400))
    );
    assert!(
        lines[1].starts_with(&format!("{COPY}=")) && lines[1].ends_with(&attributes(300)),
        "{}",
        lines[1]
    );
    assert_eq!(lines.len(), 2);

    let session = browser.session().await;
    assert_eq!(
        session["activeOrganizationId"],
        json!(null),
        "nothing is chosen right after sign-in"
    );
    assert_eq!(session["token"], token);
    assert_eq!(session["ipAddress"], "127.0.0.1");
    browser.get("/subjects").await.refused(400, "NO_ACTIVE_ORGANIZATION");
    let last: i64 = one(app, &LAST_LOGIN, args![ada.id]);
    assert!(last >= before, "lastLoginAt is written");
});

tenants!(sign_in_without_remember_me_sets_cookies_without_max_age, |app| {
    let (ada, browser) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    let body = json!({"email": ada.email, "password": PASSWORD, "rememberMe": false, "callbackURL": "/dash"});
    let answer = browser.post("/auth/sign-in/email", body).await;
    assert_eq!(cookie_names(&answer), [TOKEN, "better-auth.dont_remember", COPY]);
    assert!(
        set_cookies(&answer).iter().all(|line| !line.contains("Max-Age")),
        "{:?}",
        set_cookies(&answer)
    );
    assert_eq!(answer.header("location"), "/dash");
    let body = answer.expect(200);
    assert_eq!((&body["redirect"], &body["url"]), (&json!(true), &json!("/dash")));
    let answer = browser.set_active(json!({"organizationId": app.world.north})).await;
    assert!(
        set_cookies(&answer).iter().all(|line| !line.contains("Max-Age")),
        "choosing keeps that"
    );
    let remembered = browser.sign_in(&ada.email, PASSWORD).await;
    assert!(
        set_cookies(&remembered)
            .iter()
            .any(|line| line.starts_with("better-auth.dont_remember=; Max-Age=0"))
    );
});

tenants!(failed_sign_in_does_not_reveal_the_reason, |app| {
    let (ada, ben) = (&app.world.ada, &app.world.ben);
    enable(app, ada).await;
    let browser = Browser::new(app);
    let context = async |email: &str, password: &str| {
        let answer = browser.client().with("x-request-id", "same");
        let answer = answer
            .post("/auth/sign-in/email", json!({"email": email, "password": password}))
            .await;
        assert!(set_cookies(&answer).is_empty());
        answer.refused(401, "INVALID_EMAIL_OR_PASSWORD")
    };
    let wrong = context(&ada.email, "another password").await;
    assert_eq!(
        wrong,
        context("nobody@nowhere.example", PASSWORD).await,
        "an unknown address"
    );
    assert_eq!(
        wrong,
        context(&ben.email, PASSWORD).await,
        "an account without a password"
    );
    run(app, &SWITCH_OFF, args![ada.id]);
    assert_eq!(
        wrong,
        context(&ada.email, PASSWORD).await,
        "an account that is switched off"
    );
    assert_eq!(browser.cookies(), 0);
});

tenants!(ban_is_reported_only_after_the_correct_password, |app| {
    let (ada, browser) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    run(app, &BAN, args![ada.id, None::<i64>]);
    browser
        .sign_in(&ada.email, "another password")
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    browser.sign_in(&ada.email, PASSWORD).await.refused(403, "BANNED_USER");
    app.as_(ada).get("/subjects").await.refused(401, "UNAUTHENTICATED");
    run(app, &BAN, args![ada.id, 1_i64]);
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
});

tenants!(temporary_password_expires, |app| {
    let (ada, browser) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    let now = clock::now();
    run(app, &TEMPORARY, args![ada.id, now.plus_seconds(60)]);
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
    run(app, &TEMPORARY, args![ada.id, now.plus_seconds(-1)]);
    browser
        .sign_in(&ada.email, PASSWORD)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
});

tenants!(an_imported_hash_is_replaced_at_sign_in, |app| {
    let (ada, browser) = (&app.world.ada, Browser::new(app));
    enable(app, ada).await;
    run(app, &SET_HASH, args![ada.id, BETTER_AUTH_HASH]);
    browser
        .sign_in(&ada.email, "root-password-2")
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    assert_eq!(one::<String>(app, &GET_HASH, args![ada.id]), BETTER_AUTH_HASH);
    browser.sign_in(&ada.email, "root-password-1").await.expect(200);
    assert!(one::<String>(app, &GET_HASH, args![ada.id]).starts_with("$argon2id$"));
    browser.sign_in(&ada.email, "root-password-1").await.expect(200);
});

both!(sign_up_is_rejected_and_inserts_no_row, |app| {
    let browser = Browser::new(app);
    let people: i64 = one(app, &COUNT_USERS, args![]);
    let good = json!({"name": "New", "email": "new@school.example", "password": "long-enough-1"});
    for (key, value) in [
        ("email", "new@school.example"),
        ("email", app.world.ada.email.as_str()),
        ("password", "short"),
    ] {
        let mut body = good.clone();
        body[key] = value.into();
        browser
            .post("/auth/sign-up/email", body)
            .await
            .refused(422, "FAILED_TO_CREATE_USER");
    }
    for (key, value) in [
        ("email", json!("no address")),
        ("email", json!(7)),
        ("name", json!(null)),
        ("password", json!("")),
    ] {
        let mut body = good.clone();
        body[key] = value;
        browser
            .post("/auth/sign-up/email", body)
            .await
            .refused(400, "VALIDATION_ERROR");
    }
    assert_eq!(one::<i64>(app, &COUNT_USERS, args![]), people);
    assert_eq!(browser.cookies(), 0);
    browser
        .sign_in("new@school.example", "long-enough-1")
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
});

tenants!(sign_out_ends_the_session_and_clears_the_cookies, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    browser
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .expect(200);
    browser.get("/subjects").await.expect(200);
    let old = browser.copy();
    let answer = browser.post("/auth/sign-out", json!({})).await;
    let names = cookie_names(&answer);
    assert_eq!(names.first().map(String::as_str), Some(TOKEN));
    assert!(
        names.contains(&COPY.to_owned()) && names.contains(&"better-auth.dont_remember".to_owned()),
        "{names:?}"
    );
    assert_eq!(answer.expect(200), json!({"success": true}));
    assert_eq!(browser.cookies(), 0);
    old.get("/subjects").await.refused(401, "UNAUTHENTICATED");
    assert_eq!(old.get("/auth/get-session").await.expect(200), json!(null));
    browser.post("/auth/sign-out", json!({})).await.expect(200);
});

both!(each_sign_in_creates_a_new_session, |app| {
    let (ada, planted) = (&app.world.ada, "plantedplantedplantedplantedplan");
    enable(app, ada).await;
    let browser = Browser::new(app);
    browser.set_cookie(TOKEN, &cookie::sign(AUTH_SECRET, planted));
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
    let first = browser.token();
    assert_ne!(first, planted, "a planted token is not taken over");
    browser.sign_in(&ada.email, PASSWORD).await.expect(200);
    assert_ne!(browser.token(), first);
    assert_unauthenticated(app, planted).await;
});

async fn assert_unauthenticated(app: &TestApp, planted: &str) {
    let browser = Browser::new(app);
    browser.set_cookie(TOKEN, &cookie::sign(AUTH_SECRET, planted));
    assert_eq!(browser.get("/auth/get-session").await.expect(200), json!(null));
}

both!(failed_sign_ins_cost_the_same_hashing_work, |app| {
    let (world, hashing) = (&app.world, app.app.authenticator().password_hasher());
    for person in [&world.ada, &world.tom, &world.zoe] {
        enable(app, person).await;
    }
    run(app, &SWITCH_OFF, args![world.tom.id]);
    run(app, &BAN, args![world.zoe.id, None::<i64>]);
    let mut answers = Vec::new();
    for (email, password) in [
        (world.ada.email.as_str(), "another password"),
        ("nobody@nowhere.example", PASSWORD),
        (world.ben.email.as_str(), PASSWORD),
        (world.tom.email.as_str(), PASSWORD),
        (world.zoe.email.as_str(), "another password"),
    ] {
        let before = hashing.hash_count();
        let client = app.stranger().with("x-request-id", "same");
        let answer = client
            .post("/auth/sign-in/email", json!({"email": email, "password": password}))
            .await;
        let mut headers = answer.headers.clone();
        headers.remove("date");
        // The time of the response.
        headers.remove("event-position");
        assert_eq!(hashing.hash_count() - before, 1, "{email}");
        answers.push((format!("{headers:?}"), answer.refused(401, "INVALID_EMAIL_OR_PASSWORD")));
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
    for email in [world.ada.email.as_str(), "nobody@nowhere.example"] {
        let before = hashing.hash_count();
        let body = json!({"name": "New", "email": email, "password": PASSWORD});
        app.stranger().post("/auth/sign-up/email", body).await.expect(422);
        assert_eq!(hashing.hash_count() - before, 1, "sign-up for {email}");
    }
});

both!(sign_in_over_foreign_session_creates_a_new_session, |app| {
    let (ada, zoe) = (&app.world.ada, signed_in(app, &app.world.zoe).await);
    enable(app, ada).await;
    let victim = zoe.copy();
    victim.sign_in(&ada.email, PASSWORD).await.expect(200);
    assert_ne!(victim.token(), zoe.token());
    let whose = async |browser: &Browser| browser.get("/auth/get-session").await.expect(200)["user"]["id"].clone();
    assert_eq!(whose(&victim).await, json!(ada.id));
    assert_eq!(
        whose(&zoe).await,
        json!(app.world.zoe.id),
        "who planted it learns nothing"
    );
});
