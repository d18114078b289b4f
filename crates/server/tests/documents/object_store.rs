//! Documents with files in an object store behave as with files on a disk. When the store is unavailable or slow, no
//! save is acknowledged that is not stored, and requests that need no file are not affected (checks F7 and E4).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use test_support::archive_entries::read_archive;
use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::fake_s3::FakeS3;
use test_support::{DatabaseKind, size};

/// Maximum time that a test waits for an event on a busy machine.
const WAIT_TIMEOUT: Duration = test_support::WAIT_TIMEOUT;

/// Polls until the condition is true.
pub async fn eventually(mut is_so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < WAIT_TIMEOUT, "it did not happen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn start_with_bucket(kind: DatabaseKind, bucket: &FakeS3) -> Option<DocumentServerFixture> {
    let flags = bucket.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    DocumentServerFixture::start(kind, &flags).await
}

async fn documents_work_with_object_store(kind: DatabaseKind) {
    let bucket = FakeS3::open().await;
    let Some(fixture) = start_with_bucket(kind, &bucket).await else {
        return;
    };
    let world = &fixture.app.world;
    let (ben, ada) = (fixture.app.as_(&world.ben), fixture.app.as_(&world.ada));

    // Upload and download, whole and by range.
    let room = format!("/workrooms/{}/documents", fixture.room);
    let made = ben
        .upload(&room, "a.txt", b"0123456789".to_vec(), &[])
        .await
        .expect(201);
    let download = path(made["id"].as_str().unwrap(), "/download");
    let whole = ben.get(&download).await;
    assert_eq!((whole.status, whole.bytes.as_slice()), (200, b"0123456789".as_slice()));
    let part = ben.with("range", "bytes=2-4").get(&download).await;
    let found = (part.status, part.bytes.as_slice(), part.header("content-range"));
    assert_eq!(found, (206, b"234".as_slice(), "bytes 2-4/10"));
    let same = ben.with("if-none-match", whole.header("etag")).get(&download).await;
    assert_eq!((same.status, same.bytes.len()), (304, 0));
    let replaced = ben.request(Method::PUT, &path(made["id"].as_str().unwrap(), "/content"));
    let form = reqwest::multipart::Part::bytes(b"changed".to_vec()).file_name("b.txt");
    let form = reqwest::multipart::Form::new().part("file", form);
    ben.finish(replaced.multipart(form)).await.expect(200);
    assert_eq!(ben.get(&download).await.bytes, b"changed");

    // Deleted files are removed from the bucket.
    assert_eq!(bucket.stored_keys().len(), 2);
    ben.delete(&path(made["id"].as_str().unwrap(), "")).await.expect(200);
    eventually(async || bucket.stored_keys().is_empty()).await;

    // Saved, restored, submitted, withdrawn, converted, finished.
    let document = fixture.document("Our page").await;
    fixture.write(&world.ben, &document, "First.").await;
    fixture.write(&world.cem, &document, "Second.").await;
    assert_eq!(fixture.origins(&document).await, ["EDITOR", "EDITOR"]);
    let first = ada.get(&path(&document, "/versions/1/download")).await;
    assert!(first.status == 200 && !first.bytes.is_empty());
    let restored = path(&document, "/versions/1/restore");
    ben.send(Method::POST, &restored, None).await.expect(200);
    assert!(!fixture.text(&document).await.contains("Second."));
    let submitted = fixture.submit(&world.ben, &document).await.expect(200);
    let copy = format!(
        "/feedback/submissions/{}/documents/{document}",
        submitted["submission"]["id"].as_str().unwrap()
    );
    let copied = ada.get(&format!("{copy}/download")).await;
    assert!(test_support::document_server_fixture::words(&copied.bytes).contains("First."));
    for pdf in [path(&document, "/pdf"), format!("{copy}/pdf")] {
        let made = ada.get(&pdf).await;
        assert_eq!((made.status, &made.bytes[..5]), (200, b"%PDF-".as_slice()));
        assert!(ada.get(&pdf).await.bytes == made.bytes);
    }
    let open = fixture.document("Still open").await;
    let editor = fixture.open(&world.cem, &open).await;
    editor.type_text("Until the bell.").await.unwrap();
    let template = ada
        .upload(
            &format!("/assignments/{}/attachments", fixture.topic),
            "Sheet.docx",
            test_support::office::docx("Fill me in"),
            &[],
        )
        .await
        .expect(201);
    let handing_out = format!("/assignments/{}/handouts", fixture.topic);
    let groups_with_handout = ada
        .post(&handing_out, json!({"templateAttachmentId": template["id"]}))
        .await;
    assert_eq!(
        groups_with_handout.expect(200)["documents"].as_array().unwrap().len(),
        2
    );
    let finished = fixture.finish().await;
    assert_eq!(finished["unsavedDocuments"], json!([]));
    drop(editor);
    assert!(fixture.text(&open).await.contains("Until the bell."));
    let archive = ada.get(&format!("/assignments/{}/export.zip", fixture.topic)).await;
    assert_eq!(archive.status, 200);
    let archive = read_archive(&archive.bytes);
    let names: Vec<&str> = archive.iter().map(|file| file.name.as_str()).collect();
    assert!(names.len() > 3 && !names.contains(&"errors.txt"), "{names:?}");
    assert!(
        !fixture.app.folder().join("files").exists(),
        "nothing of it is on this machine"
    );
    let staged = std::fs::read_dir(fixture.app.folder().join("staging/parts")).unwrap();
    assert_eq!(staged.count(), 0);

    // A file that no row references is moved to the quarantine in the bucket.
    let mut staging = fixture.app.app.files().stage(100);
    staging.write(b"a crash came before the row").await.unwrap();
    let orphan = domain::file::FileKey::new("orphan.docx");
    let files = fixture.app.app.files();
    files.commit(staging.finish().await.unwrap(), &orphan).await.unwrap();
    let later = common::clock::now().plus_seconds(3_600);
    let swept = service::jobs::orphaned_files::sweep(fixture.app.app.store(), files, later).await;
    assert_eq!(swept.unwrap(), 1);
    assert!(bucket.folder("quarantine/orphan.docx").is_file());
    assert!(fixture.text(&open).await.contains("Until the bell."));
    fixture.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_work_with_object_store_on_sqlite() {
    documents_work_with_object_store(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_work_with_object_store_on_postgres() {
    documents_work_with_object_store(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f07_unavailable_object_store_acknowledges_nothing() {
    let bucket = FakeS3::open().await;
    let fixture = start_with_bucket(DatabaseKind::Sqlite, &bucket).await.unwrap();
    let (world, room) = (&fixture.app.world, format!("/workrooms/{}/documents", fixture.room));
    let ben = fixture.app.as_(&world.ben);
    let document = fixture.document("Our page").await;
    fixture.write(&world.ben, &document, "Kept.").await;
    let kept = bucket.stored_keys();

    let editor = fixture.open(&world.ben, &document).await;
    editor.type_text("Typed while the store is away.").await.unwrap();
    bucket.faults.closes_connections.store(true, Ordering::SeqCst);
    ben.upload(&room, "a.txt", b"x".to_vec(), &[])
        .await
        .refused(503, "NOT_READY");
    ben.get(&path(&document, "/download")).await.refused(503, "NOT_READY");
    fixture.submit(&world.cem, &document).await.refused(503, "NOT_READY");
    assert_eq!(editor.press_save().await.unwrap(), 0, "the server was told to save");
    let health = fixture.app.stranger().get("/health/ready").await;
    assert_eq!(
        (health.status, &health.json()["checks"]["storage"]),
        (503, &json!("down"))
    );
    let seen = fixture.get_document(&document).await;
    assert_eq!((&seen["version"], &seen["status"]), (&json!(1), &json!("DRAFT")));
    // Requests that need no file still work.
    fixture.document("Made meanwhile").await;
    let text = json!({"content": "The store is away."});
    ben.post(&format!("/workrooms/{}/messages", fixture.room), text)
        .await
        .expect(201);

    bucket.clear_faults();
    assert_eq!(bucket.stored_keys(), kept);
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    assert!(fixture.text(&document).await.contains("Typed while the store is away."));
    fixture.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e04_hanging_object_store_blocks_no_other_request() {
    let bucket = FakeS3::open().await;
    let fixture = start_with_bucket(DatabaseKind::Sqlite, &bucket).await.unwrap();
    let (world, room) = (&fixture.app.world, format!("/workrooms/{}/documents", fixture.room));
    let (ben, ada) = (fixture.app.as_(&world.ben), fixture.app.as_(&world.ada));
    let document = fixture.document("Our page").await;
    fixture.write(&world.ben, &document, "Kept.").await;
    let kept = bucket.stored_keys();

    bucket.faults.holds_requests.store(true, Ordering::SeqCst);
    // The long run starts more uploads than are sent concurrently. The others wait without being held in memory.
    let (uploads, sent) = size((4, 4), (20, 16));
    let waiting: Vec<_> = (0..uploads)
        .map(|number| {
            let (ben, room) = (ben.clone(), room.clone());
            tokio::spawn(async move { ben.upload(&room, &format!("{number}.txt"), b"x".to_vec(), &[]).await })
        })
        .collect();
    eventually(async || bucket.held_requests() >= sent).await;
    let began = Instant::now();
    assert_eq!(ada.get(&path(&document, "/download")).await.status, 200);
    let other = fixture.document("Made meanwhile").await;
    ada.patch(&path(&other, ""), json!({"title": "Renamed"}))
        .await
        .expect(200);
    assert!(waiting.iter().all(|upload| !upload.is_finished()) || began.elapsed() > Duration::from_secs(5));
    for upload in waiting {
        let answer = tokio::time::timeout(WAIT_TIMEOUT, upload)
            .await
            .expect("it has an end")
            .unwrap();
        answer.refused(503, "NOT_READY");
    }
    let listed = ada.get(&room).await.expect(200);
    assert_eq!(
        listed.as_array().unwrap().len(),
        2,
        "nothing was acknowledged, nothing is there"
    );
    bucket.clear_faults();
    ben.upload(&room, "later.txt", b"x".to_vec(), &[]).await.expect(201);
    // A request that hung may reach the store later. No row references such a file, and the sweep removes it.
    assert!(bucket.stored_keys().is_superset(&kept));
    fixture.close().await;
}
