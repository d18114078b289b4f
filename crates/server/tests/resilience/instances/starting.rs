//! Tests a concurrent first start of several instances, and the shutdown of an instance after a stop signal.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{client_at, people};
use test_support::ServerEnv;
use test_support::instances::Instances;
use test_support::rows::texts;

/// Warnings of an instance on a busy machine: connecting to the database, or its response, took too long.
const BUSY_WARNINGS: [&str; 3] = [
    "waiting for the database",
    "no connection to the database",
    "database LISTEN connection lost, reconnecting",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_instances_start_concurrently_on_empty_database() {
    let Some(env) = ServerEnv::on_empty_postgres() else {
        return;
    };
    let mut instances = Instances::at(env, 3, &[]).await;
    instances.start_all().await;
    let versions = "SELECT CAST(version AS TEXT) FROM refinery_schema_history ORDER BY version".to_owned();
    let versions = texts(instances.database(), versions).await;
    let migrations = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations"));
    assert_eq!(versions.len(), migrations.unwrap().count());
    assert_eq!(
        versions.iter().collect::<BTreeSet<_>>().len(),
        versions.len(),
        "each ran once"
    );
    let world = people(&instances).await;
    for number in 0..3 {
        client_at(instances.base(number), &world.ada)
            .get("/classes")
            .await
            .expect(200);
        let log = instances.running(number).log();
        let is_busy = |line: &&str| BUSY_WARNINGS.iter().any(|warning| line.contains(warning));
        let others: Vec<&str> = log.lines().filter(|line| !is_busy(line)).collect();
        assert!(others.is_empty(), "warnings of instance {number}: {others:#?}");
    }
    instances.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn draining_instance_serves_until_second_signal() {
    let Some(mut env) = ServerEnv::new(test_support::DatabaseKind::Postgres) else {
        return;
    };
    env.set("DRAIN_SECONDS", "300");
    let mut service = tokio::task::block_in_place(|| env.start("serve"));
    service.ready().await;
    let http = test_support::http_client().build().unwrap();
    let send = async |path: &str| {
        http.get(format!("{}/api/health{path}", service.base))
            .send()
            .await
            .unwrap()
    };
    assert_eq!(send("").await.headers().get("connection"), None);
    service.send_sigterm();
    let since = Instant::now();
    let received: Value = loop {
        let answer = send("/ready").await;
        if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            break answer.json().await.unwrap();
        }
        assert!(since.elapsed() < test_support::WAIT_TIMEOUT, "readiness did not fail");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let unasked = json!({
        "database": "unasked",
        "storage": "unasked",
        "docserver": "unasked",
        "mail": "unasked",
        "backup": "unasked"
    });
    assert_eq!(received, json!({"status": "draining", "checks": unasked}));
    for path in ["", "/live"] {
        let answer = send(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "who comes all the same is served");
        assert_eq!(answer.headers()["connection"], "close", "and comes back elsewhere");
    }
    service.send_sigterm();
    let ended = tokio::task::spawn_blocking(move || service.wait()).await.unwrap();
    assert!(ended.success(), "{ended}");
    assert!(since.elapsed() < test_support::WAIT_TIMEOUT, "the drain does not end");
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pending_connections_are_served_at_shutdown() {
    let Some(mut env) = ServerEnv::new(test_support::DatabaseKind::Sqlite) else {
        return;
    };
    let mut service = tokio::task::block_in_place(|| env.start("serve"));
    service.ready().await;
    // The connections and the signal arrive while the process is paused.
    service.pause();
    let address = service.base.strip_prefix("http://").unwrap();
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    service.send_sigterm();
    service.resume();
    for (number, mut stream) in waiting.into_iter().enumerate() {
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer).await;
        let is_answered = read.is_ok() && answer.starts_with("HTTP/1.1 200");
        assert!(is_answered, "{number}: {read:?} {answer}\n{}", service.tail());
    }
    assert!(service.wait().success());
    env.close();
}

/// The signal handlers are installed before the process prints its address, so a signal that arrives immediately after
/// that does not kill it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signal_right_after_start_stops_service_cleanly() {
    let Some(mut env) = ServerEnv::new(test_support::DatabaseKind::Sqlite) else {
        return;
    };
    for round in 0..20 {
        let service = tokio::task::block_in_place(|| env.start("serve"));
        service.send_sigterm();
        let ended = tokio::task::block_in_place(|| service.wait());
        assert!(ended.success(), "in round {round}: {ended}");
    }
    env.close();
}
