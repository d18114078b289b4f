//! Tests that the load of one school does not block the lesson of another: reads and transactions are scheduled fairly
//! by school, long operations have a limit of permits by school, and jobs are scheduled by school.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use auth::concurrency::OperationKind;
use common::clock;
use common::error::Result;
use db::platform::CrossTenantReason;
use db::{Database, RequestContext, Store};
use domain::id::OrganizationId;
use serde_json::json;

use test_support::request_context::{ViewedAs, no_after_commit};
use test_support::rosters::{import, students};
use test_support::rows::execute;
use test_support::{TestApp, size};

/// A pending database operation.
pub type PendingOperation = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Polls the operation once, which enqueues it.
async fn enqueue(mut waiting: PendingOperation) -> PendingOperation {
    poll_fn(|context| {
        assert!(
            waiting.as_mut().poll(context).is_pending(),
            "something was done that has to wait"
        );
        Poll::Ready(())
    })
    .await;
    waiting
}

/// Keeps every reader thread, or every writer thread, busy until the returned sender is dropped.
pub async fn block(
    store: &Store,
    threads: usize,
    writes: bool,
) -> (tokio::sync::watch::Sender<()>, Vec<PendingOperation>) {
    let (release, released) = tokio::sync::watch::channel(());
    let begun = Arc::new(tokio::sync::Semaphore::new(0));
    let mut blocking = Vec::new();
    for _ in 0..threads {
        let (store, released, begun) = (store.clone(), released.clone(), Arc::clone(&begun));
        let hold = move || {
            begun.add_permits(1);
            // The loop ends when the sender is dropped, also by a failed test.
            while released.has_changed().is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        };
        let proof = CrossTenantReason::CommandLine;
        let job: PendingOperation = if writes {
            Box::pin(async move {
                let hold = move |_: &mut db::platform::PlatformTx<'_>| {
                    hold();
                    Ok(())
                };
                store.platform_write(proof, hold).await
            })
        } else {
            Box::pin(async move {
                let hold = move |_: &mut db::platform::PlatformTx<'_>| {
                    hold();
                    Ok(())
                };
                store.platform_read(proof, hold).await
            })
        };
        blocking.push(enqueue(job).await);
    }
    let all = u32::try_from(threads).unwrap();
    tokio::time::timeout(std::time::Duration::from_mins(1), begun.acquire_many(all))
        .await
        .unwrap()
        .unwrap()
        .forget();
    (release, blocking)
}

/// Returns the numbers of reader and writer threads. SQLite has one reader more than the settings state.
pub fn threads(app: &TestApp) -> (usize, usize) {
    let config = TestApp::config(&app.database, std::path::Path::new("."), &[]);
    let (readers, writers) = config.storage.connections(&app.database).unwrap();
    let spare = usize::from(matches!(app.database, Database::Sqlite(_)));
    (readers + spare, writers)
}

/// Returns a read or a transaction that appends `name` to `order`.
fn recording_operation(
    store: &Store,
    standpoint: RequestContext,
    writes: bool,
    order: &Arc<Mutex<Vec<String>>>,
    name: String,
) -> PendingOperation {
    let (store, order) = (store.clone(), Arc::clone(order));
    if writes {
        Box::pin(async move {
            let note = move |_: &mut db::WriteTx<'_>| {
                order.lock().unwrap().push(name.clone());
                Ok(())
            };
            store.write_with(standpoint, note, no_after_commit).await
        })
    } else {
        Box::pin(async move {
            let note = move |_: &mut db::ReadTx<'_>| {
                order.lock().unwrap().push(name);
                Ok(())
            };
            store.read(standpoint, note).await
        })
    }
}

/// Returns one caller of each of the two schools.
async fn schools(app: &TestApp) -> [RequestContext; 2] {
    let (world, now) = (&app.world, clock::now());
    [
        app.request_context(&world.north, &world.adam.id, ViewedAs::Admin, now)
            .await,
        app.request_context(&world.south, &world.zoe.id, ViewedAs::Teacher, now)
            .await,
    ]
}

/// Enqueues 300 operations of one school, then two of another, and returns the order in which they were executed. One
/// thread executes them all, because the order of operations on several threads depends on the machine.
async fn execution_order(app: &TestApp, writes: bool, threads: usize) -> Vec<String> {
    let store = app.app.store();
    let [north, south] = schools(app).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let (keep_blocked, mut blocking) = block(store, threads - 1, writes).await;
    let (release, last) = block(store, 1, writes).await;
    blocking.extend(last);
    let mut waiting = Vec::new();
    let names = (0..300).map(|number| (&north, format!("north {number:03}")));
    for (school, name) in names.chain((0..2).map(|number| (&south, format!("south {number:03}")))) {
        let operation = recording_operation(store, school.clone(), writes, &order, name);
        waiting.push(enqueue(operation).await);
    }
    drop(release);
    for done in waiting {
        done.await.unwrap();
    }
    drop(keep_blocked);
    for done in blocking {
        done.await.unwrap();
    }
    let done = order.lock().unwrap();
    done.clone()
}

both!(queued_operations_of_one_school_do_not_delay_another, |app| {
    let (readers, writers) = threads(app);
    for (writes, threads) in [(false, readers), (true, writers)] {
        let order = execution_order(app, writes, threads).await;
        assert_eq!(order.len(), 302);
        let south: Vec<usize> = (0..order.len()).filter(|&at| order[at].starts_with("south")).collect();
        assert_eq!(south, [1, 3], "{:?}", &order[..10]);
        let is_north = |name: &&String| name.starts_with("north");
        assert!(
            order.iter().filter(is_north).is_sorted(),
            "operations of one school overtook each other"
        );
    }
});

