//! Tests the limits on what one client can use of the running service: memory by bodies without a session, connections
//! through a proxy, disk space by uploads held open, exports by slow reading. Each test starts the built binary and
//! runs the attack.

use std::time::{Duration, Instant};

use document_server_simulator::{Simulator, SimulatorSettings, client};
use domain::id::DocumentId;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use test_support::document_server_fixture::path;
use test_support::office::docx_with;
use test_support::raw_http::RawHttp;
use test_support::topics::{group, id, topic};
use test_support::{Client, DOCSERVER_SECRET, DatabaseKind, FRONTEND, ServerEnv, ServerProcess, TestUser, World};

/// Longer than any response takes on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);
/// The pause in a body after which the service ends the request.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);

async fn started(settings: &[(&str, &str)]) -> (ServerEnv, World, ServerProcess) {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    for (name, value) in settings {
        env.set(name, value);
    }
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    (env, world, service)
}

fn as_(service: &ServerProcess, person: &TestUser) -> Client {
    Client::new(&service.base, Some(person.cookie.clone()))
}

/// Returns the head of a request with a body of `length` bytes and additional headers.
fn head(method: &str, path: &str, length: usize, further: &str) -> String {
    format!(
        "{method} /api{path} HTTP/1.1\r\nhost: north\r\norigin: {FRONTEND}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{further}\r\n"
    )
}

fn callback() -> String {
    let document = DocumentId::new("0190a1b2-0000-7000-8000-00000000dead");
    path(document.as_str(), "/callback")
}

