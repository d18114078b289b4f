//! A document server without editors: it serves results exactly as a test defines them, including malformed ones, and
//! records the requests. Tests build callbacks manually and sign them with the shared secret.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use common::clock;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::app::DOCSERVER_SECRET;
use super::document_server_fixture::{DocumentServerFixture, path};
use super::{Answer, DatabaseKind};

/// How a result is served.
#[derive(Debug, Clone)]
pub enum ResultDelivery {
    /// A correct response.
    Whole(Vec<u8>),
    /// A correct response that is delayed until the test releases it.
    Held(Vec<u8>),
    /// These bytes instead of an HTTP response, then a closed connection.
    Raw(Vec<u8>),
    /// These bytes instead of an HTTP response, then a connection reset.
    Reset(Vec<u8>),
    /// This response head, then an endless body.
    Endless(String),
    /// This response head, then no more data.
    Silent(String),
}

/// The server. It stops when the value is dropped.
pub struct FakeDocumentServer {
    /// `host:port`.
    pub address: String,
    inner: Arc<FakeServerState>,
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct FakeServerState {
    results: Mutex<HashMap<String, ResultDelivery>>,
    heard: Mutex<Vec<String>>,
    released: watch::Sender<BTreeSet<String>>,
}

impl Drop for FakeDocumentServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeDocumentServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let inner = Arc::new(FakeServerState::default());
        let shared = inner.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let inner = shared.clone();
                tokio::spawn(async move {
                    // A client may close its connection once it has the data it needs.
                    drop(answer(&inner, stream).await);
                });
            }
        });
        Self {
            address,
            inner,
            serving,
        }
    }

    /// Returns the setting that makes the service use this document server.
    pub fn flag(&self) -> String {
        format!("--docserver-internal-url=http://{}", self.address)
    }

    /// Stores a result and returns the URL that a callback uses for it.
    pub fn add_result(&self, name: &str, delivery: ResultDelivery) -> String {
        let path = result_path(name);
        lock(&self.inner.results).insert(path.clone(), delivery);
        format!("http://docs.example{path}?md5=x&expires=9&filename=output.docx")
    }

    /// Releases a delayed result.
    pub fn release(&self, name: &str) {
        self.inner.released.send_modify(|released| {
            released.insert(result_path(name));
        });
    }

    /// Returns the request lines of all downloads so far; commands are not counted.
    pub fn fetched(&self) -> Vec<String> {
        let heard = lock(&self.inner.heard);
        heard.iter().filter(|line| line.starts_with("GET ")).cloned().collect()
    }
}

fn result_path(name: &str) -> String {
    format!("/cache/files/data/{name}/output.docx")
}

async fn answer(inner: &FakeServerState, mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await? {
            0 => return Ok(()),
            length => head.extend_from_slice(&piece[..length]),
        }
    }
    let line = String::from_utf8_lossy(&head)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    let target = line.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    lock(&inner.heard).push(line.clone());
    let delivery = lock(&inner.results).get(&path).cloned();
    match delivery {
        None => {
            stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .await?;
        }
        Some(ResultDelivery::Whole(bytes)) => stream.write_all(&whole(&bytes)).await?,
        Some(ResultDelivery::Held(bytes)) => {
            let mut released = inner.released.subscribe();
            drop(released.wait_for(|released| released.contains(&path)).await);
            stream.write_all(&whole(&bytes)).await?;
        }
        Some(ResultDelivery::Raw(bytes)) => stream.write_all(&bytes).await?,
        Some(ResultDelivery::Reset(bytes)) => {
            stream.write_all(&bytes).await?;
            // Gives sent data time to arrive first: a reset discards data in flight.
            tokio::time::sleep(Duration::from_millis(20)).await;
            return stream.set_zero_linger();
        }
        Some(ResultDelivery::Endless(head)) => {
            stream.write_all(head.as_bytes()).await?;
            loop {
                stream.write_all(&[0x50; 16 * 1024]).await?;
            }
        }
        Some(ResultDelivery::Silent(head)) => {
            stream.write_all(head.as_bytes()).await?;
            // Reads until the client closes the connection.
            let mut rest = [0; 16];
            while stream.read(&mut rest).await? > 0 {}
        }
    }
    stream.shutdown().await
}

