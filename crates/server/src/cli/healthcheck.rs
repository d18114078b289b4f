//! `groupwork healthcheck`: the readiness of the local service as an exit code, for containers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;

/// The timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The address of the service.
#[derive(Args)]
pub struct HealthcheckArgs {
    /// Address and port that the service listens on
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
}

/// Exits with 0 if the service is ready, with or without the document server.
pub fn run(arguments: &HealthcheckArgs) -> anyhow::Result<()> {
    let url = format!("http://{}/api/health/ready", reachable(arguments.listen));
    super::runtime()?.block_on(async {
        let client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build()?;
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

/// Replaces an unspecified address by the loopback address.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listen.port())
    } else {
        listen
    }
}
