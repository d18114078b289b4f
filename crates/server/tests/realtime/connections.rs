//! Socket connections: handshake, authentication and disconnection.

use std::time::Duration;

use domain::id::{ClassId, OrganizationId, SessionId};
use domain::realtime::{ConnectionTarget, KillReason, Room, Signal};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use test_support::realtime_rows::{group_updated, user};
use test_support::{RealtimeRows, SocketListener, TableLock, clients_are_installed, raw_socket, until};

both!(handshake_requires_session_and_allowed_origin, |app| {
    let path = "/socket.io/?EIO=4&transport=polling";
    app.stranger().get(path).await.refused(401, "UNAUTHENTICATED");
    let foreign = app.as_(&app.world.ben).with("origin", "http://evil.test");
    foreign.get(path).await.refused(403, "INVALID_ORIGIN");
    let both = app.stranger().with("origin", "http://school.test.evil");
    both.get(path).await.refused(403, "INVALID_ORIGIN");
    let ours = app.stranger().with("origin", "http://school.test").get(path).await;
    assert_eq!(ours.header("access-control-allow-origin"), "http://school.test");
    assert_eq!(ours.header("access-control-allow-credentials"), "true");
    ours.refused(401, "UNAUTHENTICATED");

    let native = app.stranger().with("cookie", &app.world.ben.cookie);
    assert_eq!(native.get(path).await.status, 200, "no Origin, but a good cookie");
    assert_eq!(app.as_(&app.world.ben).get(path).await.status, 200);
    // The rules apply below the path and to upgrades, but not to paths that only share the prefix.
    app.stranger().get("/socket.io").await.refused(401, "UNAUTHENTICATED");
    app.stranger().get("/socket.iox").await.refused(404, "NOT_FOUND");
    let upgrade = app
        .stranger()
        .with("connection", "upgrade")
        .with("upgrade", "websocket");
    let upgrade = upgrade
        .with("sec-websocket-version", "13")
        .with("sec-websocket-key", "eA==");
    let websocket = "/socket.io/?EIO=4&transport=websocket";
    upgrade.get(websocket).await.refused(401, "UNAUTHENTICATED");
});

tenants!(client_receives_reason_of_rejected_handshake, |app| {
    if !clients_are_installed() {
        return;
    }
    let mut no_session = SocketListener::open(app, "nobody", None, Some("http://school.test"), &["polling"]);
    let refused = no_session.expect("connect_error").await;
    assert_eq!(refused["status"], 401, "{refused}");
    let cookie = &app.world.ben.cookie;
    let mut foreign = SocketListener::open(
        app,
        "foreign page",
        Some(cookie),
        Some("http://evil.test"),
        &["polling"],
    );
    let refused = foreign.expect("connect_error").await;
    assert_eq!(refused["status"], 403, "{refused}");
    for transport in ["polling", "websocket"] {
        let mut ben = SocketListener::open(app, "Ben", Some(cookie), Some("http://school.test"), &[transport]);
        assert_eq!(ben.expect("ready").await["organizationId"], app.world.north.as_str());
        ben.disconnect().await;
    }
    let mut no_session = SocketListener::connect(app, &app.world.nobody).await;
    no_session.expect_no_event(100).await;
});

both!(revoked_session_is_notified_closed_and_cannot_reconnect, |app| {
    if !clients_are_installed() {
        return;
    }
    let rows = RealtimeRows(app);
    let mut ben = SocketListener::connect(app, &app.world.ben).await;
    let mut cem = SocketListener::connect(app, &app.world.cem).await;
    let session = rows.session(&app.world.ben).await;
    rows.end_session(&app.world.ben).await;
    let kill = Signal::Kill {
        party: ConnectionTarget::Session(session),
        reason: KillReason::SignedOut,
    };
    rows.emit(vec![kill]).await;
    let event = ben.expect("session:revoked").await;
    assert_eq!(event["reason"], "SIGNED_OUT");
    assert!(event["eventId"].is_string() && event["at"].is_string(), "{event}");
    assert_eq!(ben.expect("disconnect").await["reason"], "io server disconnect");
    assert_eq!(app.app.realtime().count(&Room::User(user(&app.world.ben))), 0);
    let class = Room::Class(ClassId::new(&app.world.seven_b.id));
    rows.emit(vec![group_updated(&app.world.north, vec![class], "after")])
        .await;
    assert_eq!(cem.expect("group:updated").await["word"], "after");
    ben.expect_no_event(200).await;
    let path = "/socket.io/?EIO=4&transport=polling";
    app.as_(&app.world.ben).get(path).await.refused(401, "UNAUTHENTICATED");
});

