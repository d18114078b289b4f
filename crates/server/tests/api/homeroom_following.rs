//! Classes that follow a homeroom: every way into and out of a homeroom changes the enrolments of the class.

use serde_json::{Value, json};

use test_support::rosters::{import, table};
use test_support::rows::texts;
use test_support::{Client, DatabaseKind, TestApp, TestUser};

const YEAR: &str = "2026/2027";

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

async fn homeroom(app: &TestApp, name: &str, students: &[&TestUser]) -> String {
    let adam = app.as_(&app.world.adam);
    let made = adam.post("/homerooms", json!({"name": name})).await.expect(201);
    if !students.is_empty() {
        join(app, &id(&made), students).await;
    }
    id(&made)
}

async fn join(app: &TestApp, homeroom: &str, students: &[&TestUser]) {
    let ids: Vec<&str> = students.iter().map(|student| student.id.as_str()).collect();
    let path = format!("/homerooms/{homeroom}/students");
    app.as_(&app.world.adam)
        .post(&path, json!({"studentIds": ids}))
        .await
        .expect(200);
}

async fn leave(app: &TestApp, homeroom: &str, student: &TestUser) {
    let path = format!("/homerooms/{homeroom}/students/{}", student.id);
    app.as_(&app.world.adam).delete(&path).await.expect(200);
}

/// Creates a class of a teacher that follows a homeroom.
async fn follower(teacher: &Client, homeroom: &str) -> String {
    let new = json!({"name": "Follower", "academicYear": YEAR, "homeroomId": homeroom, "followsHomeroom": true});
    let made = teacher.post("/classes", new).await.expect(201);
    assert_eq!(made["followsHomeroom"], true);
    id(&made)
}

/// Returns the first names of the students of a class in alphabetical order.
async fn roster(app: &TestApp, class: &str) -> Vec<String> {
    let path = format!("/classes/{class}/students");
    let students = app.as_(&app.world.adam).get(&path).await.expect(200);
    let students = students.as_array().unwrap().iter();
    let mut names: Vec<String> = students
        .map(|student| {
            let name = student["user"]["name"].as_str().unwrap();
            name.split(' ').next().unwrap().to_owned()
        })
        .collect();
    names.sort();
    names
}

/// Returns the log entries of a class, the newest first.
async fn logged(app: &TestApp, class: &str) -> Vec<(String, Value)> {
    let path = format!("/activity-logs?classId={class}&category=CLASS");
    let page = app.as_(&app.world.adam).get(&path).await.expect(200);
    let entries = page["data"].as_array().unwrap().iter();
    entries
        .map(|entry| (entry["event"].as_str().unwrap().to_owned(), entry["details"].clone()))
        .collect()
}

async fn reset_password(teacher: &Client, student: &TestUser) -> test_support::Answer {
    let path = format!("/users/{}/reset-password", student.id);
    teacher.post(&path, json!({})).await
}

