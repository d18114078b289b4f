//! Deletion of a school: invisible immediately, then purged. The tables to check are read from the schema.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use test_support::db_grep::{mentions, rows_of};
use test_support::lesson_rows;
use test_support::rows::{execute, texts};
use test_support::{Client, DatabaseKind, LessonFixture, RealtimeRows, ServerEnv, TestApp, World, raw_socket};

/// Tables whose rows are kept temporarily by design: messages between instances (ten minutes), pending file removals,
/// queued emails, and the storage usage, which a periodic task counts.
const TRANSIENT_TABLES: [&str; 4] = ["event_outbox", "file_removals", "letters", "storage_usages"];

/// Inserts a row of North into every table, and more classes.
async fn insert_rows_into_every_table(app: &TestApp) {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    LessonFixture::create(app).await;
    let path = format!("/classes/{}/teachers", world.seven_b.id);
    adam.post(&path, json!({"userId": world.tom.id})).await.expect(200);
    let homeroom = adam.post("/homerooms", json!({"name": "7b"})).await.expect(201);
    let path = format!("/homerooms/{}/students", homeroom["id"].as_str().unwrap());
    adam.post(&path, json!({"studentIds": [world.ben.id]}))
        .await
        .expect(200);
    insert_rows_of_north(&app.database, world).await;
    let former = format!(
        "INSERT INTO former_slugs (organization_id, slug, created_at) VALUES ('{}', 'former', 1)",
        world.north
    );
    execute(&app.database, former).await;
    RealtimeRows(app).join_school(&world.south, &world.tom, "teacher").await;
}

async fn insert_rows_of_north(database: &db::Database, world: &World) {
    let World {
        north,
        seven_b,
        ada,
        ben,
        ..
    } = world;
    let (north, class, course) = (north.clone(), seven_b.id.clone(), seven_b.course.clone());
    let (ada, ben) = (ada.id.clone(), ben.id.clone());
    let store = database.clone();
    let (school, teacher) = (north.clone(), ada.clone());
    tokio::task::spawn_blocking(move || {
        let mut rows = lesson_rows::LessonRows::of(&store, &school, &class, &teacher, &ben);
        rows.lesson(41, Some(&course));
        rows.lesson(42, None);
        rows.announcement();
    })
    .await
    .unwrap();
    let job = "INSERT INTO jobs (id, organization_id, kind, status, run_at, created_at, updated_at)";
    let now = common::clock::now().as_millis();
    let statements = [
        format!(
            "INSERT INTO storage_usages (organization_id, bytes, counted_at) VALUES ('{north}', 5, 1)
                ON CONFLICT DO NOTHING"
        ),
        format!(
            "INSERT INTO rate_windows (organization_id, name, window_started_at, hits) VALUES ('{north}', 'Help', 1, 1)"
        ),
        format!(
            "INSERT INTO idempotency_keys (organization_id, id, user_id, route, key_digest, request_digest, created_at)
                VALUES ('{north}', 'key-of-north', '{ada}', 'POST /api/groups', 'k', 'r', 1)"
        ),
        format!(
            "INSERT INTO deleted_documents (organization_id, id, class_name, group_id, group_name, title, file_extension,
                generation, oldest_generation, is_open, deleted_at)
                VALUES ('{north}', 'deleted-of-north', '7b', 'g', 'g', 'Page', 'docx', 1, 1, FALSE, {now})"
        ),
        format!(
            "INSERT INTO late_texts (organization_id, id, document_id, generation, file_extension, file_key, size, sha256,
                received_at)
                VALUES ('{north}', 'late-of-north', 'deleted-of-north', 1, 'docx', 'late-of-north.docx', 1, 's', {now})"
        ),
        format!(
            "INSERT INTO sign_on_attempts (organization_id, state_digest, browser_digest, provider_id, nonce, code_verifier,
                callback_url, error_url, new_user_url, expires_at)
                VALUES ('{north}', 'state-of-north', 'b', 'p', 'n', 'v', '/', '/', '/', {now})"
        ),
        format!(
            "INSERT INTO sign_on_logouts (organization_id, provider_id, token_id, expires_at)
                VALUES ('{north}', 'provider-of-north', 't', {now})"
        ),
        format!(
            "INSERT INTO roster_origins (organization_id, source_id, object, external_id, created_at)
                SELECT organization_id, id, 'PERSON', 'ada', 1 FROM roster_sources WHERE organization_id = '{north}'"
        ),
        format!(
            "INSERT INTO roster_run_entries (organization_id, run_id, effect, place, object, external_id, name)
                SELECT organization_id, id, 'JOINS', 0, 'PERSON', 'ada', 'Ada' FROM roster_runs
                WHERE organization_id = '{north}'"
        ),
        format!(
            "INSERT INTO deletion_archive_files (organization_id, archive_id, file_key, size, sha256)
                SELECT organization_id, id, 'archived-file-of-north', 1, 's' FROM deletion_archives
                WHERE organization_id = '{north}'"
        ),
        format!(
            "INSERT INTO grade_files (organization_id, id, submission_id, file_name, mime_type, size, sha256, file_key,
                uploaded_by_id, created_at)
                SELECT organization_id, 'file-of-north', MIN(id), 'notes.txt', 'text/plain', 1, 's', 'grade-file-of-north',
                    '{ada}', 1 FROM submissions WHERE organization_id = '{north}' GROUP BY organization_id"
        ),
        format!("{job} VALUES ('job-of-north', '{north}', 'PERSONAL_EXPORT', 'DONE', 1, 1, 1)"),
        format!("UPDATE users SET home_organization_id = '{north}' WHERE id = '{ada}'"),
    ];
    for statement in statements {
        execute(database, statement).await;
    }
    let message = texts(
        database,
        format!("SELECT id FROM direct_messages WHERE organization_id = '{north}'"),
    )
    .await;
    let message = message[0].clone().unwrap();
    let recipient = format!(
        "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at)
            VALUES ('{north}', '{message}', '{ada}', 1)"
    );
    execute(database, recipient).await;
}

