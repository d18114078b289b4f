//! All rows as they are at one moment. On SQLite a reading transaction of the write-ahead log, on PostgreSQL a repeatable
//! read: neither keeps anybody from writing. One row at a time is in memory.

use postgres::fallible_iterator::FallibleIterator as _;
use rusqlite::types::ValueRef;

use super::{Cell, Kind, REMOVALS, Table, catalog, quoted};
use crate::connection::Connection;
use crate::{Database, conflict};
use common::error::{Error, Result};

/// A snapshot of the database; it ends with the value.
pub struct Snapshot {
    connection: Connection,
    version: i64,
    tables: Vec<Table>,
}

/// A file that a row names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Its key.
    pub key: String,
    /// Its bytes, where the row says so.
    pub size: Option<i64>,
    /// Hexadecimal SHA-256 of them, where the row says so.
    pub sha256: Option<String>,
    /// The table of the row.
    pub table: String,
}

impl Snapshot {
    /// Takes a snapshot now.
    pub fn take(database: &Database) -> Result<Self> {
        let mut connection = match database {
            Database::Sqlite(path) if !path.exists() => {
                return Err(Error::Internal(anyhow::anyhow!(
                    "there is no database at {}",
                    path.display()
                )));
            }
            Database::Sqlite(path) => Connection::open_sqlite(path, true)?,
            Database::Postgres(url) => Connection::open_postgres(url)?,
        };
        connection.batch(match connection {
            Connection::Sqlite(_) => "BEGIN DEFERRED",
            Connection::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })?;
        // The first statement is the moment.
        let version = catalog::version(&mut connection)?
            .ok_or_else(|| Error::Internal(anyhow::anyhow!("the database has no schema yet")))?;
        let tables = catalog::tables(&mut connection)?;
        Ok(Self {
            connection,
            version,
            tables,
        })
    }

    /// The version of the schema.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Which database it is.
    pub fn database(&self) -> &'static str {
        self.connection.kind()
    }

    /// Every table, those that others refer to before them.
    pub fn tables(&self) -> Vec<Table> {
        self.tables.clone()
    }

    /// Every row of a table.
    pub fn rows(&mut self, table: &Table, see: impl FnMut(&[Cell]) -> Result<()>) -> Result<()> {
        // What a job has made can be made again, and what it made about a person must not outlive his erasure; a hold of a
        // backup on the files is nothing for another place, and a restore gives its storage a marker of its own.
        let only = match table.name.as_str() {
            "jobs" => " WHERE file_key IS NULL",
            "settings" => " WHERE name NOT LIKE 'backup-%' AND name NOT IN ('restore', 'storage')",
            _ => "",
        };
        let text = format!("SELECT {} FROM {}{only}", table.list(), quoted(&table.name));
        let kinds: Vec<Kind> = table.columns.iter().map(|column| column.kind).collect();
        each(&mut self.connection, &text, &kinds, see)
    }

    /// Every file that some row names, by key; the files of jobs only on request.
    pub fn files(&mut self, with_jobs: bool, mut see: impl FnMut(NamedFile) -> Result<()>) -> Result<()> {
        let mut parts = Vec::new();
        for table in &self.tables {
            let has = |name: &str| table.columns.iter().any(|column| column.name == name);
            if !has("file_key") || table.name == REMOVALS || (table.name == "jobs" && !with_jobs) {
                continue;
            }
            let size = if has("size") { "size" } else { "CAST(NULL AS BIGINT)" };
            let sha256 = if has("sha256") { "sha256" } else { "CAST(NULL AS TEXT)" };
            let name = &table.name;
            parts.push(format!(
                "SELECT file_key, {size}, {sha256}, '{name}' FROM {} WHERE file_key IS NOT NULL",
                quoted(name)
            ));
        }
        let text = format!("{} ORDER BY 1, 4", parts.join(" UNION ALL "));
        let kinds = [Kind::Text, Kind::Int, Kind::Text, Kind::Text];
        let mut last = String::new();
        each(&mut self.connection, &text, &kinds, |row| {
            let [Cell::Text(key), size, sha256, Cell::Text(table)] = row else {
                return Err(Error::Internal(anyhow::anyhow!("a file without a key")));
            };
            if *key == last {
                return Ok(());
            }
            last.clone_from(key);
            see(NamedFile {
                key: key.clone(),
                size: if let Cell::Int(size) = size { Some(*size) } else { None },
                sha256: if let Cell::Text(text) = sha256 {
                    Some(text.clone())
                } else {
                    None
                },
                table: table.clone(),
            })
        })
    }

    /// What the database finds wrong with itself, and rows that contradict each other; in words.
    pub fn contradictions(&mut self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut ask = |connection: &mut Connection, what: &str, text: &str| {
            each(connection, text, &[Kind::Text], |row| {
                if let [Cell::Text(id)] = row {
                    found.push(format!("{what}: {id}"));
                }
                Ok(())
            })
        };
        let connection = &mut self.connection;
        if matches!(connection, Connection::Sqlite(_)) {
            ask(
                connection,
                "database",
                "SELECT integrity_check FROM pragma_integrity_check() WHERE integrity_check <> 'ok'",
            )?;
            ask(
                connection,
                "a reference leads nowhere",
                "SELECT DISTINCT \"table\" || ' -> ' || \"parent\" FROM pragma_foreign_key_check()",
            )?;
        }
        ask(
            connection,
            "a document's content is none of its revisions",
            "SELECT d.id FROM documents d WHERE d.current_revision_id IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM document_revisions r WHERE r.id = d.current_revision_id AND r.document_id = d.id)",
        )?;
        ask(
            connection,
            "a document's size is not that of its content",
            "SELECT d.id FROM documents d JOIN document_revisions r ON r.id = d.current_revision_id
                WHERE d.size <> r.size OR d.version <> r.version",
        )?;
        ask(
            connection,
            "what was handed in has no copy",
            "SELECT d.id FROM documents d WHERE (d.status = 'SUBMITTED' OR d.status_before_lock = 'SUBMITTED')
                AND NOT EXISTS (SELECT 1 FROM submission_documents sd WHERE sd.document_id = d.id)",
        )?;
        Ok(found)
    }
}

