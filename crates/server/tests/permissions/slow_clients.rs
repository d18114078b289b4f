//! Behavior for slow, large and many requests: time limits, size limits, connection limits and JSON depth. Also checks
//! the security headers of every response.

use std::time::Duration;

use api::router;
use reqwest::Method;

use test_support::raw_http::RawHttp;
use test_support::{DatabaseKind, FRONTEND, TestApp, WAIT_TIMEOUT};

async fn start_service(flags: &[&str]) -> TestApp {
    TestApp::start_with(DatabaseKind::Sqlite, flags).await.unwrap()
}

/// Returns the head of a request from Ada, without the final empty line.
fn request_head(app: &TestApp, method: &str, path: &str) -> String {
    let cookie = &app.world.ada.cookie;
    format!("{method} /api{path} HTTP/1.1\r\nhost: north\r\ncookie: {cookie}\r\norigin: {FRONTEND}\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_connections_are_closed_and_idle_ones_kept() {
    let app = start_service(&[]).await;
    let silent = async {
        assert_eq!(RawHttp::open(&app).await.wait_for_end().await, 0, "nothing was asked");
    };
    let dripping = async {
        let mut wire = RawHttp::open(&app).await;
        // Takes more than ten seconds in total, with at most one second between two bytes.
        for byte in request_head(&app, "GET", "/groups").as_bytes().iter().take(40) {
            wire.send([*byte]).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        wire.send("\r\n\r\n").await;
        assert_eq!(wire.answer().await, None, "the head took too long");
    };
    let idle = async {
        let mut wire = RawHttp::open(&app).await;
        let request = format!("{}\r\n", request_head(&app, "GET", "/groups"));
        wire.send(&request).await;
        assert_eq!(wire.answer().await.unwrap().0, 200);
        // Longer than the time limit for a request head. Browsers keep their connections open for a minute.
        tokio::time::sleep(Duration::from_secs(14)).await;
        wire.send(&request).await;
        assert_eq!(wire.answer().await.unwrap().0, 200, "an idle connection is kept");
        wire.send("GET /api/hea").await;
        assert_eq!(
            wire.answer().await,
            None,
            "a later head may take no longer than the first"
        );
    };
    let stalled_json = async {
        let mut wire = RawHttp::open(&app).await;
        let head = request_head(&app, "POST", "/subjects").replace(&app.world.ada.cookie, &app.world.adam.cookie);
        wire.send(format!(
            "{head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{{\"name\": "
        ))
        .await;
        let (status, body) = wire.answer().await.unwrap();
        assert!(status == 408 && body.contains("REQUEST_TIMEOUT"), "{status} {body}");
        wire.wait_for_end().await;
    };
    let stalled_file = async {
        let mut wire = RawHttp::open(&app).await;
        let new =
            serde_json::json!({"classId": app.world.seven_b.id, "title": "T", "deadline": "2099-01-01T00:00:00Z"});
        let topic = app.as_(&app.world.ada).post("/assignments", new).await.expect(201);
        let path = format!("/assignments/{}/attachments", topic["id"].as_str().unwrap());
        let head = request_head(&app, "POST", &path);
        wire.send(format!(
            "{head}content-type: multipart/form-data; boundary=x\r\ncontent-length: 9000\r\n\r\n\
             --x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nabc"
        ))
        .await;
        let (status, body) = wire.answer().await.unwrap();
        assert!(status == 408 && body.contains("REQUEST_TIMEOUT"), "{status} {body}");
    };
    tokio::join!(silent, dripping, idle, stalled_json, stalled_file);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_uris_and_headers_are_rejected() {
    let app = start_service(&[]).await;
    let ask = async |path: &str, fields: &str| {
        let mut wire = RawHttp::open(&app).await;
        wire.send(format!("{}{fields}\r\n", request_head(&app, "GET", path)))
            .await;
        wire.answer().await.unwrap()
    };
    let path = |length: usize| format!("/groups?search={}", "x".repeat(length - "/api/groups?search=".len()));
    assert_eq!(
        ask(&path(8192), "").await.0,
        400,
        "read, and found too long for a search"
    );
    for length in [8193, 40_000] {
        let (status, body) = ask(&path(length), "").await;
        assert!(status == 414 && body.contains("URI_TOO_LONG"), "{status} {body}");
        assert!(body.contains("requestId"));
    }
    let field = |length: usize| format!("x-padding: {}\r\n", "x".repeat(length));
    assert_eq!(ask("/groups", &field(15_000)).await.0, 200);
    for length in [16_384, 40_000] {
        let (status, body) = ask("/groups", &field(length)).await;
        assert!(status == 431 && body.contains("HEADERS_TOO_LARGE"), "{status} {body}");
    }
    // hyper itself rejects a head that exceeds the read buffer or has too many fields, without an error body of the
    // service.
    assert_eq!(ask("/groups", &field(200_000)).await.0, 431);
    assert_eq!(ask("/groups", &"a: b\r\n".repeat(101)).await.0, 431);
    assert_eq!(ask("/groups", &"a: b\r\n".repeat(90)).await.0, 200);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_per_address_are_limited_and_released() {
    let app = start_service(&["--connections-per-address=3"]).await;
    let request = format!("{}\r\n", request_head(&app, "GET", "/groups"));
    let ask = async |wire: &mut RawHttp| {
        wire.send(&request).await;
        wire.answer().await.map(|(status, _)| status)
    };
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut wire = RawHttp::open(&app).await;
        assert_eq!(ask(&mut wire).await, Some(200));
        open.push(wire);
    }
    assert_eq!(ask(&mut RawHttp::open(&app).await).await, None, "a fourth");
    assert_eq!(ask(&mut open[0]).await, Some(200), "the others go on");
    open.pop();
    // The server detects a closed connection slightly later than the client.
    let again = async {
        while ask(&mut RawHttp::open(&app).await).await != Some(200) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, again).await.unwrap();
    drop(open);
    app.close().await;

    let app = start_service(&["--connections-max=2", "--trust-proxy=127.0.0.1"]).await;
    let request = format!("{}\r\n", request_head(&app, "GET", "/groups"));
    let mut open = [RawHttp::open(&app).await, RawHttp::open(&app).await];
    for wire in &mut open {
        wire.send(&request).await;
        assert_eq!(wire.answer().await.unwrap().0, 200);
    }
    assert_eq!(
        RawHttp::open(&app).await.wait_for_end().await,
        0,
        "every client has enough"
    );
    drop(open);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trusted_proxy_is_exempt_from_connection_limit() {
    let app = start_service(&["--connections-per-address=1", "--trust-proxy=127.0.0.1"]).await;
    let request = format!("{}\r\n", request_head(&app, "GET", "/groups"));
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut wire = RawHttp::open(&app).await;
        wire.send(&request).await;
        assert_eq!(wire.answer().await.unwrap().0, 200);
        open.push(wire);
    }
    drop(open);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_nesting_above_the_limit_is_rejected() {
    let app = start_service(&[]).await;
    let nested = |levels: usize| format!("{{\"name\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    for path in ["/subjects", "/auth/sign-in/email"] {
        let send = async |levels: usize| {
            let client = app.as_(&app.world.adam);
            let request = client
                .request(Method::POST, path)
                .header("content-type", "application/json");
            client.finish(request.body(nested(levels))).await.expect(400)
        };
        assert_eq!(send(31).await["code"], "VALIDATION_ERROR", "{path}");
        assert_ne!(send(32).await["code"], "VALIDATION_ERROR", "{path}");
    }
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_api_response_has_security_headers() {
    let app = start_service(&["--frontend-url=https://school.test"]).await;
    let ada = app.as_(&app.world.ada).with("origin", "https://school.test");
    let (_, rows) = router::description();
    let routes = rows.iter().map(|row| {
        let path = test_support::samples::path_with_unknown_ids(&row.path);
        (row.method.parse::<Method>().unwrap(), path)
    });
    // Also an unknown path, an unsupported method, and a preflight request.
    let others = [
        (Method::GET, "/no-such-noun".to_owned()),
        (Method::PUT, "/subjects".to_owned()),
        (Method::OPTIONS, "/subjects".to_owned()),
    ];
    for (method, path) in routes.chain(others) {
        if path.starts_with("/auth/sign-out") {
            continue;
        }
        let answer = ada.send(method.clone(), &path, None).await;
        let context = format!("{method} {path}");
        for (name, value) in [
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("strict-transport-security", "max-age=31536000"),
        ] {
            assert_eq!(answer.header(name), value, "{context}: {name}");
        }
        // `Vary` may have further values, because compressible responses also vary by `Accept-Encoding`.
        let mut varies = answer.headers.get_all("vary").iter();
        assert!(varies.any(|by| by == "Origin"), "{context}: {:?}", answer.headers);
        if answer.header("content-type").starts_with("application/json") {
            let policy = "default-src 'none'; frame-ancestors 'none'";
            assert_eq!(answer.header("content-security-policy"), policy, "{context}");
        }
    }
    app.close().await;
    let flags = ["--frontend-url=https://school.test", "--hsts-subdomains=true"];
    let with_subdomains = start_service(&flags).await;
    let answer = with_subdomains.stranger().get("/health").await;
    let value = "max-age=31536000; includeSubDomains";
    assert_eq!(answer.header("strict-transport-security"), value);
    with_subdomains.close().await;
    let plain = start_service(&[]).await;
    let answer = plain.stranger().get("/health").await;
    assert!(
        !answer.headers.contains_key("strict-transport-security"),
        "a page without TLS"
    );
    plain.close().await;
}
