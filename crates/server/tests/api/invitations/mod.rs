//! An address whose account belongs to another organization is invited. Only the owner of its mailbox can join, not the
//! administrator who registered the address first, whichever route adds it.

mod admin_rights;
mod tokens;

use serde_json::{Value, json};

use test_support::emails::{SentEmail, outbox};
use test_support::rows::texts;
use test_support::{Client, TestApp, TestUser};

const HEAD_EMAIL: &str = "head@north.example";
/// The password that South's administrator sets for the account with the head's address.
const SOUTH_PASSWORD: &str = "Zirkel und Winkel";
/// The password that the head chooses.
const CHOSEN_PASSWORD: &str = "Tinte auf Papier";

fn person(email: &str, role: &str) -> Value {
    json!({"name": "Hanna Head", "email": email, "role": role})
}

/// South's administrator creates an account with the address of North's head and a known password.
async fn create_account_in_south(app: &TestApp) -> Client {
    let mut body = person(HEAD_EMAIL, "TEACHER");
    body["password"] = json!(SOUTH_PASSWORD);
    app.as_(&app.world.zara).post("/users", body).await.expect(201);
    sign_in(app, HEAD_EMAIL, SOUTH_PASSWORD).await
}

async fn sign_in(app: &TestApp, email: &str, password: &str) -> Client {
    let body = json!({"email": email, "password": password});
    let answer = app.stranger().post("/auth/sign-in/email", body).await;
    let cookie = answer
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap_or_default()
        .to_owned();
    answer.expect(200);
    Client::new(&app.base, Some(cookie))
}

async fn set_active(client: &Client, organization: &str) -> test_support::Answer {
    let body = json!({"organizationId": organization});
    client.post("/auth/organization/set-active", body).await
}

fn token(mail: &SentEmail) -> String {
    let link = mail.link();
    link.strip_prefix("/accept-invitation#token=")
        .unwrap_or_else(|| panic!("{link}"))
        .to_owned()
}

/// Waits for this many emails and returns the invitation token of the newest one.
async fn mailed_token(app: &TestApp, mails: usize) -> String {
    token(outbox(app, mails).await.last().unwrap())
}

async fn count_members(app: &TestApp, organization: &str, email: &str) -> usize {
    let sought = format!(
        "SELECT m.id FROM members m JOIN users u ON u.id = m.user_id
         WHERE m.organization_id = '{organization}' AND u.email = '{email}'"
    );
    texts(&app.database, sought).await.len()
}

/// Expects that South's administrator gains nothing with the account that South created.
async fn assert_no_access(app: &TestApp, planted: &Client, organization: &str, invitation: &str) {
    set_active(planted, organization)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    planted
        .get("/auth/organization/list-user-invitations")
        .await
        .refused(403, "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION");
    planted
        .get(&format!("/auth/organization/get-invitation?id={invitation}"))
        .await
        .refused(403, "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION");
    for action in ["accept", "reject"] {
        planted
            .post(
                &format!("/auth/organization/{action}-invitation"),
                json!({"invitationId": invitation}),
            )
            .await
            .refused(
                403,
                "EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION",
            );
    }
    assert_eq!(count_members(app, organization, HEAD_EMAIL).await, 0);
}

