//! Health, liveness, readiness and the OpenAPI document. Responses contain no secrets and no data of organizations. See
//! docs/api-contract.md#health.

use api_macros::view;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::OnceLock;

use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use bytes::Bytes;
use domain::maintenance::Maintenance;
use domain::text::MaintenanceMessage;
use domain::time::Timestamp;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::context::App;
use super::web_client;
use common::clock;
use common::error::Result;
use db::platform::CrossTenantReason;

const NOT_CHECKED: &str = "unasked";

/// The state of the service.
#[view]
pub struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The running version.
    version: &'static str,
    /// Seconds since the start.
    uptime: u64,
    /// The current time of the service.
    timestamp: Timestamp,
    /// The maintenance mode; null if everything can be changed.
    maintenance: Option<MaintenanceNotice>,
    /// Whether an SMTP server is configured. Without one, emails are files that only the operator reads.
    #[serde(rename = "sendsEmail")]
    sends_email: bool,
    /// How this request arrived.
    connection: ClientConnection,
}

/// The maintenance mode: everything can be read, nothing can be changed.
#[view]
pub struct MaintenanceNotice {
    /// The text of the operator for users.
    message: Option<MaintenanceMessage>,
    /// When it began.
    since: Timestamp,
}

/// How a request arrived, for the configuration of a proxy.
#[view]
pub struct ClientConnection {
    /// The address of the client, as it is counted by limits.
    #[schema(required = false)]
    client: Option<String>,
    /// `none` without X-Forwarded-For, `trusted` if its sender is in TRUST_PROXY, otherwise `untrusted`.
    forwarded: &'static str,
    /// Whether the request asked for a WebSocket; a proxy must forward this.
    is_upgrade: bool,
}

/// The readiness of the service.
#[view]
pub struct Readiness {
    /// `ok`, `degraded` (works without the document server), `unavailable`, or `draining` (the service is shutting down
    /// and must receive no new traffic).
    status: &'static str,
    /// The dependencies of the service.
    checks: Checks,
}

/// The dependencies of the service: `ok`, `down`, `unset` (not configured) or `unasked` (while draining).
#[view]
pub struct Checks {
    database: &'static str,
    storage: &'static str,
    docserver: &'static str,
    /// Does not affect the status: `down` if the last email was not accepted, `unset` without an SMTP server.
    mail: &'static str,
    /// Does not affect the status: `down` if the last complete backup is older than two days, `unset` if there is none.
    backup: &'static str,
}

/// The age in seconds at which a backup is reported as missing: one night was left out.
const BACKUP_AGE_MAX_SECONDS: i64 = 48 * 3_600;

/// Get status and version of the service
#[utoipa::path(get, path = "/health", responses((status = 200, body = Health)))]
pub(crate) async fn show(
    State(app): State<App>,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    headers: HeaderMap,
) -> Json<Health> {
    let uptime = app.uptime().as_secs();
    let peer = peer.map(|Extension(ConnectInfo(peer))| peer.ip());
    let hosts = app.authenticator().host_resolver();
    let forwarded = match (headers.contains_key("x-forwarded-for"), peer) {
        (false, _) => "none",
        (true, Some(peer)) if hosts.is_proxy(peer) => "trusted",
        (true, _) => "untrusted",
    };
    let is_web_socket = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"websocket");
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        uptime,
        timestamp: clock::now(),
        maintenance: app
            .maintenance()
            .current()
            .map(|Maintenance { message, since }| MaintenanceNotice { message, since }),
        sends_email: app.mail().has_server(),
        connection: ClientConnection {
            client: hosts.client_address(&headers, peer).map(|address| address.to_string()),
            forwarded,
            is_upgrade: headers.get(header::UPGRADE).is_some_and(is_web_socket),
        },
    })
}

/// Check that the process is alive
#[utoipa::path(get, path = "/health/live", responses((status = 200, description = "The process is alive")))]
pub(crate) async fn live() -> StatusCode {
    StatusCode::OK
}

/// Check that the service is ready
#[utoipa::path(get, path = "/health/ready", responses((status = 200, body = Readiness),
        (status = 503, body = Readiness)))]
pub(crate) async fn ready(State(app): State<App>) -> Response {
    if app.is_draining() {
        return draining();
    }
    let label = |is_ok: bool| if is_ok { "ok" } else { "down" };
    let database = app.store().check_connection().await.is_ok() && can_write_rows(&app).await;
    let storage = app.files().is_writable().await;
    let docserver = match app.document_server().is_healthy().await {
        None => "unset",
        Some(is_ok) => label(is_ok),
    };
    let (status, code) = match (database && storage, docserver) {
        (false, _) => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
        (true, "down") => ("degraded", StatusCode::OK),
        (true, _) => ("ok", StatusCode::OK),
    };
    let checks = Checks {
        database: label(database),
        storage: label(storage),
        docserver,
        mail: check_mail(&app),
        backup: if database {
            check_backup(&app).await
        } else {
            NOT_CHECKED
        },
    };
    (code, Json(Readiness { status, checks })).into_response()
}

fn check_mail(app: &App) -> &'static str {
    match (app.mail().has_server(), app.mail().last_failure()) {
        (false, _) => "unset",
        (true, None) => "ok",
        (true, Some(_)) => "down",
    }
}

async fn check_backup(app: &App) -> &'static str {
    let read = app
        .store()
        .platform_read(CrossTenantReason::Housekeeping, |platform| platform.last_backup());
    match read.await {
        Ok(Some(at)) if clock::now().seconds_since(at) <= BACKUP_AGE_MAX_SECONDS => "ok",
        Ok(Some(_)) => "down",
        Ok(None) => "unset",
        Err(_) => NOT_CHECKED,
    }
}

/// Load balancers must see this immediately, so no dependency is checked.
fn draining() -> Response {
    let checks = Checks {
        database: NOT_CHECKED,
        storage: NOT_CHECKED,
        docserver: NOT_CHECKED,
        mail: NOT_CHECKED,
        backup: NOT_CHECKED,
    };
    let status = "draining";
    (StatusCode::SERVICE_UNAVAILABLE, Json(Readiness { status, checks })).into_response()
}

/// Whether rows can be written. A test write is made only after a commit has failed.
async fn can_write_rows(app: &App) -> bool {
    if !app.store().commit_failed() {
        return true;
    }
    let (turn, now) = ("readiness", clock::now());
    let write = app
        .store()
        .platform_write(CrossTenantReason::Housekeeping, move |platform| {
            platform.acquire_lease(turn, turn, now, now)
        });
    write.await.is_ok()
}

/// Get this OpenAPI document
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, description = "OpenAPI 3.1")))]
pub(crate) async fn openapi(headers: HeaderMap) -> Result<Response> {
    // Constant while the process runs, and large.
    static TEXT: OnceLock<String> = OnceLock::new();
    // Compressed once as well, so that requests cost almost nothing.
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
    if !accepted.is_some_and(|accepted| web_client::accepts_encoding(accepted, "gzip")) {
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
