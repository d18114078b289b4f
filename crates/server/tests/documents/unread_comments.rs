//! Unread comments on documents: they are counted per user and document until the user has seen them.

use serde_json::{Value, json};

use super::document_editor::blank;
use super::documents::{list, room};
use test_support::rows::{execute, texts};
use test_support::topics::topic;
use test_support::{Client, GroupRoom, SocketListener, clients_are_installed};

/// Writes a comment on the whole document; returns the comment and the path of its thread.
async fn comment(client: &Client, document: &str, text: &str) -> (Value, String) {
    let body = json!({"text": text});
    let thread = client.post(&format!("{document}/comments"), body).await.expect(201);
    let path = format!("{document}/comments/{}", thread["id"].as_str().unwrap());
    (thread["comments"][0].clone(), path)
}

/// Returns the unread comments and mentions of the only document of a room, and checks that both routes agree.
async fn unread(client: &Client, room: &GroupRoom) -> (i64, i64) {
    let documents = client.get(&list(room)).await.expect(200);
    let whole = client
        .get(&format!("/workrooms/group/{}", room.group))
        .await
        .expect(200);
    let counts = |document: &Value| {
        let count = |field: &str| document[field].as_i64().unwrap();
        (count("unreadComments"), count("unreadMentions"))
    };
    let found = counts(&documents[0]);
    assert_eq!(counts(&whole["documents"][0]), found);
    found
}

async fn read(client: &Client, document: &str, until: &Value) -> (i64, i64) {
    let body = if until.is_null() {
        json!({})
    } else {
        json!({"readUntil": until})
    };
    let remaining = client
        .post(&format!("{document}/comments/read"), body)
        .await
        .expect(200);
    let count = |field: &str| remaining[field].as_i64().unwrap();
    (count("unreadComments"), count("unreadMentions"))
}

both!(
    comments_from_before_the_reading_marks_are_read_after_the_upgrade,
    |app| {
        let room = room(app).await;
        let document = blank(app, &room).await;
        let world = &app.world;
        let (ada, ben, cem) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.cem));
        let (first, _) = comment(&ben, &document, "Which river?").await;
        read(&cem, &document, &first["createdAt"]).await;
        comment(&ben, &document, "The Spree?").await;
        let migration = include_str!("../../../../migrations/V0091__older_comments_count_as_read.sql");
        execute(&app.database, migration.to_owned()).await;
        assert_eq!(unread(&ada, &room).await, (0, 0));
        assert_eq!(unread(&cem, &room).await, (1, 0), "a mark that exists stays");
        comment(&ben, &document, "Or the Elbe?").await;
        assert_eq!(unread(&ada, &room).await, (1, 0));
    }
);

both!(comments_of_others_are_unread_until_they_were_seen, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let (ada, ben, cem) = (app.as_(&world.ada), app.as_(&world.ben), app.as_(&world.cem));
    assert_eq!(unread(&cem, &room).await, (0, 0));
    let (first, _) = comment(&ben, &document, "Which river?").await;
    let (mention, thread) = comment(&ben, &document, &format!("@[{}] do you know?", world.cem.id)).await;
    assert_eq!(unread(&ben, &room).await, (0, 0), "own comments");
    assert_eq!(unread(&cem, &room).await, (2, 1));
    assert_eq!(unread(&ada, &room).await, (2, 0));
    let listed = cem.get(&format!("{document}/comments")).await.expect(200);
    assert_eq!(listed["readUntil"], Value::Null);
    // Up to the first comment, then all, and never back.
    assert_eq!(read(&cem, &document, &first["createdAt"]).await, (1, 1));
    assert_eq!(unread(&cem, &room).await, (1, 1));
    assert_eq!(read(&cem, &document, &Value::Null).await, (0, 0));
    assert_eq!(read(&cem, &document, &first["createdAt"]).await, (0, 0));
    let listed = cem.get(&format!("{document}/comments")).await.expect(200);
    assert_eq!(listed["readUntil"], mention["createdAt"]);
    // A time in the future does not hide later comments.
    assert_eq!(read(&cem, &document, &json!("2099-01-01T00:00:00Z")).await, (0, 0));
    let own = format!("{thread}/replies/{}", mention["id"].as_str().unwrap());
    ben.patch(&own, json!({"text": "Never mind"})).await.expect(200);
    assert_eq!(unread(&cem, &room).await, (1, 0), "an edit is unread, too");
    cem.post(&format!("{thread}/replies"), json!({"text": "The Spree"}))
        .await
        .expect(201);
    assert_eq!(unread(&cem, &room).await, (1, 0), "a reply reads nothing");
    assert_eq!(unread(&ben, &room).await, (1, 0));
    // A deleted comment is unread for no user.
    ben.delete(&own).await.expect(200);
    assert_eq!(unread(&cem, &room).await, (0, 0));
    assert_eq!(read(&ada, &document, &Value::Null).await, (0, 0));
    let count = "SELECT CAST(COUNT(*) AS TEXT) FROM comment_reads";
    let marks = async || texts(&app.database, count.to_owned()).await;
    assert_eq!(marks().await, [Some("2".to_owned())]);
    ben.delete(&document).await.expect(200);
    assert_eq!(marks().await, [Some("0".to_owned())]);
});

