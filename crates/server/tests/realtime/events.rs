//! Events between users at work, end to end: routes, outbox, bus and the official client.

use std::time::Duration;

use serde_json::{Value, json};

use test_support::lesson_rows::LessonRows;
use test_support::{DatabaseKind, SocketListener, TestApp, clients_are_installed};

const FUTURE: &str = "2099-01-01T00:00:00.000Z";

struct Listeners {
    ada: SocketListener,
    adam: SocketListener,
    ben: SocketListener,
    cem: SocketListener,
    dana: SocketListener,
    tom: SocketListener,
    zoe: SocketListener,
}

impl Listeners {
    async fn open(app: &TestApp) -> Self {
        let world = &app.world;
        Self {
            ada: SocketListener::connect(app, &world.ada).await,
            adam: SocketListener::connect(app, &world.adam).await,
            ben: SocketListener::connect(app, &world.ben).await,
            cem: SocketListener::connect(app, &world.cem).await,
            dana: SocketListener::connect(app, &world.dana).await,
            tom: SocketListener::connect(app, &world.tom).await,
            zoe: SocketListener::connect(app, &world.zoe).await,
        }
    }

    async fn expect_no_events_for_outsiders(&mut self) {
        for listener in [&mut self.tom, &mut self.zoe, &mut self.dana] {
            listener.expect_no_event(120).await;
        }
    }
}

async fn new_group(app: &TestApp, members: &[&str], start: Option<&str>) -> Value {
    let class = &app.world.seven_b;
    let new = json!({"classId": class.id, "courseId": class.course, "memberIds": members, "startDate": start});
    app.as_(&app.world.ada).post("/groups", new).await.expect(201)
}

tenants!(group_events_reach_its_members_and_staff, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, mut listeners) = (&app.world, Listeners::open(app).await);
    let open = new_group(app, &[&world.ben.id], None).await;
    let received = listeners.ben.expect("group:created").await;
    assert_eq!(received["group"]["id"], open["id"]);
    assert_eq!(received["courseId"], world.seven_b.course.as_str());
    assert_eq!(received["actor"]["id"], world.ada.id.as_str());
    assert!(received["group"].get("isHidden").is_none() && received["group"].get("createdById").is_none());
    for listener in [&mut listeners.ada, &mut listeners.adam] {
        let received = listener.expect("group:created").await;
        assert_eq!(received["group"]["isHidden"], false);
        assert_eq!(received["group"]["memberIds"], json!([world.ben.id]));
    }

    let hidden = new_group(app, &[&world.cem.id], Some(FUTURE)).await;
    assert_eq!(listeners.ada.expect("group:created").await["group"]["isHidden"], true);
    listeners.adam.expect("group:created").await;
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        listener.expect_no_event(150).await;
    }
    let path = format!("/groups/{}", hidden["id"].as_str().unwrap());
    let ada = app.as_(&world.ada);
    ada.patch(&path, json!({"startDate": null})).await.expect(200);
    let received = listeners.cem.expect("group:updated").await;
    assert_eq!(
        (&received["group"]["id"], &received["changed"]),
        (&hidden["id"], &json!(["startDate"]))
    );
    ada.patch(&path, json!({"startDate": FUTURE})).await.expect(200);
    let received = listeners.cem.expect("group:removed").await;
    assert_eq!(received["groupId"], hidden["id"]);
    ada.patch(&path, json!({"name": "Secret"})).await.expect(200);
    for _ in 0..3 {
        listeners.ada.expect("group:updated").await;
    }
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        listener.expect_no_event(150).await;
    }
    listeners.expect_no_events_for_outsiders().await;
});

