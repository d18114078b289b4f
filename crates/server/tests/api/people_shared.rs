//! Nobody takes over an account of another school by adding its address (contract 6.3).

use serde_json::{Value, json};

use crate::auth::{PASSWORD, enable};
use crate::support::rows::texts;
use crate::support::{Client, TestApp};

async fn account(app: &TestApp, id: &str) -> Vec<Option<String>> {
    let mut columns = Vec::new();
    for column in [
        "name",
        "first_name",
        "email",
        "username",
        "locale",
        "home_organization_id",
        "CAST(is_active AS TEXT)",
        "CAST(must_change_password AS TEXT)",
    ] {
        columns.extend(texts(&app.database, format!("SELECT {column} FROM users WHERE id = '{id}'")).await);
    }
    columns.extend(
        texts(
            &app.database,
            format!("SELECT password FROM accounts WHERE user_id = '{id}'"),
        )
        .await,
    );
    columns
}

fn join(email: &str) -> Value {
    json!({"name": "Taken Over", "email": email, "role": "STUDENT", "password": "Zirkel und Winkel", "firstName": "Taken"})
}

both!(an_address_of_another_school_gets_a_membership_and_nothing_else, |app| {
    let (world, zara, adam) = (&app.world, app.as_(&app.world.zara), app.as_(&app.world.adam));
    enable(app, &world.ben).await;
    let path = format!("/users/{}", world.ben.id);
    adam.patch(
        &path,
        json!({"firstName": "Benedikt", "username": "benny", "externalId": "N-1"}),
    )
    .await
    .expect(200);
    let before = account(app, &world.ben.id).await;
    let joined = zara
        .post("/users", join(&world.ben.email.to_uppercase()))
        .await
        .expect(201);
    let mut keys: Vec<_> = joined.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["email", "id", "member", "role"]);
    let told = joined.to_string();
    assert!(
        !told.contains("Ben Student") && !told.contains("Benedikt") && !told.contains("benny") && !told.contains("N-1"),
        "{told}"
    );
    assert_eq!(account(app, &world.ben.id).await, before);

    let shown = zara.get(&path).await.expect(200).to_string();
    assert!(
        !shown.contains("Benedikt")
            && !shown.contains("benny")
            && !shown.contains("N-1")
            && !shown.contains("lastLoginAt"),
        "{shown}"
    );
    let attempts = [
        json!({"name": "Mine"}),
        json!({"name": "Ben Student"}),
        json!({"firstName": "Benedikt"}),
        json!({"lastName": "Mine"}),
        json!({"email": "mine@south.example"}),
        json!({"isActive": false}),
        json!({"isActive": true}),
        json!({"username": "mine"}),
        json!({"locale": "de"}),
        json!({"externalId": "S-9", "name": "Mine"}),
    ];
    let refused = async |client: &Client| {
        for attempt in &attempts {
            client
                .patch(&path, attempt.clone())
                .await
                .refused(403, "SHARED_ACCOUNT");
        }
        client
            .post(&format!("{path}/reset-password"), json!({}))
            .await
            .refused(403, "SHARED_ACCOUNT");
    };
    refused(&zara).await;
    // Its home shares it now and may not change it either, until the other membership ends.
    refused(&adam).await;
    zara.patch(&path, json!({"externalId": "S-1"})).await.expect(200);
    assert_eq!(account(app, &world.ben.id).await, before);

    zara.delete(&path).await.expect(200);
    zara.get(&path).await.refused(404, "NOT_FOUND");
    app.as_(&world.ben).get("/subjects").await.expect(200);
    assert_eq!(account(app, &world.ben.id).await, before);
    adam.patch(&path, json!({"name": "Ben Again"})).await.expect(200);
});

both!(an_account_without_a_home_is_nobodys, |app| {
    let (world, zara, adam) = (&app.world, app.as_(&app.world.zara), app.as_(&app.world.adam));
    enable(app, &world.ben).await;
    let path = format!("/users/{}", world.ben.id);
    adam.delete(&path).await.expect(200);
    let home = format!("SELECT home_organization_id FROM users WHERE id = '{}'", world.ben.id);
    assert_eq!(texts(&app.database, home.clone()).await, [None]);
    let sign_in = async || {
        let body = json!({"email": world.ben.email, "password": PASSWORD});
        app.stranger().post("/auth/sign-in/email", body).await
    };
    sign_in().await.refused(401, "INVALID_EMAIL_OR_PASSWORD");
    // Whoever adds it next, be it the school that made it, gets no hold of it; the person can sign in again.
    for client in [&zara, &adam] {
        client.post("/users", join(&world.ben.email)).await.expect(201);
        client
            .patch(&path, json!({"name": "Mine"}))
            .await
            .refused(403, "SHARED_ACCOUNT");
        client
            .post(&format!("{path}/reset-password"), json!({}))
            .await
            .refused(403, "SHARED_ACCOUNT");
    }
    assert_eq!(texts(&app.database, home).await, [None]);
    sign_in().await.expect(200);
});

both!(those_who_run_the_platform_are_unknown_to_schools, |app| {
    let (world, zara, root) = (&app.world, app.as_(&app.world.zara), app.as_(&app.world.root));
    zara.post("/users", join(&world.root.email))
        .await
        .refused(404, "NOT_FOUND");
    let south = format!("/users?organizationId={}", world.south);
    root.post(&south, join(&world.root.email)).await.expect(201);
    let path = format!("/users/{}", world.root.id);
    zara.patch(&path, json!({"name": "Mine"}))
        .await
        .refused(403, "FORBIDDEN_RANK");
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(403, "FORBIDDEN_RANK");
    zara.delete(&path).await.refused(403, "FORBIDDEN_RANK");
    // The platform itself helps where schools share an account.
    root.post(&south, join(&world.ben.email)).await.expect(201);
    let shared = format!("/users/{}?organizationId={}", world.ben.id, world.south);
    assert_eq!(
        root.patch(&shared, json!({"name": "Ben Helped"})).await.expect(200)["name"],
        "Ben Helped"
    );
});
