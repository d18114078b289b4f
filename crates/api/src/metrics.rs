//! `/metrics` on a separate address (METRICS_LISTEN), in the OpenMetrics text format. There is no authentication: the
//! address is for the operator's network, and metrics contain no personal data.

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use tokio::net::TcpListener;

use super::context::App;
use common::error::{Error, Result};
use common::metrics::metrics;
use db::platform::CrossTenantReason;

/// The OpenMetrics media type.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves the metrics until the process ends.
#[expect(clippy::disallowed_methods, reason = "a separate listener in the operator's network")]
pub async fn serve(listener: TcpListener, app: App) -> std::io::Result<()> {
    axum::serve(listener, Router::new().route("/metrics", get(show)).with_state(app)).await
}

async fn show(State(app): State<App>) -> Result<Response> {
    let mut registry = Registry::default();
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "The running version", version);
    metrics().register(&mut registry);
    let seconds = i64::try_from(app.uptime().as_secs()).unwrap_or(i64::MAX);
    registry.register_with_unit("uptime", "Uptime", Unit::Seconds, ConstGauge::new(seconds));
    number(
        &mut registry,
        "sockets_open",
        "Sockets of this instance",
        app.realtime().socket_count(),
    );
    let deprecated = "Deprecated name of websocket_connections; removed in the next release";
    let websocket_connections = app.realtime().websocket_connections();
    number(
        &mut registry,
        "websocket_connections",
        "Open WebSocket connections",
        websocket_connections,
    );
    number(&mut registry, "socket_wires_open", deprecated, websocket_connections);
    number(
        &mut registry,
        "socket_rooms",
        "Rooms with at least one socket",
        app.realtime().rooms().await,
    );
    number(
        &mut registry,
        "socket_messages_ignored",
        "Ignored messages of clients",
        app.realtime().ignored(),
    );
    number(
        &mut registry,
        "database_statements_read",
        "Statements executed by read connections",
        app.store().read_statement_count(),
    );
    let broken = u64::from(app.store().commit_failed());
    number(
        &mut registry,
        "database_commit_failed",
        "1 if the last commit failed",
        broken,
    );
    waiting(&app, &mut registry).await;
    process(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| Error::Internal(error.into()))?;
    Ok(([(header::CONTENT_TYPE, TEXT)], text).into_response())
}

/// Queue lengths from the database. A failed query does not prevent the other metrics.
async fn waiting(app: &App, registry: &mut Registry) {
    let read = app
        .store()
        .platform_read(CrossTenantReason::Housekeeping, |platform| platform.waiting());
    let read = read.await;
    number(
        registry,
        "database_up",
        "1 if the database responds",
        u64::from(read.is_ok()),
    );
    let Ok(waiting) = read else { return };
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
fn process(registry: &mut Registry) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    if let Some(kilobytes) = resident.and_then(|text| text.trim().parse::<u64>().ok()) {
        number(
            registry,
            "process_resident_memory_bytes",
            "Resident memory",
            kilobytes << 10,
        );
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        number(registry, "process_open_fds", "Open file descriptors", open.count());
    }
}

fn number(registry: &mut Registry, name: &str, help: &str, value: impl TryInto<i64>) {
    let gauge: Gauge = Gauge::default();
    gauge.set(value.try_into().unwrap_or(i64::MAX));
    registry.register(name, help, gauge);
}