/// Runs a statement and shows every row as it comes.
fn each(
    connection: &mut Connection,
    text: &str,
    kinds: &[Kind],
    mut see: impl FnMut(&[Cell]) -> Result<()>,
) -> Result<()> {
    let mut cells = Vec::with_capacity(kinds.len());
    match connection {
        Connection::Sqlite(sqlite) => {
            let mut statement = sqlite.prepare(text).map_err(internal)?;
            let mut rows = statement.query([]).map_err(internal)?;
            while let Some(row) = rows.next().map_err(internal)? {
                cells.clear();
                for (index, kind) in kinds.iter().enumerate() {
                    cells.push(of_sqlite(row.get_ref(index).map_err(internal)?, *kind)?);
                }
                see(&cells)?;
            }
        }
        Connection::Postgres(_) => {
            let client = connection.raw_postgres().ok_or(Error::NotReady)?;
            let mut rows = client
                .query_raw(text, std::iter::empty::<i64>())
                .map_err(conflict::postgres)?;
            while let Some(row) = rows.next().map_err(conflict::postgres)? {
                cells.clear();
                for (index, kind) in kinds.iter().enumerate() {
                    cells.push(of_postgres(&row, index, *kind).map_err(internal)?);
                }
                see(&cells)?;
            }
        }
    }
    Ok(())
}

fn of_sqlite(value: ValueRef<'_>, kind: Kind) -> Result<Cell> {
    let cell = match (value, kind) {
        (ValueRef::Null, _) => Some(Cell::Null),
        (ValueRef::Text(_), Kind::Text) => value.as_str().ok().map(|text| Cell::Text(text.to_owned())),
        (ValueRef::Integer(number), Kind::Int) => Some(Cell::Int(number)),
        (ValueRef::Integer(number), Kind::Bool) => Some(Cell::Bool(number != 0)),
        (ValueRef::Real(number), Kind::Real) => Some(Cell::Real(number)),
        #[expect(
            clippy::cast_precision_loss,
            reason = "SQLite stores whole reals as integers; points are small"
        )]
        (ValueRef::Integer(number), Kind::Real) => Some(Cell::Real(number as f64)),
        _ => None,
    };
    cell.ok_or_else(|| Error::Internal(anyhow::anyhow!("a {kind:?} column holds {:?}", value.data_type())))
}

fn of_postgres(row: &postgres::Row, index: usize, kind: Kind) -> std::result::Result<Cell, postgres::Error> {
    Ok(match kind {
        Kind::Text => row.try_get::<_, Option<String>>(index)?.map_or(Cell::Null, Cell::Text),
        Kind::Int => row.try_get::<_, Option<i64>>(index)?.map_or(Cell::Null, Cell::Int),
        Kind::Bool => row.try_get::<_, Option<bool>>(index)?.map_or(Cell::Null, Cell::Bool),
        Kind::Real => row.try_get::<_, Option<f64>>(index)?.map_or(Cell::Null, Cell::Real),
    })
}

fn internal(error: impl Into<anyhow::Error>) -> Error {
    Error::Internal(error.into())
}
