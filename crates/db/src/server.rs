//! Connections to a PostgreSQL server: parses the URL, configures TLS with the options of libpq and TCP timeouts, and
//! explains connection failures. Used by the pool, the event bus, migrations and backups.

use std::error::Error as _;
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;
use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use self::tls::TlsMode;
use super::store::Database;
use common::error::Result;

pub mod facts;
mod tls;

/// Connect timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// `TCP_USER_TIMEOUT`: how long sent data may remain unacknowledged before the connection is closed.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(20);
/// TCP keepalive: idle time before the first probe, interval and number of probes.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_PROBES: u32 = 3;
/// Interval of connection attempts at start.
const RETRY_INTERVAL: Duration = Duration::from_millis(300);

/// A server as described by its URL.
pub struct Server {
    config: tokio_postgres::Config,
    mode: TlsMode,
    tls: MakeRustlsConnect,
}

/// The connection of the event bus, which must be polled to receive notifications.
pub type NotificationConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// The reason of a connection failure.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct ConnectError {
    /// A sentence for operators that names the invalid setting, if there is one.
    why: String,
    /// Whether a retry may succeed: the server is unreachable, starting, stopping or at its connection limit.
    pub is_transient: bool,
}

impl Server {
    /// Parses the URL and reads the files it refers to. The error is a sentence for operators.
    pub fn of(url: &str) -> Result<Self, String> {
        let (url, parameters) = split_tls_parameters(url);
        let mode = TlsMode::of(&parameters)?;
        let mut config: tokio_postgres::Config = url
            .parse()
            .map_err(|error: tokio_postgres::Error| format!("DATABASE_URL: {}", describe_error(&error)))?;
        config.ssl_mode(match &mode {
            TlsMode::Disable => SslMode::Disable,
            TlsMode::Prefer => SslMode::Prefer,
            TlsMode::Require | TlsMode::Verify { .. } => SslMode::Require,
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(TCP_USER_TIMEOUT);
        }
        if !url.contains("keepalives") {
            config
                .keepalives_idle(KEEPALIVE_IDLE)
                .keepalives_interval(KEEPALIVE_INTERVAL)
                .keepalives_retries(KEEPALIVE_PROBES);
        }
        let tls = MakeRustlsConnect::new(tls::client(&mode)?);
        Ok(Self { config, mode, tls })
    }

    /// Describes database, user and hosts, without the password.
    pub fn describe(&self) -> String {
        let host = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        let hosts: Vec<String> = self.config.get_hosts().iter().map(host).collect();
        let ports: Vec<String> = self.config.get_ports().iter().map(u16::to_string).collect();
        let port = if ports.is_empty() {
            String::new()
        } else {
            format!(":{}", ports.join(","))
        };
        let user = self.config.get_user().unwrap_or_default();
        let name = self.config.get_dbname().unwrap_or(user);
        format!("PostgreSQL database {name} at {}{port} as {user}", hosts.join(","))
    }

    /// Connects for statements.
    pub fn connect(&self) -> Result<postgres::Client, ConnectError> {
        let mut config = postgres::Config::from(self.config.clone());
        config.application_name("groupwork");
        config.connect(self.tls.clone()).map_err(|error| self.explain(&error))
    }

    /// Connects for the event bus.
    pub async fn listen(&self) -> Result<(Client, NotificationConnection), ConnectError> {
        let mut config = self.config.clone();
        config.application_name("groupwork bus");
        let connected = config.connect(self.tls.clone()).await;
        connected.map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &postgres::Error) -> ConnectError {
        let message = describe_error(error);
        if let Some(refused) = error.as_db_error() {
            let code = refused.code();
            let is_transient = is_unavailable(code) || is_full(code);
            let hint = match (code, &self.mode) {
                (code, _) if is_full(code) => " (max_connections of the server)",
                (code, TlsMode::Disable | TlsMode::Prefer)
                    if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
                {
                    "; if the server takes connections with TLS only, DATABASE_URL needs ?sslmode=require"
                }
                _ => "",
            };
            let why = format!("the PostgreSQL server of DATABASE_URL refuses: {message}{hint}");
            return ConnectError { why, is_transient };
        }
        if let Some(why) = tls::fault(error, &self.mode) {
            let is_transient = false;
            return ConnectError { why, is_transient };
        }
        let why = format!("the PostgreSQL server of DATABASE_URL does not answer: {message}");
        let is_transient = true;
        ConnectError { why, is_transient }
    }
}

/// Waits until the database accepts connections. Returns an error immediately if a retry cannot succeed.
pub fn wait_until_available(database: &Database, timeout: Duration) -> Result<()> {
    let Database::Postgres(url) = database else {
        return Ok(());
    };
    let server = Server::of(url).map_err(anyhow::Error::msg)?;
    let started_at = Instant::now();
    let mut is_waiting = false;
    loop {
        match server.connect() {
            Ok(_) => return Ok(()),
            Err(error) if error.is_transient && started_at.elapsed() < timeout => {
                if !is_waiting {
                    tracing::warn!(error = %error, timeout_seconds = timeout.as_secs(), "waiting for the database");
                    is_waiting = true;
                }
                std::thread::sleep(RETRY_INTERVAL);
            }
            Err(error) => return Err(anyhow::Error::new(error).into()),
        }
    }
}

/// Returns whether the server is starting, stopping or has closed the connection.
pub(super) fn is_unavailable(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        // After a failover the former primary only reads.
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ]
    .contains(code)
        || code.code().starts_with("08")
}

