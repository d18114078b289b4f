//! Attacks on the protocol: forged, replayed and misdirected responses, and lies of a provider.

use serde_json::{Value, json};

use super::accounts::with_address;
use super::{ReturnedPage, SchoolSignOn, assert_signed_in, assert_signed_out, begin, follow, person, post_form};
use test_support::fake_openid_provider::{CLIENT_ID, FakeOpenIdProvider, Lies, TokenSignature};
use test_support::{Browser, FRONTEND, TestApp};

const SUBJECT: &str = "ben-at-school";

async fn linked(app: &TestApp) -> SchoolSignOn {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, SUBJECT, &app.world.ben).await;
    school
}

/// Signs in while the provider lies, and expects this rejection; afterwards the same provider signs the person in.
async fn refused(app: &TestApp, school: &SchoolSignOn, description: &str, lie: impl FnOnce(&mut Lies)) {
    let browser = Browser::new(app);
    school.provider.lie(lie);
    let page = school.sign_in(&browser, &person(SUBJECT)).await;
    page.is_refused("invalid_provider", description);
    assert_signed_out(&browser).await;
    school.provider.lie(|_| {});
}

fn claim(key: &str, value: Value) -> impl FnOnce(&mut Lies) {
    let key = key.to_owned();
    move |lies| drop(lies.claims.insert(key, value))
}

fn signed(signature: TokenSignature) -> impl FnOnce(&mut Lies) {
    move |lies| lies.signature = signature
}

tenants!(token_of_another_issuer_is_rejected, |app| {
    let school = linked(app).await;
    refused(
        app,
        &school,
        "wrong_issuer",
        claim("iss", json!("https://evil.example")),
    )
    .await;
    refused(app, &school, "wrong_issuer", claim("iss", Value::Null)).await;
});

tenants!(token_for_another_audience_is_rejected, |app| {
    let school = linked(app).await;
    refused(app, &school, "wrong_audience", claim("aud", json!("another-client"))).await;
    refused(
        app,
        &school,
        "wrong_audience",
        claim("aud", json!(["another-client", "third"])),
    )
    .await;
});

tenants!(token_issued_to_another_party_is_rejected, |app| {
    let school = linked(app).await;
    refused(app, &school, "wrong_audience", claim("azp", json!("another-client"))).await;
    refused(
        app,
        &school,
        "wrong_audience",
        claim("aud", json!([CLIENT_ID, "another-client"])),
    )
    .await;
});

tenants!(token_with_wrong_nonce_is_rejected, |app| {
    let school = linked(app).await;
    refused(app, &school, "wrong_nonce", claim("nonce", json!("of-another-sign-in"))).await;
    refused(app, &school, "wrong_nonce", claim("nonce", Value::Null)).await;
});

tenants!(expired_or_future_token_is_rejected, |app| {
    let school = linked(app).await;
    let in_seconds = |seconds: i64| json!(common::clock::now().as_millis() / 1000 + seconds);
    refused(app, &school, "wrong_time", claim("exp", in_seconds(-61))).await;
    refused(app, &school, "wrong_time", claim("exp", Value::Null)).await;
    refused(app, &school, "wrong_time", claim("iat", Value::Null)).await;
    refused(app, &school, "wrong_time", claim("iat", in_seconds(120))).await;
    refused(app, &school, "wrong_time", claim("nbf", in_seconds(120))).await;
    // One minute of clock skew is allowed.
    let browser = Browser::new(app);
    school.provider.lie(claim("exp", in_seconds(-30)));
    school.sign_in(&browser, &person(SUBJECT)).await.is_signed_in();
});

tenants!(token_without_subject_is_rejected, |app| {
    let school = linked(app).await;
    refused(app, &school, "no_subject", claim("sub", Value::Null)).await;
    refused(app, &school, "no_subject", claim("sub", json!(5))).await;
});

