//! Keys of a provider: they are read once for many sign-ins, and again for tokens that they do not verify.

use serde_json::json;

use super::{SchoolSignOn, follow, logout, person};
use test_support::fake_openid_provider::{Authorized, TokenSignature};
use test_support::{Browser, TestApp};

/// Users of the class that signs in.
const CLASS: usize = 30;

tenants!(key_rotation_while_a_class_signs_in_costs_no_sign_in, |app| {
    let school = linked(app).await;
    assert_eq!(school.provider.count("/keys"), 1);
    let attempts = waiting(app, &school).await;
    school.provider.rotate_keys();
    finish(attempts).await;
    assert_eq!(school.provider.count("/keys"), 2, "concurrent requests are joined");
    assert_eq!(school.provider.count("/.well-known/openid-configuration"), 1);
});

tenants!(further_rotations_within_a_minute_cost_no_sign_in, |app| {
    let school = linked(app).await;
    for rotation in 1..=3 {
        let attempts = waiting(app, &school).await;
        school.provider.rotate_keys();
        finish(attempts).await;
        assert_eq!(school.provider.count("/keys"), 1 + rotation);
    }
});

tenants!(token_that_was_signed_just_before_the_rotation_is_accepted, |app| {
    // Another user has caused the new keys to be read, which the former ones are not part of.
    let school = linked(app).await;
    school.provider.rotate_keys();
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ben")).await.is_signed_in();
    school.provider.lie(|lies| lies.signature = TokenSignature::FormerKey);
    school.sign_in(&browser, &person("ben")).await.is_signed_in();
    assert_eq!(school.provider.count("/keys"), 2);
});

tenants!(rotation_of_keys_without_an_id_costs_no_sign_in, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    school.provider.lie(|lies| lies.omits_key_ids = true);
    school.sign_in(&Browser::new(app), &person("ben")).await.is_signed_in();
    let attempts = waiting(app, &school).await;
    school.provider.rotate_keys();
    finish(attempts).await;
    assert_eq!(school.provider.count("/keys"), 2);
});

tenants!(tokens_of_unknown_keys_do_not_read_the_keys_again_and_again, |app| {
    let school = linked(app).await;
    school.provider.lie(|lies| lies.signature = TokenSignature::ForeignKey);
    for _ in 0..8 {
        let browser = Browser::new(app);
        let page = school.sign_in(&browser, &person("ben")).await;
        page.is_refused("invalid_provider", "invalid_signature");
    }
    assert_eq!(school.provider.count("/keys"), 1 + 5);
});

tenants!(forged_logout_tokens_do_not_use_up_the_requests_of_sign_ins, |app| {
    let school = linked(app).await;
    school.provider.lie(|lies| lies.signature = TokenSignature::ForeignKey);
    for _ in 0..8 {
        let token = school.provider.logout_token(&json!({"sub": "ben"}));
        logout::logout(app, &school, &token)
            .await
            .refused(400, "INVALID_LOGOUT_TOKEN");
    }
    assert_eq!(school.provider.count("/keys"), 1 + 5);
    school.provider.lie(|_| {});
    school.provider.rotate_keys();
    school.sign_in(&Browser::new(app), &person("ben")).await.is_signed_in();
});

async fn linked(app: &TestApp) -> SchoolSignOn {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    school.sign_in(&Browser::new(app), &person("ben")).await.is_signed_in();
    school
}

/// Starts a sign-in for each of a class, up to the response of the provider.
async fn waiting(app: &TestApp, school: &SchoolSignOn) -> Vec<(Browser, Authorized)> {
    let mut attempts = Vec::new();
    for _ in 0..CLASS {
        let browser = Browser::new(app);
        let authorized = school.authorized(&browser, &person("ben")).await;
        attempts.push((browser, authorized));
    }
    attempts
}

/// Finishes these sign-ins at the same time; each must succeed.
async fn finish(attempts: Vec<(Browser, Authorized)>) {
    let mut tasks = Vec::new();
    for (browser, authorized) in attempts {
        tasks.push(tokio::spawn(async move { follow(&browser, &authorized).await }));
    }
    for task in tasks {
        task.await.unwrap().is_signed_in();
    }
}
