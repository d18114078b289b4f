//! Checks X1 to X6: attacks by users of the school.

use document_server_simulator::{Simulator, SimulatorSettings};
use futures_util::future::join_all;
use serde_json::json;

use super::start_with_work_room;
use crate::documents::put;
use test_support::app::{AUTH_SECRET, DOCSERVER_SECRET};
use test_support::document_server_fixture::path;
use test_support::fake_document_server::{ResultDelivery, post, save, seconds, sign, sign_as, tell};
use test_support::office::{
    archive, archive_with_false_sizes, archive_with_many_entries, docx, docx_with, overlapping,
};
use test_support::topics::id;
use test_support::{Client, DatabaseKind, ServerEnv, ServerProcess};

with_both_editors!(
    #[sqlite]
    x01_browser_token_authorizes_no_document_server_route,
    |fixture| {
        let world = &fixture.app.world;
        let document = fixture.document("Our page").await;
        let key = fixture.key(&document).await;
        let config = fixture.configuration(&world.ben, &document).await;
        let ben = fixture.app.as_(&world.ben);
        let looking = ben.get(&path(&document, "/editor-config?mode=view")).await.expect(200);
        let url = config["document"]["url"].clone();
        let session = world.ben.cookie.split(['=', ';']).nth(1).unwrap().to_owned();
        let tokens = [
            ("the editor's", config["token"].as_str().unwrap().to_owned()),
            ("the reader's", looking["token"].as_str().unwrap().to_owned()),
            ("a sign-in", session),
            // Tokens that the document server itself gives to browsers, all signed with the same secret.
            (
                "its session",
                sign(json!({"document": {"key": key, "permissions": {}}, "editorConfig": {"user": {"id": "x"}}})),
            ),
            (
                "a refreshed one",
                sign(json!({"document": {"key": key, "ds_isCloseCoAuthoring": false}, "editorConfig": {}})),
            ),
            (
                "a history",
                sign(json!({"key": key, "url": url, "version": 1, "changesUrl": url, "fileType": "docx"})),
            ),
            (
                "a compared file",
                sign(json!({"c": "compare", "fileType": "docx", "url": url})),
            ),
            (
                "an inserted picture",
                sign(json!({"c": "add", "images": [{"fileType": "png", "url": url}], "url": url})),
            ),
            (
                "a mail merge",
                sign(json!({"fileType": "xlsx", "url": url, "key": key, "documentType": "cell"})),
            ),
        ];
        for (what, token) in tokens {
            let bearer = fixture.app.stranger().with("authorization", &format!("Bearer {token}"));
            let answers = [
                bearer.get(&path(&document, "/file")).await,
                post(fixture, &document, json!({"token": token}), None).await,
                post(
                    fixture,
                    &document,
                    json!({"key": key, "status": 4}),
                    Some(token.clone()),
                )
                .await,
                post(fixture, &document, json!({"token": token}), Some(token.clone())).await,
            ];
            for answer in answers {
                assert!(matches!(answer.status, 401 | 403), "{what}: {}", answer.status);
                assert!(
                    answer.json()["code"].as_str().unwrap().starts_with("DOCSERVER_TOKEN_"),
                    "{what}"
                );
            }
        }
        assert_eq!(fixture.get_document(&document).await["version"], 0);
    }
);

