//! Erasure of a user: the group's work stays, and the name is removed from every row and every response.

use std::time::Duration;

use db::Database;
use db::gdpr::data_map::{ErasureEffect, MAP, PersonalDataKind};
use serde_json::{Value, json};

use test_support::canary_user::{BEN, CanaryUser, everything};
use test_support::jobs::wait_for_end;
use test_support::rows::{execute, texts};
use test_support::tables::fingerprints;
use test_support::{Client, DatabaseKind, SocketListener, TestApp, clients_are_installed, database, until};

async fn erase(client: &Client, user: &str, dry_run: bool) -> Value {
    let body = json!({"userId": user, "dryRun": dry_run});
    let answer = client.post("/admin/gdpr/erase", body).await.expect(200);
    assert_eq!((&answer["userId"], &answer["dryRun"]), (&json!(user), &json!(dry_run)));
    answer["erased"].clone()
}

fn rows_naming_ben(rows: &[String]) -> Vec<&String> {
    rows.iter().filter(|row| row.to_lowercase().contains(BEN)).collect()
}

/// Returns the personal columns that still contain the user's id although the row should be deleted or the column
/// empty.
async fn remaining_personal_data(app: &TestApp, user: &str) -> Vec<String> {
    let mut left = Vec::new();
    for mapped in MAP {
        let is_gone = matches!(mapped.erasure, ErasureEffect::RowDeleted | ErasureEffect::Cleared);
        if !is_gone || !matches!(mapped.holds, PersonalDataKind::Id | PersonalDataKind::Ids) {
            continue;
        }
        let (table, column) = (mapped.table, mapped.column);
        let query = format!("SELECT CAST(COUNT(*) AS TEXT) FROM {table} WHERE {column} LIKE '%{user}%'");
        let count = texts(&app.database, query).await;
        if count != [Some("0".to_owned())] {
            left.push(format!("{table}.{column}: {count:?}"));
        }
    }
    left
}

both!(erased_user_is_named_nowhere_and_group_work_is_kept, |app| {
    let canary = CanaryUser::create(app).await;
    let (world, ben) = (&app.world, &app.world.ben.id);
    let (adam, ada) = (app.as_(&world.adam), app.as_(&world.ada));
    let export = adam.post("/admin/gdpr/export", json!({"userId": ben})).await;
    let location = export.header("location").to_owned();
    assert_eq!(wait_for_end(&adam, &location).await["status"], "DONE");
    assert!(!remaining_personal_data(app, ben).await.is_empty() && !rows_naming_ben(&everything(app).await).is_empty());

    let before = fingerprints(&app.database).await;
    let preview = erase(&adam, ben, true).await;
    let after = fingerprints(&app.database).await;
    let changed: Vec<_> = before
        .iter()
        .filter(|(table, print)| after.get(*table) != Some(print))
        .collect();
    assert!(changed.is_empty(), "a preview changes nothing: {changed:?}");
    app.as_(&world.ben).get("/users/me").await.expect(200);
    for (noun, count) in [
        ("profiles", 1),
        ("sessions", 1),
        // The password, the second factor and a recovery code.
        ("signIns", 4),
        ("signInTraces", 4),
        ("memberships", 1),
        ("homerooms", 1),
        ("enrollments", 1),
        ("groups", 1),
        ("helpCalls", 1),
        ("chatMessages", 1),
        ("documentComments", 2),
        ("textSnippets", 1),
        ("chatFiles", 1),
        ("readingMarks", 2),
        ("contributions", 1),
        ("messagesSent", 1),
        ("messagesReceived", 2),
        ("submissionNotes", 1),
        ("memberGrades", 2),
        ("exports", 2),
    ] {
        assert_eq!(preview[noun], count, "{noun} of {preview}");
    }
    assert!(preview["logRecords"].as_i64().unwrap() >= 5, "{preview}");

    assert_eq!(
        erase(&adam, ben, false).await,
        preview,
        "the preview lists what is erased"
    );
    let rows = everything(app).await;
    assert_eq!(rows_naming_ben(&rows), Vec::<&String>::new());
    assert_eq!(remaining_personal_data(app, ben).await, Vec::<String>::new());
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");

    let document = format!("/workrooms/documents/{}", canary.lesson.document);
    assert_eq!(ada.get(&format!("{document}/download")).await.bytes, canary.document);
    let shown = ada.get(&document).await.expect(200);
    assert_eq!(shown["createdById"], json!(ben), "an id that leads to nobody");
    let group = format!("/groups/{}", canary.lesson.group);
    for path in [
        document.as_str(),
        &group,
        "/groups",
        "/assignments",
        "/activity-logs?limit=200",
        "/activity-logs/export.csv",
    ] {
        let answer = adam.get(path).await;
        let text = String::from_utf8_lossy(&answer.bytes).to_lowercase();
        assert!(answer.status == 200 && !text.contains(BEN), "{path}: {text}");
    }
    let log = adam.get("/activity-logs?category=USER&action=DELETE").await.expect(200);
    assert_eq!(log["data"][0]["entityId"], json!(ben));
    assert_eq!(
        adam.get(&group).await.expect(200)["members"].as_array().unwrap().len(),
        1
    );
    adam.get(location.strip_prefix("/api").unwrap())
        .await
        .refused(404, "NOT_FOUND");
    wait_until_removed(app, canary.chat_file.as_str()).await;

    let again = erase(&adam, ben, false).await;
    assert!(
        again.as_object().unwrap().values().all(|count| *count == json!(0)),
        "{again}"
    );
    assert_eq!(erase(&adam, ben, true).await, again);
    let log = adam.get("/activity-logs?category=USER&action=DELETE").await.expect(200);
    assert_eq!(
        log["data"].as_array().unwrap().len(),
        1,
        "doing nothing is not recorded"
    );
});

