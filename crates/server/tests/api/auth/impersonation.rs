//! Impersonation: limited to an hour, never of platform administrators, named in every log record, and reversible.

use better_auth::cookie;
use db::args;
use serde_json::{Value, json};

use super::{
    AGE_SESSION, BAN, Browser, COUNT_SESSIONS, END_SESSION, PASSWORD, SET_HOME, SET_PLATFORM_ROLE, SWITCH_OFF, enable,
    one, run, signed_in,
};
use test_support::browser::{COPY, TOKEN, cookie_names, set_cookies};
use test_support::{AUTH_SECRET, TestApp, TestUser};

const RETURN_COOKIE: &str = "better-auth.admin_session";
const DONT_REMEMBER_COOKIE: &str = "better-auth.dont_remember";

async fn impersonate(root: &Browser, person: &TestUser) -> Value {
    let answer = root
        .post("/auth/admin/impersonate-user", json!({"userId": person.id}))
        .await;
    answer.expect(200)
}

/// Root impersonates Ada in Ada's school. Returns the browser and the token of Root's own session.
async fn impersonate_ada(app: &TestApp) -> (Browser, String) {
    let root = signed_in(app, &app.world.root).await;
    let own = root.token();
    impersonate(&root, &app.world.ada).await;
    root.set_active(json!({"organizationId": app.world.north}))
        .await
        .expect(200);
    (root, own)
}

both!(impersonation_cookies_restore_the_own_session, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let own = root.token();
    let answer = root
        .post("/auth/admin/impersonate-user", json!({"userId": world.ada.id}))
        .await;
    let lines = set_cookies(&answer);
    assert_eq!(
        cookie_names(&answer),
        [
            TOKEN,
            COPY,
            COPY,
            DONT_REMEMBER_COOKIE,
            RETURN_COOKIE,
            TOKEN,
            DONT_REMEMBER_COOKIE,
            COPY
        ],
        "cleared, the way back, then the session of a browser"
    );
    assert!(
        lines[..4].iter().all(|line| line.contains("=; Max-Age=0;")),
        "{lines:?}"
    );
    let back = cookie::sign(AUTH_SECRET, &format!("{own}:"));
    assert_eq!(
        lines[4],
        format!("{RETURN_COOKIE}={back}; Max-Age=86400; Path=/; HttpOnly; SameSite=Lax")
    );
    assert!(lines[5..].iter().all(|line| !line.contains("Max-Age")), "{lines:?}");
    let body = answer.expect(200);
    assert_eq!(
        (
            &body["session"]["impersonatedBy"],
            &body["session"]["userId"],
            &body["user"]["id"]
        ),
        (&json!(world.root.id), &json!(world.ada.id), &json!(world.ada.id))
    );
    let time = |key: &str| domain::time::Timestamp::parse(body["session"][key].as_str().unwrap()).unwrap();
    assert_eq!(time("expiresAt").seconds_since(time("createdAt")), 3600);
    assert_eq!(root.session().await["impersonatedBy"], json!(world.root.id));
    root.get("/auth/admin/list-users")
        .await
        .refused(403, "YOU_ARE_NOT_ALLOWED_TO_LIST_USERS");
    let mine = app.as_(&world.ada).get("/auth/list-sessions").await.expect(200);
    assert_eq!(
        mine.as_array().unwrap().len(),
        1,
        "the user does not see the impersonation"
    );

    let there = root.copy();
    let answer = root.post("/auth/admin/stop-impersonating", json!({})).await;
    assert_eq!(
        cookie_names(&answer),
        [TOKEN, DONT_REMEMBER_COOKIE, COPY, RETURN_COOKIE]
    );
    let lines = set_cookies(&answer);
    assert!(
        lines[0].contains("Max-Age=86400") && lines[1].contains("=; Max-Age=0") && lines[3].contains("=; Max-Age=0"),
        "{lines:?}"
    );
    let body = answer.expect(200);
    assert_eq!(
        (&body["session"]["token"], &body["user"]["id"]),
        (&json!(own), &json!(world.root.id))
    );
    assert_eq!(root.token(), own);
    root.get("/auth/admin/list-users").await.expect(200);
    assert_eq!(
        there.get("/auth/get-session").await.expect(200),
        json!(null),
        "that session is over"
    );
    let again = root.post("/auth/admin/stop-impersonating", json!({})).await.expect(400);
    assert_eq!(again["message"], "You are not impersonating anyone");
    app.stranger()
        .post("/auth/admin/stop-impersonating", json!({}))
        .await
        .refused(401, "UNAUTHORIZED");
});

tenants!(stopping_impersonation_keeps_cookies_without_max_age, |app| {
    let world = &app.world;
    let root = signed_in(app, &world.root).await;
    let body = json!({"email": world.root.email, "password": PASSWORD, "rememberMe": false});
    root.post("/auth/sign-in/email", body).await.expect(200);
    impersonate(&root, &world.ada).await;
    let answer = root.post("/auth/admin/stop-impersonating", json!({})).await;
    assert!(
        !set_cookies(&answer)[0].contains("Max-Age"),
        "{:?}",
        set_cookies(&answer)
    );
    assert!(root.cookie(DONT_REMEMBER_COOKIE).is_some());
});

