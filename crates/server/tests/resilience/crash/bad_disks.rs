//! A failing or full disk. Nothing is acknowledged that is not stored, the process keeps running and reports its state,
//! and when the disk works again the service continues without the loss of any text that a user typed.

use std::time::{Duration, Instant};

use super::faults::{ALL, EXACT, FaultAction, ROOM, SYNC};
use super::harness::{Harness, OPERATIONS, UserOperation, WAIT_TIMEOUT};
use db::Database;
use rand::RngExt as _;

use test_support::{Client, DatabaseKind, ServerEnv, ServerProcess, World, is_soak, until};

async fn every_call_fails_once(kind: DatabaseKind) {
    let Some((mut harness, mut service)) = Harness::start(kind).await else {
        return;
    };
    let folder = harness.env.folder().to_owned();
    let (mut fired, mut refused) = (0, 0);
    for operation in OPERATIONS {
        let calls = harness.count(operation, &folder).await;
        for point in harness.sample_calls(calls, 2) {
            // The soak run tests both actions, the short run a random one.
            let both = [FaultAction::Broken, FaultAction::Full];
            let actions = if is_soak() {
                &both[..]
            } else {
                &both[harness.rng.random_range(0..2)..][..1]
            };
            for action in actions.iter().copied() {
                harness.prepare_draft().await;
                harness.oracle.disk_may_fail(true);
                harness.faults.arm(&folder, ALL, action, point, 1);
                let done = harness.run(operation).await;
                let outcome = harness.faults.disarm();
                fired += outcome.fired;
                refused += u64::from(done.is_none());
                assert!(
                    service.try_wait().is_none(),
                    "it died of {action:?} at {}",
                    outcome.last
                );
                assert!(outcome.fired > 0 || done.is_some(), "{operation:?} failed by itself");
                // The document server repeats the rejected save. The repetition is complete before the inspection.
                harness.run_until_success(operation).await;
                harness.check_state();
                harness.oracle.disk_may_fail(false);
                let left = harness.checker.parts();
                let may_stay = outcome.last.starts_with("unlink");
                assert!(
                    left == 0 || may_stay,
                    "{left} parts stay after {action:?} at {}",
                    outcome.last
                );
                if left > 0 {
                    harness.checker.remove_parts();
                }
            }
        }
    }
    println!("{fired} calls failed on {kind:?}, {refused} deeds were refused for it");
    // The remaining faults had no visible effect, because the document server repeated the request.
    assert!(refused > 0, "no failure was noticed: the run shows nothing");
    assert_eq!(harness.faults.synced_again(), 0, "a sync that failed was asked again");
    assert!(service.try_wait().is_none());
    wait_for_readiness(&service, 200, "").await;
    service.kill();
    service = harness.recover().await;
    harness.end(service);
}