both!(following_class_enrolls_who_joins_a_homeroom_in_any_way, |app| {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    let room = homeroom(app, "9z", &[&world.ben]).await;
    let class = follower(&ada, &room).await;
    let second = follower(&ada, &room).await;
    assert_eq!(roster(app, &class).await, ["Ben"]);

    // Added to the homeroom, as a roll-over does.
    join(app, &room, &[&world.cem, &world.dana]).await;
    assert_eq!(roster(app, &class).await, ["Ben", "Cem", "Dana"]);
    let log = logged(app, &class).await;
    assert_eq!(
        (log[0].0.as_str(), log[0].1["students"].as_array().map(Vec::len)),
        ("CLASS_MEMBER_ADDED", Some(2))
    );
    // Created with the homeroom.
    let new = json!({"name": "Gina New", "role": "STUDENT", "homeroomId": room});
    adam.post("/users", new).await.expect(201);
    assert_eq!(roster(app, &class).await, ["Ben", "Cem", "Dana", "Gina"]);
    // Imported; the dry run changes nothing.
    let people = table(&[
        "hugo@new.example,Hugo,New,student,,9z,,",
        "eli.student@test.example,Eli,Student,student,,9z,,",
    ]);
    import(&adam, "?dryRun=1", "people.csv", people.clone())
        .await
        .expect(200);
    assert_eq!(roster(app, &class).await.len(), 4);
    import(&adam, "", "people.csv", people).await.expect(200);
    assert_eq!(roster(app, &class).await, ["Ben", "Cem", "Dana", "Eli", "Gina", "Hugo"]);
    // Invited from another school; the invitation is accepted.
    let planted = json!({"name": "Ina Other", "email": "ina@other.example", "role": "STUDENT"});
    app.as_(&world.zara).post("/users", planted.clone()).await.expect(201);
    let mut invited = planted;
    invited["homeroomId"] = json!(room);
    adam.post("/users", invited).await.expect(201);
    assert_eq!(roster(app, &class).await.len(), 6);
    let waiting = adam.get("/admin/invitations").await.expect(200);
    let path = format!(
        "/admin/invitations/{}/confirm",
        waiting["data"][0]["id"].as_str().unwrap()
    );
    app.as_(&world.root).post(&path, json!({})).await.expect(200);
    let everyone = ["Ben", "Cem", "Dana", "Eli", "Gina", "Hugo", "Ina"];
    assert_eq!(roster(app, &class).await, everyone);
    assert_eq!(roster(app, &second).await, everyone);
    let by = "SELECT DISTINCT enrolled_by FROM class_enrollments WHERE from_homeroom".to_owned();
    assert_eq!(texts(&app.database, by).await, [Some("homeroom".to_owned())]);
});

both!(following_class_unenrolls_who_leaves_the_homeroom_in_any_way, |app| {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    let room = homeroom(app, "9z", &[&world.ben, &world.cem, &world.dana, &world.eli]).await;
    let class = follower(&ada, &room).await;
    let group = json!({"name": "Owls", "classId": class, "memberIds": [world.ben.id, world.cem.id]});
    let group = id(&ada.post("/groups", group).await.expect(201));
    // Finn is enrolled individually, and Eli as well as with the homeroom.
    let students = format!("/classes/{class}/students");
    ada.post(&students, json!({"studentIds": [world.finn.id, world.eli.id]}))
        .await
        .expect(200);

    // Taken out of the homeroom, with the effects of an unenrolment.
    leave(app, &room, &world.ben).await;
    assert_eq!(roster(app, &class).await, ["Cem", "Dana", "Eli", "Finn"]);
    let log = logged(app, &class).await;
    let expected = json!({
        "student": {"id": world.ben.id, "name": "Ben Student"},
        "removedFromGroups": [{"id": group, "name": "Owls"}],
    });
    assert_eq!(
        (log[0].0.as_str(), &log[0].1["student"]),
        ("CLASS_MEMBER_REMOVED", &expected["student"])
    );
    assert_eq!(log[0].1["removedFromGroups"][0]["id"], json!(group));
    let members = ada.get(&format!("/groups/{group}")).await.expect(200);
    assert_eq!(members["members"].as_array().map(Vec::len), Some(1), "{members}");
    leave(app, &room, &world.eli).await;
    assert_eq!(
        roster(app, &class).await,
        ["Cem", "Dana", "Eli", "Finn"],
        "enrolled individually"
    );

    // Deactivated, and activated again.
    let cem = format!("/users/{}", world.cem.id);
    adam.patch(&cem, json!({"isActive": false})).await.expect(200);
    assert_eq!(roster(app, &class).await, ["Dana", "Eli", "Finn"]);
    adam.patch(&cem, json!({"isActive": true})).await.expect(200);
    assert_eq!(roster(app, &class).await, ["Cem", "Dana", "Eli", "Finn"]);
    // Removed from the school.
    adam.delete(&cem).await.expect(200);
    assert_eq!(roster(app, &class).await, ["Dana", "Eli", "Finn"]);

    // Moved to another homeroom, which another class follows.
    let other = homeroom(app, "9y", &[]).await;
    let next = follower(&ada, &other).await;
    leave(app, &room, &world.dana).await;
    join(app, &other, &[&world.dana]).await;
    assert_eq!(roster(app, &class).await, ["Eli", "Finn"]);
    assert_eq!(roster(app, &next).await, ["Dana"]);

    // The end of the homeroom ends the following and keeps the students.
    adam.delete(&format!("/homerooms/{other}")).await.expect(200);
    let shown = ada.get(&format!("/classes/{next}")).await.expect(200);
    assert_eq!(
        (&shown["followsHomeroom"], &shown["homeroomId"]),
        (&json!(false), &json!(null))
    );
    assert_eq!(roster(app, &next).await, ["Dana"]);
});