both!(full_queue_rejects_only_the_school_that_filled_it, |app| {
    let store = app.app.store();
    let [north, south] = schools(app).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let (readers, _) = threads(app);
    let (release, blocking) = block(store, readers, false).await;
    let mut waiting = Vec::new();
    let refused = loop {
        let mut next = recording_operation(store, north.clone(), false, &order, "north".to_owned());
        let asked = poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await;
        match asked {
            Poll::Pending => waiting.push(next),
            Poll::Ready(outcome) => break outcome.unwrap_err(),
        }
    };
    assert!(matches!(refused, common::error::Error::Overloaded), "{refused:?}");
    // Operations of another school are still accepted.
    for number in 0..50 {
        waiting.push(
            enqueue(recording_operation(
                store,
                south.clone(),
                false,
                &order,
                format!("south {number}"),
            ))
            .await,
        );
    }
    drop(release);
    for done in blocking.into_iter().chain(waiting) {
        done.await.unwrap();
    }
    let order = order.lock().unwrap();
    assert_eq!(order.iter().filter(|name| name.starts_with("south")).count(), 50);
});

both!(lesson_continues_while_another_school_floods_the_service, |app| {
    let world = &app.world;
    let (zoe, zack) = (app.as_(&world.zoe), app.as_(&world.zack));
    let flooding: Vec<tokio::task::JoinHandle<u16>> = (0..size(120, 600))
        .map(|number| {
            let (adam, ada) = (app.as_(&world.adam), app.as_(&world.ada));
            let class = world.seven_b.id.clone();
            tokio::spawn(async move {
                match number % 6 {
                    0 => adam.get("/activity-logs/export.csv").await.status,
                    1 if number < 7 => {
                        import(&adam, "", "people.csv", students(number * 10_000, 400))
                            .await
                            .status
                    }
                    1 | 2 => {
                        ada.post("/groups", json!({"name": format!("Crowd {number}"), "classId": class}))
                            .await
                            .status
                    }
                    3 => adam.get("/users?limit=100").await.status,
                    _ => ada.get("/groups").await.status,
                }
            })
        })
        .collect();
    let class = &world.south_class;
    let group = json!({"name": "Frogs", "classId": class.id, "courseId": class.course, "memberIds": [world.zack.id]});
    let group = zoe.post("/groups", group).await.expect(201);
    for _ in 0..size(10, 100) {
        zoe.get("/groups").await.expect(200);
        zack.get("/classes").await.expect(200);
        let path = format!("/groups/{}", group["id"].as_str().unwrap());
        zoe.patch(&path, json!({"name": "Toads"})).await.expect(200);
    }
    for flood in flooding {
        // Requests of the flood may be rejected as overloaded. No other error is allowed.
        let status = flood.await.unwrap();
        assert!([200, 201, 429, 503].contains(&status), "{status}");
    }
});

both!(lesson_continues_during_import_of_another_school, |app| {
    let world = &app.world;
    let (adam, zoe) = (app.as_(&world.adam), app.as_(&world.zoe));
    let class = &world.south_class;
    let group = json!({"name": "Frogs", "classId": class.id, "courseId": class.course, "memberIds": [world.zack.id]});
    let group = zoe.post("/groups", group).await.expect(201);
    let path = format!("/groups/{}", group["id"].as_str().unwrap());
    let people = students(0, size(6_000, 20_000));
    let importing = tokio::spawn(async move { import(&adam, "", "people.csv", people).await });
    let mut between = 0;
    while !importing.is_finished() && between < 20 {
        let name = if between % 2 == 0 { "Toads" } else { "Newts" };
        zoe.patch(&path, json!({"name": name})).await.expect(200);
        between += 1;
    }
    // A single transaction for all rows would allow one write before it and one after it.
    assert!(between >= 10, "{between} writes of another school went between");
    assert_eq!(importing.await.unwrap().status, 200);
});

both!(export_permits_are_limited_per_school, |app| {
    let world = &app.world;
    let north = OrganizationId::new(world.north.as_str());
    let mut held = Vec::new();
    while let Ok(place) = tokio::time::timeout(
        std::time::Duration::from_millis(200),
        app.app.tenant_semaphore().acquire(OperationKind::Export, Some(&north)),
    )
    .await
    {
        held.push(place.unwrap());
    }
    assert!(!held.is_empty());
    let adam = app.as_(&world.adam);
    let mut waits = tokio::spawn(async move { adam.get("/activity-logs/export.csv").await.status });
    let other = app.as_(&world.zara).get("/activity-logs/export.csv").await;
    assert_eq!(other.status, 200);
    let early = tokio::time::timeout(std::time::Duration::from_millis(200), &mut waits).await;
    assert!(early.is_err(), "it has no place");
    drop(held);
    assert_eq!(waits.await.unwrap(), 200);
});

both!(due_jobs_are_claimed_round_robin_by_school, |app| {
    let world = &app.world;
    let (later, mut sql) = (clock::now().plus_seconds(86_400), String::new());
    for (number, school) in [&world.north, &world.north, &world.north, &world.south]
        .into_iter()
        .enumerate()
    {
        use std::fmt::Write as _;
        let at = later.as_millis() + i64::try_from(number).unwrap();
        write!(
            sql,
            "INSERT INTO jobs (organization_id, id, kind, entity_id, run_at, created_at, updated_at)
                VALUES ('{school}', 'j{number}', 'PERSONAL_EXPORT', 'e{number}', {at}, 1, 1);"
        )
        .unwrap();
    }
    execute(&app.database, sql).await;
    let due = app
        .app
        .store()
        .platform_read(CrossTenantReason::Housekeeping, move |platform| {
            platform.due_jobs(later.plus_seconds(1), 10)
        });
    let due: Vec<String> = due.await.unwrap().into_iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(due, ["j0", "j3"], "the longest waiting of each");
});
