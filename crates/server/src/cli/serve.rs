//! `groupwork serve`: validates the settings, migrates, listens, and shuts down gracefully on SIGTERM.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use anyhow::Context as _;
use sd_notify::NotifyState;

use super::data_folder::{lock, protect};
use super::log_writer::LogWriter;
use super::settings;
use crate::bootstrap::build_app;
use crate::config::listen::ListenAddress;
use crate::config::{Config, ServeArgs, StorageArgs, settings_file};
use api::app::App;
use api::server::Listener;
use api::{fd_limit, metrics, router, server};
use common::failpoint;

/// Runs the service until it is stopped.
pub fn run(serve: ServeArgs, storage: StorageArgs) -> anyhow::Result<()> {
    let (format, level) = (serve.log_format.trim().to_owned(), serve.log_level.trim().to_owned());
    let config = Config::check(serve, storage)?;
    let log = start_log(&format, &level)?;
    crate::config::renamed::warn();
    for (name, setting) in settings_file::near_misses(&settings::names()) {
        tracing::warn!(
            name,
            setting,
            "variable is no setting of groupwork: it may be a misspelled one"
        );
    }
    if let Some(specification) = crate::config::failpoint() {
        failpoint::arm_kill(&specification);
    }
    let database = config.storage.database()?;
    tracing::info!(database = database.describe(), "database in use");
    let description = StartDescription {
        database: database.describe(),
        storage: match config
            .storage
            .files_url
            .as_deref()
            .map(str::trim)
            .filter(|url| !url.is_empty())
        {
            Some(url) => url.to_owned(),
            None => config.storage.data_dir.join("files").display().to_string(),
        },
    };
    protect(&config.storage.data_dir);
    // Before the port is bound, because a previous service that is stopping may still use it.
    let timeout = Duration::from_secs(config.storage.database_wait_seconds);
    let _lock = lock(&database, timeout)?;
    tracing::info!(most = fd_limit::raise(), "file descriptor limit");
    let outcome = super::run_service(async {
        let listener = config.serve.listen.bind().await.context("LISTEN")?;
        let address = bound_address(&config.serve.listen, &listener)?;
        let metrics = match &config.serve.metrics_listen {
            Some(address) => match address.bind().await.context("METRICS_LISTEN")? {
                Listener::Tcp(listener) => Some(listener),
                Listener::Unix(_) => None,
            },
            None => None,
        };
        let app = build(config, &address.local_url()).await?;
        if let Some(metrics) = metrics {
            announce(&format!("metrics at http://{}/metrics", metrics.local_addr()?));
            tokio::spawn(metrics::serve(metrics, app.clone()));
        }
        failpoint::hit("start.built");
        let signals = server::StopSignals::watch()?;
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            database = description.database,
            storage = description.storage,
            address = shown(&address),
            settings = settings_file::loaded().map(|file| file.path.display().to_string()),
            "service started"
        );
        announce(&format!("groupwork listens on {}", shown(&address)));
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

/// The installation as the first log lines describe it.
struct StartDescription {
    database: String,
    storage: String,
}

/// How long a stopping process waits for its last log lines.
pub const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Notifies systemd about the state of the service (`Type=notify`), if it is the service manager.
fn notify_service_manager(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::debug!(%error, "systemd notification failed");
    }
}

/// Returns the address with the port that was selected for port 0.
fn bound_address(wanted: &ListenAddress, listener: &Listener) -> std::io::Result<ListenAddress> {
    Ok(listener
        .local_addr()?
        .map_or_else(|| wanted.clone(), ListenAddress::from))
}

fn shown(address: &ListenAddress) -> String {
    if address.socket().is_some() {
        address.to_string()
    } else {
        format!("http://{address}")
    }
}

/// Builds the service; `own_url` is its URL for the document server unless API_INTERNAL_URL is set.
pub async fn build(config: Config, own_url: &str) -> anyhow::Result<App> {
    let internal = config.api_internal_url.clone().unwrap_or_else(|| own_url.to_owned());
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
        .with_ansi(std::io::stderr().is_terminal() && crate::config::environment("NO_COLOR").is_none())
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
