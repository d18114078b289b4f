//! The database and the file storage belong together: a service with the database of another installation, or with
//! another storage, does not start and touches no file. Files in the quarantine can be restored.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use db::Database;
use domain::file::FileKey;
use serde_json::json;

use test_support::fake_s3::FakeS3;
use test_support::rows::{execute, texts};
use test_support::{Client, DatabaseKind, ServerEnv, ServerProcess, World, database, office};

const RECORDED: &str = "SELECT value FROM settings WHERE name = 'storage'";

/// Creates an environment with one school.
async fn school(kind: DatabaseKind) -> Option<(ServerEnv, World)> {
    let env = ServerEnv::new(kind)?;
    let world = World::create(&env.store().await, &env.database).await;
    Some((env, world))
}

async fn start(env: &mut ServerEnv) -> ServerProcess {
    let mut service = tokio::task::block_in_place(|| env.start("serve"));
    service.ready().await;
    service
}

/// Uploads `count` documents.
async fn upload(service: &ServerProcess, world: &World, count: usize) {
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    let group = json!({"classId": world.seven_b.id, "memberIds": [world.ben.id]});
    let group = ada.post("/groups", group).await.expect(201);
    let path = format!("/workrooms/{}/documents", group["workRoomId"].as_str().unwrap());
    let ben = Client::new(&service.base, Some(world.ben.cookie.clone()));
    for number in 0..count {
        let name = format!("{number}.docx");
        ben.upload(&path, &name, office::docx(&name), &[]).await.expect(201);
    }
}

/// Returns the paths of all files below `files/`, including the quarantine.
fn stored_files(files: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![files.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(files).unwrap().display().to_string());
            }
        }
    }
    found
}

fn expect_start_rejected(env: &mut ServerEnv, extra: &[(&str, &str)], why: &str) {
    let log = tokio::task::block_in_place(|| env.try_start("serve", extra).err());
    let log = log.expect("it started");
    assert!(log.contains(why) && log.contains("do not belong together"), "{log}");
}

fn run(env: &ServerEnv, arguments: &[&str]) -> (bool, String) {
    let output = env.command(arguments, &[]).output().unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(words).unwrap())
}

