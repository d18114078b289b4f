//! Rejected uploads: decompression bombs, files that are too large, malformed forms and aborted requests.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::files::{create_work_room, eventually};
use test_support::office::{self, archive, content_types, docx, docx_with, open_document};
use test_support::raw_http::RawHttp;
use test_support::{Client, DatabaseKind, FRONTEND, ServerEnv, TestApp, TestUser, WAIT_TIMEOUT, World};

both!(file_whose_content_contradicts_its_name_is_rejected, |app| {
    let (ben, path) = create_work_room(app).await;
    let html = b"<!DOCTYPE html><script>alert(1)</script>".as_slice();
    let mut after_html = html.to_vec();
    after_html.extend(docx("x"));
    let mut followed = docx("x");
    followed.extend_from_slice(html);
    let word = content_types("/word/document.xml", office::WORD);
    let macros = content_types(
        "/word/document.xml",
        "application/vnd.ms-word.document.macroEnabled.main+xml",
    );
    let entities = format!("<!DOCTYPE x [<!ENTITY a \"b\">]>{word}");
    let sheet = content_types("/word/document.xml", office::SHEET);
    let missing = content_types("/word/elsewhere.xml", office::WORD);
    let with = |types: &str| {
        archive(&[
            ("[Content_Types].xml", types.as_bytes()),
            ("word/document.xml", b"<x/>"),
        ])
    };
    let odt = "application/vnd.oasis.opendocument.text";
    let refused: Vec<(&str, Vec<u8>)> = vec![
        ("page.html", html.to_vec()),
        ("run.exe", b"MZ\x90\x00".to_vec()),
        ("code.js", b"alert(1)".to_vec()),
        ("letter.docm", docx("x")),
        ("sheet.xlsm", docx("x")),
        ("noextension", docx("x")),
        ("double.docx.exe", docx("x")),
        ("page.docx", html.to_vec()),
        ("page.pdf", html.to_vec()),
        ("late.pdf", b"junk %PDF-1.7".to_vec()),
        ("script.pdf", b"%PDF-1.7\n<script>alert(1)</script>".to_vec()),
        ("before.docx", after_html),
        ("after.docx", followed),
        ("really-a-sheet.docx", with(&sheet)),
        ("really-a-text.xlsx", docx("x")),
        ("no-main-part.docx", with(&missing)),
        ("just-a-zip.docx", archive(&[("readme.txt", b"x")])),
        ("macro-type.docx", with(&macros)),
        (
            "macro-part.docx",
            docx_with("x", &[("word/vbaProject.bin", b"\xd0\xcf")]),
        ),
        (
            "macro-hidden.docx",
            docx_with("x", &[("word/deep/VBAPROJECT.BIN", b"\xd0\xcf")]),
        ),
        ("entities.docx", with(&entities)),
        ("outside.docx", docx_with("x", &[("../../evil.sh", b"x")])),
        ("outside-too.docx", docx_with("x", &[("word\\..\\..\\evil.sh", b"x")])),
        ("absolute.docx", docx_with("x", &[("/etc/passwd", b"x")])),
        ("drive.docx", docx_with("x", &[("C:/evil.sh", b"x")])),
        ("cut.docx", docx("x")[..200].to_vec()),
        ("macro.odt", open_document(odt, &[("Basic/Standard/Module1.xml", b"x")])),
        ("really-a-text.ods", open_document(odt, &[])),
        ("latin1.txt", b"Gr\xfc\xdfe".to_vec()),
        ("nul.csv", b"a,b\0c".to_vec()),
        ("cut.txt", "ü".as_bytes()[..1].to_vec()),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR....".to_vec()),
        ("movie.mp4", b"\0\0\0\x18ftypmp42".to_vec()),
    ];
    for (name, bytes) in refused {
        let answer = ben.upload(&path, name, bytes, &[]).await;
        assert_eq!(answer.status, 415, "{name}: {}", String::from_utf8_lossy(&answer.bytes));
        answer.refused(415, "UNSUPPORTED_FILE_TYPE");
    }
    assert_eq!(app.stored_files(), Vec::<String>::new());
    ben.upload(&path, "sound.docx", docx("x"), &[]).await.expect(201);
});

