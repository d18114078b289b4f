//! Sessions: listing and lifetime. A revoked session is rejected immediately, whatever the cache cookie contains.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use better_auth::cookie;
use db::args;
use serde_json::{Value, json};

use super::{
    AGE_SESSION, AGE_SIGN_IN, Browser, COUNT_SESSIONS, END_MEMBERSHIP, PASSWORD, SET_ROLE, SWITCH_OFF, enable, one,
    run, signed_in,
};
use test_support::AUTH_SECRET;
use test_support::browser::{COPY, TOKEN, cookie_names, set_cookies};

const HOUR: i64 = 3_600_000;

tenants!(get_session_sets_cache_cookie_only_when_needed, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    let fresh = browser.get("/auth/get-session").await;
    assert_eq!(fresh.header("cache-control"), "no-store");
    assert_eq!(fresh.header("pragma"), "no-cache");
    assert!(set_cookies(&fresh).is_empty(), "the browser has a good copy");
    let asked = browser.get("/auth/get-session?disableCookieCache=true").await;
    assert_eq!(cookie_names(&asked), [COPY]);
    browser.set_cookie(COPY, "forged");
    assert_eq!(cookie_names(&browser.get("/auth/get-session").await), [COPY]);
    assert_ne!(browser.cookie(COPY).unwrap(), "forged");
    let still = browser
        .get("/auth/get-session?disableRefresh=true&disableCookieCache=true")
        .await;
    assert!(set_cookies(&still).is_empty());
    browser
        .post("/auth/get-session", json!({}))
        .await
        .refused(405, "METHOD_NOT_ALLOWED_DEFER_SESSION_REQUIRED");
    assert_eq!(
        Browser::new(app).get("/auth/get-session").await.expect(200),
        json!(null)
    );
});

tenants!(session_is_renewed_after_one_hour_and_expires_after_a_day, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    let token = browser.token();
    run(app, &AGE_SESSION, args![token, HOUR - 60_000]);
    let early = browser.get("/auth/get-session").await;
    assert_eq!(cookie_names(&early), [COPY], "59 minutes are too early");
    run(app, &AGE_SESSION, args![token, 60_000_i64]);
    let still = browser.get("/auth/get-session?disableRefresh=1").await;
    assert!(set_cookies(&still).is_empty());
    let prolonged = browser.get("/auth/get-session").await;
    assert_eq!(cookie_names(&prolonged), [TOKEN, COPY]);
    assert!(set_cookies(&prolonged)[0].contains("Max-Age=86400"));
    assert_eq!(browser.token(), token, "the token stays");

    run(app, &AGE_SESSION, args![token, HOUR]);
    let other = browser.get("/auth/list-accounts").await;
    assert_eq!(cookie_names(&other), [TOKEN, COPY], "other routes prolong too");
    browser
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .expect(200);
    run(app, &AGE_SESSION, args![token, HOUR]);
    let ordinary = browser.get("/subjects").await;
    assert_eq!(
        cookie_names(&ordinary),
        [TOKEN, COPY],
        "and so does an ordinary request"
    );
    assert!(set_cookies(&ordinary)[0].contains("Max-Age=86400"));
    ordinary.expect(200);
    assert!(
        set_cookies(&browser.get("/subjects").await).is_empty(),
        "once in an hour"
    );
    run(app, &AGE_SESSION, args![token, HOUR]);
    let refused = browser.get("/courses/none").await;
    assert_eq!(cookie_names(&refused), [TOKEN, COPY]);

    run(app, &AGE_SESSION, args![token, 24 * HOUR + 1]);
    browser.get("/subjects").await.refused(401, "UNAUTHENTICATED");
    let over = browser.get("/auth/get-session").await;
    assert!(
        cookie_names(&over).contains(&TOKEN.to_owned()),
        "cookies of a dead session are taken back"
    );
    assert_eq!(over.expect(200), json!(null));
    assert_eq!(browser.cookies(), 0);
});

tenants!(session_without_remember_me_is_never_renewed, |app| {
    let ada = &app.world.ada;
    enable(app, ada).await;
    let browser = Browser::new(app);
    let body = json!({"email": ada.email, "password": PASSWORD, "rememberMe": false});
    browser.post("/auth/sign-in/email", body).await.expect(200);
    run(app, &AGE_SESSION, args![browser.token(), 5 * HOUR]);
    let answer = browser.get("/auth/get-session").await;
    assert!(set_cookies(&answer).is_empty());
    assert!(answer.expect(200)["session"].is_object());
    assert!(set_cookies(&browser.get("/users/me").await).is_empty());
});

