//! Chat events: delivered once, in the order of the messages, and without the read markers of other users.

use db::Database;
use serde_json::{Value, json};

use test_support::chats::{each, messages, post_message, upload_chat_file, write};
use test_support::topics::id;
use test_support::{Client, DatabaseKind, SecondInstance, SocketListener, TestApp, clients_are_installed};

both!(concurrent_messages_are_numbered_and_received_in_order, |app| {
    let world = &app.world;
    let room = app
        .room(&world.seven_b, &[&world.ben, &world.cem, &world.dana, &world.eli])
        .await
        .id;
    // With PostgreSQL, several instances share the database; half of the clients use the second one.
    let again = match app.database {
        Database::Sqlite(_) => None,
        Database::Postgres(_) => Some(SecondInstance::start(app, &[]).await),
    };
    let there = again.as_ref().map_or(&app.base, |again| &again.base);
    let mut probe = if clients_are_installed() {
        Some((
            SocketListener::connect(app, &world.ben).await,
            SocketListener::connect_at(there, &world.adam).await,
        ))
    } else {
        None
    };
    let people = [
        &world.ben,
        &world.cem,
        &world.dana,
        &world.eli,
        &world.ada,
        &world.adam,
        &world.olga,
        &world.ben,
    ];
    let send_messages = people.into_iter().enumerate().map(|(client, person)| {
        let base = if client % 2 == 0 { &app.base } else { there };
        let (speaker, room) = (Client::new(base, Some(person.cookie.clone())), room.clone());
        async move {
            for number in 0..25 {
                let message = json!({"content": "x", "clientMessageId": format!("{client}-{number}")});
                // Every fifth response is lost, and the client retries.
                let first = write(&speaker, &room, message.clone()).await.expect(201);
                if number % 5 == 0 {
                    assert_eq!(write(&speaker, &room, message).await.expect(200), first);
                }
            }
        }
    });
    futures_util::future::join_all(send_messages).await;
    let all = app
        .as_(&world.ada)
        .get(&format!("{}?after=0&limit=200", messages(&room)))
        .await
        .expect(200);
    let all = all["data"].as_array().unwrap();
    let places: Vec<i64> = all.iter().map(|message| message["seq"].as_i64().unwrap()).collect();
    assert_eq!(places, (1..=200).collect::<Vec<i64>>());
    if let Some((ben, adam)) = &mut probe {
        for listener in [ben, adam] {
            for message in all {
                let received = listener.expect("message:new").await;
                assert_eq!(
                    (&received["message"]["seq"], &received["message"]["id"]),
                    (&message["seq"], &message["id"])
                );
            }
            listener.expect_no_event(150).await;
        }
    }
    drop(probe);
    if let Some(again) = again {
        again.close().await;
    }
});

