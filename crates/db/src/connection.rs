//! A connection to SQLite or PostgreSQL: runs statements, caches prepared statements, begins and ends transactions.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::hooks::Wal;

use super::db_error;
use super::server::Server;
use super::sql::{Columns, DriverArgument, ResultColumns, Sql, Value};
use common::error::{Error, Result};

/// The session settings of PostgreSQL connections for requests and jobs: timeouts of statements, of lock waits and of
/// idle transactions (the locks of a crashed instance are released after at most this time). `random_page_cost` is set
/// for SSDs: with the default, PostgreSQL scans the accounts of all organizations for the list of one.
pub const SETTINGS: &str = "SET statement_timeout = '5min'; SET lock_timeout = '20s';
    SET idle_in_transaction_session_timeout = '1min';
    SET random_page_cost = 1.1";

thread_local! {
    static STATEMENTS_RUN: Cell<u64> = const { Cell::new(0) };
}

/// Returns how many statements ran on this thread. A connection stays on one thread, so the counter is not shared. The
/// test that detects N+1 queries reads it through [`super::Store::read_statement_count`].
pub(super) fn statements_run() -> u64 {
    STATEMENTS_RUN.get()
}

/// A database connection. It stays on one thread of the store.
pub enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<PostgresConnection>),
}

/// A PostgreSQL connection with its prepared statements.
pub struct PostgresConnection {
    client: postgres::Client,
    /// Keyed by the address of the statement.
    prepared: HashMap<usize, postgres::Statement>,
}

/// Executes statements while the rows of a query are visited.
pub(super) enum Executor<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut PostgresConnection),
}

impl Executor<'_> {
    /// Executes a statement and returns the number of affected rows.
    pub(super) fn execute(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<u64> {
        STATEMENTS_RUN.set(STATEMENTS_RUN.get() + 1);
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection
                    .prepare_cached(sql.sqlite())
                    .map_err(|e| db_error::from_sqlite(e, sql))?;
                let touched = statement
                    .execute(rusqlite::params_from_iter(arguments.iter().map(DriverArgument)))
                    .map_err(|e| db_error::from_sqlite(e, sql))?;
                Ok(touched as u64)
            }
            Self::Postgres(connection) => connection.execute(sql, arguments),
        }
    }
}