both!(revoked_session_is_rejected_immediately, |app| {
    let ada = &app.world.ada;
    let mine = signed_in(app, ada).await;
    let other = Browser::new(app);
    other.sign_in(&ada.email, PASSWORD).await.expect(200);
    other.set_active(json!({"organizationSlug": "north"})).await.expect(200);
    other.get("/subjects").await.expect(200);
    let replay = other.copy();

    let listed = mine.get("/auth/list-sessions").await.expect(200);
    let tokens: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["token"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        tokens.contains(&mine.token()) && tokens.contains(&other.token()),
        "{tokens:?}"
    );

    let stranger = signed_in(app, &app.world.ben).await;
    let body = json!({"token": other.token()});
    assert_eq!(
        stranger.post("/auth/revoke-session", body.clone()).await.expect(200),
        json!({"status": true})
    );
    other.get("/subjects").await.expect(200);

    assert_eq!(
        mine.post("/auth/revoke-session", body).await.expect(200),
        json!({"status": true})
    );
    other.get("/subjects").await.refused(401, "UNAUTHENTICATED");
    assert_eq!(other.get("/auth/get-session").await.expect(200), json!(null));
    replay.get("/subjects").await.refused(401, "UNAUTHENTICATED");
    let cleared = replay.copy();
    cleared
        .post("/auth/organization/set-active", json!({"organizationSlug": "north"}))
        .await
        .refused(401, "UNAUTHORIZED");
    assert_eq!(cleared.cookies(), 0, "a refusal takes the dead cookies back");
    assert_eq!(
        replay.get("/auth/get-session").await.expect(200),
        json!(null),
        "the old copy decides nothing"
    );
    mine.get("/auth/list-sessions").await.expect(200);
});

tenants!(user_revokes_all_or_all_other_sessions, |app| {
    let ada = &app.world.ada;
    let (mine, other) = (signed_in(app, ada).await, Browser::new(app));
    other.sign_in(&ada.email, PASSWORD).await.expect(200);
    mine.post("/auth/revoke-other-sessions", json!({})).await.expect(200);
    assert_eq!(one::<i64>(app, &COUNT_SESSIONS, args![ada.id]), 1);
    app.as_(ada).get("/subjects").await.refused(401, "UNAUTHENTICATED");
    assert_eq!(other.get("/auth/get-session").await.expect(200), json!(null));
    let own = json!({"token": mine.token()});
    other.sign_in(&ada.email, PASSWORD).await.expect(200);
    mine.post("/auth/revoke-sessions", json!({})).await.expect(200);
    assert_eq!(
        (mine.cookies(), one::<i64>(app, &COUNT_SESSIONS, args![ada.id])),
        (0, 0)
    );
    mine.post("/auth/revoke-session", own)
        .await
        .refused(401, "UNAUTHORIZED");
    mine.get("/auth/list-sessions").await.refused(401, "UNAUTHORIZED");

    mine.sign_in(&ada.email, PASSWORD).await.expect(200);
    mine.post("/auth/revoke-session", json!({"token": mine.token()}))
        .await
        .expect(200);
    assert_eq!(mine.cookies(), 0, "revoking the own session takes its cookies back");
});

tenants!(listing_sessions_requires_a_fresh_sign_in, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    run(app, &AGE_SIGN_IN, args![browser.token(), 24 * HOUR]);
    browser
        .get("/auth/list-sessions")
        .await
        .refused(403, "SESSION_NOT_FRESH");
});

tenants!(changed_role_and_ended_membership_apply_immediately, |app| {
    let (ada, browser) = (&app.world.ada, signed_in(app, &app.world.ada).await);
    browser
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .expect(200);
    let courses = format!("/courses/{}", app.world.seven_b.course);
    browser.get(&courses).await.expect(200);
    run(app, &SET_ROLE, args![ada.id, "student"]);
    browser.get(&courses).await.refused(403, "FORBIDDEN_ROLE");
    let role = browser
        .get("/auth/organization/get-active-member-role")
        .await
        .expect(200);
    assert_eq!(role, json!({"role": "student"}));
    run(app, &END_MEMBERSHIP, args![ada.id]);
    browser.get("/subjects").await.refused(403, "NOT_A_MEMBER");
    browser
        .get("/auth/organization/get-active-member")
        .await
        .refused(400, "MEMBER_NOT_FOUND");
    run(app, &SWITCH_OFF, args![ada.id]);
    browser.get("/subjects").await.refused(401, "UNAUTHENTICATED");
    assert_eq!(browser.get("/auth/get-session").await.expect(200), json!(null));
});

