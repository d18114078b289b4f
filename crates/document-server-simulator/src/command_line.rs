//! The command line of the simulator.

use std::net::SocketAddr;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::{Simulator, SimulatorSettings};

/// Simulates an ONLYOFFICE document server for tests and demonstrations. Not for production use.
#[derive(Parser)]
#[command(version)]
struct CommandLine {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:8085")]
    listen: SocketAddr,
    /// Secret shared with the server whose documents are edited.
    #[arg(long, env = "DOCSERVER_JWT_SECRET", hide_env_values = true)]
    secret: String,
    /// Base URL of links to results. Default: the host that the caller used.
    #[arg(long)]
    public_url: Option<String>,
    /// Factor on all delays; 1 matches the real server.
    #[arg(long, default_value_t = 1.0)]
    time_scale: f64,
    /// Maximum number of concurrent editors; further editors are opened as viewers.
    #[arg(long, default_value_t = 20)]
    connection_limit: usize,
}

/// Parses the arguments of the process and runs the simulator until SIGINT.
///
/// `deprecated_name` is the name of the program when it was started by its former name; a warning is logged then.
pub async fn run(deprecated_name: Option<&str>) -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();
    let arguments = CommandLine::parse();
    if let Some(name) = deprecated_name {
        tracing::warn!(name, "deprecated program name: use document-server-simulator");
    }
    let running = Simulator::start(SimulatorSettings {
        listen: arguments.listen,
        public_url: arguments.public_url,
        time_scale: arguments.time_scale,
        connection_limit: arguments.connection_limit,
        ..SimulatorSettings::new(arguments.secret)
    })
    .await?;
    tracing::info!(url = running.url(), "document server simulator listening");
    tokio::signal::ctrl_c().await?;
    running.stop().await;
    Ok(())
}
