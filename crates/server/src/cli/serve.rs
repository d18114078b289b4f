//! `groupwork serve`: validates the settings, migrates, listens, and shuts down gracefully on SIGTERM.

use std::io::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use sd_notify::NotifyState;
use tokio::net::TcpListener;

use super::data_folder::{lock, protect};
use super::log_writer::LogWriter;
use crate::bootstrap::build_app;
use crate::config::{Config, ServeArgs, StorageArgs};
use api::app::App;
use api::{fd_limit, metrics, router, server};
use common::failpoint;

/// Runs the service until it is stopped.
pub fn run(serve: ServeArgs, storage: StorageArgs) -> anyhow::Result<()> {
    let (format, level) = (serve.log_format.clone(), serve.log_level.clone());
    let config = Config::check(serve, storage)?;
    let log = start_log(&format, &level)?;
    crate::config::renamed::warn();
    if let Some(specification) = crate::config::failpoint() {
        failpoint::arm_kill(&specification);
    }
    let database = config.storage.database()?;
    tracing::info!(database = database.describe(), "database in use");
    protect(&config.storage.data_dir);
    // Before the port is bound, because a previous service that is stopping may still use it.
    let timeout = Duration::from_secs(config.storage.database_wait_seconds);
    let _lock = lock(&database, timeout)?;
    tracing::info!(most = fd_limit::raise(), "file descriptor limit");
    let outcome = super::run_service(async {
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("listen on {}", config.listen))?;
        let address = listener.local_addr()?;
        let metrics = match config.metrics_listen {
            Some(address) => {
                let bound = TcpListener::bind(address).await;
                Some(bound.with_context(|| format!("METRICS_LISTEN: listen on {address}"))?)
            }
            None => None,
        };
        let app = build(config, address).await?;
        if let Some(metrics) = metrics {
            announce(&format!("metrics at http://{}/metrics", metrics.local_addr()?));
            tokio::spawn(metrics::serve(metrics, app.clone()));
        }
        failpoint::hit("start.built");
        let signals = server::StopSignals::watch()?;
        announce(&format!("groupwork listens on http://{address}"));
        notify_service_manager(NotifyState::Ready);
        let stop = async {
            signals.received().await;
            notify_service_manager(NotifyState::Stopping);
        };
        let store = app.store().clone();
        server::serve(listener, router::router(app.clone()), app, stop).await?;
        if let Err(error) = store.checkpoint().await {
            tracing::warn!(error = format!("{error:?}"), "SQLite WAL checkpoint failed");
        }
        Ok(())
    });
    log.flush(LOG_FLUSH_TIMEOUT);
    outcome
}

/// How long a stopping process waits for its last log lines.
pub const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Notifies systemd about the state of the service (`Type=notify`), if it is the service manager.
fn notify_service_manager(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::debug!(%error, "systemd notification failed");
    }
}

/// Builds the service for its listen address.
pub async fn build(config: Config, address: std::net::SocketAddr) -> anyhow::Result<App> {
    let internal = config
        .api_internal_url
        .clone()
        .unwrap_or_else(|| format!("http://{address}"));
    build_app(config, &internal)
        .await
        .map_err(anyhow::Error::new)
        .context("start")
}

/// Sends log records to stderr, as text or JSON lines, through a queue: see [`LogWriter`]. [`LogWriter::flush`]
/// writes the rest at the end of the process.
pub fn start_log(format: &str, level: &str) -> anyhow::Result<LogWriter> {
    let writer = LogWriter::start(std::io::stderr()).context("start the log thread")?;
    let filter = tracing_subscriber::EnvFilter::try_new(format!("{level},refinery_core=warn,tungstenite=warn"))
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer.clone())
        // The library would report its own errors with `eprintln!`, which panics if stderr is not writable.
        .log_internal_errors(false)
        .with_target(false);
    if format == "json" {
        log.json().init();
    } else {
        log.init();
    }
    // The default hook writes to stderr directly and would block on a pipe without a reader.
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "thread panicked")));
    Ok(writer)
}

/// Prints a line to stdout. An unwritable stdout does not stop the service.
pub fn announce(line: &str) {
    if let Err(error) = writeln!(std::io::stdout(), "{line}") {
        tracing::warn!(%error, "stdout not writable");
    }
}
