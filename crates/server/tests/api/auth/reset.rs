//! Password reset by email: the email, its link, and responses that do not reveal whether an account exists.

use db::args;
use serde_json::json;

use super::{Browser, COUNT_SESSIONS, PASSWORD, one, signed_in};
use test_support::FRONTEND;
use test_support::emails::{SentEmail, outbox};

const NEW_PASSWORD: &str = "Dreieck und Kreis";

fn token(mail: &SentEmail) -> String {
    let link = mail.link();
    let rest = link.strip_prefix("/api/auth/reset-password/").unwrap();
    rest.split('?').next().unwrap().to_owned()
}

both!(emailed_link_resets_the_password_once, |app| {
    let (ada, browser) = (&app.world.ada, signed_in(app, &app.world.ada).await);
    let stranger = Browser::new(app);
    let ask = async |email: &str| {
        let body = json!({"email": email, "redirectTo": "/new-password?x=1"});
        stranger.post("/auth/request-password-reset", body).await.expect(200)
    };
    assert_eq!(
        ask(&ada.email.to_uppercase()).await,
        ask("nobody@nowhere.example").await
    );
    let mails = outbox(app, 1).await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].to, ada.email);
    let token = token(&mails[0]);

    let follow =
        async |token: &str, callback: &str| stranger.get(&format!("/auth/reset-password/{token}{callback}")).await;
    let answer = follow(&token, "?callbackURL=%2Fnew-password%3Fx%3D1").await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (302, &*format!("{FRONTEND}/new-password?x=1&token={token}"))
    );
    let answer = follow("unknown", "?callbackURL=%2Fnew").await;
    assert_eq!(answer.header("location"), format!("{FRONTEND}/new?error=INVALID_TOKEN"));
    follow(&token, "").await.refused(400, "VALIDATION_ERROR");
    follow(&token, "?callbackURL=https%3A%2F%2Fevil.example")
        .await
        .refused(403, "INVALID_CALLBACK_URL");

    let reset = async |password: &str, token: &str| {
        stranger
            .post("/auth/reset-password", json!({"newPassword": password, "token": token}))
            .await
    };
    reset("short", &token).await.refused(400, "PASSWORD_TOO_SHORT");
    reset(NEW_PASSWORD, "unknown").await.refused(400, "INVALID_TOKEN");
    assert_eq!(reset(NEW_PASSWORD, &token).await.expect(200), json!({"status": true}));
    reset(NEW_PASSWORD, &token).await.refused(400, "INVALID_TOKEN");
    assert_eq!(
        one::<i64>(app, &COUNT_SESSIONS, args![ada.id]),
        0,
        "all sessions are over"
    );
    assert_eq!(browser.session().await, json!(null));
    stranger
        .sign_in(&ada.email, PASSWORD)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    stranger.sign_in(&ada.email, NEW_PASSWORD).await.expect(200);
});

both!(password_reset_sends_three_emails_per_hour_at_most, |app| {
    let stranger = Browser::new(app);
    for _ in 0..6 {
        let body = json!({"email": app.world.ada.email});
        stranger.post("/auth/request-password-reset", body).await.expect(200);
    }
    // Emails are queued in the background. An email to another user shows that all earlier ones are processed.
    outbox(app, 3).await;
    stranger
        .post("/auth/request-password-reset", json!({"email": app.world.ben.email}))
        .await
        .expect(200);
    assert_eq!(outbox(app, 4).await.len(), 4);
    let away = json!({"email": app.world.ada.email, "redirectTo": "https://evil.example/"});
    stranger
        .post("/auth/request-password-reset", away)
        .await
        .refused(403, "INVALID_REDIRECT_URL");
});
