//! Sessions and links that a new password invalidates, and the notice of a reset by another user.

use std::time::{Duration, Instant};

use common::clock;
use serde_json::json;

use test_support::Browser;
use test_support::TestApp;
use test_support::accounts::{PASSWORD, enable, signed_in};
use test_support::emails::outbox;
use test_support::rows::execute;

const NEW_PASSWORD: &str = "Dreieck und Kreis";
const LINK: &str = "/reset-password#token=";
const VERIFY_ALL_MAILBOXES: &str = "UPDATE users SET email_verified = TRUE";

/// Requests a reset link and returns the token from the newest email to the address.
pub async fn mailed_token(app: &TestApp, address: &str) -> String {
    let sent = async || {
        let mails = outbox(app, 0).await.into_iter();
        let mails = mails.filter(|mail| mail.to == address && mail.link().starts_with(LINK));
        mails.collect::<Vec<_>>()
    };
    let before: Vec<String> = sent().await.into_iter().map(|mail| mail.raw).collect();
    let ask = json!({"email": address, "redirectTo": "/reset-password"});
    app.stranger()
        .post("/auth/request-password-reset", ask)
        .await
        .expect(200);
    let started = Instant::now();
    loop {
        let new = sent().await.into_iter().find(|mail| !before.contains(&mail.raw));
        if let Some(mail) = new {
            let link = mail.link();
            return link.strip_prefix(LINK).unwrap().to_owned();
        }
        assert!(started.elapsed() < test_support::WAIT_TIMEOUT, "no email came");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns a link that resets Ben's password and a link that changes the email address.
async fn create_links(app: &TestApp) -> (String, String) {
    let ben = &app.world.ben;
    let reset = mailed_token(app, &ben.email).await;
    let token = better_auth::token::reset_token();
    let digest = {
        use std::fmt::Write as _;

        use sha2::Digest as _;
        sha2::Sha256::digest(token.as_bytes())
            .iter()
            .fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
    };
    let (id, end) = (clock::new_id(), clock::now().plus_seconds(3600).as_millis());
    let change = format!(
        "INSERT INTO verifications (id, identifier, value, address, expires_at, created_at, updated_at)
        VALUES ('{id}', 'change-email:{digest}', '{}', 'ben.other@test.example', {end}, 1, 1)",
        ben.id
    );
    execute(&app.database, change).await;
    (reset, token)
}

async fn assert_links_invalid(app: &TestApp, (reset, change): (String, String), how: &str) {
    let stranger = app.stranger();
    let answer = stranger.get(&format!("/auth/verify-email?token={change}")).await;
    assert_eq!(answer.json()["code"], "INVALID_TOKEN", "{how}");
    let body = json!({"newPassword": "Kugel und Kegel", "token": reset});
    let answer = stranger.post("/auth/reset-password", body).await;
    assert_eq!(answer.json()["code"], "INVALID_TOKEN", "{how}");
}

both!(new_password_invalidates_all_emailed_links, |app| {
    let (world, ben) = (&app.world, &app.world.ben);
    let browser = signed_in(app, ben).await;
    let before = create_links(app).await;
    let change = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD});
    browser.post("/auth/change-password", change).await.expect(200);
    assert_links_invalid(app, before, "the own change").await;

    let before = create_links(app).await;
    let path = format!("/users/{}/reset-password", ben.id);
    app.as_(&world.adam).post(&path, json!({})).await.expect(200);
    assert_links_invalid(app, before, "a reset by an admin").await;

    execute(&app.database, "DELETE FROM verifications".to_owned()).await;
    let before = create_links(app).await;
    let set = json!({"userId": ben.id, "newPassword": NEW_PASSWORD});
    let root = signed_in(app, &world.root).await;
    root.post("/auth/admin/set-user-password", set).await.expect(200);
    assert_links_invalid(app, before, "a reset by the platform").await;

    execute(&app.database, "DELETE FROM verifications".to_owned()).await;
    let (reset, change) = create_links(app).await;
    let body = json!({"newPassword": "Kugel und Kegel", "token": reset});
    app.stranger().post("/auth/reset-password", body).await.expect(200);
    assert_links_invalid(app, (reset, change), "a mailed reset").await;
});

