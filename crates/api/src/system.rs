//! `/admin/system`: the installation, for SUPER_ADMINs. Responses contain no secrets, no addresses and no data of
//! organizations. See docs/api-contract.md#the-organization.

use api_macros::view;
use axum::Json;
use domain::time::Timestamp;

use super::context::Context;
use common::clock;
use common::error::Result;
use db::platform::CrossTenantReason;
use db::platform::system::{COUNTED_MAX, SystemFacts};

/// The state of the installation.
#[view]
pub struct System {
    /// The running version.
    version: &'static str,
    /// Seconds since the start.
    uptime: u64,
    /// The current time of the service.
    timestamp: Timestamp,
    /// The database.
    database: SystemDatabase,
    /// `ok` or `down`.
    storage: &'static str,
    /// `ok`, `down`, or `unset` if none is configured.
    document_server: &'static str,
    /// Background jobs.
    jobs: SystemJobs,
    /// Number of files that are queued for deletion because their rows were deleted.
    file_removals: i64,
    /// Emails.
    emails: SystemEmails,
    /// When the last complete backup was made.
    #[schema(required = false)]
    last_backup_at: Option<Timestamp>,
}

/// The queue of emails.
#[view]
pub struct SystemEmails {
    /// Whether an SMTP server is configured; otherwise emails are written to the outbox folder.
    has_server: bool,
    /// Number of queued emails.
    queued: i64,
    /// When the oldest of them was queued.
    #[schema(required = false)]
    oldest_queued_at: Option<Timestamp>,
    /// Why the last attempt of this instance failed; null after a successful one.
    #[schema(required = false)]
    last_error: Option<String>,
    /// When it failed.
    #[schema(required = false)]
    last_error_at: Option<Timestamp>,
}

/// The database of the installation.
#[view]
pub struct SystemDatabase {
    /// `sqlite` or `postgresql`.
    kind: &'static str,
    /// Size in bytes.
    bytes: i64,
    /// Version of the schema.
    schema_version: i64,
    /// The tables, by name.
    tables: Vec<SystemTable>,
}

/// A table of the database.
#[view]
pub struct SystemTable {
    name: String,
    /// Number of rows, counted up to a million.
    rows: i64,
    /// Whether there may be more rows.
    is_at_least: bool,
}

/// Background jobs by state.
#[view]
pub struct SystemJobs {
    /// Number of queued jobs.
    queued: i64,
    /// Number of running jobs.
    running: i64,
    /// Number of jobs that were given up.
    failed: i64,
}

/// Get the state of the installation
#[utoipa::path(get, path = "/admin/system", responses((status = 200, body = System)))]
pub(crate) async fn show(cx: Context) -> Result<Json<System>> {
    let app = cx.app();
    let load = app.store().platform_read(CrossTenantReason::SuperAdmin, |platform| {
        Ok((
            platform.system_facts()?,
            platform.email_queue()?,
            platform.last_backup()?,
        ))
    });
    let (facts, emails, last_backup_at) = load.await?;
    let SystemFacts {
        database,
        bytes,
        schema_version,
        tables,
        waiting,
    } = facts;
    let failure = app.mail().last_failure();
    let status = |is_ok: bool| if is_ok { "ok" } else { "down" };
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
        storage: status(app.files().is_writable().await),
        document_server: app.document_server().is_healthy().await.map_or("unset", status),
        jobs: SystemJobs {
            queued: waiting.jobs_queued,
            running: waiting.jobs_running,
            failed: waiting.jobs_failed,
        },
        file_removals: waiting.file_removals,
        emails: SystemEmails {
            has_server: app.mail().has_server(),
            queued: emails.length,
            oldest_queued_at: emails.oldest,
            last_error: failure.as_ref().map(|failure| failure.reason.clone()),
            last_error_at: failure.map(|failure| failure.at),
        },
        last_backup_at,
    }))
}