tenants!(revoked_user_loses_sockets_of_all_sessions, |app| {
    if !clients_are_installed() {
        return;
    }
    let mut first = SocketListener::connect(app, &app.world.ben).await;
    let mut second = SocketListener::connect(app, &app.world.ben).await;
    let kill = Signal::Kill {
        party: ConnectionTarget::User(user(&app.world.ben)),
        reason: KillReason::Deactivated,
    };
    RealtimeRows(app).emit(vec![kill]).await;
    for socket in [&mut first, &mut second] {
        assert_eq!(socket.expect("session:revoked").await["reason"], "DEACTIVATED");
        socket.expect("disconnect").await;
    }
});

both!(client_messages_are_ignored_and_counted, |app| {
    if !clients_are_installed() {
        return;
    }
    let rows = RealtimeRows(app);
    let group = rows.group(&app.world.seven_b, 1, None, &[&app.world.cem]).await;
    let mut ben = SocketListener::connect(app, &app.world.ben).await;
    let foreign_room = format!("group:{}", group.id);
    ben.emit(json!(["join", foreign_room])).await;
    ben.emit(json!(["group:created", {"room": foreign_room}])).await;
    ben.emit(json!(["document:activity", {"documentId": group.document}]))
        .await;
    ben.emit(json!(["document:activity", {"room": foreign_room}])).await;
    until("four messages are ignored", async || app.app.realtime().ignored() == 4).await;
    assert_eq!(app.app.realtime().count(&Room::Group(group.id.clone())), 0);
    rows.emit(vec![group_updated(
        &app.world.north,
        vec![Room::Group(group.id.clone())],
        "secret",
    )])
    .await;
    ben.expect_no_event(300).await;
    let (school, people) = (
        OrganizationId::new(&app.world.north),
        [&app.world.ben, &app.world.cem].map(user),
    );
    let writing = || app.app.realtime().group_activity(&school, &group.id, &people).0;
    assert!(writing().is_empty());

    let mut cem = SocketListener::connect(app, &app.world.cem).await;
    // The first activity of ten seconds counts, and the others are ignored.
    until("two messages of Cem are ignored", async || {
        cem.emit(json!(["document:activity", {"documentId": group.document}]))
            .await;
        app.app.realtime().ignored() >= 6
    })
    .await;
    until("Cem is writing", async || writing() == [user(&app.world.cem)]).await;
});

both!(user_has_at_most_twenty_sockets, |app| {
    if !clients_are_installed() {
        return;
    }
    let mut sockets = Vec::new();
    for _ in 0..20 {
        sockets.push(raw_socket::Socket::open(app, &app.world.ben.cookie).await);
    }
    for socket in &mut sockets {
        socket.expect("ready").await;
    }
    let mut last = raw_socket::Socket::open(app, &app.world.ben.cookie).await;
    let refused = last.next().await.unwrap();
    assert!(
        refused.starts_with("44") && refused.contains("TOO_MANY_SOCKETS"),
        "{refused}"
    );
    sockets.pop();
    let room = Room::User(user(&app.world.ben));
    until("a socket is gone", async || app.app.realtime().count(&room) < 20).await;
    raw_socket::Socket::open(app, &app.world.ben.cookie)
        .await
        .expect("ready")
        .await;
});

both!(revoked_client_that_does_not_read_is_closed_in_seconds, |app| {
    let rows = RealtimeRows(app);
    let mut ben = raw_socket::Socket::open(app, &app.world.ben.cookie).await;
    ben.expect("ready").await;
    // Sends data until the server's writer blocks on the client that does not read.
    let room = Room::User(user(&app.world.ben));
    let words = "x".repeat(60_000);
    for _ in 0..300 {
        rows.emit(vec![group_updated(&app.world.north, vec![room.clone()], &words)])
            .await;
    }
    let session = rows.session(&app.world.ben).await;
    rows.end_session(&app.world.ben).await;
    rows.emit(vec![revocation(session)]).await;
    until("the room is empty", async || app.app.realtime().count(&room) == 0).await;
    // The client does not read in the meantime.
    until("the connection is closed", async || !ben.is_open_on_server()).await;
    let read = ben.wait_until_closed().await;
    assert!(
        read < 300 * words.len(),
        "it was cut while it did not read, not served to the end: {read} bytes"
    );
});

