//! `groupwork healthcheck`: the readiness of the local service as an exit code, for containers.

use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;

use crate::config::listen::ListenAddress;

/// The timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The address of the service.
#[derive(Args)]
pub struct HealthcheckArgs {
    /// Address that the service listens on: `HOST:PORT` or `unix:/PATH`
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:3000")]
    listen: ListenAddress,
}

/// Exits with 0 if the service is ready, with or without the document server.
pub fn run(arguments: &HealthcheckArgs) -> anyhow::Result<()> {
    let url = format!("{}/api/health/ready", arguments.listen.local_url());
    super::runtime()?.block_on(async {
        let mut client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT);
        if let Some(path) = arguments.listen.socket() {
            client = client.unix_socket(path);
        }
        let client = client.build()?;
        let answer = client.get(&url).send().await.with_context(|| url.clone())?;
        let status = answer.status();
        let body = answer.text().await.unwrap_or_default();
        println!("{body}");
        if !status.is_success() {
            bail!("{url} answers {status}");
        }
        Ok(())
    })
}