impl Connection {
    /// Opens the SQLite file. A read-only connection rejects writes.
    pub fn open_sqlite(path: &Path, read_only: bool) -> Result<Self> {
        let connection = rusqlite::Connection::open(path).map_err(internal)?;
        connection.busy_timeout(Duration::from_secs(10)).map_err(internal)?;
        // Query plans must not depend on bound values: without QPSG (query planner stability guarantee) SQLite
        // recompiles a prepared statement whenever an argument might suit another index, a third of the cost of a small
        // request.
        connection
            .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
            .map_err(internal)?;
        // `secure_delete` overwrites deleted content with zeros, so erased data does not remain in free pages of the
        // file. `synchronous = FULL`: an acknowledged commit survives a power failure; group commit amortizes the cost
        // (decision 0001). `mmap_size = 0`: with a memory-mapped file an I/O error would end the whole process instead
        // of one request, and mapping made requests no faster (docs/performance.md).
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
                 PRAGMA secure_delete = ON; PRAGMA cache_size = -8000; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;",
            )
            .map_err(internal)?;
        // SQLite silently opens a file read-only if it is not writable.
        if !read_only && connection.is_readonly("main").map_err(internal)? {
            return Err(internal(anyhow::anyhow!("{} cannot be written", path.display())));
        }
        if read_only {
            connection.execute_batch("PRAGMA query_only = ON;").map_err(internal)?;
        }
        connection.set_prepared_statement_cache_capacity(512);
        Ok(Self::Sqlite(connection))
    }

    pub fn open_postgres(url: &str) -> Result<Self> {
        let server = Server::of(url).map_err(|why| internal(anyhow::anyhow!(why)))?;
        let client = server.connect().map_err(internal)?;
        Ok(Self::Postgres(Box::new(PostgresConnection {
            client,
            prepared: HashMap::new(),
        })))
    }

    /// Connects to PostgreSQL with the timeouts of [`SETTINGS`], for requests and jobs.
    pub(super) fn open_limited_postgres(url: &str) -> Result<Self> {
        let mut connection = Self::open_postgres(url)?;
        connection.execute_batch(SETTINGS)?;
        Ok(connection)
    }

    /// Checkpoints and truncates the write-ahead log of SQLite. Does nothing on PostgreSQL.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        let Self::Sqlite(connection) = self else { return Ok(()) };
        let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>("busy"));
        if is_busy.map_err(internal)? {
            return Err(internal(anyhow::anyhow!("another connection reads or writes")));
        }
        Ok(())
    }

    /// Calls `run` after each commit of SQLite with the number of pages in the write-ahead log, instead of SQLite's own
    /// checkpoints. Does nothing on PostgreSQL.
    pub(super) fn after_sqlite_commits(&mut self, mut run: impl FnMut(&mut Wal, i32) + Send + 'static) -> Result<()> {
        let Self::Sqlite(connection) = self else { return Ok(()) };
        let hook = move |wal: &mut Wal, pages: i32| {
            run(wal, pages);
            Ok(())
        };
        connection.wal_hook(Some(hook)).map_err(internal)
    }

    /// Keeps the write-ahead log of SQLite as it is if this connection is the last one. Does nothing on PostgreSQL.
    pub(super) fn skip_checkpoint_on_close(&self) {
        let Self::Sqlite(connection) = self else { return };
        let option = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        if let Err(error) = connection.set_db_config(option, true) {
            tracing::warn!(%error, "closing a database connection may copy the write-ahead log");
        }
    }

    /// Returns whether the connection is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Postgres(postgres) if postgres.client.is_closed())
    }

    /// Returns whether the transaction is still open. SQLite rolls it back by itself on a disk error; PostgreSQL keeps
    /// a failed transaction until it is ended.
    pub(super) fn is_in_transaction(&self) -> bool {
        match self {
            Self::Sqlite(connection) => !connection.is_autocommit(),
            Self::Postgres(_) => true,
        }
    }

    /// Runs a query and maps each row with `read`.
    pub fn fetch_all<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        mut read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        STATEMENTS_RUN.set(STATEMENTS_RUN.get() + 1);
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection
                    .prepare_cached(sql.sqlite())
                    .map_err(|e| db_error::from_sqlite(e, sql))?;
                let names = sql.columns(|| statement.column_names().map(ToOwned::to_owned).collect());
                #[cfg(debug_assertions)]
                sql.check_reader(names, &mut read);
                let mut rows = statement
                    .query(rusqlite::params_from_iter(arguments.iter().map(DriverArgument)))
                    .map_err(|e| db_error::from_sqlite(e, sql))?;
                let (columns, mut found) = (ResultColumns::of(names), Vec::new());
                while let Some(row) = rows.next().map_err(|e| db_error::from_sqlite(e, sql))? {
                    found.push(read(&Columns::of_sqlite(row, &columns))?);
                }
                Ok(found)
            }
            Self::Postgres(connection) => {
                let rows = connection.query(sql, arguments)?;
                let names = sql.columns(Vec::new);
                #[cfg(debug_assertions)]
                sql.check_reader(names, &mut read);
                let columns = ResultColumns::of(names);
                rows.iter()
                    .map(|row| read(&Columns::of_postgres(row, &columns)))
                    .collect()
            }
        }
    }

    /// Runs a query and calls `visit` with each row as it arrives, so that only some rows are in memory. `visit` may run
    /// other statements on this connection. On PostgreSQL the connection must be in a transaction.
    pub(super) fn fetch_each(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        mut visit: impl FnMut(&Columns<'_>, &mut Executor<'_>) -> Result<()>,
    ) -> Result<()> {
        STATEMENTS_RUN.set(STATEMENTS_RUN.get() + 1);
        match self {
            Self::Sqlite(connection) => {
                let connection = &*connection;
                let mut statement = connection
                    .prepare_cached(sql.sqlite())
                    .map_err(|e| db_error::from_sqlite(e, sql))?;
                let names = sql.columns(|| statement.column_names().map(ToOwned::to_owned).collect());
                let mut rows = statement
                    .query(rusqlite::params_from_iter(arguments.iter().map(DriverArgument)))
                    .map_err(|e| db_error::from_sqlite(e, sql))?;
                let columns = ResultColumns::of(names);
                while let Some(row) = rows.next().map_err(|e| db_error::from_sqlite(e, sql))? {
                    visit(&Columns::of_sqlite(row, &columns), &mut Executor::Sqlite(connection))?;
                }
            }
            Self::Postgres(connection) => {
                let text = format!("DECLARE fetched_rows NO SCROLL CURSOR FOR {}", sql.text());
                connection
                    .client
                    .execute(&text, &borrowed(&bound(arguments)))
                    .map_err(db_error::from_postgres)?;
                loop {
                    let rows = connection
                        .client
                        .query("FETCH FORWARD 200 FROM fetched_rows", &[])
                        .map_err(db_error::from_postgres)?;
                    let Some(first) = rows.first() else { break };
                    let of_row = || first.columns().iter().map(|column| column.name().to_owned()).collect();
                    let columns = ResultColumns::of(sql.columns(of_row));
                    for row in &rows {
                        visit(
                            &Columns::of_postgres(row, &columns),
                            &mut Executor::Postgres(connection),
                        )?;
                    }
                }
                connection
                    .client
                    .batch_execute("CLOSE fetched_rows")
                    .map_err(db_error::from_postgres)?;
            }
        }
        Ok(())
    }

    /// Runs a query and returns the first row, if there is one.
    pub fn fetch_optional<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.fetch_all(sql, arguments, read)?.into_iter().next())
    }

    /// Executes a statement with named parameters. Values that it does not name are ignored.
    pub(super) fn execute_named(&mut self, sql: &'static Sql, values: &[(&str, Value<'_>)]) -> Result<()> {
        self.execute(sql, &sql.arguments_of(values)?)
    }

    /// Executes a statement with named parameters that may affect no row, and returns whether it did.
    pub(super) fn execute_conditional(&mut self, sql: &'static Sql, values: &[(&str, Value<'_>)]) -> Result<bool> {
        Ok(self.execute_counted(sql, &sql.arguments_of(values)?)? > 0)
    }

    pub fn execute(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<()> {
        self.execute_counted(sql, arguments).map(drop)
    }

    /// Executes a statement and returns the number of affected rows.
    pub fn execute_counted(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<u64> {
        let mut executor = match self {
            Self::Sqlite(connection) => Executor::Sqlite(connection),
            Self::Postgres(connection) => Executor::Postgres(connection),
        };
        executor.execute(sql, arguments)
    }

    /// Runs `act` in a savepoint: if it fails, its writes are rolled back and the transaction stays usable.
    pub fn savepoint<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.execute_batch("SAVEPOINT inner_step")?;
        let outcome = act(self);
        match &outcome {
            Ok(_) => self.execute_batch("RELEASE SAVEPOINT inner_step")?,
            Err(_) => self.execute_batch("ROLLBACK TO SAVEPOINT inner_step; RELEASE SAVEPOINT inner_step")?,
        }
        outcome
    }

    /// Runs `act` in a savepoint that is always rolled back (dry run).
    pub fn dry_run<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.execute_batch("SAVEPOINT dry_run")?;
        let outcome = act(self);
        self.execute_batch("ROLLBACK TO SAVEPOINT dry_run; RELEASE SAVEPOINT dry_run")?;
        outcome
    }

    /// Sends a `NOTIFY`. PostgreSQL delivers it after the commit, in commit order. SQLite has no equivalent and needs
    /// none: its only instance dispatches its own events.
    pub(super) fn notify(&mut self, channel: &str, payload: &str) -> Result<()> {
        static NOTIFY: Sql = Sql::new("SELECT pg_notify($1, $2)");
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(connection) => connection
                .query(&NOTIFY, &[Value::Text(channel), Value::Text(payload)])
                .map(drop),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgresql",
        }
    }

    /// Returns the size of the database in bytes. SQLite and PostgreSQL have no common query for it.
    pub(super) fn bytes(&mut self) -> Result<i64> {
        static SQLITE: Sql = Sql::new("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
        static POSTGRES: Sql = Sql::new("SELECT pg_database_size(current_database())");
        let statement = match self {
            Self::Sqlite(_) => &SQLITE,
            Self::Postgres(_) => &POSTGRES,
        };
        Ok(self.fetch_optional(statement, &[], |row| row.only())?.unwrap_or(0))
    }

    /// Prepares a statement without running it, and returns the names of its columns; used by the test that prepares
    /// every statement on both databases.
    pub fn prepare(&mut self, sql: &'static Sql) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(connection) => {
                let statement = connection.prepare(sql.sqlite()).map_err(internal)?;
                Ok(statement.column_names().map(ToOwned::to_owned).collect())
            }
            Self::Postgres(connection) => {
                let statement = connection.client.prepare(sql.text()).map_err(internal)?;
                Ok(column_names(&statement))
            }
        }
    }

    /// Executes transaction control and migrations: SQL text without arguments.
    pub(super) fn execute_batch(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) if text.contains([';', '=']) => connection.execute_batch(text).map_err(internal),
            // Transaction control runs with every transaction, so these statements are cached too.
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(text).map_err(internal)?;
                statement.execute([]).map(drop).map_err(internal)
            }
            Self::Postgres(connection) => connection.client.batch_execute(text).map_err(db_error::from_postgres),
        }
    }

    /// Returns the PostgreSQL client, for migrations and advisory locks.
    pub(super) fn raw_postgres(&mut self) -> Option<&mut postgres::Client> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(connection) => Some(&mut connection.client),
        }
    }
}

