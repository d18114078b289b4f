//! `/metrics` on a separate address (METRICS_LISTEN), as Prometheus text or OpenMetrics, whichever the client accepts.
//! There is no authentication: the address is for the operator's network, and metrics contain no personal data.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use tokio::net::TcpListener;

use super::context::App;
use adapters::blob_store::BlobStore;
use common::clock;
use common::error::{Error, Result};
use common::metrics::metrics;
use db::platform::CrossTenantReason;
use db::platform::operations::EmailQueue;
use db::platform::system::QueueLengths;
use domain::time::Timestamp;

/// The media types of both formats.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The prefix of all metrics except those of the process, whose names are a convention of Prometheus.
const PREFIX: &str = "groupwork";
/// How long the number of quarantined files is cached, because an object store charges for listing.
const QUARANTINE_CACHE_TTL: Duration = Duration::from_mins(10);
/// The unit of CPU times in `/proc`, which is part of the Linux ABI.
const CPU_TICKS_PER_SECOND: f64 = 100.0;

/// Serves the metrics until the process ends.
#[expect(clippy::disallowed_methods, reason = "a separate listener in the operator's network")]
pub async fn serve(listener: TcpListener, app: App) -> std::io::Result<()> {
    axum::serve(listener, Router::new().route("/metrics", get(show)).with_state(app)).await
}

async fn show(State(app): State<App>, headers: HeaderMap) -> Result<Response> {
    let state = DatabaseState::read(&app).await;
    let mut text = String::new();
    for registry in [current(&app, &state).await, process(), old_names(&app, &state).await] {
        encode_registry(&mut text, &registry).map_err(|error| Error::Internal(error.into()))?;
    }
    encode_eof(&mut text).map_err(|error| Error::Internal(error.into()))?;
    let accepts = headers.get_all(header::ACCEPT).iter().any(|value| {
        value
            .to_str()
            .is_ok_and(|value| value.contains("application/openmetrics-text"))
    });
    Ok(if accepts {
        ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response()
    } else {
        ([(header::CONTENT_TYPE, PROMETHEUS)], prometheus_text(&text)).into_response()
    })
}

/// What the database knows; `None` if it does not respond, which does not prevent the other metrics.
struct DatabaseState(Option<(QueueLengths, EmailQueue, Option<Timestamp>)>);

impl DatabaseState {
    async fn read(app: &App) -> Self {
        let read = app.store().platform_read(CrossTenantReason::Housekeeping, |platform| {
            Ok((platform.waiting()?, platform.email_queue()?, platform.last_backup()?))
        });
        Self(read.await.ok())
    }
}

async fn current(app: &App, state: &DatabaseState) -> Registry {
    let mut registry = Registry::with_prefix(PREFIX);
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "The running version", version);
    metrics().register(&mut registry);
    register_shared(&mut registry, app, state).await;
    count(
        &mut registry,
        "socket_messages_ignored",
        "Ignored messages of clients",
        app.realtime().ignored(),
    );
    count(
        &mut registry,
        "database_statements_read",
        "Statements executed by read connections",
        app.store().read_statement_count(),
    );
    let is_listening = u64::from(app.realtime().is_listening());
    let help = "1 if this instance receives the events of all instances";
    number(&mut registry, "event_listener_up", help, is_listening);
    let is_on = u64::from(app.maintenance().is_on());
    let help = "1 while the installation is read-only for maintenance";
    number(&mut registry, "maintenance", help, is_on);
    let is_failing = u64::from(app.mail().last_failure().is_some());
    let help = "1 if the last attempt of this instance to send an email failed";
    number(&mut registry, "email_delivery_failing", help, is_failing);
    if let Some((free, size)) = app.uploads().disk() {
        let help = "Free bytes on the disk of the data folder";
        number(&mut registry, "disk_free_bytes", help, free);
        number(&mut registry, "disk_size_bytes", "Size of that disk", size);
    }
    if let Some(files) = quarantined(app.files()).await {
        let help = "Orphaned files in the quarantine, counted every ten minutes";
        number(&mut registry, "quarantined_files", help, files);
    }
    if let DatabaseState(Some((_, emails, last_backup))) = state {
        number(&mut registry, "emails_queued", "Queued emails", emails.length);
        let age = emails
            .oldest
            .map_or(0, |oldest| clock::now().seconds_since(oldest).max(0));
        number(
            &mut registry,
            "email_queue_age_seconds",
            "Age of the oldest queued email",
            age,
        );
        if let Some(at) = last_backup {
            let help = "When the last complete backup was made";
            number(
                &mut registry,
                "last_backup_timestamp_seconds",
                help,
                at.as_millis() / 1_000,
            );
        }
    }
    registry
}

/// The metrics of the previous release, without the prefix; removed in the next one.
async fn old_names(app: &App, state: &DatabaseState) -> Registry {
    let mut registry = Registry::default();
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "The running version", version);
    metrics().register_old_names(&mut registry);
    register_shared(&mut registry, app, state).await;
    let deprecated = "Deprecated name of groupwork_websocket_connections; removed in the next release";
    let websocket_connections = app.realtime().websocket_connections();
    number(&mut registry, "socket_wires_open", deprecated, websocket_connections);
    let help = "Ignored messages of clients";
    number(&mut registry, "socket_messages_ignored", help, app.realtime().ignored());
    let help = "Statements executed by read connections";
    number(
        &mut registry,
        "database_statements_read",
        help,
        app.store().read_statement_count(),
    );
    registry
}

