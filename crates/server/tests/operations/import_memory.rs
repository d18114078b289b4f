//! A long import needs no more memory at its end than at its start. `make test` imports 2,000 rows into the started
//! binary, `make soak` (`GROUPWORK_SOAK=1`) imports the maximum of 50,000.

use std::time::Instant;

use test_support::rosters::students;
use test_support::{Client, DatabaseKind, ServerEnv, World, size};

/// Maximum growth of memory between 10 % and 90 % of the file.
const GROWTH_MAX: u64 = 32 << 20;

async fn check_memory(kind: DatabaseKind) {
    let Some(mut env) = ServerEnv::new(kind) else { return };
    let rows = size(2_000, 50_000);
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
    let part = reqwest::multipart::Part::bytes(students(0, rows).into_bytes()).file_name("people.csv");
    let form = reqwest::multipart::Form::new().part("file", part);
    let began = Instant::now();
    let request = adam.request(reqwest::Method::POST, "/users/import").multipart(form);
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let (mut seen, mut text, mut samples) = (0, Vec::new(), Vec::new());
    while let Some(piece) = answer.chunk().await.unwrap() {
        text.extend_from_slice(&piece);
        seen += piece.windows(6).filter(|window| window == b"\"row\":").count();
        if (rows / 10..=rows * 9 / 10).contains(&seen) {
            samples.push(service.resident());
        }
    }
    let took = began.elapsed();
    let report: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(report["created"], serde_json::json!(rows));
    let (first, most) = (samples[0], *samples.iter().max().unwrap());
    println!(
        "{rows} rows on {kind:?} in {took:?}; memory {} MiB, then {} MiB at most",
        first >> 20,
        most >> 20
    );
    assert!(
        most.saturating_sub(first) < GROWTH_MAX,
        "memory grew from {first} to {most}"
    );
    service.kill();
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_of_long_import_is_constant_on_sqlite() {
    check_memory(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_of_long_import_is_constant_on_postgres() {
    check_memory(DatabaseKind::Postgres).await;
}
