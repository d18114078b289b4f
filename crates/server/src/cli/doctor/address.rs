//! Checks the address to listen on, and the way of users to the service: FRONTEND_URL through DNS and the proxy.

use std::time::Duration;

use serde::Deserialize;

use super::{DoctorReport, Finding};
use crate::config::Config;
use crate::config::listen::ListenAddress;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What `/api/health` returns.
#[derive(Deserialize)]
struct RunningService {
    version: String,
    connection: ReportedConnection,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportedConnection {
    client: Option<String>,
    forwarded: String,
    is_upgrade: bool,
}

/// Runs the checks.
pub async fn examine(config: &Config, found: &mut DoctorReport) {
    let socket = config.serve.listen.socket().is_some().then_some(&config.serve.listen);
    let Ok(service) = request(&config.serve.listen.local_url(), socket).await else {
        found.add("service", check_free(&config.serve.listen).await);
        let message = format!("{} is not checked while the service does not run", config.frontend_url);
        return found.add("address", Finding::Notice(message));
    };
    let own = env!("CARGO_PKG_VERSION");
    let message = format!("release {} runs at {}", service.version, config.serve.listen);
    found.add(
        "service",
        if service.version == own {
            Finding::Fine(message)
        } else {
            Finding::Notice(format!("{message}, but this program is {own}: restart the service"))
        },
    );
    found.add("address", check_frontend(config).await);
}

/// Checks whether the service could listen.
async fn check_free(listen: &ListenAddress) -> Finding {
    match listen.bind().await {
        Ok(listener) => {
            drop(listener);
            if let Some(path) = listen.socket() {
                drop(std::fs::remove_file(path));
            }
            Finding::Notice(format!("it does not run; {listen} is free"))
        }
        Err(error) => Finding::Fault(format!("{error:#}; compare LISTEN: another program may use it")),
    }
}

/// Requests FRONTEND_URL like a browser that opens a WebSocket, and reads how the request arrived.
async fn check_frontend(config: &Config) -> Finding {
    let url = &config.frontend_url;
    let service = match request(url, None).await {
        Ok(service) => service,
        Err(why) => {
            return Finding::Fault(format!(
                "{url} does not lead to this service: {why}; compare FRONTEND_URL, DNS and the proxy"
            ));
        }
    };
    let ReportedConnection {
        client,
        forwarded,
        is_upgrade,
    } = service.connection;
    if !is_upgrade {
        return Finding::Fault(format!(
            "the proxy at {url} does not forward WebSockets: it must pass the headers Upgrade and Connection"
        ));
    }
    let is_proxied = url.starts_with("https://");
    match forwarded.as_str() {
        "untrusted" => Finding::Fault(format!(
            "the proxy at {url} is not in TRUST_PROXY: all users count as one address in limits of sign-ins and \
             requests. The log names its address: \"X-Forwarded-For ignored\""
        )),
        "none" if is_proxied => Finding::Fault(format!(
            "the proxy at {url} sends no X-Forwarded-For: all users count as one address in limits of sign-ins and \
             requests"
        )),
        _ => Finding::Fine(format!(
            "{url} leads here, with WebSockets; this machine is seen as {}",
            client.unwrap_or_default()
        )),
    }
}

async fn request(base: &str, socket: Option<&ListenAddress>) -> Result<RunningService, String> {
    let mut client = reqwest::Client::builder()
        .no_proxy()
        // Browsers open a WebSocket with HTTP/1.1; HTTP/2 has no Upgrade header.
        .http1_only()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none());
    if let Some(path) = socket.and_then(ListenAddress::socket) {
        client = client.unix_socket(path);
    }
    let client = client.build().map_err(|error| error.to_string())?;
    let request = client
        .get(format!("{base}/api/health"))
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        // The example key of RFC 6455; no connection is opened with it.
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let response = request.send().await.map_err(|error| causes(&error))?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("status {status}"));
    }
    response
        .json()
        .await
        .map_err(|_| "the response is not that of groupwork".to_owned())
}

/// Returns an error with its causes: the first text of reqwest names only the URL.
pub fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
