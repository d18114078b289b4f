//! What an attacker tries with passkeys. Each test fails without the rule that it names.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::args;
use serde_json::{Value, json};

use super::{
    BAN, Browser, END_MEMBERSHIP, FACTOR_ENTRIES, FORGET_FAILURES, PASSWORD, SET_HOME, SWITCH_OFF, one, run, signed_in,
};
use test_support::passkey::{
    PRESENT, SoftAuthenticator, VERIFIED, add, add_in, register, register_options, sign_in_options, sign_in_with,
    verify,
};
use test_support::second_factor::set_up;
use test_support::{Answer, TestApp, TestUser};

const CHALLENGE: &str = "better-auth.better-auth-passkey";

fn logged(app: &TestApp, person: &TestUser, action: &str) -> i64 {
    one(app, &FACTOR_ENTRIES, args![app.world.north, person.id, action])
}

/// Expects that a sign-in was rejected and that nothing was opened.
async fn assert_rejected(browser: &Browser, answer: Answer, status: u16, code: &str) {
    answer.refused(status, code);
    assert_eq!(browser.get("/auth/get-session").await.expect(200), Value::Null);
}

/// Signs in with an authenticator that was changed, and expects AUTHENTICATION_FAILED.
async fn assert_fails(app: &TestApp, authenticator: &SoftAuthenticator) {
    let browser = Browser::new(app);
    let answer = sign_in_with(&browser, authenticator).await;
    assert_rejected(&browser, answer, 401, "AUTHENTICATION_FAILED").await;
}

both!(assertion_is_accepted_once, |app| {
    let (_, authenticator) = add(app, &app.world.ada).await;
    let browser = Browser::new(app);
    let options = sign_in_options(&browser).await;
    let (copy, response) = (browser.copy(), authenticator.get(&options));
    verify(&browser, response.clone()).await.expect(200);
    let answer = verify(&copy, response.clone()).await;
    assert_rejected(&copy, answer, 400, "CHALLENGE_NOT_FOUND").await;
    // Also after a new password, which deletes the links of the user.
    let change = json!({"currentPassword": PASSWORD, "newPassword": "Dreieck und Kreis"});
    browser.post("/auth/change-password", change).await.expect(200);
    let answer = verify(&copy, response).await;
    assert_rejected(&copy, answer, 400, "CHALLENGE_NOT_FOUND").await;
});

both!(concurrent_uses_of_an_assertion_open_one_session, |app| {
    let (_, authenticator) = add(app, &app.world.ada).await;
    let browser = Browser::new(app);
    let options = sign_in_options(&browser).await;
    let response = authenticator.get(&options);
    let (first, second) = (browser.copy(), browser.copy());
    let (one, other) = tokio::join!(verify(&first, response.clone()), verify(&second, response));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
});

both!(challenge_belongs_to_one_browser_and_expires, |app| {
    let (_, authenticator) = add(app, &app.world.ada).await;
    let victim = Browser::new(app);
    let options = sign_in_options(&victim).await;
    let stolen = authenticator.get(&options);
    let browser = Browser::new(app);
    let answer = verify(&browser, stolen.clone()).await;
    assert_rejected(&browser, answer, 400, "CHALLENGE_NOT_FOUND").await;
    // With a challenge of its own, the signed one is another.
    sign_in_options(&browser).await;
    let answer = verify(&browser, stolen.clone()).await;
    assert_rejected(&browser, answer, 401, "AUTHENTICATION_FAILED").await;
    // A cookie that the service did not sign, and one that is too old.
    let challenge = options["challenge"].as_str().unwrap();
    let future = common::clock::now().plus_seconds(100).as_millis();
    let forged = format!("sign-in~~{future}~{challenge}");
    browser.set_cookie(CHALLENGE, &better_auth::cookie::sign("another secret", &forged));
    let answer = verify(&browser, stolen.clone()).await;
    assert_rejected(&browser, answer, 400, "CHALLENGE_NOT_FOUND").await;
    let past = common::clock::now().plus_seconds(-1).as_millis();
    let old = format!("sign-in~~{past}~{challenge}");
    browser.set_cookie(
        CHALLENGE,
        &better_auth::cookie::sign(test_support::app::AUTH_SECRET, &old),
    );
    let answer = verify(&browser, stolen.clone()).await;
    assert_rejected(&browser, answer, 400, "CHALLENGE_NOT_FOUND").await;
    let valid = format!("sign-in~~{future}~{challenge}");
    browser.set_cookie(
        CHALLENGE,
        &better_auth::cookie::sign(test_support::app::AUTH_SECRET, &valid),
    );
    verify(&browser, stolen).await.expect(200);
});

