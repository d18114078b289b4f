//! The providers of a school as its administrators see them.

use serde_json::{Value, json};

use super::{SchoolSignOn, assert_signed_out, person};
use test_support::fake_openid_provider::{CLIENT_SECRET, FakeOpenIdProvider};
use test_support::rows::texts;
use test_support::{Browser, TestApp};

tenants!(client_secret_is_stored_encrypted_and_never_returned, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let adam = app.as_(&app.world.adam);
    let path = format!("/admin/sign-on/{}", school.id);
    let listed = adam.get("/admin/sign-on").await.expect(200).to_string();
    let edited = adam
        .patch(&path, json!({"name": "Other", "clientSecret": "another secret"}))
        .await;
    let edited = edited.expect(200).to_string();
    let log = adam.get("/activity-logs?limit=50").await.expect(200).to_string();
    let stored = texts(&app.database, "SELECT client_secret FROM sign_on_providers".to_owned()).await;
    for text in [listed, edited, log.clone(), format!("{stored:?}")] {
        assert!(
            !text.contains(CLIENT_SECRET) && !text.contains("another secret"),
            "{text}"
        );
    }
    assert!(log.contains("\"isSecretReplaced\":true"), "{log}");
    // The provider still has the former secret.
    school.link(app, "ben", &app.world.ben).await;
    let browser = Browser::new(app);
    school
        .sign_in(&browser, &person("ben"))
        .await
        .is_refused("invalid_provider", "code_rejected");
    adam.patch(&path, json!({"clientSecret": CLIENT_SECRET}))
        .await
        .expect(200);
    school.sign_in(&browser, &person("ben")).await.is_signed_in();
});

tenants!(disabled_or_removed_provider_ends_its_sessions, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    let (browser, waiting) = (Browser::new(app), Browser::new(app));
    school.sign_in(&browser, &person("ben")).await.is_signed_in();
    let authorized = school.authorized(&waiting, &person("ben")).await;
    let adam = app.as_(&app.world.adam);
    let path = format!("/admin/sign-on/{}", school.id);
    adam.patch(&path, json!({"isEnabled": false})).await.expect(200);
    browser.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    crate::sign_on::follow(&waiting, &authorized)
        .await
        .is_refused("invalid_provider", "provider_not_found");
    let body = json!({"providerId": school.id, "callbackURL": "/"});
    browser.post("/auth/sign-in/sso", body).await.expect(404);
    adam.patch(&path, json!({"isEnabled": true})).await.expect(200);
    school.sign_in(&browser, &person("ben")).await.is_signed_in();
    adam.delete(&path).await.expect(200);
    assert_signed_out(&browser).await;
    app.as_(&app.world.ben).get("/users/me").await.expect(200);
    assert_eq!(adam.get("/admin/sign-on").await.expect(200), json!([]));
});

tenants!(invalid_providers_are_rejected, |app| {
    let adam = app.as_(&app.world.adam);
    let provider = FakeOpenIdProvider::start().await;
    for (field, value) in [
        ("issuer", json!("http://id.school.example")),
        ("issuer", json!("ftp://id.school.example")),
        ("issuer", json!("https://user:secret@id.school.example")),
        ("issuer", json!("https://id.school.example?x=1")),
        ("issuer", json!("id.school.example")),
        ("domains", json!(["gmail.com"])),
        ("domains", json!(["x", "y"])),
        ("clientId", json!("")),
        ("clientSecret", json!("")),
        ("preset", json!("FACEBOOK")),
        ("linking", json!("EMAIL")),
        ("accountCreation", json!("ADMINS")),
    ] {
        let body = provider.settings(&json!({field: value}));
        adam.post("/admin/sign-on", body).await.invalid(field);
    }
    let body = provider.settings(&json!({"linking": "EXTERNAL_ID"}));
    adam.post("/admin/sign-on", body).await.invalid("externalIdClaim");
    let body = provider.settings(&json!({"accountCreation": "BY_CLAIM"}));
    adam.post("/admin/sign-on", body).await.invalid("roleClaim");
    assert_eq!(adam.get("/admin/sign-on").await.expect(200), json!([]));
});

tenants!(issuer_of_a_provider_is_fixed, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let adam = app.as_(&app.world.adam);
    let path = format!("/admin/sign-on/{}", school.id);
    let edited = adam.patch(&path, json!({"issuer": "https://evil.example"})).await;
    // The field is read-only, as in every PATCH.
    let edited = edited.expect(200);
    assert_eq!(edited["issuer"], json!(school.provider.issuer));
});

tenants!(test_reads_configuration_and_keys, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let path = format!("/admin/sign-on/{}/test", school.id);
    let adam = app.as_(&app.world.adam);
    let tested = adam.post(&path, json!({})).await.expect(200);
    assert_eq!(
        (&tested["supportsLogout"], &tested["announcesIssuer"]),
        (&json!(true), &json!(false))
    );
    school
        .provider
        .lie(|lies| drop(lies.configuration.insert("jwks_uri".to_owned(), Value::Null)));
    let refusal = adam.post(&path, json!({})).await.refused(409, "SIGN_ON_FAILED");
    assert_eq!(refusal["details"][0]["code"], "unsupported", "{refusal}");
});

tenants!(provider_that_closes_unused_connections_costs_no_sign_in, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    school.provider.lie(|lies| lies.closes_used_connections = true);
    for _ in 0..3 {
        let browser = Browser::new(app);
        school.sign_in(&browser, &person("ben")).await.is_signed_in();
    }
    let path = format!("/admin/sign-on/{}/test", school.id);
    let adam = app.as_(&app.world.adam);
    adam.post(&path, json!({})).await.expect(200);
});

tenants!(administrator_of_another_school_gets_nothing, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    let zara = app.as_(&app.world.zara);
    let path = format!("/admin/sign-on/{}", school.id);
    assert_eq!(zara.get("/admin/sign-on").await.expect(200), json!([]));
    zara.patch(&path, json!({"name": "Mine"}))
        .await
        .refused(404, "NOT_FOUND");
    zara.delete(&path).await.refused(404, "NOT_FOUND");
    zara.post(&format!("{path}/test"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    zara.get(&format!("{path}/identities")).await.refused(404, "NOT_FOUND");
    for user in [&app.world.ada, &app.world.ben] {
        app.as_(user).get("/admin/sign-on").await.refused(403, "FORBIDDEN_ROLE");
    }
});

async fn waits(app: &TestApp, provider: &str) -> usize {
    let select = format!("SELECT state_digest FROM sign_on_attempts WHERE provider_id = '{provider}'");
    texts(&app.database, select).await.len()
}

tenants!(waiting_sign_ins_expire, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    let browser = Browser::new(app);
    let authorized = school.authorized(&browser, &person("ben")).await;
    assert_eq!(waits(app, &school.id).await, 1);
    let expire = format!(
        "UPDATE sign_on_attempts SET expires_at = 1 WHERE provider_id = '{}'",
        school.id
    );
    test_support::rows::execute(&app.database, expire).await;
    crate::sign_on::follow(&browser, &authorized)
        .await
        .is_refused("invalid_state", "");
    school.authorized(&browser, &person("ben")).await;
    assert_eq!(waits(app, &school.id).await, 1);
});
