//! From a transaction to the sockets: events are delivered after the commit, in order, to every instance. Recovery
//! after a gap.

use db::Database;
use domain::id::{ClassId, OrganizationId};
use domain::realtime::{ConnectionTarget, KillReason, Room, Signal};
use serde_json::json;

use test_support::realtime_rows::group_updated;
use test_support::realtime_rows::user;
use test_support::{DatabaseKind, RealtimeRows, SecondInstance, SocketListener, TestApp, clients_are_installed};

both!(events_are_emitted_in_order_after_commit_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, rows) = (&app.world, RealtimeRows(app));
    let mut ada = SocketListener::connect(app, &world.ada).await;
    let staff = || vec![Room::Staff(ClassId::new(&world.seven_b.id))];
    let failed = rows
        .try_emit(vec![group_updated(&world.north, staff(), "never")], false)
        .await;
    assert!(failed.is_err());
    for number in 0..20 {
        let pair = [0, 1].map(|half| group_updated(&world.north, staff(), &format!("{}", number * 2 + half)));
        rows.emit(pair.to_vec()).await;
    }
    for number in 0..40 {
        assert_eq!(ada.expect("group:updated").await["word"], number.to_string());
    }
    ada.expect_no_event(100).await;
    let kept = matches!(app.database, Database::Postgres(_));
    assert_eq!(rows.outbox().await, if kept { 20 } else { 0 });
});

both!(burst_of_events_reaches_client_completely, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, rows) = (&app.world, RealtimeRows(app));
    let mut ada = SocketListener::connect(app, &world.ada).await;
    let staff = vec![Room::Staff(ClassId::new(&world.seven_b.id))];
    let burst = (0..500).map(|number| group_updated(&world.north, staff.clone(), &number.to_string()));
    rows.emit(burst.collect()).await;
    for number in 0..500 {
        assert_eq!(ada.expect("group:updated").await["word"], number.to_string());
    }
});

