//! Changing the caller's own email address: requires the password and access to the new mailbox.

use serde_json::{Value, json};

use test_support::accounts::{PASSWORD, enable};
use test_support::emails::{SentEmail, outbox, queued_emails};
use test_support::rows::{execute, texts};
use test_support::{FRONTEND, TestApp};

const NEW_ADDRESS: &str = "new.address@test.example";

fn link(mail: &SentEmail) -> String {
    let link = mail.link();
    assert!(link.contains("/verify-email?token="), "{link}");
    link.strip_prefix("/api").unwrap().to_owned()
}

async fn email(app: &TestApp, id: &str) -> Option<String> {
    texts(&app.database, format!("SELECT email FROM users WHERE id = '{id}'"))
        .await
        .remove(0)
}

both!(link_in_new_mailbox_changes_the_email_address, |app| {
    let (world, ben) = (&app.world, app.as_(&app.world.ben));
    enable(app, &world.ben).await;
    let ask = async |address: &str, password: &str| {
        ben.post("/users/me/email", json!({"newEmail": address, "password": password}))
            .await
    };
    ask("no address", PASSWORD).await.invalid("newEmail");
    ask(&world.ben.email, PASSWORD).await.invalid("newEmail");
    ask(NEW_ADDRESS, "wrong password").await.invalid("password");
    let failures = "SELECT account_key FROM sign_in_failures".to_owned();
    assert_eq!(texts(&app.database, failures).await, [Some(world.ben.email.clone())]);
    assert_eq!(queued_emails(app).await, 0);
    assert!(outbox(app, 0).await.is_empty());
    assert_eq!(
        ask(" New.Address@Test.Example ", PASSWORD).await.expect(200),
        json!({"status": true})
    );
    let sent = outbox(app, 2).await;
    assert_eq!(sent.len(), 2);
    assert_eq!((sent[0].to.as_str(), &sent[1].to), (NEW_ADDRESS, &world.ben.email));
    assert!(!sent[1].text.contains("token="), "the old mailbox gets no link");
    assert_eq!(
        email(app, &world.ben.id).await,
        Some(world.ben.email.clone()),
        "nothing changes before"
    );

    let stranger = app.stranger();
    let answer = stranger.get(&link(&sent[0])).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (302, &*format!("{FRONTEND}/?emailChanged=true"))
    );
    assert_eq!(email(app, &world.ben.id).await.as_deref(), Some(NEW_ADDRESS));
    let answer = stranger.get(&link(&sent[0])).await;
    assert_eq!(answer.header("location"), format!("{FRONTEND}/?error=INVALID_TOKEN"));
    stranger
        .get("/auth/verify-email?token=unknown")
        .await
        .refused(400, "INVALID_TOKEN");
    let away = format!(
        "/auth/verify-email?token=x&callbackURL={}",
        "https%3A%2F%2Fevil.example"
    );
    stranger.get(&away).await.refused(403, "INVALID_CALLBACK_URL");
    let body = json!({"email": NEW_ADDRESS, "password": PASSWORD});
    stranger.post("/auth/sign-in/email", body).await.expect(200);

    // Without a page to redirect to, the link returns JSON.
    let third = "third.address@test.example";
    ask(third, PASSWORD).await.expect(200);
    let sent = outbox(app, 4).await;
    let mail = sent.iter().find(|mail| mail.to == third).unwrap();
    let path = link(mail);
    let confirmed = stranger.get(path.split('&').next().unwrap()).await.expect(200);
    assert_eq!(confirmed, json!({"status": true, "user": null}));
    assert_eq!(email(app, &world.ben.id).await.as_deref(), Some(third));
});

both!(email_change_does_not_reveal_taken_addresses, |app| {
    let (world, ben) = (&app.world, app.as_(&app.world.ben));
    enable(app, &world.ben).await;
    let ask = async |address: &str| {
        ben.post("/users/me/email", json!({"newEmail": address, "password": PASSWORD}))
            .await
    };
    assert_eq!(ask(&world.zoe.email).await.expect(200), json!({"status": true}));
    let sent = outbox(app, 1).await;
    assert_eq!(sent.len(), 1, "only the old mailbox is notified");
    assert_eq!(sent[0].to, world.ben.email);
    // The address is free when the change is requested and taken when the link is followed.
    ask(NEW_ADDRESS).await.expect(200);
    let mails = outbox(app, 3).await;
    let mail = mails.into_iter().find(|mail| mail.to == NEW_ADDRESS).unwrap();
    execute(
        &app.database,
        format!("UPDATE users SET email = '{NEW_ADDRESS}' WHERE id = '{}'", world.cem.id),
    )
    .await;
    let answer = app.stranger().get(&link(&mail)).await;
    assert_eq!(answer.header("location"), format!("{FRONTEND}/?error=INVALID_TOKEN"));
    assert_eq!(email(app, &world.ben.id).await, Some(world.ben.email.clone()));
    for address in ["second@test.example", "third@test.example"] {
        ask(address).await.expect(200);
    }
    ask("fourth@test.example").await.refused(429, "RATE_LIMITED");
});

both!(wrong_passwords_count_as_failed_sign_ins, |app| {
    let (world, ben) = (&app.world, app.as_(&app.world.ben));
    enable(app, &world.ben).await;
    let mut last = Value::Null;
    for _ in 0..6 {
        let body = json!({"newEmail": NEW_ADDRESS, "password": "wrong password"});
        last = ben.post("/users/me/email", body).await.json();
    }
    assert_eq!(last["code"], "RATE_LIMITED");
    let right = json!({"newEmail": NEW_ADDRESS, "password": PASSWORD});
    ben.post("/users/me/email", right).await.refused(429, "RATE_LIMITED");
});
