//! The measured process: the service, plus routes that show the lower bounds of the machine: bytes served from memory,
//! and bytes made durable with no other work.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use anyhow::Context as _;
use api::app::App;
use api::{router, server};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{self, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use common::clock;
use domain::access::Access;
use groupwork::bootstrap::build_app;
use groupwork::config::{Config, RequiredFactor, ServeArgs, StorageArgs};

use crate::seed;

/// Signs the cookies of the measured service.
pub const AUTH_SECRET: &str = "the-secret-that-signs-cookies-while-measuring";
/// Signs the tokens of its document server.
pub const DOCUMENT_SECRET: &str = "the-secret-of-the-document-server-while-measuring";

/// Options of the measured service.
pub struct ServeOptions {
    /// Its data folder.
    pub folder: PathBuf,
    /// Its document server.
    pub document_server: String,
    /// A PostgreSQL database; if unset, SQLite in the folder.
    pub database_url: Option<String>,
    /// Whether no school is created.
    pub is_empty: bool,
}

/// Serves until killed. The first line of stdout is JSON for the parent process.
pub fn run(serving: &ServeOptions) -> anyhow::Result<()> {
    // Requests are logged as in production; the parent redirects stderr to a file.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::new("info"))
        .with_target(false)
        .init();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(serve(serving))
}

/// Returns the settings of a measured service: those of production, without limits that the load would exceed.
pub fn settings(
    base: &str,
    listen: SocketAddr,
    document_server: Option<String>,
    storage: StorageArgs,
) -> anyhow::Result<Config> {
    let serve = ServeArgs {
        frontend_url: Some(base.to_owned()),
        auth_secret: Some(AUTH_SECRET.into()),
        docserver_jwt_secret: Some(DOCUMENT_SECRET.into()),
        docserver_url: document_server,
        rate_limit_factor: 0.0,
        second_factor_for_platform_administrators: RequiredFactor(false),
        connections_max: 100_000,
        connections_per_address: 100_000,
        listen: listen.into(),
        ..ServeArgs::default()
    };
    Ok(Config::check(serve, storage)?)
}

async fn serve(serving: &ServeOptions) -> anyhow::Result<()> {
    let folder = &serving.folder;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    let storage = StorageArgs {
        data_dir: folder.clone(),
        database_url: serving.database_url.clone(),
        ..StorageArgs::default()
    };
    let config = settings(
        &base,
        listener.local_addr()?,
        Some(serving.document_server.clone()),
        storage,
    )?;
    let app = build_app(config, &base).await.map_err(anyhow::Error::new)?;
    let people = if serving.is_empty {
        None
    } else {
        Some(seed::people(app.store()).await?)
    };
    let limits = Arc::new(LowerBounds::open(folder)?);
    let checks = Router::new()
        .route("/session-check", get(check_session))
        .route("/nothing", get(async || "{}"))
        .with_state(app.clone());
    let routes = router::router(app.clone()).merge(limit_routes(limits)).merge(checks);
    let signals = server::StopSignals::watch()?;
    let greeting = serde_json::json!({"base": base, "people": people});
    writeln!(std::io::stdout(), "{greeting}")?;
    server::serve(listener, routes, app, signals.received()).await?;
    Ok(())
}

/// State of the lower-bound routes: recorded responses, and a folder and database of their own on the same disk.
struct LowerBounds {
    recorded: RwLock<HashMap<String, Bytes>>,
    folder: PathBuf,
    database: Mutex<rusqlite::Connection>,
    count: AtomicU64,
}

impl LowerBounds {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let raw = folder.join("raw");
        fs::create_dir_all(&raw)?;
        let database = rusqlite::Connection::open(folder.join("raw.db"))?;
        database.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE IF NOT EXISTS saves (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL);
             CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, room_id TEXT NOT NULL, sender_id TEXT NOT NULL,
                content TEXT NOT NULL, created_at BIGINT NOT NULL);",
        )?;
        Ok(Self {
            recorded: RwLock::default(),
            folder: raw,
            database: Mutex::new(database),
            count: AtomicU64::new(0),
        })
    }

    fn recorded(&self, name: &str) -> Option<Bytes> {
        let recorded = self.recorded.read().unwrap_or_else(PoisonError::into_inner);
        recorded.get(name).cloned()
    }

    /// Writes, syncs and renames a file, syncs the folder and commits a row: the minimum of a durable save.
    fn save(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let (part, place) = (
            self.folder.join(format!("{number}.part")),
            self.folder.join(number.to_string()),
        );
        let mut file = File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, &place)?;
        File::open(&self.folder)?.sync_all()?;
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let size = i64::try_from(bytes.len())?;
        database
            .prepare_cached("INSERT INTO saves (name, size) VALUES (?1, ?2)")?
            .execute((number.to_string(), size))?;
        Ok(())
    }

    /// Commits one row: the minimum of a durable message.
    fn say(&self, content: &str) -> anyhow::Result<()> {
        let (id, now) = (clock::new_id(), clock::now().as_millis());
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let sql =
            "INSERT INTO messages (id, room_id, sender_id, content, created_at) VALUES (?1, 'room', 'sender', ?2, ?3)";
        database.prepare_cached(sql)?.execute((id, content, now))?;
        Ok(())
    }
}

fn limit_routes(limits: Arc<LowerBounds>) -> Router {
    Router::new()
        .route("/memory/{name}", get(from_memory).put(record))
        .route("/raw", post(raw_save))
        .route("/raw-message", post(raw_message))
        .with_state(limits)
}

/// Authenticates a request like the guard of a route, and does nothing else.
async fn check_session(State(app): State<App>, request: Request) -> Result<&'static str, StatusCode> {
    let mut credentials = app.authenticator().credentials(&request, app.frontend_origin());
    let facts = auth::find_session(app.authenticator(), &mut credentials).await;
    let caller = facts.and_then(|facts| auth::authenticate(credentials, facts, Access::Member));
    caller.map(|_| "{}").map_err(|_| StatusCode::UNAUTHORIZED)
}

async fn record(
    State(limits): State<Arc<LowerBounds>>,
    extract::Path(name): extract::Path<String>,
    body: Bytes,
) -> StatusCode {
    let mut recorded = limits.recorded.write().unwrap_or_else(PoisonError::into_inner);
    recorded.insert(name, body);
    StatusCode::NO_CONTENT
}

async fn from_memory(
    State(limits): State<Arc<LowerBounds>>,
    extract::Path(name): extract::Path<String>,
) -> impl IntoResponse {
    match limits.recorded(&name) {
        Some(bytes) => Ok(([(CONTENT_TYPE, "application/json")], bytes)),
        None => Err(StatusCode::NOT_FOUND),
    }
}

async fn raw_save(State(limits): State<Arc<LowerBounds>>) -> Result<&'static str, (StatusCode, String)> {
    let saving = tokio::task::spawn_blocking(move || {
        let bytes = limits.recorded("document").context("no document was recorded")?;
        limits.save(&bytes)
    });
    let failed = |error: anyhow::Error| (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}"));
    saving.await.map_err(|error| failed(error.into()))?.map_err(failed)?;
    Ok("{\"error\":0}")
}

async fn raw_message(
    State(limits): State<Arc<LowerBounds>>,
    body: Bytes,
) -> Result<&'static str, (StatusCode, String)> {
    let saying = tokio::task::spawn_blocking(move || limits.say(std::str::from_utf8(&body)?));
    let failed = |error: anyhow::Error| (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}"));
    saying.await.map_err(|error| failed(error.into()))?.map_err(failed)?;
    Ok("{}")
}