tenants!(group_events_follow_joining_and_leaving_members, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, mut listeners) = (&app.world, Listeners::open(app).await);
    let group = new_group(app, &[&world.ben.id], None).await;
    listeners.ben.expect("group:created").await;
    let path = format!("/groups/{}", group["id"].as_str().unwrap());
    let ada = app.as_(&world.ada);
    ada.post(&format!("{path}/members"), json!({"userIds": [world.cem.id]}))
        .await
        .expect(200);
    for listener in [&mut listeners.ben, &mut listeners.cem, &mut listeners.ada] {
        let received = listener.expect("group:member:added").await;
        assert_eq!(received["user"], json!({"id": world.cem.id, "name": world.cem.name}));
        assert_eq!(received["memberIds"].as_array().unwrap().len(), 2);
        assert_eq!(listener.expect("group:updated").await["changed"], json!(["members"]));
    }
    ada.delete(&format!("{path}/members/{}", world.cem.id))
        .await
        .expect(200);
    assert_eq!(listeners.cem.expect("group:removed").await["groupId"], group["id"]);
    listeners.ben.expect("group:member:removed").await;
    ada.patch(&path, json!({"name": "Without Cem"})).await.expect(200);
    listeners
        .ben
        .expect_where("group:updated", |received| received["changed"] == json!(["name"]))
        .await;
    listeners.cem.expect_no_event(150).await;
    listeners.expect_no_events_for_outsiders().await;
});

tenants!(help_request_reaches_staff_and_its_resolution_the_group, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, mut listeners) = (&app.world, Listeners::open(app).await);
    let group = new_group(app, &[&world.ben.id, &world.cem.id], None).await;
    let path = format!("/groups/{}/help", group["id"].as_str().unwrap());
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        listener.expect("group:created").await;
    }
    let ask = json!({"message": "The scale is broken"});
    app.as_(&world.ben).post(&path, ask).await.expect(200);
    for listener in [&mut listeners.ada, &mut listeners.adam] {
        let call = listener.expect("group:help").await;
        assert_eq!(call["helpMessage"], "The scale is broken");
        assert_eq!(call["requestedBy"]["id"], world.ben.id.as_str());
    }
    let flag = listeners.cem.expect("group:updated").await;
    assert_eq!(flag["group"]["needsHelp"], true);
    listeners.ben.expect("group:updated").await;
    let ada = app.as_(&world.ada);
    ada.post(&format!("{path}/claim"), json!({})).await.expect(200);
    let claimed = listeners.adam.expect("group:help").await;
    assert_eq!(claimed["helpClaimedById"], world.ada.id.as_str());
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        let coming = listener.expect("help:claimed").await;
        assert_eq!(coming["groupId"], group["id"]);
        assert_eq!(coming["claimedBy"], json!({"id": world.ada.id, "name": world.ada.name}));
    }
    ada.post(&format!("{path}/resolve"), json!({})).await.expect(200);
    let resolved = listeners.adam.expect("group:help:resolved").await;
    assert_eq!(resolved["resolvedBy"]["id"], world.ada.id.as_str());
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        assert_eq!(listener.expect("group:updated").await["group"]["needsHelp"], false);
        listener.expect_no_event(150).await;
    }
    listeners.expect_no_events_for_outsiders().await;
});

tenants!(course_events_reach_staff_until_its_groups_are_deleted, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, mut listeners) = (&app.world, Listeners::open(app).await);
    let group = new_group(app, &[&world.ben.id], None).await;
    listeners.ben.expect("group:created").await;
    let path = format!("/courses/{}", world.seven_b.course);
    let ada = app.as_(&world.ada);
    ada.patch(&path, json!({"description": "Cells and tissues"}))
        .await
        .expect(200);
    let received = listeners.adam.expect("course:updated").await;
    assert_eq!(received["changed"], json!(["description"]));
    ada.delete(&path).await.expect(200);
    let gone = listeners.ben.expect("group:deleted").await;
    assert_eq!(
        (&gone["groupId"], &gone["reason"]),
        (&group["id"], &json!("COURSE_DELETED"))
    );
    assert_eq!(
        listeners.adam.expect("course:deleted").await["deletedGroups"],
        json!([group["id"]])
    );
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        listener.expect_no_event(150).await;
    }
    listeners.expect_no_events_for_outsiders().await;
});

both!(organization_update_reaches_its_members_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, mut listeners) = (&app.world, Listeners::open(app).await);
    let root = app.as_(&world.root);
    let path = format!("/tenants/{}", world.north);
    root.patch(&path, json!({"name": "Far North"})).await.expect(200);
    for listener in [&mut listeners.ben, &mut listeners.tom, &mut listeners.adam] {
        let event = listener.expect("organization:updated").await;
        assert_eq!(event["changed"], json!(["name"]));
    }
    listeners.zoe.expect_no_event(120).await;
});