async fn wait_until_purged(database: &db::Database, organization: &str) {
    let since = Instant::now();
    let query = format!("SELECT id FROM organizations WHERE id = '{organization}'");
    while !texts(database, query.clone()).await.is_empty() {
        assert!(since.elapsed() < test_support::WAIT_TIMEOUT, "the purge does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn without_transient_tables(mut rows: BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    rows.retain(|table, _| !TRANSIENT_TABLES.contains(&table.as_str()));
    rows
}

async fn account(app: &TestApp, person: &test_support::TestUser) -> (bool, Option<String>) {
    let active = format!("SELECT id FROM users WHERE id = '{}' AND is_active", person.id);
    let home = format!("SELECT home_organization_id FROM users WHERE id = '{}'", person.id);
    let is_active = !texts(&app.database, active).await.is_empty();
    (is_active, texts(&app.database, home).await.remove(0))
}

both!(deleted_school_is_invisible_at_once_and_then_purged, |app| {
    let (world, root) = (&app.world, app.as_(&app.world.root));
    insert_rows_into_every_table(app).await;
    let (north, south) = (&world.north, &world.south);
    let empty: Vec<_> = without_transient_tables(rows_of(&app.database, north).await)
        .into_iter()
        .filter(|(_, rows)| *rows == 0)
        .collect();
    assert!(
        empty.is_empty(),
        "this test fills every table of a school, but {empty:?}"
    );
    let kept = app.stored_files();
    assert!(!kept.is_empty());
    let neighbours = without_transient_tables(rows_of(&app.database, south).await);
    let mut socket = raw_socket::Socket::open(app, &world.ben.cookie).await;
    socket.expect("ready").await;

    let path = format!("/tenants/{north}");
    let delete = async |body: Value| root.send(reqwest::Method::DELETE, &path, Some(body)).await;
    delete(json!({})).await.invalid("confirm");
    delete(json!({"confirm": "North"})).await.invalid("confirm");
    delete(json!({"confirm": north})).await.invalid("confirm");
    let deleted = delete(json!({"confirm": "north"})).await.expect(200);
    assert_eq!((&deleted["success"], &deleted["members"]), (&json!(true), &json!(9)));
    socket.expect("session:revoked").await;

    // After this response the school is not found by any route.
    root.get(&path).await.refused(404, "NOT_FOUND");
    delete(json!({"confirm": "north"})).await.refused(404, "NOT_FOUND");
    assert_eq!(root.get("/tenants").await.expect(200).as_array().unwrap().len(), 1);
    root.get(&format!("/courses?organizationId={north}"))
        .await
        .refused(404, "NOT_FOUND");
    root.get(&format!("/courses/{}", world.seven_b.course))
        .await
        .refused(404, "NOT_FOUND");
    let ada = app.as_(&world.ada);
    let status = ada.get("/classes").await.status;
    assert!(
        matches!(status, 400 | 401),
        "{status}: no organization, or no session any more"
    );
    let host = app.stranger().with("host", "north.schools.test");
    host.get("/tenants/current").await.refused(404, "NOT_FOUND");
    let tom = app.as_(&world.tom);
    let own = tom.get("/auth/organization/list").await.expect(200);
    assert_eq!((own.as_array().unwrap().len(), &own[0]["slug"]), (1, &json!("south")));
    // Its slug can be reused immediately.
    let again = json!({"name": "North", "slug": "north", "ownerEmail": "new@north.example", "ownerName": "Nina"});
    let again = root.post("/tenants", again).await.expect(201);
    assert_ne!(again["tenant"]["id"], json!(north));

    wait_until_purged(&app.database, north).await;
    test_support::document_server_fixture::eventually(async || app.pending_removals().await == 0).await;
    let left: Vec<_> = mentions(&app.database, north)
        .await
        .into_iter()
        .filter(|(table, _)| !TRANSIENT_TABLES.contains(&table.as_str()))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(app.stored_files(), [""; 0], "no file is left");
    assert_eq!(
        without_transient_tables(rows_of(&app.database, south).await),
        neighbours
    );
    assert_eq!(
        account(app, &world.ben).await,
        (false, None),
        "Ben has no school any more"
    );
    assert_eq!(account(app, &world.ada).await, (false, None), "nor a home");
    assert_eq!(
        account(app, &world.tom).await,
        (true, None),
        "Tom teaches at South, too"
    );
    assert_eq!(account(app, &world.zoe).await, (true, Some(south.clone())));
    ada.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    tom.get("/users/me").await.expect(200);
});

/// Kills the service repeatedly during a purge. Completed steps persist, and in the end no row is left.
async fn run_killed_purge(kind: DatabaseKind) {
    let Some(mut place) = ServerEnv::new(kind) else { return };
    let world = World::create(&place.store().await, &place.database).await;
    insert_rows_of_north(&place.database, &world).await;
    let classes = (0..12).map(|number| {
        let (north, ada) = (&world.north, &world.ada.id);
        format!(
            "INSERT INTO classes (organization_id, id, name, name_key, academic_year, teacher_id, created_at, updated_at)
                VALUES ('{north}', 'class-{number}', 'C{number}', 'c{number}', '2026', '{ada}', 1, 1);"
        )
    });
    execute(&place.database, classes.collect()).await;
    // The rows refer to files that were never written, so the storage must be adopted explicitly.
    let mut adopt = tokio::process::Command::from(place.command(&["scrub", "--adopt-storage"], &[]));
    drop(adopt.output().await.unwrap());
    // One attempt less than those after which the job waits for the next minute.
    for (kill, batches) in [1, 3, 8, 8].into_iter().enumerate() {
        let failpoint = format!("deletion.purged:{batches}");
        // An error means that the service died before it listened.
        let mut service = place.try_start("serve", &[("GROUPWORK_FAILPOINT", &failpoint)]).ok();
        if kill == 0 {
            let base = &service.as_ref().expect("there is no purge yet").base;
            let root = Client::new(base, Some(world.root.cookie.clone()));
            let request = root.request(reqwest::Method::DELETE, &format!("/tenants/{}", world.north));
            // The service may die before it responds.
            drop(request.json(&json!({"confirm": "north"})).send().await);
        }
        let since = Instant::now();
        while service.as_mut().is_some_and(|service| service.try_wait().is_none()) {
            assert!(
                since.elapsed() < test_support::WAIT_TIMEOUT,
                "{failpoint} is not reached"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let left = format!("SELECT id FROM organizations WHERE id = '{}'", world.north);
        assert_eq!(
            texts(&place.database, left).await.len(),
            1,
            "rows are left after kill {kill}"
        );
        // Expires the lease of the killed instance instead of waiting a minute.
        execute(
            &place.database,
            "UPDATE jobs SET lease_until = 1 WHERE lease_until IS NOT NULL".to_owned(),
        )
        .await;
    }
    let mut service = place.start("serve");
    service.ready().await;
    wait_until_purged(&place.database, &world.north).await;
    drop(service);
    let is_transient = |table: &str| TRANSIENT_TABLES.contains(&table);
    let found: Vec<_> = mentions(&place.database, &world.north)
        .await
        .into_iter()
        .filter(|(table, _)| !is_transient(table))
        .collect();
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(
        without_transient_tables(rows_of(&place.database, &world.south).await)["members"],
        3
    );
    place.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_purge_completes_after_restart_on_sqlite() {
    run_killed_purge(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_purge_completes_after_restart_on_postgres() {
    run_killed_purge(DatabaseKind::Postgres).await;
}