/// Waits until the file is removed from storage.
async fn wait_until_removed(app: &TestApp, key: &str) {
    let key = domain::file::FileKey::new(key);
    until("the file is gone", async || app.app.files().open(&key).await.is_err()).await;
}

both!(erasure_requires_higher_role_and_home_organization, |app| {
    let world = &app.world;
    let (adam, olga, root) = (app.as_(&world.adam), app.as_(&world.olga), app.as_(&world.root));
    let refused = async |client: &Client, user: &str, status: u16, code: &str| {
        for dry_run in [true, false] {
            let body = json!({"userId": user, "dryRun": dry_run});
            client.post("/admin/gdpr/erase", body).await.refused(status, code);
        }
    };
    let home = |home: &str, user: &str| format!("UPDATE users SET home_organization_id = {home} WHERE id = '{user}'");
    let north = format!("'{}'", world.north);
    execute(&app.database, home("NULL", &world.ben.id)).await;
    for user in [&world.olga, &world.adam, &world.ada] {
        execute(&app.database, home(&north, &user.id)).await;
    }
    refused(&app.as_(&world.ada), &world.ben.id, 403, "FORBIDDEN_ROLE").await;
    refused(&adam, &world.olga.id, 403, "FORBIDDEN_RANK").await;
    refused(&adam, &world.adam.id, 403, "FORBIDDEN_RANK").await;
    refused(&adam, &world.ben.id, 403, "SHARED_ACCOUNT").await;
    refused(&adam, &world.zoe.id, 404, "NOT_FOUND").await;
    refused(&adam, "nobody", 404, "NOT_FOUND").await;
    refused(&olga, &world.olga.id, 409, "LAST_OWNER").await;
    adam.post("/admin/gdpr/erase", json!({})).await.invalid("userId");
    adam.post("/admin/gdpr/erase", json!({"userId": world.ben.id, "force": true}))
        .await
        .invalid("force");

    // Only a platform administrator can erase a member of two schools. The erasure covers both.
    let guest = format!(
        "INSERT INTO members (organization_id, id, user_id, role, created_at)
            VALUES ('{}', 'guest', '{}', 'student', 1)",
        world.south, world.ben.id
    );
    execute(&app.database, home(&north, &world.ben.id)).await;
    execute(&app.database, guest).await;
    refused(&adam, &world.ben.id, 403, "SHARED_ACCOUNT").await;
    let path = format!("/admin/gdpr/erase?organizationId={}", world.north);
    let erased = root.post(&path, json!({"userId": world.ben.id})).await.expect(200);
    assert_eq!(erased["erased"]["memberships"], 2);
    // An owner may erase another owner as long as one owner remains.
    let second = format!("UPDATE members SET role = 'owner' WHERE user_id = '{}'", world.adam.id);
    execute(&app.database, second).await;
    assert_eq!(erase(&olga, &world.adam.id, false).await["profiles"], 1);
    // The classes of an erased teacher stay. The teacher's co-teacher roles end.
    assert_eq!(erase(&olga, &world.ada.id, false).await["memberships"], 1);
    let class = olga.get(&format!("/classes/{}", world.seven_b.id)).await.expect(200);
    assert_eq!(class["teacher"]["name"], "Deleted person");
});