/// Starts the service with one document as its own process.
async fn start_with_document(env: &mut ServerEnv) -> (ServerProcess, Client, String) {
    let (service, ada, rooms) = start_with_work_room(env).await;
    let new = json!({"title": "Ours", "documentType": "word"});
    let document = id(&ada.post(&rooms, new).await.expect(201));
    (service, ada, document)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x02_secret_is_never_exposed_and_can_be_replaced() {
    let practice = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
        .await
        .unwrap();
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    env.set("LOG_LEVEL", "trace");
    env.set("DOCSERVER_URL", &practice.url());
    let (service, ada, document) = start_with_document(&mut env).await;
    let route = path(&document, "/file");
    let old = sign(json!({"payload": {"url": format!("{}/api{route}", service.base)}}));
    let bearer = |service: &ServerProcess, token: &str| {
        Client::new(&service.base, None).with("authorization", &format!("Bearer {token}"))
    };
    assert_eq!(bearer(&service, &old).get(&route).await.status, 200);
    // A callback for another document is logged with its field names and without its token.
    let stray = sign(json!({"key": "somebody-elses-1", "status": 4}));
    let stranger = Client::new(&service.base, None);
    let refused = stranger
        .post(&path(&document, "/callback"), json!({"token": stray}))
        .await;
    refused.refused(403, "DOCSERVER_TOKEN_MISMATCH");
    let mut context = String::new();
    for address in [
        "/health",
        "/health/ready",
        "/openapi.json",
        "/nothing",
        "/users/me",
        &path(&document, ""),
        &path(&document, "/editor-config"),
        &path(&document, "/pdf"),
        &route,
        "/groups?limit=x",
    ] {
        let answer = ada.get(address).await;
        context.push_str(&String::from_utf8_lossy(&answer.bytes));
        for (name, value) in &answer.headers {
            context.push_str(name.as_str());
            context.push_str(&String::from_utf8_lossy(value.as_bytes()));
        }
    }
    service.stop();
    env.set("DOCSERVER_JWT_SECRET", "another-secret-for-tests-0123456789abcdef");
    let mut service = env.start("serve");
    service.ready().await;
    bearer(&service, &old)
        .get(&route)
        .await
        .refused(401, "DOCSERVER_TOKEN_INVALID");
    let claims =
        json!({"payload": {"url": format!("{}/api{route}", service.base)}, "iat": seconds(), "exp": seconds() + 300});
    let new = sign_as(
        jsonwebtoken::Algorithm::HS256,
        "another-secret-for-tests-0123456789abcdef",
        &claims,
    );
    assert_eq!(bearer(&service, &new).get(&route).await.status, 200);
    service.stop();
    let log = std::fs::read_to_string(env.folder().join("serve.log")).unwrap();
    let is_audited = log
        .lines()
        .any(|line| line.contains("audit") && line.contains("somebody-elses-1"));
    assert!(is_audited, "a key of another document leaves a line");
    for secret in [
        DOCSERVER_SECRET,
        AUTH_SECRET,
        "another-secret-for-tests",
        stray.as_str(),
        old.as_str(),
    ] {
        assert!(
            !log.contains(secret) && !context.contains(secret),
            "{secret} was disclosed"
        );
    }
    practice.stop().await;
    env.close();
}

with_fake_document_server!(
    #[sqlite]
    x03_disguised_file_is_rejected,
    [],
    |fake_server, fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let rooms = format!("/workrooms/{}/documents", fixture.room);
        let document = fixture.document("Our page").await;
        let key = fixture.key(&document).await;
        let good = fake_server.add_result("good", ResultDelivery::Whole(docx("good")));
        assert_eq!(tell(fixture, &document, save(6, &key, &good, 1)).await, (200, 0));
        let disguised: [&[u8]; 7] = [
            b"<!doctype html><script>alert(1)</script>",
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
            b"alert(document.cookie)",
            b"\xef\xbb\xbf  <html onload=alert(1)>",
            b"PK\x03\x04<script>alert(1)</script>",
            b"%PDF-1.7<html>",
            b"MZ\x90\0 an old acquaintance",
        ];
        for (number, bytes) in disguised.into_iter().enumerate() {
            let shown = String::from_utf8_lossy(bytes);
            let upload = ada.upload(&rooms, "page.docx", bytes.to_vec(), &[]).await;
            assert_eq!(upload.status, 415, "{shown}");
            let replaced = put(&ada, &path(&document, ""), bytes.to_vec(), "page.docx").await;
            assert_eq!(replaced.status, 415, "{shown}");
            let url = fake_server.add_result(&format!("bad{number}"), ResultDelivery::Whole(bytes.to_vec()));
            assert_eq!(
                tell(fixture, &document, save(2, &key, &url, 2)).await,
                (200, 1),
                "{shown}"
            );
        }
        assert_eq!(fixture.origins(&document).await, ["FORCESAVE"]);
        for route in ["/download", "/versions/1/download"] {
            let answer = ada.get(&path(&document, route)).await;
            assert!(answer.header("content-disposition").starts_with("attachment"));
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            assert_eq!(answer.header("content-security-policy"), "sandbox");
            assert!(answer.header("content-type").starts_with("application/vnd.openxml"));
        }
    }
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x04_zip_bomb_is_rejected_with_bounded_memory() {
    let blanks = vec![b' '; 80 << 20];
    let package = |name: &str, inside: &[u8]| docx_with("x", &[(name, inside)]);
    let bomb = archive(&[("word/big.xml", &blanks)]);
    let deep = (0..4).fold(docx("x"), |inside, _| package("word/embeddings/a.docx", &inside));
    let swelling = [
        ("80 MB of text in 90 kB", package("word/big.xml", &blanks)),
        (
            "the same one archive further in",
            package("word/embeddings/a.xlsx", &bomb),
        ),
        (
            "and two",
            package("word/embeddings/b.pptx", &package("ppt/embeddings/a.xlsx", &bomb)),
        ),
        ("named like a picture", package("word/media/image1.png", &bomb)),
        ("archives without end", deep),
        (
            "an archive that lies, inside",
            package("word/embeddings/a.docx", &archive_with_false_sizes()),
        ),
        (
            "macros inside",
            package(
                "word/embeddings/a.docx",
                &docx_with("x", &[("word/vbaProject.bin", b"x")]),
            ),
        ),
        (
            "a way out, inside",
            package("word/embeddings/a.docx", &docx_with("x", &[("../../x", b"x")])),
        ),
        ("20,000 entries", archive_with_many_entries()),
        ("entries that share their bytes", overlapping(40)),
        ("a liar", archive_with_false_sizes()),
        ("a way out", package("../../x", b"x")),
        ("a drive", package("c:/x", b"x")),
        ("a root", package("/etc/x", b"x")),
    ];
    drop(blanks);
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (service, ada, document) = start_with_document(&mut env).await;
    let address = path(&document, "");
    put(&ada, &address, docx("x"), "a.docx").await.expect(200);
    let before = service.resident();
    for (what, bytes) in swelling {
        let answer = put(&ada, &address, bytes, "a.docx").await;
        assert_eq!(answer.status, 415, "{what}: {}", String::from_utf8_lossy(&answer.bytes));
    }
    let grown = service.resident().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more than before");
    // Legitimate nested documents are accepted: a spreadsheet in a presentation in a text document.
    let honest = package(
        "word/embeddings/b.pptx",
        &package("ppt/embeddings/a.xlsx", &docx("a table")),
    );
    put(&ada, &address, honest, "a.docx").await.expect(200);
    service.stop();
    env.close();
}

with_fake_document_server!(
    #[sqlite]
    x05_callback_rate_limit_is_per_document_and_allows_retries,
    ["--rate-limit-factor=0.02"],
    |fake_server, fixture| {
        // The limit is 12 per minute in this test; the default is 600.
        let (document, other) = (
            fixture.document("Our page").await,
            fixture.document("Another page").await,
        );
        let key = format!("{document}-1");
        // Requests without a valid token do not count towards the limit.
        let attempts = (0..40).map(|_| post(fixture, &document, json!({"token": "x"}), None));
        assert!(join_all(attempts).await.iter().all(|answer| answer.status == 401));
        // Four attempts of one save in eight seconds, as the document server makes them.
        let url = fake_server.add_result("good", ResultDelivery::Whole(docx("good")));
        for _ in 0..4 {
            assert_eq!(tell(fixture, &document, save(2, &key, &url, 1)).await, (200, 0));
        }
        let joined = json!({"key": key, "status": 1, "users": []});
        for _ in 0..8 {
            assert_eq!(tell(fixture, &document, joined.clone()).await, (200, 0));
        }
        let refused = post(fixture, &document, json!({"token": sign(joined.clone())}), None).await;
        let wait: i64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&wait));
        refused.refused(429, "RATE_LIMITED");
        // The other route and other documents have separate limits.
        let route = path(&document, "/file");
        let token = sign(json!({"payload": {"url": format!("{}/api{route}", fixture.app.base)}}));
        let bearer = fixture.app.stranger().with("authorization", &format!("Bearer {token}"));
        for _ in 0..12 {
            assert_eq!(bearer.get(&route).await.status, 200);
        }
        bearer.get(&route).await.refused(429, "RATE_LIMITED");
        let theirs = json!({"key": format!("{other}-1"), "status": 1, "users": []});
        assert_eq!(tell(fixture, &other, theirs).await, (200, 0));
        fixture.app.app.rate_limiter().advance_clock(61);
        assert_eq!(tell(fixture, &document, joined).await, (200, 0));
    }
);

