//! A fake of the server whose documents are edited: serves one document under `/file/<id>`, receives callbacks under
//! `/callback/<id>`, and returns the configured responses.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use document_server_simulator::{
    RunningSimulator, SentCallback, Simulator, SimulatorSettings, blank_document, client, write_document,
};
use jsonwebtoken::{DecodingKey, EncodingKey, Header, Validation};
use serde_json::{Value, json};

pub const SECRET: &str = "a secret of more than thirty-two bytes";
pub const TIMEOUT: Duration = Duration::from_mins(2);

/// Runs a step that must be quicker than a delay of the simulator. The step gets a key and returns the time that it took;
/// if that was not less than the delay, it is repeated with another key. Returns the key and the result.
pub async fn run_within<T>(delay: Duration, mut step: impl AsyncFnMut(&str) -> (Duration, T)) -> (String, T) {
    const ATTEMPTS_MAX: u32 = 5;
    let mut attempt = 0;
    loop {
        attempt += 1;
        let key = format!("d-{attempt}");
        let (took, result) = step(&key).await;
        if took < delay || attempt == ATTEMPTS_MAX {
            return (key, result);
        }
    }
}

#[derive(Default)]
struct TestServerState {
    document: Mutex<Vec<u8>>,
    responses: Mutex<VecDeque<(u16, String)>>,
    callbacks: Mutex<Vec<Value>>,
    downloads: Mutex<Vec<String>>,
}

/// The fake server and a simulator that uses it.
pub struct TestServer {
    inner: Arc<TestServerState>,
    pub base: String,
    pub simulator: RunningSimulator,
}

impl TestServer {
    pub async fn new() -> Self {
        Self::with(SimulatorSettings::quick(SECRET)).await
    }

    pub async fn with(settings: SimulatorSettings) -> Self {
        let inner = Arc::new(TestServerState::default());
        let router = Router::new()
            .route("/file/{id}", get(file))
            .route("/callback/{id}", post(callback))
            .with_state(inner.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let simulator = Simulator::start(settings).await.unwrap();
        let server = Self { inner, base, simulator };
        server.store(write_document(&blank_document("docx"), &["Title".into()]).unwrap());
        server
    }

    /// Sets what `/file/<id>` serves.
    pub fn store(&self, bytes: Vec<u8>) {
        *self.inner.document.lock().unwrap() = bytes;
    }

    /// Sets the responses to the next callbacks, in this order; later ones get `{"error":0}`.
    pub fn set_responses(&self, responses: &[(u16, &str)]) {
        let responses = responses.iter().map(|(status, body)| (*status, (*body).to_owned()));
        self.inner.responses.lock().unwrap().extend(responses);
    }

    /// Returns the verified claims of all received callbacks.
    pub fn callbacks(&self) -> Vec<Value> {
        self.inner.callbacks.lock().unwrap().clone()
    }

    pub fn statuses(&self) -> Vec<u64> {
        self.callbacks().iter().map(status).collect()
    }

    /// Returns the statuses of the received callbacks about a key.
    pub fn statuses_of(&self, key: &str) -> Vec<u64> {
        let callbacks = self.callbacks();
        callbacks
            .iter()
            .filter(|claims| claims["key"] == key)
            .map(status)
            .collect()
    }

    /// Returns the `payload.url` of every download.
    pub fn downloads(&self) -> Vec<String> {
        self.inner.downloads.lock().unwrap().clone()
    }

    /// Returns a signed configuration for this user and key.
    pub fn config(&self, key: &str, user: &str) -> Value {
        sign_config(self.plain_config(key, user))
    }

    pub fn plain_config(&self, key: &str, user: &str) -> Value {
        json!({
            "documentType": "word",
            "document": {
                "fileType": "docx", "key": key, "title": "Report.docx", "url": format!("{}/file/{key}", self.base),
                "permissions": {"edit": true, "download": true},
            },
            "editorConfig": {
                "mode": "edit", "lang": "en", "callbackUrl": format!("{}/callback/{user}", self.base),
                "user": {"id": user, "name": user.to_uppercase()},
            },
        })
    }

    pub async fn open(&self, key: &str, user: &str) -> client::OpenEditor {
        client::open(&self.simulator.url(), &self.config(key, user))
            .await
            .unwrap()
    }

    /// Sends the parameters as a token in the body.
    pub async fn post_signed(&self, path: &str, parameters: Value) -> Value {
        let body = json!({"token": sign(parameters)});
        let url = format!("{}{path}", self.simulator.url());
        reqwest::Client::new()
            .post(url)
            .json(&body)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    pub async fn command(&self, c: &str, key: &str) -> Value {
        self.post_signed("/command", json!({"c": c, "key": key})).await
    }

    /// Waits for the response to a callback with this status.
    pub async fn wait_for_status(&self, status: u8) -> SentCallback {
        self.simulator
            .wait_for_callback(|sent| sent.status == status, TIMEOUT)
            .await
            .unwrap()
    }
}

pub async fn fetch(url: &Value) -> reqwest::Response {
    let http = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    http.get(url.as_str().unwrap()).send().await.unwrap()
}

pub fn unix_time() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

pub fn sign(claims: Value) -> String {
    sign_with(claims, SECRET, unix_time() + 300)
}

pub fn sign_with(mut claims: Value, secret: &str, exp: u64) -> String {
    claims["exp"] = exp.into();
    let key = EncodingKey::from_secret(secret.as_bytes());
    jsonwebtoken::encode(&Header::default(), &claims, &key).unwrap()
}

pub fn sign_config(mut config: Value) -> Value {
    config["token"] = sign(config.clone()).into();
    config
}

fn verified(token: &str) -> Option<Value> {
    let key = DecodingKey::from_secret(SECRET.as_bytes());
    let rules = Validation {
        validate_aud: false,
        ..Validation::default()
    };
    let claims = jsonwebtoken::decode::<Value>(token, &key, &rules).ok()?.claims;
    let life = claims["exp"].as_u64()? - claims["iat"].as_u64()?;
    (life == 300).then_some(claims)
}

fn header_claims(headers: &HeaderMap) -> Option<Value> {
    let header = headers.get("authorization")?.to_str().ok()?;
    verified(header.strip_prefix("Bearer ")?)
}

async fn file(State(inner): State<Arc<TestServerState>>, headers: HeaderMap) -> Response {
    let Some(claims) = header_claims(&headers) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let url = claims["payload"]["url"].as_str().unwrap().to_owned();
    inner.downloads.lock().unwrap().push(url);
    let document = inner.document.lock().unwrap().clone();
    if document == b"missing" {
        StatusCode::NOT_FOUND.into_response()
    } else {
        document.into_response()
    }
}

async fn callback(
    State(inner): State<Arc<TestServerState>>,
    Path(user): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let mut claims = verified(body["token"].as_str().unwrap()).unwrap();
    let header = header_claims(&headers).unwrap();
    assert_eq!(header["payload"]["key"], claims["key"]);
    assert_eq!(header["payload"]["status"], claims["status"]);
    claims["to"] = user.into();
    inner.callbacks.lock().unwrap().push(claims);
    let answer = inner.responses.lock().unwrap().pop_front();
    let (status, text) = answer.unwrap_or((200, r#"{"error":0}"#.into()));
    (StatusCode::from_u16(status).unwrap(), text).into_response()
}

fn status(claims: &Value) -> u64 {
    claims["status"].as_u64().unwrap()
}
