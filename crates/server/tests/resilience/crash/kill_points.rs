//! A SIGKILL before each call that writes, syncs, renames, creates, links or removes a file, including the files of the
//! database. The test covers a save, a submission, a finish, an upload, a replacement, a message, a start and the very
//! first start.

use std::time::Duration;

use domain::document_kind::EditorKind;

use super::faults::{ALL, FaultAction, FaultPlan};
use super::harness::{Harness, OPERATIONS};
use super::recovery_timeout;
use test_support::{DatabaseKind, ServerEnv, invariants, size};

async fn kills_at_every_call(kind: DatabaseKind, editor: EditorKind) {
    let Some((mut harness, mut service)) = Harness::start_with_editor(kind, editor).await else {
        return;
    };
    let folder = harness.env.folder().to_owned();
    let mut kills = 0;
    for operation in OPERATIONS {
        let calls = harness.count(operation, &folder).await;
        let sample_calls = harness.sample_calls(calls, 2);
        println!("{operation:?} on {kind:?} with {editor}: {calls} calls, killed at {sample_calls:?}");
        for point in sample_calls {
            harness.prepare_draft().await;
            harness.faults.arm(&folder, ALL, FaultAction::Kill, point, 1);
            let done = harness.run(operation).await;
            let outcome = harness.faults.disarm();
            if outcome.fired == 0 {
                // The action made fewer calls this time, because it did not wait for another task.
                assert!(done.is_some(), "{operation:?} failed by itself");
                continue;
            }
            kills += 1;
            while service.try_wait().is_none() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            service = harness.recover().await;
        }
    }
    service.kill();
    harness.faults.arm(&folder, ALL, FaultAction::Count, 0, 0);
    let service = harness.recover().await;
    let calls = harness.faults.disarm().seen;
    service.kill();
    // A start may write nothing except what its housekeeping writes.
    let sample_calls = if calls == 0 {
        Vec::new()
    } else {
        harness.sample_calls(calls, 2)
    };
    println!("start on {kind:?}: {calls} calls, killed at {sample_calls:?}");
    for point in sample_calls {
        harness.faults.arm(&folder, ALL, FaultAction::Kill, point, 1);
        // The service dies before it listens or in a background task, or the call does not happen this time.
        if let Ok(mut service) = harness.env.try_start("serve", &[]) {
            for _ in 0..100 {
                if service.try_wait().is_some() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        kills += usize::try_from(harness.faults.disarm().fired).unwrap();
        harness.recover().await.kill();
    }
    println!("{kills} kills at calls on {kind:?}");
    assert!(kills > 0);
    let service = harness.recover().await;
    harness.end(service);
}

/// A first start that dies leaves a schema from which the next start continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_first_start_is_completed_by_next_start() {
    let mut calls = 0;
    let mut tried = 0_u64;
    let wanted = size(3, 1_000);
    while tried < wanted {
        let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
        let faults = FaultPlan::install(&mut env);
        let folder = env.folder().to_owned();
        if calls == 0 {
            faults.arm(&folder, ALL, FaultAction::Count, 0, 0);
            env.start("serve").ready().await;
            calls = faults.disarm().seen;
            println!("a first start makes {calls} calls");
            continue;
        }
        if wanted >= 1_000 && tried >= calls {
            break;
        }
        // Tests all calls in order, or a sample over the whole range.
        let point = if wanted >= 1_000 {
            tried + 1
        } else {
            rand::random_range(1..=calls)
        };
        tried += 1;
        faults.arm(&folder, ALL, FaultAction::Kill, point, 1);
        drop(env.try_start("serve", &[]));
        let outcome = faults.disarm();
        let mut service = env.start("serve");
        let start = service.ready().await;
        assert!(
            start < recovery_timeout(),
            "after {point} {}: ready only after {start:?}",
            outcome.last
        );
        invariants::check(&env.database);
    }
    println!("{tried} first starts killed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn kills_at_file_calls_lose_nothing_acknowledged_on_sqlite() {
    kills_at_every_call(DatabaseKind::Sqlite, EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn kills_at_file_calls_lose_nothing_acknowledged_on_postgres() {
    kills_at_every_call(DatabaseKind::Postgres, EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn kills_at_file_calls_with_builtin_editor_lose_nothing_acknowledged_on_sqlite() {
    kills_at_every_call(DatabaseKind::Sqlite, EditorKind::Builtin).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn kills_at_file_calls_with_builtin_editor_lose_nothing_acknowledged_on_postgres() {
    kills_at_every_call(DatabaseKind::Postgres, EditorKind::Builtin).await;
}