both!(erasure_notifies_group_and_closes_connections, |app| {
    if !clients_are_installed() {
        return;
    }
    let canary = CanaryUser::create(app).await;
    let world = &app.world;
    let (mut ben, mut cem) = (
        SocketListener::connect(app, &world.ben).await,
        SocketListener::connect(app, &world.cem).await,
    );
    erase(&app.as_(&world.adam), &world.ben.id, false).await;
    assert_eq!(ben.expect("session:revoked").await["reason"], "DEACTIVATED");
    let received = cem.expect("group:member:removed").await;
    assert_eq!(received["groupId"], json!(canary.lesson.group));
    assert_eq!(received["user"], json!({"id": world.ben.id, "name": "Deleted person"}));
    assert_eq!(received["memberIds"], json!([world.cem.id]));
});

mod schema {
    db::statements! {
        SQLITE_COLUMNS = "SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
            WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
        SQLITE_REFERENCES = "SELECT m.name || '.' || k.\"from\" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) k
            WHERE m.type = 'table' AND ((k.\"table\" = 'users' AND k.\"to\" = 'id') OR (k.\"table\" = 'members' AND k.\"to\" = 'user_id')
                OR (k.\"table\" = 'class_enrollments' AND k.\"to\" = 'student_id'))";
        POSTGRES_COLUMNS = "SELECT CAST(table_name || '.' || column_name AS TEXT) FROM information_schema.columns
            WHERE table_schema = 'public'";
        POSTGRES_REFERENCES = "SELECT CAST(c.conrelid::regclass || '.' || a.attname AS TEXT)
            FROM pg_constraint c
            CROSS JOIN LATERAL unnest(c.conkey, c.confkey) AS k (here, there)
            JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.here
            JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = k.there
            WHERE c.contype = 'f' AND (CAST(c.confrelid::regclass AS TEXT), f.attname) IN
                (('users', 'id'), ('members', 'user_id'), ('class_enrollments', 'student_id'))";
    }

    use db::Database;
    use db::connection::Connection;

    /// Returns all columns, and the columns that refer to a user by a foreign key.
    pub fn columns(database: &Database) -> (Vec<String>, Vec<String>) {
        assert_eq!(STATEMENTS.len(), 4);
        let (mut connection, columns, references) = match database {
            Database::Sqlite(path) => {
                let connection = Connection::open_sqlite(path, false).unwrap();
                (connection, &SQLITE_COLUMNS, &SQLITE_REFERENCES)
            }
            Database::Postgres(url) => {
                let connection = Connection::open_postgres(url).unwrap();
                (connection, &POSTGRES_COLUMNS, &POSTGRES_REFERENCES)
            }
        };
        let mut all = |statement| {
            connection
                .fetch_all(statement, &[], |row| row.only::<String>())
                .unwrap()
        };
        (all(columns), all(references))
    }
}

/// Returns whether the name of a column, or its table, suggests personal data.
fn suggests_personal_data(column: &str) -> bool {
    let (table, name) = column.split_once('.').unwrap();
    let ends = [
        "_by_id",
        "user_id",
        "sender_id",
        "author_id",
        "teacher_id",
        "student_id",
        "user_name",
    ];
    let whole = [
        "member_ids",
        "editors",
        "account_key",
        "account_id",
        "email",
        "ip_address",
        "user_agent",
        "member_grades",
        "owner_id",
        "recipient_id",
        "actor_id",
        "first_name",
        "last_name",
        "username",
    ];
    table == "users" || ends.iter().any(|end| name.ends_with(end)) || whole.contains(&name)
}

fn assert_map_is_complete(database: &Database) {
    let (columns, references) = schema::columns(database);
    let is_mapped = |column: &str| {
        MAP.iter()
            .any(|mapped| format!("{}.{}", mapped.table, mapped.column) == column)
    };
    assert!(references.len() > 30, "{references:?}");
    let mut forgotten: Vec<_> = columns.iter().filter(|column| suggests_personal_data(column)).collect();
    forgotten.extend(&references);
    forgotten.retain(|column| !is_mapped(column));
    assert!(
        forgotten.is_empty(),
        "crates/db/src/gdpr/data_map.rs does not say what exports and erasures do with {forgotten:?}"
    );
    for mapped in MAP {
        let column = format!("{}.{}", mapped.table, mapped.column);
        assert!(
            columns.contains(&column),
            "{column} is mapped, but there is no such column"
        );
    }
}

#[test]
fn every_personal_data_column_is_mapped_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::Sqlite(folder.path().join("x.db"));
    db::migrate(&database).unwrap();
    assert_map_is_complete(&database);
}

#[test]
fn every_personal_data_column_is_mapped_on_postgres() {
    let Some(database) = database::postgres() else { return };
    assert_map_is_complete(&database);
    database::drop_postgres(&database);
}

#[test]
fn mapped_exports_match_the_lists_of_the_archive() {
    use db::gdpr::{account_tables, export_tables};
    let lists: Vec<_> = account_tables::TABLES
        .iter()
        .chain(export_tables::TABLES)
        .chain(export_tables::PRIVATE_TABLES)
        .map(|noun| noun.name)
        .collect();
    for mapped in MAP {
        let received = mapped.export.is_none_or(|list| lists.contains(&list));
        assert!(received, "{}.{} is in no list", mapped.table, mapped.column);
    }
    for list in lists {
        assert!(
            MAP.iter().any(|mapped| mapped.export == Some(list)),
            "the map does not name {list}"
        );
    }
}

#[test]
fn the_page_about_privacy_is_current() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/privacy.md");
    let committed = std::fs::read_to_string(page).unwrap_or_default();
    assert!(
        committed == groupwork::cli::describe::privacy_text().unwrap(),
        "docs/privacy.md is stale: run `make describe`"
    );
}

async fn run_interrupted_export(kind: DatabaseKind) {
    use test_support::{ServerEnv, World};
    let Some(mut place) = ServerEnv::new(kind) else { return };
    let world = World::create(&place.store().await, &place.database).await;
    // The worst moment for a crash: the archive is stored and no row refers to it yet.
    let dying = place.try_start("serve", &[("GROUPWORK_FAILPOINT", "files.after_dir_sync:1")]);
    let mut dying = dying.unwrap_or_else(|log| panic!("{log}"));
    dying.ready().await;
    let adam = Client::new(&dying.base, Some(world.adam.cookie.clone()));
    // The service may die before it responds.
    let request = adam.request(reqwest::Method::POST, "/admin/gdpr/export");
    drop(request.json(&json!({"userId": world.ben.id})).send().await);
    let since = std::time::Instant::now();
    while dying.try_wait().is_none() {
        assert!(
            since.elapsed() < test_support::WAIT_TIMEOUT,
            "the archive was not stored"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(dying);
    let jobs = format!("SELECT id FROM jobs WHERE entity_id = '{}'", world.ben.id);
    let job = texts(&place.database, jobs).await.remove(0).unwrap();
    let location = format!("/api/admin/gdpr/jobs/{job}");
    assert_eq!(list_archives(&place).len(), 1, "the file of the attempt that died");
    if kind == DatabaseKind::Postgres {
        // Another instance would wait until the lease expires; the test expires it.
        execute(&place.database, "UPDATE jobs SET lease_until = 1".to_owned()).await;
    }
    let mut service = place.start("serve");
    service.ready().await;
    let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
    let job = wait_for_end(&adam, &location).await;
    assert_eq!(job["status"], "DONE");
    let archive = adam
        .get(&format!("{}/download", location.strip_prefix("/api").unwrap()))
        .await;
    assert!(crate::personal_export::read_archive(&archive.bytes).len() > 5);
    assert_eq!(list_archives(&place).len(), 1, "and no other");
    service.kill();
    place.close();
}

fn list_archives(place: &test_support::ServerEnv) -> Vec<String> {
    let files = list_files(&place.folder().join("files"));
    files.into_iter().filter(|name| name.contains(".zip")).collect()
}

fn list_files(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            found.extend(list_files(&entry.path()));
        } else {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_export_completes_after_restart_on_sqlite() {
    run_interrupted_export(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_export_completes_after_restart_on_postgres() {
    run_interrupted_export(DatabaseKind::Postgres).await;
}

both!(erasure_finds_old_records_in_a_long_log, |app| {
    let (north, ben, address) = (&app.world.north, &app.world.ben.id, &app.world.ben.email);
    let numbers = match app.database {
        Database::Sqlite(_) => {
            "(WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 44999) SELECT n FROM numbers)"
        }
        Database::Postgres(_) => "generate_series(0, 44999) AS numbers(n)",
    };
    // Old ids. More records than one batch contains are between the records that contain the address.
    let old = format!(
        "INSERT INTO activity_logs (organization_id, id, user_name, user_role, category, action, entity_type, entity_id,
            details, created_at)
        SELECT '{north}', '01' || (100000000 + n), 'Ada', 'teacher', 'GROUP', 'UPDATE', 'group', 'x',
            CASE WHEN n IN (0, 25000, 44999) THEN '{{\"email\":\"{address}\"}}' ELSE '{{}}' END, 1 FROM {numbers}"
    );
    execute(&app.database, old).await;
    let adam = app.as_(&app.world.adam);
    let preview = erase(&adam, ben, true).await;
    assert!(preview["logRecords"].as_i64().unwrap() >= 3, "{preview}");
    let erased = erase(&adam, ben, false).await;
    assert_eq!(erased["logRecords"], preview["logRecords"]);
    let left = texts(
        &app.database,
        format!("SELECT id FROM activity_logs WHERE details LIKE '%{address}%'"),
    )
    .await;
    assert!(left.is_empty(), "{left:?}");
});