both!(student_of_a_followed_homeroom_cannot_be_unenrolled_alone, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let room = homeroom(app, "9z", &[&world.ben]).await;
    let class = follower(&ada, &room).await;
    let students = format!("/classes/{class}/students");
    ada.post(&students, json!({"studentIds": [world.ben.id, world.finn.id]}))
        .await
        .expect(200);
    for client in [&ada, &app.as_(&world.adam)] {
        client
            .delete(&format!("{students}/{}", world.ben.id))
            .await
            .refused(409, "CLASS_FOLLOWS_HOMEROOM");
    }
    ada.delete(&format!("{students}/{}", world.finn.id)).await.expect(200);
    // Enrolled individually, Ben stays after the homeroom, and can then be unenrolled.
    leave(app, &room, &world.ben).await;
    assert_eq!(roster(app, &class).await, ["Ben"]);
    ada.delete(&format!("{students}/{}", world.ben.id)).await.expect(200);
});

both!(following_is_previewed_and_changed, |app| {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    let room = homeroom(app, "9z", &[&world.ben, &world.cem]).await;
    let other = homeroom(app, "9y", &[&world.cem, &world.finn]).await;
    let new = json!({"name": "Later", "academicYear": YEAR, "homeroomId": room});
    let class = id(&ada.post("/classes", new).await.expect(201));
    let (path, following) = (format!("/classes/{class}"), format!("/classes/{class}/following"));
    let students = format!("{path}/students");
    ada.post(&students, json!({"studentIds": [world.ben.id, world.dana.id]}))
        .await
        .expect(200);

    let on = json!({"followsHomeroom": true});
    let preview = ada.post(&format!("{following}?dryRun=1"), on.clone()).await.expect(200);
    let cem = json!([{"id": world.cem.id, "name": "Cem Student", "image": null}]);
    assert_eq!((&preview["joined"], &preview["left"]), (&cem, &json!([])));
    assert_eq!(ada.get(&path).await.expect(200)["followsHomeroom"], false);
    assert_eq!(roster(app, &class).await, ["Ben", "Dana"]);
    assert_eq!(ada.post(&following, on.clone()).await.expect(200), preview);
    assert_eq!(roster(app, &class).await, ["Ben", "Cem", "Dana"]);
    // Repeated, it changes nothing.
    let again = ada.post(&following, on.clone()).await.expect(200);
    assert_eq!(
        (&again["joined"], &again["followsHomeroom"]),
        (&json!([]), &json!(true))
    );

    // Another homeroom: who is in both stays, who is in the former only leaves, who was enrolled before stays.
    let moved = json!({"followsHomeroom": true, "homeroomId": other});
    let preview = ada
        .post(&format!("{following}?dryRun=1"), moved.clone())
        .await
        .expect(200);
    assert_eq!(preview["left"][0]["student"]["id"], json!(world.ben.id));
    assert_eq!(preview["joined"][0]["id"], json!(world.finn.id));
    ada.post(&following, moved).await.expect(200);
    assert_eq!(roster(app, &class).await, ["Cem", "Dana", "Finn"]);

    // An archived class does not follow until it is active again.
    ada.patch(&path, json!({"status": "ARCHIVED"})).await.expect(200);
    join(app, &other, &[&world.eli]).await;
    leave(app, &other, &world.finn).await;
    assert_eq!(roster(app, &class).await, ["Cem", "Dana", "Finn"]);
    ada.post(&following, json!({"followsHomeroom": false}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.patch(&path, json!({"status": "ACTIVE"})).await.expect(200);
    assert_eq!(roster(app, &class).await, ["Cem", "Dana", "Eli"]);

    // Switched off, the students stay, and the homeroom does not matter any more.
    ada.patch(&path, json!({"followsHomeroom": false})).await.expect(200);
    leave(app, &other, &world.eli).await;
    assert_eq!(roster(app, &class).await, ["Cem", "Dana", "Eli"]);
    ada.patch(&path, json!({"homeroomId": null})).await.expect(200);
    ada.patch(&path, json!({"followsHomeroom": true}))
        .await
        .invalid("followsHomeroom");
    ada.post(&following, on.clone()).await.invalid("followsHomeroom");
    let new = json!({"name": "None", "academicYear": YEAR, "followsHomeroom": true});
    ada.post("/classes", new).await.invalid("followsHomeroom");

    // Only the staff of the class, and no user of another school.
    app.as_(&world.tom)
        .post(&following, on.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.ben)
        .post(&following, on.clone())
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.zoe)
        .post(&following, on.clone())
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.zara)
        .post(&following, on.clone())
        .await
        .refused(404, "NOT_FOUND");
    let foreign = id(&app
        .as_(&world.zara)
        .post("/homerooms", json!({"name": "S"}))
        .await
        .expect(201));
    ada.post(&following, json!({"followsHomeroom": true, "homeroomId": foreign}))
        .await
        .refused(404, "NOT_FOUND");
    adam.patch(&path, json!({"followsHomeroom": null}))
        .await
        .invalid("followsHomeroom");
});

