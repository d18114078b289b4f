//! `/auth/admin` on users: bans, platform roles, sessions, passwords and removal.

use db::args;
use serde_json::{Value, json};

use super::admin::user_log_records;
use super::{AGE_BAN, Browser, COUNT_SESSIONS, PASSWORD, one, run, signed_in};
use test_support::browser::cookie_names;
use test_support::{Answer, LessonFixture, RealtimeRows};

const NEW_PASSWORD: &str = "Dreieck und Kreis";

tenants!(ban_ends_sessions_and_blocks_sign_in_until_it_expires, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let ben = signed_in(app, &world.ben).await;
    let ban = async |body: Value| root.post("/auth/admin/ban-user", body).await;
    let user = ban(json!({"userId": world.ben.id, "banReason": "Loud", "banExpiresIn": 60}))
        .await
        .expect(200)["user"]
        .clone();
    assert_eq!((&user["banned"], &user["banReason"]), (&json!(true), &json!("Loud")));
    assert!(user["banExpires"].is_string(), "{user}");
    assert_eq!(one::<i64>(app, &COUNT_SESSIONS, args![world.ben.id]), 0);
    assert_eq!(ben.get("/auth/get-session").await.expect(200), json!(null));
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    let sign_in = async |password: &str| Browser::new(app).sign_in(&world.ben.email, password).await;
    sign_in("another password")
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    let answer = sign_in(PASSWORD).await;
    assert_eq!(cookie_names(&answer), [] as [&str; 0]);
    answer.refused(403, "BANNED_USER");
    let record = user_log_records(app, &world.ben.id).await.remove(0);
    assert_eq!(
        (&record["action"], &record["details"]["changed"]),
        (&json!("UPDATE"), &json!(["banned"]))
    );
    assert!(
        !record.to_string().contains("Loud"),
        "the reason is not logged: {record}"
    );

    // Expires the ban.
    run(app, &AGE_BAN, args![world.ben.id, 61_000_i64]);
    let shown = |answer: Answer| answer.expect(200)["banned"].clone();
    assert_eq!(
        shown(root.get(&format!("/auth/admin/get-user?id={}", world.ben.id)).await),
        false
    );
    let body = sign_in(PASSWORD).await.expect(200);
    assert_eq!(body["user"]["banned"], false);

    assert_eq!(
        ban(json!({"userId": world.ben.id})).await.expect(200)["user"]["banReason"],
        "No reason"
    );
    sign_in(PASSWORD).await.refused(403, "BANNED_USER");
    let user = root
        .post("/auth/admin/unban-user", json!({"userId": world.ben.id}))
        .await
        .expect(200)["user"]
        .clone();
    assert_eq!(
        (&user["banned"], &user["banReason"], &user["banExpires"]),
        (&json!(false), &json!(null), &json!(null))
    );
    sign_in(PASSWORD).await.expect(200);

    ban(json!({"userId": world.root.id}))
        .await
        .refused(400, "YOU_CANNOT_BAN_YOURSELF");
    let own = json!({"userId": world.root.id, "data": {"banned": true}});
    root.post("/auth/admin/update-user", own)
        .await
        .refused(400, "YOU_CANNOT_BAN_YOURSELF");
    ban(json!({"userId": "nobody"})).await.refused(404, "USER_NOT_FOUND");
    ban(json!({"userId": world.ben.id, "banExpiresIn": -1}))
        .await
        .refused(400, "VALIDATION_ERROR");
    let data = json!({"userId": world.ben.id, "data": {"banned": true, "banExpires": "2099-01-01T00:00:00Z"}});
    assert_eq!(
        root.post("/auth/admin/update-user", data).await.expect(200)["banned"],
        true
    );
    sign_in(PASSWORD).await.refused(403, "BANNED_USER");
});

both!(super_admin_changes_roles_of_others_with_immediate_effect, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let set = async |user: &str, role: Value| {
        root.post("/auth/admin/set-role", json!({"userId": user, "role": role}))
            .await
    };
    let courses = format!("/courses?organizationId={}", world.south);
    let old = app.as_(&world.tom);
    assert_eq!(
        set(&world.tom.id, json!(["SUPER_ADMIN"])).await.expect(200)["user"]["role"],
        "SUPER_ADMIN"
    );
    // Sessions opened under the old role are closed.
    old.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let tom = signed_in(app, &world.tom).await;
    tom.get("/auth/admin/list-users").await.expect(200);
    assert_eq!(
        set(&world.tom.id, json!("TEACHER")).await.expect(200)["user"]["role"],
        "TEACHER"
    );
    tom.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let tom = signed_in(app, &world.tom).await;
    tom.get("/auth/admin/list-users")
        .await
        .refused(403, "YOU_ARE_NOT_ALLOWED_TO_LIST_USERS");
    assert!(tom.get(&courses).await.status >= 400);
    let record = user_log_records(app, &world.tom.id).await.remove(0);
    assert_eq!(record["details"]["after"], json!({"role": "TEACHER"}));
    set(&world.root.id, json!("TEACHER"))
        .await
        .refused(403, "YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE");
    set(&world.root.id, json!("SUPER_ADMIN")).await.expect(200);
    set(&world.tom.id, json!("owner"))
        .await
        .refused(400, "YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE");
    set(&world.tom.id, json!(5)).await.refused(400, "VALIDATION_ERROR");
    set("nobody", json!("ADMIN")).await.refused(404, "USER_NOT_FOUND");
    let own = json!({"userId": world.root.id, "data": {"role": "TEACHER"}});
    root.post("/auth/admin/update-user", own)
        .await
        .refused(403, "YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE");

    let may = async |browser: &Browser, permissions: Value| {
        let answer = browser
            .post("/auth/admin/has-permission", json!({"permissions": permissions}))
            .await;
        answer.expect(200)["success"].clone()
    };
    assert_eq!(
        may(&root, json!({"user": ["ban", "impersonate"], "session": ["revoke"]})).await,
        true
    );
    assert_eq!(may(&root, json!({"user": ["impersonate-admins"]})).await, false);
    let ada = signed_in(app, &world.ada).await;
    assert_eq!(may(&ada, json!({"user": ["list"]})).await, false);
    let message = root
        .post("/auth/admin/has-permission", json!({"permission": {}}))
        .await
        .expect(400);
    assert_eq!(
        message["message"],
        "invalid permission check. no permission(s) were passed."
    );
});