both!(comment_that_waited_for_another_is_not_skipped, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let (ben, cem) = (app.as_(&app.world.ben), app.as_(&app.world.cem));
    comment(&ben, &document, "Which river?").await;
    // As after a comment of an instance whose clock is ahead.
    let ahead = "UPDATE document_comments SET created_at = 4000000000000";
    execute(&app.database, ahead.to_owned()).await;
    assert_eq!(read(&cem, &document, &Value::Null).await, (0, 0));
    comment(&ben, &document, "And which lake?").await;
    assert_eq!(unread(&cem, &room).await, (1, 0));
});

both!(unread_comments_are_hidden_from_others_and_shown_on_the_board, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let topic = topic(&ada, &world.seven_b, json!({"groupIds": [room.group]})).await;
    let other = app.room(&world.seven_b, &[&world.dana]).await;
    let page = json!({"title": "Page", "documentType": "word"});
    app.as_(&world.dana).post(&list(&other), page).await.expect(201);
    comment(&ben, &document, "Which river?").await;
    for person in [&world.dana, &world.tom, &world.zoe] {
        let path = format!("{document}/comments/read");
        app.as_(person).post(&path, json!({})).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(unread(&app.as_(&world.dana), &other).await, (0, 0));
    let board = format!("/assignments/{}/board", topic["id"].as_str().unwrap());
    let unread_on_board = async || {
        let board = ada.get(&board).await.expect(200);
        board["groups"][0]["documents"][0]["unreadComments"].clone()
    };
    assert_eq!(unread_on_board().await, 1);
    // Staff read on submitted documents as well.
    ben.post(&format!("{document}/submit"), json!({"assignmentId": topic["id"]}))
        .await
        .expect(200);
    assert_eq!(read(&ada, &document, &Value::Null).await, (0, 0));
    assert_eq!(unread_on_board().await, 0);
});

both!(reading_comments_is_announced_to_own_pages_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let document = blank(app, &room(app).await).await;
    let world = &app.world;
    let (ben, cem) = (app.as_(&world.ben), app.as_(&world.cem));
    let mut reader = SocketListener::connect(app, &world.cem).await;
    let mut writer = SocketListener::connect(app, &world.ben).await;
    let mut teacher = SocketListener::connect(app, &world.ada).await;
    let is_of_thread = |event: &Value| event["threadId"].is_string();
    comment(&ben, &document, "Which river?").await;
    for socket in [&mut reader, &mut writer, &mut teacher] {
        socket.expect_where("document:comments", is_of_thread).await;
    }
    assert_eq!(read(&cem, &document, &Value::Null).await, (0, 0));
    let event = reader.expect("document:comments").await;
    assert_eq!(event["threadId"], Value::Null);
    assert!(document.ends_with(event["documentId"].as_str().unwrap()));
    // Nothing has changed.
    assert_eq!(read(&cem, &document, &Value::Null).await, (0, 0));
    comment(&ben, &document, "Which lake?").await;
    for socket in [&mut reader, &mut writer, &mut teacher] {
        let next = socket.expect("document:comments").await;
        assert!(next["threadId"].is_string(), "only the reader is told: {next}");
    }
});