tenants!(unsigned_token_is_rejected, |app| {
    let school = linked(app).await;
    refused(app, &school, "algorithm_not_allowed", signed(TokenSignature::Unsigned)).await;
});

tenants!(public_key_is_no_shared_secret, |app| {
    let school = linked(app).await;
    school.provider.publish_rsa_key();
    refused(
        app,
        &school,
        "algorithm_not_allowed",
        signed(TokenSignature::PublicKeyAsSecret),
    )
    .await;
});

tenants!(client_secret_signs_no_token, |app| {
    let school = linked(app).await;
    refused(
        app,
        &school,
        "algorithm_not_allowed",
        signed(TokenSignature::ClientSecret),
    )
    .await;
});

tenants!(token_signed_by_unpublished_key_is_rejected, |app| {
    let school = linked(app).await;
    refused(app, &school, "invalid_signature", signed(TokenSignature::ForeignKey)).await;
});

tenants!(algorithm_must_fit_key, |app| {
    let school = linked(app).await;
    school.provider.publish_rsa_key();
    refused(
        app,
        &school,
        "invalid_signature",
        signed(TokenSignature::WrongAlgorithm),
    )
    .await;
});

tenants!(configuration_of_another_issuer_is_rejected, |app| {
    let school = linked(app).await;
    let evil = json!("https://evil.example");
    school
        .provider
        .lie(|lies| drop(lies.configuration.insert("issuer".to_owned(), evil)));
    let body = json!({"providerId": school.id, "callbackURL": "/"});
    let browser = Browser::new(app);
    let refusal = browser
        .post("/auth/sign-in/sso", body)
        .await
        .refused(409, "SIGN_ON_FAILED");
    assert_eq!(refusal["details"][0]["code"], "issuer_mismatch", "{refusal}");
});

tenants!(endpoint_without_tls_is_rejected, |app| {
    let school = linked(app).await;
    for endpoint in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
        let url = json!("http://id.school.example/x");
        school
            .provider
            .lie(|lies| drop(lies.configuration.insert(endpoint.to_owned(), url)));
        let path = format!("/admin/sign-on/{}/test", school.id);
        let refusal = app
            .as_(&app.world.adam)
            .post(&path, json!({}))
            .await
            .refused(409, "SIGN_ON_FAILED");
        assert_eq!(
            refusal["details"][0]["code"], "address_not_allowed",
            "{endpoint}: {refusal}"
        );
    }
});

tenants!(response_of_another_issuer_is_rejected, |app| {
    // Mix-up (RFC 9207): the browser is sent to the honest provider, and the response names another one.
    let school = linked(app).await;
    let browser = Browser::new(app);
    let authorized = school.authorized(&browser, &person(SUBJECT)).await;
    let page = follow(&browser, &authorized.with("iss", "https://evil.example")).await;
    page.is_refused("invalid_provider", "wrong_issuer");
    assert_signed_out(&browser).await;
});

tenants!(announced_issuer_is_required_in_response, |app| {
    let school = linked(app).await;
    let issuer = school.provider.issuer.clone();
    school.provider.lie(|lies| {
        let key = "authorization_response_iss_parameter_supported".to_owned();
        lies.configuration.insert(key, json!(true));
        lies.response_issuer = Some(issuer);
    });
    let browser = Browser::new(app);
    let authorized = school.authorized(&browser, &person(SUBJECT)).await;
    let page = follow(&browser, &authorized.without("iss")).await;
    page.is_refused("invalid_provider", "wrong_issuer");
    school.sign_in(&browser, &person(SUBJECT)).await.is_signed_in();
});

tenants!(response_at_the_address_of_another_provider_is_rejected, |app| {
    // Mix-up without `iss`: each provider has an address of its own.
    let (school, evil) = (linked(app).await, SchoolSignOn::start(app, json!({})).await);
    let browser = Browser::new(app);
    let mut authorized = school.authorized(&browser, &person(SUBJECT)).await;
    authorized.redirect_uri = authorized.redirect_uri.replace(&school.id, &evil.id);
    follow(&browser, &authorized).await.is_refused("invalid_state", "");
    assert_signed_out(&browser).await;
    assert_eq!(
        evil.provider.count("/token"),
        0,
        "the code was sent to the other provider"
    );
});

