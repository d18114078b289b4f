//! Second factors that the platform or a school requires, and their removal by administrators.

use api::router;
use db::args;
use domain::access::Access;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, PASSWORD, SET_HOME, SET_PLATFORM_ROLE, one, run, signed_in};
use super::{FACTOR_ENTRIES, FORGET_STEP};
use test_support::emails::outbox;
use test_support::rows::execute;
use test_support::samples::path_with_unknown_ids;
use test_support::second_factor::{FactorUser, enter, set_up, set_up_in};
use test_support::{Answer, Client, DatabaseKind, TestApp, TestUser};

/// Routes that are served to a user who has to set up a second factor, besides `/auth/two-factor/`.
const SERVED: [&str; 22] = [
    "/auth/get-session",
    "/auth/ok",
    "/auth/organization/list",
    "/auth/organization/set-active",
    "/auth/passkey/generate-authenticate-options",
    "/auth/passkey/generate-register-options",
    "/auth/passkey/list-user-passkeys",
    "/auth/passkey/verify-authentication",
    "/auth/passkey/verify-registration",
    "/auth/request-password-reset",
    "/auth/reset-password",
    "/auth/reset-password/{token}",
    "/auth/sign-in/email",
    "/auth/sign-in/slip",
    "/auth/sign-in/sso",
    "/auth/sign-in/username",
    "/auth/sign-out",
    "/auth/sign-up/email",
    "/auth/sso/backchannel-logout/{providerId}",
    "/auth/sso/callback/{providerId}",
    "/auth/verify-email",
    "/auth/verify-password",
];

async fn with_flags(flags: &[&str], story: impl AsyncFn(&TestApp)) {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        if let Some(app) = TestApp::start_with(kind, flags).await {
            story(&app).await;
            app.close().await;
        }
    }
}

fn assert_required(answer: Answer) {
    answer.refused(403, "SECOND_FACTOR_REQUIRED");
}

