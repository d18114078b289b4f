//! One connection to either database: runs statements, keeps them prepared, opens and ends transactions.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use model::policy;

use super::server::Server;
use super::sql::{Columns, Sql, Value};
use super::{clauses, conflict};
use common::error::{Error, Result};

/// The settings of each connection to PostgreSQL that requests and jobs use: what one statement may take, what it may wait for
/// a lock, and how long a transaction may pause: one whose instance died keeps its locks for no longer than that. What a page
/// from somewhere costs is said for disks without heads: with the default PostgreSQL reads the accounts of all schools for a
/// list of one.
pub const SETTINGS: &str = "SET statement_timeout = '5min'; SET lock_timeout = '20s';
    SET idle_in_transaction_session_timeout = '1min';
    SET random_page_cost = 1.1";

thread_local! {
    static STATEMENTS_RUN: Cell<u64> = const { Cell::new(0) };
}

/// How many statements ran on this thread. A connection lives on one thread, so nobody has to share the counter; the test
/// that looks for lists which ask once for each row reads it through [`super::Store::statements_read`].
pub(super) fn statements_run() -> u64 {
    STATEMENTS_RUN.get()
}

/// A connection; it lives on one thread of the store.
pub enum Connection {
    /// The embedded database.
    Sqlite(rusqlite::Connection),
    /// A PostgreSQL server.
    Postgres(Box<PostgresConnection>),
}

/// A PostgreSQL connection with its prepared statements.
pub struct PostgresConnection {
    client: postgres::Client,
    /// By the statement, and the clauses it was prepared without.
    prepared: HashMap<(usize, u64), postgres::Statement>,
}

impl Connection {
    /// Opens the SQLite file; a reading connection refuses to write.
    pub fn open_sqlite(path: &Path, read_only: bool) -> Result<Self> {
        let connection = rusqlite::Connection::open(path).map_err(internal)?;
        connection.busy_timeout(Duration::from_secs(10)).map_err(internal)?;
        // A plan must not depend on the values of one call: without this SQLite compiles a kept statement anew whenever an
        // argument might suit another index, a third of what a small request cost.
        connection
            .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
            .map_err(internal)?;
        // Deleted content is overwritten with zeros: what was erased must not stay in free pages of the file.
        // FULL: an acknowledged commit survives a power cut. Group commit pays for it (decision 0001). Nothing of the file is
        // mapped: a page that its disk cannot read would end the process with all its schools instead of one request, and the
        // ways a request goes were not faster for it (docs/performance.md).
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
                 PRAGMA secure_delete = ON; PRAGMA cache_size = -8000; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;",
            )
            .map_err(internal)?;
        // A file that cannot be opened for writing is opened for reading instead, and nobody is told.
        if !read_only && connection.is_readonly("main").map_err(internal)? {
            return Err(internal(anyhow::anyhow!("{} cannot be written", path.display())));
        }
        if read_only {
            connection.execute_batch("PRAGMA query_only = ON;").map_err(internal)?;
        }
        connection.set_prepared_statement_cache_capacity(512);
        Ok(Self::Sqlite(connection))
    }

    /// Connects to PostgreSQL.
    pub fn open_postgres(url: &str) -> Result<Self> {
        let server = Server::of(url).map_err(|why| internal(anyhow::anyhow!(why)))?;
        let client = server.connect().map_err(internal)?;
        Ok(Self::Postgres(Box::new(PostgresConnection {
            client,
            prepared: HashMap::new(),
        })))
    }

    /// The same with limits for statements, locks and pauses, for requests and jobs.
    pub(super) fn open_limited_postgres(url: &str) -> Result<Self> {
        let mut connection = Self::open_postgres(url)?;
        connection.batch(SETTINGS)?;
        Ok(connection)
    }

    /// Writes the write-ahead log into the database file and empties it; nothing on PostgreSQL.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        let Self::Sqlite(connection) = self else { return Ok(()) };
        let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        if is_busy.map_err(internal)? {
            return Err(internal(anyhow::anyhow!("another connection reads or writes")));
        }
        Ok(())
    }

    /// Whether the connection can no longer be used.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Postgres(postgres) if postgres.client.is_closed())
    }

    /// Whether the transaction that was begun is still there: SQLite gives it up itself when its disk fails. PostgreSQL
    /// keeps a failed one until it is ended.
    pub(super) fn is_in_transaction(&self) -> bool {
        match self {
            Self::Sqlite(connection) => !connection.is_autocommit(),
            Self::Postgres(_) => true,
        }
    }

    /// Runs a statement that answers rows, and reads each with `read`.
    pub fn many<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        mut read: impl FnMut(&mut Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        STATEMENTS_RUN.set(STATEMENTS_RUN.get() + 1);
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection
                    .prepare_cached(&clauses::sqlite(sql))
                    .map_err(|e| conflict::sqlite(e, sql))?;
                let mut rows = statement
                    .query(rusqlite::params_from_iter(arguments))
                    .map_err(|e| conflict::sqlite(e, sql))?;
                let mut found = Vec::new();
                while let Some(row) = rows.next().map_err(|e| conflict::sqlite(e, sql))? {
                    found.push(read(&mut Columns::of_sqlite(row))?);
                }
                Ok(found)
            }
            Self::Postgres(connection) => {
                let rows = connection.query(sql, arguments)?;
                rows.iter().map(|row| read(&mut Columns::of_postgres(row))).collect()
            }
        }
    }

    /// Runs a statement that answers at most one row.
    pub fn maybe<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&mut Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.many(sql, arguments, read)?.into_iter().next())
    }

    /// Runs a statement for its effect and answers how many rows it touched.
    pub fn run(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<u64> {
        STATEMENTS_RUN.set(STATEMENTS_RUN.get() + 1);
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection
                    .prepare_cached(&clauses::sqlite(sql))
                    .map_err(|e| conflict::sqlite(e, sql))?;
                let touched = statement
                    .execute(rusqlite::params_from_iter(arguments))
                    .map_err(|e| conflict::sqlite(e, sql))?;
                Ok(touched as u64)
            }
            Self::Postgres(connection) => connection.execute(sql, arguments),
        }
    }

    /// Runs `act` so that its failure leaves nothing behind and the surrounding transaction stays usable.
    pub fn savepoint<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.batch("SAVEPOINT inner_step")?;
        let outcome = act(self);
        match &outcome {
            Ok(_) => self.batch("RELEASE SAVEPOINT inner_step")?,
            Err(_) => self.batch("ROLLBACK TO SAVEPOINT inner_step; RELEASE SAVEPOINT inner_step")?,
        }
        outcome
    }

    /// Runs `act` and takes back all it did.
    pub fn rehearse<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.batch("SAVEPOINT rehearsal")?;
        let outcome = act(self);
        self.batch("ROLLBACK TO SAVEPOINT rehearsal; RELEASE SAVEPOINT rehearsal")?;
        outcome
    }

    /// Tells every listener of PostgreSQL's channel, once this transaction is committed and in the order of commits. It
    /// stands here because SQLite has no such function, and needs none: its only instance tells itself.
    pub(super) fn notify(&mut self, channel: &str, payload: &str) -> Result<()> {
        static NOTIFY: Sql = Sql::new("SELECT pg_notify($1, $2)");
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(connection) => connection
                .query(&NOTIFY, &[Value::Text(channel), Value::Text(payload)])
                .map(drop),
        }
    }

    /// Which database this is.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgresql",
        }
    }

    /// How many bytes the database takes. It stands here because the two have nothing in common to ask it with.
    pub(super) fn bytes(&mut self) -> Result<i64> {
        static SQLITE: Sql = Sql::new("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
        static POSTGRES: Sql = Sql::new("SELECT pg_database_size(current_database())");
        let statement = match self {
            Self::Sqlite(_) => &SQLITE,
            Self::Postgres(_) => &POSTGRES,
        };
        Ok(self.maybe(statement, &[], |row| row.take())?.unwrap_or(0))
    }

    /// Only compiles the statement; used by the test that prepares every statement on both databases.
    pub fn prepare(&mut self, sql: &'static Sql) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.prepare(&clauses::sqlite(sql)).map(drop).map_err(internal),
            Self::Postgres(connection) => connection
                .client
                .prepare(&clauses::text(sql))
                .map(drop)
                .map_err(internal),
        }
    }

    /// Transaction control and migrations: text without arguments.
    pub(super) fn batch(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) if text.contains([';', '=']) => connection.execute_batch(text).map_err(internal),
            // Every unit begins and ends with one of these: they are kept prepared like everything else.
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(text).map_err(internal)?;
                statement.execute([]).map(drop).map_err(internal)
            }
            Self::Postgres(connection) => connection.client.batch_execute(text).map_err(conflict::postgres),
        }
    }

    /// The client itself, for what is no statement: migrations and advisory locks.
    pub(super) fn raw_postgres(&mut self) -> Option<&mut postgres::Client> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(connection) => Some(&mut connection.client),
        }
    }
}

