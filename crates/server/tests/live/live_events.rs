//! Events between users at work, end to end: routes, outbox, bus and the official client.

use serde_json::{Value, json};

use test_support::{SocketListener, TestApp, clients_are_there};

const FUTURE: &str = "2099-01-01T00:00:00.000Z";

struct Ears {
    ada: SocketListener,
    adam: SocketListener,
    ben: SocketListener,
    cem: SocketListener,
    dana: SocketListener,
    tom: SocketListener,
    zoe: SocketListener,
}

impl Ears {
    async fn open(app: &TestApp) -> Self {
        let world = &app.world;
        Self {
            ada: SocketListener::by(app, &world.ada).await,
            adam: SocketListener::by(app, &world.adam).await,
            ben: SocketListener::by(app, &world.ben).await,
            cem: SocketListener::by(app, &world.cem).await,
            dana: SocketListener::by(app, &world.dana).await,
            tom: SocketListener::by(app, &world.tom).await,
            zoe: SocketListener::by(app, &world.zoe).await,
        }
    }

    async fn outsiders_are_silent(&mut self) {
        for ear in [&mut self.tom, &mut self.zoe, &mut self.dana] {
            ear.silent(120).await;
        }
    }
}

async fn new_group(app: &TestApp, members: &[&str], start: Option<&str>) -> Value {
    let class = &app.world.seven_b;
    let new = json!({"classId": class.id, "courseId": class.course, "memberIds": members, "startDate": start});
    app.as_(&app.world.ada).post("/groups", new).await.expect(201)
}

tenants!(a_group_is_heard_of_by_its_members_and_the_staff, |app| {
    if !clients_are_there() {
        return;
    }
    let (world, mut ears) = (&app.world, Ears::open(app).await);
    let open = new_group(app, &[&world.ben.id], None).await;
    let told = ears.ben.expect("group:created").await;
    assert_eq!(told["group"]["id"], open["id"]);
    assert_eq!(told["courseId"], world.seven_b.course.as_str());
    assert_eq!(told["actor"]["id"], world.ada.id.as_str());
    assert!(told["group"].get("isHidden").is_none() && told["group"].get("createdById").is_none());
    for ear in [&mut ears.ada, &mut ears.adam] {
        let told = ear.expect("group:created").await;
        assert_eq!(told["group"]["isHidden"], false);
        assert_eq!(told["group"]["memberIds"], json!([world.ben.id]));
    }

    let hidden = new_group(app, &[&world.cem.id], Some(FUTURE)).await;
    assert_eq!(ears.ada.expect("group:created").await["group"]["isHidden"], true);
    ears.adam.expect("group:created").await;
    for ear in [&mut ears.ben, &mut ears.cem] {
        ear.silent(150).await;
    }
    let path = format!("/groups/{}", hidden["id"].as_str().unwrap());
    let ada = app.as_(&world.ada);
    ada.patch(&path, json!({"startDate": null})).await.expect(200);
    let told = ears.cem.expect("group:updated").await;
    assert_eq!(
        (&told["group"]["id"], &told["changed"]),
        (&hidden["id"], &json!(["startDate"]))
    );
    ada.patch(&path, json!({"startDate": FUTURE})).await.expect(200);
    let told = ears.cem.expect("group:removed").await;
    assert_eq!(told["groupId"], hidden["id"]);
    ada.patch(&path, json!({"name": "Secret"})).await.expect(200);
    for _ in 0..3 {
        ears.ada.expect("group:updated").await;
    }
    for ear in [&mut ears.ben, &mut ears.cem] {
        ear.silent(150).await;
    }
    ears.outsiders_are_silent().await;
});

