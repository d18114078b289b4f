//! Whether the service lives, whether it can work, and the document that describes it. No secrets, no tenant data.

use std::io::Write as _;
use std::sync::OnceLock;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use model::access::Access;
use model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::context::App;
use super::endpoint::Endpoints;
use super::terms::Terms;
use super::web_client;
use common::clock;
use common::error::Result;
use db::platform::PlatformProof;

const UNASKED: &str = "unasked";

/// The routes of health and of the document.
pub fn routes() -> Endpoints {
    Endpoints::new("health")
        .add_on(Terms::Uncounted, Access::Anyone, routes!(show))
        .add_on(Terms::Uncounted, Access::Anyone, routes!(live))
        .add_on(Terms::Uncounted, Access::Anyone, routes!(ready))
        .add(Access::Anyone, routes!(openapi))
}

/// The service as a whole.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Always `ok`: an answer is the news.
    status: &'static str,
    /// The running version.
    version: &'static str,
    /// Seconds since the start.
    uptime: u64,
    /// The service's clock.
    timestamp: Timestamp,
}

/// Whether the service can work.
#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// `ok`, `degraded` (works without the document server), `unavailable`, or `draining`: it was told to stop, so send
    /// nobody here any more.
    status: &'static str,
    /// Each thing the service needs.
    checks: Checks,
}

/// Each thing the service needs: `ok`, `down`, `unset` where none is configured, `unasked` while it is draining.
#[derive(Debug, Serialize, ToSchema)]
pub struct Checks {
    database: &'static str,
    storage: &'static str,
    docserver: &'static str,
}

/// The service as a whole
#[utoipa::path(get, path = "/health", responses((status = 200, body = Health)))]
async fn show(State(app): State<App>) -> Json<Health> {
    let uptime = app.uptime().as_secs();
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        uptime,
        timestamp: clock::now(),
    })
}

/// Whether the process lives
#[utoipa::path(get, path = "/health/live", responses((status = 200, description = "It lives")))]
async fn live() -> StatusCode {
    StatusCode::OK
}

/// Whether the service can work
#[utoipa::path(get, path = "/health/ready", responses((status = 200, body = Readiness),
        (status = 503, body = Readiness)))]
async fn ready(State(app): State<App>) -> Response {
    if app.is_draining() {
        return draining();
    }
    let asked = app
        .store()
        .platform_read(PlatformProof::housekeeping(), |platform| platform.deployment_id());
    let word = |fine: bool| if fine { "ok" } else { "down" };
    let database = asked.await.is_ok() && keeps_rows(&app).await;
    let storage = app.files().is_writable().await;
    let docserver = match app.document_server().is_healthy().await {
        None => "unset",
        Some(fine) => word(fine),
    };
    let (status, code) = match (database && storage, docserver) {
        (false, _) => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
        (true, "down") => ("degraded", StatusCode::OK),
        (true, _) => ("ok", StatusCode::OK),
    };
    let checks = Checks {
        database: word(database),
        storage: word(storage),
        docserver,
    };
    (code, Json(Readiness { status, checks })).into_response()
}

/// Whoever sends people here has to know at once.
fn draining() -> Response {
    let checks = Checks {
        database: UNASKED,
        storage: UNASKED,
        docserver: UNASKED,
    };
    let status = "draining";
    (StatusCode::SERVICE_UNAVAILABLE, Json(Readiness { status, checks })).into_response()
}

/// Whether rows can be written. Only after a commit has failed one is written to find out.
async fn keeps_rows(app: &App) -> bool {
    if !app.store().commit_failed() {
        return true;
    }
    let (turn, now) = ("readiness", clock::now());
    let write = app
        .store()
        .platform_write(PlatformProof::housekeeping(), move |platform| {
            platform.take_turn(turn, turn, now, now)
        });
    write.await.is_ok()
}

/// This document
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, description = "OpenAPI 3.1")))]
async fn openapi(headers: HeaderMap) -> Result<Response> {
    // It is the same as long as the service runs, and large.
    static TEXT: OnceLock<String> = OnceLock::new();
    // Compressed once as well, so that asking for it costs next to nothing.
    static COMPRESSED: OnceLock<Bytes> = OnceLock::new();
    let text = if let Some(text) = TEXT.get() {
        text
    } else {
        let made = serde_json::to_string(&super::router::description().0)?;
        TEXT.get_or_init(|| made)
    };
    let media = (header::CONTENT_TYPE, "application/json");
    let accepted = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok());
    if !accepted.is_some_and(|accepted| web_client::takes(accepted, "gzip")) {
        return Ok(([media], text.as_str()).into_response());
    }
    let compressed = if let Some(compressed) = COMPRESSED.get() {
        compressed
    } else {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes())?;
        let made = encoder.finish()?;
        COMPRESSED.get_or_init(|| made.into())
    };
    let fields = [
        media,
        (header::CONTENT_ENCODING, "gzip"),
        (header::VARY, "accept-encoding"),
    ];
    Ok((fields, compressed.clone()).into_response())
}
