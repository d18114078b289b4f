//! Invitation tokens: validity, permitted users and concurrent use.

use serde_json::{Value, json};

use super::{CHOSEN_PASSWORD, count_members, invite_ben, mailed_token, person, verify_mailbox_and_sign_in};
use test_support::TestApp;
use test_support::accounts::enable;
use test_support::rows::texts;

both!(mailed_token_is_void_after_cancel_resend_expiry_and_use, |app| {
    let (world, zara) = (&app.world, app.as_(&app.world.zara));
    let stranger = app.stranger();
    let dead = async |token: &str| {
        let body = json!({"token": token, "password": CHOSEN_PASSWORD});
        stranger
            .post("/invitations/preview", json!({"token": token}))
            .await
            .refused(404, "NOT_FOUND");
        stranger
            .post("/invitations/accept", body)
            .await
            .refused(404, "NOT_FOUND");
    };
    dead("nothing").await;
    dead("").await;
    let id = invite_ben(app).await;
    let first = mailed_token(app, 1).await;
    // Neither the database nor the log contains the token.
    let digest = texts(
        &app.database,
        format!("SELECT token_digest FROM invitations WHERE id = '{id}'"),
    )
    .await;
    assert!(
        digest[0]
            .as_ref()
            .is_some_and(|digest| digest.len() == 43 && !digest.contains(&first))
    );
    assert!(
        !zara
            .get("/activity-logs")
            .await
            .expect(200)
            .to_string()
            .contains(&first)
    );

    let resend = format!("/admin/invitations/{id}/resend");
    let refused = zara.post(&resend, json!({})).await;
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 200);
    refused.refused(429, "RATE_LIMITED");
    execute(app, &format!("UPDATE invitations SET sent_at = 1 WHERE id = '{id}'")).await;
    zara.post(&resend, json!({})).await.expect(200);
    let second = mailed_token(app, 2).await;
    dead(&first).await;

    execute(app, &format!("UPDATE invitations SET expires_at = 1 WHERE id = '{id}'")).await;
    dead(&second).await;
    execute(app, &format!("UPDATE invitations SET sent_at = 1 WHERE id = '{id}'")).await;
    zara.post(&resend, json!({})).await.expect(200);
    let third = mailed_token(app, 3).await;
    stranger
        .post("/invitations/preview", json!({"token": third}))
        .await
        .expect(200);

    let cancel = json!({"invitationId": id});
    app.as_(&world.adam)
        .post("/auth/organization/cancel-invitation", cancel.clone())
        .await
        .refused(400, "MEMBER_NOT_FOUND");
    app.as_(&world.zoe)
        .post("/auth/organization/cancel-invitation", cancel.clone())
        .await
        .refused(403, "YOU_ARE_NOT_ALLOWED_TO_CANCEL_THIS_INVITATION");
    let canceled = zara
        .post("/auth/organization/cancel-invitation", cancel.clone())
        .await
        .expect(200);
    assert_eq!(canceled["status"], "canceled");
    zara.post("/auth/organization/cancel-invitation", cancel)
        .await
        .refused(400, "INVITATION_NOT_FOUND");
    dead(&third).await;
    // A repeated invitation is rate-limited, so that it cannot flood the mailbox.
    zara.post("/users", person(&world.ben.email, "STUDENT"))
        .await
        .refused(429, "RATE_LIMITED");
    assert_eq!(count_members(app, &world.south, &world.ben.email).await, 0);
});

async fn execute(app: &TestApp, statement: &str) {
    let database = app.database.clone();
    test_support::rows::execute(&database, statement.to_owned()).await;
}

both!(concurrent_acceptances_accept_invitation_once, |app| {
    let world = &app.world;
    invite_ben(app).await;
    let token = mailed_token(app, 1).await;
    let body = json!({"token": token, "password": CHOSEN_PASSWORD});
    let stranger = app.stranger();
    let (one, two, three) = tokio::join!(
        stranger.post("/invitations/accept", body.clone()),
        stranger.post("/invitations/accept", body.clone()),
        stranger.post("/invitations/accept", body.clone()),
    );
    let mut statuses = [one.status, two.status, three.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404, 404]);
    assert_eq!(count_members(app, &world.south, &world.ben.email).await, 1);
});

both!(concurrent_cancel_and_accept_have_one_outcome, |app| {
    let (world, zara) = (&app.world, app.as_(&app.world.zara));
    let id = invite_ben(app).await;
    let token = mailed_token(app, 1).await;
    let (stranger, body) = (app.stranger(), json!({"token": token, "password": CHOSEN_PASSWORD}));
    let (accepted, canceled) = tokio::join!(
        stranger.post("/invitations/accept", body),
        zara.post("/auth/organization/cancel-invitation", json!({"invitationId": id})),
    );
    assert_eq!(
        usize::from(accepted.status == 200) + usize::from(canceled.status == 200),
        1,
        "{} {}",
        accepted.status,
        canceled.status
    );
    let joined = count_members(app, &world.south, &world.ben.email).await;
    assert_eq!(joined, usize::from(accepted.status == 200));
});

both!(address_without_a_mailbox_cannot_be_invited, |app| {
    let (adam, zara) = (app.as_(&app.world.adam), app.as_(&app.world.zara));
    let pupil = person("pupil@north.invalid", "STUDENT");
    adam.post("/users", pupil.clone()).await.expect(201);
    zara.post("/users", pupil).await.refused(409, "NO_MAILBOX");
    let rows = json!({"users": [{"email": "pupil@north.invalid", "firstName": "Pupil", "role": "student"}]});
    let report = zara.post("/users/import", rows).await.expect(200);
    assert_eq!(report["rows"][0]["errors"][0]["code"], "NO_MAILBOX", "{report}");
});

both!(rejected_invitation_leaves_no_membership, |app| {
    let (world, zara) = (&app.world, app.as_(&app.world.zara));
    enable(app, &world.ben).await;
    let ben = verify_mailbox_and_sign_in(app, &world.ben).await;
    let id = invite_ben(app).await;
    let shown = ben
        .get(&format!("/auth/organization/get-invitation?id={id}"))
        .await
        .expect(200);
    assert_eq!(
        (&shown["organizationSlug"], &shown["inviterEmail"]),
        (&json!("south"), &json!(world.zara.email))
    );
    let cem = app.as_(&world.cem);
    cem.post("/auth/organization/accept-invitation", json!({"invitationId": id}))
        .await
        .refused(403, "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION");
    let rejected = ben
        .post("/auth/organization/reject-invitation", json!({"invitationId": id}))
        .await
        .expect(200);
    assert_eq!(
        (&rejected["invitation"]["status"], &rejected["member"]),
        (&json!("rejected"), &Value::Null)
    );
    let listed = zara.get("/auth/organization/list-invitations").await.expect(200);
    assert_eq!(listed[0]["status"], "rejected", "{listed}");
    assert_eq!(count_members(app, &world.south, &world.ben.email).await, 0);
});
