//! `groupwork serve`: check the settings, migrate, listen, and stop cleanly on SIGTERM.

use std::io::Write as _;

use anyhow::Context as _;
use sd_notify::NotifyState;
use tokio::net::TcpListener;

use crate::app::App;
use crate::config::{Config, ServeArgs, StorageArgs};
use crate::failpoint;
use crate::http::{descriptors, listen, metrics, router};

/// Runs until told to stop.
pub fn run(serve: ServeArgs, storage: StorageArgs) -> anyhow::Result<()> {
    let (format, level) = (serve.log_format.clone(), serve.log_level.clone());
    let config = Config::check(serve, storage)?;
    start_log(&format, &level);
    if let Some(specification) = crate::config::failpoint() {
        failpoint::arm_kill(&specification);
    }
    tracing::info!(most = descriptors::raise(), "descriptors this process may hold");
    super::run_service(async {
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
            writeln!(std::io::stdout(), "metrics at http://{}/metrics", metrics.local_addr()?)?;
            tokio::spawn(metrics::serve(metrics, app.clone()));
        }
        failpoint::hit("start.built");
        writeln!(std::io::stdout(), "groupwork listens on http://{address}")?;
        let stop = async {
            let mut signal = std::pin::pin!(listen::stop_signal());
            // The first look at the signal begins to wait for it: nobody may stop us before.
            tokio::select! {
                biased;
                () = &mut signal => {}
                () = async { tell_manager(NotifyState::Ready) } => signal.await,
            }
            tell_manager(NotifyState::Stopping);
        };
        listen::serve(listener, router::router(app.clone()), app, stop).await?;
        Ok(())
    })
}

/// Tells whoever started the service how it is; nobody, unless systemd wants to know (`Type=notify`).
fn tell_manager(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::debug!(%error, "systemd could not be told");
    }
}

/// Builds the service for the address it listens on.
pub async fn build(config: Config, address: std::net::SocketAddr) -> anyhow::Result<App> {
    let internal = config
        .api_internal_url
        .clone()
        .unwrap_or_else(|| format!("http://{address}"));
    App::build(config, &internal)
        .await
        .map_err(anyhow::Error::new)
        .context("start")
}

/// Sends log records to stderr, as text or as JSON lines.
pub fn start_log(format: &str, level: &str) {
    let filter = tracing_subscriber::EnvFilter::try_new(format!("{level},refinery_core=warn,tungstenite=warn"))
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    if format == "json" {
        log.json().init();
    } else {
        log.init();
    }
}