both!(session_revoked_during_handshake_leaves_no_socket, |app| {
    let rows = RealtimeRows(app);
    let mut cem = raw_socket::Socket::open(app, &app.world.cem.cookie).await;
    cem.expect("ready").await;
    let mut opened = Vec::new();
    for round in 0..40_u64 {
        let person = rows.another_session(&app.world.ben).await;
        let session = rows.session(&person).await;
        let revoke = async {
            tokio::time::sleep(Duration::from_micros(round * 200)).await;
            rows.end_session(&person).await;
            rows.emit(vec![revocation(session)]).await;
        };
        let connect = raw_socket::Socket::try_open(app, &person.cookie);
        let (socket, ()) = tokio::join!(connect, revoke);
        let secret = format!("emitted after session {round}.");
        emit_and_wait(&rows, &secret, &mut cem).await;
        opened.extend(socket.map(|socket| (secret, socket)));
    }
    for (secret, mut socket) in opened {
        let frames = socket.frames_until_closed().await;
        assert!(!frames.iter().any(|frame| frame.contains(&secret)), "{frames:?}");
    }
    let room = Room::User(user(&app.world.ben));
    assert_eq!(app.app.realtime().count(&room), 0);
});

/// The rooms of a socket are read before its session is revoked, and joined afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_read_before_revocation_are_not_joined() {
    let Some(app) = test_support::TestApp::start(test_support::DatabaseKind::Postgres).await else {
        return;
    };
    let rows = RealtimeRows(&app);
    let mut cem = raw_socket::Socket::open(&app, &app.world.cem.cookie).await;
    cem.expect("ready").await;
    let lock = TableLock::hold(&app.database, "class_enrollments", "ACCESS EXCLUSIVE").await;
    let mut ben = raw_socket::Socket::open(&app, &app.world.ben.cookie).await;
    lock.wait_for_waiter().await;
    let session = rows.session(&app.world.ben).await;
    rows.end_session(&app.world.ben).await;
    rows.emit(vec![revocation(session)]).await;
    emit_and_wait(&rows, "emitted while the rooms are read", &mut cem).await;
    lock.release().await;
    let frames = ben.frames_until_closed().await;
    assert!(!frames.iter().any(|frame| frame.contains("emitted")), "{frames:?}");
    // Reading this event from the database gives the computation of the rooms time to end.
    emit_and_wait(&rows, "emitted later", &mut cem).await;
    let room = Room::User(user(&app.world.ben));
    assert_eq!(app.app.realtime().count(&room), 0);
    app.close().await;
}

fn revocation(session: SessionId) -> Signal {
    Signal::Kill {
        party: ConnectionTarget::Session(session),
        reason: KillReason::Revoked,
    }
}

/// Emits an event to Ben and Cem, and waits until Cem has received it: all earlier signals are dispatched then.
async fn emit_and_wait(rows: &RealtimeRows<'_>, words: &str, cem: &mut raw_socket::Socket) {
    let world = &rows.0.world;
    let rooms = [&world.ben, &world.cem].map(|person| Room::User(user(person)));
    rows.emit(vec![group_updated(&world.north, rooms.to_vec(), words)])
        .await;
    cem.expect_text(words).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_closes_sockets_immediately() {
    let app = test_support::TestApp::start(test_support::DatabaseKind::Sqlite)
        .await
        .unwrap();
    let mut reading = raw_socket::Socket::open(&app, &app.world.ben.cookie).await;
    reading.expect("ready").await;
    let mut non_reading = raw_socket::Socket::open(&app, &app.world.cem.cookie).await;
    non_reading.expect("ready").await;
    let room = Room::User(user(&app.world.cem));
    for _ in 0..200 {
        let words = "x".repeat(60_000);
        RealtimeRows(&app)
            .emit(vec![group_updated(&app.world.north, vec![room.clone()], &words)])
            .await;
    }
    // Requests in flight get 25 seconds; sockets are not requests.
    let (path, body) = (
        "/api/auth/sign-in/email",
        json!({"email": "nobody@school.example", "password": "unknown"}).to_string(),
    );
    let address = app.base.strip_prefix("http://").unwrap();
    let mut request = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        test_support::FRONTEND,
        body.len()
    );
    let (first, rest) = body.as_bytes().split_at(body.len() / 2);
    request.write_all(&[head.as_bytes(), first].concat()).await.unwrap();
    let closing = tokio::spawn(app.close());
    reading.wait_until_closed().await;
    non_reading.wait_until_closed().await;
    assert!(!closing.is_finished(), "the sockets were kept until the last request");
    request.write_all(rest).await.unwrap();
    let mut answer = String::new();
    request.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    closing.await.unwrap();
}
