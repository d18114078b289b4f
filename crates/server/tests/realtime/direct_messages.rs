//! Direct messages, announcements and messages to rooms.

use serde_json::{Value, json};

use test_support::rows::texts;
use test_support::tables::fingerprints;
use test_support::topics::{LATER, group, id, ids, link, mark_finished, mark_submitted, topic};
use test_support::{Client, SocketListener, TestUser, clients_are_installed};

async fn write(client: &Client, to: &[&TestUser], content: &str) -> Value {
    let to: Vec<&str> = to.iter().map(|person| person.id.as_str()).collect();
    let body = json!({"recipientIds": to, "subject": "About", "content": content});
    client.post("/messages", body).await.expect(201)
}

async fn page(client: &Client, query: &str) -> Vec<String> {
    ids(&client.get(&format!("/messages{query}")).await.expect(200)["data"])
}

async fn unread(client: &Client) -> i64 {
    client.get("/messages/unread-count").await.expect(200)["unreadCount"]
        .as_i64()
        .unwrap()
}

tenants!(direct_message_is_in_boxes_of_sender_and_recipients_only, |app| {
    let world = &app.world;
    let (ada, ben, cem, tom) = (
        app.as_(&world.ada),
        app.as_(&world.ben),
        app.as_(&world.cem),
        app.as_(&world.tom),
    );
    let sent = write(&ada, &[&world.ben, &world.tom], "See me.").await;
    let path = format!("/messages/{}", id(&sent));
    assert_eq!((&sent["recipientCount"], &sent["readAt"]), (&json!(2), &Value::Null));
    assert_eq!(ids(&sent["recipients"]).len(), 2);
    let received = ben.get(&path).await.expect(200);
    assert_eq!(
        (&received["content"], &received["sender"]["id"]),
        (&json!("See me."), &json!(world.ada.id))
    );
    // A recipient does not see the other recipients, and no message contains email addresses.
    assert!(
        received.get("recipients").is_none() && received.get("recipientCount").is_none(),
        "{received}"
    );
    assert!(!received.to_string().contains('@'));
    assert_eq!((unread(&ben).await, unread(&ada).await, unread(&cem).await), (1, 0, 0));
    assert_eq!(page(&ben, "").await, [id(&sent)]);
    assert_eq!(page(&ada, "?box=sent").await, [id(&sent)]);
    assert!(page(&ada, "").await.is_empty() && page(&cem, "").await.is_empty());
    for stranger in [&cem, &app.as_(&world.adam), &app.as_(&world.zoe), &app.as_(&world.zack)] {
        stranger.get(&path).await.refused(404, "NOT_FOUND");
        stranger
            .post(&format!("{path}/read"), json!({}))
            .await
            .refused(404, "NOT_FOUND");
        stranger.delete(&path).await.refused(404, "NOT_FOUND");
    }

    let left = ben.post(&format!("{path}/read"), json!({})).await.expect(200);
    assert_eq!(left["unreadCount"], 0);
    let first = ben.get(&path).await.expect(200)["readAt"].clone();
    ben.post(&format!("{path}/read"), json!({})).await.expect(200);
    assert!(first.is_string());
    assert_eq!(
        ben.get(&path).await.expect(200)["readAt"],
        first,
        "the first time counts"
    );
    assert_eq!(unread(&tom).await, 1);

    // The message is deleted from one mailbox only.
    ada.delete(&path).await.expect(200);
    ada.get(&path).await.refused(404, "NOT_FOUND");
    assert!(page(&ada, "?box=sent").await.is_empty());
    tom.delete(&path).await.expect(200);
    assert!(page(&tom, "").await.is_empty());
    assert_eq!((unread(&tom).await, page(&ben, "").await), (0, vec![id(&sent)]));
});