/// Runs in a separate process, so that parallel tests do not affect the measured memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zip_bomb_upload_is_rejected_without_unpacking() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let at = |person: &TestUser| Client::new(&service.base, Some(person.cookie.clone()));
    let (ada, ben) = (at(&world.ada), at(&world.ben));
    let group = json!({"classId": world.seven_b.id, "memberIds": [world.ben.id]});
    let group = ada.post("/groups", group).await.expect(201);
    let path = format!("/workrooms/{}/documents", group["workRoomId"].as_str().unwrap());
    let zeros = vec![0; 200 << 20];
    let inner = archive(&[("inner.bin", &zeros[..32 << 20])]);
    let bombs = [
        ("flat", docx_with("x", &[("word/big.xml", &zeros)])),
        ("liar", office::archive_with_false_sizes()),
        ("overlapping", office::overlapping(9_000)),
        ("crowded", office::archive_with_many_entries()),
        (
            "types",
            archive(&[("[Content_Types].xml", &zeros[..8 << 20]), ("word/document.xml", b"x")]),
        ),
        (
            "nested",
            archive(&[("word/a.zip", inner.as_slice()), ("word/b.zip", inner.as_slice())]),
        ),
    ];
    drop(zeros);
    ben.upload(&path, "first.docx", docx("x"), &[]).await.expect(201);
    for (name, bomb) in bombs {
        assert!(bomb.len() < 3 << 20, "{name} is small itself: {}", bomb.len());
        let before = service.resident();
        service.reset_peak();
        let answer = ben.upload(&path, &format!("{name}.docx"), bomb, &[]).await;
        answer.refused(415, "UNSUPPORTED_FILE_TYPE");
        let grown = service.peak().saturating_sub(before);
        assert!(grown < 100 << 20, "{name} took {} MiB", grown >> 20);
    }
    let listed = ben.get(&path).await.expect(200);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    service.kill();
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_above_size_limit_is_rejected() {
    let app = TestApp::start_with(DatabaseKind::Sqlite, &["--upload-max-mb=1"])
        .await
        .unwrap();
    let (ben, path) = create_work_room(&app).await;
    let fits = vec![b'a'; 1 << 20];
    ben.upload(&path, "fits.txt", fits.clone(), &[]).await.expect(201);
    for size in [(1 << 20) + 1, 8 << 20] {
        let answer = ben
            .upload(&path, "large.txt", vec![b'a'; size], &[("title", "after the file")])
            .await;
        answer.refused(413, "PAYLOAD_TOO_LARGE");
    }
    assert_eq!(app.stored_files().len(), 1);
    app.close().await;
}