tenants!(response_with_unknown_state_is_rejected, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    let authorized = school.authorized(&browser, &person(SUBJECT)).await;
    let page = follow(&browser, &authorized.clone().with("state", "unknown")).await;
    page.is_refused("invalid_state", "");
    follow(&browser, &authorized.without("state"))
        .await
        .is_refused("invalid_state", "");
    assert_signed_out(&browser).await;
    assert_eq!(school.provider.count("/token"), 0);
});

tenants!(response_in_another_browser_is_rejected, |app| {
    // Login CSRF: the attacker starts a sign-in and the victim's browser finishes it, by address or by form.
    let school = linked(app).await;
    let (attacker, victim) = (Browser::new(app), Browser::new(app));
    let authorized = school.authorized(&attacker, &person(SUBJECT)).await;
    follow(&victim, &authorized).await.is_refused("invalid_state", "");
    let answer = post_form(&victim, &authorized, &school.provider.issuer).await;
    ReturnedPage::of(&answer).is_refused("invalid_state", "");
    // Not even if the victim has started a sign-in, too.
    school.begin(&victim).await;
    follow(&victim, &authorized).await.is_refused("invalid_state", "");
    assert_signed_out(&victim).await;
    // The attempt of the other browser is not used up.
    follow(&attacker, &authorized).await.is_signed_in();
});

tenants!(state_is_used_once, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    school.provider.lie(|lies| lies.accepts_any_code = true);
    let authorized = school.authorized(&browser, &person(SUBJECT)).await;
    follow(&browser, &authorized).await.is_signed_in();
    browser.post("/auth/sign-out", json!({})).await.expect(200);
    follow(&browser, &authorized).await.is_refused("invalid_state", "");
    assert_signed_out(&browser).await;
});

tenants!(state_is_used_up_by_a_failure, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    let authorized = school.authorized(&browser, &person(SUBJECT)).await;
    let page = follow(&browser, &authorized.clone().with("code", "guessed")).await;
    page.is_refused("invalid_provider", "code_rejected");
    follow(&browser, &authorized).await.is_refused("invalid_state", "");
});

tenants!(stolen_code_needs_verifier_and_nonce, |app| {
    // The attacker injects the victim's code into a sign-in of their own.
    let school = linked(app).await;
    let (victim, attacker) = (Browser::new(app), Browser::new(app));
    let stolen = school.authorized(&victim, &person(SUBJECT)).await;
    let code = stolen.parameters[0].1.clone();
    let own = school
        .authorized(&attacker, &person("attacker"))
        .await
        .with("code", &code);
    // The provider checks the code challenge.
    follow(&attacker, &own)
        .await
        .is_refused("invalid_provider", "code_rejected");
    // With a provider that does not, the nonce still differs.
    let stolen = school.authorized(&victim, &person(SUBJECT)).await;
    let code = stolen.parameters[0].1.clone();
    school.provider.lie(|lies| lies.accepts_any_code = true);
    let own = school
        .authorized(&attacker, &person("attacker"))
        .await
        .with("code", &code);
    follow(&attacker, &own)
        .await
        .is_refused("invalid_provider", "wrong_nonce");
    assert_signed_out(&attacker).await;
});

tenants!(unsolicited_response_is_rejected, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    let path = format!("/auth/sso/callback/{}?code=x&state=y", school.id);
    ReturnedPage::of(&browser.get(&path).await).is_refused("invalid_state", "");
    let path = format!("/auth/sso/callback/{}?code=x", school.id);
    ReturnedPage::of(&browser.get(&path).await).is_refused("invalid_state", "");
    assert_eq!(school.provider.count("/token"), 0);
});

