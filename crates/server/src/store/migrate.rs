//! Brings the schema to the newest version: forward only, one starter at a time.

use refinery::Runner;

use super::connection::Connection;
use super::db::{Database, connect};
use crate::error::{Error, Result};

mod embedded {
    refinery::embed_migrations!("../../migrations");
}

/// The advisory lock that PostgreSQL starters take: "gwrk".
const LOCK: &str = "SELECT pg_advisory_lock(1735881323)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(1735881323)";

/// Applies what is missing and answers how many migrations ran. A second starter waits and finds nothing to do.
pub fn migrate(database: &Database) -> Result<usize> {
    let mut connection = connect(database, false)?;
    check_collation(&mut connection)?;
    match &mut connection {
        Connection::Sqlite(sqlite) => {
            // refinery takes no lock of its own: a second file's exclusive lock keeps the other starter waiting.
            let _turn = turn(database)?;
            run(&embedded::migrations::runner(), sqlite)
        }
        Connection::Postgres(_) => {
            connection.batch(LOCK)?;
            let outcome = connection
                .raw_postgres()
                .ok_or(Error::NotReady)
                .and_then(|client| run(&embedded::migrations::runner(), client));
            connection.batch(UNLOCK)?;
            outcome
        }
    }
}

fn run<C: refinery::Migrate>(runner: &Runner, connection: &mut C) -> Result<usize> {
    let report = runner.run(connection).map_err(|error| Error::Internal(error.into()))?;
    Ok(report.applied_migrations().len())
}

/// Waits for the turn to migrate the embedded database; the turn ends when the value is dropped.
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

/// Order and prefix search rely on plain byte order (decision 0001).
fn check_collation(connection: &mut Connection) -> Result<()> {
    let Some(client) = connection.raw_postgres() else {
        return Ok(());
    };
    let row = client
        .query_one(
            "SELECT datcollate FROM pg_database WHERE datname = current_database()",
            &[],
        )
        .map_err(|error| Error::Internal(error.into()))?;
    let collation: String = row.get(0);
    if matches!(collation.as_str(), "C" | "POSIX" | "C.UTF-8" | "C.utf8") {
        return Ok(());
    }
    Err(Error::Internal(anyhow::anyhow!(
        "the PostgreSQL database has collation {collation}; create it with LC_COLLATE 'C' (see README)"
    )))
}
