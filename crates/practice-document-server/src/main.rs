//! Starts a practice document server from the command line, until it is interrupted.

use std::net::SocketAddr;

use clap::Parser;
use practice_document_server::{Practice, Settings};
use tracing_subscriber::EnvFilter;

/// A stand-in for an ONLYOFFICE document server, for tests and demonstrations. Never for real work.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:8085")]
    listen: SocketAddr,
    /// The secret shared with the server whose documents are edited.
    #[arg(long, env = "DOCSERVER_JWT_SECRET", hide_env_values = true)]
    secret: String,
    /// Base address for links to results, instead of the host that callers use.
    #[arg(long)]
    public_url: Option<String>,
    /// Factor on all waiting times; 1 is like the real server.
    #[arg(long, default_value_t = 1.0)]
    time_scale: f64,
    /// How many editors may be open at once before the next becomes a viewer.
    #[arg(long, default_value_t = 20)]
    connection_limit: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();
    let arguments = Arguments::parse();
    let running = Practice::start(Settings {
        listen: arguments.listen,
        public_url: arguments.public_url,
        time_scale: arguments.time_scale,
        connection_limit: arguments.connection_limit,
        ..Settings::new(arguments.secret)
    })
    .await?;
    tracing::info!("practice document server on {}", running.url());
    tokio::signal::ctrl_c().await?;
    running.stop().await;
    Ok(())
}
