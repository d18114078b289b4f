//! Loads all rows of a backup into an empty database, in one transaction.

use std::io::Write as _;

use domain::time::Timestamp;

use super::{Cell, DumpTable, HISTORY, catalog, quoted};
use crate::connection::Connection;
use crate::{Database, args, db_error, statements};
use common::error::{Error, Result};

statements! {
    /// The progress of a restore.
    STATE = "SELECT value FROM settings WHERE name = 'restore'";
    /// Records the progress of a restore.
    NOTE = "INSERT INTO settings (name, value, updated_at) VALUES ('restore', $1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    /// Deletes the record of a completed restore.
    DONE = "DELETE FROM settings WHERE name = 'restore'";
    /// Deletes the settings that the first start of an empty service inserted.
    OWN_SETTINGS = "DELETE FROM settings WHERE name <> 'restore'";
    /// Raises the generation of every document, because document servers cache files under keys that were used after
    /// the backup was made. No key is used twice.
    RENEW_KEYS = "UPDATE documents SET generation = $1, unsaved_generation = NULL WHERE generation < $1";
}

/// The database that receives the rows of a backup.
pub struct RestoreTarget {
    connection: Connection,
}

impl RestoreTarget {
    pub fn open(database: &Database) -> Result<Self> {
        let connection = match database {
            Database::Sqlite(path) => Connection::open_sqlite(path, false)?,
            Database::Postgres(url) => Connection::open_postgres(url)?,
        };
        Ok(Self { connection })
    }

    /// Returns the version of the schema, if there is one.
    pub fn version(&mut self) -> Result<Option<i64>> {
        catalog::version(&mut self.connection)
    }

    pub fn tables(&mut self) -> Result<Vec<DumpTable>> {
        catalog::tables(&mut self.connection)
    }

    /// Returns the name of a table with rows, if there is one. Settings are ignored.
    pub fn occupied(&mut self) -> Result<Option<String>> {
        for table in self.tables()? {
            let DumpTable { name, .. } = table;
            if name == "settings" || name == HISTORY {
                continue;
            }
            if has_rows(&mut self.connection, &name)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Returns the progress of an unfinished restore, if there is one.
    pub fn state(&mut self) -> Result<Option<String>> {
        self.connection.fetch_optional(&STATE, &[], |row| row.get("value"))
    }

    /// Records the beginning or the progress of a restore.
    pub fn note(&mut self, state: &str, now: Timestamp) -> Result<()> {
        self.connection.execute(&NOTE, args![state, now]).map(drop)
    }

    /// Completes the restore: the service may start.
    pub fn done(&mut self) -> Result<()> {
        self.connection.execute(&DONE, &[]).map(drop)
    }

    /// Begins the transaction that loads all rows.
    pub fn begin(&mut self) -> Result<()> {
        self.connection.execute_batch("BEGIN")?;
        if matches!(self.connection, Connection::Sqlite(_)) {
            self.connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
        }
        self.connection.execute(&OWN_SETTINGS, &[]).map(drop)
    }

    /// Loads the rows of one table; returns their number.
    pub fn load(&mut self, table: &DumpTable, next: impl FnMut() -> Result<Option<Vec<Cell>>>) -> Result<u64> {
        load_rows(&mut self.connection, table, next)
    }

    /// Raises the document generations, records the progress and commits.
    pub fn commit(&mut self, state: &str, now: Timestamp) -> Result<()> {
        let seconds = now.as_millis() / 1000;
        self.connection.execute(&RENEW_KEYS, args![seconds])?;
        self.note(state, now)?;
        self.connection.execute_batch("COMMIT")
    }
}

/// Inserts rows into a table; returns their number.
pub(super) fn load_rows(
    connection: &mut Connection,
    table: &DumpTable,
    mut next: impl FnMut() -> Result<Option<Vec<Cell>>>,
) -> Result<u64> {
    let mut written = 0;
    match connection {
        Connection::Sqlite(sqlite) => {
            let places: Vec<String> = (1..=table.columns.len()).map(|number| format!("?{number}")).collect();
            let (name, list, places) = (quoted(&table.name), table.list(), places.join(", "));
            let text = format!("INSERT INTO {name} ({list}) VALUES ({places})");
            let mut statement = sqlite.prepare(&text).map_err(internal)?;
            while let Some(row) = next()? {
                let values = rusqlite::params_from_iter(row.iter().map(value));
                statement.execute(values).map_err(|error| refused(table, error))?;
                written += 1;
            }
        }
        Connection::Postgres(_) => {
            let client = connection.raw_postgres().ok_or(Error::NotReady)?;
            let text = format!("COPY {} ({}) FROM STDIN", quoted(&table.name), table.list());
            let mut writer = client.copy_in(&text).map_err(db_error::from_postgres)?;
            let mut line = String::new();
            while let Some(row) = next()? {
                line.clear();
                copied(&row, &mut line);
                writer.write_all(line.as_bytes())?;
                written += 1;
            }
            let taken = writer.finish().map_err(|error| refused(table, error))?;
            if taken != written {
                return Err(Error::Internal(anyhow::anyhow!(
                    "{}: {taken} of {written} rows taken",
                    table.name
                )));
            }
        }
    }
    Ok(written)
}

fn has_rows(connection: &mut Connection, table: &str) -> Result<bool> {
    let text = format!("SELECT EXISTS (SELECT 1 FROM {}) AS has_rows", quoted(table));
    match connection {
        Connection::Sqlite(sqlite) => sqlite.query_row(&text, [], |row| row.get("has_rows")).map_err(internal),
        Connection::Postgres(_) => {
            let client = connection.raw_postgres().ok_or(Error::NotReady)?;
            let row = client.query_one(&text, &[]).map_err(db_error::from_postgres)?;
            Ok(row.get("has_rows"))
        }
    }
}

fn value(cell: &Cell) -> rusqlite::types::Value {
    use rusqlite::types::Value;
    match cell {
        Cell::Null => Value::Null,
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Int(number) => Value::Integer(*number),
        Cell::Bool(truth) => Value::Integer(i64::from(*truth)),
        Cell::Real(number) => Value::Real(*number),
    }
}

/// Encodes a row in the text format of PostgreSQL's `COPY`.
fn copied(row: &[Cell], line: &mut String) {
    use std::fmt::Write as _;
    for (index, cell) in row.iter().enumerate() {
        if index > 0 {
            line.push('\t');
        }
        match cell {
            Cell::Null => line.push_str("\\N"),
            Cell::Text(text) => {
                for character in text.chars() {
                    match character {
                        '\\' => line.push_str("\\\\"),
                        '\t' => line.push_str("\\t"),
                        '\n' => line.push_str("\\n"),
                        '\r' => line.push_str("\\r"),
                        other => line.push(other),
                    }
                }
            }
            Cell::Int(number) => drop(write!(line, "{number}")),
            Cell::Bool(truth) => line.push(if *truth { 't' } else { 'f' }),
            Cell::Real(number) => drop(write!(line, "{number:?}")),
        }
    }
    line.push('\n');
}

fn refused(table: &DumpTable, error: impl Into<anyhow::Error>) -> Error {
    Error::Internal(error.into().context(format!("rows of {}", table.name)))
}

fn internal(error: impl Into<anyhow::Error>) -> Error {
    Error::Internal(error.into())
}