both!(challenge_of_another_session_or_ceremony_is_rejected, |app| {
    let (ada, ben) = (&app.world.ada, &app.world.ben);
    let (_, of_ada) = add(app, ada).await;
    let browser = signed_in(app, ben).await;
    // A challenge that was issued in a session is for the passkeys of its user only.
    let options = sign_in_options(&browser).await;
    verify(&browser, of_ada.get(&options))
        .await
        .refused(400, "CHALLENGE_NOT_FOUND");
    let own = browser.get("/auth/get-session").await.expect(200);
    assert_eq!(own["user"]["id"], json!(ben.id));
    // A challenge for a registration opens no session.
    let options = register_options(&browser).await;
    verify(&browser, of_ada.get(&options))
        .await
        .refused(400, "CHALLENGE_NOT_FOUND");
    // A challenge for a sign-in adds no passkey.
    let mut new = SoftAuthenticator::new();
    let mut options = register_options(&browser).await;
    options["challenge"] = sign_in_options(&browser).await["challenge"].clone();
    register(&browser, new.create(&options), "x")
        .await
        .refused(400, "CHALLENGE_NOT_FOUND");
});

both!(registration_belongs_to_one_session, |app| {
    let (ada, ben) = (
        signed_in(app, &app.world.ada).await,
        signed_in(app, &app.world.ben).await,
    );
    let mut authenticator = SoftAuthenticator::new();
    let options = register_options(&ada).await;
    let response = authenticator.create(&options);
    // The attacker sends the challenge of the own session with the session of the victim.
    ben.set_cookie(CHALLENGE, &ada.cookie(CHALLENGE).unwrap());
    register(&ben, response.clone(), "x")
        .await
        .refused(400, "CHALLENGE_NOT_FOUND");
    Browser::new(app)
        .post("/auth/passkey/verify-registration", json!({"response": response}))
        .await
        .refused(401, "UNAUTHORIZED");
    let copy = ada.copy();
    register(&ada, response.clone(), "x").await.expect(200);
    register(&copy, response, "x").await.refused(400, "CHALLENGE_NOT_FOUND");
});

both!(wrong_origin_and_wrong_relying_party_are_rejected, |app| {
    let (_, mut authenticator) = add(app, &app.world.ada).await;
    for origin in [
        "https://school.test",
        "http://school.test:8080",
        "http://school.test.evil.example",
        "http://evil.example",
    ] {
        authenticator.origin = origin;
        assert_fails(app, &authenticator).await;
        run(app, &FORGET_FAILURES, args![]);
    }
    authenticator.origin = "http://school.test";
    for host in ["evil.example", "test", "sub.school.test"] {
        authenticator.relying_party_id = host;
        assert_fails(app, &authenticator).await;
        run(app, &FORGET_FAILURES, args![]);
    }
    let browser = signed_in(app, &app.world.ben).await;
    for (origin, host) in [
        ("http://evil.example", "school.test"),
        ("http://school.test", "evil.example"),
    ] {
        let mut new = SoftAuthenticator::new();
        (new.origin, new.relying_party_id) = (origin, host);
        let options = register_options(&browser).await;
        register(&browser, new.create(&options), "x")
            .await
            .refused(400, "FAILED_TO_VERIFY_REGISTRATION");
    }
});

both!(user_must_be_verified_unless_the_password_was, |app| {
    let (_, mut authenticator) = add(app, &app.world.ada).await;
    authenticator.flags = PRESENT;
    assert_fails(app, &authenticator).await;
    // Nor is a user who was not present.
    authenticator.flags = VERIFIED;
    assert_fails(app, &authenticator).await;
    let browser = Browser::new(app);
    browser.sign_in(&app.world.ada.email, PASSWORD).await.expect(200);
    let answer = sign_in_with(&browser, &authenticator).await;
    assert_rejected(&browser, answer, 401, "AUTHENTICATION_FAILED").await;
});

both!(counter_that_does_not_grow_is_rejected_and_logged, |app| {
    let ada = &app.world.ada;
    run(app, &SET_HOME, args![ada.id, app.world.north]);
    let (_, mut authenticator) = add(app, ada).await;
    authenticator.counter = 5;
    sign_in_with(&Browser::new(app), &authenticator).await.expect(200);
    for counter in [5, 4, 0] {
        authenticator.counter = counter;
        assert_fails(app, &authenticator).await;
    }
    assert_eq!(logged(app, ada, "PASSKEY_REJECTED"), 3);
    authenticator.counter = 6;
    sign_in_with(&Browser::new(app), &authenticator).await.expect(200);
});

