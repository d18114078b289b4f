//! Migrates the schema to the newest version: forward only, one process at a time. A schema that a later release has
//! migrated is used as it is, provided that nothing this release needs was removed (docs/versioning.md).

use std::cmp::Ordering;
use std::collections::BTreeSet;

use refinery::error::Kind;
use refinery::{Migration, Runner, SchemaVersion};

use super::connection::Connection;
use super::store::Database;
use common::error::{Error, Result};

mod collation;
mod names;

mod embedded {
    refinery::embed_migrations!("../../migrations");
}

/// The migration since which deleted content of SQLite files is overwritten (`secure_delete`).
const OVERWRITES: i64 = 32;
/// The PostgreSQL advisory lock of migrations: "gwrk".
const LOCK: &str = "SELECT pg_advisory_lock(1735881323)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(1735881323)";

/// Applies pending migrations, computes missing search and sort keys, and returns the number of applied migrations. A
/// concurrent process waits and then finds nothing to do.
pub fn migrate(database: &Database) -> Result<usize> {
    migrate_with(&runner(), database, |connection| names::fill(connection).map(drop))
}

/// Applies the migrations up to `version`, the schema of a backup.
pub fn migrate_to(database: &Database, version: i64) -> Result<()> {
    let version = SchemaVersion::try_from(version).map_err(internal)?;
    let runner = runner().set_target(refinery::Target::Version(version));
    migrate_with(&runner, database, |_| Ok(())).map(drop)
}

/// Migrates while holding the migration lock; `fill` then computes the values that SQL cannot.
fn migrate_with(
    runner: &Runner,
    database: &Database,
    fill: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<usize> {
    let _turn = turn(database)?;
    let mut connection = open(database)?;
    if let Some(client) = connection.raw_postgres() {
        collation::check_encoding(client)?;
    }
    match &mut connection {
        Connection::Sqlite(sqlite) => {
            let before = version(sqlite);
            let applied = run(runner, sqlite)?;
            if before.is_some_and(|before| before < OVERWRITES) && version(sqlite) >= Some(OVERWRITES) {
                rewrite(sqlite);
            }
            fill(&mut connection)?;
            Ok(applied)
        }
        Connection::Postgres(_) => {
            connection.execute_batch(LOCK)?;
            let outcome = connection.raw_postgres().ok_or(Error::NotReady).and_then(|client| {
                let applied = run(runner, client)?;
                collation::compare_bytes(client)?;
                Ok(applied)
            });
            let outcome = outcome.and_then(|applied| fill(&mut connection).map(|()| applied));
            connection.execute_batch(UNLOCK)?;
            outcome
        }
    }
}

/// Returns the newest applied migration of a SQLite database; `None` for a new file.
fn version(sqlite: &rusqlite::Connection) -> Option<i64> {
    let newest = "SELECT MAX(version) AS newest FROM refinery_schema_history";
    sqlite.query_row(newest, [], |row| row.get("newest")).ok().flatten()
}

/// Rewrites the file without the content that releases before [`OVERWRITES`] deleted but did not overwrite.
/// Insufficient disk space for a second copy does not prevent the start.
fn rewrite(sqlite: &rusqlite::Connection) {
    tracing::info!("rewriting database file to remove deleted content");
    if let Err(error) = sqlite.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);") {
        tracing::warn!(%error, "database file not rewritten: run VACUUM when disk space is available");
    }
}

/// Opens a connection without timeouts: migrations, and processes that wait for them, may take long.
fn open(database: &Database) -> Result<Connection> {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, false),
        Database::Postgres(url) => Connection::open_postgres(url),
    }
}

/// Returns the number of the newest migration in this release.
pub fn newest_migration() -> SchemaVersion {
    newest(&runner())
}

/// How the schema of a database relates to this release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    Current,
    /// The next start applies migrations.
    Outdated,
    /// A later release has applied migrations with which this release can run.
    Newer,
}

/// Compares the schema of an existing database with this release, without changing it. Fails if a start would fail.
pub fn compare_schema(database: &Database) -> Result<SchemaState> {
    let mut connection = open(database)?;
    let runner = runner();
    let applied = match &mut connection {
        Connection::Sqlite(sqlite) => runner.get_applied_migrations(sqlite).map_err(internal)?,
        Connection::Postgres(_) => {
            let client = connection.raw_postgres().ok_or(Error::NotReady)?;
            runner.get_applied_migrations(client).map_err(internal)?
        }
    };
    let last = applied.iter().map(Migration::version).max().unwrap_or_default();
    match last.cmp(&newest(&runner)) {
        Ordering::Less => Ok(SchemaState::Outdated),
        Ordering::Equal => Ok(SchemaState::Current),
        Ordering::Greater => runs_on_newer(runner.get_migrations(), &applied).map(|()| SchemaState::Newer),
    }
}

