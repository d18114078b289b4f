//! What administrators of each organization can still do after an invitation, an acceptance and a password reset.

use serde_json::json;

use super::{
    CHOSEN_PASSWORD, count_members, invite_ben, mailed_token, set_active, sign_in, verify_mailbox_and_sign_in,
};
use test_support::accounts::{PASSWORD, enable};

both!(invitation_keeps_rights_of_the_home_organization, |app| {
    let (world, adam, zara) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.zara));
    enable(app, &world.ben).await;
    invite_ben(app).await;
    let path = format!("/users/{}", world.ben.id);
    zara.get(&path).await.refused(404, "NOT_FOUND");
    adam.patch(&path, json!({"name": "Ben North"})).await.expect(200);
    adam.post(&format!("{path}/reset-password"), json!({}))
        .await
        .expect(200);
    adam.patch(&path, json!({"isActive": false})).await.expect(200);
    let body = json!({"email": world.ben.email, "password": PASSWORD});
    app.stranger()
        .post("/auth/sign-in/email", body)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    adam.patch(&path, json!({"isActive": true})).await.expect(200);
    adam.post("/admin/gdpr/erase", json!({"userId": world.ben.id}))
        .await
        .expect(200);
    // Deleting the account deletes the invitation of its address.
    assert_eq!(zara.get("/admin/invitations").await.expect(200)["data"], json!([]));
});

both!(admin_rights_on_shared_account_end_at_own_organization, |app| {
    let (world, adam, zara) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.zara));
    enable(app, &world.ben).await;
    let ben = verify_mailbox_and_sign_in(app, &world.ben).await;
    let id = invite_ben(app).await;
    let accept = json!({"invitationId": id});
    let accepted = ben
        .post("/auth/organization/accept-invitation", accept.clone())
        .await
        .expect(200);
    assert_eq!(accepted["member"]["role"], "student", "{accepted}");
    ben.post("/auth/organization/accept-invitation", accept)
        .await
        .refused(400, "INVITATION_NOT_FOUND");
    assert_eq!(count_members(app, &world.north, &world.ben.email).await, 1);
    ben.get("/subjects").await.expect(200);

    let path = format!("/users/{}", world.ben.id);
    for client in [&adam, &zara] {
        for change in [json!({"name": "Mine"}), json!({"email": "mine@south.example"})] {
            client.patch(&path, change).await.refused(403, "SHARED_ACCOUNT");
        }
        client
            .post("/admin/gdpr/erase", json!({"userId": world.ben.id}))
            .await
            .refused(403, "SHARED_ACCOUNT");
        client
            .post("/admin/gdpr/export", json!({"userId": world.ben.id}))
            .await
            .expect(202);
    }
    zara.post(&format!("{path}/reset-password"), json!({}))
        .await
        .refused(403, "SHARED_ACCOUNT");

    // Deactivation blocks one organization and does not affect the other.
    adam.patch(&path, json!({"isActive": false})).await.expect(200);
    assert_eq!(adam.get(&path).await.expect(200)["isActive"], false);
    ben.get("/subjects").await.expect(200);
    set_active(&ben, &world.north)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    adam.patch(&path, json!({"isActive": true})).await.expect(200);
    set_active(&ben, &world.north).await.expect(200);

    // The home organization resets the password. The password is valid for North only, until the mailbox is verified.
    let reset = adam
        .post(&format!("{path}/reset-password"), json!({}))
        .await
        .expect(200);
    let temporary = reset["temporaryPassword"].as_str().unwrap();
    let known = sign_in(app, &world.ben.email, temporary).await;
    set_active(&known, &world.south)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    let by_host = known.with("Host", "south.schools.test");
    by_host.get("/subjects").await.refused(403, "PASSWORD_NOT_CONFIRMED");
    let organizations = known.get("/auth/organization/list").await.expect(200);
    assert_eq!(organizations.as_array().map(Vec::len), Some(1), "{organizations}");
    known
        .post("/users/me/export", json!({}))
        .await
        .refused(403, "PASSWORD_NOT_CONFIRMED");
    known
        .post(
            "/users/me/email",
            json!({"newEmail": "mine@north.example", "password": temporary}),
        )
        .await
        .refused(403, "SHARED_ACCOUNT");
    known
        .get("/auth/organization/list-user-invitations")
        .await
        .refused(403, "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION");
    set_active(&known, &world.north).await.expect(200);
    let change = json!({"currentPassword": temporary, "newPassword": "Kreide an der Tafel"});
    known.post("/auth/change-password", change).await.expect(200);
    set_active(&known, &world.south)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    let confirmed = verify_mailbox_and_sign_in(app, &world.ben).await;
    set_active(&confirmed, &world.south).await.expect(200);

    // Removal ends the membership.
    zara.delete(&path).await.expect(200);
    adam.patch(&path, json!({"name": "Ben North"})).await.expect(200);
});

both!(acceptance_turns_unverified_memberships_into_invitations, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    enable(app, &world.ben).await;
    invite_ben(app).await;
    let token = mailed_token(app, 1).await;
    let body = json!({"token": token, "password": CHOSEN_PASSWORD});
    app.stranger().post("/invitations/accept", body).await.expect(200);
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    let ben = sign_in(app, &world.ben.email, CHOSEN_PASSWORD).await;
    let own = ben.get("/auth/organization/list-user-invitations").await.expect(200);
    assert_eq!(
        (&own[0]["organizationName"], &own[0]["role"]),
        (&json!("North School"), &json!("student"))
    );
    let accept = json!({"invitationId": own[0]["id"]});
    ben.post("/auth/organization/accept-invitation", accept)
        .await
        .expect(200);
    let class = ben.get(&format!("/classes/{}", world.seven_b.id)).await.expect(200);
    assert_eq!(class["name"], "7b");
    // North is the home organization again, in addition to another accepted membership.
    let path = format!("/users/{}", world.ben.id);
    adam.patch(&path, json!({"name": "Mine"}))
        .await
        .refused(403, "SHARED_ACCOUNT");
    adam.post(&format!("{path}/reset-password"), json!({}))
        .await
        .expect(200);
});

both!(accepting_elsewhere_does_not_reactivate_a_membership, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let path = format!("/users/{}", world.ben.id);
    adam.patch(&path, json!({"isActive": false})).await.expect(200);
    invite_ben(app).await;
    let token = mailed_token(app, 1).await;
    let body = json!({"token": token, "password": CHOSEN_PASSWORD});
    app.stranger().post("/invitations/accept", body).await.expect(200);
    let ben = sign_in(app, &world.ben.email, CHOSEN_PASSWORD).await;
    set_active(&ben, &world.south).await.expect(200);
    ben.get("/subjects").await.expect(200);
    set_active(&ben, &world.north)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    assert_eq!(
        ben.get("/auth/organization/list-user-invitations").await.expect(200),
        json!([])
    );
    assert_eq!(adam.get(&path).await.expect(200)["isActive"], false);
});