both!(invalid_form_names_the_failing_field, |app| {
    let (ben, path) = create_work_room(app).await;
    ben.upload(&path, "a.txt", b"x".to_vec(), &[("colour", "red")])
        .await
        .invalid("colour");
    ben.upload(&path, "a.txt", Vec::new(), &[]).await.invalid("file");
    ben.upload(&path, "a.txt", b"x".to_vec(), &[("title", &"x".repeat(121))])
        .await
        .invalid("title");
    ben.upload(&path, "a.txt", b"x".to_vec(), &[("title", &"x".repeat(70_000))])
        .await
        .invalid("title");
    let form = |names: &[&str]| {
        names.iter().fold(reqwest::multipart::Form::new(), |form, name| {
            form.part(
                (*name).to_owned(),
                reqwest::multipart::Part::bytes(b"x".to_vec()).file_name("a.txt"),
            )
        })
    };
    let post = || ben.request(Method::POST, &path);
    ben.finish(post().multipart(form(&["file", "file"])))
        .await
        .invalid("file");
    ben.finish(post().multipart(form(&["picture"]))).await.invalid("file");
    let raw = |kind: &str, body: &'static str| post().header("content-type", kind).body(body);
    ben.finish(raw("multipart/form-data; boundary=x", "no form at all"))
        .await
        .refused(400, "VALIDATION_ERROR");
    ben.finish(raw(
        "multipart/form-data; boundary=x",
        "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\ncut",
    ))
    .await
    .refused(400, "VALIDATION_ERROR");
    ben.finish(raw("multipart/form-data", "--x--"))
        .await
        .refused(400, "VALIDATION_ERROR");
    ben.finish(raw("text/plain", "hello"))
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let made = ben.upload(&path, "a.txt", b"x".to_vec(), &[]).await.expect(201);
    let content = format!("/workrooms/documents/{}/content", made["id"].as_str().unwrap());
    ben.put(&content, json!({}))
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    assert_eq!(app.stored_files().len(), 1);
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oversized_part_header_is_rejected_without_buffering() {
    let app = TestApp::start(DatabaseKind::Sqlite).await.unwrap();
    let (ben, path) = create_work_room(&app).await;
    let body = format!("--x\r\nx-long: {}", "y".repeat(12 << 20));
    let request = ben
        .request(Method::POST, &path)
        .header("content-type", "multipart/form-data; boundary=x")
        .body(body);
    ben.finish(request).await.refused(400, "VALIDATION_ERROR");
    // The response comes before the end of the headers. The service neither waits for them nor buffers them.
    let mut raw_http = RawHttp::open(&app).await;
    raw_http
        .send(format!(
            "POST /api{path} HTTP/1.1\r\nhost: north\r\ncookie: {}\r\norigin: {FRONTEND}\r\n\
         content-type: multipart/form-data; boundary=x\r\ncontent-length: {}\r\n\r\n--x\r\nx-long: {}",
            app.world.ben.cookie,
            12 << 20,
            "y".repeat(4 << 20)
        ))
        .await;
    let (status, body) = raw_http.answer().await.unwrap();
    assert!(status == 400 && body.contains("VALIDATION_ERROR"), "{status} {body}");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_upload_stores_nothing() {
    let app = TestApp::start(DatabaseKind::Sqlite).await.unwrap();
    let (ben, path) = create_work_room(&app).await;
    let address = app.base.strip_prefix("http://").unwrap().to_owned();
    for sent in [0, 1_000, 300_000, 700_000] {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST /api{path} HTTP/1.1\r\nhost: {address}\r\ncookie: {}\r\norigin: {}\r\n\
             content-type: multipart/form-data; boundary=x\r\ncontent-length: 1000000\r\n\r\n\
             --x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n",
            ben.cookie().unwrap(),
            FRONTEND,
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'a'; sent]).await.unwrap();
        stream.flush().await.unwrap();
        if sent > 500_000 {
            eventually(|| !app.stored_files().is_empty()).await;
        }
        drop(stream);
    }
    eventually(|| app.stored_files().is_empty()).await;
    assert_eq!(ben.get(&path).await.expect(200), json!([]));
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oversized_body_is_rejected_before_it_is_complete() {
    let app = TestApp::start_with(DatabaseKind::Sqlite, &["--upload-max-mb=1"])
        .await
        .unwrap();
    let (ben, path) = create_work_room(&app).await;
    let address = app.base.strip_prefix("http://").unwrap().to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /api{path} HTTP/1.1\r\nhost: {address}\r\ncookie: {}\r\norigin: {}\r\nexpect: 100-continue\r\n\
         content-type: multipart/form-data; boundary=x\r\ncontent-length: 9000000\r\n\r\n",
        ben.cookie().unwrap(),
        FRONTEND,
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut seen = vec![0; 4096];
    let read = stream.read(&mut seen).await.unwrap();
    assert!(
        seen[..read].starts_with(b"HTTP/1.1 100"),
        "{}",
        String::from_utf8_lossy(&seen[..read])
    );
    stream
        .write_all(b"--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n")
        .await
        .unwrap();
    stream.write_all(&vec![b'a'; 2 << 20]).await.unwrap();
    let read = tokio::time::timeout(WAIT_TIMEOUT, stream.read(&mut seen))
        .await
        .unwrap()
        .unwrap();
    assert!(
        seen[..read].starts_with(b"HTTP/1.1 413"),
        "{}",
        String::from_utf8_lossy(&seen[..read])
    );
    app.close().await;
}

/// Sends a body without reading the response, and then another request. Returns the status of both responses.
async fn send_body_before_reading(app: &TestApp, path: &str, headers: &str) -> [Option<u16>; 2] {
    let (mut raw_http, size) = (RawHttp::open(app).await, 24 << 20);
    raw_http
        .send(format!(
            "POST /api{path} HTTP/1.1\r\nhost: north\r\n{headers}\r\ncontent-length: {size}\r\n\r\n"
        ))
        .await;
    // More data than the buffers of both sides hold. A server that stops reading fails here.
    let part = b"--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
    raw_http.send(part).await;
    raw_http.send(vec![b'a'; size - part.len()]).await;
    let answer = raw_http.answer().await.map(|(status, _)| status);
    // The service read the whole body, so the connection serves the next request.
    raw_http.send("GET /api/health HTTP/1.1\r\nhost: north\r\n\r\n").await;
    [answer, raw_http.answer().await.map(|(status, _)| status)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_sends_body_before_reading_gets_the_response() {
    // The service stops reading the rest of a body after this time without data.
    let pause = Duration::from_secs(2);
    let app = TestApp::start_with(DatabaseKind::Sqlite, &["--upload-max-mb=1"])
        .await
        .unwrap();
    let (_, path) = create_work_room(&app).await;
    let (cookie, evil) = (&app.world.ben.cookie, "https://evil.example");
    let form = "content-type: multipart/form-data; boundary=x";
    for (path, headers, status) in [
        (path.as_str(), format!("origin: {FRONTEND}\r\n{form}"), 401),
        (
            path.as_str(),
            format!("cookie: {cookie}\r\norigin: {evil}\r\n{form}"),
            403,
        ),
        (
            path.as_str(),
            format!("cookie: {cookie}\r\norigin: {FRONTEND}\r\n{form}"),
            413,
        ),
        (
            path.as_str(),
            format!("cookie: {cookie}\r\ncontent-type: text/plain"),
            415,
        ),
        ("/nothing", format!("cookie: {cookie}"), 404),
        (
            "/courses",
            format!("cookie: {cookie}\r\ncontent-type: application/json"),
            403,
        ),
    ] {
        let expected = [Some(status), Some(200)];
        let mut attempts = 0;
        let answers = loop {
            attempts += 1;
            let started = Instant::now();
            let answers = send_body_before_reading(&app, path, &headers).await;
            if answers == expected || started.elapsed() < pause || attempts == 5 {
                break answers;
            }
        };
        assert_eq!(answers, expected, "{path}");
    }
    app.close().await;
}
