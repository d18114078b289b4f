//! Runs of rosters in the started binary: a large one needs constant memory, and a killed one is continued.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use test_support::fake_roster_server::{FakeRosterServer, ROSTER_CLIENT, ROSTER_SECRET, one_roster_school};
use test_support::rows::{execute, texts};
use test_support::{Client, DatabaseKind, ServerEnv, World, size, until};

/// Maximum growth of memory between the first and the last tenth of the people.
const GROWTH_MAX: u64 = 32 << 20;

async fn start_run(adam: &Client, server: &FakeRosterServer) -> String {
    let source = json!({
        "name": "Administration", "protocol": "ONE_ROSTER_1_1", "url": server.url, "tokenUrl": server.token_url,
        "clientId": ROSTER_CLIENT, "clientSecret": ROSTER_SECRET, "isNightly": false,
    });
    let source = adam.post("/admin/rosters", source).await.expect(201);
    let runs = format!("/admin/rosters/{}/runs", source["id"].as_str().unwrap());
    let run = adam.post(&runs, json!({})).await.expect(201);
    format!("{runs}/{}", run["id"].as_str().unwrap())
}

fn is_open(run: &Value) -> bool {
    ["QUEUED", "RUNNING"].contains(&run["state"].as_str().unwrap())
}

async fn count_members(env: &ServerEnv) -> usize {
    let query = "SELECT CAST(COUNT(*) AS TEXT) FROM members WHERE external_id IS NOT NULL".to_owned();
    texts(&env.database, query).await[0].as_ref().unwrap().parse().unwrap()
}

/// `make test` synchronizes a few hundred people, `make soak` (`GROUPWORK_SOAK=1`) 5,000.
async fn check_memory(kind: DatabaseKind) {
    let Some(mut env) = ServerEnv::new(kind) else { return };
    env.set("SIGN_ON_NETWORKS", "127.0.0.0/8");
    let students = size(300, 5_000);
    let server = FakeRosterServer::start(one_roster_school(students)).await;
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
    let began = Instant::now();
    let path = start_run(&adam, &server).await;
    let (mut run, mut samples) = (Value::Null, Vec::new());
    while run.is_null() || is_open(&run) {
        run = adam.get(&path).await.expect(200);
        samples.push(service.resident());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let took = began.elapsed();
    assert_eq!(run["state"], json!("DONE"), "{run}");
    assert_eq!(run["counts"]["errors"], json!(0), "{run}");
    let (first, most) = (samples[samples.len() / 10], *samples.iter().max().unwrap());
    println!(
        "{students} students on {kind:?} in {took:?}; memory {} MiB, then {} MiB at most; {}",
        first >> 20,
        most >> 20,
        run["counts"]
    );
    assert!(
        most.saturating_sub(first) < GROWTH_MAX,
        "memory grew from {first} to {most}"
    );
    service.kill();
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_of_roster_run_is_constant_on_sqlite() {
    check_memory(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_of_roster_run_is_constant_on_postgres() {
    check_memory(DatabaseKind::Postgres).await;
}

async fn check_kill(kind: DatabaseKind) {
    let Some(mut env) = ServerEnv::new(kind) else { return };
    env.set("SIGN_ON_NETWORKS", "127.0.0.0/8");
    let server = FakeRosterServer::start(one_roster_school(1_000)).await;
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
    let path = start_run(&adam, &server).await;
    // On a fast machine the run may end before the process is killed; then the result is the same.
    until("the first people have joined", async || count_members(&env).await > 0).await;
    service.kill();
    // The lease of the dead process expires.
    execute(
        &env.database,
        "UPDATE jobs SET lease_until = 1 WHERE kind = 'ROSTER_RUN'".to_owned(),
    )
    .await;
    let mut service = env.start("serve");
    service.ready().await;
    let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
    let (mut run, mut joined) = (adam.get(&path).await.expect(200), 0);
    while is_open(&run) {
        let before = joined;
        until("the run continues", async || {
            run = adam.get(&path).await.expect(200);
            joined = count_members(&env).await;
            joined > before || !is_open(&run)
        })
        .await;
    }
    assert_eq!(
        (&run["state"], &run["counts"]["errors"]),
        (&json!("DONE"), &json!(0)),
        "{run}"
    );
    assert_eq!(count_members(&env).await, 1_040);
    // At most the last transaction before the kill is not counted.
    let counted = run["counts"]["created"].as_u64().unwrap();
    assert!((840..=1_040).contains(&counted), "{run}");
    service.kill();
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_roster_run_is_continued_on_sqlite() {
    check_kill(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_roster_run_is_continued_on_postgres() {
    check_kill(DatabaseKind::Postgres).await;
}