async fn other_database_touches_no_file(kind: DatabaseKind) {
    let Some((mut env, world)) = school(kind).await else {
        return;
    };
    let service = start(&mut env).await;
    upload(&service, &world, 3).await;
    service.stop();
    let files = env.folder().join("files");
    let before = stored_files(&files);
    assert_eq!(before.len(), 4, "three documents and the marker: {before:?}");

    // The database of another school, and an empty database.
    let empty = match kind {
        DatabaseKind::Postgres => {
            let Database::Postgres(url) = database::empty().unwrap() else {
                unreachable!()
            };
            expect_start_rejected(&mut env, &[("DATABASE_URL", &url)], "marker of another installation");
            Database::Postgres(url)
        }
        DatabaseKind::Sqlite => {
            for end in ["db", "db-wal", "db-shm"] {
                let (from, to) = (format!("groupwork.{end}"), format!("kept.{end}"));
                drop(std::fs::rename(env.folder().join(from), env.folder().join(to)));
            }
            expect_start_rejected(&mut env, &[], "marker of another installation");
            Database::Sqlite(env.folder().join("groupwork.db"))
        }
    };
    // The same for a storage without a marker: it has files, and the database references none.
    std::fs::remove_dir_all(files.join("installation")).unwrap();
    let url = match &empty {
        Database::Postgres(url) => url.clone(),
        Database::Sqlite(_) => String::new(),
    };
    let extra = [("DATABASE_URL", url.as_str())];
    let extra = if kind == DatabaseKind::Postgres {
        &extra[..]
    } else {
        &[]
    };
    expect_start_rejected(&mut env, extra, "files and the database names none");
    let mut left = stored_files(&files);
    left.insert("installation/id".to_owned());
    assert_eq!(left, before, "a file was moved");

    // With its own database the storage is adopted, because it contains a file that a row references.
    if kind == DatabaseKind::Sqlite {
        for end in ["db", "db-wal", "db-shm"] {
            let (from, to) = (format!("kept.{end}"), format!("groupwork.{end}"));
            drop(std::fs::remove_file(env.folder().join(&to)));
            drop(std::fs::rename(env.folder().join(from), env.folder().join(to)));
        }
    }
    start(&mut env).await.stop();
    assert_eq!(stored_files(&files), before);
    let recorded = texts(&env.database, RECORDED.to_owned()).await[0].clone().unwrap();
    let marker = std::fs::read_to_string(files.join("installation/id")).unwrap();
    assert_eq!(marker.lines().next(), Some(recorded.as_str()));
    // An older release recorded no installation.
    execute(&env.database, "DELETE FROM settings WHERE name = 'storage'".to_owned()).await;
    std::fs::remove_dir_all(files.join("installation")).unwrap();
    start(&mut env).await.stop();
    assert!(files.join("installation/id").exists());
    if kind == DatabaseKind::Postgres {
        database::drop_postgres(&empty);
    }
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_with_other_database_rejects_storage_on_sqlite() {
    other_database_touches_no_file(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_with_other_database_rejects_storage_on_postgres() {
    other_database_touches_no_file(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storage_of_other_installation_prevents_start() {
    let (mut env, world) = school(DatabaseKind::Sqlite).await.unwrap();
    let bucket = FakeS3::open().await;
    for (name, value) in bucket.settings() {
        env.set(&name, &value);
    }
    let service = start(&mut env).await;
    upload(&service, &world, 2).await;
    service.stop();
    let marker = std::fs::read_to_string(bucket.folder("files/installation/id")).unwrap();
    let recorded = texts(&env.database, RECORDED.to_owned()).await[0].clone().unwrap();
    assert_eq!(marker.lines().next(), Some(recorded.as_str()));

    env.set("FILES_URL", "");
    expect_start_rejected(&mut env, &[], "none of those that were looked for");
    for command in [&["backup", "x.backup"][..], &["scrub"], &["doctor"]] {
        let (is_done, words) = run(&env, command);
        assert!(
            !is_done && words.contains("do not belong together"),
            "{command:?}: {words}"
        );
    }
    assert!(!env.folder().join("x.backup").exists());

    // The right address without a server: the service starts and is not ready. The server that then starts holds
    // another storage.
    env.set("FILES_URL", "s3://school/work");
    let other = "0-of-another-installation\n";
    std::fs::write(bucket.folder("files/installation/id"), other).unwrap();
    bucket.faults.closes_connections.store(true, Ordering::SeqCst);
    let service = tokio::task::block_in_place(|| env.start("serve"));
    let http = test_support::http_client().build().unwrap();
    let status = async || {
        let url = format!("{}/api/health/ready", service.base);
        http.get(url).send().await.unwrap().status().as_u16()
    };
    assert_eq!(status().await, 503);
    bucket.clear_faults();
    let log = || service.log();
    until(async || log().contains("file storage rejected")).await;
    assert_eq!(status().await, 503);
    std::fs::write(bucket.folder("files/installation/id"), marker).unwrap();
    until(async || status().await == 200).await;
    service.stop();

    // The override for an operator who has checked the storage.
    std::fs::write(bucket.folder("files/installation/id"), other).unwrap();
    expect_start_rejected(&mut env, &[], "marker of another installation");
    let adopt = async |env: &ServerEnv| {
        let mut command = tokio::process::Command::from(env.command(&["scrub", "--adopt-storage"], &[]));
        command.output().await.unwrap().status.success()
    };
    assert!(adopt(&env).await);
    start(&mut env).await.stop();
}

async fn until(is_so: impl AsyncFn() -> bool) {
    for _ in 0..1_200 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not come about");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restore_writes_new_storage_marker() {
    let (mut env, world) = school(DatabaseKind::Sqlite).await.unwrap();
    let service = start(&mut env).await;
    upload(&service, &world, 2).await;
    service.stop();
    let file = env.folder().join("x.backup");
    let file = file.to_str().unwrap();
    assert!(run(&env, &["backup", file]).0);
    let mut elsewhere = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (is_done, words) = run(&elsewhere, &["restore", file, "--yes"]);
    assert!(is_done, "{words}");
    let id = |env: &ServerEnv| std::fs::read_to_string(env.folder().join("files/installation/id")).unwrap();
    assert_ne!(id(&env), id(&elsewhere));
    start(&mut elsewhere).await.stop();
    // The marker of the original installation in the copy is rejected.
    let marker = elsewhere.folder().join("files/installation/id");
    std::fs::write(marker, id(&env)).unwrap();
    expect_start_rejected(&mut elsewhere, &[], "marker of another installation");
    // A restore into an empty storage that another service uses is rejected.
    let third = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    std::fs::create_dir_all(third.folder().join("files/installation")).unwrap();
    std::fs::write(third.folder().join("files/installation/id"), id(&env)).unwrap();
    let (is_done, words) = run(&third, &["restore", file, "--yes"]);
    assert!(!is_done && words.contains("marker of another installation"), "{words}");
}

both!(orphan_sweep_above_its_limit_removes_nothing, |app| {
    let (store, files) = (app.app.store(), app.app.files());
    let keep = async |number: usize| {
        let mut staging = files.stage(100);
        staging.write(b"without a row").await.unwrap();
        let key = FileKey::new(format!("orphan-{number}.docx"));
        files.commit(staging.finish().await.unwrap(), &key).await.unwrap();
    };
    let later = common::clock::now().plus_seconds(3_600);
    for number in 0..21 {
        keep(number).await;
    }
    let expect_start_rejected = service::jobs::orphaned_files::sweep(store, files, later).await;
    let why = format!("{:?}", expect_start_rejected.unwrap_err());
    assert!(why.contains("21 or more of 21 files have no row"), "{why}");
    assert!(!app.folder().join("files/quarantine").exists());
    files.remove(&FileKey::new("orphan-0.docx")).await.unwrap();
    let swept = service::jobs::orphaned_files::sweep(store, files, later).await;
    assert_eq!(swept.unwrap(), 20);
    assert_eq!(files.list_quarantined().await.unwrap().len(), 20);
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrub_restores_referenced_files_from_quarantine() {
    for in_bucket in [false, true] {
        let (mut env, world) = school(DatabaseKind::Sqlite).await.unwrap();
        let bucket = FakeS3::open().await;
        if in_bucket {
            for (name, value) in bucket.settings() {
                env.set(&name, &value);
            }
        }
        let service = start(&mut env).await;
        upload(&service, &world, 3).await;
        service.stop();
        // The state that a sweep with a wrong database left in an earlier release.
        let (files, quarantine) = if in_bucket {
            (bucket.folder("files"), bucket.folder("quarantine"))
        } else {
            (env.folder().join("files"), env.folder().join("files/quarantine"))
        };
        std::fs::create_dir_all(&quarantine).unwrap();
        for file in stored_files(&files)
            .iter()
            .filter(|file| !file.starts_with("installation"))
        {
            let path = files.join(file);
            std::fs::rename(&path, quarantine.join(path.file_name().unwrap())).unwrap();
        }
        std::fs::write(quarantine.join("nobody.docx"), "x").unwrap();
        let scrub = async |arguments: &[&str]| {
            let mut command = tokio::process::Command::from(env.command(arguments, &[]));
            let output = command.output().await.unwrap();
            (
                output.status.success(),
                String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
            )
        };
        let (is_done, words) = scrub(&["scrub"]).await;
        assert!(!is_done && words.contains("3 missing"), "{words}");
        let (is_done, words) = scrub(&["scrub", "--restore-quarantine"]).await;
        assert!(
            is_done && words.contains("3 files brought back from the quarantine; 1 stay without a row"),
            "{words}"
        );
        assert!(words.contains("0 missing, 0 damaged"), "{words}");
        let left: Vec<_> = std::fs::read_dir(&quarantine)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["nobody.docx"]);
        env.close();
    }
}

/// Uploads a document; returns its id.
async fn document(service: &ServerProcess, world: &World, room: &str, text: &str) -> String {
    let ben = Client::new(&service.base, Some(world.ben.cookie.clone()));
    let path = format!("/workrooms/{room}/documents");
    let made = ben.upload(&path, "essay.docx", office::docx(text), &[]).await;
    made.expect(201)["id"].as_str().unwrap().to_owned()
}

async fn expect_content(service: &ServerProcess, world: &World, id: &str, text: &str) {
    let ben = Client::new(&service.base, Some(world.ben.cookie.clone()));
    let content = ben.get(&format!("/workrooms/documents/{id}/download")).await;
    assert_eq!(content.status, 200, "{text}");
    assert_eq!(content.bytes, office::docx(text), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_move_to_another_storage_while_the_service_runs() {
    let (mut env, world) = school(DatabaseKind::Sqlite).await.unwrap();
    let service = start(&mut env).await;
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    let group = json!({"classId": world.seven_b.id, "memberIds": [world.ben.id]});
    let group = ada.post("/groups", group).await.expect(201);
    let room = group["workRoomId"].as_str().unwrap();
    let old = document(&service, &world, room, "before").await;
    let deleted = document(&service, &world, room, "deleted").await;
    service.stop();
    let files = env.folder().join("files");

    let bucket = FakeS3::open().await;
    for (name, value) in bucket.settings() {
        env.set(&name, &value);
    }
    let (is_done, words) = run(&env, &["files", "move"]);
    assert!(!is_done && words.contains("FILES_FALLBACK_URL is not set"), "{words}");
    env.set("FILES_FALLBACK_URL", "s3://school/work");
    let (_, words) = run(&env, &["config", "check"]);
    assert!(words.contains("another storage than that of FILES_URL"), "{words}");
    env.set("FILES_FALLBACK_URL", "disk");
    let (_, words) = run(&env, &["doctor"]);
    assert!(words.contains("belongs to the database"), "{words}");
    let service = start(&mut env).await;
    let new = document(&service, &world, room, "after").await;
    for (id, text) in [(&old, "before"), (&new, "after"), (&deleted, "deleted")] {
        expect_content(&service, &world, id, text).await;
    }
    assert_eq!(stored_files(&files).len(), 3, "the new file is in the bucket alone");
    let ben = Client::new(&service.base, Some(world.ben.cookie.clone()));
    ben.delete(&format!("/workrooms/documents/{deleted}")).await.expect(200);
    until(async || stored_files(&files).len() == 2).await;

    // A damaged file is named and stays where it is; the others are moved.
    let key = stored_files(&files)
        .into_iter()
        .find(|file| !file.starts_with("installation"))
        .unwrap();
    let whole = std::fs::read(files.join(&key)).unwrap();
    std::fs::write(files.join(&key), b"damaged").unwrap();
    let (is_done, words) = run(&env, &["files", "move"]);
    assert!(
        !is_done && words.contains("0 files copied, 1 were there, 1 failed"),
        "{words}"
    );
    std::fs::write(files.join(&key), whole).unwrap();
    let (is_done, words) = run(&env, &["files", "move"]);
    assert!(
        is_done && words.contains("1 files copied, 1 were there, 0 failed"),
        "{words}"
    );
    let (is_done, words) = run(&env, &["files", "move"]);
    assert!(is_done && words.contains("0 files copied, 2 were there"), "{words}");
    service.stop();

    env.set("FILES_FALLBACK_URL", "");
    std::fs::remove_dir_all(&files).unwrap();
    let service = start(&mut env).await;
    expect_content(&service, &world, &old, "before").await;
    expect_content(&service, &world, &new, "after").await;
    service.stop();
    let (is_done, words) = run(&env, &["scrub"]);
    assert!(is_done && words.contains("0 missing, 0 damaged"), "{words}");
    env.close();
}
