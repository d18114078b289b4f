//! Pages of the built-in editor: who receives the commits and cursors of a document.

use std::time::Instant;

use serde_json::{Value, json};

use domain::id::DocumentId;
use domain::realtime::Room;
use test_support::samples::commit;
use test_support::{SocketListener, TestApp, TestUser, clients_are_installed, until};

/// Creates a text document of Ben and Cem; returns its id, and their group.
async fn document(app: &TestApp) -> (String, String) {
    let room = app.room(&app.world.seven_b, &[&app.world.ben, &app.world.cem]).await;
    let body = json!({"title": "Report", "documentType": "word"});
    let documents = format!("/workrooms/{}/documents", room.id);
    let created = app.as_(&app.world.ben).post(&documents, body).await.expect(201);
    let id = created["id"].as_str().unwrap().to_owned();
    let content = format!("/workrooms/documents/{id}/content");
    app.as_(&app.world.ben).get(&content).await.expect(200);
    (id, room.group)
}

fn opening(document: &str, page: &str) -> Value {
    json!(["document:open", {"documentId": document, "generation": 1, "clientId": page}])
}

fn moving(document: &str, page: &str, position: i64) -> Value {
    json!(["document:move", {"documentId": document, "generation": 1, "clientId": page, "version": 0,
        "anchor": position, "head": position}])
}

async fn open(app: &TestApp, person: &TestUser, document: &str, page: &str) -> SocketListener {
    let mut socket = SocketListener::connect(app, person).await;
    socket.emit(opening(document, page)).await;
    assert_eq!(socket.expect("ack").await, json!({"joined": true}), "{}", person.name);
    socket
}

both!(commits_reach_open_pages_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let (document, _) = document(app).await;
    let mut cem = open(app, &app.world.cem, &document, "cem").await;
    let mut ada = SocketListener::connect(app, &app.world.ada).await;
    let commits = format!("/workrooms/documents/{document}/commits");
    let ben = app.as_(&app.world.ben);
    ben.post(&commits, commit(1, "first", 0, "river")).await.expect(200);
    let event = cem.expect("document:commits").await;
    assert_eq!((&event["documentId"], &event["version"]), (&json!(document), &json!(1)));
    assert_eq!(event["commits"][0]["ref"], "first");
    assert_eq!(event["commits"][0]["userId"], json!(app.world.ben.id));
    // A large commit is fetched.
    ben.post(&commits, commit(1, "large", 1, &"x".repeat(100_000)))
        .await
        .expect(200);
    let event = cem.expect("document:commits").await;
    assert_eq!((&event["version"], &event["commits"]), (&json!(2), &Value::Null));
    cem.emit(json!(["document:close", {"documentId": document, "clientId": "cem"}]))
        .await;
    let room = Room::Document(DocumentId::new(&document));
    until("the room is empty", async || app.app.realtime().count(&room) == 0).await;
    ben.post(&commits, commit(1, "later", 2, "lake")).await.expect(200);
    ada.emit(opening(&document, "ada")).await;
    ada.expect("ack").await;
    ben.post(&commits, commit(1, "last", 3, "sea")).await.expect(200);
    // On PostgreSQL, the event of the commit before can arrive after the response to it.
    ada.expect_where("document:commits", |event| event["commits"][0]["ref"] == "last")
        .await;
    assert!(cem.all("document:commits").is_empty(), "the page was closed");
});

both!(cursors_reach_the_other_pages, |app| {
    if !clients_are_installed() {
        return;
    }
    let (document, _) = document(app).await;
    let mut ben = open(app, &app.world.ben, &document, "ben").await;
    let mut cem = open(app, &app.world.cem, &document, "cem").await;
    ben.emit(moving(&document, "ben", 1)).await;
    let cursor = cem.expect("document:cursor").await;
    let expected = json!({"documentId": document, "generation": 1, "clientId": "ben", "userId": app.world.ben.id,
        "name": app.world.ben.name, "version": 0, "anchor": 1, "head": 1, "left": false});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&cursor[field], value, "{field}");
    }
    // Of many movements at once, few arrive, and the last one wins.
    let begun = Instant::now();
    for position in 2..50 {
        ben.emit(moving(&document, "ben", position)).await;
    }
    let mut received = 1;
    while cem.expect("document:cursor").await["anchor"] != 49 {
        received += 1;
    }
    // One cursor is relayed every 100 ms.
    let most = begun.elapsed().as_millis() / 100 + 1;
    assert!(received <= most, "{received} cursors, {most} at most");
    assert!(
        ben.all("document:cursor").is_empty(),
        "a page does not receive its own cursor"
    );
    ben.disconnect().await;
    let left = cem
        .expect_where("document:cursor", |cursor| cursor["left"] == true)
        .await;
    assert_eq!(left["clientId"], "ben");
    assert!(cem.all("document:cursor").is_empty(), "no older cursor follows");
});