tenants!(repeated_parameter_is_rejected, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    let authorized = school.authorized(&browser, &person(SUBJECT)).await;
    let twice = format!("{}&state=other", authorized.path());
    ReturnedPage::of(&browser.get(&twice).await).is_refused("invalid_state", "");
    assert_signed_out(&browser).await;
});

tenants!(foreign_pages_are_no_callbacks, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    for (key, code) in [
        ("callbackURL", "INVALID_CALLBACK_URL"),
        ("errorCallbackURL", "INVALID_ERROR_CALLBACK_URL"),
        ("newUserCallbackURL", "INVALID_NEW_USER_CALLBACK_URL"),
    ] {
        for page in [
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "javascript:alert(1)",
            "http://school.test@evil.example/",
            "http://school.test.evil.example/",
        ] {
            let mut body = json!({"providerId": school.id, "callbackURL": "/"});
            body[key] = json!(page);
            browser.post("/auth/sign-in/sso", body).await.refused(403, code);
        }
    }
    // The address of the response names no page either.
    let url = begin(&browser, json!({"providerId": school.id, "callbackURL": "/today"})).await;
    let authorized = school.provider.authorize(&url, &person(SUBJECT));
    let path = format!("{}&callbackURL=https%3A%2F%2Fevil.example", authorized.path());
    ReturnedPage::of(&browser.get(&path).await).is_signed_in();
});

tenants!(sign_in_from_foreign_page_is_not_started, |app| {
    let school = linked(app).await;
    let body = json!({"providerId": school.id, "callbackURL": "/"});
    let foreign = app.stranger().with("origin", "https://evil.example");
    foreign
        .post("/auth/sign-in/sso", body.clone())
        .await
        .refused(403, "INVALID_ORIGIN");
    let form = app
        .stranger()
        .with("sec-fetch-site", "cross-site")
        .with("sec-fetch-mode", "navigate");
    form.post("/auth/sign-in/sso", body)
        .await
        .refused(403, "CROSS_SITE_NAVIGATION_LOGIN_BLOCKED");
});

tenants!(host_header_does_not_change_redirect_address, |app| {
    let school = linked(app).await;
    let body = json!({"providerId": school.id, "callbackURL": "/"});
    let client = app
        .stranger()
        .with("host", "evil.example")
        .with("x-forwarded-host", "evil.example");
    let started = client.post("/auth/sign-in/sso", body).await.expect(200);
    let authorized = school
        .provider
        .authorize(started["url"].as_str().unwrap(), &person(SUBJECT));
    let expected = format!("{FRONTEND}/api/auth/sso/callback/{}", school.id);
    assert_eq!(authorized.redirect_uri, expected);
});

tenants!(error_of_provider_is_shown_by_a_known_code_only, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    for (sent, shown) in [
        ("access_denied", "access_denied"),
        ("<script>alert(1)</script>", "invalid_provider"),
        ("x&callbackURL=https://evil.example", "invalid_provider"),
    ] {
        let authorized = school.authorized(&browser, &person(SUBJECT)).await;
        let page = follow(&browser, &authorized.with("error", sent)).await;
        page.is_refused(shown, "");
    }
    assert_eq!(school.provider.count("/token"), 0);
});

tenants!(user_data_of_another_subject_is_rejected, |app| {
    let school = linked(app).await;
    refused(app, &school, "subject_mismatch", |lies| {
        lies.user_info = Some(json!({"sub": "somebody-else", "email": "ben@school.example", "email_verified": true}));
    })
    .await;
});

/// Signs in with these claims of the token and this response of the user endpoint, at a provider that links by address.
async fn with_user_data(
    app: &TestApp,
    school: &SchoolSignOn,
    token: &Value,
    user_data: Value,
) -> (Browser, ReturnedPage) {
    let browser = Browser::new(app);
    school.provider.lie(|lies| lies.user_info = Some(user_data));
    let page = school.sign_in(&browser, token).await;
    (browser, page)
}

