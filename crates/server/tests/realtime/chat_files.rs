//! Chat files: access before and after a message refers to them, and removal.

use common::clock;
use serde_json::{Value, json};
use service::jobs::old_messages;

use test_support::chats::{each, messages, upload_chat_file, write};
use test_support::rows::{execute, texts};
use test_support::topics::{id, ids};
use test_support::until;

fn download(file: &Value) -> String {
    file["url"].as_str().unwrap().strip_prefix("/api").unwrap().to_owned()
}

tenants!(chat_file_is_private_until_a_message_refers_to_it, |app| {
    let world = &app.world;
    let (ada, ben, cem) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let other = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let (map, sketch) = (
        upload_chat_file(&ben, &room, "map.txt").await,
        upload_chat_file(&ben, &room, "sketch.txt").await,
    );
    assert_eq!((&map["fileName"], &map["size"]), (&json!("map.txt"), &json!(16)));
    assert_eq!(ben.get(&download(&map)).await.bytes, b"bytes of map.txt");
    for stranger in [&cem, &ada] {
        stranger.get(&download(&map)).await.refused(404, "NOT_FOUND");
    }
    let naming = |files: &[&Value]| json!({"attachmentIds": files.iter().map(|file| id(file)).collect::<Vec<_>>()});
    write(&cem, &room, naming(&[&map])).await.refused(404, "NOT_FOUND");
    write(&ben, &other, naming(&[&map])).await.refused(404, "NOT_FOUND");
    let elsewhere = upload_chat_file(&ben, &other, "elsewhere.txt").await;
    write(&ben, &room, naming(&[&map, &elsewhere]))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(ben.get(&messages(&room)).await.expect(200)["data"], json!([]));

    let sent = write(&ben, &room, naming(&[&map, &sketch])).await.expect(201);
    assert_eq!((&sent["type"], &sent["content"]), (&json!("FILE"), &json!("")));
    assert_eq!(sent["attachments"], json!([map, sketch]));
    write(&ben, &room, naming(&[&map])).await.refused(404, "NOT_FOUND");
    let page = cem.get(&messages(&room)).await.expect(200);
    assert_eq!(page["data"], json!([sent]));
    assert_eq!(cem.get(&download(&map)).await.bytes, b"bytes of map.txt");
    let crossed = download(&map).replace(&room, &other);
    ben.get(&crossed).await.refused(404, "NOT_FOUND");
    // A message with files can have an empty text, also after an edit.
    let path = format!("{}/{}", messages(&room), id(&sent));
    ben.patch(&path, json!({"content": "Look"})).await.expect(200);
    let edited = ben.patch(&path, json!({"content": ""})).await.expect(200);
    assert_eq!(
        (&edited["content"], &edited["attachments"]),
        (&json!(""), &sent["attachments"])
    );

    let gone = cem.delete(&path).await;
    gone.refused(403, "NOT_AUTHOR");
    assert_eq!(ada.delete(&path).await.expect(200)["attachments"], json!([]));
    for person in [&ben, &cem, &ada] {
        person.get(&download(&map)).await.refused(404, "NOT_FOUND");
    }
    let refused = |name: &'static str| {
        let ben = ben.clone();
        let path = format!("{}/attachments", messages(&room));
        async move { ben.upload(&path, name, b"x".to_vec(), &[]).await }
    };
    refused("macro.docm").await.refused(415, "UNSUPPORTED_FILE_TYPE");
    refused("page.html").await.refused(415, "UNSUPPORTED_FILE_TYPE");
    app.set_class_status(&world.seven_b, "ARCHIVED").await;
    refused("late.txt").await.refused(409, "CLASS_ARCHIVED");
});

tenants!(oldest_unsent_chat_file_is_removed_above_limit, |app| {
    let world = &app.world;
    let (ben, cem) = (app.as_(&world.ben), app.as_(&world.cem));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await.id;
    let cems = upload_chat_file(&cem, &room, "mine.txt").await;
    let mut files = Vec::new();
    for number in 0..22 {
        files.push(upload_chat_file(&ben, &room, &format!("{number}.txt")).await);
    }
    for file in &files[..2] {
        ben.get(&download(file)).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(
        cem.get(&download(&cems)).await.status,
        200,
        "everybody's files wait for themselves"
    );
    let kept: Vec<String> = files[2..].iter().map(id).collect();
    let sent = write(&ben, &room, json!({"attachmentIds": kept})).await.expect(201);
    assert_eq!(ids(&sent["attachments"]), kept);
});

both!(unsent_and_deleted_chat_files_expire, |app| {
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let room = app.room(&world.seven_b, &[&world.ben]).await.id;
    let (old, sent) = (
        upload_chat_file(&ben, &room, "old.txt").await,
        upload_chat_file(&ben, &room, "sent.txt").await,
    );
    let event = write(&ben, &room, json!({"content": "sorry", "attachmentIds": [id(&sent)]}))
        .await
        .expect(201);
    let other = write(&ben, &room, json!({"content": "not sorry"})).await.expect(201);
    ada.delete(&format!("{}/{}", messages(&room), id(&event)))
        .await
        .expect(200);
    ada.delete(&format!("{}/{}", messages(&room), id(&other)))
        .await
        .expect(200);
    let rows = async || {
        let words = texts(
            &app.database,
            "SELECT content FROM work_room_messages ORDER BY seq".to_owned(),
        )
        .await;
        let files = texts(
            &app.database,
            "SELECT id FROM message_attachments ORDER BY id".to_owned(),
        )
        .await;
        (
            words.into_iter().flatten().collect::<Vec<_>>(),
            files.into_iter().flatten().collect::<Vec<_>>(),
        )
    };
    let both = vec![id(&old), id(&sent)];
    old_messages::sweep(app.app.store(), clock::now()).await.unwrap();
    assert_eq!(rows().await, (vec!["sorry".to_owned(), "not sorry".to_owned()], both));

    execute(
        &app.database,
        format!(
            "UPDATE message_attachments SET created_at = created_at - 86400001 WHERE message_id IS NULL \
        OR message_id = '{}'",
            id(&event)
        ),
    )
    .await;
    old_messages::sweep(app.app.store(), clock::now()).await.unwrap();
    assert_eq!(rows().await.1, [id(&sent)], "a file with a message waits for nothing");

    execute(
        &app.database,
        format!(
            "UPDATE work_room_messages SET deleted_at = deleted_at - 2592000001 WHERE id = '{}'",
            id(&event)
        ),
    )
    .await;
    old_messages::sweep(app.app.store(), clock::now()).await.unwrap();
    assert_eq!(rows().await, (vec![String::new(), "not sorry".to_owned()], Vec::new()));
    let page = ben.get(&messages(&room)).await.expect(200);
    assert_eq!(each(&page, "seq"), [2, 1], "the places stay");
    until("the bytes are gone", async || app.stored_files().is_empty()).await;
});
