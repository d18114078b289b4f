//! Accounts shared by several organizations: the home organization controls name, address and erasure, and adding the
//! address cannot take over the account. Invitations are tested in `invitations/`.

use common::clock;
use serde_json::{Value, json};

use test_support::accounts::{PASSWORD, enable};
use test_support::rows::{execute, texts};
use test_support::{Client, TestApp, TestUser};

/// Makes a user a member of South as well, as if an invitation had been accepted.
async fn join_south(app: &TestApp, person: &TestUser) {
    let insert = format!(
        "INSERT INTO members (organization_id, id, user_id, role, created_at)
         VALUES ('{}', '{}', '{}', 'student', 1)",
        app.world.south,
        clock::new_id(),
        person.id
    );
    execute(&app.database, insert).await;
}

async fn read_account(app: &TestApp, id: &str) -> Vec<Option<String>> {
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

fn new_user(email: &str) -> Value {
    json!({"name": "Taken Over", "email": email, "role": "STUDENT", "password": "Zirkel und Winkel", "firstName": "Taken"})
}

both!(adding_foreign_address_reveals_and_changes_nothing, |app| {
    let (world, zara, adam) = (&app.world, app.as_(&app.world.zara), app.as_(&app.world.adam));
    enable(app, &world.ben).await;
    let path = format!("/users/{}", world.ben.id);
    let profile = json!({"firstName": "Benedikt", "username": "benny", "externalId": "N-1"});
    adam.patch(&path, profile).await.expect(200);
    let before = read_account(app, &world.ben.id).await;
    let invited = zara
        .post("/users", new_user(&world.ben.email.to_uppercase()))
        .await
        .expect(201);
    let mut keys: Vec<_> = invited.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["email", "invitation", "result", "role"]);
    let received = invited.to_string();
    for secret in ["Ben Student", "Benedikt", "benny", "N-1", &world.ben.id] {
        assert!(!received.contains(secret), "{received}");
    }
    assert_eq!(read_account(app, &world.ben.id).await, before);
    zara.get(&path).await.refused(404, "NOT_FOUND");
    adam.patch(&path, json!({"name": "Ben Again"})).await.expect(200);
});

both!(shared_account_cannot_be_edited_by_either_organization, |app| {
    let (world, zara, adam) = (&app.world, app.as_(&app.world.zara), app.as_(&app.world.adam));
    enable(app, &world.ben).await;
    let path = format!("/users/{}", world.ben.id);
    adam.patch(
        &path,
        json!({"firstName": "Benedikt", "username": "benny", "externalId": "N-1"}),
    )
    .await
    .expect(200);
    join_south(app, &world.ben).await;
    let before = read_account(app, &world.ben.id).await;
    let shown = zara.get(&path).await.expect(200).to_string();
    for secret in ["Benedikt", "benny", "N-1", "lastLoginAt"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    let attempts = [
        json!({"name": "Mine"}),
        json!({"name": "Ben Student"}),
        json!({"firstName": "Benedikt"}),
        json!({"lastName": "Mine"}),
        json!({"email": "mine@south.example"}),
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
    };
    refused(&zara).await;
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(403, "SHARED_ACCOUNT");
    // The home organization cannot change a shared account either, until the other membership ends.
    refused(&adam).await;
    zara.patch(&path, json!({"externalId": "S-1"})).await.expect(200);
    assert_eq!(read_account(app, &world.ben.id).await, before);

    zara.delete(&path).await.expect(200);
    zara.get(&path).await.refused(404, "NOT_FOUND");
    app.as_(&world.ben).get("/subjects").await.expect(200);
    assert_eq!(read_account(app, &world.ben.id).await, before);
    adam.patch(&path, json!({"name": "Ben Again"})).await.expect(200);
});

both!(account_without_home_organization_cannot_be_claimed, |app| {
    let (world, zara, adam) = (&app.world, app.as_(&app.world.zara), app.as_(&app.world.adam));
    enable(app, &world.ben).await;
    let path = format!("/users/{}", world.ben.id);
    adam.delete(&path).await.expect(200);
    let home = format!("SELECT home_organization_id FROM users WHERE id = '{}'", world.ben.id);
    assert_eq!(texts(&app.database, home.clone()).await, [None]);
    let body = json!({"email": world.ben.email, "password": PASSWORD});
    app.stranger()
        .post("/auth/sign-in/email", body)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    // An organization that adds the address later, even the one that created the account, only sends an invitation and
    // gains no control.
    for client in [&zara, &adam] {
        let invited = client.post("/users", new_user(&world.ben.email)).await.expect(201);
        assert_eq!(invited["invitation"]["status"], "pending");
        client
            .patch(&path, json!({"name": "Mine"}))
            .await
            .refused(404, "NOT_FOUND");
        client
            .post(&format!("{path}/reset-password"), json!({}))
            .await
            .refused(404, "NOT_FOUND");
    }
    assert_eq!(texts(&app.database, home).await, [None]);
});

both!(super_admin_is_invited_like_any_other_user, |app| {
    let (world, zara, root) = (&app.world, app.as_(&app.world.zara), app.as_(&app.world.root));
    // The response does not reveal that the account is a platform administrator.
    let invited = zara.post("/users", new_user(&world.root.email)).await.expect(201);
    let other = zara.post("/users", new_user(&world.cem.email)).await.expect(201);
    assert_eq!(
        invited.as_object().unwrap().keys().collect::<Vec<_>>(),
        other.as_object().unwrap().keys().collect::<Vec<_>>()
    );
    join_south(app, &world.root).await;
    let path = format!("/users/{}", world.root.id);
    zara.patch(&path, json!({"name": "Mine"}))
        .await
        .refused(403, "FORBIDDEN_RANK");
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(403, "FORBIDDEN_RANK");
    zara.delete(&path).await.refused(403, "FORBIDDEN_RANK");
    // A platform administrator can edit an account that organizations share.
    join_south(app, &world.ben).await;
    let shared = format!("/users/{}?organizationId={}", world.ben.id, world.south);
    assert_eq!(
        root.patch(&shared, json!({"name": "Ben Helped"})).await.expect(200)["name"],
        "Ben Helped"
    );
});