tenants!(forged_and_duplicate_cookies_are_unauthenticated, |app| {
    let (ada, ben) = (
        signed_in(app, &app.world.ada).await,
        signed_in(app, &app.world.ben).await,
    );
    let (first, second) = (ada.cookie(TOKEN).unwrap(), ben.cookie(TOKEN).unwrap());
    let foreign = cookie::sign("another-secret-0123456789abcdefghijklmn", &ada.token());
    let headers = [
        format!("{TOKEN}={first}; {TOKEN}={second}"),
        format!("{TOKEN}={second}; {TOKEN}={first}"),
        format!("{TOKEN}={first}; {TOKEN}={first}"),
        format!("{TOKEN}=\"{first}\"; {TOKEN}={second}"),
        format!("$Version=1; {TOKEN}={first}; $Path=/"),
        format!("{TOKEN}={}", ada.token()),
        format!("{TOKEN}={foreign}"),
        format!("{TOKEN}={first}x"),
        format!("__Secure-{TOKEN}={first}"),
        format!("{TOKEN}.0={first}"),
    ];
    for header in headers {
        let client = app.stranger().with("cookie", &header);
        assert_eq!(
            client.get("/auth/get-session").await.expect(200),
            json!(null),
            "{header}"
        );
        client.get("/auth/organization/list").await.refused(401, "UNAUTHORIZED");
        client.get("/subjects").await.refused(401, "UNAUTHENTICATED");
    }
    let quoted = app.stranger().with("cookie", &format!("{TOKEN}=\"{first}\""));
    assert!(quoted.get("/auth/get-session").await.expect(200)["session"].is_object());
    let copy = format!(
        "{COPY}={}; {TOKEN}={}",
        ada.cookie(COPY).unwrap(),
        cookie::sign(AUTH_SECRET, "unknown")
    );
    let client = app.stranger().with("cookie", &copy);
    assert_eq!(
        client.get("/auth/get-session").await.expect(200),
        json!(null),
        "a copy without its session"
    );
});

/// Returns two hundred copies without a valid signature: flipped bits throughout, and fields of another user.
fn forged_cache_cookies(copy: &str, other: &str) -> Vec<String> {
    let decoded = |copy: &str| -> Value { serde_json::from_slice(&URL_SAFE_NO_PAD.decode(copy).unwrap()).unwrap() };
    let (mine, theirs) = (decoded(copy), decoded(other));
    let mut forged = Vec::new();
    for path in [
        "/session/user",
        "/session/user/id",
        "/session/user/email",
        "/session/session",
        "/session/session/token",
        "/session/session/userId",
        "/session/session/id",
        "/signature",
        "/session",
    ] {
        let mut mixed = mine.clone();
        *mixed.pointer_mut(path).unwrap() = theirs.pointer(path).unwrap().clone();
        forged.push(mixed);
    }
    for (path, value) in [
        ("/session/user/role", json!("SUPER_ADMIN")),
        ("/session/session/activeOrganizationId", json!("another-school")),
        ("/session/session/impersonatedBy", json!("somebody")),
        ("/session/session/expiresAt", json!("2099-01-01T00:00:00.000Z")),
        ("/expiresAt", json!(4_102_444_800_000_i64)),
    ] {
        let mut mixed = mine.clone();
        *mixed.pointer_mut(path).unwrap() = value;
        forged.push(mixed);
    }
    let mut texts: Vec<String> = forged
        .iter()
        .map(|value| URL_SAFE_NO_PAD.encode(value.to_string()))
        .collect();
    let bytes = URL_SAFE_NO_PAD.decode(copy).unwrap();
    for number in texts.len()..200 {
        let mut turned = bytes.clone();
        let place = number * 7919 % turned.len();
        turned[place] ^= 1 << (number % 8);
        texts.push(URL_SAFE_NO_PAD.encode(turned));
    }
    texts
}

tenants!(forged_cache_cookies_are_never_accepted, |app| {
    let (ada, ben) = (
        signed_in(app, &app.world.ada).await,
        signed_in(app, &app.world.ben).await,
    );
    let (token, truth) = (
        ada.cookie(TOKEN).unwrap(),
        ada.get("/auth/get-session").await.expect(200),
    );
    let gone = cookie::sign(AUTH_SECRET, "a-token-of-no-session");
    let mut accepted = 0;
    for copy in forged_cache_cookies(&ada.cookie(COPY).unwrap(), &ben.cookie(COPY).unwrap()) {
        let with = |token: &str| {
            app.stranger()
                .with("cookie", &format!("{TOKEN}={token}; {COPY}={copy}"))
        };
        let context = with(&token).get("/auth/get-session").await;
        let rewritten = cookie_names(&context) == [COPY];
        accepted += usize::from(!rewritten || context.expect(200) != truth);
        let context = with(&gone).get("/auth/get-session").await.expect(200);
        accepted += usize::from(context != json!(null));
    }
    assert_eq!(accepted, 0);
    // A genuine copy is not replaced, but it still grants no access.
    let own = app.stranger().with(
        "cookie",
        &format!("{TOKEN}={token}; {COPY}={}", ada.cookie(COPY).unwrap()),
    );
    assert!(set_cookies(&own.get("/auth/get-session").await).is_empty());
    let foreign = app.stranger().with(
        "cookie",
        &format!("{TOKEN}={gone}; {COPY}={}", ada.cookie(COPY).unwrap()),
    );
    foreign.get("/auth/list-sessions").await.refused(401, "UNAUTHORIZED");
});
