//! Sign-out at the provider, and sign-out by the provider.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::{Value, json};

use super::{SchoolSignOn, person};
use test_support::fake_openid_provider::TokenSignature;
use test_support::rows::texts;
use test_support::{Answer, Browser, TestApp};

pub(super) async fn logout(app: &TestApp, school: &SchoolSignOn, token: &str) -> Answer {
    let client = app.stranger().with("origin", &school.provider.issuer);
    let path = format!("/auth/sso/backchannel-logout/{}", school.id);
    let request = client
        .request(Method::POST, &path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("logout_token={token}"));
    client
        .finish_showing(request, Some(json!({"logout_token": token})))
        .await
}

/// Signs in Ben in two browsers with different sessions at the provider, and Cem.
async fn signed_in(app: &TestApp, school: &SchoolSignOn) -> [Browser; 3] {
    school.link(app, "ben", &app.world.ben).await;
    school.link(app, "cem", &app.world.cem).await;
    let browsers = [Browser::new(app), Browser::new(app), Browser::new(app)];
    for (browser, (subject, session)) in browsers.iter().zip([("ben", "s1"), ("ben", "s2"), ("cem", "s3")]) {
        let mut person = person(subject);
        person["sid"] = json!(session);
        school.sign_in(browser, &person).await.is_signed_in();
    }
    browsers
}

async fn are_signed_in(browsers: &[Browser; 3]) -> [bool; 3] {
    let mut found = [false; 3];
    for (browser, is_signed_in) in browsers.iter().zip(&mut found) {
        *is_signed_in = browser.get("/users/me").await.status == 200;
    }
    found
}

tenants!(provider_ends_sessions_of_subject_or_session, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let browsers = signed_in(app, &school).await;
    let token = school.provider.logout_token(&json!({"sid": "s1", "sub": "ben"}));
    logout(app, &school, &token).await.expect(200);
    assert_eq!(are_signed_in(&browsers).await, [false, true, true]);
    let token = school.provider.logout_token(&json!({"sub": "ben"}));
    logout(app, &school, &token).await.expect(200);
    assert_eq!(are_signed_in(&browsers).await, [false, false, true]);
    // The session of a password continues.
    app.as_(&app.world.ben).get("/users/me").await.expect(200);
    // A token is accepted once.
    school.sign_in(&browsers[0], &person("ben")).await.is_signed_in();
    logout(app, &school, &token).await.expect(200);
    assert_eq!(are_signed_in(&browsers).await, [true, false, true]);
});

tenants!(forged_logout_tokens_end_nothing, |app| {
    let (school, other) = (
        SchoolSignOn::start(app, json!({})).await,
        SchoolSignOn::start(app, json!({})).await,
    );
    let browsers = signed_in(app, &school).await;
    let now = common::clock::now().as_millis() / 1000;
    let mut forged: Vec<String> = [
        json!({"sub": "ben", "aud": "another-client"}),
        json!({"sub": "ben", "iss": "https://evil.example"}),
        json!({"sub": "ben", "nonce": "n"}),
        json!({"sub": "ben", "events": {}}),
        json!({"sub": "ben", "events": Value::Null}),
        json!({"sub": "ben", "jti": Value::Null}),
        json!({"sub": "ben", "iat": now - 3600, "exp": now + 3600}),
        json!({"sub": "ben", "exp": now - 3600}),
        json!({}),
    ]
    .iter()
    .map(|claims| school.provider.logout_token(claims))
    .collect();
    for signature in [
        TokenSignature::Unsigned,
        TokenSignature::ClientSecret,
        TokenSignature::ForeignKey,
    ] {
        school.provider.lie(|lies| lies.signature = signature);
        forged.push(school.provider.logout_token(&json!({"sub": "ben"})));
    }
    forged.push("garbage".to_owned());
    forged.push(other.provider.logout_token(&json!({"sub": "ben"})));
    for token in forged {
        logout(app, &school, &token).await.refused(400, "INVALID_LOGOUT_TOKEN");
    }
    // A provider ends the sessions that it opened itself.
    let own = other.provider.logout_token(&json!({"sub": "ben"}));
    logout(app, &other, &own).await.expect(200);
    assert_eq!(are_signed_in(&browsers).await, [true, true, true]);
});

tenants!(sign_out_names_the_page_of_the_provider, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let browsers = signed_in(app, &school).await;
    let answer = browsers[0].post("/auth/sign-out", json!({})).await.expect(200);
    let url = answer["url"].as_str().unwrap();
    assert!(
        url.starts_with(&format!("{}/logout?client_id=", school.provider.issuer)),
        "{url}"
    );
    let (rest, hint) = url.split_once("&id_token_hint=").unwrap();
    assert!(
        rest.ends_with("post_logout_redirect_uri=http%3A%2F%2Fschool.test%2Flogin"),
        "{url}"
    );
    // The ID token of the session, which is stored encrypted.
    let claims = URL_SAFE_NO_PAD.decode(hint.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["iss"], json!(school.provider.issuer));
    assert!(claims["sub"].is_string(), "{claims}");
    let select = format!(
        "SELECT sign_on_id_token FROM sessions WHERE sign_on_provider_id = '{}'",
        school.id
    );
    let stored = texts(&app.database, select).await;
    assert_eq!(stored.len(), 2);
    for sealed in stored {
        let sealed = sealed.unwrap();
        assert!(!sealed.is_empty() && !sealed.starts_with("ey"), "{sealed}");
    }
    assert_eq!(are_signed_in(&browsers).await, [false, true, true]);
    // A session of a password has no such page, and an unavailable provider does not prevent a sign-out.
    let answer = app
        .as_(&app.world.ada)
        .post("/auth/sign-out", json!({}))
        .await
        .expect(200);
    assert_eq!(answer, json!({"success": true}));
});
