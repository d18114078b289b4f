//! Deleted objects that can be restored (docs/undo.md): with everything, without people who left, and never twice.

use std::collections::{BTreeMap, BTreeSet};

use common::clock;
use db::archives::format::{ArchiveManifest, ChunkEncoder, RowHeader, read_chunk};
use db::archives::tables::{ArchivedTable, TABLES};
use db::dump::Cell;
use db::gdpr::data_map::{ErasureEffect, MAP, PersonalDataKind};
use serde_json::{Value, json};
use service::jobs::file_removal;

use test_support::canary_user::{BEN, CanaryUser};
use test_support::lesson_rows::LessonRows;
use test_support::row_counts::counts;
use test_support::rows::{execute, texts};
use test_support::tables::fingerprints;
use test_support::{Client, DatabaseKind, TestApp, World};

/// Columns that a restore changes: keys of documents whose editors were open, versions, and times of changes.
const CHANGED_COLUMNS: [&str; 4] = ["generation", "row_version", "updated_at", "last_activity"];

/// Runs a test on both databases with deleted objects kept for 30 days.
async fn run_keeping(story: impl AsyncFn(&TestApp)) {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        if let Some(app) = TestApp::start_with(kind, &["--deleted-retention-days=30"]).await {
            story(&app).await;
            app.close().await;
        }
    }
}

async fn insert_rows<T: Send + 'static>(app: &TestApp, fill: impl FnOnce(&mut LessonRows) -> T + Send + 'static) -> T {
    let World {
        north,
        seven_b,
        ada,
        ben,
        ..
    } = &app.world;
    let (database, north, class) = (app.database.clone(), north.clone(), seven_b.id.clone());
    let (ada, ben) = (ada.id.clone(), ben.id.clone());
    let insert = move || fill(&mut LessonRows::of(&database, &north, &class, &ada, &ben));
    tokio::task::spawn_blocking(insert).await.unwrap()
}

/// Returns every archived table with its rows as text, without the columns that a restore changes.
async fn content(app: &TestApp) -> BTreeMap<&'static str, Vec<Option<String>>> {
    let mut content = BTreeMap::new();
    for table in TABLES.iter().filter(|table| table.is_inserted()) {
        let columns = table.columns().iter().map(|column| column.name.as_str());
        let kept: Vec<String> = columns
            .filter(|name| table.name != "documents" || !CHANGED_COLUMNS.contains(name))
            .map(|name| format!("COALESCE(CAST({name} AS TEXT), 'NULL')"))
            .collect();
        let query = format!("SELECT {} FROM {}", kept.join(" || '|' || "), table.table);
        let mut rows = texts(&app.database, query).await;
        rows.sort();
        content.insert(table.name, rows);
    }
    content
}

async fn row_counts(app: &TestApp) -> BTreeMap<String, i64> {
    let database = app.database.clone();
    tokio::task::spawn_blocking(move || counts(&database)).await.unwrap()
}

/// Deletes an object; returns the id of the deletion.
async fn delete(client: &Client, path: &str) -> String {
    let preview = client
        .delete(&format!("{path}{}dryRun=1", separator(path)))
        .await
        .expect(200);
    assert!(preview.get("deletionId").is_none() && preview["restorableUntil"].is_string());
    let deleted = client.delete(path).await.expect(200);
    assert!(deleted["restorableUntil"].is_string());
    deleted["deletionId"].as_str().unwrap().to_owned()
}

fn separator(path: &str) -> char {
    if path.contains('?') { '&' } else { '?' }
}

async fn restore(client: &Client, deletion: &str) -> Value {
    client
        .post(&format!("/deletions/{deletion}/restore"), json!({}))
        .await
        .expect(200)
}

