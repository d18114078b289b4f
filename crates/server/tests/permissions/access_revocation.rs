//! A user who loses a role, a membership or an account loses access at once, regardless of open sessions and sockets.

use api::router;
use domain::access::Access;
use domain::id::ClassId;
use domain::realtime::Room;
use serde_json::json;

use test_support::Browser;
use test_support::accounts::{PASSWORD, enable};
use test_support::realtime_rows::group_updated;
use test_support::rows::texts;
use test_support::samples::path_with_unknown_ids;
use test_support::school_people::member_of_north;
use test_support::{Client, RealtimeRows, SocketListener, TestApp, clients_are_installed, raw_socket, until};

/// Waits until a socket has left a room.
async fn wait_for_sockets_left(app: &TestApp, room: &Room, left: usize) {
    let what = format!("{room:?} has {left} sockets");
    until(&what, async || app.app.realtime().count(room) <= left).await;
}

both!(demoted_teacher_loses_all_staff_access, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    enable(app, &world.ada).await;
    let browser = Browser::new(app);
    browser.sign_in(&world.ada.email, PASSWORD).await.expect(200);
    let choose = json!({"organizationId": world.north});
    browser.post("/auth/organization/set-active", choose).await.expect(200);
    let old = [app.as_(&world.ada), browser.client()];
    for client in &old {
        client.get("/users").await.expect(200);
    }
    let mut socket = raw_socket::Socket::open(app, &world.ada.cookie).await;
    socket.expect("ready").await;
    let staff = Room::Staff(ClassId::new(&world.seven_b.id));
    assert_eq!(app.app.realtime().count(&staff), 1);

    let member = format!("/admin/members/{}", member_of_north(app, &world.ada).await);
    let changed = adam.patch(&member, json!({"role": "student"})).await.expect(200);
    assert_eq!(
        (&changed["role"], &changed["user"]["id"]),
        (&json!("student"), &json!(world.ada.id))
    );
    let (_, rows) = router::description();
    let taught: Vec<_> = rows
        .iter()
        .filter(|row| matches!(row.access, Access::Staff | Access::Admin))
        .collect();
    assert!(taught.len() > 20);
    let again = Browser::new(app);
    again.sign_in(&world.ada.email, PASSWORD).await.expect(200);
    let choose = json!({"organizationId": world.north});
    again.post("/auth/organization/set-active", choose).await.expect(200);
    for row in taught {
        let ask = async |client: &Client| {
            let body = (row.method != "GET").then(|| json!({}));
            client
                .send(row.method.parse().unwrap(), &path_with_unknown_ids(&row.path), body)
                .await
        };
        for client in &old {
            ask(client).await.refused(401, "UNAUTHENTICATED");
        }
        ask(&again.client()).await.refused(403, "FORBIDDEN_ROLE");
    }
    wait_for_sockets_left(app, &staff, 0).await;
    let logged = texts(
        &app.database,
        "SELECT details FROM activity_logs WHERE action = 'ROLE_CHANGED'".to_owned(),
    )
    .await;
    assert_eq!(logged.len(), 1);
    assert!(
        logged[0].as_deref().unwrap().contains("\"from\":\"teacher\""),
        "{logged:?}"
    );
});

both!(deactivation_reset_and_removal_end_sessions_and_sockets, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let user = |id: &str| format!("/users/{id}");
    let mut ben = SocketListener::connect(app, &world.ben).await;
    adam.patch(&user(&world.ben.id), json!({"isActive": false}))
        .await
        .expect(200);
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    assert_eq!(ben.expect("session:revoked").await["reason"], "DEACTIVATED");
    let mut cem = SocketListener::connect(app, &world.cem).await;
    adam.post(&format!("{}/reset-password", user(&world.cem.id)), json!({}))
        .await
        .expect(200);
    app.as_(&world.cem)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    assert_eq!(cem.expect("session:revoked").await["reason"], "PASSWORD_CHANGED");
    let mut dana = SocketListener::connect(app, &world.dana).await;
    adam.delete(&user(&world.dana.id)).await.expect(200);
    app.as_(&world.dana)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    assert_eq!(dana.expect("session:revoked").await["reason"], "DEACTIVATED");
});

