//! Checks F1 to F9: the route through which the document server downloads a document. All tokens are signed with one
//! secret, and browsers hold some of them, so the claims of a token decide.

use futures_util::StreamExt as _;
use jsonwebtoken::Algorithm;
use reqwest::Method;
use serde_json::{Value, json};

use super::start_with_work_room;
use crate::documents::put;
use test_support::app::{AUTH_SECRET, DOCSERVER_SECRET};
use test_support::document_server_fixture::{DocumentServerFixture, path, words};
use test_support::fake_document_server::{seconds, sign, sign_as};
use test_support::office::docx;
use test_support::{Answer, Client, DatabaseKind, ServerEnv};

const INVALID: &str = "DOCSERVER_TOKEN_INVALID";
const MISMATCH: &str = "DOCSERVER_TOKEN_MISMATCH";

/// Returns the file route of a document and the URL that the document server uses for it.
fn route(fixture: &DocumentServerFixture, document: &str) -> (String, String) {
    let route = path(document, "/file");
    let url = format!("{}/api{route}", fixture.app.base);
    (route, url)
}

fn with_token(fixture: &DocumentServerFixture, token: &str) -> Client {
    fixture.app.stranger().with("authorization", &format!("Bearer {token}"))
}

/// Requests the file with a token of the right kind for this URL.
async fn fetch(fixture: &DocumentServerFixture, document: &str) -> Answer {
    let (route, url) = route(fixture, document);
    with_token(fixture, &sign(json!({"payload": {"url": url}})))
        .get(&route)
        .await
}

with_both_editors!(
    #[sqlite]
    f01_document_server_downloads_stored_bytes,
    |fixture| {
        let document = fixture.document("Our page").await;
        fixture.write(&fixture.app.world.ben, &document, "Stored.").await;
        let opened = fetch(fixture, &document).await;
        assert_eq!(opened.status, 200);
        let kept = fixture
            .app
            .as_(&fixture.app.world.ada)
            .get(&path(&document, "/download"))
            .await;
        assert!(words(&opened.bytes).contains("Stored.") && opened.bytes == kept.bytes);
        assert_eq!(opened.header("content-length"), kept.bytes.len().to_string());
        assert!(opened.header("content-disposition").starts_with("attachment"));
        assert_eq!(opened.header("x-content-type-options"), "nosniff");
        assert_eq!(opened.header("content-security-policy"), "sandbox");
    }
);

with_both_editors!(
    #[sqlite]
    f02_download_requires_valid_and_recent_token,
    [],
    |fixture| {
        let document = fixture.document("Our page").await;
        let (route, url) = route(fixture, &document);
        let good = json!({"payload": {"url": url}, "iat": seconds(), "exp": seconds() + 300});
        let with = |name: &str, value: Value| {
            let mut claims = good.clone();
            claims[name] = value;
            sign(claims)
        };
        let by = |algorithm| sign_as(algorithm, DOCSERVER_SECRET, &good);
        let parts = by(Algorithm::HS256);
        let parts: Vec<&str> = parts.split('.').collect();
        let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", parts[1]);
        // The header names RS256, but the signature uses the secret of the service.
        let other_kind = format!("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.{}.{}", parts[1], parts[2]);
        let refused = [
            by(Algorithm::HS384),
            by(Algorithm::HS512),
            other_kind,
            unsigned,
            sign_as(Algorithm::HS256, AUTH_SECRET, &good),
            sign_as(Algorithm::HS256, "", &good),
            sign_as(
                Algorithm::HS256,
                DOCSERVER_SECRET,
                &json!({"payload": {"url": url}, "iat": seconds()}),
            ),
            with("exp", json!(seconds() - 70)),
            with("iat", json!(seconds() + 300)),
            with("nbf", json!(seconds() + 300)),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{}.{}.{}", parts[0], parts[1], parts[2].to_lowercase()),
            "no.token.atall".to_owned(),
        ];
        for token in refused {
            with_token(fixture, &token).get(&route).await.refused(401, INVALID);
        }
        let stranger = fixture.app.stranger();
        stranger.get(&route).await.refused(401, "DOCSERVER_TOKEN_MISSING");
        stranger
            .get(&format!("{route}?anything=1"))
            .await
            .refused(401, "DOCSERVER_TOKEN_MISSING");
        for header in [
            sign(good.clone()),
            format!("Basic {}", sign(good.clone())),
            "Bearer".to_owned(),
        ] {
            let answer = stranger.with("authorization", &header).get(&route).await;
            assert_eq!(
                (answer.status, answer.json()["code"].as_str()),
                (401, Some(INVALID)),
                "{header}"
            );
        }
        let late = sign(json!({"payload": {"url": url}, "iat": seconds() - 330, "exp": seconds() - 30}));
        let opened = with_token(fixture, &late).get(&route).await;
        assert_eq!(opened.status, 200, "clocks may differ by a minute");
    }
);

