//! Lesson board: one request returns the same data as the single routes, plus presence.

use std::time::{Duration, Instant};

use domain::id::GroupId;
use domain::realtime::Room;
use serde_json::{Value, json};

use test_support::office::docx;
use test_support::topics::{LATER, group, id, link, topic};
use test_support::{Client, SocketListener, TestApp, clients_are_installed, until};

/// A board of 7b with two groups, the second hidden.
struct BoardFixture {
    topic: String,
    visible: String,
    hidden: String,
    room: String,
    document: String,
    path: String,
}

impl BoardFixture {
    async fn begin(app: &TestApp) -> Self {
        let (world, ada) = (&app.world, app.as_(&app.world.ada));
        let visible = group(&ada, &world.seven_b, &[&world.ben, &world.cem], json!({})).await;
        let hidden = group(&ada, &world.seven_b, &[&world.dana], json!({"startDate": LATER})).await;
        let topic = id(&topic(&ada, &world.seven_b, json!({"groupIds": [visible, hidden]})).await);
        let room = ada.get(&format!("/groups/{visible}")).await.expect(200)["workRoomId"].clone();
        let room = room.as_str().unwrap().to_owned();
        let new = json!({"title": "Report", "documentType": "word"});
        let document = app
            .as_(&world.ben)
            .post(&format!("/workrooms/{room}/documents"), new)
            .await;
        Self {
            path: format!("/assignments/{topic}/board"),
            document: id(&document.expect(201)),
            topic,
            visible,
            hidden,
            room,
        }
    }

    async fn card(&self, client: &Client, group: &str) -> Value {
        let board = client.get(&self.path).await.expect(200);
        let mut cards = board["groups"].as_array().unwrap().iter();
        cards.find(|card| card["group"]["id"] == group).unwrap().clone()
    }
}

/// Expects that every field of the part equals the field of the whole.
fn assert_same_fields(part: &Value, whole: &Value) {
    // `view` is the level of detail and differs between routes.
    let fields = part.as_object().unwrap().iter().filter(|(key, _)| *key != "view");
    for (key, value) in fields {
        assert_eq!(whole.get(key), Some(value), "{key} of {whole}");
    }
}

