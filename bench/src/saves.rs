//! The document server's side of a save: an HTTP server with result files, each with different bytes, and the callbacks
//! that refer to them.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use common::clock;
use document_server_simulator::{blank_document, write_document};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use rand::RngExt as _;
use serde_json::{Value, json};

use crate::seed::{BenchUser, MeasuredClass};
use crate::server::DOCUMENT_SECRET;

/// Approximate size of a saved document in bytes.
pub const SIZE: usize = 50_000;
/// Bytes of a PDF.
pub const PDF_SIZE: usize = 40_000_000;
/// Digits at the end of the archive, in its comment, that make every result a different file.
const DIGITS: usize = 16;

/// An open document, as known by the document server.
pub struct SavedDocument {
    id: String,
    key: String,
    writer: String,
}

/// Serves results from memory on a separate thread.
pub fn serve_results(document: Vec<u8>) -> anyhow::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let router = Router::new()
                .route("/cache/files/data/{number}/output.docx", get(result))
                // Receives commands about editing sessions and knows none.
                .route("/command", post(command))
                .route("/converter", post(convert))
                .route("/cache/files/data/pdf/output.pdf", get(pdf))
                .with_state(Arc::new(document));
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router).await
        })
    });
    Ok(address)
}

async fn command() -> &'static str {
    "{\"error\":1}"
}

/// Every document converts to the same PDF at once.
async fn convert() -> &'static str {
    r#"{"endConvert":true,"percent":100,"fileUrl":"http://localhost/cache/files/data/pdf/output.pdf","fileType":"pdf"}"#
}

async fn pdf() -> Vec<u8> {
    let mut bytes = vec![b' '; PDF_SIZE];
    bytes[..9].copy_from_slice(b"%PDF-1.7\n");
    bytes
}

async fn result(State(document): State<Arc<Vec<u8>>>, Path(number): Path<u64>) -> Vec<u8> {
    let mut bytes = document.to_vec();
    let at = bytes.len() - DIGITS;
    drop((&mut bytes[at..]).write_all(format!("{number:0DIGITS$}").as_bytes()));
    bytes
}

/// Creates a document of about [`SIZE`] bytes of random words.
pub fn document() -> anyhow::Result<Vec<u8>> {
    let mut rng = rand::rng();
    let mut line = || -> String {
        (0..100)
            .map(|_| rng.sample(rand::distr::Alphanumeric) as char)
            .collect()
    };
    // Random text compresses to about three quarters.
    let lines: Vec<String> = (0..SIZE / 75).map(|_| line()).collect();
    let mut bytes = write_document(&blank_document("docx"), &lines)
        .map_err(|_| anyhow::anyhow!("the blank document can be written"))?;
    let end = bytes.len();
    ensure!(
        bytes[end - 22..].starts_with(b"PK\x05\x06"),
        "an archive ends with its directory"
    );
    bytes[end - 2..].copy_from_slice(&u16::try_from(DIGITS)?.to_le_bytes());
    bytes.extend_from_slice(&[b'0'; DIGITS]);
    Ok(bytes)
}

/// Opens every document once to obtain its key.
pub async fn open(base: &str, lesson: &MeasuredClass) -> anyhow::Result<Vec<SavedDocument>> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let mut sessions = Vec::new();
    for (id, BenchUser { id: writer, cookie, .. }) in &lesson.documents {
        let url = format!("{base}/api/workrooms/documents/{id}/editor-config");
        let answer = http
            .get(url)
            .header("cookie", cookie)
            .send()
            .await?
            .error_for_status()?;
        let config: Value = serde_json::from_slice(&answer.bytes().await?)?;
        let key = config["document"]["key"]
            .as_str()
            .context("a configuration without key")?;
        sessions.push(SavedDocument {
            id: id.clone(),
            key: key.to_owned(),
            writer: writer.clone(),
        });
    }
    Ok(sessions)
}

/// Signs claims like the document server.
pub fn signed(claims: &Value) -> String {
    let secret = EncodingKey::from_secret(DOCUMENT_SECRET.as_bytes());
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &secret)
        .expect("plain JSON can be signed with a shared secret")
}

impl SavedDocument {
    /// Builds the callback of a forced save (status 6): the session continues, so the key stays the same.
    pub fn notice(&self, host: SocketAddr, results: SocketAddr, number: u64) -> Vec<u8> {
        let now = clock::now();
        let mut claims = json!({
            "key": self.key, "status": 6, "users": [self.writer], "filetype": "docx", "forcesavetype": 0,
            "url": format!("http://{results}/cache/files/data/{number}/output.docx"),
            "lastsave": now, "notmodified": false, "history": {"serverVersion": "9.3.1", "changes": []},
        });
        let seconds = now.as_millis() / 1000;
        claims["iat"] = seconds.into();
        claims["exp"] = (seconds + 300).into();
        claims["token"] = signed(&claims).into();
        let body = claims.to_string();
        let path = format!("/api/workrooms/documents/{}/callback", self.id);
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}