tenants!(user_data_does_not_replace_claims_of_the_token, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (domain, email) = with_address(app, &app.world.ben).await;
    let ben = json!({"sub": "x", "iss": "x", "nonce": "x", "email": email, "email_verified": true});
    for token in [
        json!({"sub": "x", "email": email, "email_verified": false}),
        json!({"sub": "x", "email": format!("other@{domain}"), "email_verified": true}),
    ] {
        let (browser, page) = with_user_data(app, &school, &token, ben.clone()).await;
        page.is_refused("account_not_linked", "");
        assert_signed_out(&browser).await;
    }
    // Claims that the token lacks are added.
    let (browser, page) = with_user_data(app, &school, &json!({"sub": "x"}), ben).await;
    page.is_signed_in();
    assert_signed_in(app, &browser, &app.world.ben).await;
});

tenants!(user_data_verify_their_own_address_only, |app| {
    let school = SchoolSignOn::start(app, json!({"linking": "VERIFIED_DOMAIN"})).await;
    let (domain, email) = with_address(app, &app.world.ben).await;
    let other = format!("other@{domain}");
    for (token, user_data) in [
        (
            json!({"sub": "x", "email": email}),
            json!({"sub": "x", "email": other, "email_verified": true}),
        ),
        (
            json!({"sub": "x", "email_verified": true}),
            json!({"sub": "x", "email": email}),
        ),
        (
            json!({"sub": "x", "email_verified": true}),
            json!({"sub": "x", "email": email, "email_verified": false}),
        ),
    ] {
        let (browser, page) = with_user_data(app, &school, &token, user_data).await;
        page.is_refused("account_not_linked", "");
        assert_signed_out(&browser).await;
    }
    let token = json!({"sub": "x", "email": email});
    let user_data = json!({"sub": "x", "email": email, "email_verified": true});
    with_user_data(app, &school, &token, user_data).await.1.is_signed_in();
});

tenants!(every_allowed_algorithm_is_verified, |app| {
    let school = linked(app).await;
    school.provider.publish_rsa_key();
    for signature in [
        TokenSignature::Es256,
        TokenSignature::EdDsa,
        TokenSignature::Rs256,
        TokenSignature::Ps256,
    ] {
        let browser = Browser::new(app);
        school.provider.lie(signed(signature));
        let page = school.sign_in(&browser, &person(SUBJECT)).await;
        assert_eq!(page.error, None, "{signature:?}: {page:?}");
    }
});

tenants!(client_authenticates_in_the_form_if_the_provider_wants_that, |app| {
    let school = linked(app).await;
    school.provider.lie(|lies| {
        let methods = json!(["client_secret_post"]);
        lies.configuration
            .insert("token_endpoint_auth_methods_supported".to_owned(), methods);
    });
    let browser = Browser::new(app);
    school.sign_in(&browser, &person(SUBJECT)).await.is_signed_in();
});

tenants!(cookie_of_two_attempts_serves_both, |app| {
    let school = linked(app).await;
    let browser = Browser::new(app);
    let (first, second) = (
        school.authorized(&browser, &person(SUBJECT)).await,
        school.authorized(&browser, &person(SUBJECT)).await,
    );
    follow(&browser, &first).await.is_signed_in();
    follow(&browser, &second).await.is_signed_in();
});

tenants!(unavailable_provider_is_reported, |app| {
    let provider = FakeOpenIdProvider::start().await;
    let issuer = json!({"issuer": "http://127.0.0.1:1"});
    let id = crate::sign_on::add(app, &app.world.adam, &provider, issuer).await;
    let body = json!({"providerId": id, "callbackURL": "/"});
    let refusal = app
        .stranger()
        .post("/auth/sign-in/sso", body)
        .await
        .refused(409, "SIGN_ON_FAILED");
    assert_eq!(refusal["details"][0]["code"], "unreachable", "{refusal}");
});
