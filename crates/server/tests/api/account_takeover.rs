//! Account takeover by domain: a school with a verified domain takes over an account with an address of this domain
//! that another school registered first, unless the mailbox is verified. Accounts of a SUPER_ADMIN or an owner are
//! never taken over.

use common::clock;
use serde_json::{Value, json};

use test_support::Browser;
use test_support::emails::outbox;
use test_support::name_server::{self, NameRecords};
use test_support::rows::{execute, texts};
use test_support::{Client, TestApp};

const PASSWORD: &str = "seven blue whales sing";

/// Creates a domain that North verified by its DNS record.
async fn verify_domain_of_north(app: &TestApp) -> (String, Value) {
    let (adam, name) = (app.as_(&app.world.adam), name_server::domain());
    let domain = adam.post("/admin/domains", json!({"domain": name})).await.expect(201);
    let record = domain["recordValue"].as_str().unwrap().to_owned();
    name_server::set(&name, NameRecords::Texts(vec![record]));
    let path = format!("/admin/domains/{}/check", domain["id"].as_str().unwrap());
    let domain = adam.post(&path, json!({})).await.expect(200);
    (name, domain)
}

fn new(email: &str, role: &str) -> Value {
    json!({"name": "Kim Kidd", "email": email, "role": role, "password": PASSWORD})
}

/// Creates an account with this address as South.
async fn create_account_in_south(app: &TestApp, email: &str, role: &str) -> String {
    let made = app
        .as_(&app.world.zara)
        .post("/users", new(email, role))
        .await
        .expect(201);
    made["id"].as_str().unwrap().to_owned()
}

async fn one(app: &TestApp, query: String) -> String {
    texts(&app.database, query).await.remove(0).unwrap_or_default()
}

async fn home(app: &TestApp, user: &str) -> String {
    one(
        app,
        format!("SELECT home_organization_id FROM users WHERE id = '{user}'"),
    )
    .await
}

/// Returns the organizations of a user, and those with a pending invitation of the address.
async fn memberships_and_invitations(
    app: &TestApp,
    user: &str,
    email: &str,
) -> (Vec<Option<String>>, Vec<Option<String>>) {
    let members = format!("SELECT organization_id FROM members WHERE user_id = '{user}'");
    let invited = format!("SELECT organization_id FROM invitations WHERE email = '{email}' AND status = 'pending'");
    (texts(&app.database, members).await, texts(&app.database, invited).await)
}

async fn records(app: &TestApp, organization: &str) -> Vec<String> {
    let query = format!(
        "SELECT details FROM activity_logs WHERE organization_id = '{organization}' AND details LIKE '%takenOver%'"
    );
    texts(&app.database, query).await.into_iter().flatten().collect()
}

async fn sign_in(app: &TestApp, email: &str) -> Browser {
    let browser = Browser::new(app);
    browser.sign_in(email, PASSWORD).await.expect(200);
    browser
}

both!(domain_holder_takes_over_account_of_another_school, |app| {
    let world = &app.world;
    let (domain, _) = verify_domain_of_north(app).await;
    let email = format!("kim@{domain}");
    let user = create_account_in_south(app, &email, "STUDENT").await;
    let old = sign_in(app, &email).await;
    old.get("/users/me").await.expect(200);
    let (north, south) = (Some(world.north.clone()), Some(world.south.clone()));

    let joined = app
        .as_(&world.adam)
        .post("/users", new(&email.to_uppercase(), "TEACHER"))
        .await
        .expect(201);
    assert!(joined["temporaryPassword"].is_null(), "{joined}");
    assert_eq!(
        memberships_and_invitations(app, &user, &email).await,
        (vec![north], vec![south])
    );
    assert_eq!(home(app, &user).await, world.north);
    // No credential that South has opens the account.
    old.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let body = json!({"email": email, "password": PASSWORD});
    app.stranger()
        .post("/auth/sign-in/email", body)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    let path = format!("/users/{user}");
    let zara = app.as_(&world.zara);
    zara.patch(&path, json!({"email": "mine@south.example"}))
        .await
        .refused(404, "NOT_FOUND");
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.adam)
        .patch(&path, json!({"name": "Kim of North"}))
        .await
        .expect(200);
    // Both schools have a log record, and the user is notified.
    for school in [&world.north, &world.south] {
        assert_eq!(records(app, school).await.len(), 1, "{school}");
    }
    let mail = outbox(app, 1).await.remove(0);
    assert_eq!(mail.to, email);
    assert!(mail.text.contains("North School"), "{}", mail.text);
    assert_eq!(mail.link(), "/forgot");
    // Adding the address again does not repeat the takeover.
    app.as_(&world.adam)
        .post("/users", new(&email, "TEACHER"))
        .await
        .refused(409, "DUPLICATE_EMAIL");
});

/// Expects that adding the address creates only an invitation and leaves the account unchanged.
async fn assert_only_invited(app: &TestApp, context: &str, email: &str, user: &str) {
    let before = (
        home(app, user).await,
        memberships_and_invitations(app, user, email).await.0,
    );
    let password = format!("SELECT password FROM accounts WHERE user_id = '{user}'");
    let hash = texts(&app.database, password.clone()).await;
    let adam = app.as_(&app.world.adam);
    let answer = adam.post("/users", new(email, "STUDENT")).await;
    assert_eq!(answer.status, 201, "{context}: {}", answer.json());
    assert!(answer.json()["invitation"].is_object(), "{context}: {}", answer.json());
    assert_eq!(
        (
            home(app, user).await,
            memberships_and_invitations(app, user, email).await.0
        ),
        before,
        "{context}"
    );
    assert_eq!(texts(&app.database, password).await, hash, "{context}");
    assert!(records(app, &app.world.north).await.is_empty(), "{context}");
}