tenants!(who_joins_a_group_hears_it_and_who_leaves_hears_no_more, |app| {
    if !clients_are_there() {
        return;
    }
    let (world, mut ears) = (&app.world, Ears::open(app).await);
    let group = new_group(app, &[&world.ben.id], None).await;
    ears.ben.expect("group:created").await;
    let path = format!("/groups/{}", group["id"].as_str().unwrap());
    let ada = app.as_(&world.ada);
    ada.post(&format!("{path}/members"), json!({"userIds": [world.cem.id]}))
        .await
        .expect(200);
    for ear in [&mut ears.ben, &mut ears.cem, &mut ears.ada] {
        let told = ear.expect("group:member:added").await;
        assert_eq!(told["user"], json!({"id": world.cem.id, "name": world.cem.name}));
        assert_eq!(told["memberIds"].as_array().unwrap().len(), 2);
        assert_eq!(ear.expect("group:updated").await["changed"], json!(["members"]));
    }
    ada.delete(&format!("{path}/members/{}", world.cem.id))
        .await
        .expect(200);
    assert_eq!(ears.cem.expect("group:removed").await["groupId"], group["id"]);
    ears.ben.expect("group:member:removed").await;
    ada.patch(&path, json!({"name": "Without Cem"})).await.expect(200);
    ears.ben
        .expect_where("group:updated", |told| told["changed"] == json!(["name"]))
        .await;
    ears.cem.silent(150).await;
    ears.outsiders_are_silent().await;
});

tenants!(a_call_for_help_reaches_the_staff_and_a_handled_one_the_group, |app| {
    if !clients_are_there() {
        return;
    }
    let (world, mut ears) = (&app.world, Ears::open(app).await);
    let group = new_group(app, &[&world.ben.id, &world.cem.id], None).await;
    let path = format!("/groups/{}/help", group["id"].as_str().unwrap());
    for ear in [&mut ears.ben, &mut ears.cem] {
        ear.expect("group:created").await;
    }
    let ask = json!({"message": "The scale is broken"});
    app.as_(&world.ben).post(&path, ask).await.expect(200);
    for ear in [&mut ears.ada, &mut ears.adam] {
        let call = ear.expect("group:help").await;
        assert_eq!(call["helpMessage"], "The scale is broken");
        assert_eq!(call["requestedBy"]["id"], world.ben.id.as_str());
    }
    let flag = ears.cem.expect("group:updated").await;
    assert_eq!(flag["group"]["needsHelp"], true);
    ears.ben.expect("group:updated").await;
    let ada = app.as_(&world.ada);
    ada.post(&format!("{path}/claim"), json!({})).await.expect(200);
    let claimed = ears.adam.expect("group:help").await;
    assert_eq!(claimed["helpClaimedById"], world.ada.id.as_str());
    ada.post(&format!("{path}/resolve"), json!({})).await.expect(200);
    let resolved = ears.adam.expect("group:help:resolved").await;
    assert_eq!(resolved["resolvedBy"]["id"], world.ada.id.as_str());
    for ear in [&mut ears.ben, &mut ears.cem] {
        assert_eq!(ear.expect("group:updated").await["group"]["needsHelp"], false);
        ear.silent(150).await;
    }
    ears.outsiders_are_silent().await;
});

tenants!(a_course_is_the_staffs_business_until_its_groups_go_with_it, |app| {
    if !clients_are_there() {
        return;
    }
    let (world, mut ears) = (&app.world, Ears::open(app).await);
    let group = new_group(app, &[&world.ben.id], None).await;
    ears.ben.expect("group:created").await;
    let path = format!("/courses/{}", world.seven_b.course);
    let ada = app.as_(&world.ada);
    ada.patch(&path, json!({"description": "Cells and tissues"}))
        .await
        .expect(200);
    let told = ears.adam.expect("course:updated").await;
    assert_eq!(told["changed"], json!(["description"]));
    ada.delete(&path).await.expect(200);
    let gone = ears.ben.expect("group:deleted").await;
    assert_eq!(
        (&gone["groupId"], &gone["reason"]),
        (&group["id"], &json!("COURSE_DELETED"))
    );
    assert_eq!(
        ears.adam.expect("course:deleted").await["deletedGroups"],
        json!([group["id"]])
    );
    for ear in [&mut ears.ben, &mut ears.cem] {
        ear.silent(150).await;
    }
    ears.outsiders_are_silent().await;
});

both!(renamed_organization_is_announced_to_its_members_alone, |app| {
    if !clients_are_there() {
        return;
    }
    let (world, mut ears) = (&app.world, Ears::open(app).await);
    let root = app.as_(&world.root);
    let path = format!("/tenants/{}", world.north);
    root.patch(&path, json!({"name": "Far North"})).await.expect(200);
    for ear in [&mut ears.ben, &mut ears.tom, &mut ears.adam] {
        let event = ear.expect("organization:updated").await;
        assert_eq!(event["changed"], json!(["name"]));
    }
    ears.zoe.silent(120).await;
});
