//! Upload and download of files: content, file names and leftover files. Rejected uploads are tested in `uploads.rs`.

use reqwest::Method;
use serde_json::json;

use test_support::office::{docx, docx_with, open_document};
use test_support::{Answer, Client, DatabaseKind, TestApp, until};

/// Creates a workroom of Ben and returns Ben's client with it.
pub async fn create_work_room(app: &TestApp) -> (Client, String) {
    let room = app.room(&app.world.seven_b, &[&app.world.ben]).await;
    (app.as_(&app.world.ben), format!("/workrooms/{}/documents", room.id))
}

/// Returns the download path of the created document.
fn download(document: &serde_json::Value) -> String {
    format!("/workrooms/documents/{}/download", document["id"].as_str().unwrap())
}

async fn get(client: &Client, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut client = client.clone();
    for (name, value) in headers {
        client = client.with(name, value);
    }
    client.get(path).await
}

tenants!(uploaded_bytes_are_downloaded_unchanged, |app| {
    let (ben, path) = create_work_room(app).await;
    let noise: Vec<u8> = (0..900_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let large = docx_with("large", &[("word/media/noise.bin", &noise)]);
    assert!(large.len() > 1 << 20);
    for (name, bytes, mime) in [
        (
            "letter.docx",
            large,
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (
            "notes.txt",
            "Zellen 🧫".as_bytes().to_vec(),
            "text/plain; charset=utf-8",
        ),
        ("scan.pdf", b"%PDF-1.7\n\xff\x00\x01".to_vec(), "application/pdf"),
        (
            "open.odt",
            open_document("application/vnd.oasis.opendocument.text", &[]),
            "application/vnd.oasis.opendocument.text",
        ),
    ] {
        let made = ben
            .upload(&path, name, bytes.clone(), &[("title", "Work")])
            .await
            .expect(201);
        assert_eq!(made["size"], json!(bytes.len()));
        let answer = ben.get(&download(&made)).await;
        assert_eq!((answer.status, answer.bytes.len()), (200, bytes.len()));
        assert!(answer.bytes == bytes, "{name} changed on its way");
        assert_eq!(answer.header("content-type"), mime);
        assert_eq!(answer.header("content-length"), bytes.len().to_string());
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("content-security-policy"), "sandbox");
        assert!(
            answer
                .header("content-disposition")
                .starts_with("attachment; filename=\"Work.")
        );
    }
});

tenants!(downloads_support_ranges_and_etags, |app| {
    let (ben, path) = create_work_room(app).await;
    let made = ben
        .upload(&path, "a.txt", b"0123456789".to_vec(), &[])
        .await
        .expect(201);
    let path = download(&made);
    let whole = ben.get(&path).await;
    let tag = whole.header("etag").to_owned();
    assert_eq!((tag.len(), whole.header("accept-ranges")), (66, "bytes"));

    let same = get(&ben, &path, &[("if-none-match", &format!("\"x\", W/{tag}"))]).await;
    assert_eq!(
        (same.status, same.bytes.len(), same.header("etag")),
        (304, 0, tag.as_str())
    );
    for (range, status, content, context) in [
        ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=7-", 206, "789", "bytes 7-9/10"),
        ("bytes=-1", 206, "9", "bytes 9-9/10"),
        ("bytes=0-1,4-5", 200, "0123456789", ""),
        ("lines=1-2", 200, "0123456789", ""),
    ] {
        let part = get(&ben, &path, &[("range", range)]).await;
        let found = (part.status, part.bytes.as_slice(), part.header("content-range"));
        assert_eq!(found, (status, content.as_bytes(), context), "{range}");
        assert_eq!(part.header("content-length"), content.len().to_string());
    }
    for range in ["bytes=10-", "bytes=5-2", "bytes=x"] {
        let refused = get(&ben, &path, &[("range", range)]).await;
        assert_eq!(refused.header("content-range"), "bytes */10");
        refused.refused(416, "RANGE_NOT_SATISFIABLE");
    }
    let other = get(&ben, &path, &[("range", "bytes=2-4"), ("if-range", "\"other\"")]).await;
    assert_eq!((other.status, other.bytes.len()), (200, 10));
    let agreed = get(&ben, &path, &[("range", "bytes=2-4"), ("if-range", &tag)]).await;
    assert_eq!((agreed.status, agreed.bytes.len()), (206, 3));
});

/// Hostile file names.
const HOSTILE: &[&str] = &[
    "../../etc/passwd.txt",
    "..\\..\\boot.txt",
    "/absolute.txt",
    "C:\\Windows\\x.txt",
    "..txt",
    "...txt",
    ".txt",
    ". .txt",
    "CON.txt",
    "aux.txt",
    "lpt1.txt",
    "com9.anything.txt",
    "NUL.txt",
    "a:b.txt",
    "what?.txt",
    "star*.txt",
    "pipe|.txt",
    "less<more>.txt",
    "quote\".txt",
    "single'.txt",
    "semi;colon.txt",
    "comma,.txt",
    "equals=.txt",
    "percent%00.txt",
    "percent%2f.txt",
    "%22.txt",
    "back\\slash.txt",
    "tab\there.txt",
    "bell\u{7}.txt",
    "esc\u{1b}[31m.txt",
    "rtl\u{202e}fdp.txt",
    "ltr\u{200e}.txt",
    "zero\u{200b}width.txt",
    "bom\u{feff}.txt",
    "line\u{2028}separator.txt",
    "soft\u{ad}hyphen.txt",
    "isolate\u{2066}x\u{2069}.txt",
    "tag\u{e0041}.txt",
    "umlaut ä ö ü ß.txt",
    "combining a\u{308}.txt",
    "日本語のファイル.txt",
    "عربى.txt",
    "emoji 👩‍👩‍👧 🧫.txt",
    "  leading.txt",
    "trailing  .txt",
    "many....dots.txt",
    "trailing dot..txt",
    "UPPER.TXT",
    "mixed.TxT",
    "page.html.txt",
    "run.exe.txt",
    "a.php;.txt",
    "<script>alert(1)</script>.txt",
    "'; DROP TABLE documents; --.txt",
    "$(reboot).txt",
    "`id`.txt",
    "-rf.txt",
    "--help.txt",
    "~root.txt",
    "#fragment?query=1&a=b.txt",
    "new\u{85}line.txt",
    "a b\u{a0}c.txt",
];

both!(hostile_file_names_are_harmless, |app| {
    let (ben, path) = create_work_room(app).await;
    let mut names: Vec<String> = HOSTILE.iter().map(|name| (*name).to_owned()).collect();
    names.extend([
        format!("{}.txt", "x".repeat(300)),
        format!("{}.txt", "ü".repeat(300)),
        format!("{}.txt", "🧫".repeat(120)),
    ]);
    assert!(names.len() >= 60);
    let mut taken = 0;
    for name in &names {
        let answer = ben.upload(&path, name, b"harmless".to_vec(), &[]).await;
        if name.bytes().any(|byte| byte < b' ' && byte != b'\t') {
            // A header cannot contain these characters, so the form itself is malformed.
            answer.refused(400, "VALIDATION_ERROR");
            continue;
        }
        let made = answer.expect(201);
        taken += 1;
        let title = made["title"].as_str().unwrap();
        assert!(
            !title.is_empty() && title.chars().count() <= 120,
            "{name:?} became {title:?}"
        );

        let answer = ben.get(&download(&made)).await;
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8", "{name:?}");
        let context = answer.header("content-disposition").to_owned();
        let (ascii, encoded) = context
            .strip_prefix("attachment; filename=\"")
            .unwrap()
            .split_once("\"; filename*=UTF-8''")
            .unwrap();
        assert!(
            ascii
                .bytes()
                .all(|b| (b' '..=b'~').contains(&b) && !b"\"\\/%".contains(&b)),
            "{ascii:?}"
        );
        let decoded = percent_encoding::percent_decode_str(encoded)
            .decode_utf8()
            .unwrap()
            .into_owned();
        for read_back in [ascii, decoded.as_str()] {
            let device = read_back.split('.').next().unwrap().to_lowercase();
            assert!(
                is_text(read_back) && !read_back.starts_with('.'),
                "{name:?} became {read_back:?}"
            );
            assert!(
                !["con", "aux", "nul", "lpt1", "com9"].contains(&device.as_str()),
                "{read_back:?}"
            );
            assert!(read_back.len() < 250 && !read_back.contains(['/', '\\', '\u{202e}', '\u{200b}', '\n', '\0']));
        }
    }
    let kept = app.stored_files();
    assert_eq!(kept.len(), taken);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    assert!(
        kept.iter().all(|name| name.chars().all(plain) && is_text(name)),
        "{kept:?}"
    );
});

both!(file_is_removed_after_its_row, |app| {
    let (ben, path) = create_work_room(app).await;
    let kept = ben.upload(&path, "kept.docx", docx("kept"), &[]).await.expect(201);
    let gone = ben.upload(&path, "gone.docx", docx("gone"), &[]).await.expect(201);
    let of = |document: &serde_json::Value| format!("/workrooms/documents/{}", document["id"].as_str().unwrap());
    let form =
        reqwest::multipart::Form::new().part("file", reqwest::multipart::Part::bytes(docx("new")).file_name("x.docx"));
    ben.finish(
        ben.request(Method::PUT, &format!("{}/content", of(&gone)))
            .multipart(form),
    )
    .await
    .expect(200);
    assert_eq!(app.stored_files().len(), 3);
    assert_eq!(ben.delete(&of(&gone)).await.expect(200), json!({"success": true}));
    eventually(|| app.stored_files().len() == 1).await;
    assert_eq!(ben.get(&download(&kept)).await.status, 200);
    ben.get(&download(&gone)).await.refused(404, "NOT_FOUND");
    until("the list of removals is worked off", async || {
        app.pending_removals().await == 0
    })
    .await;
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_file_fails_instead_of_returning_other_bytes() {
    let app = TestApp::start(DatabaseKind::Sqlite).await.unwrap();
    let (ben, path) = create_work_room(&app).await;
    let made = ben.upload(&path, "a.docx", docx("mine"), &[]).await.expect(201);
    let files = app.folder().join("files");
    let name = app.stored_files().remove(0);
    let folders = std::fs::read_dir(&files).unwrap().map(|entry| entry.unwrap().path());
    let file = folders
        .map(|folder| folder.join(&name))
        .find(|path| path.exists())
        .unwrap();
    // One flipped bit, as after a disk error: the download fails instead of returning other content.
    let mut bytes = docx("mine");
    bytes[40] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let cut = ben.request(Method::GET, &download(&made)).send().await;
    let read = match cut {
        Ok(answer) => answer.bytes().await.map(|bytes| bytes.len()),
        Err(error) => Err(error),
    };
    assert!(read.is_err(), "damaged bytes were given out whole: {read:?}");
    std::fs::write(&file, b"short").unwrap();
    ben.get(&download(&made)).await.refused(500, "INTERNAL_ERROR");
    std::fs::remove_file(&file).unwrap();
    ben.get(&download(&made)).await.refused(500, "INTERNAL_ERROR");
    app.close().await;
}

both!(files_without_rows_are_quarantined, |app| {
    let (ben, path) = create_work_room(app).await;
    let kept = ben.upload(&path, "kept.docx", docx("kept"), &[]).await.expect(201);
    let mut staging = app.app.files().stage(100);
    staging.write(b"a crash came before the row").await.unwrap();
    let orphan = domain::file::FileKey::new("orphan.docx");
    app.app
        .files()
        .commit(staging.finish().await.unwrap(), &orphan)
        .await
        .unwrap();

    let (store, files, now) = (app.app.store(), app.app.files(), common::clock::now());
    assert_eq!(
        service::jobs::orphaned_files::sweep(store, files, now.plus_seconds(-3_600))
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        service::jobs::orphaned_files::sweep(store, files, now.plus_seconds(3_600))
            .await
            .unwrap(),
        1
    );
    assert!(files.open(&orphan).await.is_err());
    assert!(app.folder().join("files/quarantine/orphan.docx").exists());
    assert_eq!(ben.get(&download(&kept)).await.status, 200);
});

/// Checks that every table that references files is queried before a file is removed or quarantined.
#[test]
fn every_table_with_files_is_queried_before_removal() {
    let (_, statement) = db::platform::statements()
        .into_iter()
        .flat_map(|(_, statements)| statements)
        .find(|(name, _)| *name == "IS_NAMED")
        .unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let mut tables = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for table in text.split("CREATE TABLE ").skip(1) {
            let table = table.split(");").next().unwrap();
            if table.contains(" file_key ") {
                tables.push(table.split_whitespace().next().unwrap().to_owned());
            }
        }
    }
    assert!(tables.len() >= 7, "{tables:?}");
    for table in tables.iter().filter(|table| *table != "file_removals") {
        assert!(
            statement.text().contains(&format!("FROM {table} ")),
            "{table} is not asked"
        );
    }
}

/// Waits until the condition is true.
pub async fn eventually(mut is_so: impl FnMut() -> bool) {
    until("what the test waits for", async || is_so()).await;
}

fn is_text(name: &str) -> bool {
    std::path::Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "txt")
}