both!(verified_or_privileged_accounts_are_never_taken_over, |app| {
    let (domain, _) = verify_domain_of_north(app).await;
    let set = async |user: &str, change: &str| {
        execute(&app.database, format!("UPDATE users SET {change} WHERE id = '{user}'")).await;
    };
    let proven = format!("proven@{domain}");
    let user = create_account_in_south(app, &proven, "STUDENT").await;
    set(&user, "email_verified = TRUE").await;
    assert_only_invited(app, "a proven mailbox", &proven, &user).await;

    let owner = format!("owner@{domain}");
    let user = create_account_in_south(app, &owner, "ADMIN").await;
    let owns = format!("UPDATE members SET role = 'owner' WHERE user_id = '{user}'");
    execute(&app.database, owns).await;
    assert_only_invited(app, "an owner", &owner, &user).await;

    let root = format!("root@{domain}");
    let user = create_account_in_south(app, &root, "TEACHER").await;
    set(&user, "role = 'SUPER_ADMIN'").await;
    assert_only_invited(app, "a SUPER_ADMIN", &root, &user).await;
});

both!(takeover_requires_the_exact_currently_verified_domain, |app| {
    let (domain, held) = verify_domain_of_north(app).await;
    for other in [
        format!("kim@mail.{domain}"),
        format!("kim@x{domain}"),
        format!("kim@{}", name_server::domain()),
    ] {
        let user = create_account_in_south(app, &other, "STUDENT").await;
        assert_only_invited(app, &other, &other, &user).await;
    }
    let state = async |change: &str| {
        let id = held["id"].as_str().unwrap();
        execute(
            &app.database,
            format!("UPDATE mail_domains SET {change} WHERE id = '{id}'"),
        )
        .await;
    };
    let now = clock::now().as_millis();
    let missing = format!("failing_since = {now}");
    for (name, change) in [
        ("missing", missing.as_str()),
        ("lost", "status = 'LOST'"),
        ("new", "status = 'PENDING'"),
    ] {
        state(change).await;
        let email = format!("{name}@{domain}");
        let user = create_account_in_south(app, &email, "STUDENT").await;
        assert_only_invited(app, name, &email, &user).await;
    }
    // A domain that South verified grants North nothing.
    state("failing_since = NULL, status = 'VERIFIED'").await;
    let body = json!({"domain": name_server::domain()});
    let tenant = format!("/tenants/{}/domains", app.world.south);
    let theirs = app.as_(&app.world.root).post(&tenant, body).await.expect(201);
    let email = format!("kim@{}", theirs["domain"].as_str().unwrap());
    let user = create_account_in_south(app, &email, "STUDENT").await;
    assert_only_invited(app, "a domain of South", &email, &user).await;
});

both!(import_takes_over_like_a_request_and_dry_run_does_not, |app| {
    let world = &app.world;
    let (domain, _) = verify_domain_of_north(app).await;
    let (kim, lee) = (format!("kim@{domain}"), format!("lee@{domain}"));
    let user = create_account_in_south(app, &kim, "STUDENT").await;
    let proven = create_account_in_south(app, &lee, "STUDENT").await;
    let prove = format!("UPDATE users SET email_verified = TRUE WHERE id = '{proven}'");
    execute(&app.database, prove).await;
    let adam = app.as_(&world.adam);
    let row = |email: &str| json!({"email": email, "role": "student", "firstName": "K", "lastName": "L"});
    let rows = json!({"users": [row(&kim), row(&lee)]});
    let counts = async |client: &Client, path: &str| {
        let report = client.post(path, rows.clone()).await.expect(200);
        (report["created"].clone(), report["invited"].clone())
    };
    let expected = (json!(1), json!(1));
    assert_eq!(counts(&adam, "/users/import?dryRun=1").await, expected);
    assert_eq!(home(app, &user).await, world.south, "a dry run");
    assert_eq!(counts(&adam, "/users/import").await, expected);
    let (north, south) = (Some(world.north.clone()), Some(world.south.clone()));
    assert_eq!(
        memberships_and_invitations(app, &user, &kim).await,
        (vec![north], vec![south.clone()])
    );
    assert_eq!(home(app, &user).await, world.north);
    assert_eq!(memberships_and_invitations(app, &proven, &lee).await.0, vec![south]);
});

both!(failed_user_creation_takes_over_no_account, |app| {
    let (domain, _) = verify_domain_of_north(app).await;
    let email = format!("kim@{domain}");
    let user = create_account_in_south(app, &email, "STUDENT").await;
    let mut body = new(&email, "STUDENT");
    body["classIds"] = json!([app.world.south_class.id]);
    app.as_(&app.world.adam)
        .post("/users", body)
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(home(app, &user).await, app.world.south);
    let old = sign_in(app, &email).await;
    old.get("/users/me").await.expect(200);
    assert!(records(app, &app.world.south).await.is_empty());
});