/// Polls the readiness check until it has the expected status and lists `down` as failed.
async fn wait_for_readiness(service: &ServerProcess, expected: u16, down: &str) {
    let http = test_support::http_client().build().unwrap();
    let url = format!("{}/api/health/ready", service.base);
    let since = Instant::now();
    loop {
        let answer = http.get(&url).send().await.unwrap();
        let (status, body) = (answer.status().as_u16(), answer.text().await.unwrap());
        let says = serde_json::from_str::<serde_json::Value>(&body).unwrap();
        if status == expected && (down.is_empty() || says["checks"][down] == "down") {
            return;
        }
        assert!(
            since.elapsed() < WAIT_TIMEOUT,
            "instead of {expected} {down}: {status} {body}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Fills the disk below `what`, which is the files folder or the database.
async fn fill_disk(kind: DatabaseKind, what: &str, down: &str) {
    let Some((mut harness, mut service)) = Harness::start(kind).await else {
        return;
    };
    let full = harness.env.folder().join(what);
    for operation in [UserOperation::Save, UserOperation::Upload] {
        harness.run_until_success(operation).await;
    }
    harness.prepare_draft().await;
    let (editor, document, typed) = harness.writer.write().await.expect("an editor");
    harness.oracle.disk_may_fail(true);
    harness.faults.arm(&full, ROOM, FaultAction::Full, 1, u64::MAX);
    let closed = editor.close().await.unwrap();
    assert!(!closed.accepted, "a save was acknowledged on a full disk");
    for operation in [UserOperation::Upload, UserOperation::Replace, UserOperation::Submit] {
        // A submitted copy is a hard link to existing bytes. It needs space only for a new folder or for its row. The
        // ledger records what was acknowledged in either case.
        let may_fit = operation == UserOperation::Submit && what == "files";
        assert!(
            harness.run(operation).await.is_none() || may_fit,
            "{operation:?} was acknowledged on a full disk"
        );
    }
    wait_for_readiness(&service, 503, down).await;
    assert!(harness.writer.read(&document).await.is_some(), "reading goes on");
    assert!(service.try_wait().is_none());
    let outcome = harness.faults.disarm();
    assert!(outcome.fired > 3, "{outcome:?}");
    wait_for_readiness(&service, 200, "").await;
    for operation in OPERATIONS {
        harness.run_until_success(operation).await;
    }
    assert_eq!(harness.faults.synced_again(), 0);
    service.kill();
    // The document server keeps the text that was typed meanwhile. The next sweep, at a start or a minute later, saves
    // it.
    service = harness.recover().await;
    let since = Instant::now();
    while !harness.document_server.simulator().forgotten_keys().is_empty() {
        assert!(since.elapsed() < WAIT_TIMEOUT, "nobody brings home what was refused");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(
        harness.checker.has_text_in_any_revision(&document, &typed),
        "{typed} was refused and is lost"
    );
    harness.oracle.record_rejections(&harness.document_server);
    harness.document_server.clear_log();
    harness.oracle.disk_may_fail(false);
    harness.end(service);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn failed_file_call_acknowledges_nothing_on_sqlite() {
    every_call_fails_once(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn failed_file_call_acknowledges_nothing_on_postgres() {
    every_call_fails_once(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn full_disk_rejects_writes_and_recovers_on_sqlite() {
    fill_disk(DatabaseKind::Sqlite, "files", "storage").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn full_disk_rejects_writes_and_recovers_on_postgres() {
    fill_disk(DatabaseKind::Postgres, "files", "storage").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_database_disk_rejects_writes_and_recovers() {
    fill_disk(DatabaseKind::Sqlite, "groupwork.db", "database").await;
}

/// A second sync of the database file would report success, although pages that were copied before the failed one may be
/// lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_sync_of_database_file_keeps_write_ahead_log() {
    let (mut harness, service) = Harness::start(DatabaseKind::Sqlite).await.expect("SQLite");
    let file = harness.env.folder().join("groupwork.db");
    let log = harness.env.folder().join("groupwork.db-wal");
    harness.faults.arm(&file, SYNC | EXACT, FaultAction::Broken, 1, 1);
    post_until(&mut harness, "checkpoint", |harness| harness.faults.fired() > 0).await;
    harness.faults.arm(&file, SYNC | EXACT, FaultAction::Count, 0, 0);
    let length = || std::fs::metadata(&log).unwrap().len();
    // The log is long enough for a checkpoint after each commit.
    let failed_at = length();
    post_until(&mut harness, "longer log", |_| length() > failed_at + 200 * 4_096).await;
    assert!(service.stop().success());
    let synced = harness.faults.disarm().seen;
    assert_eq!(synced, 0, "the file was synced after a failed sync");
    assert_eq!(harness.faults.synced_again(), 0, "a sync that failed was asked again");
    assert!(length() > failed_at, "the log is not kept");

    harness.faults.arm(&file, SYNC | EXACT, FaultAction::Count, 0, 0);
    let service = harness.recover().await;
    post_until(&mut harness, "checkpoint after the next start", |harness| {
        harness.faults.seen() > 0
    })
    .await;
    harness.end(service);
}

/// The sync of the checkpoint at the shutdown fails: closing the last connection must not run another checkpoint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_sync_at_shutdown_keeps_write_ahead_log() {
    let (mut harness, service) = Harness::start(DatabaseKind::Sqlite).await.expect("SQLite");
    let file = harness.env.folder().join("groupwork.db");
    let log = harness.env.folder().join("groupwork.db-wal");
    harness.prepare_draft().await;
    harness.writer.post_message().await.expect("a message is stored");
    harness.faults.arm(&file, SYNC | EXACT, FaultAction::Broken, 1, 1);
    assert!(service.stop().success());
    let outcome = harness.faults.disarm();
    assert_eq!(outcome.fired, 1, "the log is copied at the shutdown");
    assert_eq!(outcome.seen, 1, "the file was synced after a failed sync");
    assert!(std::fs::metadata(&log).unwrap().len() > 0, "the log is not kept");

    let service = harness.recover().await;
    harness.end(service);
}

/// Posts messages, which must all succeed, until `is_reached`.
async fn post_until(harness: &mut Harness, what: &str, is_reached: impl Fn(&Harness) -> bool) {
    let since = Instant::now();
    harness.prepare_draft().await;
    while !is_reached(harness) {
        assert!(since.elapsed() < WAIT_TIMEOUT, "no {what}");
        harness.writer.post_message().await.expect("a message is stored");
    }
}

/// A part of the database file is missing while the service runs, as after a disk failure. Only the requests that need
/// the missing rows fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_rows_fail_the_request_and_not_the_service() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let world = World::create(&env.store().await, &env.database).await;
    let Database::Sqlite(file) = env.database.clone() else {
        panic!("a file was asked for")
    };
    let mut service = env.start("serve");
    service.ready().await;
    let connection = rusqlite::Connection::open(&file).unwrap();
    let checkpoint = "PRAGMA wal_checkpoint(FULL)";
    until("everything is in the file", async || {
        let is_busy: bool = connection.query_row(checkpoint, [], |row| row.get(0)).unwrap();
        !is_busy
    })
    .await;
    drop(connection);
    let whole = std::fs::metadata(&file).unwrap().len();
    let cut = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    cut.set_len(whole / 4 / 4096 * 4096).unwrap();
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    let mut failed = 0;
    for path in ["/groups", "/classes", "/courses", "/assignments", "/users", "/messages"] {
        failed += u32::from(ada.get(path).await.status == 500);
    }
    assert!(failed > 0, "everything was read before: the run shows nothing");
    assert!(service.try_wait().is_none(), "it died of a page that is not there");
    service.kill();
}
