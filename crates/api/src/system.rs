//! `/admin/system`: the installation, for those who run it (contract 6.14). No secrets, no addresses, no tenant data.

use axum::Json;
use model::access::Access;
use model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::context::Context;
use super::endpoint::Endpoints;
use common::clock;
use common::error::Result;
use db::platform::PlatformProof;
use db::platform::system::{COUNTED_MAX, SystemFacts};

/// The routes of the installation.
pub fn routes() -> Endpoints {
    Endpoints::new("admin").add(Access::SuperAdmin, routes!(show))
}

/// The installation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct System {
    /// The running version.
    version: &'static str,
    /// Seconds since the start.
    uptime: u64,
    /// The service's clock.
    timestamp: Timestamp,
    /// The database.
    database: SystemDatabase,
    /// `ok` or `down`.
    storage: &'static str,
    /// `ok`, `down`, or `unset` where none is configured.
    document_server: &'static str,
    /// Work beside requests.
    jobs: SystemJobs,
    /// Files whose rows are gone and that are still to be removed.
    file_removals: i64,
}

/// The database of the installation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemDatabase {
    /// `sqlite` or `postgresql`.
    kind: &'static str,
    /// How many bytes it takes.
    bytes: i64,
    /// The version of its schema.
    schema_version: i64,
    /// Its tables by name.
    tables: Vec<SystemTable>,
}

/// A table of the database.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemTable {
    name: String,
    /// How many rows it has; more than a million are not counted.
    rows: i64,
    /// Whether there may be more.
    is_at_least: bool,
}

/// Work beside requests.
#[derive(Debug, Serialize, ToSchema)]
pub struct SystemJobs {
    /// How many wait.
    queued: i64,
    /// How many are at work.
    running: i64,
    /// How many were given up.
    failed: i64,
}

/// The installation
#[utoipa::path(get, path = "/admin/system", responses((status = 200, body = System)))]
async fn show(cx: Context) -> Result<Json<System>> {
    let app = cx.app();
    let look = app
        .store()
        .platform_read(PlatformProof::super_admin(), |platform| platform.system_facts());
    let SystemFacts {
        database,
        bytes,
        schema_version,
        tables,
        waiting,
    } = look.await?;
    let word = |fine: bool| if fine { "ok" } else { "down" };
    let tables = tables.into_iter().map(|(name, rows)| SystemTable {
        name,
        rows,
        is_at_least: rows >= COUNTED_MAX,
    });
    Ok(Json(System {
        version: env!("CARGO_PKG_VERSION"),
        uptime: app.uptime().as_secs(),
        timestamp: clock::now(),
        database: SystemDatabase {
            kind: database,
            bytes,
            schema_version,
            tables: tables.collect(),
        },
        storage: word(app.files().is_writable().await),
        document_server: app.document_server().is_healthy().await.map_or("unset", word),
        jobs: SystemJobs {
            queued: waiting.jobs_queued,
            running: waiting.jobs_running,
            failed: waiting.jobs_failed,
        },
        file_removals: waiting.file_removals,
    }))
}