impl PostgresConnection {
    fn statement(&mut self, sql: &'static Sql) -> Result<postgres::Statement> {
        let key = (std::ptr::from_ref(sql).addr(), policy::off());
        if let Some(statement) = self.prepared.get(&key) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&clauses::text(sql)).map_err(conflict::postgres)?;
        self.prepared.insert(key, statement.clone());
        Ok(statement)
    }

    fn query(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<Vec<postgres::Row>> {
        let statement = self.statement(sql)?;
        self.client
            .query(&statement, &borrowed(arguments))
            .map_err(conflict::postgres)
    }

    fn execute(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<u64> {
        let statement = self.statement(sql)?;
        self.client
            .execute(&statement, &borrowed(arguments))
            .map_err(conflict::postgres)
    }
}

fn borrowed<'a>(arguments: &'a [Value<'a>]) -> Vec<&'a (dyn postgres::types::ToSql + Sync)> {
    arguments
        .iter()
        .map(|value| value as &(dyn postgres::types::ToSql + Sync))
        .collect()
}

fn internal(error: impl Into<anyhow::Error>) -> Error {
    Error::Internal(error.into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn deleted_content_is_not_left_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deleted.db");
        let mut connection = Connection::open_sqlite(&path, false).unwrap();
        let marker = "a name that was erased ".repeat(400);
        let script = format!(
            "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('{marker}'), ('stays'); \
             PRAGMA wal_checkpoint(TRUNCATE);"
        );
        connection.batch(&script).unwrap();
        let holds = |text: &str| {
            let bytes = std::fs::read(&path).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        };
        assert!(holds("was erased"), "the marker is found while it is there");
        connection
            .batch("DELETE FROM notes WHERE text <> 'stays'; PRAGMA wal_checkpoint(TRUNCATE);")
            .unwrap();
        assert!(holds("stays") && !holds("was erased"));
    }
}