// A teacher who does not lead the homeroom must not get the right to reset passwords by following it, no matter who turns
// following on and who adds the students.
both!(following_a_homeroom_grants_no_right_to_reset_passwords, |app| {
    let (world, adam, tom) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.tom));
    let room = homeroom(app, "9z", &[&world.ben]).await;
    let class = follower(&tom, &room).await;
    reset_password(&tom, &world.ben).await.refused(403, "FORBIDDEN_ROLE");
    // An administrator and an import add students.
    join(app, &room, &[&world.cem]).await;
    let people = table(&["dana.student@test.example,Dana,Student,student,,9z,,"]);
    import(&adam, "", "people.csv", people).await.expect(200);
    assert_eq!(roster(app, &class).await, ["Ben", "Cem", "Dana"]);
    for student in [&world.cem, &world.dana] {
        reset_password(&tom, student).await.refused(403, "FORBIDDEN_ROLE");
    }
    // An administrator starts the following, and the teacher selects another homeroom.
    let path = format!("/classes/{class}/following");
    for follows in [false, true] {
        adam.post(&path, json!({"followsHomeroom": follows})).await.expect(200);
    }
    join(app, &room, &[&world.eli]).await;
    reset_password(&tom, &world.eli).await.refused(403, "FORBIDDEN_ROLE");
    let other = homeroom(app, "9y", &[&world.eli]).await;
    tom.post(&path, json!({"followsHomeroom": true, "homeroomId": other}))
        .await
        .expect(200);
    assert_eq!(roster(app, &class).await, ["Eli"]);
    reset_password(&tom, &world.eli).await.refused(403, "FORBIDDEN_ROLE");
    // A membership that becomes an invitation and is accepted again does not upgrade the enrolment either, nor does an
    // activation.
    let eli = format!("/users/{}", world.eli.id);
    for is_active in [false, true] {
        adam.patch(&eli, json!({"isActive": is_active})).await.expect(200);
    }
    assert_eq!(roster(app, &class).await, ["Eli"]);
    reset_password(&tom, &world.eli).await.refused(403, "FORBIDDEN_ROLE");
    // Who leads the homeroom may, as before.
    adam.patch(&format!("/homerooms/{other}"), json!({"teacherId": world.tom.id}))
        .await
        .expect(200);
    reset_password(&tom, &world.eli).await.expect(200);
});