tenants!(students_write_to_their_teachers_and_admins_only, |app| {
    let world = &app.world;
    let ben = app.as_(&world.ben);
    for person in [&world.ada, &world.adam, &world.olga] {
        write(&ben, &[person], "May I?").await;
    }
    let to = |people: &[&TestUser]| {
        let people: Vec<&str> = people.iter().map(|person| person.id.as_str()).collect();
        json!({"recipientIds": people, "content": "Hi"})
    };
    // A student cannot write to other students. A classmate is visible (403); users of other classes and schools are
    // not (404).
    ben.post("/messages", to(&[&world.cem]))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    for person in [&world.tom, &world.finn, &world.zoe, &world.root] {
        ben.post("/messages", to(&[&world.ada, person]))
            .await
            .refused(404, "NOT_FOUND");
    }
    let class = json!({"classId": world.seven_b.id, "content": "Hi"});
    ben.post("/messages", class).await.refused(403, "FORBIDDEN_ROLE");
    let ada = app.as_(&world.ada);
    ada.post("/messages", to(&[&world.finn, &world.olga])).await.expect(201);
    ada.post("/messages", to(&[&world.zack]))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(unread(&ada).await, 1, "a refused message reaches nobody");
    assert_eq!(unread(&app.as_(&world.cem)).await, 0);
});

tenants!(invalid_direct_message_is_rejected, |app| {
    let world = &app.world;
    let ada = app.as_(&world.ada);
    let (ben, class) = (json!([world.ben.id]), &world.seven_b.id);
    let twice = json!({"recipientIds": [world.ben.id, world.ben.id], "content": "x"});
    for (body, path) in [
        (json!({"content": "x"}), "recipientIds"),
        (json!({"recipientIds": [], "content": "x"}), "recipientIds"),
        (
            json!({"recipientIds": ben, "classId": class, "content": "x"}),
            "recipientIds",
        ),
        (json!({"recipientIds": ben}), "content"),
        (json!({"recipientIds": ben, "content": "  "}), "content"),
        (json!({"recipientIds": ben, "content": "x".repeat(4001)}), "content"),
        (
            json!({"recipientIds": ben, "content": "x", "subject": "x".repeat(201)}),
            "subject",
        ),
        (json!({"groupId": "g", "content": "x", "subject": "About"}), "subject"),
        (json!({"recipientIds": ben, "content": "x", "urgent": true}), "urgent"),
        (twice, "recipientIds"),
    ] {
        ada.post("/messages", body).await.invalid(path);
    }
    ada.get("/messages?box=class").await.invalid("classId");
    ada.get("/messages?cursor=x").await.invalid("cursor");
    assert!(page(&ada, "?box=sent").await.is_empty());
});

tenants!(announcement_reaches_members_of_the_class_only, |app| {
    let world = &app.world;
    let (ada, ben, tom) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.tom));
    let (adam, finn) = (app.as_(&world.adam), app.as_(&world.finn));
    let class = &world.seven_b.id;
    let body = json!({"classId": class, "subject": "Trip", "content": "Bring boots."});
    tom.post("/messages", body.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.zoe)
        .post("/messages", body.clone())
        .await
        .refused(404, "NOT_FOUND");
    let emitted = ada.post("/messages", body).await.expect(201);
    let (path, of_class) = (
        format!("/messages/{}", id(&emitted)),
        format!("?box=class&classId={class}"),
    );
    assert_eq!(
        (&emitted["classId"], &emitted["recipientCount"]),
        (&json!(class), &json!(4))
    );
    assert_eq!((page(&ben, "").await, unread(&ben).await), (vec![id(&emitted)], 1));
    for inside in [&ada, &ben, &adam] {
        assert_eq!(page(inside, &of_class).await, [id(&emitted)]);
        inside.get(&path).await.expect(200);
    }
    for outside in [&tom, &finn, &app.as_(&world.zoe)] {
        assert!(page(outside, &of_class).await.is_empty());
        outside.get(&path).await.refused(404, "NOT_FOUND");
    }
    // A student who joins later finds the announcement in the class. A student who leaves does not find it.
    ada.post(
        &format!("/classes/{class}/students"),
        json!({"studentIds": [world.finn.id]}),
    )
    .await
    .expect(200);
    assert!(page(&finn, "").await.is_empty());
    assert_eq!(
        (page(&finn, &of_class).await, unread(&finn).await),
        (vec![id(&emitted)], 0)
    );
    finn.post(&format!("{path}/read"), json!({})).await.expect(200);
    assert!(finn.get(&path).await.expect(200)["readAt"].is_string());
    ada.delete(&format!("/classes/{class}/students/{}", world.ben.id))
        .await
        .expect(200);
    ben.get(&path).await.refused(404, "NOT_FOUND");
    assert_eq!((page(&ben, "").await.len(), unread(&ben).await), (0, 0));
    // Students do not see the announcements of a draft class.
    let draft = json!({"name": "Draft", "academicYear": "2026/2027", "status": "DRAFT"});
    let draft = id(&ada.post("/classes", draft).await.expect(201));
    ada.post(
        &format!("/classes/{draft}/students"),
        json!({"studentIds": [world.cem.id]}),
    )
    .await
    .expect(200);
    let early = ada
        .post("/messages", json!({"classId": draft, "content": "Soon."}))
        .await
        .expect(201);
    let cem = app.as_(&world.cem);
    cem.get(&format!("/messages/{}", id(&early)))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!((page(&cem, "").await, unread(&cem).await), (vec![id(&emitted)], 1));
    ada.patch(&format!("/classes/{draft}"), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let late = json!({"classId": draft, "content": "Late."});
    ada.post("/messages", late).await.refused(409, "CLASS_ARCHIVED");
});