both!(deactivated_account_fails_sign_in_like_a_wrong_password, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    enable(app, &world.ben).await;
    let sign_in = async |password: &str| {
        let body = json!({"email": world.ben.email, "password": password});
        let mut answer = app
            .stranger()
            .post("/auth/sign-in/email", body)
            .await
            .refused(401, "INVALID_EMAIL_OR_PASSWORD");
        answer["requestId"] = json!(null);
        answer
    };
    let path = format!("/users/{}", world.ben.id);
    adam.patch(&path, json!({"isActive": false})).await.expect(200);
    assert_eq!(sign_in(PASSWORD).await, sign_in("wrong password").await);
    assert_eq!(
        adam.get("/users?isActive=0").await.expect(200)["data"][0]["id"],
        json!(world.ben.id)
    );
    adam.patch(&path, json!({"isActive": true})).await.expect(200);
    let body = json!({"email": world.ben.email, "password": PASSWORD});
    app.stranger().post("/auth/sign-in/email", body).await.expect(200);
    // Reactivating the account does not restore its revoked sessions.
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
});

both!(removed_member_loses_access_in_this_school_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, adam, ada, rows) = (
        &app.world,
        app.as_(&app.world.adam),
        app.as_(&app.world.ada),
        RealtimeRows(app),
    );
    rows.join_school(&world.south, &world.ben, "student").await;
    let at_south = rows.another_session(&world.ben).await;
    rows.set_active_school(&at_south, Some(&world.south)).await;
    let homeroom = adam.post("/homerooms", json!({"name": "7b"})).await.expect(201)["id"].clone();
    let path = format!("/homerooms/{}/students", homeroom.as_str().unwrap());
    adam.post(&path, json!({"studentIds": [world.ben.id]}))
        .await
        .expect(200);
    let group = json!({"name": "Rivers", "classId": world.seven_b.id, "memberIds": [world.ben.id, world.cem.id]});
    let group = ada.post("/groups", group).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut here = SocketListener::connect(app, &world.ben).await;
    let mut there = SocketListener::connect(app, &at_south).await;
    let mut mate = SocketListener::connect(app, &world.cem).await;
    let mut teacher = SocketListener::connect(app, &world.ada).await;

    let ended = adam.delete(&format!("/users/{}", world.ben.id)).await.expect(200);
    assert_eq!(ended, json!({"success": true}));
    assert_eq!(here.expect("session:revoked").await["reason"], "MEMBERSHIP_ENDED");
    assert_eq!(
        mate.expect("group:member:removed").await["user"]["id"],
        json!(world.ben.id)
    );
    let gone = teacher.expect("class:membership").await;
    assert_eq!(
        (&gone["userId"], &gone["action"]),
        (&json!(world.ben.id), &json!("REMOVED"))
    );
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    app.as_(&at_south).get("/subjects").await.expect(200);
    let members = ada.get(&format!("/groups/{group}")).await.expect(200)["members"].clone();
    assert_eq!(members.as_array().unwrap().len(), 1);
    let left = format!(
        "SELECT 'x' FROM class_enrollments WHERE student_id = '{0}' AND organization_id = '{1}'
            UNION ALL SELECT 'x' FROM homeroom_enrollments WHERE student_id = '{0}'
            UNION ALL SELECT 'x' FROM members WHERE user_id = '{0}' AND organization_id = '{1}'",
        world.ben.id, world.north
    );
    assert!(texts(&app.database, left).await.is_empty());
    let active = format!(
        "SELECT CAST(is_active AS TEXT) FROM users WHERE id = '{}' AND is_active",
        world.ben.id
    );
    assert_eq!(
        texts(&app.database, active).await.len(),
        1,
        "the user is still a member elsewhere"
    );
    rows.emit(vec![group_updated(
        &world.north,
        vec![Room::User(test_support::realtime_rows::user(&world.ben))],
        "too late",
    )])
    .await;
    there.expect_no_event(150).await;
});

both!(removed_teacher_loses_roles_and_owned_classes_stay, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let teachers = format!("/classes/{}/teachers", world.seven_b.id);
    adam.post(&teachers, json!({"userId": world.tom.id})).await.expect(200);
    let homeroom = json!({"name": "8a", "teacherId": world.tom.id});
    let homeroom = adam.post("/homerooms", homeroom).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    adam.delete(&format!("/users/{}", world.tom.id)).await.expect(200);
    let class = adam.get(&format!("/classes/{}", world.eight_a.id)).await.expect(200);
    assert_eq!(class["teacherId"], json!(world.tom.id), "it must be handed over first");
    let class = adam.get(&format!("/classes/{}", world.seven_b.id)).await.expect(200);
    assert_eq!(class["coTeachers"], json!([]));
    assert_eq!(
        adam.get(&format!("/homerooms/{homeroom}")).await.expect(200)["teacherId"],
        json!(null)
    );
});