/// Creates an empty in-memory database with the newest schema, for inspection.
pub(super) fn migrated_in_memory() -> Result<rusqlite::Connection> {
    let mut sqlite = rusqlite::Connection::open_in_memory().map_err(internal)?;
    run(&runner(), &mut sqlite)?;
    Ok(sqlite)
}

/// Applies all pending migrations in one transaction. By default refinery records an applied migration in a second
/// transaction, and a process that dies between the two leaves a schema that no later start can complete.
fn runner() -> Runner {
    embedded::migrations::runner().set_grouped(true)
}

fn run<C: refinery::Migrate>(runner: &Runner, connection: &mut C) -> Result<usize> {
    match runner.run(connection) {
        Ok(report) => Ok(report.applied_migrations().len()),
        Err(error) if matches!(error.kind(), Kind::MissingVersion(found) if found.version() > newest(runner)) => {
            let applied = runner.get_applied_migrations(connection).map_err(internal)?;
            runs_on_newer(runner.get_migrations(), &applied)?;
            Ok(0)
        }
        Err(error) => Err(internal(error)),
    }
}

/// Checks that this release can run on a schema with unknown migrations: all of them are newer than its own, and none
/// removes something it needs. A removing migration is named `contract_<number>_<what>`; `<number>` is the newest
/// migration of the oldest release that works without the removed parts.
fn runs_on_newer(own: &[Migration], applied: &[Migration]) -> Result<()> {
    let known: BTreeSet<SchemaVersion> = own.iter().map(Migration::version).collect();
    let newest = known.last().copied().unwrap_or_default();
    let there: BTreeSet<SchemaVersion> = applied.iter().map(Migration::version).collect();
    let refuse = |why: String| Err(Error::Internal(anyhow::anyhow!(why)));
    if let Some(lacking) = known.difference(&there).next() {
        return refuse(format!("a later release left out migration {lacking}"));
    }
    for migration in applied.iter().filter(|migration| !known.contains(&migration.version())) {
        if migration.version() < newest {
            return refuse(format!(
                "{migration} is not known to this release, and older than what it knows"
            ));
        }
        if needed(migration.name()) > newest {
            return refuse(format!(
                "a later release has taken away what this one needs ({migration}; this release knows migrations up to \
                 {newest}). Start a later release, or restore a backup from before."
            ));
        }
    }
    tracing::warn!(
        newest,
        "database schema was migrated by a later release: continuing with it"
    );
    Ok(())
}

/// Returns the newest migration that a release must contain to work after the migration with this name.
fn needed(name: &str) -> SchemaVersion {
    let number = |rest: &str| rest.split('_').next().and_then(|number| number.parse().ok());
    match name.strip_prefix("contract_") {
        None => 0,
        // A removing migration without a number is incompatible with every earlier release.
        Some(rest) => number(rest).unwrap_or(SchemaVersion::MAX),
    }
}

fn newest(runner: &Runner) -> SchemaVersion {
    let versions = runner.get_migrations().iter().map(Migration::version);
    versions.max().unwrap_or_default()
}

fn internal(error: impl Into<anyhow::Error>) -> Error {
    Error::Internal(error.into())
}

/// Acquires the migration lock of a SQLite database; dropping the value releases it. refinery takes no lock, so a
/// second file is locked. It is locked before the database is opened, because of two connections that switch a new file
/// to WAL mode concurrently one fails instead of waiting.
fn turn(database: &Database) -> Result<Option<rusqlite::Connection>> {
    let Database::Sqlite(path) = database else {
        return Ok(None);
    };
    let lock = rusqlite::Connection::open(path.with_extension("migrating")).map_err(|e| Error::Internal(e.into()))?;
    lock.busy_timeout(std::time::Duration::from_mins(1))
        .map_err(|e| Error::Internal(e.into()))?;
    lock.execute_batch("BEGIN EXCLUSIVE")
        .map_err(|e| Error::Internal(e.into()))?;
    Ok(Some(lock))
}