both!(copy_with_students_follows_a_homeroom_of_its_year, |app| {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    let room = homeroom(app, "9z", &[&world.ben, &world.cem]).await;
    adam.patch(&format!("/homerooms/{room}"), json!({"academicYear": YEAR}))
        .await
        .expect(200);
    let class = follower(&ada, &room).await;
    let copy = async |year: &str, with_students: bool| {
        let new = json!({"name": "Copy", "academicYear": year, "withStudents": with_students});
        ada.post(&format!("/classes/{class}/clone"), new).await.expect(201)
    };
    assert_eq!(copy(YEAR, false).await["followsHomeroom"], false);
    assert_eq!(
        copy("2027/2028", true).await["followsHomeroom"],
        false,
        "the homeroom is of another year"
    );
    let same = copy(YEAR, true).await;
    assert_eq!(
        (&same["followsHomeroom"], &same["homeroomId"]),
        (&json!(true), &json!(room))
    );
    join(app, &room, &[&world.dana]).await;
    assert_eq!(roster(app, &id(&same)).await, ["Ben", "Cem", "Dana"]);
});

#[tokio::test]
async fn restored_class_follows_its_homeroom() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        if let Some(app) = TestApp::start_with(kind, &["--deleted-retention-days=30"]).await {
            restore_follower(&app).await;
            app.close().await;
        }
    }
}

async fn restore_follower(app: &TestApp) {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    let room = homeroom(app, "9z", &[&world.ben, &world.cem]).await;
    let class = follower(&ada, &room).await;
    let deleted = adam.delete(&format!("/classes/{class}?force=1")).await.expect(200);
    leave(app, &room, &world.ben).await;
    join(app, &room, &[&world.dana]).await;
    let path = format!("/deletions/{}/restore", deleted["deletionId"].as_str().unwrap());
    adam.post(&path, json!({})).await.expect(200);
    assert_eq!(
        adam.get(&format!("/classes/{class}")).await.expect(200)["followsHomeroom"],
        true
    );
    assert_eq!(
        roster(app, &class).await,
        ["Cem", "Dana"],
        "the homeroom changed in the meantime"
    );

    let deleted = adam.delete(&format!("/classes/{class}?force=1")).await.expect(200);
    adam.delete(&format!("/homerooms/{room}")).await.expect(200);
    let path = format!("/deletions/{}/restore", deleted["deletionId"].as_str().unwrap());
    adam.post(&path, json!({})).await.expect(200);
    let restored = adam.get(&format!("/classes/{class}")).await.expect(200);
    assert_eq!(
        (&restored["followsHomeroom"], &restored["homeroomId"]),
        (&json!(false), &json!(null))
    );
    assert_eq!(roster(app, &class).await, ["Cem", "Dana"]);
}

both!(statements_of_a_change_do_not_depend_on_the_number_of_students, |app| {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    let (small, large) = (homeroom(app, "9s", &[&world.ben]).await, homeroom(app, "9l", &[]).await);
    let rows: Vec<String> = (0..60)
        .map(|n| format!("l{n}@new.example,L{n},Large,student,,9l,,"))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    import(&adam, "", "people.csv", table(&rows)).await.expect(200);
    let mut counts = Vec::new();
    for room in [&small, &large] {
        let new = json!({"name": "Counted", "academicYear": YEAR, "homeroomId": room});
        let class = id(&ada.post("/classes", new).await.expect(201));
        let path = format!("/classes/{class}/following");
        let before = app.app.store().write_statement_count();
        let done = ada.post(&path, json!({"followsHomeroom": true})).await.expect(200);
        let joined = done["joined"].as_array().unwrap().len();
        counts.push((joined, app.app.store().write_statement_count() - before));
    }
    assert_eq!((counts[0].0, counts[1].0), (1, 60));
    assert!(counts[1].1 <= counts[0].1 + 2, "{counts:?}");
});