impl PostgresConnection {
    fn statement(&mut self, sql: &'static Sql) -> Result<postgres::Statement> {
        let key = std::ptr::from_ref(sql).addr();
        if let Some(statement) = self.prepared.get(&key) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql.text()).map_err(db_error::from_postgres)?;
        self.prepared.insert(key, statement.clone());
        Ok(statement)
    }

    fn query(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<Vec<postgres::Row>> {
        let statement = self.statement(sql)?;
        sql.columns(|| column_names(&statement));
        self.client
            .query(&statement, &borrowed(&bound(arguments)))
            .map_err(db_error::from_postgres)
    }

    fn execute(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<u64> {
        let statement = self.statement(sql)?;
        self.client
            .execute(&statement, &borrowed(&bound(arguments)))
            .map_err(db_error::from_postgres)
    }
}

fn column_names(statement: &postgres::Statement) -> Vec<String> {
    statement
        .columns()
        .iter()
        .map(|column| column.name().to_owned())
        .collect()
}

fn bound<'a>(arguments: &'a [Value<'a>]) -> Vec<DriverArgument<'a>> {
    arguments.iter().map(DriverArgument).collect()
}

fn borrowed<'a>(arguments: &'a [DriverArgument<'a>]) -> Vec<&'a (dyn postgres::types::ToSql + Sync)> {
    arguments
        .iter()
        .map(|argument| argument as &(dyn postgres::types::ToSql + Sync))
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
    fn deleted_content_is_overwritten_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deleted.db");
        let mut connection = Connection::open_sqlite(&path, false).unwrap();
        let marker = "a name that was erased ".repeat(400);
        let script = format!(
            "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('{marker}'), ('stays'); \
             PRAGMA wal_checkpoint(TRUNCATE);"
        );
        connection.execute_batch(&script).unwrap();
        let holds = |text: &str| {
            let bytes = std::fs::read(&path).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        };
        assert!(holds("was erased"), "the marker is found while it is there");
        connection
            .execute_batch("DELETE FROM notes WHERE text <> 'stays'; PRAGMA wal_checkpoint(TRUNCATE);")
            .unwrap();
        assert!(holds("stays") && !holds("was erased"));
    }
}