tenants!(message_boxes_are_paged_newest_first, |app| {
    let (ada, ben) = (app.as_(&app.world.ada), app.as_(&app.world.ben));
    let mut sent = Vec::new();
    for number in 0..5 {
        sent.insert(0, id(&write(&ada, &[&app.world.ben], &number.to_string()).await));
    }
    for (client, of) in [(&ben, "inbox"), (&ada, "sent")] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let part = client
                .get(&format!("/messages?box={of}&limit=2{cursor}"))
                .await
                .expect(200);
            found.extend(ids(&part["data"]));
            if of == "sent" {
                assert_eq!(part["data"][0]["recipients"][0]["id"], app.world.ben.id.as_str());
            }
            // Messages received meanwhile do not shift the pages.
            let Some(next) = part["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(found, sent, "{of}");
    }
});

tenants!(message_to_groups_is_posted_in_their_rooms, |app| {
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let mine = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let other = group(&ada, &world.seven_b, &[&world.cem], json!({})).await;
    let hidden = group(&ada, &world.seven_b, &[&world.ben], json!({"startDate": LATER})).await;
    let work = id(&topic(&ada, &world.seven_b, json!({"groupIds": [mine, hidden]})).await);
    let event = ben
        .post("/messages", json!({"groupId": mine, "content": "Hello"}))
        .await
        .expect(201);
    assert_eq!((&event["seq"], &event["content"]), (&json!(1), &json!("Hello")));
    for unseen in [&other, &hidden] {
        ben.post("/messages", json!({"groupId": unseen, "content": "x"}))
            .await
            .refused(404, "NOT_FOUND");
    }
    let outsider = app.as_(&world.tom);
    outsider
        .post("/messages", json!({"groupId": mine, "content": "x"}))
        .await
        .refused(404, "NOT_FOUND");
    outsider
        .post("/messages", json!({"assignmentId": work, "content": "x"}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    ben.post("/messages", json!({"assignmentId": work, "content": "x"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let emitted = ada
        .post("/messages", json!({"assignmentId": work, "content": "Five minutes"}))
        .await
        .expect(201);
    let written = emitted["messages"].as_array().unwrap();
    assert_eq!(
        (written.len(), &emitted["assignmentId"]),
        (2, &json!(work)),
        "hidden groups too, others not"
    );
    let room = ben.get(&format!("/groups/{mine}")).await.expect(200)["workRoomId"].clone();
    let room = format!("/workrooms/{}/messages", room.as_str().unwrap());
    let seen = ben.get(&room).await.expect(200);
    let contents: Vec<&Value> = seen["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["content"])
        .collect();
    assert_eq!(contents, ["Five minutes", "Hello"]);
    assert!(page(&ben, "").await.is_empty(), "rooms are no boxes");
});

both!(reminder_reaches_groups_that_have_not_submitted_and_is_logged, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, class) = (&app.world, &app.world.seven_b);
    let ada = app.as_(&world.ada);
    let open = group(&ada, class, &[&world.ben], json!({})).await;
    let done = group(&ada, class, &[&world.cem], json!({})).await;
    let hidden = group(&ada, class, &[], json!({"startDate": LATER})).await;
    let drafted = json!({"groupId": group(&ada, class, &[], json!({})).await, "isDraft": true});
    let groups = [&open, &done, &hidden].map(|group| json!({"groupId": group}));
    let groups: Vec<Value> = groups.into_iter().chain([drafted]).collect();
    let work = topic(&ada, class, json!({"groups": groups})).await;
    mark_submitted(app, link(&work, &done), &world.cem, 1).await;
    let (path, reminder) = (
        format!("/assignments/{}/remind", id(&work)),
        json!({"content": "Please submit.", "clientMessageId": "one"}),
    );
    let before = fingerprints(&app.database).await;
    app.as_(&world.ben)
        .post(&path, reminder.clone())
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.tom)
        .post(&path, reminder.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.zoe)
        .post(&path, reminder.clone())
        .await
        .refused(404, "NOT_FOUND");
    ada.post(&path, json!({"content": " "})).await.invalid("content");
    ada.post(&path, json!({})).await.invalid("content");
    assert_eq!(fingerprints(&app.database).await, before);

    let mut students = SocketListener::connect(app, &world.ben).await;
    let reminded = ada.post(&path, reminder.clone()).await.expect(200);
    assert_eq!(reminded, json!({"groupIds": [open]}));
    let event = students.expect("message:new").await;
    assert_eq!(
        (&event["groupId"], &event["message"]["content"]),
        (&json!(open), &json!("Please submit."))
    );
    assert_eq!(
        ada.post(&path, reminder).await.expect(200),
        reminded,
        "again: no second message"
    );
    let messages = texts(&app.database, "SELECT content FROM work_room_messages".to_owned()).await;
    assert_eq!(messages, [Some("Please submit.".to_owned())]);
    let log = ada.get("/activity-logs?action=REMIND").await.expect(200);
    let records = log["data"].as_array().unwrap();
    assert_eq!(
        (records.len(), &records[0]["details"]),
        (1, &json!({"groupIds": [open]}))
    );
    assert_eq!(records[0]["entityId"], work["id"]);

    mark_submitted(app, link(&work, &open), &world.ben, 2).await;
    let late = json!({"content": "Please submit."});
    assert_eq!(ada.post(&path, late.clone()).await.expect(200), json!({"groupIds": []}));
    mark_finished(app, &id(&work)).await;
    ada.post(&path, late).await.refused(409, "ASSIGNMENT_FINISHED");
    let log = ada.get("/activity-logs?action=REMIND").await.expect(200);
    assert_eq!(
        log["data"].as_array().unwrap().len(),
        1,
        "without a reminded group nothing is logged"
    );
});

tenants!(new_message_event_reaches_its_recipients_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let world = &app.world;
    let mut ben = SocketListener::connect(app, &world.ben).await;
    let mut cem = SocketListener::connect(app, &world.cem).await;
    let mut finn = SocketListener::connect(app, &world.finn).await;
    let ada = app.as_(&world.ada);
    let sent = write(&ada, &[&world.ben], "For you").await;
    let heard = ben.expect("direct:new").await;
    assert_eq!(
        (&heard["message"]["id"], &heard["classId"]),
        (&sent["id"], &Value::Null)
    );
    assert!(heard["message"].get("recipients").is_none());
    let emitted = json!({"classId": world.seven_b.id, "content": "For all"});
    let emitted = ada.post("/messages", emitted).await.expect(201);
    for student in [&mut ben, &mut cem] {
        assert_eq!(student.expect("direct:new").await["message"]["id"], emitted["id"]);
        student.expect_no_event(100).await;
    }
    finn.expect_no_event(100).await;
});