/// Returns whether the server lacks resources (SQLSTATE class 53), such as connections, memory or disk space.
pub(super) fn is_full(code: &SqlState) -> bool {
    code.code().starts_with("53")
}

/// Formats a client error with its causes; the error alone only names the failed step.
fn describe_error(error: &postgres::Error) -> String {
    if let Some(refused) = error.as_db_error() {
        return refused.message().to_owned();
    }
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !message.ends_with(&next) {
            message.push_str(": ");
            message.push_str(&next);
        }
        cause = error.source();
    }
    message
}

/// Splits the parameters `sslmode` and `sslrootcert`, which the client does not support, from the URL.
fn split_tls_parameters(url: &str) -> (String, Vec<(String, String)>) {
    // A password may contain a question mark.
    let start = url.find('@').unwrap_or(0);
    let Some(at) = url[start..].find('?').map(|at| start + at) else {
        return (url.to_owned(), Vec::new());
    };
    let (mut kept, mut parameters) = (Vec::new(), Vec::new());
    for pair in url[at + 1..].split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if matches!(name, "sslmode" | "sslrootcert") {
            let value = percent_decode_str(value).decode_utf8_lossy();
            parameters.push((name.to_owned(), value.into_owned()));
        } else {
            kept.push(pair);
        }
    }
    let rest = kept.join("&");
    let question = if rest.is_empty() { "" } else { "?" };
    (format!("{}{question}{rest}", &url[..at]), parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_parameters_are_removed_from_url() {
        let parameters = |url| split_tls_parameters(url);
        let plain = "postgres://u:p?ss@host:1/db";
        assert_eq!(parameters(plain), (plain.to_owned(), Vec::new()));
        let (url, found) =
            parameters("postgres://u@h/db?sslmode=verify-full&connect_timeout=3&sslrootcert=%2Fetc%2Fca.pem");
        assert_eq!(url, "postgres://u@h/db?connect_timeout=3");
        let expected = [("sslmode", "verify-full"), ("sslrootcert", "/etc/ca.pem")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn invalid_tls_parameter_is_reported_by_name() {
        let refused = |query: &str| {
            Server::of(&format!("postgres://u@h/db?{query}"))
                .err()
                .unwrap_or_default()
        };
        assert!(refused("sslmode=always").contains("sslmode must be"));
        assert!(refused("sslmode=verify-ca").contains("sslrootcert"));
        assert!(refused("sslmode=verify-full&sslrootcert=/nowhere.pem").contains("/nowhere.pem"));
        assert!(refused("colour=red").contains("DATABASE_URL"));
        for fine in [
            "",
            "sslmode=disable",
            "sslmode=prefer",
            "sslmode=require",
            "keepalives=0",
        ] {
            assert_eq!(refused(fine), "");
        }
    }
}