both!(credential_of_another_account_is_rejected, |app| {
    let (_, of_ada) = add(app, &app.world.ada).await;
    let (_, mut of_ben) = add(app, &app.world.ben).await;
    // Ben's key signs under the id of Ada's credential, and under her handle.
    let own = of_ben.credential_id.clone();
    of_ben.credential_id = of_ada.credential_id.clone();
    assert_fails(app, &of_ben).await;
    of_ben.credential_id = own;
    of_ben.user_handle = of_ada.user_handle.clone();
    assert_fails(app, &of_ben).await;
    // After the password of Ada, the passkey of Ben does not complete her sign-in.
    let browser = Browser::new(app);
    browser.sign_in(&app.world.ada.email, PASSWORD).await.expect(200);
    of_ben.user_handle = String::new();
    let answer = sign_in_with(&browser, &of_ben).await;
    assert_rejected(&browser, answer, 400, "CHALLENGE_NOT_FOUND").await;
    // A waiting sign-in cannot be completed in another browser.
    let other = Browser::new(app);
    let options = sign_in_options(&browser).await;
    other.set_cookie(CHALLENGE, &browser.cookie(CHALLENGE).unwrap());
    let answer = verify(&other, of_ada.get(&options)).await;
    assert_rejected(&other, answer, 400, "CHALLENGE_NOT_FOUND").await;
    verify(&browser, of_ada.get(&options)).await.expect(200);
});

both!(credential_is_unique_on_the_platform, |app| {
    let (_, mut authenticator) = add(app, &app.world.ada).await;
    for person in [&app.world.ben, &app.world.zoe] {
        let browser = signed_in(app, person).await;
        let options = register_options(&browser).await;
        register(&browser, authenticator.create(&options), "x")
            .await
            .refused(400, "PREVIOUSLY_REGISTERED");
    }
});

both!(unknown_algorithms_and_attestations_are_rejected, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    let change: [fn(&mut SoftAuthenticator); 6] = [
        |authenticator| authenticator.algorithm = 0,
        |authenticator| authenticator.algorithm = -65535,
        // An ES256 key that claims to be of another type.
        |authenticator| authenticator.algorithm = -257,
        |authenticator| authenticator.format = "fido-u2f",
        |authenticator| authenticator.format = "packed",
        |authenticator| authenticator.trailing = vec![0; 10],
    ];
    for change in change {
        let mut authenticator = SoftAuthenticator::new();
        change(&mut authenticator);
        let options = register_options(&browser).await;
        register(&browser, authenticator.create(&options), "x")
            .await
            .refused(400, "FAILED_TO_VERIFY_REGISTRATION");
    }
});

