//! Tests an instance that receives no events: a connection that drops data, a row that is deleted before it is read,
//! and a revocation that was never published. A separate mechanism detects each case.

use std::time::Duration;

use db::Database;

use super::fault_proxy::FaultProxy;
use super::socket_probe::SocketProbe;
use test_support::rows::execute;
use test_support::{DatabaseKind, ServerEnv, TestApp, WAIT_TIMEOUT, World, until};

/// Returns the port of a database URL.
fn port(url: &str) -> u16 {
    let (_, rest) = url.rsplit_once(':').unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_listen_connection_is_replaced() {
    let Some(mut env) = ServerEnv::new(DatabaseKind::Postgres) else {
        return;
    };
    let Database::Postgres(url) = env.database.clone() else {
        unreachable!()
    };
    let fault_proxy = FaultProxy::to(port(&url)).await;
    env.set(
        "DATABASE_URL",
        &url.replace(&format!(":{}/", port(&url)), &format!(":{}/", fault_proxy.port)),
    );
    env.set("BUS_HEARTBEAT_SECONDS", "1");
    env.set("BUS_TIMEOUT_SECONDS", "2");
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let (ada, ben) = (
        SocketProbe::of(&service.base, &world.ada).await,
        SocketProbe::of(&service.base, &world.ben).await,
    );
    let mark = ada.position();
    // With so short a timeout, a busy machine may have lost the connection before.
    let losses = || service.log().matches("LISTEN connection lost").count();
    let losses_before = losses();
    // Both ends consider the connection open; only the data is missing.
    fault_proxy.drop_bus_data(true);
    let end = format!("DELETE FROM sessions WHERE token = '{}'", world.ben.token);
    execute(&env.database, end).await;
    // Reconnecting fails as long as the proxy drops data.
    until("the log names the lost LISTEN connection", async || {
        losses() > losses_before
    })
    .await;
    fault_proxy.drop_bus_data(false);
    ada.until("received sync:required", |ada| ada.received("[\"sync:required\"", mark))
        .await;
    ben.until("is out", SocketProbe::is_rejected).await;
    drop((ada, ben));
    service.kill();
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_outbox_row_resyncs_all_clients() {
    let Some(app) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let (ada, ben) = (
        SocketProbe::of(&app.base, &app.world.ada).await,
        SocketProbe::of(&app.base, &app.world.ben).await,
    );
    let marks = [ada.position(), ben.position()];
    let order = "SELECT pg_notify('groupwork', '01900000-0000-7000-8000-000000000000')";
    let channel = db::outbox::CHANNEL;
    execute(&app.database, order.replace("'groupwork'", &format!("'{channel}'"))).await;
    ada.until("received sync:required", |ada| {
        ada.received("[\"sync:required\"", marks[0])
    })
    .await;
    ben.until("received sync:required", |ben| {
        ben.received("[\"sync:required\"", marks[1])
    })
    .await;
    drop((ada, ben));
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweep_corrects_rooms_without_events() {
    let Some(app) = TestApp::start_with(DatabaseKind::Postgres, &["--socket-sweep-seconds=1"]).await else {
        return;
    };
    let world = &app.world;
    let new = serde_json::json!({"classId": world.seven_b.id, "memberIds": [world.ben.id, world.cem.id]});
    let group = app.as_(&world.ada).post("/groups", new).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (ada, ben) = (
        SocketProbe::of(&app.base, &world.ada).await,
        SocketProbe::of(&app.base, &world.ben).await,
    );
    let cem = SocketProbe::of(&app.base, &world.cem).await;
    let silently = format!(
        "DELETE FROM group_members WHERE group_id = '{group}' AND user_id = '{}';
            DELETE FROM sessions WHERE token = '{}'",
        world.ben.id, world.cem.token
    );
    execute(&app.database, silently).await;
    cem.until("is out", SocketProbe::is_rejected).await;
    // The rooms of every socket are checked once in five sweeps.
    let room = domain::realtime::Room::Group(domain::id::GroupId::new(&group));
    let since = std::time::Instant::now();
    while app.app.realtime().count(&room) > 0 {
        assert!(since.elapsed() < WAIT_TIMEOUT, "the user is still in the room");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(
        !ada.received("[\"sync:required\"", 0) && !ben.received("[\"sync:required\"", 0),
        "nothing was lost as far as is known"
    );
    drop((ada, ben, cem));
    app.close().await;
}
