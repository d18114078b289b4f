//! The caller's own account: name and picture, password, and `/users/me`.

use db::args;
use serde_json::json;

use super::{Browser, COUNT_SESSIONS, PASSWORD, one, signed_in};
use test_support::browser::{COPY, TOKEN, cookie_names};

const NEW_PASSWORD: &str = "Dreieck und Kreis";

tenants!(changed_name_is_returned_immediately, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    let answer = browser
        .post("/auth/update-user", json!({"name": " Ada L. ", "image": "", "x": 1}))
        .await;
    assert_eq!(cookie_names(&answer), [TOKEN, COPY]);
    assert_eq!(answer.expect(200), json!({"status": true}));
    let user = browser.get("/auth/get-session").await.expect(200)["user"].clone();
    assert_eq!((&user["name"], &user["image"]), (&json!("Ada L."), &json!(null)));
    browser
        .post("/auth/update-user", json!({"image": null}))
        .await
        .expect(200);
    assert_eq!(browser.get("/users/me").await.expect(200)["image"], json!(null));

    let change = async |body| browser.post("/auth/update-user", body).await;
    change(json!({"email": "new@school.example"}))
        .await
        .refused(400, "EMAIL_CAN_NOT_BE_UPDATED");
    change(json!({"name": "A", "role": "SUPER_ADMIN"}))
        .await
        .refused(400, "FIELD_NOT_ALLOWED");
    change(json!({"banned": false})).await.refused(400, "FIELD_NOT_ALLOWED");
    assert_eq!(
        change(json!({"unknown": 1})).await.expect(400)["message"],
        "No fields to update"
    );
    change(json!({"name": ""})).await.refused(400, "VALIDATION_ERROR");
    change(json!({"name": null})).await.refused(400, "VALIDATION_ERROR");
    change(json!({"image": "javascript:alert(1)"}))
        .await
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(browser.get("/users/me").await.expect(200)["name"], "Ada L.");
    app.stranger()
        .post("/auth/update-user", json!({"name": "A"}))
        .await
        .refused(401, "UNAUTHORIZED");
});

tenants!(accounts_are_listed_without_passwords, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    let accounts = browser.get("/auth/list-accounts").await.expect(200);
    assert_eq!(accounts[0]["providerId"], "credential");
    assert_eq!(
        (&accounts[0]["accountId"], &accounts[0]["userId"]),
        (&json!(app.world.ada.id), &json!(app.world.ada.id))
    );
    assert_eq!(accounts[0]["scopes"], json!([]));
    assert!(accounts[0].get("password").is_none());
});

tenants!(password_change_requires_the_current_password, |app| {
    let (ada, browser) = (&app.world.ada, signed_in(app, &app.world.ada).await);
    let change = async |current: &str, new: &str| {
        browser
            .post(
                "/auth/change-password",
                json!({"currentPassword": current, "newPassword": new}),
            )
            .await
    };
    change(PASSWORD, "short").await.refused(400, "PASSWORD_TOO_SHORT");
    change(PASSWORD, &"x".repeat(129))
        .await
        .refused(400, "PASSWORD_TOO_LONG");
    change(PASSWORD, "password1").await.refused(400, "PASSWORD_COMPROMISED");
    change("another password", NEW_PASSWORD)
        .await
        .refused(400, "INVALID_PASSWORD");
    browser
        .post("/auth/change-password", json!({"newPassword": NEW_PASSWORD}))
        .await
        .refused(400, "VALIDATION_ERROR");
    browser
        .post("/auth/verify-password", json!({"password": PASSWORD}))
        .await
        .expect(200);
    app.stranger()
        .post("/auth/verify-password", json!({"password": PASSWORD}))
        .await
        .refused(401, "UNAUTHORIZED");

    let body = change(PASSWORD, NEW_PASSWORD).await.expect(200);
    assert_eq!(
        (&body["token"], &body["user"]["email"]),
        (&json!(null), &json!(ada.email))
    );
    assert_eq!(
        one::<i64>(app, &COUNT_SESSIONS, args![ada.id]),
        2,
        "the other session goes on"
    );
    let other = Browser::new(app);
    other
        .sign_in(&ada.email, PASSWORD)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    other.sign_in(&ada.email, NEW_PASSWORD).await.expect(200);
});

tenants!(password_change_can_revoke_other_sessions, |app| {
    let (ada, browser) = (&app.world.ada, signed_in(app, &app.world.ada).await);
    browser
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .expect(200);
    let old = browser.copy();
    let body = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD, "revokeOtherSessions": true});
    let body = browser.post("/auth/change-password", body).await.expect(200);
    assert_eq!(body["token"], browser.token());
    assert_ne!(browser.token(), old.token());
    assert_eq!(one::<i64>(app, &COUNT_SESSIONS, args![ada.id]), 1);
    assert_eq!(browser.session().await["activeOrganizationId"], json!(null));
    old.get("/subjects").await.refused(401, "UNAUTHENTICATED");
});

tenants!(user_without_password_cannot_change_it, |app| {
    let ben = app.as_(&app.world.ben);
    let body = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD});
    ben.post("/auth/change-password", body)
        .await
        .refused(400, "CREDENTIAL_ACCOUNT_NOT_FOUND");
});

both!(user_reads_and_edits_own_profile, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let mut me = ada.get("/users/me").await.expect(200);
    assert_eq!(
        (&me["id"], &me["email"], &me["role"]),
        (&json!(world.ada.id), &json!(world.ada.email), &json!("STUDENT"))
    );
    assert_eq!(
        (&me["member"]["role"], &me["member"]["user"]["id"]),
        (&json!("teacher"), &json!(world.ada.id))
    );
    assert_eq!(
        (&me["organization"]["id"], &me["organization"]["status"]),
        (&json!(world.north), &json!("ACTIVE"))
    );
    assert!(me.get("homeOrganizationId").is_none() && !me.to_string().contains("assword\":\""));

    me["locale"] = json!("de");
    me["timezone"] = json!("Europe/Berlin");
    let changed = ada.patch("/users/me", me.clone()).await.expect(200);
    assert_eq!(
        (&changed["locale"], &changed["timezone"]),
        (&json!("de"), &json!("Europe/Berlin"))
    );
    me["role"] = json!("SUPER_ADMIN");
    let same = ada.patch("/users/me", me).await.expect(200);
    assert_eq!(same["role"], changed["role"], "read-only fields are ignored");
    let same = ada.patch("/users/me", json!({"isActive": false})).await.expect(200);
    assert_eq!(same["isActive"], changed["isActive"]);
    ada.patch("/users/me", json!({"nickname": "A"}))
        .await
        .invalid("nickname");
    ada.patch("/users/me", json!({"locale": null})).await.invalid("locale");
    ada.patch("/users/me", json!({"image": "ftp://x"}))
        .await
        .invalid("image");
    ada.patch("/users/me", json!({"timezone": null, "name": "Ada L."}))
        .await
        .expect(200);

    let nobody = app.as_(&world.nobody).get("/users/me").await.expect(200);
    assert_eq!(
        (&nobody["member"], &nobody["organization"]),
        (&json!(null), &json!(null))
    );
    let elsewhere = app
        .as_(&world.nobody)
        .with("host", "south.schools.test")
        .get("/users/me")
        .await
        .expect(200);
    assert_eq!(
        elsewhere["organization"],
        json!(null),
        "the Host header selects no school of the user"
    );
    app.stranger().get("/users/me").await.refused(401, "UNAUTHENTICATED");
});