both!(oversized_and_malformed_responses_are_rejected, |app| {
    let (browser, authenticator) = add(app, &app.world.ada).await;
    let options = register_options(&browser).await;
    let mut new = SoftAuthenticator::new();
    new.trailing = vec![0xf6; 40_000];
    register(&browser, new.create(&options), "x")
        .await
        .refused(400, "FAILED_TO_VERIFY_REGISTRATION");
    // Nested arrays, and a map that claims more entries than there are bytes.
    for object in [
        vec![0x81; 5000],
        vec![0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ] {
        let mut response = SoftAuthenticator::new().create(&options);
        response["response"]["attestationObject"] = URL_SAFE_NO_PAD.encode(object).into();
        register(&browser, response, "x")
            .await
            .refused(400, "FAILED_TO_VERIFY_REGISTRATION");
    }
    for response in [json!(null), json!([]), json!("x"), json!({}), json!({"id": 1})] {
        let body = json!({"response": response});
        browser
            .post("/auth/passkey/verify-registration", body)
            .await
            .refused(400, "FAILED_TO_VERIFY_REGISTRATION");
    }
    let other = Browser::new(app);
    let options = sign_in_options(&other).await;
    let mut response = authenticator.get(&options);
    response["response"]["signature"] = "A".repeat(20_000).into();
    verify(&other, response.clone())
        .await
        .refused(401, "AUTHENTICATION_FAILED");
    response["id"] = "A".repeat(5000).into();
    verify(&other, response).await.refused(401, "PASSKEY_NOT_FOUND");
    verify(&other, json!({"id": 1}))
        .await
        .refused(401, "AUTHENTICATION_FAILED");
});

both!(removed_passkey_opens_nothing, |app| {
    let (browser, authenticator) = add(app, &app.world.ada).await;
    let other = Browser::new(app);
    let options = sign_in_options(&other).await;
    let known = browser.get("/auth/passkey/list-user-passkeys").await.expect(200);
    let id = json!({"id": known[0]["id"]});
    browser.post("/auth/passkey/delete-passkey", id).await.expect(200);
    let answer = verify(&other, authenticator.get(&options)).await;
    assert_rejected(&other, answer, 401, "PASSKEY_NOT_FOUND").await;
});

both!(passkey_of_another_user_cannot_be_renamed_or_removed, |app| {
    let (owner, authenticator) = add(app, &app.world.ada).await;
    let known = owner.get("/auth/passkey/list-user-passkeys").await.expect(200);
    for person in [&app.world.ben, &app.world.zara, &app.world.adam] {
        let browser = signed_in(app, person).await;
        let name = json!({"id": known[0]["id"], "name": "mine"});
        browser
            .post("/auth/passkey/update-passkey", name)
            .await
            .refused(401, "YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY");
        browser
            .post("/auth/passkey/delete-passkey", json!({"id": known[0]["id"]}))
            .await
            .refused(401, "YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY");
        assert_eq!(
            browser.get("/auth/passkey/list-user-passkeys").await.expect(200),
            json!([])
        );
    }
    sign_in_with(&Browser::new(app), &authenticator).await.expect(200);
});

both!(passkey_of_a_person_who_left_the_school_opens_nothing_of_it, |app| {
    let ada = &app.world.ada;
    let (_, authenticator) = add(app, ada).await;
    run(app, &END_MEMBERSHIP, args![ada.id]);
    let browser = Browser::new(app);
    sign_in_with(&browser, &authenticator).await.expect(200);
    browser
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    browser.get("/users").await.refused(400, "NO_ACTIVE_ORGANIZATION");
});

both!(passkey_of_a_deactivated_or_banned_account_opens_nothing, |app| {
    let (_, of_ada) = add(app, &app.world.ada).await;
    run(app, &BAN, args![app.world.ada.id, 4_000_000_000_000_i64]);
    let browser = Browser::new(app);
    let answer = sign_in_with(&browser, &of_ada).await;
    assert_rejected(&browser, answer, 403, "BANNED_USER").await;
    let (_, of_ben) = add(app, &app.world.ben).await;
    run(app, &SWITCH_OFF, args![app.world.ben.id]);
    assert_fails(app, &of_ben).await;
});

both!(failed_assertions_count_as_failed_sign_ins, |app| {
    let (_, mut authenticator) = add(app, &app.world.ada).await;
    authenticator.origin = "http://evil.example";
    for _ in 0..5 {
        assert_fails(app, &authenticator).await;
    }
    sign_in_with(&Browser::new(app), &authenticator)
        .await
        .refused(429, "RATE_LIMITED");
    authenticator.origin = "http://school.test";
    sign_in_with(&Browser::new(app), &authenticator)
        .await
        .refused(429, "RATE_LIMITED");
    Browser::new(app)
        .sign_in(&app.world.ada.email, PASSWORD)
        .await
        .refused(429, "RATE_LIMITED");
});

both!(five_failed_assertions_end_the_waiting_sign_in, |app| {
    let user = set_up(app, &app.world.ada).await;
    let mut authenticator = SoftAuthenticator::new();
    add_in(&user.browser, &mut authenticator).await;
    let browser = Browser::new(app);
    browser.sign_in(&user.email, PASSWORD).await.expect(200);
    authenticator.origin = "http://evil.example";
    for _ in 0..5 {
        sign_in_with(&browser, &authenticator)
            .await
            .refused(401, "AUTHENTICATION_FAILED");
        run(app, &FORGET_FAILURES, args![]);
    }
    authenticator.origin = "http://school.test";
    let answer = sign_in_with(&browser, &authenticator).await;
    assert_rejected(&browser, answer, 400, "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE").await;
});

both!(foreign_page_starts_no_sign_in, |app| {
    let (_, authenticator) = add(app, &app.world.ada).await;
    let browser = Browser::new(app);
    let options = sign_in_options(&browser).await;
    let body = json!({"response": authenticator.get(&options)});
    let client = browser.client().with("origin", "http://evil.example");
    client
        .post("/auth/passkey/verify-authentication", body)
        .await
        .refused(403, "INVALID_ORIGIN");
});
