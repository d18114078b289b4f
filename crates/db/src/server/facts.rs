//! What a PostgreSQL server says of itself, for whoever looks after it (`groupwork doctor`).

use std::time::Duration;

use model::time::Timestamp;
use postgres::fallible_iterator::FallibleIterator as _;

use super::Server;
use common::error::Result;

/// How long a word that it says to itself may take.
const ECHO: Duration = Duration::from_secs(3);
const FACTS: &str = "SELECT current_setting('server_version'), current_setting('fsync') = 'on',
    current_setting('synchronous_commit'),
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    (SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid())";

/// What is known of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// Its release.
    pub version: String,
    /// The version of TLS on this connection, if it is used.
    pub tls: Option<String>,
    /// Whether it syncs to disk.
    pub syncs: bool,
    /// Whether an answered commit is on its disk: `off` means that it is not.
    pub synchronous_commit: String,
    /// How many connections it takes from people who are no superusers.
    pub connections_max: i64,
    /// How many there are, this one included.
    pub connections: i64,
    /// By how many milliseconds its clock is ahead of ours.
    pub clock_ahead: i64,
    /// Whether a connection hears what is told to it; through a pooler of transactions it does not.
    pub hears: bool,
}

impl ServerFacts {
    /// Asks the server; `now` is our clock.
    pub fn of(url: &str, now: impl Fn() -> Timestamp) -> Result<Self> {
        let server = Server::of(url).map_err(anyhow::Error::msg)?;
        let mut client = server.connect().map_err(anyhow::Error::new)?;
        let row = client.query_one(FACTS, &[]).map_err(anyhow::Error::new)?;
        let own = now().as_millis();
        let listened = client
            .batch_execute("LISTEN groupwork_doctor")
            .and_then(|()| client.batch_execute("NOTIFY groupwork_doctor"));
        let hears = listened.is_ok() && matches!(client.notifications().timeout_iter(ECHO).next(), Ok(Some(_)));
        let clock: i64 = row.get(5);
        Ok(Self {
            version: row.get(0),
            syncs: row.get(1),
            synchronous_commit: row.get(2),
            connections_max: row.get(3),
            connections: row.get(4),
            clock_ahead: clock - own,
            tls: row.get(6),
            hears,
        })
    }
}