with_both_editors!(
    #[sqlite]
    f03_token_is_valid_for_its_own_url_only,
    [],
    |fixture| {
        let document = fixture.document("Our page").await;
        let other = fixture.document("Another page").await;
        let (route, url) = route(fixture, &document);
        let base = &fixture.app.base;
        let port = base.rsplit(':').next().unwrap();
        let named = [
            format!("{base}/api{}", path(&other, "/file")),
            format!("{base}/api{}", path(&document, "/callback")),
            format!("{url}?revision=1"),
            format!("{url}?copy=1"),
            format!("{url}?"),
            format!("{url}#x"),
            format!("{url}/"),
            format!("{base}/api{}", path(&document, "/%2e%2e/x/file")),
            format!("{base}/api{}", path(&document, "/../x/file")),
            format!("{base}/api/{route}"),
            format!("{base}//api{route}"),
            format!("{base}/api{}", route.replace("/file", "/%66ile")),
            format!("{base}/API{route}"),
            url.replace("http://", "HTTP://"),
            url.replace("http://", "https://"),
            url.replace("http://127", "http://user@127"),
            url.replace("127.0.0.1", "evil.example"),
            url.replace("127.0.0.1", "LOCALHOST"),
            url.replace(port, "1"),
            format!("http://evil.example/?{url}"),
            route.clone(),
            String::new(),
        ];
        for named in named {
            let token = sign(json!({"payload": {"url": named}}));
            let answer = with_token(fixture, &token).get(&route).await;
            assert_eq!(
                (answer.status, answer.json()["code"].as_str()),
                (403, Some(MISMATCH)),
                "{named}"
            );
        }
        assert_eq!(fetch(fixture, &document).await.status, 200);
    }
);

with_both_editors!(
    #[sqlite]
    f04_tokens_of_other_kinds_are_rejected,
    [],
    |fixture| {
        let document = fixture.document("Our page").await;
        let (route, url) = route(fixture, &document);
        let key = format!("{document}-1");
        let config = fixture.configuration(&fixture.app.world.ben, &document).await;
        let conversion =
            json!({"async": true, "filetype": "docx", "key": "k", "outputtype": "pdf", "title": "t", "url": url});
        let tokens = [
            config["token"].as_str().unwrap().to_owned(),
            sign(json!({"key": key, "status": 2, "url": url})),
            sign(json!({"payload": {"key": key, "status": 2, "url": url}})),
            sign(json!({"payload": {"key": key, "url": url}})),
            sign(json!({"payload": {"status": 1, "url": url}})),
            sign(conversion.clone()),
            sign(json!({"payload": conversion})),
            sign(json!({"url": url})),
            sign(json!({"url": url, "key": key, "version": 1})),
            sign(json!({"c": "info", "key": key, "url": url})),
            sign(json!({"payload": {"url": url}, "key": key})),
            sign(json!({"payload": {"url": url}, "document": config["document"]})),
            sign(json!({"payload": [url]})),
            sign(json!({"payload": {"url": [url]}})),
        ];
        for token in tokens {
            let answer = with_token(fixture, &token).get(&route).await;
            assert_eq!(
                (answer.status, answer.json()["code"].as_str()),
                (403, Some(MISMATCH)),
                "{token}"
            );
        }
    }
);

with_both_editors!(
    #[sqlite]
    f05_session_cookie_does_not_authorize_download,
    [],
    |fixture| {
        let document = fixture.document("Our page").await;
        let (route, _) = route(fixture, &document);
        for person in [&fixture.app.world.ben, &fixture.app.world.ada, &fixture.app.world.root] {
            let answer = fixture.app.as_(person).get(&route).await;
            answer.refused(401, "DOCSERVER_TOKEN_MISSING");
        }
        assert_eq!(
            fetch(fixture, &document).await.status,
            200,
            "and a token needs no cookie"
        );
    }
);

with_both_editors!(
    #[sqlite]
    f06_new_document_is_the_template_of_its_type,
    [],
    |fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        for (kind, extension) in [("word", "docx"), ("cell", "xlsx"), ("slide", "pptx")] {
            let new = json!({"title": kind, "documentType": kind});
            let rooms = format!("/workrooms/{}/documents", fixture.room);
            let made = ada.post(&rooms, new).await.expect(201);
            let document = made["id"].as_str().unwrap();
            let opened = fetch(fixture, document).await;
            assert!(
                opened.status == 200 && opened.bytes.starts_with(b"PK\x03\x04"),
                "{kind}"
            );
            assert!(
                opened
                    .header("content-disposition")
                    .contains(&format!("{kind}.{extension}"))
            );
            let editor = fixture.open_editor(&fixture.app.world.ben, document).await;
            assert!(editor.may_edit(), "{kind}");
            editor.close().await.unwrap();
            let pdf = ada.get(&path(document, "/pdf")).await;
            assert!(pdf.status == 200 && pdf.bytes.starts_with(b"%PDF-"), "{kind}");
        }
    }
);