tenants!(board_equals_responses_of_single_routes, |app| {
    let (world, ada, ben) = (&app.world, app.as_(&app.world.ada), app.as_(&app.world.ben));
    let lesson = BoardFixture::begin(app).await;
    let BoardFixture {
        topic: subject,
        visible,
        hidden,
        room,
        document,
        ..
    } = &lesson;
    ben.post(&format!("/workrooms/{room}/messages"), json!({"content": "Hello"}))
        .await
        .expect(201);
    ben.post(&format!("/groups/{visible}/help"), json!({"message": "Stuck"}))
        .await
        .expect(200);
    ben.upload(&format!("/workrooms/{room}/documents"), "in.docx", docx("text"), &[])
        .await
        .expect(201);
    let hand_in = json!({"assignmentId": subject});
    ben.post(&format!("/workrooms/documents/{document}/submit"), hand_in)
        .await
        .expect(200);
    // Documents of another topic are not on this board.
    let elsewhere = id(&topic(&ada, &world.seven_b, json!({"groupIds": [visible]})).await);
    let new = json!({"title": "Other", "documentType": "word", "assignmentId": elsewhere});
    ben.post(&format!("/workrooms/{room}/documents"), new).await.expect(201);

    let board = ada.get(&lesson.path).await.expect(200);
    let topic = ada.get(&format!("/assignments/{subject}")).await.expect(200);
    let mut summary = board["assignment"].clone();
    assert_eq!(summary.as_object_mut().unwrap().remove("groupCount"), Some(json!(2)));
    assert_same_fields(&summary, &topic);
    let numbers: Vec<&Value> = board["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|card| &card["group"]["groupNumber"])
        .collect();
    assert_eq!(numbers, [1, 2]);
    for card in board["groups"].as_array().unwrap() {
        let group = ada
            .get(&format!("/groups/{}", card["group"]["id"].as_str().unwrap()))
            .await
            .expect(200);
        assert_same_fields(&card["group"], &group);
        for key in ["needsHelp", "helpRequestedAt", "helpMessage", "unreadMessages"] {
            assert_eq!(card[key], group[key], "{key}");
        }
        assert_eq!(card["groupAssignment"], *link(&topic, group["id"].as_str().unwrap()));
        let people: Vec<&Value> = group["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|member| &member["user"])
            .collect();
        let members: Vec<&Value> = card["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|member| &member["user"])
            .collect();
        assert_eq!(members, people);
        let room = group["workRoomId"].as_str().unwrap();
        let documents = ada.get(&format!("/workrooms/{room}/documents")).await.expect(200);
        let of_topic = documents
            .as_array()
            .unwrap()
            .iter()
            .filter(|document| document["assignmentId"] != elsewhere.as_str());
        let of_topic: Vec<&Value> = of_topic.collect();
        let shown = card["documents"].as_array().unwrap();
        assert_eq!(shown.len(), of_topic.len());
        for (shown, document) in shown.iter().zip(of_topic) {
            assert_same_fields(shown, document);
        }
        assert_eq!((&card["writing"], &card["activity"]), (&json!([]), &json!(vec![0; 20])));
    }
    let card = lesson.card(&ada, visible).await;
    assert_eq!(
        (&card["unreadMessages"], card["documents"].as_array().unwrap().len()),
        (&json!(1), 2)
    );
    assert_eq!(lesson.card(&ada, hidden).await["group"]["isHidden"], true);
    // The unread count is per caller.
    assert_eq!(board["serverNow"].as_str().map(str::len), Some(24));
    ada.post(&format!("/workrooms/{room}/read"), json!({}))
        .await
        .expect(200);
    assert_eq!(lesson.card(&ada, visible).await["unreadMessages"], 0);
    assert_eq!(lesson.card(&app.as_(&world.adam), visible).await["unreadMessages"], 1);
});

tenants!(longest_help_request_comes_first, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let mut groups = Vec::new();
    for member in [&world.ben, &world.cem, &world.dana] {
        groups.push(group(&ada, &world.seven_b, &[member], json!({})).await);
    }
    let path = format!(
        "/assignments/{}/board",
        id(&topic(&ada, &world.seven_b, json!({"groupIds": groups})).await)
    );
    assert_eq!(ada.get(&path).await.expect(200)["helpQueue"], json!([]));
    for (member, group) in [
        (&world.dana, &groups[2]),
        (&world.ben, &groups[0]),
        (&world.cem, &groups[1]),
    ] {
        app.as_(member)
            .post(&format!("/groups/{group}/help"), json!({}))
            .await
            .expect(200);
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    // A repeated help request keeps its position in the queue.
    app.as_(&world.ben)
        .post(&format!("/groups/{}/help", groups[0]), json!({"message": "Again"}))
        .await
        .expect(200);
    assert_eq!(
        ada.get(&path).await.expect(200)["helpQueue"],
        json!([groups[2], groups[0], groups[1]])
    );
    ada.post(&format!("/groups/{}/help/resolve", groups[0]), json!({}))
        .await
        .expect(200);
    assert_eq!(
        ada.get(&path).await.expect(200)["helpQueue"],
        json!([groups[2], groups[1]])
    );
});

tenants!(board_is_visible_to_staff_of_class_only, |app| {
    let world = &app.world;
    let lesson = BoardFixture::begin(app).await;
    for student in [&world.ben, &world.dana, &world.finn, &world.zack] {
        app.as_(student).get(&lesson.path).await.refused(403, "FORBIDDEN_ROLE");
    }
    app.stranger().get(&lesson.path).await.refused(401, "UNAUTHENTICATED");
    for outside in [&world.tom, &world.zoe, &world.zara] {
        app.as_(outside).get(&lesson.path).await.refused(404, "NOT_FOUND");
    }
    for inside in [&world.ada, &world.adam, &world.root] {
        app.as_(inside).get(&lesson.path).await.expect(200);
    }
    app.as_(&world.ada)
        .get("/assignments/nothing/board")
        .await
        .refused(404, "NOT_FOUND");
});

both!(presence_and_typing_reach_staff_of_class_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let world = &app.world;
    let lesson = BoardFixture::begin(app).await;
    let mut ada = SocketListener::connect(app, &world.ada).await;
    let mut tom = SocketListener::connect(app, &world.tom).await;
    let cem = SocketListener::connect(app, &world.cem).await;
    let mut ben = SocketListener::connect(app, &world.ben).await;
    let of = |group: &str, online: Value| {
        let group = group.to_owned();
        move |received: &Value| received["groupId"] == group.as_str() && received["online"] == online
    };
    let both_there = ada
        .expect_where(
            "board:activity",
            of(&lesson.visible, json!([world.ben.id, world.cem.id])),
        )
        .await;
    assert_eq!(both_there["classId"], world.seven_b.id.as_str());
    assert_eq!(
        (&both_there["writing"], &both_there["activity"]),
        (&json!([]), &json!(vec![0; 20]))
    );
    assert!(
        both_there["eventId"].is_string() && both_there["actor"].is_null(),
        "{both_there}"
    );
    // Hidden groups are visible on the board only.
    let mut dana = SocketListener::connect(app, &world.dana).await;
    ada.expect_where("board:activity", of(&lesson.hidden, json!([world.dana.id])))
        .await;

    let writes = json!(["document:activity", {"documentId": lesson.document}]);
    ben.emit(writes.clone()).await;
    let received = ada
        .expect_where("board:activity", |received| {
            received["writing"] == json!([world.ben.id])
        })
        .await;
    assert_eq!(
        (&received["groupId"], received["activity"].as_array().unwrap().len()),
        (&json!(lesson.visible), 20)
    );
    let card = lesson.card(&app.as_(&world.ada), &lesson.visible).await;
    assert_eq!(card["writing"], json!([world.ben.id]));
    let counts = card["activity"]
        .as_array()
        .unwrap()
        .iter()
        .map(|count| count.as_i64().unwrap());
    assert_eq!(counts.sum::<i64>(), 1);
    let is_online: Vec<&Value> = card["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| &member["online"])
        .collect();
    assert_eq!(is_online, [true, true]);
    // Edits by a teacher or by a user outside the group do not count as activity of the group.
    let ignored = app.app.realtime().ignored();
    for other in [&mut ada, &mut dana, &mut tom] {
        other.emit(writes.clone()).await;
    }
    until("three messages are ignored", async || {
        app.app.realtime().ignored() == ignored + 3
    })
    .await;
    // Without another activity, a user counts as writing for thirty seconds only.
    ben.emit(writes).await;
    let writing = async || lesson.card(&app.as_(&world.ada), &lesson.visible).await["writing"].clone();
    until("a user is writing", async || writing().await != json!([])).await;
    assert_eq!(writing().await, json!([world.ben.id]));

    // A removed member is shown neither as online nor as writing.
    let member = format!("/groups/{}/members/{}", lesson.visible, world.ben.id);
    app.as_(&world.ada).delete(&member).await.expect(200);
    ben.expect("group:removed").await;
    let card = lesson.card(&app.as_(&world.ada), &lesson.visible).await;
    assert_eq!(
        (&card["writing"], card["members"].as_array().unwrap().len()),
        (&json!([]), 1)
    );
    cem.disconnect().await;
    ada.expect_where("board:activity", of(&lesson.visible, json!([]))).await;
    ben.discard_except("board:activity");
    for student in [&mut ben, &mut dana] {
        student.expect_no_event(1200).await;
    }
    assert_eq!(tom.all("board:activity"), [Value::Null; 0], "another class");
    assert_eq!(app.app.realtime().count(&Room::Group(GroupId::new(&lesson.hidden))), 0);
});

both!(presence_of_group_reaches_its_own_students_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let world = &app.world;
    let lesson = BoardFixture::begin(app).await;
    let mut ben = SocketListener::connect(app, &world.ben).await;
    let mut dana = SocketListener::connect(app, &world.dana).await;
    let mut ada = SocketListener::connect(app, &world.ada).await;
    let cem = SocketListener::connect(app, &world.cem).await;
    let both = json!([world.ben.id, world.cem.id]);
    let seen = ben
        .expect_where("group:presence", |event| event["online"] == both)
        .await;
    assert_eq!(seen["groupId"], lesson.visible.as_str());
    assert_eq!(seen["writing"], json!([]));
    let writes = json!(["document:activity", {"documentId": lesson.document}]);
    ben.emit(writes.clone()).await;
    ben.expect_where("group:presence", |event| event["writing"] == json!([world.ben.id]))
        .await;
    let room = format!("/workrooms/group/{}", lesson.visible);
    for person in [&world.cem, &world.ada] {
        // Without another activity, a user counts as writing for thirty seconds only.
        ben.emit(writes.clone()).await;
        let room = app.as_(person).get(&room).await.expect(200);
        assert_eq!((&room["online"], &room["writing"]), (&both, &json!([world.ben.id])));
    }
    cem.disconnect().await;
    ben.expect_where("group:presence", |event| event["online"] == json!([world.ben.id]))
        .await;
    // The group of Dana is hidden; staff have the board.
    for other in [&mut dana, &mut ada] {
        assert_eq!(other.all("group:presence"), [Value::Null; 0]);
    }
});

tenants!(presence_of_group_is_emitted_at_most_once_per_second, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, lesson) = (&app.world, BoardFixture::begin(app).await);
    let mut ada = SocketListener::connect(app, &world.ada).await;
    let begun = Instant::now();
    for _ in 0..4 {
        for person in [&world.ben, &world.cem] {
            SocketListener::connect(app, person).await.disconnect().await;
        }
    }
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let most = begun.elapsed().as_secs() + 2;
    let received = ada.all("board:activity").into_iter();
    let received = received
        .filter(|received| received["groupId"] == lesson.visible.as_str())
        .count();
    assert!(
        u64::try_from(received).unwrap() <= most,
        "{received} times in {most} seconds"
    );
});