both!(document_room_is_closed_to_users_without_access, |app| {
    if !clients_are_installed() {
        return;
    }
    let (document, group) = document(app).await;
    for person in [&app.world.dana, &app.world.zoe] {
        let mut socket = SocketListener::connect(app, person).await;
        socket.emit(opening(&document, "page")).await;
        assert_eq!(socket.expect("ack").await, json!({"joined": false}), "{}", person.name);
        socket.emit(json!(["document:open", {"documentId": 1}])).await;
        assert_eq!(socket.expect("ack").await, json!({"joined": false}));
        socket
            .emit(json!(["document:open", {"documentId": document, "generation": 1, "clientId": "a b"}]))
            .await;
        assert_eq!(socket.expect("ack").await, json!({"joined": false}));
        // A cursor of a page that is not open goes nowhere.
        socket.emit(moving(&document, "page", 1)).await;
    }
    let mut cem = open(app, &app.world.cem, &document, "cem").await;
    let room = Room::Document(DocumentId::new(&document));
    assert_eq!(app.app.realtime().count(&room), 1);
    let ada = app.as_(&app.world.ada);
    ada.delete(&format!("/groups/{group}/members/{}", app.world.cem.id))
        .await
        .expect(200);
    until("the removed member has left", async || {
        app.app.realtime().count(&room) == 0
    })
    .await;
    let commits = format!("/workrooms/documents/{document}/commits");
    app.as_(&app.world.ben)
        .post(&commits, commit(1, "r", 0, "secret"))
        .await
        .expect(200);
    cem.emit(opening(&document, "cem")).await;
    assert_eq!(cem.expect("ack").await, json!({"joined": false}));
    assert!(cem.all("document:commits").is_empty());
    assert!(cem.all("document:cursor").is_empty());
});

both!(page_that_closes_before_it_has_joined_leaves_the_room, |app| {
    if !clients_are_installed() {
        return;
    }
    let (document, _) = document(app).await;
    let mut cem = SocketListener::connect(app, &app.world.cem).await;
    let room = Room::Document(DocumentId::new(&document));
    let close = json!(["document:close", {"documentId": document, "clientId": "cem"}]);
    for _ in 0..20 {
        // The acknowledgement is not awaited.
        cem.emit(opening(&document, "cem")).await;
        cem.emit(close.clone()).await;
        cem.expect("ack").await;
        until("the room is empty", async || app.app.realtime().count(&room) == 0).await;
    }
    // No emission reaches it, and it is no member of the document for others.
    let mut ben = open(app, &app.world.ben, &document, "ben").await;
    let commits = format!("/workrooms/documents/{document}/commits");
    app.as_(&app.world.ben)
        .post(&commits, commit(1, "first", 0, "river"))
        .await
        .expect(200);
    ben.expect("document:commits").await;
    cem.emit(moving(&document, "cem", 1)).await;
    cem.emit(json!(["document:open", {"documentId": 1}])).await;
    assert_eq!(cem.expect("ack").await, json!({"joined": false}));
    assert!(cem.all("document:commits").is_empty());
    assert!(ben.all("document:cursor").iter().all(|cursor| cursor["left"] == true));
    ben.disconnect().await;
    until("the page of Ben has left", async || {
        app.app.realtime().count(&room) == 0
    })
    .await;
    // Of an opening before and one after it, the later one counts.
    cem.emit(opening(&document, "cem")).await;
    cem.emit(close.clone()).await;
    cem.emit(opening(&document, "cem")).await;
    let acknowledged = [cem.expect("ack").await, cem.expect("ack").await];
    assert!(acknowledged.contains(&json!({"joined": true})), "{acknowledged:?}");
    assert_eq!(app.app.realtime().count(&room), 1);
    cem.emit(close).await;
    until("the room is empty", async || app.app.realtime().count(&room) == 0).await;
});

both!(socket_that_disconnects_while_it_opens_a_page_leaves_no_room, |app| {
    if !clients_are_installed() {
        return;
    }
    let (document, _) = document(app).await;
    let before = app.app.realtime().rooms().await;
    for _ in 0..20 {
        let mut cem = SocketListener::connect(app, &app.world.cem).await;
        cem.emit(opening(&document, "cem")).await;
        cem.disconnect().await;
    }
    let realtime = app.app.realtime();
    until("the sockets are gone", async || realtime.socket_count() == 0).await;
    until("their rooms are gone", async || realtime.rooms().await == before).await;
});
