//! Replacing a secret: while the previous one is set, what it signed is accepted.

use jsonwebtoken::Algorithm;
use serde_json::json;
use test_support::fake_document_server::{seconds, sign_as};
use test_support::{AUTH_SECRET, Client, DOCSERVER_SECRET, DatabaseKind, ServerEnv, TestApp, World};

const NEW_AUTH_SECRET: &str = "a-new-auth-secret-for-tests-0123456789ab";
const NEW_DOCSERVER_SECRET: &str = "a-new-docserver-secret-for-tests-01234567";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_survive_a_new_secret_while_the_previous_one_is_set() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let world = World::create(&env.store().await, &env.database).await;
    let rotating = [("AUTH_SECRET", NEW_AUTH_SECRET), ("AUTH_SECRET_PREVIOUS", AUTH_SECRET)];
    for (settings, status) in [(&rotating[..], 200), (&rotating[..1], 401)] {
        let mut service = env.try_start("serve", settings).unwrap();
        service.ready().await;
        let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
        assert_eq!(ada.get("/users/me").await.status, status, "{settings:?}");
        service.stop();
    }
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_both_document_server_secrets_are_accepted() {
    let new = format!("--docserver-jwt-secret={NEW_DOCSERVER_SECRET}");
    let previous = format!("--docserver-jwt-secret-previous={DOCSERVER_SECRET}");
    let app = TestApp::start_with(DatabaseKind::Sqlite, &[&new, &previous])
        .await
        .unwrap();
    let claims = json!({"payload": {"url": "http://elsewhere.test/"}, "iat": seconds(), "exp": seconds() + 300});
    for (secret, status, code) in [
        (NEW_DOCSERVER_SECRET, 403, "DOCSERVER_TOKEN_MISMATCH"),
        (DOCSERVER_SECRET, 403, "DOCSERVER_TOKEN_MISMATCH"),
        (
            "another-secret-for-tests-0123456789abcdef",
            401,
            "DOCSERVER_TOKEN_INVALID",
        ),
    ] {
        let token = sign_as(Algorithm::HS256, secret, &claims);
        let client = app.stranger().with("authorization", &format!("Bearer {token}"));
        let answer = client.get("/workrooms/documents/unknown/file").await;
        answer.refused(status, code);
    }
    app.close().await;
}
