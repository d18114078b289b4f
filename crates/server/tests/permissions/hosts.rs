//! Hosts that name a school: every spelling resolves to the same school or to none, never to another one, and the
//! session takes precedence over the `Host` header.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use test_support::tables::fingerprints;
use test_support::{DatabaseKind, FRONTEND, TestApp};

/// Sends a request exactly as written and returns status line, headers and body.
async fn send_raw(app: &TestApp, head: &str) -> String {
    let mut stream = TcpStream::connect(app.base.strip_prefix("http://").unwrap())
        .await
        .unwrap();
    stream
        .write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut answer = Vec::new();
    // A server that rejects the request may close the connection before it has read everything.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Returns the slug of the school that a request resolves to, or `None`. Any other response fails the test.
async fn resolved_slug(app: &TestApp, headers: &str) -> Option<String> {
    resolved_slug_of(app, "/api/tenants/current", headers).await
}

async fn resolved_slug_of(app: &TestApp, target: &str, headers: &str) -> Option<String> {
    let answer = send_raw(app, &format!("GET {target} HTTP/1.1\r\n{headers}")).await;
    let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
    match status.as_str() {
        "200" => {
            let body = answer.split("\r\n\r\n").nth(1).unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            Some(body["slug"].as_str().unwrap().to_owned())
        }
        "404" | "400" => None,
        _ => panic!("{headers:?}: {answer}"),
    }
}

/// Equivalent spellings of North's host.
const EQUIVALENT_HOSTS: [&str; 10] = [
    "north.schools.test",
    "NORTH.schools.test",
    "North.Schools.Test",
    "north.schools.TEST",
    "north.schools.test.",
    "NORTH.SCHOOLS.TEST.",
    "north.schools.test:80",
    "north.schools.test:3000",
    "north.schools.test.:443",
    "nOrTh.ScHoOlS.tEsT.:65535",
];

/// Similar spellings, and other unknown hosts.
const UNKNOWN_HOSTS: [&str; 36] = [
    "",
    ".",
    "schools.test",
    ".schools.test",
    "schools.test.",
    "north",
    "north.schools",
    "north.schools.test..",
    ".north.schools.test",
    "north..schools.test",
    "x.north.schools.test",
    "north.schools.test.evil.example",
    "north.schools.test.x",
    "northschools.test",
    "evil-north.schools.test",
    "north-.schools.test",
    "nörth.schools.test",
    "xn--nrth-5qa.schools.test",
    "north%2eschools.test",
    "north.schools.test%00",
    "north.schools.test/",
    "north.schools.test#x",
    "north.schools.test?x",
    "user@north.schools.test",
    "north.schools.test:80:80",
    "north.schools.test:port",
    "north.schools.test, south.schools.test",
    "north.schools.test;south.schools.test",
    "north schools.test",
    "\"north.schools.test\"",
    "[north.schools.test]",
    "127.0.0.1",
    "[::1]:3000",
    "localhost",
    "school.test",
    "*.schools.test",
];

both!(host_spellings_resolve_to_same_school_or_none, |app| {
    for host in EQUIVALENT_HOSTS {
        assert_eq!(
            resolved_slug(app, &format!("Host: {host}")).await.as_deref(),
            Some("north"),
            "{host}"
        );
    }
    for host in UNKNOWN_HOSTS {
        assert_eq!(resolved_slug(app, &format!("Host: {host}")).await, None, "{host:?}");
    }
    let two = "Host: north.schools.test\r\nHost: north.schools.test";
    assert_eq!(resolved_slug(app, two).await, None, "two Host headers");
    let two = "Host: south.schools.test\r\nHost: north.schools.test";
    assert_eq!(resolved_slug(app, two).await, None, "two Host headers");
    let line = "http://north.schools.test/api/tenants/current";
    assert_eq!(
        resolved_slug_of(app, line, "Host: south.schools.test").await,
        None,
        "line and header contradict"
    );
    assert_eq!(
        resolved_slug_of(app, line, "Host: NORTH.schools.test").await.as_deref(),
        Some("north")
    );
    for header in [
        "X-Forwarded-Host",
        "X-Host",
        "X-Original-Host",
        "Forwarded: host=north.schools.test\r\nX-Y",
    ] {
        let forged = format!("Host: localhost\r\n{header}: north.schools.test");
        assert_eq!(resolved_slug(app, &forged).await, None, "{header} of a stranger");
    }
});

async fn check_forwarded_host(kind: DatabaseKind) {
    let Some(app) = TestApp::start_with(kind, &["--trust-proxy=127.0.0.1"]).await else {
        return;
    };
    let with = |forwarded: &str| format!("Host: inner.example\r\n{forwarded}");
    let context = |host: &str| with(&format!("X-Forwarded-Host: {host}"));
    assert_eq!(
        resolved_slug(&app, &context("NORTH.schools.test:443")).await.as_deref(),
        Some("north")
    );
    assert_eq!(resolved_slug(&app, &context("unknown.schools.test")).await, None);
    assert_eq!(
        resolved_slug(&app, &context("evil.example, north.schools.test")).await,
        None
    );
    let two = with("X-Forwarded-Host: north.schools.test\r\nX-Forwarded-Host: south.schools.test");
    assert_eq!(resolved_slug(&app, &two).await, None, "two answers are none");
    let empty = "Host: north.schools.test\r\nX-Forwarded-Host: ";
    assert_eq!(
        resolved_slug(&app, empty).await,
        None,
        "the header of the proxy counts, even when it is empty"
    );
    assert_eq!(
        resolved_slug(&app, "Host: north.schools.test").await.as_deref(),
        Some("north")
    );
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forwarded_host_counts_only_from_trusted_proxy_on_sqlite() {
    check_forwarded_host(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forwarded_host_counts_only_from_trusted_proxy_on_postgres() {
    check_forwarded_host(DatabaseKind::Postgres).await;
}

both!(custom_domain_resolves_school_and_shows_branding_only, |app| {
    let root = app.as_(&app.world.root);
    let path = format!("/tenants/{}", app.world.south);
    let edit = json!({"customDomain": "learn.south.example", "logo": "https://south.example/logo.png", "metadata": {"locale": "de"}});
    root.patch(&path, edit).await.expect(200);
    let branding = app
        .stranger()
        .with("host", "Learn.South.Example:8443")
        .get("/tenants/current")
        .await
        .expect(200);
    let whole = json!({"name": "South School", "slug": "south", "logo": "https://south.example/logo.png"});
    assert_eq!(branding, whole);
    assert_eq!(resolved_slug(app, "Host: www.learn.south.example").await, None);
    root.patch(&path, json!({"customDomain": null})).await.expect(200);
    assert_eq!(
        resolved_slug(app, "Host: learn.south.example").await,
        None,
        "gone at once"
    );
    // A suspended school keeps its branding, so that its users can still find the sign-in page.
    root.post(&format!("{path}/suspend"), json!({})).await.expect(200);
    assert_eq!(
        resolved_slug(app, "Host: south.schools.test").await.as_deref(),
        Some("south")
    );
});

both!(pages_on_school_host_redirect_to_the_frontend, |app| {
    let page = async |method: &str, path: &str, host: &str| {
        let answer = send_raw(
            app,
            &format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0"),
        )
        .await;
        let head = answer.split("\r\n\r\n").next().unwrap().to_owned();
        let location = head
            .lines()
            .find_map(|line| line.strip_prefix("location: ").map(str::to_owned));
        (head.split(' ').nth(1).unwrap().to_owned(), location)
    };
    let there = |slug: &str| ("302".to_owned(), Some(format!("{FRONTEND}/?org={slug}")));
    for path in ["/", "/classes/x?y=1", "/apiary"] {
        assert_eq!(page("GET", path, "north.schools.test").await, there("north"), "{path}");
    }
    assert_eq!(page("HEAD", "/", "SOUTH.schools.test.").await, there("south"));
    for host in ["school.test", "localhost", "unknown.schools.test", "schools.test"] {
        assert_eq!(page("GET", "/", host).await, ("200".to_owned(), None), "{host}");
    }
    assert_eq!(
        page("POST", "/", "north.schools.test").await.1,
        None,
        "no request with a body is sent on"
    );
    let api = page("GET", "/api/health/live", "north.schools.test").await;
    assert_eq!(api, ("200".to_owned(), None), "the API is served on every host");
});

both!(session_takes_precedence_over_host, |app| {
    let world = &app.world;
    let before = fingerprints(&app.database).await;
    for person in [&world.zara, &world.zoe, &world.zack] {
        let there = app.as_(person).with("host", "north.schools.test");
        let classes = there.get("/classes").await.expect(200);
        assert_eq!(
            (classes.as_array().unwrap().len(), &classes[0]["name"]),
            (1, &json!("9c"))
        );
        there
            .get(&format!("/classes/{}", world.seven_b.id))
            .await
            .refused(404, "NOT_FOUND");
        let course = json!({"name": "X", "classId": world.seven_b.id, "subjectId": world.seven_b.subject});
        let status = there.post("/courses", course).await.status;
        assert!(matches!(status, 403 | 404), "{status}");
    }
    assert_eq!(fingerprints(&app.database).await, before);
    let nobody = app.as_(&world.nobody).with("host", "north.schools.test");
    nobody.get("/classes").await.refused(403, "NOT_A_MEMBER");
    app.as_(&world.nobody)
        .get("/classes")
        .await
        .refused(400, "NO_ACTIVE_ORGANIZATION");
    // A member without an active school is in the school of the host. The same applies to super admins.
    app.as_(&world.ada)
        .post("/auth/organization/set-active", json!({"organizationId": null}))
        .await
        .expect(200);
    let ada = app.as_(&world.ada).with("host", "north.schools.test");
    assert_eq!(ada.get("/classes").await.expect(200).as_array().unwrap().len(), 2);
    let root = app.as_(&world.root).with("host", "south.schools.test");
    assert_eq!(root.get("/classes").await.expect(200).as_array().unwrap().len(), 1);
});

/// Returns the status of a request with these header lines.
async fn status(app: &TestApp, line: &str, headers: &str) -> String {
    let answer = send_raw(app, &format!("{line}\r\n{headers}")).await;
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

both!(request_without_exactly_one_valid_host_is_a_400, |app| {
    let line = "GET /api/health HTTP/1.1";
    for headers in [
        "Accept: */*",
        "Host: north.schools.test\r\nHost: north.schools.test",
        "Host: north.schools.test\r\nHost: south.schools.test",
        "Host:",
        "Host: north schools.test",
        "Host: user@north.schools.test",
        "Host: north.schools.test/path",
        "Host: north.schools.test:port",
        "Host: north.schools.test:65536",
        "Host: north.schools.test, south.schools.test",
        "Host: [::1",
        "Host: *.schools.test",
    ] {
        let answer = send_raw(app, &format!("{line}\r\n{headers}")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{headers:?}: {answer}");
        assert!(answer.contains("\"code\":\"INVALID_HOST\""), "{headers:?}: {answer}");
        assert!(answer.contains("x-request-id"), "{headers:?}: {answer}");
    }
    for host in [
        "north.schools.test",
        "localhost:3000",
        "127.0.0.1:80",
        "[::1]:3000",
        "unknown.example.",
    ] {
        assert_eq!(status(app, line, &format!("Host: {host}")).await, "200", "{host}");
    }
    // HTTP/1.0 has no `Host` header. Health checks of old proxies use it.
    assert_eq!(status(app, "GET /api/health HTTP/1.0", "Accept: */*").await, "200");
});

both!(two_origin_headers_are_a_403, |app| {
    let cookie = &app.world.ada.cookie;
    let ours = format!("Origin: {FRONTEND}");
    for (line, origins) in [
        (
            "POST /api/auth/sign-out HTTP/1.1",
            format!("{ours}\r\nOrigin: https://evil.example"),
        ),
        ("POST /api/courses HTTP/1.1", format!("{ours}\r\n{ours}")),
        (
            "GET /api/courses HTTP/1.1",
            format!("Origin: https://evil.example\r\n{ours}"),
        ),
        (
            "GET /api/socket.io/?EIO=4&transport=polling HTTP/1.1",
            format!("{ours}\r\nOrigin: https://evil.example"),
        ),
    ] {
        let head = format!("{line}\r\nHost: x\r\nCookie: {cookie}\r\nContent-Length: 0\r\n{origins}");
        let answer = send_raw(app, &head).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{head}: {answer}");
        assert!(answer.contains("INVALID_ORIGIN"), "{head}: {answer}");
    }
    app.as_(&app.world.ada).get("/courses").await.expect(200);
});
