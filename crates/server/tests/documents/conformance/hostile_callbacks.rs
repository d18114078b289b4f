//! 25 hostile tokens and 60 hostile callbacks: each gets the expected response, none stores anything, and no server
//! except our own document server is called.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use test_support::app::{AUTH_SECRET, DOCSERVER_SECRET};
use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::fake_document_server::{post, save, seconds, sign, sign_as};

const MISSING: &str = "DOCSERVER_TOKEN_MISSING";
const INVALID: &str = "DOCSERVER_TOKEN_INVALID";
const MISMATCH: &str = "DOCSERVER_TOKEN_MISMATCH";

/// Starts a foreign server and returns its address and its request counter.
async fn start_foreign_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (address, calls)
}

/// Returns the state that a callback can change.
async fn state(fixture: &DocumentServerFixture, document: &str) -> (i64, usize, String, usize) {
    let seen = fixture.get_document(document).await;
    (
        seen["version"].as_i64().unwrap(),
        fixture.versions(document).await.len(),
        fixture.key(document).await,
        fixture.files().len(),
    )
}

with_fake_document_server!(
    #[sqlite]
    callback_with_invalid_token_changes_nothing,
    [],
    |fake_server, fixture| {
        let (address, calls) = start_foreign_server().await;
        let (document, other) = (
            fixture.document("Our page").await,
            fixture.document("Another page").await,
        );
        let before = state(fixture, &document).await;
        let key = before.2.clone();
        let url = format!("http://{address}/cache/files/data/x/output.docx");
        let good = save(2, &key, &url, 1);
        let with = |name: &str, value: Value| {
            let mut claims = good.clone();
            claims[name] = value;
            claims
        };
        let without = |name: &str| {
            let mut claims = good.clone();
            claims.as_object_mut().unwrap().remove(name);
            claims
        };
        let timed = |iat: i64, exp: i64| {
            let mut claims = with("iat", json!(seconds() + iat));
            claims["exp"] = json!(seconds() + exp);
            claims
        };
        let whole = timed(0, 300);
        let by = |algorithm, secret: &str| json!({"token": sign_as(algorithm, secret, &whole)});
        let body = |claims: Value| json!({"token": sign(claims)});
        let header = |claims: Value| Some(sign(json!({"payload": claims})));
        let genuine = sign(good.clone());
        let parts: Vec<&str> = genuine.split('.').collect();
        let config = fixture.configuration(&fixture.app.world.ben, &document).await;
        let editor = config["token"].as_str().unwrap().to_owned();
        let endless = sign_as(Algorithm::HS256, DOCSERVER_SECRET, &with("iat", json!(seconds())));
        let refused = [
            (401, MISSING, good.clone(), None),
            (401, MISSING, json!({"token": ""}), None),
            (401, MISSING, json!({"token": 7}), None),
            (401, INVALID, json!({"token": "x"}), header(good.clone())),
            (401, INVALID, by(Algorithm::HS256, AUTH_SECRET), None),
            (401, INVALID, by(Algorithm::HS256, ""), None),
            (401, INVALID, by(Algorithm::HS384, DOCSERVER_SECRET), None),
            (401, INVALID, by(Algorithm::HS512, DOCSERVER_SECRET), None),
            (
                401,
                INVALID,
                json!({"token": format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", parts[1])}),
                None,
            ),
            (
                401,
                INVALID,
                json!({"token": format!("{}.{}.", parts[0], parts[1])}),
                None,
            ),
            (401, INVALID, json!({"token": endless}), None),
            (401, INVALID, body(timed(-900, 900)), None),
            (401, INVALID, body(timed(-400, -100)), None),
            (401, INVALID, body(timed(300, 600)), None),
            (403, MISMATCH, json!({"token": editor}), None),
            (403, MISMATCH, json!({}), Some(editor.clone())),
            (403, MISMATCH, body(json!({"payload": good})), None),
            (403, MISMATCH, json!({}), Some(genuine.clone())),
            (
                403,
                MISMATCH,
                json!({}),
                Some(sign(json!({"payload": {"url": config["document"]["url"]}}))),
            ),
            (403, MISMATCH, body(json!({"key": key, "url": url, "version": 1})), None),
            (403, MISMATCH, body(with("outputtype", json!("pdf"))), None),
            (403, MISMATCH, body(with("c", json!("info"))), None),
            (403, MISMATCH, body(without("status")), None),
            (403, MISMATCH, body(without("key")), None),
            (403, MISMATCH, body(with("document", config["document"].clone())), None),
            (403, MISMATCH, body(good.clone()), header(with("status", json!(4)))),
            (
                403,
                MISMATCH,
                body(good.clone()),
                header(with("key", json!(format!("{other}-1")))),
            ),
            (403, MISMATCH, body(with("key", json!(format!("{other}-1")))), None),
        ];
        assert!(refused.len() >= 25);
        for (status, code, body, header) in refused {
            let answer = post(fixture, &document, body.clone(), header).await;
            assert_eq!(
                (answer.status, answer.json()["code"].as_str()),
                (status, Some(code)),
                "{body}"
            );
        }
        assert_eq!(state(fixture, &document).await, before);
        assert_eq!(
            (calls.load(Ordering::Relaxed), fake_server.fetched()),
            (0, Vec::new()),
            "nobody was called"
        );
    }
);

/// URLs that name another server and a result path. Only our own document server is requested, and it has no such
/// result.
fn urls_of_other_hosts(start_foreign_server: &str) -> Vec<String> {
    let port = start_foreign_server.rsplit(':').next().unwrap();
    let results = "/cache/files/data/x/output.docx?md5=x";
    let hosts = [
        format!("http://{start_foreign_server}"),
        format!("https://{start_foreign_server}"),
        format!("HTTP://{start_foreign_server}"),
        format!("http://user@{start_foreign_server}"),
        format!("http://docs.example:pass@{start_foreign_server}"),
        format!("http://docs.example\\@{start_foreign_server}"),
        format!("http://localhost:{port}"),
        format!("http://[::1]:{port}"),
        format!("http://0x7f000001:{port}"),
        format!("http://2130706433:{port}"),
        format!("http://0177.0.0.1:{port}"),
        format!("http://127.1:{port}"),
        "http://169.254.169.254".to_owned(),
        "http://metadata.internal:80".to_owned(),
        "http://evil.example:1".to_owned(),
        "http://docs.example.evil.example".to_owned(),
    ];
    let mut found: Vec<String> = hosts.iter().map(|host| format!("{host}{results}")).collect();
    found.retain(|address| !address.contains('\\'));
    found.extend([
        format!("http://{start_foreign_server}/cache/files/\r\nHost: evil.example\r\n\r\n"),
        format!("  http://{start_foreign_server}{results}  "),
        format!("http:/{start_foreign_server}{results}"),
        format!("http://docs.example{results}&url=http://{start_foreign_server}/"),
    ]);
    found
}

/// URLs that do not name a result.
fn urls_without_result(start_foreign_server: &str) -> Vec<String> {
    let mut found: Vec<String> = [
        "",
        " ",
        "x",
        "/cache/files/x",
        "//evil.example/cache/files/x",
        "file:///cache/files/x",
        "file:///etc/passwd",
        "ftp://docs/cache/files/x",
        "gopher://docs/cache/files/x",
        "data:application/zip;base64,UEsDBA==",
        "javascript:alert(1)",
        "unix:/cache/files/x",
        "http://",
        "http:///",
        "http://:80/cache/files/x",
    ]
    .map(str::to_owned)
    .to_vec();
    let paths = [
        "/etc/passwd",
        "/",
        "",
        "/command",
        "/cache/filesx",
        "/CACHE/FILES/x",
        "/cache/files",
        "/cache/files/../../command",
        "/cache/files/%2e%2e/%2e%2e/command",
        "/cache/files/..%2f..%2fcommand",
        "/cache/files/..%5ccommand",
        "/cache/files/..\\..\\command",
        "//cache/files/x",
        "/cache/files//x",
        "/cache/files/%2F%2e%2e/x",
        "/?/cache/files/x",
        "#/cache/files/x",
        "/x/cache/files/x",
    ];
    found.extend(paths.iter().map(|path| format!("http://{start_foreign_server}{path}")));
    found
}

with_fake_document_server!(
    #[sqlite]
    hostile_callback_changes_nothing_and_requests_no_other_host,
    [],
    |fake_server, fixture| {
        let (address, calls) = start_foreign_server().await;
        let document = fixture.document("Our page").await;
        let before = state(fixture, &document).await;
        let key = before.2.clone();
        let elsewhere = format!("http://{address}/cache/files/data/x/output.docx");
        let with = |name: &str, value: Value| {
            let mut claims = save(2, &key, &elsewhere, 1);
            claims[name] = value;
            claims
        };
        let mut callbacks: Vec<(u16, Value, Value)> = Vec::new();
        for url in urls_of_other_hosts(&address) {
            callbacks.push((503, json!(1), save(2, &key, &url, 1)));
        }
        for url in urls_without_result(&address) {
            callbacks.push((200, json!(1), save(6, &key, &url, 1)));
        }
        let mut nameless = with("users", json!([]));
        nameless.as_object_mut().unwrap().remove("url");
        callbacks.push((200, json!(1), nameless));
        let many: Vec<String> = (0..10_000).map(|number| format!("user{number}")).collect();
        callbacks.push((503, json!(1), with("users", json!(many))));
        callbacks.push((503, json!(1), with("lastsave", json!("soon"))));
        callbacks.push((503, json!(1), with("userdata", json!({"nonce": [1, 2]}))));
        callbacks.push((503, json!(1), with("history", json!([[[[]]]]))));
        callbacks.push((503, json!(1), with("filetype", json!("../../../../etc/passwd"))));
        callbacks.push((503, json!(1), with("changesurl", json!(elsewhere))));
        callbacks.push((200, json!(1), with("status", json!(3))));
        callbacks.push((200, json!(1), with("status", json!(7))));
        let mismatched = [
            ("url", json!(7)),
            ("url", json!([elsewhere])),
            ("users", json!("ben")),
            ("users", json!([7])),
            ("lastsave", json!(1)),
            ("notmodified", json!("yes")),
            ("filetype", json!(["docx"])),
            ("key", json!(1)),
            ("key", json!([key])),
            ("key", json!(format!("{key} "))),
            ("key", json!("../../x-1")),
        ];
        for (name, value) in mismatched {
            callbacks.push((403, json!(null), with(name, value)));
        }
        assert!(callbacks.len() >= 60, "only {}", callbacks.len());
        let event = callbacks.into_iter().map(async |(status, error, claims)| {
            let answer = post(fixture, &document, json!({"token": sign(claims.clone())}), None).await;
            let context = claims.to_string().chars().take(200).collect::<String>();
            assert_eq!((answer.status, &answer.json()["error"]), (status, &error), "{context}");
        });
        join_all(event).await;

        // Bodies that are not a callback.
        let door = path(&document, "/callback");
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (status, body) in [
            (400, Vec::new()),
            (400, b"token=x".to_vec()),
            (400, b"{\"token\":".to_vec()),
            (400, vec![0xff, 0xfe, 0x00]),
            (400, deep.into_bytes()),
            (401, b"[]".to_vec()),
            (401, b"null".to_vec()),
            (401, b"\"token\"".to_vec()),
        ] {
            let client = fixture.app.stranger();
            let request = client
                .request(reqwest::Method::POST, &door)
                .header("content-type", "application/json");
            let shown = String::from_utf8_lossy(&body).chars().take(40).collect::<String>();
            assert_eq!(client.finish(request.body(body)).await.status, status, "{shown}");
        }
        assert_eq!(state(fixture, &document).await, before);
        assert_eq!(calls.load(Ordering::Relaxed), 0, "the foreign server was called");
        let asked = fake_server.fetched();
        assert!(
            !asked.is_empty() && asked.iter().all(|line| line.starts_with("GET /cache/files/")),
            "{asked:?}"
        );
    }
);
