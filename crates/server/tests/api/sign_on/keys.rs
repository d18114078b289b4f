//! Keys of a provider: they are read once for many sign-ins, and again for an unknown one.

use serde_json::json;

use super::{SchoolSignOn, follow, person};
use test_support::fake_openid_provider::TokenSignature;
use test_support::{Browser, TestApp};

/// Users of the class that signs in.
const CLASS: usize = 30;

tenants!(key_rotation_while_a_class_signs_in_costs_no_sign_in, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    let warm = Browser::new(app);
    school.sign_in(&warm, &person("ben")).await.is_signed_in();
    assert_eq!(school.provider.count("/keys"), 1);
    let attempts = waiting(app, &school).await;
    school.provider.rotate_keys();
    let mut tasks = Vec::new();
    for (browser, authorized) in attempts {
        tasks.push(tokio::spawn(async move { follow(&browser, &authorized).await }));
    }
    for task in tasks {
        task.await.unwrap().is_signed_in();
    }
    assert_eq!(school.provider.count("/keys"), 2, "concurrent requests are joined");
    assert_eq!(school.provider.count("/.well-known/openid-configuration"), 1);
});

tenants!(forged_tokens_do_not_read_the_keys_again_and_again, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben", &app.world.ben).await;
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ben")).await.is_signed_in();
    // An RSA token of which no key is published.
    for _ in 0..5 {
        school.provider.lie(|lies| lies.signature = TokenSignature::Rs256);
        let authorized = school.authorized(&browser, &person("ben")).await;
        // Unknown to the service, which has read the keys before the first RSA key existed.
        drop(follow(&browser, &authorized).await);
        school.provider.rotate_keys();
    }
    assert!(
        school.provider.count("/keys") <= 2,
        "{}",
        school.provider.count("/keys")
    );
});

async fn waiting(
    app: &TestApp,
    school: &SchoolSignOn,
) -> Vec<(Browser, test_support::fake_openid_provider::Authorized)> {
    let mut attempts = Vec::new();
    for _ in 0..CLASS {
        let browser = Browser::new(app);
        let authorized = school.authorized(&browser, &person("ben")).await;
        attempts.push((browser, authorized));
    }
    attempts
}