async fn refuse_restore(client: &Client, deletion: &str, status: u16, code: &str) -> Value {
    client
        .post(&format!("/deletions/{deletion}/restore"), json!({}))
        .await
        .refused(status, code)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_objects_equal_deleted_ones() {
    run_keeping(async |app| {
        let course = app.world.seven_b.course.clone();
        let (draft, group, topic, finished) = insert_rows(app, move |rows| {
            let (topic, group, _) = rows.lesson(1, Some(&course));
            let (finished, other) = (rows.topic(Some(&course)), rows.group(2, Some(&course)));
            let link = rows.link(&finished, &other);
            let page = rows.document(&other, Some(&finished));
            rows.submit(&link, &page);
            rows.finish(&finished);
            rows.lock(&page, Some(&finished));
            rows.lesson(3, None);
            rows.announcement();
            let draft = rows.document(&group, None);
            (draft, group.id, topic, finished)
        })
        .await;
        let adam = app.as_(&app.world.adam);
        let (before, rows_before) = (content(app).await, row_counts(app).await);
        let World { seven_b, .. } = &app.world;
        for path in [
            format!("/workrooms/documents/{draft}"),
            format!("/groups/{group}"),
            format!("/assignments/{topic}"),
            format!("/assignments/{finished}"),
            format!("/courses/{}", seven_b.course),
            format!("/classes/{}?force=1", seven_b.id),
        ] {
            let deletion = delete(&adam, &path).await;
            assert_ne!(content(app).await, before, "{path} deletes rows");
            let list = adam.get("/deletions").await.expect(200);
            assert_eq!(
                (&list["data"][0]["id"], list["data"].as_array().unwrap().len()),
                (&json!(deletion), 1)
            );
            let restored = restore(&adam, &deletion).await;
            assert_eq!(
                (&restored["leftOut"], &restored["missing"]),
                (&json!(0), &json!(0)),
                "{path}"
            );
            for (table, rows) in content(app).await {
                assert_eq!(rows, before[table], "{table} after restoring {path}");
            }
            refuse_restore(&adam, &deletion, 409, "ALREADY_RESTORED").await;
        }
        let mut rows_after = row_counts(app).await;
        let mut rows_before = rows_before;
        for counted in [&mut rows_before, &mut rows_after] {
            // Editors were closed, and the records of deleted documents expire.
            for table in ["editing_sessions", "deleted_documents", "deletion_archives"] {
                counted.remove(table);
            }
        }
        assert_eq!(rows_after, rows_before);
        let log = adam.get("/activity-logs?action=RESTORE").await.expect(200);
        let events: Vec<&str> = log["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["event"].as_str().unwrap())
            .collect();
        assert_eq!(
            events,
            [
                "CLASS_RESTORE",
                "COURSE_RESTORE",
                "ASSIGNMENT_RESTORE",
                "ASSIGNMENT_RESTORE",
                "GROUP_RESTORE",
                "DOCUMENT_RESTORE"
            ]
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn taken_numbers_and_names_are_replaced() {
    run_keeping(async |app| {
        let course = app.world.seven_b.course.clone();
        let (_, group, _) = insert_rows(app, move |rows| rows.lesson(1, Some(&course))).await;
        let ada = app.as_(&app.world.ada);
        let World { seven_b, .. } = &app.world;
        let deletion = delete(&ada, &format!("/groups/{}", group.id)).await;
        let new = json!({"classId": seven_b.id, "name": "another", "groupNumber": 1});
        ada.post("/groups", new).await.expect(201);
        let restored = restore(&ada, &deletion).await;
        assert_eq!(restored["renumberedGroups"], 1);
        let shown = ada.get(&format!("/groups/{}", group.id)).await.expect(200);
        assert_eq!((&shown["groupNumber"], &shown["name"]), (&json!(2), &json!("group 1")));

        let deletion = delete(&ada, &format!("/courses/{}", seven_b.course)).await;
        let new = json!({"name": "Cells", "classId": seven_b.id, "subjectId": seven_b.subject});
        ada.post("/courses", new).await.expect(201);
        let restored = restore(&ada, &deletion).await;
        assert_eq!(restored["renamedTo"], "Cells (2)");
        let shown = ada.get(&format!("/courses/{}", seven_b.course)).await.expect(200);
        assert_eq!(shown["name"], "Cells (2)");
        assert_eq!(shown["groups"][0]["id"], json!(group.id));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_who_left_stay_out() {
    run_keeping(async |app| {
        let (_, group, _) = insert_rows(app, |rows| rows.lesson(1, None)).await;
        let World { seven_b, ben, adam, .. } = &app.world;
        let adam = app.as_(adam);
        let deletion = delete(&adam, &format!("/groups/{}", group.id)).await;
        adam.delete(&format!("/classes/{}/students/{}", seven_b.id, ben.id))
            .await
            .expect(200);
        assert_eq!(restore(&adam, &deletion).await["leftOut"], 1);
        let shown = adam.get(&format!("/groups/{}", group.id)).await.expect(200);
        assert_eq!(shown["members"], json!([]));

        // A whole class comes back without students who left the school.
        let deletion = delete(&adam, &format!("/classes/{}?force=1", seven_b.id)).await;
        let cem = &app.world.cem.id;
        adam.delete(&format!("/users/{cem}")).await.expect(200);
        let restored = restore(&adam, &deletion).await;
        assert!(restored["leftOut"].as_i64().unwrap() >= 1, "{restored}");
        let students = adam.get(&format!("/classes/{}/students", seven_b.id)).await.expect(200);
        assert!(!students.to_string().contains(cem.as_str()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_parent_is_named() {
    run_keeping(async |app| {
        let World { seven_b, adam, .. } = &app.world;
        let (adam, course) = (app.as_(adam), seven_b.course.clone());
        let (_, group, _) = insert_rows(app, move |rows| rows.lesson(1, Some(&course))).await;
        let of_group = delete(&adam, &format!("/groups/{}", group.id)).await;
        let of_course = delete(&adam, &format!("/courses/{}", seven_b.course)).await;
        let refused = refuse_restore(&adam, &of_group, 409, "PARENT_MISSING").await;
        assert_eq!(refused["details"][0]["code"], "course");
        assert_eq!(refused["details"][0]["message"], "Cells");
        let of_class = delete(&adam, &format!("/classes/{}?force=1", seven_b.id)).await;
        let refused = refuse_restore(&adam, &of_course, 409, "PARENT_MISSING").await;
        assert_eq!(refused["details"][0]["code"], "class");
        for deletion in [of_class, of_course, of_group] {
            restore(&adam, &deletion).await;
        }
        adam.get(&format!("/groups/{}", group.id)).await.expect(200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_on_a_topic_that_is_gone_stays_out() {
    run_keeping(async |app| {
        let (topic, group, _) = insert_rows(app, |rows| rows.lesson(1, None)).await;
        let ada = app.as_(&app.world.ada);
        let deletion = delete(&ada, &format!("/groups/{}", group.id)).await;
        delete(&ada, &format!("/assignments/{topic}")).await;
        let restored = restore(&ada, &deletion).await;
        assert!(restored["missing"].as_i64().unwrap() > 5, "{restored}");
        let room = ada.get(&format!("/workrooms/{}", group.room)).await.expect(200);
        for document in room["documents"].as_array().unwrap() {
            assert_eq!(
                (&document["status"], &document["assignmentId"]),
                (&json!("DRAFT"), &json!(null))
            );
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_those_who_may_see_and_restore_deletions() {
    run_keeping(async |app| {
        let World {
            seven_b,
            ada,
            adam,
            tom,
            ben,
            zoe,
            zara,
            ..
        } = &app.world;
        let (_, first, _) = insert_rows(app, |rows| rows.lesson(1, None)).await;
        let (_, second, _) = insert_rows(app, |rows| rows.lesson(2, None)).await;
        let (ada, adam) = (app.as_(ada), app.as_(adam));
        let of_ada = delete(&ada, &format!("/groups/{}", first.id)).await;
        let of_adam = delete(&adam, &format!("/groups/{}", second.id)).await;
        let listed = |list: Value| -> Vec<String> {
            let rows = list["data"].as_array().unwrap();
            rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(
            listed(adam.get("/deletions").await.expect(200)),
            [of_adam.clone(), of_ada.clone()]
        );
        let first_page = adam.get("/deletions?limit=1").await.expect(200);
        let cursor = first_page["nextCursor"].as_str().unwrap();
        let next = adam
            .get(&format!("/deletions?limit=1&cursor={cursor}"))
            .await
            .expect(200);
        assert_eq!(
            (listed(first_page.clone()), listed(next)),
            (vec![of_adam.clone()], vec![of_ada.clone()])
        );
        assert_eq!(
            listed(ada.get("/deletions").await.expect(200)),
            std::slice::from_ref(&of_ada)
        );
        for stranger in [tom, zoe, zara] {
            let stranger = app.as_(stranger);
            assert!(listed(stranger.get("/deletions").await.expect(200)).is_empty());
            refuse_restore(&stranger, &of_ada, 404, "NOT_FOUND").await;
            stranger
                .delete(&format!("/deletions/{of_ada}"))
                .await
                .refused(404, "NOT_FOUND");
        }
        app.as_(ben).get("/deletions").await.refused(403, "FORBIDDEN_ROLE");
        refuse_restore(&ada, &of_adam, 404, "NOT_FOUND").await;
        // A teacher who no longer manages the class does not restore what was deleted in it.
        let path = format!("/classes/{}", seven_b.id);
        adam.patch(&path, json!({"teacherId": app.world.tom.id}))
            .await
            .expect(200);
        refuse_restore(&ada, &of_ada, 404, "NOT_FOUND").await;
        adam.delete(&format!("/deletions/{of_ada}?dryRun=1")).await.expect(200);
        adam.delete(&format!("/deletions/{of_ada}")).await.expect(200);
        refuse_restore(&adam, &of_ada, 404, "NOT_FOUND").await;
        // Expired, but not removed yet.
        execute(&app.database, "UPDATE deletion_archives SET expires_at = 1".to_owned()).await;
        refuse_restore(&adam, &of_adam, 404, "NOT_FOUND").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn teacher_restores_document_that_a_student_deleted() {
    run_keeping(async |app| {
        let document = insert_rows(app, |rows| {
            let group = rows.group(1, None);
            rows.document(&group, None)
        })
        .await;
        let deletion = delete(&app.as_(&app.world.ben), &format!("/workrooms/documents/{document}")).await;
        let ada = app.as_(&app.world.ada);
        let list = ada.get("/deletions").await.expect(200);
        let row = &list["data"][0];
        assert_eq!(
            (&row["noun"], &row["name"], &row["deletedBy"]["id"], &row["groupName"]),
            (
                &json!("DOCUMENT"),
                &json!("Page"),
                &json!(app.world.ben.id),
                &json!("group 1")
            )
        );
        restore(&ada, &deletion).await;
        let path = format!("/workrooms/documents/{document}");
        app.as_(&app.world.ben).get(&path).await.expect(200);
        // It can be deleted again.
        let again = delete(&app.as_(&app.world.ben), &path).await;
        restore(&ada, &again).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_archive_is_refused_and_changes_nothing() {
    run_keeping(async |app| {
        let (_, group, _) = insert_rows(app, |rows| rows.lesson(1, None)).await;
        let adam = app.as_(&app.world.adam);
        let deletion = delete(&adam, &format!("/groups/{}", group.id)).await;
        let content = texts(&app.database, "SELECT content FROM deletion_archive_chunks".to_owned()).await;
        let content = content[0].clone().unwrap();
        let middle = content.len() / 2;
        for position in [0, middle, content.len() - 4] {
            let flipped = if content.as_bytes()[position] == b'A' { 'B' } else { 'A' };
            let damaged = format!("{}{flipped}{}", &content[..position], &content[position + 1..]);
            execute(
                &app.database,
                format!("UPDATE deletion_archive_chunks SET content = '{damaged}'"),
            )
            .await;
            let before = fingerprints(&app.database).await;
            refuse_restore(&adam, &deletion, 409, "ARCHIVE_DAMAGED").await;
            assert_eq!(fingerprints(&app.database).await, before);
        }
        execute(
            &app.database,
            format!("UPDATE deletion_archive_chunks SET content = '{content}'"),
        )
        .await;
        let seal = "UPDATE deletion_archives SET manifest = REPLACE(manifest, '\"version\":1', '\"version\":0')";
        execute(&app.database, seal.to_owned()).await;
        refuse_restore(&adam, &deletion, 409, "ARCHIVE_DAMAGED").await;
        let seal = seal.replace("1'", "x'").replace("0'", "1'").replace("x'", "0'");
        execute(&app.database, seal).await;
        restore(&adam, &deletion).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_kept_until_the_archive_goes() {
    run_keeping(async |app| {
        let ada = app.as_(&app.world.ada);
        let new = json!({"classId": app.world.seven_b.id, "name": "files"});
        let group = ada.post("/groups", new).await.expect(201)["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let uploaded = ada
            .upload(
                &format!("/groups/{group}/attachments"),
                "plan.txt",
                b"the plan".to_vec(),
                &[],
            )
            .await
            .expect(201);
        let attachment = uploaded["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{uploaded}"))
            .to_owned();
        let path = format!("/groups/{group}/attachments/{attachment}/download");
        let removals = || async {
            texts(&app.database, "SELECT file_key FROM file_removals".to_owned())
                .await
                .len()
        };
        let deletion = delete(&ada, &format!("/groups/{group}")).await;
        assert_eq!(removals().await, 0);
        let (store, files) = (app.app.store(), app.app.files());
        file_removal::remove_batch(store, files).await.unwrap();
        restore(&ada, &deletion).await;
        assert_eq!(ada.get(&path).await.bytes, b"the plan");

        let deletion = delete(&ada, &format!("/groups/{group}")).await;
        let key = texts(&app.database, "SELECT file_key FROM deletion_archive_files".to_owned()).await[0]
            .clone()
            .unwrap();
        let key = domain::file::FileKey::new(key);
        let later = |days: i64| clock::now().plus_seconds(days * 86_400);
        file_removal::expire_archives(store, later(29)).await.unwrap();
        assert!(files.open(&key).await.is_ok());
        file_removal::expire_archives(store, later(31)).await.unwrap();
        assert_eq!(removals().await, 1);
        execute(&app.database, "UPDATE file_removals SET next_attempt_at = 1".to_owned()).await;
        file_removal::remove_batch(store, files).await.unwrap();
        assert!(files.open(&key).await.is_err(), "the file is gone");
        refuse_restore(&ada, &deletion, 404, "NOT_FOUND").await;
        for table in [
            "deletion_archives",
            "deletion_archive_chunks",
            "deletion_archive_files",
            "deletion_archive_people",
        ] {
            let left = texts(&app.database, format!("SELECT CAST(COUNT(*) AS TEXT) FROM {table}")).await;
            assert_eq!(left, [Some("0".to_owned())], "{table}");
        }
    })
    .await;
}

/// Returns all texts in the archives.
async fn archived_texts(app: &TestApp) -> Vec<String> {
    let chunks = texts(&app.database, "SELECT content FROM deletion_archive_chunks".to_owned()).await;
    let mut found = Vec::new();
    for chunk in chunks.into_iter().flatten() {
        read_chunk(&chunk, |row| {
            let texts = row.cells.iter().filter_map(|cell| match cell {
                Cell::Text(text) => Some(format!("{}: {text}", row.header.table)),
                _ => None,
            });
            found.extend(texts);
            Ok(())
        })
        .unwrap();
    }
    found
}

/// A text in an archive.
struct ArchivedText {
    archive: String,
    /// The table of the schema.
    table: &'static str,
    column: String,
    text: String,
}

/// Returns the texts in the archives that contain a text.
async fn archived_texts_with(app: &TestApp, needle: &str) -> Vec<ArchivedText> {
    let chunks = "SELECT archive_id || ' ' || content FROM deletion_archive_chunks".to_owned();
    let mut found = Vec::new();
    for chunk in texts(&app.database, chunks).await.into_iter().flatten() {
        let (archive, content) = chunk.split_once(' ').unwrap();
        read_chunk(content, |row| {
            let table = ArchivedTable::find(&row.header.table).unwrap().table;
            for ((column, _), cell) in row.header.columns.iter().zip(&row.cells) {
                if let Cell::Text(text) = cell
                    && text.to_lowercase().contains(&needle.to_lowercase())
                {
                    found.push(ArchivedText {
                        archive: archive.to_owned(),
                        table,
                        column: column.clone(),
                        text: text.clone(),
                    });
                }
            }
            Ok(())
        })
        .unwrap();
    }
    found
}

/// Fails unless a user is listed as a person of each archive that contains the id of the user.
async fn assert_listed(app: &TestApp, user: &str, at_least: usize) {
    let found = archived_texts_with(app, user).await;
    let archives: BTreeSet<String> = found.into_iter().map(|text| text.archive).collect();
    let listed = format!("SELECT archive_id FROM deletion_archive_people WHERE user_id = '{user}'");
    let listed: BTreeSet<String> = texts(&app.database, listed).await.into_iter().flatten().collect();
    assert_eq!(listed, archives, "{user}");
    assert!(archives.len() >= at_least, "{user} is in no archive");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn archives_list_all_users_whose_ids_they_contain_and_erasure_keeps_only_ids() {
    run_keeping(async |app| {
        let canary = CanaryUser::create(app).await;
        let World {
            seven_b,
            ben,
            dana,
            finn,
            tom,
            cem,
            adam,
            ..
        } = &app.world;
        let adam = app.as_(adam);
        // Each of them is named in one kind of columns only.
        for statement in [
            format!(
                "UPDATE documents SET created_by_id = '{}', last_edited_by = '{}'",
                dana.id, ben.id
            ),
            format!(
                "UPDATE document_revisions SET editors = '[]', history = '{{\"changes\": [{{\"userId\": \"{}\"}}]}}'",
                finn.id
            ),
            format!(
                "UPDATE submission_documents SET authorship = '{{\"a\": [\"{}\"]}}'",
                tom.id
            ),
        ] {
            execute(&app.database, statement).await;
        }
        delete(&adam, &format!("/assignments/{}?force=1", canary.lesson.assignment)).await;
        delete(&adam, &format!("/classes/{}?force=1", seven_b.id)).await;
        let released = archived_texts_with(app, &dana.id).await;
        assert!(
            released.iter().any(|text| text.table == "documents"),
            "the former state of a document"
        );
        for (user, at_least) in [(ben, 2), (dana, 2), (finn, 1), (tom, 1), (cem, 0)] {
            assert_listed(app, &user.id, at_least).await;
        }

        for user in [ben, dana] {
            adam.post("/admin/gdpr/erase", json!({"userId": user.id}))
                .await
                .expect(200);
        }
        let named = archived_texts_with(app, BEN).await;
        assert!(
            named.is_empty(),
            "{} {}: {}",
            named[0].table,
            named[0].column,
            named[0].text
        );
        let name = archived_texts_with(app, &dana.name).await;
        assert!(
            name.is_empty(),
            "{} {}: {}",
            name[0].table,
            name[0].column,
            name[0].text
        );
        // As in present rows, ids of the cleared account remain.
        for text in [
            archived_texts_with(app, &ben.id).await,
            archived_texts_with(app, &dana.id).await,
        ]
        .into_iter()
        .flatten()
        {
            let is_kept = MAP.iter().any(|mapped| {
                (mapped.table, mapped.column) == (text.table, text.column.as_str())
                    && matches!(mapped.holds, PersonalDataKind::Id | PersonalDataKind::Ids)
                    && mapped.erasure == ErasureEffect::Kept
            });
            assert!(is_kept, "{} {}: {}", text.table, text.column, text.text);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn erasure_reaches_archives() {
    run_keeping(async |app| {
        CanaryUser::create(app).await;
        let World { seven_b, ben, adam, .. } = &app.world;
        let adam = app.as_(adam);
        let deletion = delete(&adam, &format!("/classes/{}?force=1", seven_b.id)).await;
        let before = archived_texts(app).await;
        assert!(
            before.iter().any(|text| text.contains("BENMARK-chat")),
            "the archive has the user's messages"
        );
        assert!(before.iter().any(|text| text.contains("OTHERMARK-chat")));
        let body = json!({"userId": ben.id, "dryRun": true});
        let preview = adam.post("/admin/gdpr/erase", body).await.expect(200);
        assert_eq!(preview["erased"]["deletedItems"], 1);
        let body = json!({"userId": ben.id});
        adam.post("/admin/gdpr/erase", body).await.expect(200);
        let after = archived_texts(app).await;
        let named: Vec<&String> = after.iter().filter(|text| text.to_lowercase().contains(BEN)).collect();
        assert!(named.is_empty(), "{named:?}");
        assert!(after.iter().any(|text| text.contains("OTHERMARK-chat")));
        let people = format!(
            "SELECT archive_id FROM deletion_archive_people WHERE user_id = '{}'",
            ben.id
        );
        assert!(texts(&app.database, people).await.is_empty());
        restore(&adam, &deletion).await;
        let everything = test_support::canary_user::everything(app).await;
        let named: Vec<&String> = everything
            .iter()
            .filter(|row| row.to_lowercase().contains(BEN))
            .collect();
        assert!(named.is_empty(), "{named:?}");
        assert!(everything.iter().any(|row| row.contains("OTHERMARK-chat")));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn erasure_removes_bytes_of_archives_from_the_database_file() {
    let flags = ["--deleted-retention-days=30"];
    let app = TestApp::start_with(DatabaseKind::Sqlite, &flags).await.unwrap();
    let canary = CanaryUser::create(&app).await;
    drop(canary);
    let adam = app.as_(&app.world.adam);
    delete(&adam, &format!("/classes/{}?force=1", app.world.seven_b.id)).await;
    let chunk = async || {
        let chunks = texts(&app.database, "SELECT content FROM deletion_archive_chunks".to_owned()).await;
        chunks.into_iter().flatten().collect::<String>()
    };
    let db::Database::Sqlite(path) = app.database.clone() else {
        unreachable!()
    };
    let file = async || {
        test_support::until("the write-ahead log is empty", async || {
            app.app.store().checkpoint().await.is_ok()
        })
        .await;
        std::fs::read(&path).unwrap()
    };
    let holds = |file: &[u8], needle: &str| file.windows(needle.len()).any(|window| window == needle.as_bytes());
    let (former, file_before) = (chunk().await, file().await);
    let body = json!({"userId": app.world.ben.id});
    adam.post("/admin/gdpr/erase", body).await.expect(200);
    let (present, file_after) = (chunk().await, file().await);
    // Pieces of the former content that are not in the present one. Page boundaries of the file split some of them.
    let pieces = (0..former.len().saturating_sub(48))
        .step_by(16)
        .map(|start| &former[start..start + 48]);
    let gone = pieces.filter(|piece| !present.contains(piece) && holds(&file_before, piece));
    let gone: Vec<&str> = gone.collect();
    assert!(!gone.is_empty(), "the former rows are found while they are there");
    let left: Vec<&&str> = gone.iter().filter(|piece| holds(&file_after, piece)).collect();
    assert!(left.is_empty(), "the former rows are overwritten: {left:?}");
    assert!(!holds(&file_after, "BENMARK"));
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn export_of_personal_data_lists_deletions() {
    run_keeping(async |app| {
        let (_, group, _) = insert_rows(app, |rows| rows.lesson(1, None)).await;
        delete(&app.as_(&app.world.ada), &format!("/groups/{}", group.id)).await;
        let table = db::gdpr::export_tables::TABLES
            .iter()
            .find(|table| table.name == "deleted-items")
            .unwrap();
        let context = app
            .request_context(
                &app.world.north,
                &app.world.ben.id,
                test_support::request_context::ViewedAs::Admin,
                clock::now(),
            )
            .await;
        let ben = domain::id::UserId::new(&app.world.ben.id);
        let page = app
            .app
            .store()
            .read(context, move |tx| tx.organization_export_page(table, &ben, ""))
            .await
            .unwrap();
        assert_eq!(page.rows.len(), 1);
        assert_eq!(page.rows[0]["noun"], "GROUP");
        assert!(page.rows[0]["mentions"].as_i64().unwrap() > 5);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storage_usage_counts_deleted_files() {
    run_keeping(async |app| {
        let (_, group, _) = insert_rows(app, |rows| rows.lesson(1, None)).await;
        let adam = app.as_(&app.world.adam);
        let count = async || {
            let store = app.app.store();
            let reason = db::platform::CrossTenantReason::Housekeeping;
            let north = domain::id::OrganizationId::new(&app.world.north);
            let tenant = store
                .platform_read(reason, move |platform| platform.tenant(&north))
                .await
                .unwrap();
            service::jobs::storage_usage::count(store, app.app.files(), tenant)
                .await
                .unwrap()
        };
        let before = count().await;
        let deletion = delete(&adam, &format!("/groups/{}", group.id)).await;
        let after = count().await;
        assert_eq!(after.total_bytes, before.total_bytes);
        assert!(after.kinds.deleted > 0 && before.kinds.deleted == 0);
        adam.delete(&format!("/deletions/{deletion}")).await.expect(200);
        assert_eq!(count().await.kinds.deleted, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_of_a_deletion_do_not_grow_with_groups() {
    run_keeping(async |app| {
        let ada = app.as_(&app.world.ada);
        let World { seven_b, .. } = &app.world;
        let mut counted = Vec::new();
        for (name, numbers) in [("Small", 1..=3), ("Large", 11..=40)] {
            let new = json!({"name": name, "classId": seven_b.id, "subjectId": seven_b.subject});
            let course = ada.post("/courses", new).await.expect(201)["id"]
                .as_str()
                .unwrap()
                .to_owned();
            let (id, groups) = (course.clone(), numbers.clone().count());
            insert_rows(app, move |rows| {
                for number in numbers {
                    rows.lesson(number, Some(&id));
                }
            })
            .await;
            let store = app.app.store();
            let before = store.write_statement_count();
            let deleted = ada.delete(&format!("/courses/{course}")).await.expect(200);
            let of_deletion = store.write_statement_count() - before;
            let deletion = deleted["deletionId"].as_str().unwrap();
            let before = store.write_statement_count();
            restore(&ada, deletion).await;
            counted.push((groups, of_deletion, store.write_statement_count() - before));
        }
        println!("groups, statements of the deletion and of the restore: {counted:?}");
        let [(3, small, _), (30, large, of_restore)] = counted[..] else {
            unreachable!()
        };
        // The files are inserted 25 at a time; a group of a lesson has 12.
        assert!(large < small + 60, "{counted:?}");
        // Rows are inserted 25 at a time; a group of a lesson has about 60.
        assert!(of_restore < 30 * 12, "{counted:?}");
    })
    .await;
}

/// Columns that migrations added to archived tables, which archives before them lack.
const ADDED_COLUMNS: [&str; 4] = [
    "includes_shared_text",
    "follows_homeroom",
    "from_homeroom",
    "text_characters",
];

/// Tables that migrations added to archives, which archives before them lack.
const ADDED_TABLES: [&str; 1] = ["comment_reads"];

/// Rewrites the only archive as a release wrote it whose tables had these columns.
async fn rewrite_archive(app: &TestApp, headers: &[RowHeader]) {
    let query = "SELECT content FROM deletion_archive_chunks ORDER BY number";
    let chunks = texts(&app.database, query.to_owned()).await;
    let mut encoder = ChunkEncoder::default();
    for chunk in chunks.into_iter().flatten() {
        read_chunk(&chunk, |row| {
            if ADDED_TABLES.contains(&row.header.table.as_str()) {
                return Ok(());
            }
            let is_same = |header: &&RowHeader| header.table == row.header.table;
            let header = headers.iter().find(is_same).expect("a header of the table");
            let names = header.columns.iter().map(|(name, _)| name);
            let cells = names.map(|name| row.get(name).cloned().unwrap_or(Cell::Null));
            encoder.push(header, &cells.collect::<Vec<_>>()).map(drop)
        })
        .unwrap();
        let (number, content) = encoder.take_chunk().unwrap();
        let update = format!("UPDATE deletion_archive_chunks SET content = '{content}' WHERE number = {number}");
        execute(&app.database, update).await;
    }
    let column = async |name: &str| {
        let query = format!("SELECT {name} FROM deletion_archives WHERE restored_at IS NULL");
        texts(&app.database, query).await.remove(0).unwrap()
    };
    let mut manifest = ArchiveManifest::open(&column("manifest").await, &column("seal").await).unwrap();
    manifest.sha256 = encoder.sha256();
    let (text, seal) = manifest.sealed().unwrap();
    let text = text.replace('\'', "''");
    let update = format!("UPDATE deletion_archives SET manifest = '{text}', seal = '{seal}' WHERE restored_at IS NULL");
    execute(&app.database, update).await;
}

/// `headers_of_0082.jsonl` has the columns in the order in which the release with migration 82 archived them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn archives_of_older_releases_are_restored() {
    let headers = include_str!("archives/headers_of_0082.jsonl").lines();
    let headers: Vec<RowHeader> = headers.map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut older = headers.clone();
    for header in &mut older {
        header
            .columns
            .retain(|(name, _)| !ADDED_COLUMNS.contains(&name.as_str()));
    }
    run_keeping(async |app| {
        let course = app.world.seven_b.course.clone();
        insert_rows(app, move |rows| {
            rows.lesson(1, Some(&course));
            rows.lesson(2, None);
            rows.announcement();
        })
        .await;
        let adam = app.as_(&app.world.adam);
        let before = content(app).await;
        for headers in [&headers, &older] {
            let deletion = delete(&adam, &format!("/classes/{}?force=1", app.world.seven_b.id)).await;
            rewrite_archive(app, headers).await;
            restore(&adam, &deletion).await;
            let restored = content(app).await.into_iter();
            for (table, rows) in restored.filter(|(table, _)| !ADDED_TABLES.contains(table)) {
                assert_eq!(rows, before[table], "{table}");
            }
        }
    })
    .await;
}