with_both_editors!(
    #[sqlite]
    f07_unavailable_storage_is_503,
    |fixture| {
        let document = fixture.document("Our page").await;
        fixture.write(&fixture.app.world.ben, &document, "Still here.").await;
        let (files, aside) = (fixture.app.folder().join("files"), fixture.app.folder().join("aside"));
        std::fs::rename(&files, &aside).unwrap();
        let answer = fetch(fixture, &document).await;
        answer.refused(503, "NOT_READY");
        std::fs::rename(&aside, &files).unwrap();
        assert!(words(&fetch(fixture, &document).await.bytes).contains("Still here."));
        let unknown = common::clock::new_id();
        fetch(fixture, &unknown).await.refused(404, "NOT_FOUND");
    }
);

with_both_editors!(
    #[sqlite]
    f08_locked_document_is_readable_and_deleted_one_is_404,
    [],
    |fixture| {
        let world = &fixture.app.world;
        let document = fixture.document("Our page").await;
        fixture.write(&world.ben, &document, "Ours.").await;
        let gone = fixture.document("Gone").await;
        let ada = fixture.app.as_(&world.ada);
        assert_eq!(ada.delete(&path(&gone, "")).await.status, 200);
        fetch(fixture, &gone).await.refused(404, "NOT_FOUND");
        fixture.finish().await;
        assert!(words(&fetch(fixture, &document).await.bytes).contains("Ours."));
        // A revision of another document is rejected, whatever the token contains.
        let other = fixture.document_in(&fixture.hidden_room().await, "Theirs").await;
        let theirs = fixture.versions(&document).await[0]["id"].as_str().unwrap().to_owned();
        let (route, url) = route(fixture, &other);
        let query = format!("?revision={theirs}");
        let token = sign(json!({"payload": {"url": format!("{url}{query}")}}));
        with_token(fixture, &token)
            .get(&format!("{route}{query}"))
            .await
            .refused(404, "NOT_FOUND");
    }
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f09_large_file_is_streamed_with_bounded_memory() {
    const SIZE: usize = 60 << 20;
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    env.set("UPLOAD_MAX_MB", "64");
    let (service, ada, rooms) = start_with_work_room(&mut env).await;
    let mut text = vec![b'a'; SIZE];
    text[SIZE - 1] = b'z';
    let made = ada.upload(&rooms, "large.txt", text, &[]).await.expect(201);
    let route = path(made["id"].as_str().unwrap(), "/file");
    let token = sign(json!({"payload": {"url": format!("{}/api{route}", service.base)}}));
    let bearer = Client::new(&service.base, None).with("authorization", &format!("Bearer {token}"));
    let before = service.resident();
    for _ in 0..3 {
        let mut read = 0;
        let answer = bearer.request(Method::GET, &route).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let mut pieces = answer.bytes_stream();
        while let Some(piece) = pieces.next().await {
            read += piece.unwrap().len();
        }
        assert_eq!(read, SIZE);
    }
    let grown = service.resident().saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes more than before");
    let last = bearer.with("range", "bytes=-1").get(&route).await;
    assert_eq!((last.status, last.bytes.as_slice()), (206, b"z".as_slice()));
    let head = bearer.request(Method::HEAD, &route).send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert_eq!(head.headers()["content-length"], SIZE.to_string().as_str());
    assert_eq!(head.bytes().await.unwrap().len(), 0);
    bearer
        .with("range", "bytes=99999999-")
        .get(&route)
        .await
        .refused(416, "RANGE_NOT_SATISFIABLE");
    service.stop();
    env.close();
}

with_document_server!(earlier_revision_keeps_its_file_type, |fixture| {
    // The document server may return a document as another type. The earlier revision keeps its type.
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let rooms = format!("/workrooms/{}/documents", fixture.room);
    let text = ada
        .upload(&rooms, "notes.txt", b"Plain.".to_vec(), &[])
        .await
        .expect(201);
    let document = text["id"].as_str().unwrap().to_owned();
    fixture.server.set_faults(document_server_simulator::Faults::default());
    let address = path(&document, "");
    put(&ada, &address, docx("x"), "a.docx")
        .await
        .refused(415, "UNSUPPORTED_FILE_TYPE");
    let statement = format!("UPDATE documents SET file_extension = 'docx' WHERE id = '{document}'");
    test_support::rows::execute(&fixture.app.database, statement).await;
    let earlier = ada.get(&path(&document, "/versions/1/download")).await;
    assert!(earlier.header("content-disposition").contains("notes (version 1).txt"));
    assert_eq!(earlier.bytes, b"Plain.");
    let restored = ada
        .post(&path(&document, "/versions/1/restore"), json!({}))
        .await
        .expect(200);
    assert_eq!(
        (&restored["fileExtension"], &restored["version"]),
        (&json!("txt"), &json!(2))
    );
});