/// The gauges that have the same name with and without the prefix.
async fn register_shared(registry: &mut Registry, app: &App, DatabaseState(state): &DatabaseState) {
    let seconds = i64::try_from(app.uptime().as_secs()).unwrap_or(i64::MAX);
    registry.register_with_unit("uptime", "Uptime", Unit::Seconds, ConstGauge::new(seconds));
    let realtime = app.realtime();
    number(
        registry,
        "sockets_open",
        "Sockets of this instance",
        realtime.socket_count(),
    );
    let help = "Open WebSocket connections";
    number(
        registry,
        "websocket_connections",
        help,
        realtime.websocket_connections(),
    );
    let help = "Rooms with at least one socket";
    number(registry, "socket_rooms", help, realtime.rooms().await);
    let is_broken = u64::from(app.store().commit_failed());
    number(
        registry,
        "database_commit_failed",
        "1 if the last commit failed",
        is_broken,
    );
    let is_stopped = u64::from(app.store().checkpoints_stopped());
    let help = "1 if SQLite keeps its write-ahead log until the next start, because a sync failed";
    number(registry, "database_checkpoints_stopped", help, is_stopped);
    let is_up = u64::from(state.is_some());
    number(registry, "database_up", "1 if the database responds", is_up);
    let Some((waiting, _, _)) = state else { return };
    for (name, help, count) in [
        ("jobs_queued", "Queued jobs", waiting.jobs_queued),
        ("jobs_running", "Running jobs", waiting.jobs_running),
        ("jobs_failed", "Jobs that were given up", waiting.jobs_failed),
        ("file_removals", "Files queued for deletion", waiting.file_removals),
        ("help_open", "Groups that request help", waiting.help_open),
    ] {
        registry.register(name, help, ConstGauge::new(count));
    }
}

/// Process metrics from /proc; none on systems without it.
fn process() -> Registry {
    let mut registry = Registry::default();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    if let Some(kilobytes) = resident.and_then(|text| text.trim().parse::<u64>().ok()) {
        let help = "Resident memory";
        number(&mut registry, "process_resident_memory_bytes", help, kilobytes << 10);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        number(&mut registry, "process_open_fds", "Open file descriptors", open.count());
    }
    if let Some(seconds) = cpu_seconds() {
        let used: ConstCounter<f64> = ConstCounter::new(seconds);
        registry.register_with_unit("process_cpu", "CPU time in user and system mode", Unit::Seconds, used);
    }
    registry
}

fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may contain spaces; `utime` and `stime` are the fields 14 and 15.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((f64::from(user) + f64::from(system)) / CPU_TICKS_PER_SECOND)
}

/// Returns the number of quarantined files; `None` if the storage does not respond.
async fn quarantined(files: &BlobStore) -> Option<usize> {
    static CACHE: Mutex<Option<(Instant, usize)>> = Mutex::new(None);
    let cached = *CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, count)) = cached.filter(|(at, _)| at.elapsed() < QUARANTINE_CACHE_TTL) {
        return Some(count);
    }
    let count = files.list_quarantined().await.ok()?.len();
    *CACHE.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), count));
    Some(count)
}

fn number(registry: &mut Registry, name: &str, help: &str, value: impl TryInto<i64>) {
    let gauge: Gauge = Gauge::default();
    gauge.set(value.try_into().unwrap_or(i64::MAX));
    registry.register(name, help, gauge);
}

fn count(registry: &mut Registry, name: &str, help: &str, value: u64) {
    registry.register(name, help, ConstCounter::new(value));
}

/// Converts OpenMetrics to the Prometheus text format: it names a counter with its suffix, and knows no units, no
/// `info` and no end mark.
fn prometheus_text(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        let described = |keyword: &str| line.strip_prefix(keyword)?.split_once(' ');
        if let Some((_, words)) = described("# HELP ") {
            help = words;
        } else if let Some((name, kind)) = described("# TYPE ") {
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                kind => ("", kind),
            };
            // Writing to a String cannot fail.
            let _ = write!(text, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}\n");
        } else if !line.starts_with('#') {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_text_names_counters_with_suffix_and_has_no_units() {
        let open_metrics = "# HELP a_seconds Time.\n# TYPE a_seconds counter\n# UNIT a_seconds seconds\n\
            a_seconds_total 1.5\n# HELP build Version.\n# TYPE build info\nbuild_info{version=\"1\"} 1\n# EOF\n";
        assert_eq!(
            prometheus_text(open_metrics),
            "# HELP a_seconds_total Time.\n# TYPE a_seconds_total counter\na_seconds_total 1.5\n\
             # HELP build_info Version.\n# TYPE build_info gauge\nbuild_info{version=\"1\"} 1\n"
        );
    }
}