both!(user_is_notified_who_reset_the_password, |app| {
    let (world, finn) = (&app.world, &app.world.finn);
    execute(&app.database, VERIFY_ALL_MAILBOXES.to_owned()).await;
    enable(app, finn).await;
    assert_eq!(
        app.as_(finn).get("/users/me").await.expect(200)["passwordReset"],
        json!(null)
    );
    let path = format!("/users/{}/reset-password", finn.id);
    let temporary = app.as_(&world.adam).post(&path, json!({})).await.expect(200)["temporaryPassword"].clone();
    let mails = outbox(app, 1).await;
    let mail = mails.iter().find(|mail| mail.to == finn.email).unwrap();
    assert_eq!(mail.subject, "Adam Admin reset your password");
    assert!(!mail.raw.contains(temporary.as_str().unwrap()));
    let browser = Browser::new(app);
    browser
        .sign_in(&finn.email, temporary.as_str().unwrap())
        .await
        .expect(200);
    let me = browser.get("/users/me").await.expect(200);
    assert_eq!(me["mustChangePassword"], true);
    assert_eq!(
        (&me["passwordReset"]["by"]["id"], &me["passwordReset"]["by"]["name"]),
        (&json!(world.adam.id), &json!("Adam Admin"))
    );
    // A reset by the platform does not name the administrator.
    let set = json!({"userId": finn.id, "newPassword": NEW_PASSWORD});
    let root = signed_in(app, &world.root).await;
    root.post("/auth/admin/set-user-password", set).await.expect(200);
    browser.sign_in(&finn.email, NEW_PASSWORD).await.expect(200);
    let reset = browser.get("/users/me").await.expect(200)["passwordReset"].clone();
    assert!(reset["at"].is_string() && reset["by"].is_null(), "{reset}");
    // No email is sent to an unverified mailbox: it may belong to another person.
    let unproven = format!("UPDATE users SET email_verified = FALSE WHERE id = '{}'", world.cem.id);
    execute(&app.database, unproven).await;
    let path = format!("/users/{}/reset-password", world.cem.id);
    app.as_(&world.adam).post(&path, json!({})).await.expect(200);
    let path = format!("/users/{}/reset-password", world.dana.id);
    app.as_(&world.adam).post(&path, json!({})).await.expect(200);
    let mails = outbox(app, mails.len() + 1).await;
    assert!(mails.iter().any(|mail| mail.to == world.dana.email));
    assert!(!mails.iter().any(|mail| mail.to == world.cem.email));
});

both!(passwords_with_school_name_and_weak_ones_are_rejected, |app| {
    let adam = app.as_(&app.world.adam);
    let new = json!({
        "name": "Ida Newcomer", "email": "ida.n@test.example", "role": "STUDENT", "password": "North-School-2026",
    });
    adam.post("/users", new).await.invalid("password");
    let browser = signed_in(app, &app.world.ben).await;
    for weak in [
        "north school 26",
        "Sommer2026!",
        "abcabcabc",
        "qwertz123",
        "Groupwork-2026",
    ] {
        let change = json!({"currentPassword": PASSWORD, "newPassword": weak});
        let answer = browser.post("/auth/change-password", change).await;
        answer.refused(400, "PASSWORD_COMPROMISED");
    }
});

both!(emails_in_the_outbox_are_exported_and_erased, |app| {
    let (world, ben) = (&app.world, &app.world.ben);
    let adam = app.as_(&world.adam);
    execute(&app.database, VERIFY_ALL_MAILBOXES.to_owned()).await;
    for person in [ben, &world.cem] {
        let path = format!("/users/{}/reset-password", person.id);
        adam.post(&path, json!({})).await.expect(200);
    }
    assert_eq!(outbox(app, 2).await.len(), 2);
    let archive = app.as_(&world.cem).post("/users/me/export", json!({})).await;
    // A reset ends the sessions, including the one of the fixture, so the user signs in again.
    assert_eq!(archive.status, 401);
    enable(app, &world.cem).await;
    let cem = Browser::new(app);
    cem.sign_in(&world.cem.email, PASSWORD).await.expect(200);
    let archive = cem.client().post("/users/me/export", json!({})).await;
    let entries = test_support::archive_entries::read_archive(&archive.bytes);
    let entry = entries
        .iter()
        .find(|entry| entry.name == "emails-in-outbox.json")
        .unwrap();
    let emails: serde_json::Value = serde_json::from_slice(&entry.bytes).unwrap();
    assert_eq!(emails.as_array().unwrap().len(), 1, "{emails}");
    assert!(emails[0]["to"].as_str().unwrap().contains(&world.cem.email));
    let erase = json!({"userId": ben.id, "dryRun": false});
    adam.post("/admin/gdpr/erase", erase).await.expect(200);
    let left = outbox(app, 1).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].to, world.cem.email);
});