/// Calls every route and expects that only those of the setup are served.
async fn assert_only_setup_is_served(client: &Client) {
    let (_, rows) = router::description();
    for row in rows {
        let needs_session = match row.access {
            Access::DocumentServer => false,
            Access::Anyone => row.path.starts_with("/auth/"),
            _ => true,
        };
        let is_served = row.path.starts_with("/auth/two-factor/") || SERVED.contains(&row.path.as_str());
        if !needs_session || is_served {
            continue;
        }
        let body = (row.method != "GET").then(|| json!({}));
        let method: Method = row.method.parse().unwrap();
        let answer = client.send(method, &path_with_unknown_ids(&row.path), body).await;
        let body: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
        assert_eq!(
            (answer.status, body["code"].as_str()),
            (403, Some("SECOND_FACTOR_REQUIRED")),
            "{} {}",
            row.method,
            row.path
        );
    }
    let polling = "/socket.io/?EIO=4&transport=polling";
    assert_required(client.get(polling).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn super_admin_without_second_factor_can_only_set_one_up() {
    let flags = ["--second-factor-for-platform-administrators=required"];
    with_flags(&flags, async |app: &TestApp| {
        let root = &app.world.root;
        let browser = signed_in(app, root).await;
        assert_only_setup_is_served(&browser.client()).await;
        let session = browser.get("/auth/get-session").await.expect(200);
        assert_eq!(session["user"]["twoFactorEnabled"], false);
        browser.get("/auth/organization/list").await.expect(200);
        // Others are not affected.
        app.as_(&app.world.adam).get("/users").await.expect(200);
        let user = set_up_in(app, browser, &root.email).await;
        user.browser.get("/tenants").await.expect(200);
        // Without it the next request is rejected again.
        let password = json!({"password": PASSWORD});
        user.browser
            .post("/auth/two-factor/disable", password)
            .await
            .expect(200);
        assert_required(user.browser.get("/tenants").await);
        user.browser.post("/auth/sign-out", json!({})).await.expect(200);
    })
    .await;
}

both!(school_requires_second_factor_of_its_staff_or_administrators, |app| {
    let world = &app.world;
    let require = async |client: &Client, members: Value| {
        let body = json!({"metadata": {"requireSecondFactor": members}});
        client.patch("/admin/settings", body).await
    };
    let adam = app.as_(&world.adam);
    require(&adam, json!("everybody"))
        .await
        .refused(400, "VALIDATION_ERROR");
    let saved = require(&adam, json!("admins")).await.expect(200);
    assert_eq!(saved["metadata"]["requireSecondFactor"], "admins");
    assert_required(adam.get("/users").await);
    assert_required(require(&adam, Value::Null).await);
    assert_required(app.as_(&world.olga).get("/users").await);
    app.as_(&world.ada).get("/users/me").await.expect(200);
    app.as_(&world.ben).get("/users/me").await.expect(200);
    app.as_(&world.zara).get("/users").await.expect(200);

    let user = set_up(app, &world.adam).await;
    user.browser
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    require(&user.browser.client(), json!("staff")).await.expect(200);
    let ada = app.as_(&world.ada);
    assert_only_setup_is_served(&ada).await;
    app.as_(&world.ben).get("/users/me").await.expect(200);
    app.as_(&world.zoe).get("/users/me").await.expect(200);
    let teacher = signed_in(app, &world.ada).await;
    teacher.get("/users/me").await.expect(200);
    teacher
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    assert_required(teacher.get("/users/me").await);
    let teacher = set_up_in(app, teacher, &world.ada.email).await;
    teacher.browser.get("/users/me").await.expect(200);
    require(&user.browser.client(), Value::Null).await.expect(200);
    app.as_(&world.olga).get("/users").await.expect(200);
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn platform_requires_second_factor_of_all_staff_and_impersonation_is_exempt() {
    let flags = [
        "--require-second-factor=staff",
        "--second-factor-for-platform-administrators=required",
    ];
    with_flags(&flags, async |app: &TestApp| {
        let world = &app.world;
        for person in [&world.olga, &world.adam, &world.ada, &world.zoe] {
            assert_required(app.as_(person).get("/users/me").await);
        }
        app.as_(&world.ben).get("/users/me").await.expect(200);
        let root = set_up(app, &world.root).await;
        let act = json!({"userId": world.ada.id});
        root.browser.post("/auth/admin/impersonate-user", act).await.expect(200);
        root.browser
            .set_active(json!({"organizationId": world.north}))
            .await
            .expect(200);
        root.browser.get("/users/me").await.expect(200);
    })
    .await;
}

/// Asks for the removal of a second factor.
async fn reset(app: &TestApp, by: &TestUser, of: &TestUser) -> Answer {
    let path = format!("/users/{}/reset-second-factor", of.id);
    app.as_(by).post(&path, json!({})).await
}

/// Expects that the second factor of a user is still required.
async fn assert_kept(app: &TestApp, user: &FactorUser) {
    user.browser.get("/auth/get-session").await.expect(200)["user"]["twoFactorEnabled"]
        .as_bool()
        .filter(|is_on| *is_on)
        .unwrap();
    user.waiting(app).await;
}

both!(
    second_factor_is_removed_by_administrators_of_the_home_organization_only,
    |app| {
        let world = &app.world;
        execute(&app.database, "UPDATE users SET email_verified = TRUE".to_owned()).await;
        let ada = set_up(app, &world.ada).await;
        reset(app, &world.zara, &world.ada).await.refused(404, "NOT_FOUND");
        for caller in [&world.tom, &world.ben] {
            reset(app, caller, &world.ada).await.refused(403, "FORBIDDEN_ROLE");
        }
        run(app, &SET_HOME, args![world.ada.id, world.south]);
        reset(app, &world.adam, &world.ada).await.refused(403, "SHARED_ACCOUNT");
        run(app, &SET_HOME, args![world.ada.id, world.north]);
        run(app, &SET_PLATFORM_ROLE, args![world.ada.id, "SUPER_ADMIN"]);
        reset(app, &world.adam, &world.ada).await.refused(403, "FORBIDDEN_RANK");
        reset(app, &world.root, &world.ada).await.refused(403, "FORBIDDEN_RANK");
        run(app, &SET_PLATFORM_ROLE, args![world.ada.id, "TEACHER"]);
        assert_kept(app, &ada).await;

        // Administrators are below owners only, and users cannot remove their own with a session alone.
        let adam = set_up(app, &world.adam).await;
        let olga = set_up(app, &world.olga).await;
        let own = format!("/users/{}/reset-second-factor", world.olga.id);
        olga.browser
            .set_active(json!({"organizationId": world.north}))
            .await
            .expect(200);
        olga.browser.post(&own, json!({})).await.refused(403, "FORBIDDEN_RANK");
        adam.browser
            .set_active(json!({"organizationId": world.north}))
            .await
            .expect(200);
        for person in [&world.olga, &world.adam] {
            let path = format!("/users/{}/reset-second-factor", person.id);
            adam.browser.post(&path, json!({})).await.refused(403, "FORBIDDEN_RANK");
        }
        assert_kept(app, &adam).await;

        let trusted = ada.waiting(app).await;
        let body = json!({"code": ada.code(), "trustDevice": true});
        trusted.post("/auth/two-factor/verify-totp", body).await.expect(200);
        let waiting = ada.waiting(app).await;
        let path = format!("/users/{}/reset-second-factor", world.ada.id);
        adam.browser.post(&path, json!({})).await.expect(200);
        trusted.get("/users/me").await.refused(401, "UNAUTHENTICATED");
        ada.browser.get("/users/me").await.refused(401, "UNAUTHENTICATED");
        run(app, &FORGET_STEP, args![]);
        enter(&waiting, &ada.code())
            .await
            .refused(401, "INVALID_TWO_FACTOR_COOKIE");
        let mails = outbox(app, 1).await;
        let mail = mails.iter().find(|mail| mail.to == world.ada.email).unwrap();
        assert_eq!(mail.subject, "Adam Admin removed your second factor");
        assert_eq!(mail.link(), "/");
        let entries: i64 = one(app, &FACTOR_ENTRIES, args![world.north, world.ada.id, "FACTOR_RESET"]);
        assert_eq!(entries, 1);
        let plain = Browser::new(app).sign_in(&world.ada.email, PASSWORD).await.expect(200);
        assert_eq!(plain["user"]["twoFactorEnabled"], false);
        // A second factor that is set up again does not trust the browser of the former one.
        let again = set_up(app, &world.ada).await;
        again.begin(&trusted).await;
        // The second request changes nothing and sends nothing.
        olga.browser
            .post(&format!("/users/{}/reset-second-factor", world.adam.id), json!({}))
            .await
            .expect(200);
        adam.browser.get("/users/me").await.refused(401, "UNAUTHENTICATED");
        olga.browser
            .post(&format!("/users/{}/reset-second-factor", world.adam.id), json!({}))
            .await
            .expect(200);
        assert_eq!(outbox(app, 2).await.len(), 2);
    }
);