#[tokio::test]
async fn callback_with_forged_header_token_is_refused_before_its_body() {
    let (_env, _, service) = started(&[]).await;
    let mut raw_http = RawHttp::open_at(&service.base).await;
    let forged = "authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln\r\n";
    raw_http.send(head("POST", &callback(), 2 << 20, forged)).await;
    // No byte of the body is sent.
    let (status, body) = raw_http.answer().await.unwrap();
    assert!(
        status == 401 && body.contains("DOCSERVER_TOKEN_INVALID"),
        "{status} {body}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_bodies_without_session_share_a_memory_limit() {
    const CONNECTIONS: usize = 40;
    const ADMITTED: usize = 4;
    const LENGTH: usize = 2 << 20;
    let (_env, world, service) = started(&[]).await;
    let began = Instant::now();
    let (sender, mut answers) = mpsc::unbounded_channel();
    for _ in 0..CONNECTIONS {
        let (base, sender) = (service.base.clone(), sender.clone());
        tokio::spawn(async move {
            let mut raw_http = RawHttp::open_at(&base).await;
            raw_http.send(head("POST", &callback(), LENGTH, "")).await;
            // The last byte is missing.
            raw_http.send(vec![b' '; LENGTH - 1]).await;
            drop(sender.send(raw_http.answer().await));
        });
    }
    // Four bodies fit into the budget of one address. Every other connection receives a response before its body is
    // complete, or is closed if the response could not be delivered.
    let mut timeouts = 0;
    for _ in 0..CONNECTIONS - ADMITTED {
        let answer = tokio::time::timeout(WAIT_TIMEOUT, answers.recv())
            .await
            .unwrap()
            .unwrap();
        let status = answer.as_ref().map(|(status, _)| *status);
        assert!(matches!(status, None | Some(408 | 503)), "{answer:?}");
        timeouts += usize::from(status == Some(408));
    }
    // On a slow machine the admitted bodies time out meanwhile, and as many others are admitted in their place.
    let rounds = usize::try_from(began.elapsed().as_secs() / BODY_TIMEOUT.as_secs()).unwrap();
    assert!(
        timeouts <= ADMITTED * rounds,
        "{timeouts} bodies were admitted in {rounds} rounds"
    );
    // Small bodies and bodies of requests with a session are still read.
    let wrong = json!({"email": "nobody@north.example", "password": "wrong-password-7"});
    let stranger = Client::new(&service.base, None).with("origin", FRONTEND);
    assert_eq!(stranger.post("/auth/sign-in/email", wrong).await.status, 401);
    let new = json!({"name": "Geography"});
    as_(&service, &world.adam).post("/subjects", new).await.expect(201);
}

#[tokio::test]
async fn clients_behind_proxy_have_separate_connection_limits() {
    let settings = [("TRUST_PROXY", "127.0.0.0/8"), ("CONNECTIONS_PER_ADDRESS", "3")];
    let (_env, world, service) = started(&settings).await;
    let cookie = &world.adam.cookie;
    let hold = async || {
        let mut raw_http = RawHttp::open_at(&service.base).await;
        // The body is not sent, so the request stays in flight.
        let from = format!("cookie: {cookie}\r\nx-forwarded-for: 198.51.100.9, 203.0.113.7:4711\r\n");
        raw_http.send(head("POST", "/subjects", 100, &from)).await;
        raw_http
    };
    let from = |address: &str| {
        let client = Client::new(&service.base, None).with("x-forwarded-for", address);
        async move { client.get("/health").await.status }
    };
    // The service may not have read the held requests yet, and may have refused one of them during a request of this
    // loop, so each round holds another one.
    let mut held = vec![hold().await, hold().await, hold().await];
    while from("203.0.113.7").await != 429 {
        assert!(held.len() < 500, "the address has no limit");
        tokio::time::sleep(Duration::from_millis(20)).await;
        held.push(hold().await);
    }
    assert_eq!(from("203.0.113.8").await, 200, "another client of the same proxy");
    assert_eq!(from("198.51.100.9").await, 200, "what a client claims about itself");
    drop(held);
    let served = async {
        while from("203.0.113.7").await != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, served)
        .await
        .expect("the limit stays");
}

#[tokio::test]
async fn untrusted_proxy_is_logged_once() {
    let (_env, _, service) = started(&[]).await;
    for number in 0..3 {
        let client = Client::new(&service.base, None).with("x-forwarded-for", &format!("203.0.113.{number}"));
        client.get("/classes").await.refused(401, "UNAUTHENTICATED");
    }
    let log = service.log_of_stopped();
    assert_eq!(log.matches("X-Forwarded-For ignored").count(), 1, "{log}");
}

/// Returns the head of an upload of `length` bytes and the beginning of its form.
fn upload_head(cookie: &str, path: &str, length: usize) -> String {
    format!(
        "POST /api{path} HTTP/1.1\r\nhost: north\r\norigin: {FRONTEND}\r\ncookie: {cookie}\r\n\
         content-type: multipart/form-data; boundary=x\r\ncontent-length: {length}\r\n\r\n\
         --x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nabc"
    )
}

/// Sends the bytes of an upload slowly, but faster than the service requires, so that it stays open.
async fn hold_upload(mut raw_http: RawHttp) {
    loop {
        raw_http.send([b'x'; 2048]).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Creates a group of Ben and Dana, and returns its id and the path of the documents of its work room.
async fn room(service: &ServerProcess, world: &World) -> (String, String) {
    let ada = as_(service, &world.ada);
    let group = group(&ada, &world.seven_b, &[&world.ben, &world.dana], json!({})).await;
    let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
    let documents = format!("/workrooms/{}/documents", room.as_str().unwrap());
    (group, documents)
}

#[tokio::test]
async fn open_uploads_are_limited_per_user_and_count_towards_quota() {
    let (_env, world, service) = started(&[]).await;
    let (_, documents) = room(&service, &world).await;
    let (ben, dana) = (as_(&service, &world.ben), as_(&service, &world.dana));
    let root = as_(&service, &world.root);
    let tenant = format!("/tenants/{}", world.north);
    root.patch(&tenant, json!({"storageQuota": 10 << 20})).await.expect(200);
    // Each round holds one more upload open, until another upload is rejected. If the probe itself used the last
    // permit, the next round takes that permit.
    let mut held = JoinSet::new();
    let refused = async {
        loop {
            let mut raw_http = RawHttp::open_at(&service.base).await;
            raw_http.send(upload_head(&world.ben.cookie, &documents, 1 << 20)).await;
            held.spawn(hold_upload(raw_http));
            if ben.upload(&documents, "a.txt", b"x".to_vec(), &[]).await.status == 429 {
                break;
            }
            assert!(held.len() < 50, "a user has no limit");
        }
    };
    refused.await;
    // The held uploads reserve 8 × 0.75 MiB, without the allowance for the forms. Another 5 MiB exceed the quota of 10
    // MiB, 1 MiB does not.
    let file = |size: usize| vec![b'x'; size];
    let large = dana.upload(&documents, "a.txt", file(5 << 20), &[]).await;
    large.refused(507, "QUOTA_EXCEEDED");
    dana.upload(&documents, "a.txt", file(1 << 20), &[]).await.expect(201);
    drop(held);
    let accepted = async {
        while ben.upload(&documents, "b.txt", file(5 << 20), &[]).await.status != 201 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, accepted)
        .await
        .expect("staged bytes stay counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nearly_full_disk_rejects_uploads_and_accepts_saves() {
    let document_server = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
        .await
        .unwrap();
    let url = document_server.url();
    let (mut env, world, service) = started(&[("DOCSERVER_URL", &url)]).await;
    let (_, documents) = room(&service, &world).await;
    let word = docx_with("Our page.", &[]);
    let made = as_(&service, &world.ben)
        .upload(&documents, "a.docx", word.clone(), &[])
        .await;
    let document = id(&made.expect(201));
    service.stop();
    // More space than any disk has.
    env.set("UPLOAD_FREE_DISK_MB", "1000000000000");
    let mut service = env.start("serve");
    service.ready().await;
    let ben = as_(&service, &world.ben);
    ben.upload(&documents, "b.docx", word, &[])
        .await
        .refused(507, "DISK_FULL");
    // All other requests still succeed.
    assert_eq!(ben.get(&path(&document, "/download")).await.status, 200);
    let wrong = json!({"email": "nobody@north.example", "password": "wrong-password-7"});
    let stranger = Client::new(&service.base, None).with("origin", FRONTEND);
    assert_eq!(stranger.post("/auth/sign-in/email", wrong).await.status, 401);
    let config = ben.get(&path(&document, "/editor-config")).await.expect(200);
    let editor = client::open(&document_server.url(), &config).await.unwrap();
    editor.type_text("One more line.").await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    service.stop();
    document_server.stop().await;
}

/// Reads a response at 160 KiB/s, so that the connection stays open and the response takes minutes.
async fn read_slowly(base: String, request: String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(256 << 10).unwrap();
    let address = base.strip_prefix("http://").unwrap().parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut piece = vec![0; 32 << 10];
    while stream.read(&mut piece).await.is_ok_and(|count| count > 0) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_readers_do_not_block_the_exports_of_a_school() {
    let (_env, world, service) = started(&[]).await;
    let (group, documents) = room(&service, &world).await;
    let (ada, ben) = (as_(&service, &world.ada), as_(&service, &world.ben));
    // The archive is larger than any buffer of the operating system.
    let mut noise = vec![0; 5_000_000];
    rand::Rng::fill_bytes(&mut rand::rng(), &mut noise);
    for number in 0..4 {
        let large = docx_with("Large.", &[("word/media/noise.bin", &noise)]);
        let name = format!("{number}.docx");
        ben.upload(&documents, &name, large, &[]).await.expect(201);
    }
    let topic = id(&topic(&ada, &world.seven_b, json!({"groupIds": [group]})).await);
    let export = format!("/assignments/{topic}/export.zip");
    let request = format!(
        "GET /api{export} HTTP/1.1\r\nhost: north\r\ncookie: {}\r\n\r\n",
        world.ada.cookie
    );
    // Four exports are half of all permits, which is the share of one school.
    for _ in 0..4 {
        tokio::spawn(read_slowly(service.base.clone(), request.clone()));
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let answer = tokio::time::timeout(WAIT_TIMEOUT, ada.request(Method::GET, &export).send()).await;
    let answer = answer.expect("the export waits for slow readers").unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.bytes().await.unwrap().len() > 20_000_000);
}

#[tokio::test]
async fn socket_handshakes_are_rate_limited() {
    // One percent of the limit for a user: one socket per minute.
    let (_env, world, service) = started(&[("RATE_LIMIT_FACTOR", "0.01")]).await;
    let (ada, ben) = (as_(&service, &world.ada), as_(&service, &world.ben));
    let handshake = "/socket.io/?EIO=4&transport=polling";
    assert_eq!(ada.get(handshake).await.status, 200);
    for _ in 0..3 {
        let refused = ada.get(handshake).await;
        assert!(!refused.header("retry-after").is_empty());
        refused.refused(429, "RATE_LIMITED");
    }
    assert_eq!(ben.get(handshake).await.status, 200, "another person");
}

#[tokio::test]
async fn bare_line_feed_in_headers_is_rejected_and_connection_closed() {
    let (_env, _, service) = started(&[]).await;
    for request in [
        "GET /api/health HTTP/1.1\nhost: x\n\n",
        "GET /api/health HTTP/1.1\r\nhost: x\nx-smuggled: y\r\n\r\n",
        "GET /api/health HTTP/1.1\r\nhost: x\r\n\n",
    ] {
        let mut raw_http = RawHttp::open_at(&service.base).await;
        raw_http.send(request).await;
        assert_eq!(raw_http.answer().await.unwrap().0, 400, "{request:?}");
        assert_eq!(raw_http.answer().await, None, "{request:?}");
    }
    // The same applies to a request that arrives together with the body of the previous request.
    let mut raw_http = RawHttp::open_at(&service.base).await;
    let first = head("POST", "/auth/sign-in/email", 3, "");
    raw_http
        .send(format!("{first}\n\n\nGET /api/health HTTP/1.1\nhost: x\r\n\r\n"))
        .await;
    assert!(raw_http.answer().await.unwrap().0 < 500);
    assert_eq!(raw_http.answer().await.unwrap().0, 400);
    assert_eq!(raw_http.answer().await, None);
}

/// Timeouts of slow clients and unused connections do not affect a connection that is in use without a pause.
#[tokio::test]
#[ignore = "long: make test-resilience"]
async fn connections_in_use_are_kept() {
    /// Longer than the timeouts of a head and of an unused connection.
    const TIME: Duration = Duration::from_secs(80);
    let (_env, _, service) = started(&[]).await;
    let end = Instant::now() + TIME;
    let mut connections = JoinSet::new();
    for path in ["/api/health", "/api/none"].repeat(2) {
        let mut raw_http = RawHttp::open_at(&service.base).await;
        connections.spawn(async move {
            while Instant::now() < end {
                raw_http.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n")).await;
                let answer = raw_http.answer().await;
                assert!(answer.is_some(), "the connection was closed");
            }
        });
    }
    while let Some(finished) = connections.join_next().await {
        finished.unwrap();
    }
}

#[tokio::test]
async fn openapi_document_is_compressed_once() {
    let (_env, _, service) = started(&[]).await;
    let client = Client::new(&service.base, None).with("accept-encoding", "gzip");
    let answers = [client.get("/openapi.json").await, client.get("/openapi.json").await];
    for answer in &answers {
        assert_eq!((answer.status, answer.header("content-encoding")), (200, "gzip"));
        // A response that is compressed while it is streamed has no `Content-Length`.
        assert_eq!(answer.header("content-length"), answer.bytes.len().to_string());
    }
    assert_eq!(answers[0].bytes, answers[1].bytes);
    let plain = Client::new(&service.base, None).get("/openapi.json").await;
    assert!(plain.header("content-encoding").is_empty());
    assert_eq!(plain.expect(200)["openapi"], "3.1.0");
}

#[tokio::test]
async fn document_server_token_with_a_long_lifetime_is_refused() {
    let (_env, _, service) = started(&[]).await;
    let now = common::clock::now().as_millis() / 1000;
    let ask = async |life: i64| {
        let document = path("0190a1b2-0000-7000-8000-00000000dead", "/file");
        let url = format!("{}/api{document}", service.base);
        let claims = json!({"payload": {"url": url}, "iat": now, "exp": now + life});
        let key = jsonwebtoken::EncodingKey::from_secret(DOCSERVER_SECRET.as_bytes());
        let token = jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key).unwrap();
        let client = Client::new(&service.base, None).with("authorization", &format!("Bearer {token}"));
        client.get(&document).await
    };
    // A valid token for a document that does not exist.
    ask(300).await.refused(404, "NOT_FOUND");
    ask(3600).await.refused(404, "NOT_FOUND");
    ask(10 * 365 * 86_400).await.refused(401, "DOCSERVER_TOKEN_INVALID");
}

/// Returns whether the tests, and therefore the services that they start, ignore SIGHUP (`nohup make test`).
fn is_hang_up_ignored_here() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[tokio::test]
async fn sigterm_and_sighup_checkpoint_the_write_ahead_log() {
    for signal in ["-TERM", "-HUP"] {
        let (env, world, service) = started(&[("LOG_LEVEL", "info")]).await;
        let new = json!({"name": "Geography"});
        as_(&service, &world.adam).post("/subjects", new).await.expect(201);
        let wal = env.folder().join("groupwork.db-wal");
        assert!(
            std::fs::metadata(&wal).unwrap().len() > 0,
            "there is something to write"
        );
        service.signal(signal);
        if signal == "-HUP" && is_hang_up_ignored_here() {
            // A service that is started with `nohup` continues after SIGHUP.
            as_(&service, &world.adam).get("/subjects").await.expect(200);
            service.signal("-TERM");
        }
        let log = env.folder().join("serve.log");
        assert!(service.wait().success(), "{signal}");
        assert_eq!(std::fs::metadata(&wal).map_or(0, |found| found.len()), 0, "{signal}");
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.contains("shutting down"), "{signal}: {log}");
    }
}