tenants!(super_admins_and_blocked_users_cannot_be_impersonated, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let refused = async |user: &str| root.post("/auth/admin/impersonate-user", json!({"userId": user})).await;
    refused(&world.root.id)
        .await
        .refused(403, "YOU_CANNOT_IMPERSONATE_ADMINS");
    let tom = json!({"userId": world.tom.id, "role": "SUPER_ADMIN"});
    root.post("/auth/admin/set-role", tom).await.expect(200);
    refused(&world.tom.id)
        .await
        .refused(403, "YOU_CANNOT_IMPERSONATE_ADMINS");
    refused("nobody").await.refused(404, "USER_NOT_FOUND");
    run(app, &BAN, args![world.ben.id, None::<i64>]);
    refused(&world.ben.id).await.refused(403, "BANNED_USER");
    run(app, &SWITCH_OFF, args![world.cem.id]);
    refused(&world.cem.id)
        .await
        .refused(403, "YOU_ARE_NOT_ALLOWED_TO_IMPERSONATE_USERS");
    assert_eq!(
        root.get("/auth/get-session").await.expect(200)["user"]["id"],
        world.root.id,
        "still himself"
    );
});

tenants!(log_records_name_the_impersonating_admin, |app| {
    let (world, (root, _)) = (&app.world, impersonate_ada(app).await);
    root.post("/subjects", json!({"name": "Latin"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let class = &world.seven_b;
    let new = json!({"name": "Plants", "classId": class.id, "subjectId": class.subject});
    root.post("/courses", new).await.expect(201);
    let wrong = json!({"password": "another password"});
    enable(app, &world.ada).await;
    run(app, &SET_HOME, args![world.ada.id, world.north]);
    root.post("/auth/verify-password", wrong)
        .await
        .refused(400, "INVALID_PASSWORD");
    root.post("/auth/admin/stop-impersonating", json!({})).await.expect(200);
    let page = app.as_(&world.adam).get("/activity-logs").await.expect(200);
    let received: Vec<_> = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|record| {
            let by = record["details"]["impersonatedBy"].clone();
            (
                record["category"].as_str().unwrap().to_owned(),
                record["action"].as_str().unwrap().to_owned(),
                record["userId"].clone(),
                by,
            )
        })
        .collect();
    let (ada, by) = (json!(world.ada.id), json!(world.root.id));
    let record = |category: &str, action: &str, user: &Value, by: &Value| {
        (category.to_owned(), action.to_owned(), user.clone(), by.clone())
    };
    assert_eq!(
        received,
        [
            record("AUTH", "CREATE", &by, &Value::Null),
            record("COURSE", "CREATE", &ada, &by),
            record("AUTH", "LOGIN_FAILED", &Value::Null, &by),
            record("AUTH", "DELETE", &ada, &by),
        ]
    );
});

tenants!(impersonation_ends_after_one_hour_without_renewal, |app| {
    let (root, _) = impersonate_ada(app).await;
    root.set_cookie(DONT_REMEMBER_COOKIE, "gone");
    run(app, &AGE_SESSION, args![root.token(), 3_500_000_i64]);
    assert!(root.get("/auth/get-session").await.expect(200)["session"].is_object());
    run(app, &AGE_SESSION, args![root.token(), 101_000_i64]);
    root.get("/courses").await.refused(401, "UNAUTHENTICATED");
});

tenants!(impersonation_ends_when_admin_loses_the_right, |app| {
    let world = &app.world;
    let (acting, _) = impersonate_ada(app).await;
    let other = signed_in(app, &world.root).await;
    let works = async || acting.client().get("/courses").await.status;
    assert_eq!(works().await, 200);
    // The roles are changed directly in the database: the session lookup itself rejects the session.
    run(app, &SET_PLATFORM_ROLE, args![world.root.id, "TEACHER"]);
    assert_eq!(works().await, 401, "a former super admin");
    run(app, &SET_PLATFORM_ROLE, args![world.root.id, "SUPER_ADMIN"]);
    run(app, &SET_PLATFORM_ROLE, args![world.ada.id, "SUPER_ADMIN"]);
    assert_eq!(works().await, 401, "a user who became a super admin");
    run(app, &SET_PLATFORM_ROLE, args![world.ada.id, "TEACHER"]);
    assert_eq!(works().await, 200);
    other.post("/auth/revoke-sessions", json!({})).await.expect(200);
    assert_eq!(works().await, 401, "ending all sessions ends impersonations, too");
    assert_eq!(one::<i64>(app, &COUNT_SESSIONS, args![world.ada.id]), 1);
});

tenants!(stopping_impersonation_without_own_session_signs_out, |app| {
    let (world, (root, own)) = (&app.world, impersonate_ada(app).await);
    run(app, &END_SESSION, args![own]);
    let answer = root.post("/auth/admin/stop-impersonating", json!({})).await;
    answer.refused(401, "UNAUTHORIZED");
    assert_eq!(
        (root.cookies(), one::<i64>(app, &COUNT_SESSIONS, args![world.ada.id])),
        (0, 1)
    );

    // A return cookie that names the session of another user is rejected.
    let (root, _) = impersonate_ada(app).await;
    let zoe = signed_in(app, &world.zoe).await;
    root.set_cookie(RETURN_COOKIE, &cookie::sign(AUTH_SECRET, &format!("{}:", zoe.token())));
    root.post("/auth/admin/stop-impersonating", json!({}))
        .await
        .refused(401, "UNAUTHORIZED");
});

tenants!(signing_out_while_impersonating_ends_both_sessions, |app| {
    let (world, (root, _)) = (&app.world, impersonate_ada(app).await);
    let before: i64 = one(app, &COUNT_SESSIONS, args![world.root.id]);
    root.post("/auth/sign-out", json!({})).await.expect(200);
    assert_eq!(root.cookies(), 0);
    assert_eq!(one::<i64>(app, &COUNT_SESSIONS, args![world.root.id]), before - 1);
    assert_eq!(one::<i64>(app, &COUNT_SESSIONS, args![world.ada.id]), 1);
});