/// Builds a correct response.
pub fn whole(bytes: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        bytes.len()
    );
    [head.as_bytes(), bytes].concat()
}

pub fn seconds() -> i64 {
    clock::now().as_millis() / 1000
}

pub fn sign_as(algorithm: Algorithm, secret: &str, claims: &Value) -> String {
    jsonwebtoken::encode(
        &Header::new(algorithm),
        claims,
        &EncodingKey::from_secret(secret.as_bytes()),
    )
    .unwrap()
}

/// Adds valid timestamps to the claims and signs them as the document server does.
pub fn sign(mut claims: Value) -> String {
    for (name, value) in [("iat", seconds()), ("exp", seconds() + 300)] {
        if claims.get(name).is_none() {
            claims[name] = json!(value);
        }
    }
    sign_as(Algorithm::HS256, DOCSERVER_SECRET, &claims)
}

/// Posts a callback with these tokens: one in the body, one in the header.
pub async fn post(fixture: &DocumentServerFixture, document: &str, body: Value, header: Option<String>) -> Answer {
    let mut client = fixture.app.stranger();
    if let Some(token) = header {
        client = client.with("authorization", &format!("Bearer {token}"));
    }
    client.post(&path(document, "/callback"), body).await
}

/// Posts a callback as the document server does; returns the HTTP status and the `error` field.
pub async fn tell(fixture: &DocumentServerFixture, document: &str, claims: Value) -> (u16, i64) {
    let answer = post(fixture, document, json!({"token": sign(claims)}), None).await;
    let error = serde_json::from_slice::<Value>(&answer.bytes).ok();
    let error = error.and_then(|body| body["error"].as_i64()).unwrap_or(-1);
    (answer.status, error)
}

/// Builds the claims of a save: the content is at `url` and was last changed at second `at` of a fixed minute.
pub fn save(status: i64, key: &str, url: &str, at: u32) -> Value {
    json!({
        "key": key, "status": status, "url": url, "filetype": "docx", "notmodified": false,
        "lastsave": format!("2026-11-20T08:00:{at:02}.000Z"),
    })
}

/// Starts a fixture whose document server is a [`FakeDocumentServer`].
pub async fn start_with_fake(
    kind: DatabaseKind,
    flags: &[&str],
) -> Option<(FakeDocumentServer, DocumentServerFixture)> {
    let fake_server = FakeDocumentServer::start().await;
    let flag = fake_server.flag();
    let flags: Vec<&str> = [flag.as_str()].into_iter().chain(flags.iter().copied()).collect();
    let fixture = DocumentServerFixture::start(kind, &flags).await?;
    Some((fake_server, fixture))
}

/// Generates a test with such a fixture on both databases: `with_fake_document_server!(name, [flags], |fake_server, fixture| { … })`.
#[macro_export]
macro_rules! with_fake_document_server {
    (#[sqlite] $name:ident, [$($flag:literal),*], |$fake_server:ident, $fixture:ident| $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every test needs every import of its module")]
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let flags = [$($flag),*];
                let (fake_server, fixture) = $crate::fake_document_server::start_with_fake($crate::DatabaseKind::Sqlite, &flags).await.unwrap();
                let ($fake_server, $fixture) = (&fake_server, &fixture);
                $body
                fixture.close().await;
            }
        }
    };
    ($name:ident, [$($flag:literal),*], |$fake_server:ident, $fixture:ident| $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every story needs everything around it")]
            use super::*;

            async fn test_body($fake_server: &$crate::fake_document_server::FakeDocumentServer, $fixture: &$crate::document_server_fixture::DocumentServerFixture) $body

            async fn on(kind: $crate::DatabaseKind) {
                let Some((fake_server, fixture)) = $crate::fake_document_server::start_with_fake(kind, &[$($flag),*]).await else { return };
                test_body(&fake_server, &fixture).await;
                fixture.close().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                on($crate::DatabaseKind::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                on($crate::DatabaseKind::Postgres).await;
            }
        }
    };
}