tenants!(message_events_reach_room_and_read_events_only_reader, |app| {
    if !clients_are_installed() {
        return;
    }
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await;
    let hidden = app.room(&world.seven_b, &[&world.ben]).await;
    app.set_group_start(&hidden, 4_000_000_000_000).await;
    let mut probes = [
        SocketListener::connect(app, &world.ben).await,
        SocketListener::connect(app, &world.cem).await,
        SocketListener::connect(app, &world.ada).await,
        SocketListener::connect(app, &world.adam).await,
    ];
    let mut outside = [
        SocketListener::connect(app, &world.dana).await,
        SocketListener::connect(app, &world.tom).await,
        SocketListener::connect(app, &world.zoe).await,
    ];
    let file = upload_chat_file(&ben, &room.id, "map.txt").await;
    let sent = write(
        &ben,
        &room.id,
        json!({"content": "A map", "attachmentIds": [id(&file)]}),
    )
    .await
    .expect(201);
    let path = format!("{}/{}", messages(&room.id), id(&sent));
    let edited = ben.patch(&path, json!({"content": "The map"})).await.expect(200);
    ben.patch(&path, json!({"content": "The map"})).await.expect(200);
    let gone = ada.delete(&path).await.expect(200);
    ada.delete(&path).await.expect(200);
    for probe in &mut probes {
        for (event, message) in [
            ("message:new", &sent),
            ("message:updated", &edited),
            ("message:deleted", &gone),
        ] {
            let received = probe.expect(event).await;
            assert_eq!(&received["message"], message);
            assert_eq!(
                (&received["workRoomId"], &received["groupId"]),
                (&json!(room.id), &json!(room.group))
            );
        }
    }
    // Read markers of other users are not sent; the reader's other sockets receive the event.
    let read = format!("/workrooms/{}/read", room.id);
    app.as_(&world.cem).post(&read, json!({})).await.expect(200);
    app.as_(&world.cem).post(&read, json!({})).await.expect(200);
    let received = probes[1].expect("message:read").await;
    assert_eq!(
        (&received["workRoomId"], &received["unreadCount"]),
        (&json!(room.id), &json!(0))
    );
    assert!(received["lastReadAt"].is_string());

    let secret: Value = post_message(&ada, &hidden.id, "For later").await;
    for probe in &mut probes[2..] {
        assert_eq!(probe.expect("message:new").await["message"], secret);
    }
    // A removed member receives no more events from the moment of removal.
    ada.delete(&format!("/groups/{}/members/{}", room.group, world.cem.id))
        .await
        .expect(200);
    probes[1].expect("group:removed").await;
    probes[1].discard();
    post_message(&ben, &room.id, "Without Cem").await;
    probes[0]
        .expect_where("message:new", |received| {
            received["message"]["content"] == "Without Cem"
        })
        .await;
    probes[1].expect_no_event(150).await;
    for probe in &mut probes {
        probe.discard();
    }
    for probe in &mut outside {
        probe.expect_no_event(150).await;
    }
});

/// The limit is sixty messages in a minute, three in this test. Reading, marking as read and other users are not
/// limited.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_rate_of_user_is_limited() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(app) = TestApp::start_with(kind, &["--rate-limit-factor=0.05"]).await else {
            continue;
        };
        let (ben, cem) = (app.as_(&app.world.ben), app.as_(&app.world.cem));
        let room = app.room(&app.world.seven_b, &[&app.world.ben, &app.world.cem]).await.id;
        for _ in 0..3 {
            post_message(&ben, &room, "x").await;
        }
        let refused = write(&ben, &room, json!({"content": "x"})).await;
        assert_eq!(refused.header("ratelimit-limit"), "3");
        refused.refused(429, "RATE_LIMITED");
        ben.post(&format!("/workrooms/{room}/read"), json!({}))
            .await
            .expect(200);
        assert_eq!(each(&ben.get(&messages(&room)).await.expect(200), "seq"), [3, 2, 1]);
        post_message(&cem, &room, "x").await;
        app.close().await;
    }
}

// A member is removed while sending: accepted messages are stored, and none is written after the response.
tenants!(removed_member_writes_nothing_after_the_response, |app| {
    let world = &app.world;
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await;
    let (ada, cem) = (app.as_(&world.ada), app.as_(&world.cem));
    let send_messages = async {
        let mut accepted = 0;
        loop {
            let answer = write(&cem, &room.id, json!({"content": "still here"})).await;
            if answer.status != 201 {
                answer.refused(404, "NOT_FOUND");
                return accepted;
            }
            accepted += 1;
        }
    };
    let path = messages(&room.id);
    let removal = async {
        while ada.get(&path).await.expect(200)["data"].as_array().unwrap().len() < 5 {}
        ada.delete(&format!("/groups/{}/members/{}", room.group, world.cem.id))
            .await
            .expect(200);
        ada.get(&format!("{path}?limit=1")).await.expect(200)["data"][0]["seq"].clone()
    };
    let (accepted, last) = tokio::join!(send_messages, removal);
    assert_eq!(last, json!(accepted));
    assert_eq!(
        ada.get(&format!("{path}?limit=1")).await.expect(200)["data"][0]["seq"],
        json!(accepted)
    );
});