with_document_server!(
    #[sqlite]
    x06_requests_to_document_server_contain_no_names,
    |fixture| {
        let world = &fixture.app.world;
        let document = fixture.document("Our page").await;
        let editor = fixture.open(&world.ben, &document).await;
        editor.type_text("Words.").await.unwrap();
        fixture.submit(&world.ben, &document).await.expect(200);
        fixture.app.as_(&world.ada).get(&path(&document, "/pdf")).await;
        fixture.app.app.document_workflows().reconcile_once().await;
        editor.leave().await.unwrap();
        let asked = fixture.server.requests();
        let signed: Vec<_> = asked.iter().filter(|heard| heard.what != "result").collect();
        let commands = |name: &str| signed.iter().any(|heard| heard.parameters["c"] == name);
        assert!(commands("forcesave") && commands("drop") && commands("getForgottenList"));
        assert!(signed.iter().any(|heard| heard.what == "converter"));
        let people = [&world.ben, &world.cem, &world.ada];
        for heard in signed {
            let context = heard.parameters.to_string();
            let (iat, exp) = (
                heard.parameters["iat"].as_i64().unwrap(),
                heard.parameters["exp"].as_i64().unwrap(),
            );
            assert!(exp > iat && exp - iat <= 600, "{context}");
            for person in people {
                assert!(
                    !context.contains(&person.email) && !context.contains(&person.name),
                    "{context}"
                );
            }
            assert!(
                !context.contains(DOCSERVER_SECRET) && !context.contains("North School"),
                "{context}"
            );
        }
    }
);
