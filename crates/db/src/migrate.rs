//! Brings the schema to the newest version: forward only, one starter at a time. A schema that a later release has
//! migrated is used as it is, as long as nothing was taken away that this one needs (docs/versioning.md).

use std::collections::BTreeSet;

use refinery::error::Kind;
use refinery::{Migration, Runner, SchemaVersion};

use super::connection::Connection;
use super::db::Database;
use common::error::{Error, Result};

mod collation;
mod names;

mod embedded {
    refinery::embed_migrations!("../../migrations");
}

/// With this migration came the setting that overwrites deleted content of the embedded database (`secure_delete`).
const OVERWRITES: i64 = 32;
/// The advisory lock that PostgreSQL starters take: "gwrk".
const LOCK: &str = "SELECT pg_advisory_lock(1735881323)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(1735881323)";

/// Applies what is missing, computes keys of names that are missing, and returns how many migrations ran. A second starter
/// waits and finds nothing to do.
pub fn migrate(database: &Database) -> Result<usize> {
    migrate_with(&runner(), database, |connection| names::fill(connection).map(drop))
}

/// Applies the migrations up to one of them: the schema a backup was made with.
pub fn migrate_to(database: &Database, version: i64) -> Result<()> {
    let version = SchemaVersion::try_from(version).map_err(internal)?;
    let runner = runner().set_target(refinery::Target::Version(version));
    migrate_with(&runner, database, |_| Ok(())).map(drop)
}

/// Migrates under the lock of the starter; `fill` then writes what SQL cannot compute.
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
            connection.batch(LOCK)?;
            let outcome = connection.raw_postgres().ok_or(Error::NotReady).and_then(|client| {
                let applied = run(runner, client)?;
                collation::compare_bytes(client)?;
                Ok(applied)
            });
            let outcome = outcome.and_then(|applied| fill(&mut connection).map(|()| applied));
            connection.batch(UNLOCK)?;
            outcome
        }
    }
}

/// The newest migration that was applied to the embedded database; none for a new file.
fn version(sqlite: &rusqlite::Connection) -> Option<i64> {
    let newest = "SELECT MAX(version) FROM refinery_schema_history";
    sqlite.query_row(newest, [], |row| row.get(0)).ok().flatten()
}

/// Rewrites the file without what releases before [`OVERWRITES`] have deleted but not overwritten. A disk without room for a
/// second copy is no reason not to start.
fn rewrite(sqlite: &rusqlite::Connection) {
    tracing::info!("the database file is rewritten to remove deleted content");
    if let Err(error) = sqlite.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);") {
        tracing::warn!(%error, "the database file was not rewritten: run VACUUM when there is room on the disk");
    }
}

/// A connection without limits: a migration may take its time, and so may the one that waits for it.
fn open(database: &Database) -> Result<Connection> {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, false),
        Database::Postgres(url) => Connection::open_postgres(url),
    }
}

/// The number of the newest migration that this release brings.
pub fn newest_migration() -> SchemaVersion {
    newest(&runner())
}

/// An empty database with the newest schema, for whoever wants to look at it.
pub(super) fn migrated_in_memory() -> Result<Connection> {
    let mut sqlite = rusqlite::Connection::open_in_memory().map_err(internal)?;
    run(&runner(), &mut sqlite)?;
    Ok(Connection::Sqlite(sqlite))
}

/// All that is missing in one transaction. By itself refinery writes a migration and the note that it ran in two, and a
/// start that dies between them leaves a schema that no later start can complete.
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

/// Whether this release may run on a schema with migrations it does not know. They have all come after its own, and
/// none of them takes away what it needs: such a one is called `contract_<number>_<what>`, where the number is that of
/// the newest migration of the oldest release that can do without.
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
        "a later release has migrated the database; this one runs on its schema"
    );
    Ok(())
}

/// The newest migration that a release must know to run after the migration of this name.
fn needed(name: &str) -> SchemaVersion {
    let number = |rest: &str| rest.split('_').next().and_then(|number| number.parse().ok());
    match name.strip_prefix("contract_") {
        None => 0,
        // One that does not say whom it leaves behind leaves everybody behind.
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

/// Waits for the turn to migrate the embedded database; the turn ends when the value is dropped. refinery takes no lock of
/// its own, so a second file is locked. It is asked for before the database is opened: two connections that make a new file
/// a WAL file at the same time do not wait for each other, one of them fails.
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
