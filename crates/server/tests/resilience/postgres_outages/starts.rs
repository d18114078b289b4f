//! Tests starts while PostgreSQL is unavailable or at its connection limit, and a pool that is larger than the limit of
//! the server.

use std::time::{Duration, Instant};

use db::Database;

use test_support::cluster::Cluster;
use test_support::rows::execute;
use test_support::{Client, DatabaseKind, ServerEnv, TableLock, TestApp, World, is_soak};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn start_waits_for_postgres_and_uses_available_connections() {
    let settings = &["max_connections = 12", "superuser_reserved_connections = 1"];
    let Some(cluster) = tokio::task::spawn_blocking(|| Cluster::start(settings)).await.unwrap() else {
        return;
    };
    let create = "CREATE ROLE school LOGIN; CREATE DATABASE school OWNER school";
    let root = Database::Postgres(cluster.url("postgres"));
    for statement in create.split("; ") {
        execute(&root, statement.to_owned()).await;
    }
    let url = cluster.url("school").replace("postgres@", "school@");
    let direct = Database::Postgres(url.clone());
    let mut env = ServerEnv::on_database(&direct);
    let world = World::create(&env.store().await, &direct).await;

    // The database is unavailable for longer than the wait time. The error names the reason.
    cluster.stop("fast");
    let refused = env
        .try_start("serve", &[("DATABASE_WAIT_SECONDS", "1")])
        .err()
        .expect("no server");
    assert!(
        refused.contains("waiting for the database") && refused.contains("does not answer"),
        "{refused}"
    );
    // The service does not wait for a database that does not exist.
    let wrong = url.replace("/school", "/nowhere");
    cluster.start_again();
    // If the service waited, it would wait for a day, and the watchdog would report this test.
    let refused = env
        .try_start("serve", &[("DATABASE_URL", &wrong), ("DATABASE_WAIT_SECONDS", "86400")])
        .err()
        .expect("no such database");
    assert!(refused.contains("nowhere"), "{refused}");

    // The database is unavailable at the start and available shortly after.
    cluster.stop("fast");
    let starting = tokio::task::spawn_blocking(move || {
        env.set("DATABASE_CONNECTIONS", "8,8");
        (env.start("serve"), env)
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    cluster.start_again();
    let (mut service, env) = starting.await.unwrap();
    service.ready().await;

    // The pool gets at most eleven of its 17 connections. These are sufficient for concurrent requests.
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    let asked = (0..40).map(|number| {
        let ada = ada.clone();
        tokio::spawn(async move {
            let new = serde_json::json!({"classId": ada_class(&ada).await, "name": format!("Group {number}")});
            ada.post("/groups", new).await.status
        })
    });
    for asked in asked.collect::<Vec<_>>() {
        assert_eq!(asked.await.unwrap(), 201);
    }
    assert_eq!(ada.get("/groups").await.expect(200).as_array().unwrap().len(), 40);
    service.kill();
    drop(env);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_idle_connections_fail_no_request() {
    let Some(app) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let ada = app.as_(&app.world.ada);
    for round in 0..3 {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'groupwork%' AND pid <> pg_backend_pid()";
        execute(&app.database, end.to_owned()).await;
        let asked = (0..12).map(|number| {
            let (ada, class) = (ada.clone(), app.world.seven_b.id.clone());
            tokio::spawn(async move {
                let new = serde_json::json!({"classId": class, "name": format!("Group {round} {number}")});
                (ada.get("/classes").await.status, ada.post("/groups", new).await.status)
            })
        });
        for asked in asked.collect::<Vec<_>>() {
            assert_eq!(asked.await.unwrap(), (200, 201));
        }
    }
    app.close().await;
}

/// The test waits for twenty seconds, so it runs only in the soak run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lock_timeout_is_reported_to_the_client() {
    if !is_soak() {
        return;
    }
    let Some(app) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let ada = app.as_(&app.world.ada);
    let new = serde_json::json!({"classId": app.world.seven_b.id});
    let group = ada.post("/groups", new).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let lock = TableLock::hold(&app.database, "groups", "EXCLUSIVE").await;
    let begun = Instant::now();
    let path = format!("/groups/{group}");
    let refused = ada.patch(&path, serde_json::json!({"name": "Later"})).await;
    assert!(begun.elapsed() > Duration::from_secs(19));
    assert!(!refused.header("retry-after").is_empty());
    refused.refused(503, "OVERLOADED");
    lock.release().await;
    ada.patch(&path, serde_json::json!({"name": "Later"})).await.expect(200);
    app.close().await;
}

#[test]
fn systemd_is_notified_of_start_and_stop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let received = || {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).trim().to_owned()
    };
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    env.set("NOTIFY_SOCKET", path.to_str().unwrap());
    let service = env.start("serve");
    assert_eq!(received(), "READY=1");
    assert!(service.stop().success());
    assert_eq!(received(), "STOPPING=1");
    env.close();
}

async fn ada_class(ada: &Client) -> serde_json::Value {
    ada.get("/classes").await.expect(200)[0]["id"].clone()
}
