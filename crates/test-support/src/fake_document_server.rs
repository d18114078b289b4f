//! A document server without editors: it hands out results byte for byte as a test laid them there, or as badly as the
//! test says, and remembers who asked. Notices are written by hand and signed with the shared secret.

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
use super::{Answer, Kind};

/// How a result is handed out.
#[derive(Debug, Clone)]
pub enum Manner {
    /// As it should be.
    Whole(Vec<u8>),
    /// The same, but not before the test says so.
    Held(Vec<u8>),
    /// These bytes instead of any answer, then the end of the connection.
    Raw(Vec<u8>),
    /// The same, ended by a reset.
    Reset(Vec<u8>),
    /// This head, then bytes without end.
    Endless(String),
    /// This head, then silence.
    Silent(String),
}

/// The server. It ends with its value.
pub struct FakeDocumentServer {
    /// `host:port`.
    pub address: String,
    inner: Arc<Inner>,
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Inner {
    results: Mutex<HashMap<String, Manner>>,
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
        let inner = Arc::new(Inner::default());
        let shared = inner.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let inner = shared.clone();
                tokio::spawn(async move {
                    // Whoever hangs up has what he wanted.
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

    /// The setting that makes it the document server of a service.
    pub fn flag(&self) -> String {
        format!("--docserver-internal-url=http://{}", self.address)
    }

    /// Lays a result there; answers the address by which a notice names it.
    pub fn lay(&self, name: &str, manner: Manner) -> String {
        let path = result_path(name);
        lock(&self.inner.results).insert(path.clone(), manner);
        format!("http://docs.example{path}?md5=x&expires=9&filename=output.docx")
    }

    /// Lets go a result that is held.
    pub fn release(&self, name: &str) {
        self.inner.released.send_modify(|released| {
            released.insert(result_path(name));
        });
    }

    /// The request lines so far of those who fetched something; commands are not counted.
    pub fn fetched(&self) -> Vec<String> {
        let heard = lock(&self.inner.heard);
        heard.iter().filter(|line| line.starts_with("GET ")).cloned().collect()
    }
}

fn result_path(name: &str) -> String {
    format!("/cache/files/data/{name}/output.docx")
}

async fn answer(inner: &Inner, mut stream: TcpStream) -> std::io::Result<()> {
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
    let manner = lock(&inner.results).get(&path).cloned();
    match manner {
        None => {
            stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .await?;
        }
        Some(Manner::Whole(bytes)) => stream.write_all(&whole(&bytes)).await?,
        Some(Manner::Held(bytes)) => {
            let mut released = inner.released.subscribe();
            drop(released.wait_for(|released| released.contains(&path)).await);
            stream.write_all(&whole(&bytes)).await?;
        }
        Some(Manner::Raw(bytes)) => stream.write_all(&bytes).await?,
        Some(Manner::Reset(bytes)) => {
            stream.write_all(&bytes).await?;
            // What is on its way may arrive first; a reset takes along what has not.
            tokio::time::sleep(Duration::from_millis(20)).await;
            return stream.set_zero_linger();
        }
        Some(Manner::Endless(head)) => {
            stream.write_all(head.as_bytes()).await?;
            loop {
                stream.write_all(&[0x50; 16 * 1024]).await?;
            }
        }
        Some(Manner::Silent(head)) => {
            stream.write_all(head.as_bytes()).await?;
            // Until the other side has had enough.
            let mut rest = [0; 16];
            while stream.read(&mut rest).await? > 0 {}
        }
    }
    stream.shutdown().await
}

/// An answer as it should be.
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

/// The claims with times that are fine, signed as the document server does.
pub fn sign(mut claims: Value) -> String {
    for (name, value) in [("iat", seconds()), ("exp", seconds() + 300)] {
        if claims.get(name).is_none() {
            claims[name] = json!(value);
        }
    }
    sign_as(Algorithm::HS256, DOCSERVER_SECRET, &claims)
}

/// Posts a notice with these tokens: one in the body, one in the header.
pub async fn post(studio: &DocumentServerFixture, document: &str, body: Value, header: Option<String>) -> Answer {
    let mut client = studio.app.stranger();
    if let Some(token) = header {
        client = client.with("authorization", &format!("Bearer {token}"));
    }
    client.post(&path(document, "/callback"), body).await
}

/// Tells a notice as the document server does; answers its status and `error`.
pub async fn tell(studio: &DocumentServerFixture, document: &str, claims: Value) -> (u16, i64) {
    let answer = post(studio, document, json!({"token": sign(claims)}), None).await;
    let error = serde_json::from_slice::<Value>(&answer.bytes).ok();
    let error = error.and_then(|body| body["error"].as_i64()).unwrap_or(-1);
    (answer.status, error)
}

/// The claims of a save: the bytes lie at `url` and were last changed at second `at` of a certain morning.
pub fn save(status: i64, key: &str, url: &str, at: u32) -> Value {
    json!({
        "key": key, "status": status, "url": url, "filetype": "docx", "notmodified": false,
        "lastsave": format!("2026-11-20T08:00:{at:02}.000Z"),
    })
}

/// A studio whose results lie on a shelf.
pub async fn shelved(kind: Kind, flags: &[&str]) -> Option<(FakeDocumentServer, DocumentServerFixture)> {
    let shelf = FakeDocumentServer::start().await;
    let flag = shelf.flag();
    let flags: Vec<&str> = [flag.as_str()].into_iter().chain(flags.iter().copied()).collect();
    let studio = DocumentServerFixture::start(kind, &flags).await?;
    Some((shelf, studio))
}

/// Writes one test with such a studio that runs on both databases: `shelved!(name, [flags], |shelf, studio| { … })`.
#[macro_export]
macro_rules! shelved {
    (#[sqlite] $name:ident, [$($flag:literal),*], |$shelf:ident, $studio:ident| $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every test needs every import of its module")]
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                let flags = [$($flag),*];
                let (shelf, studio) = $crate::fake_document_server::shelved($crate::Kind::Sqlite, &flags).await.unwrap();
                let ($shelf, $studio) = (&shelf, &studio);
                $body
                studio.close().await;
            }
        }
    };
    ($name:ident, [$($flag:literal),*], |$shelf:ident, $studio:ident| $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every story needs everything around it")]
            use super::*;

            async fn story($shelf: &$crate::fake_document_server::FakeDocumentServer, $studio: &$crate::document_server_fixture::DocumentServerFixture) $body

            async fn on(kind: $crate::Kind) {
                let Some((shelf, studio)) = $crate::fake_document_server::shelved(kind, &[$($flag),*]).await else { return };
                story(&shelf, &studio).await;
                studio.close().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                on($crate::Kind::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                on($crate::Kind::Postgres).await;
            }
        }
    };
}
