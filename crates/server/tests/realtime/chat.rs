//! Chat of a work room: order, authorship, deletion of messages and unread counts.

use serde_json::{Value, json};

use test_support::TestApp;
use test_support::chats::{each, messages, post_message, unread, upload_chat_file, write};
use test_support::rows::execute;
use test_support::topics::id;

const LATER: i64 = 4_000_000_000_000;

/// Makes a message older than a quarter of an hour.
async fn age(app: &TestApp, message: &Value) {
    let sql = format!(
        "UPDATE work_room_messages SET created_at = created_at - 901000 WHERE id = '{}'",
        id(message)
    );
    execute(&app.database, sql).await;
}

tenants!(messages_are_numbered_and_paged_in_both_directions, |app| {
    let world = &app.world;
    let (ada, ben, cem) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let first = write(
        &ben,
        &room,
        json!({"content": "  Where is the map?\r\n ", "clientMessageId": "b-1"}),
    )
    .await;
    let place = first.header("location").to_owned();
    let first = first.expect(201);
    assert_eq!(place, format!("/api{}/{}", messages(&room), id(&first)));
    let sender = json!({"id": world.ben.id, "name": world.ben.name, "role": "STUDENT", "image": null});
    assert_eq!(first["sender"], sender);
    assert_eq!((&first["seq"], &first["type"]), (&json!(1), &json!("TEXT")));
    assert_eq!(
        (&first["content"], &first["clientMessageId"]),
        (&json!("Where is the map?"), &json!("b-1"))
    );
    assert_eq!(
        (&first["replyToId"], &first["editedAt"], &first["deletedAt"]),
        (&json!(null), &json!(null), &json!(null))
    );
    let answer = json!({"content": "Here", "replyToId": id(&first)});
    let second = write(&ada, &room, answer).await.expect(201);
    assert_eq!(
        (&second["replyToId"], &second["sender"]["role"]),
        (&first["id"], &json!("TEACHER"))
    );
    for number in 3..=7 {
        post_message(&cem, &room, &format!("{number}")).await;
    }

    let path = messages(&room);
    let all = ben.get(&path).await.expect(200);
    assert_eq!(each(&all, "seq"), [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!((&all["data"][6], &all["nextCursor"]), (&first, &json!(null)));
    let page = ben.get(&format!("{path}?limit=3")).await.expect(200);
    // A message sent meanwhile does not shift the pages.
    post_message(&cem, &room, "8").await;
    let cursor = page["nextCursor"].as_str().unwrap();
    let next = ben.get(&format!("{path}?limit=3&cursor={cursor}")).await.expect(200);
    assert_eq!(each(&next, "seq"), [4, 3, 2]);
    let missed = ben.get(&format!("{path}?after=2&limit=4")).await.expect(200);
    assert_eq!(each(&missed, "seq"), [3, 4, 5, 6]);
    let cursor = missed["nextCursor"].as_str().unwrap();
    let missed = ben
        .get(&format!("{path}?after=2&limit=4&cursor={cursor}"))
        .await
        .expect(200);
    assert_eq!(
        (each(&missed, "seq"), &missed["nextCursor"]),
        (vec![&json!(7), &json!(8)], &json!(null))
    );
    assert_eq!(ben.get(&format!("{path}?after=8")).await.expect(200)["data"], json!([]));
    for (query, field) in [
        ("after=-1", "after"),
        ("after=x", "after"),
        ("limit=0", "limit"),
        ("cursor=x", "cursor"),
    ] {
        ben.get(&format!("{path}?{query}")).await.invalid(field);
    }
    let shown = ben.get(&format!("/workrooms/{room}")).await.expect(200);
    let listed = ben.get("/workrooms").await.expect(200);
    assert_eq!(shown["lastMessage"], listed[0]["lastMessage"]);
    let last = &shown["lastMessage"];
    assert_eq!(
        (&last["content"], &last["seq"], &last["sender"]["id"]),
        (&json!("8"), &json!(8), &json!(world.cem.id))
    );
});

tenants!(message_texts_are_stored_unchanged, |app| {
    let world = &app.world;
    let (ben, cem) = (app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let longest = "👩‍🔬".repeat(1333) + "x";
    assert_eq!(longest.chars().count(), 4000);
    let texts = [
        "<script>alert(1)</script>",
        "'; DROP TABLE work_room_messages; --",
        "\u{202e}txet sdrawkcab\u{202c} שלום مرحبا",
        "e\u{301} \u{e9} 🏳️‍🌈 z\u{300}\u{301}\u{302}\u{303}",
        "one\n\n\ttwo",
        "%s %n {} $1 \\u0000 \\",
        &longest,
    ];
    for text in texts {
        assert_eq!(post_message(&ben, &room, text).await["content"], text);
    }
    let kept = cem.get(&messages(&room)).await.expect(200);
    let kept: Vec<&str> = each(&kept, "content")
        .into_iter()
        .rev()
        .map(|text| text.as_str().unwrap())
        .collect();
    assert_eq!(kept, texts);
    for refused in ["", " \n ", &format!("{longest}y"), "a\u{0}b", "bell\u{7}"] {
        write(&ben, &room, json!({"content": refused})).await.invalid("content");
    }
    for (body, field) in [
        (json!({}), "content"),
        (json!({"content": null}), "content"),
        (json!({"content": 7}), "content"),
        (json!({"content": "x", "type": "SYSTEM"}), "type"),
        (
            json!({"content": "x", "clientMessageId": "i".repeat(65)}),
            "clientMessageId",
        ),
        (json!({"content": "x", "attachmentIds": ["a", "a"]}), "attachmentIds"),
        (
            json!({"content": "x", "attachmentIds": (0..21).map(|n| n.to_string()).collect::<Vec<_>>()}),
            "attachmentIds",
        ),
    ] {
        write(&ben, &room, body).await.invalid(field);
    }
    for body in [
        json!({"content": "x", "replyToId": "unknown"}),
        json!({"content": "x", "replyToId": "\u{0}"}),
        json!({"content": "x", "attachmentIds": ["\u{0}"]}),
    ] {
        write(&ben, &room, body).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(
        each(&cem.get(&messages(&room)).await.expect(200), "seq")[0],
        7,
        "refusals leave no gap"
    );
});

tenants!(repeated_message_returns_the_first_one, |app| {
    let world = &app.world;
    let (ben, cem) = (app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let other = app.room(&world.seven_b, &[&world.ben]).await.id;
    let message = json!({"content": "Once", "clientMessageId": "one"});
    // The client received none of these responses, so it retries concurrently.
    let answers = futures_util::future::join_all((0..8).map(|_| write(&ben, &room, message.clone()))).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
    let first = answers[0].json();
    assert!(answers.iter().all(|answer| answer.json() == first));
    let again = json!({"content": "Something else", "clientMessageId": "one", "replyToId": "unknown"});
    assert_eq!(write(&ben, &room, again).await.expect(200), first);
    // The client id is scoped to the sender and the room: other users and other rooms can use the same id.
    assert_eq!(write(&cem, &room, message.clone()).await.expect(201)["seq"], 2);
    assert_eq!(write(&ben, &other, message.clone()).await.expect(201)["seq"], 1);
    let path = format!("{}/{}", messages(&room), id(&first));
    ben.delete(&path).await.expect(200);
    assert_eq!(write(&ben, &room, message.clone()).await.expect(200)["content"], "");
    app.set_class_status(&world.seven_b, "ARCHIVED").await;
    write(&ben, &room, message.clone()).await.expect(200);
    write(&ben, &room, json!({"content": "New"}))
        .await
        .refused(409, "CLASS_ARCHIVED");
});

tenants!(only_members_of_work_room_read_and_write, |app| {
    let world = &app.world;
    let (ada, ben, cem) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await;
    let hidden = app.room(&world.seven_b, &[&world.ben]).await;
    app.set_group_start(&hidden, LATER).await;
    let file = upload_chat_file(&ben, &room.id, "map.txt").await;
    let event = write(&ben, &room.id, json!({"content": "x", "attachmentIds": [id(&file)]}))
        .await
        .expect(201);
    let secret = post_message(&ada, &hidden.id, "not yet").await;
    let waiting = upload_chat_file(&cem, &room.id, "mine.txt").await;

    let shut = async |who: &test_support::Client, room: &str, message: &Value| {
        let (path, one) = (messages(room), format!("{}/{}", messages(room), id(message)));
        let refused = [
            who.get(&path).await,
            who.get(&format!("{path}?after=0")).await,
            write(who, room, json!({"content": "let me in"})).await,
            write(who, room, json!({"content": "x", "clientMessageId": "1"})).await,
            who.patch(&one, json!({"content": "changed"})).await,
            who.patch(&one, json!({"content": "changed", "id": "x"})).await,
            who.delete(&one).await,
            who.post(&format!("/workrooms/{room}/read"), json!({})).await,
            who.upload(&format!("{path}/attachments"), "a.txt", b"x".to_vec(), &[])
                .await,
            who.get(&format!("{path}/attachments/{}/download", id(&file))).await,
        ];
        for answer in refused {
            answer.refused(404, "NOT_FOUND");
        }
    };
    for stranger in [&world.dana, &world.tom, &world.zoe, &world.zara] {
        shut(&app.as_(stranger), &room.id, &event).await;
    }
    shut(&ben, &hidden.id, &secret).await;
    // A message id of one room is not found in another.
    ada.delete(&format!("{}/{}", messages(&hidden.id), id(&event)))
        .await
        .refused(404, "NOT_FOUND");
    write(&ada, &hidden.id, json!({"content": "x", "replyToId": id(&event)}))
        .await
        .refused(404, "NOT_FOUND");
    let read = json!({"lastReadMessageId": id(&event)});
    ada.post(&format!("/workrooms/{}/read", hidden.id), read)
        .await
        .refused(404, "NOT_FOUND");

    let before = cem.get(&messages(&room.id)).await.expect(200);
    ada.delete(&format!("/groups/{}/members/{}", room.group, world.cem.id))
        .await
        .expect(200);
    shut(&cem, &room.id, &event).await;
    cem.get(&format!("{}/attachments/{}/download", messages(&room.id), id(&waiting)))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(ben.get(&messages(&room.id)).await.expect(200), before);
    app.set_class_status(&world.seven_b, "DRAFT").await;
    shut(&ben, &room.id, &event).await;
    post_message(&ada, &room.id, "teachers prepare").await;
});

both!(author_edits_for_15_minutes_and_staff_delete_any_time, |app| {
    let world = &app.world;
    let (ada, ben, cem) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let path = |message: &Value| format!("{}/{}", messages(&room), id(message));
    let mine = post_message(&ben, &room, "a tpyo").await;
    let edited = ben
        .patch(&path(&mine), json!({"content": "a typo", "seq": 1}))
        .await
        .expect(200);
    assert_eq!((&edited["content"], &edited["seq"]), (&json!("a typo"), &json!(1)));
    assert!(edited["editedAt"].is_string());
    assert_eq!(
        ben.patch(&path(&mine), json!({"content": "a typo"})).await.expect(200),
        edited
    );
    assert_eq!(
        ben.patch(&path(&mine), edited.clone()).await.expect(200),
        edited,
        "what was read may be sent back"
    );
    assert_eq!(ben.patch(&path(&mine), json!({})).await.expect(200), edited);
    let same = ben.patch(&path(&mine), json!({"seq": 2000})).await.expect(200);
    assert_eq!(same["seq"], edited["seq"], "read-only fields are ignored");
    ben.patch(&path(&mine), json!({"content": null}))
        .await
        .invalid("content");
    ben.patch(&path(&mine), json!({"content": " "}))
        .await
        .invalid("content");
    ben.patch(&path(&mine), json!({"colour": 1})).await.invalid("colour");
    for other in [&cem, &ada] {
        other
            .patch(&path(&mine), json!({"content": "changed"}))
            .await
            .refused(403, "NOT_AUTHOR");
    }
    cem.delete(&path(&mine)).await.refused(403, "NOT_AUTHOR");
    assert_eq!(cem.get(&messages(&room)).await.expect(200)["data"][0], edited);

    age(app, &mine).await;
    ben.patch(&path(&mine), json!({"content": "late"}))
        .await
        .refused(403, "EDIT_TIME_OVER");
    ben.delete(&path(&mine)).await.refused(403, "EDIT_TIME_OVER");
    let gone = ada.delete(&path(&mine)).await.expect(200);
    assert_eq!((&gone["content"], &gone["seq"]), (&json!(""), &json!(1)));
    assert!(gone["deletedAt"].is_string());
    assert_eq!(
        ada.delete(&path(&mine)).await.expect(200),
        gone,
        "once more is no mistake"
    );
    ben.patch(&path(&mine), json!({"content": "back"}))
        .await
        .refused(403, "EDIT_TIME_OVER");

    let own = post_message(&cem, &room, "never mind").await;
    let reply = write(&ben, &room, json!({"content": "what?", "replyToId": id(&own)}))
        .await
        .expect(201);
    let gone = cem.delete(&path(&own)).await.expect(200);
    age(app, &own).await;
    assert_eq!(
        cem.delete(&path(&own)).await.expect(200)["deletedAt"],
        gone["deletedAt"]
    );
    let page = ben.get(&messages(&room)).await.expect(200);
    assert_eq!(each(&page, "content"), ["what?", "", ""]);
    assert_eq!(page["data"][0], reply, "an answer stays an answer");
    let last = post_message(&ben, &room, "the last word").await;
    cem.delete(&path(&last)).await.refused(403, "NOT_AUTHOR");
    ben.delete(&path(&last)).await.expect(200);
    let shown = &ben.get("/workrooms").await.expect(200)[0]["lastMessage"];
    assert_eq!((&shown["content"], shown["deletedAt"].is_string()), (&json!(""), true));

    let one = post_message(&ben, &room, "x").await;
    app.set_class_status(&world.seven_b, "ARCHIVED").await;
    ben.patch(&path(&one), json!({"content": "y"}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ben.delete(&path(&one)).await.refused(409, "CLASS_ARCHIVED");
    cem.delete(&path(&one)).await.refused(403, "NOT_AUTHOR");
});

tenants!(unread_count_is_messages_of_others_since_last_read, |app| {
    let world = &app.world;
    let (ada, ben, cem) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let read = format!("/workrooms/{room}/read");
    let first = post_message(&ben, &room, "one").await;
    post_message(&cem, &room, "two").await;
    let third = post_message(&ben, &room, "three").await;
    assert_eq!(
        (
            unread(&ben, &room).await,
            unread(&cem, &room).await,
            unread(&ada, &room).await
        ),
        (1, 2, 3)
    );
    let upto = |message: &Value| json!({"lastReadMessageId": id(message)});
    assert_eq!(
        ada.post(&read, upto(&first)).await.expect(200),
        json!({"unreadCount": 2})
    );
    assert_eq!(
        ada.post(&read, upto(&third)).await.expect(200),
        json!({"unreadCount": 0})
    );
    // A read marker never moves backwards. The response has the current count in any case.
    assert_eq!(
        ada.post(&read, upto(&first)).await.expect(200),
        json!({"unreadCount": 0})
    );
    assert_eq!(
        ben.post(&read, upto(&first)).await.expect(200),
        json!({"unreadCount": 1})
    );
    assert_eq!(
        unread(&ben, &room).await,
        1,
        "the second is unread, the third is their own"
    );
    post_message(&ada, &room, "four").await;
    assert_eq!(
        (
            unread(&ben, &room).await,
            unread(&cem, &room).await,
            unread(&ada, &room).await
        ),
        (2, 3, 0)
    );
    assert_eq!(
        ben.finish(ben.request(reqwest::Method::POST, &read)).await.expect(200),
        json!({"unreadCount": 0})
    );
    assert_eq!((unread(&ben, &room).await, unread(&cem, &room).await), (0, 3));
    // Listing messages does not mark them as read.
    cem.get(&messages(&room)).await.expect(200);
    assert_eq!(unread(&cem, &room).await, 3);
    app.set_class_status(&world.seven_b, "ARCHIVED").await;
    cem.post(&read, json!({"lastReadMessageId": "unknown"}))
        .await
        .refused(404, "NOT_FOUND");
    cem.post(&read, json!({"upTo": 3})).await.invalid("upTo");
    assert_eq!(cem.post(&read, json!({})).await.expect(200), json!({"unreadCount": 0}));
});