/// The head reads the mailbox, accepts and chooses a password. The password set by South's administrator is invalid
/// from then on.
async fn accept_as_head(app: &TestApp, planted: &Client, organization: &str, token: &str) -> Client {
    let stranger = app.stranger();
    for _ in 0..2 {
        let shown = stranger
            .post("/invitations/preview", json!({"token": token}))
            .await
            .expect(200);
        assert_eq!(
            (&shown["email"], &shown["needsPassword"]),
            (&json!(HEAD_EMAIL), &json!(true))
        );
        assert!(
            shown["organizationName"].is_string() && shown["host"].is_string(),
            "{shown}"
        );
    }
    stranger
        .post("/invitations/accept", json!({"token": token}))
        .await
        .invalid("password");
    let body = json!({"token": token, "password": CHOSEN_PASSWORD});
    let accepted = stranger.post("/invitations/accept", body.clone()).await.expect(200);
    assert_eq!(accepted["invitation"]["status"], "accepted");
    assert!(!accepted.to_string().contains(token), "{accepted}");
    stranger
        .post("/invitations/accept", body)
        .await
        .refused(404, "NOT_FOUND");

    planted.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let old = json!({"email": HEAD_EMAIL, "password": SOUTH_PASSWORD});
    app.stranger()
        .post("/auth/sign-in/email", old)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    let head = sign_in(app, HEAD_EMAIL, CHOSEN_PASSWORD).await;
    set_active(&head, organization).await.expect(200);
    let me = head.get("/users/me").await.expect(200);
    assert_eq!(me["emailVerified"], true);
    let organizations = head.get("/auth/organization/list").await.expect(200);
    assert_eq!(organizations.as_array().map(Vec::len), Some(1), "{organizations}");
    assert_eq!(count_members(app, &app.world.south, HEAD_EMAIL).await, 0);
    head
}

both!(account_registered_first_elsewhere_gains_no_access, |app| {
    let (world, olga, zara) = (&app.world, app.as_(&app.world.olga), app.as_(&app.world.zara));
    let planted = create_account_in_south(app).await;
    let made = olga
        .post("/users", person(&HEAD_EMAIL.to_uppercase(), "ADMIN"))
        .await
        .expect(201);
    let mut keys: Vec<_> = made.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["email", "invitation", "result", "role"]);
    assert_eq!((&made["email"], &made["role"]), (&json!(HEAD_EMAIL), &json!("ADMIN")));
    let id = made["invitation"]["id"].as_str().unwrap().to_owned();
    assert_no_access(app, &planted, &world.north, &id).await;
    let token = mailed_token(app, 1).await;
    let head = accept_as_head(app, &planted, &world.north, &token).await;
    head.get("/admin/stats").await.expect(200);

    // South's membership is now only an invitation, and South no longer controls the account.
    let user = head.get("/users/me").await.expect(200)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/users/{user}");
    zara.patch(&path, json!({"email": "mine@south.example"}))
        .await
        .refused(404, "NOT_FOUND");
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    zara.delete(&path).await.refused(404, "NOT_FOUND");
    zara.post("/admin/gdpr/erase", json!({"userId": user}))
        .await
        .refused(404, "NOT_FOUND");
    let own = head.get("/auth/organization/list-user-invitations").await.expect(200);
    assert_eq!(
        (&own[0]["organizationId"], &own[0]["role"]),
        (&json!(world.south), &json!("teacher"))
    );
    assert_eq!(own.as_array().map(Vec::len), Some(1));
});

both!(import_invites_an_address_of_another_organization, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let planted = create_account_in_south(app).await;
    let rows = json!({"users": [
        {"email": HEAD_EMAIL, "firstName": "Hanna", "lastName": "Head", "role": "teacher", "externalId": "T-1",
            "classes": [world.seven_b.id]},
        {"email": "new@north.example", "firstName": "New", "role": "student"},
    ]});
    for path in ["/users/import?dryRun=1", "/users/import", "/users/import"] {
        let report = adam.post(path, rows.clone()).await.expect(200);
        assert_eq!(
            (&report["invited"], &report["failed"]),
            (&json!(1), &json!(0)),
            "{report}"
        );
        assert_eq!(report["rows"][0]["status"], "invited");
        assert!(report["rows"][0].get("userId").is_none(), "{report}");
        assert_eq!(count_members(app, &world.north, HEAD_EMAIL).await, 0);
    }
    let pending = adam.get("/admin/invitations").await.expect(200);
    assert_eq!(pending["data"].as_array().map(Vec::len), Some(1), "{pending}");
    let id = pending["data"][0]["id"].as_str().unwrap().to_owned();
    assert_no_access(app, &planted, &world.north, &id).await;
    // The second import sends no email.
    let token = mailed_token(app, 1).await;
    let head = accept_as_head(app, &planted, &world.north, &token).await;
    let class = head.get(&format!("/classes/{}", world.seven_b.id)).await.expect(200);
    assert_eq!(class["coTeachers"][0]["name"], "Hanna Head", "{class}");
});