/// Restores a deletion and checks that the listeners receive the event of the creation.
async fn expect_restored(
    app: &TestApp,
    listeners: &mut Listeners,
    path: &str,
    (event, id): (&str, &str),
    reaches_students: bool,
) {
    let client = app.as_(&app.world.adam);
    let deleted = client.delete(path).await.expect(200);
    let deletion = deleted["deletionId"].as_str().unwrap();
    client
        .post(&format!("/deletions/{deletion}/restore"), json!({}))
        .await
        .expect(200);
    let names = |received: &Value| received.to_string().contains(id);
    listeners.ada.expect_where(event, names).await;
    listeners.adam.expect_where(event, names).await;
    if reaches_students {
        listeners.ben.expect_where(event, names).await;
    }
}

/// Returns the events of created objects that arrived or arrive soon, and discards all events.
async fn creations(listener: &mut SocketListener) -> Vec<Value> {
    listener
        .receives_within(Duration::from_millis(150), "", |_| false)
        .await;
    let events = [
        "course:created",
        "group:created",
        "assignment:created",
        "assignment:attached",
        "document:created",
    ];
    let found = events.iter().flat_map(|event| listener.all(event)).collect();
    listener.discard();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_objects_emit_the_events_of_their_creation_to_those_who_see_them() {
    if !clients_are_installed() {
        return;
    }
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(app) = TestApp::start_with(kind, &["--deleted-retention-days=30"]).await else {
            continue;
        };
        restore_each_kind(&app).await;
        app.close().await;
    }
}

async fn restore_each_kind(app: &TestApp) {
    let world = &app.world;
    let (database, north, class) = (app.database.clone(), world.north.clone(), world.seven_b.clone());
    let (ada, ben) = (world.ada.id.clone(), world.ben.id.clone());
    let insert = move || {
        let mut rows = LessonRows::of(&database, &north, &class.id, &ada, &ben);
        let (topic, group, _) = rows.lesson(1, Some(&class.course));
        let document = rows.document(&group, None);
        (topic, group.id, document)
    };
    let (topic, group, document) = tokio::task::spawn_blocking(insert).await.unwrap();
    let mut listeners = Listeners::open(app).await;
    let group_path = format!("/groups/{group}");
    for (path, event, id) in [
        (
            format!("/workrooms/documents/{document}"),
            "document:created",
            &document,
        ),
        (format!("/assignments/{topic}"), "assignment:created", &topic),
        (group_path.clone(), "group:created", &group),
    ] {
        expect_restored(app, &mut listeners, &path, (event, id), true).await;
    }
    assert!(creations(&mut listeners.cem).await.is_empty());
    for listener in [&mut listeners.ada, &mut listeners.ben] {
        let attached = listener.expect("assignment:attached").await;
        assert_eq!(
            (&attached["assignmentId"], &attached["groupId"]),
            (&json!(topic), &json!(group))
        );
    }

    // Only staff receive courses; the groups and topics in them reach their students.
    let course = &world.seven_b.course;
    let course_path = format!("/courses/{course}");
    expect_restored(app, &mut listeners, &course_path, ("course:created", course), false).await;
    for (event, id) in [("group:created", &group), ("assignment:created", &topic)] {
        let names = |received: &Value| received.to_string().contains(id.as_str());
        listeners.ben.expect_where(event, names).await;
    }
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        assert!(creations(listener).await.is_empty());
    }

    // A hidden group stays hidden.
    let staff = app.as_(&world.ada);
    staff.patch(&group_path, json!({"startDate": FUTURE})).await.expect(200);
    listeners.ben.expect("group:removed").await;
    expect_restored(app, &mut listeners, &group_path, ("group:created", &group), false).await;
    expect_restored(app, &mut listeners, &course_path, ("course:created", course), false).await;
    for listener in [&mut listeners.ben, &mut listeners.cem] {
        assert!(creations(listener).await.is_empty());
    }
    staff.patch(&group_path, json!({"startDate": null})).await.expect(200);

    let seven_b = &world.seven_b.id;
    let class_path = format!("/classes/{seven_b}?force=1");
    expect_restored(app, &mut listeners, &class_path, ("class:created", seven_b), false).await;
    listeners.ben.expect("group:created").await;
    for listener in [&mut listeners.tom, &mut listeners.zoe, &mut listeners.dana] {
        assert!(creations(listener).await.is_empty());
    }
    listeners.zoe.expect_no_event(120).await;
}