/// Waits until the bus of the first instance listens, which an event that comes back proves.
async fn wait_until_received(rows: &RealtimeRows<'_>, heard: &mut SocketListener, room: Room, organization: &str) {
    rows.emit(vec![group_updated(organization, vec![room], "hello")]).await;
    heard
        .expect_where("group:updated", |payload| payload["word"] == "hello")
        .await;
    heard.discard();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_one_instance_reach_sockets_of_another() {
    if !clients_are_installed() {
        return;
    }
    let Some(first) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let second = SecondInstance::start(&first, &[]).await;
    let (world, rows) = (&first.world, RealtimeRows(&first));
    let mut here = SocketListener::connect(&first, &world.ada).await;
    let mut there = SocketListener::connect_at(&second.base, &world.ben).await;
    let mut ada_there = SocketListener::connect_at(&second.base, &world.ada).await;
    let class = Room::Class(ClassId::new(&world.seven_b.id));
    rows.emit(vec![group_updated(&world.north, vec![class.clone()], "both")])
        .await;
    for socket in [&mut here, &mut there, &mut ada_there] {
        assert_eq!(socket.expect("group:updated").await["word"], "both");
    }

    let group = rows.group(&world.seven_b, 1, None, &[&world.ben]).await;
    let room = Room::Group(group.id);
    rows.emit(vec![
        Signal::Resync {
            parties: vec![ConnectionTarget::User(user(&world.ben))],
            leave: Vec::new(),
        },
        group_updated(&world.north, vec![room], "joined first"),
    ])
    .await;
    assert_eq!(there.expect("group:updated").await["word"], "joined first");

    let session = rows.session(&world.ben).await;
    rows.end_session(&world.ben).await;
    rows.emit(vec![Signal::Kill {
        party: ConnectionTarget::Session(session),
        reason: KillReason::Revoked,
    }])
    .await;
    assert_eq!(there.expect("session:revoked").await["reason"], "REVOKED");
    there.expect("disconnect").await;
    here.expect_no_event(100).await;
    ada_there.expect_no_event(100).await;
    second.close().await;
    first.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn presence_at_other_instance_is_shown_and_not_stored() {
    if !clients_are_installed() {
        return;
    }
    let Some(first) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let second = SecondInstance::start(&first, &[]).await;
    let (world, rows) = (&first.world, RealtimeRows(&first));
    let group = rows.group(&world.seven_b, 1, None, &[&world.ben]).await;
    let mut ada = SocketListener::connect(&first, &world.ada).await;
    let staff = Room::Staff(ClassId::new(&world.seven_b.id));
    wait_until_received(&rows, &mut ada, staff, &world.north).await;
    let stored = rows.outbox().await;

    let mut ben = SocketListener::connect_at(&second.base, &world.ben).await;
    let of =
        |part: &'static str, people: serde_json::Value| move |received: &serde_json::Value| received[part] == people;
    ada.expect_where("board:activity", of("online", json!([world.ben.id])))
        .await;
    assert!(
        first
            .app
            .realtime()
            .is_online(&OrganizationId::new(&world.north), &user(&world.ben))
    );
    ben.emit(json!(["document:activity", {"documentId": group.document}]))
        .await;
    let received = ada
        .expect_where("board:activity", of("writing", json!([world.ben.id])))
        .await;
    assert_eq!(received["groupId"], group.id.as_str());
    ben.disconnect().await;
    ada.expect_where("board:activity", of("online", json!([]))).await;
    assert_eq!(rows.outbox().await, stored, "who is there is in no table");
    second.close().await;
    first.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bus_gap_restores_rooms_and_resyncs_clients() {
    if !clients_are_installed() {
        return;
    }
    let Some(app) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let (world, rows) = (&app.world, RealtimeRows(&app));
    let group = rows.group(&world.seven_b, 1, None, &[&world.cem]).await;
    let mut ada = SocketListener::connect(&app, &world.ada).await;
    let mut ben = SocketListener::connect(&app, &world.ben).await;
    let mut cem = SocketListener::connect(&app, &world.cem).await;
    let class = Room::Class(ClassId::new(&world.seven_b.id));
    wait_until_received(&rows, &mut ada, class.clone(), &world.north).await;

    // No signals are emitted for these changes, as if they were lost in the gap.
    rows.end_session(&world.ben).await;
    rows.remove(&group.id, &world.cem).await;
    terminate_listeners(&app.database).await;
    assert_eq!(ben.expect("session:revoked").await["reason"], "EXPIRED");
    ada.expect("sync:required").await;
    cem.expect("sync:required").await;
    assert_eq!(app.app.realtime().count(&Room::Group(group.id)), 0);
    rows.emit(vec![group_updated(&world.north, vec![class], "back")]).await;
    assert_eq!(
        ada.expect_where("group:updated", |payload| payload["word"] == "back")
            .await["word"],
        "back"
    );
    app.close().await;
}

/// Terminates the listening connections of this database on the server.
async fn terminate_listeners(database: &Database) {
    let Database::Postgres(url) = database else {
        unreachable!()
    };
    let url = url.clone();
    let ended = tokio::task::spawn_blocking(move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        let ended = client.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'groupwork bus'",
            &[],
        );
        ended.unwrap().len()
    });
    assert_eq!(ended.await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweep_closes_sockets_of_expired_sessions() {
    let app = TestApp::start(DatabaseKind::Sqlite).await.unwrap();
    let rows = RealtimeRows(&app);
    let mut ben = test_support::raw_socket::Socket::open(&app, &app.world.ben.cookie).await;
    ben.expect("ready").await;
    rows.expire(&app.world.ben).await;
    app.app.realtime().reconcile_now().await.unwrap();
    tokio::time::timeout(test_support::WAIT_TIMEOUT, ben.wait_until_closed())
        .await
        .unwrap();
    assert_eq!(app.app.realtime().count(&Room::User(user(&app.world.ben))), 0);
    app.close().await;
}