tenants!(super_admin_revokes_sessions_and_sets_passwords, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let ben = signed_in(app, &world.ben).await;
    let of = |user: &str| json!({"userId": user});
    let listed = root
        .post("/auth/admin/list-user-sessions", of(&world.ben.id))
        .await
        .expect(200);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(listed["sessions"][1]["token"], ben.token());
    let success = json!({"success": true});
    let revoke = async |token: &str| {
        root.post("/auth/admin/revoke-user-session", json!({"sessionToken": token}))
            .await
    };
    assert_eq!(revoke("unknown").await.expect(200), success);
    assert_eq!(revoke(&ben.token()).await.expect(200), success);
    assert_eq!(ben.get("/auth/get-session").await.expect(200), json!(null));
    app.as_(&world.ben).get("/users/me").await.expect(200);
    assert_eq!(
        root.post("/auth/admin/revoke-user-sessions", of(&world.ben.id))
            .await
            .expect(200),
        success
    );
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    assert_eq!(user_log_records(app, &world.ben.id).await.len(), 2);
    root.post("/auth/admin/revoke-user-sessions", of("nobody"))
        .await
        .expect(200);

    let ben = Browser::new(app);
    ben.sign_in(&world.ben.email, PASSWORD).await.expect(200);
    let set = async |user: &str, password: &str| {
        root.post(
            "/auth/admin/set-user-password",
            json!({"userId": user, "newPassword": password}),
        )
        .await
    };
    set(&world.ben.id, "").await.refused(400, "VALIDATION_ERROR");
    set(&world.ben.id, "short").await.refused(400, "PASSWORD_TOO_SHORT");
    set("nobody", NEW_PASSWORD).await.refused(404, "USER_NOT_FOUND");
    assert_eq!(
        set(&world.ben.id, NEW_PASSWORD).await.expect(200),
        json!({"status": true})
    );
    assert_eq!(
        ben.get("/auth/get-session").await.expect(200),
        json!(null),
        "a reset ends all sessions"
    );
    ben.sign_in(&world.ben.email, PASSWORD)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    ben.sign_in(&world.ben.email, NEW_PASSWORD).await.expect(200);
    assert_eq!(
        user_log_records(app, &world.ben.id).await[0]["details"]["changed"],
        json!(["password"]),
        "{:?}",
        user_log_records(app, &world.ben.id).await
    );
    // Cem had no password; the call sets the first one.
    set(&world.cem.id, NEW_PASSWORD).await.expect(200);
    Browser::new(app)
        .sign_in(&world.cem.email, NEW_PASSWORD)
        .await
        .expect(200);
    set(&world.root.id, NEW_PASSWORD).await.expect(200);
    assert_eq!(root.cookies(), 0, "the own sessions end as well");
});

both!(removed_user_is_deleted_and_their_work_is_kept, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let rows = RealtimeRows(app);
    rows.join_school(&world.south, &world.ben, "student").await;
    let ben = signed_in(app, &world.ben).await;
    let lesson = LessonFixture::create(app).await;
    let remove = async |user: &str| root.post("/auth/admin/remove-user", json!({"userId": user})).await;
    assert_eq!(remove(&world.ben.id).await.expect(200), json!({"success": true}));
    assert_eq!(ben.get("/auth/get-session").await.expect(200), json!(null));
    ben.sign_in(&world.ben.email, PASSWORD)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    root.get(&format!("/auth/admin/get-user?id={}", world.ben.id))
        .await
        .refused(404, "USER_NOT_FOUND");
    remove(&world.ben.id).await.refused(404, "USER_NOT_FOUND");
    assert_eq!(root.get("/auth/admin/list-users").await.expect(200)["total"], 13);

    let ada = app.as_(&world.ada);
    let document = ada
        .get(&format!("/workrooms/documents/{}", lesson.document))
        .await
        .expect(200);
    assert_eq!(document["createdById"], json!(world.ben.id), "the group's work stays");
    let group = ada.get(&format!("/groups/{}", lesson.group)).await.expect(200);
    // The submission keeps the user's name because the user took part in it. The group's member list does not.
    assert!(
        !group["members"].to_string().contains(&world.ben.id),
        "the user is not a member any more: {group}"
    );
    let record = user_log_records(app, &world.ben.id).await.remove(0);
    assert_eq!(
        (&record["action"], &record["entityName"], &record["userId"]),
        (&json!("DELETE"), &json!("Ben Student"), &json!(world.root.id)),
        "the record stays, too"
    );
    let south = app.as_(&world.zara).get("/activity-logs").await.expect(200);
    assert_eq!(
        south["data"][0]["entityId"],
        json!(world.ben.id),
        "every school of the user has a record"
    );
    let again = json!({"email": world.ben.email, "name": "Ben again"});
    root.post("/auth/admin/create-user", again).await.expect(200);

    remove(&world.olga.id).await.refused(409, "LAST_OWNER");
    app.as_(&world.olga).get("/subjects").await.expect(200);
    remove(&world.root.id).await.refused(400, "YOU_CANNOT_REMOVE_YOURSELF");
    remove(&world.nobody.id).await.expect(200);
});
