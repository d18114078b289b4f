//! Diagnostics of a PostgreSQL server, for operators (`groupwork doctor`).

use std::time::Duration;

use domain::time::Timestamp;
use postgres::fallible_iterator::FallibleIterator as _;

use super::Server;
use common::error::Result;

/// How long to wait for a notification sent to oneself.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(3);
const DIAGNOSTICS: &str =
    "SELECT current_setting('server_version') AS version, current_setting('fsync') = 'on' AS is_fsync_on,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
        AS connections_max,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock_millis,
    (SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS tls";

/// Diagnostics of a PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerDiagnostics {
    pub version: String,
    /// The TLS version of this connection; `None` without TLS.
    pub tls: Option<String>,
    /// The setting `fsync`.
    pub is_fsync_on: bool,
    /// The setting `synchronous_commit`: with `off`, acknowledged commits can be lost.
    pub synchronous_commit: String,
    /// The maximum number of connections, without those reserved for superusers.
    pub connections_max: i64,
    /// The number of open connections, including this one.
    pub connections: i64,
    /// By how many milliseconds the server's clock is ahead of the local one.
    pub clock_ahead_millis: i64,
    /// Whether `LISTEN` receives notifications; it does not through a pooler in transaction mode.
    pub receives_notifications: bool,
}

impl ServerDiagnostics {
    /// Queries the server; `now` is the local clock.
    pub fn of(url: &str, now: impl Fn() -> Timestamp) -> Result<Self> {
        let server = Server::of(url).map_err(anyhow::Error::msg)?;
        let mut client = server.connect().map_err(anyhow::Error::new)?;
        let row = client.query_one(DIAGNOSTICS, &[]).map_err(anyhow::Error::new)?;
        let own = now().as_millis();
        let listened = client
            .batch_execute("LISTEN groupwork_doctor")
            .and_then(|()| client.batch_execute("NOTIFY groupwork_doctor"));
        let receives_notifications = listened.is_ok()
            && matches!(
                client.notifications().timeout_iter(NOTIFICATION_TIMEOUT).next(),
                Ok(Some(_))
            );
        let clock: i64 = row.get("clock_millis");
        Ok(Self {
            version: row.get("version"),
            is_fsync_on: row.get("is_fsync_on"),
            synchronous_commit: row.get("synchronous_commit"),
            connections_max: row.get("connections_max"),
            connections: row.get("connections"),
            clock_ahead_millis: clock - own,
            tls: row.get("tls"),
            receives_notifications,
        })
    }
}