both!(founded_organization_waits_for_the_acceptance_of_its_owner, |app| {
    let root = app.as_(&app.world.root);
    let planted = create_account_in_south(app).await;
    let new = json!({"name": "West School", "slug": "west", "ownerEmail": HEAD_EMAIL, "ownerName": "Hanna Head"});
    let founded = root.post("/tenants", new).await.expect(201);
    assert!(
        founded.get("owner").is_none() && founded.get("temporaryPassword").is_none(),
        "{founded}"
    );
    let west = founded["tenant"]["id"].as_str().unwrap().to_owned();
    let id = founded["invitation"]["id"].as_str().unwrap().to_owned();
    assert_no_access(app, &planted, &west, &id).await;
    let waiting = root
        .get(&format!("/admin/invitations?organizationId={west}"))
        .await
        .expect(200);
    assert_eq!(waiting["data"][0]["role"], "owner", "{waiting}");
    let token = mailed_token(app, 1).await;
    accept_as_head(app, &planted, &west, &token).await;
    let members = root.get(&format!("/tenants/{west}/members")).await.expect(200);
    assert_eq!(members["data"][0]["role"], "owner", "{members}");
});

both!(platform_admin_confirms_invitation_without_email, |app| {
    let (world, root) = (&app.world, app.as_(&app.world.root));
    let planted = create_account_in_south(app).await;
    let new = json!({"name": "West School", "slug": "west", "ownerEmail": HEAD_EMAIL, "ownerName": "Hanna Head"});
    let founded = root.post("/tenants", new).await.expect(201);
    let west = founded["tenant"]["id"].as_str().unwrap().to_owned();
    let id = founded["invitation"]["id"].as_str().unwrap().to_owned();
    let path = format!("/admin/invitations/{id}/confirm");
    app.as_(&world.zara)
        .post(&path, json!({}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let confirmed = root.post(&path, json!({})).await.expect(200);
    let temporary = confirmed["temporaryPassword"].as_str().unwrap().to_owned();
    root.post(&path, json!({})).await.refused(404, "NOT_FOUND");
    planted.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    assert_eq!(count_members(app, &world.south, HEAD_EMAIL).await, 0);
    let head = sign_in(app, HEAD_EMAIL, &temporary).await;
    set_active(&head, &west).await.expect(200);
    let me = head.get("/users/me").await.expect(200);
    assert_eq!(
        (&me["emailVerified"], &me["mustChangePassword"]),
        (&json!(false), &json!(true))
    );
    let log = root
        .get(&format!("/activity-logs?organizationId={west}"))
        .await
        .expect(200)
        .to_string();
    assert!(
        log.contains("\"acceptedBy\":\"platform\"") && log.contains("Root Admin"),
        "{log}"
    );
});

/// Invites Ben of North to South.
async fn invite_ben(app: &TestApp) -> String {
    let made = app
        .as_(&app.world.zara)
        .post("/users", person(&app.world.ben.email, "STUDENT"))
        .await;
    made.expect(201)["invitation"]["id"].as_str().unwrap().to_owned()
}

/// Verifies the mailbox of a user by an emailed password reset and signs in.
async fn verify_mailbox_and_sign_in(app: &TestApp, person: &TestUser) -> Client {
    let token = crate::password_resets::mailed_token(app, &person.email).await;
    let body = json!({"newPassword": CHOSEN_PASSWORD, "token": token});
    app.stranger().post("/auth/reset-password", body).await.expect(200);
    sign_in(app, &person.email, CHOSEN_PASSWORD).await
}
