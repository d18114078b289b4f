//! Reads all rows in one snapshot: a read transaction in WAL mode on SQLite, `REPEATABLE READ` on PostgreSQL. Neither
//! blocks writers. One row at a time is held in memory.

use postgres::fallible_iterator::FallibleIterator as _;
use rusqlite::types::ValueRef;

use super::school::binary;
use super::{Cell, ColumnType, DumpTable, FILE_REMOVALS, catalog, quoted};
use crate::connection::Connection;
use crate::{Database, db_error};
use common::error::{Error, Result};

/// A snapshot of the database. It ends when the value is dropped.
pub struct Snapshot {
    pub(super) connection: Connection,
    version: i64,
    pub(super) tables: Vec<DumpTable>,
}

/// A file that a row refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReference {
    pub key: String,
    /// Size in bytes, if the row contains it.
    pub size: Option<i64>,
    /// Hexadecimal SHA-256, if the row contains it.
    pub sha256: Option<String>,
    /// The table of the row.
    pub table: String,
}

impl Snapshot {
    /// Opens a snapshot of the present state.
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
        connection.execute_batch(match connection {
            Connection::Sqlite(_) => "BEGIN DEFERRED",
            Connection::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })?;
        // The snapshot is taken by the first statement.
        let version = catalog::version(&mut connection)?
            .ok_or_else(|| Error::Internal(anyhow::anyhow!("the database has no schema yet")))?;
        let tables = catalog::tables(&mut connection)?;
        Ok(Self {
            connection,
            version,
            tables,
        })
    }

    /// Returns the version of the schema.
    pub fn version(&self) -> i64 {
        self.version
    }

    pub fn database(&self) -> &'static str {
        self.connection.kind()
    }

    /// Returns every table, referenced tables first.
    pub fn tables(&self) -> Vec<DumpTable> {
        self.tables.clone()
    }

    /// Calls `visit` with every row of a table.
    pub fn rows(&mut self, table: &DumpTable, visit: impl FnMut(&[Cell]) -> Result<()>) -> Result<()> {
        // Excludes the jobs with results: a result can be produced again, and a personal data export must not outlive
        // the erasure of the user. Excludes the settings of this installation: holds of backups on its files, the state
        // of a restore, and the storage marker, which a restore recreates.
        let only = match table.name.as_str() {
            "jobs" => " WHERE file_key IS NULL",
            "settings" => {
                " WHERE name NOT LIKE 'backup-%' AND name NOT IN ('restore', 'storage', 'last_backup', 'maintenance')"
            }
            _ => "",
        };
        let text = format!("SELECT {} FROM {}{only}", table.list(), quoted(&table.name));
        let kinds: Vec<ColumnType> = table.columns.iter().map(|column| column.kind).collect();
        each(&mut self.connection, &text, &kinds, visit)
    }

    /// Calls `visit` with every file that a row refers to, by key; with the result files of jobs only if `with_jobs`.
    pub fn files(&mut self, with_jobs: bool, visit: impl FnMut(FileReference) -> Result<()>) -> Result<()> {
        let mut tables = self.tables.clone();
        tables.retain(|table| table.name != FILE_REMOVALS && (table.name != "jobs" || with_jobs));
        self.files_of(&tables, "TRUE", visit)
    }

    /// Calls `visit` with every file that a row of the tables refers to, by key, if a condition applies to the row.
    pub(super) fn files_of(
        &mut self,
        tables: &[DumpTable],
        condition: &str,
        mut visit: impl FnMut(FileReference) -> Result<()>,
    ) -> Result<()> {
        let mut parts = Vec::new();
        for table in tables {
            let has = |name: &str| table.columns.iter().any(|column| column.name == name);
            if !has("file_key") {
                continue;
            }
            let size = if has("size") { "size" } else { "CAST(NULL AS BIGINT)" };
            let sha256 = if has("sha256") { "sha256" } else { "CAST(NULL AS TEXT)" };
            let name = &table.name;
            parts.push(format!(
                "SELECT file_key, {size} AS size, {sha256} AS sha256, '{name}' AS name FROM {} WHERE file_key IS NOT NULL AND {condition}",
                quoted(name)
            ));
        }
        let text = format!(
            "SELECT x.file_key, x.size, x.sha256, x.name FROM ({}) x ORDER BY x.file_key{}, x.name",
            parts.join(" UNION ALL "),
            binary(&self.connection)
        );
        let kinds = [ColumnType::Text, ColumnType::Int, ColumnType::Text, ColumnType::Text];
        let mut last = String::new();
        each(&mut self.connection, &text, &kinds, |row| {
            let [Cell::Text(key), size, sha256, Cell::Text(table)] = row else {
                return Err(Error::Internal(anyhow::anyhow!("a file without a key")));
            };
            if *key == last {
                return Ok(());
            }
            last.clone_from(key);
            visit(FileReference {
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

    /// Runs the integrity check of the database and searches for inconsistent rows. Returns descriptions of the
    /// problems.
    pub fn contradictions(&mut self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut ask = |connection: &mut Connection, what: &str, text: &str| {
            each(connection, text, &[ColumnType::Text], |row| {
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

/// Runs a statement and calls `visit` with each row as it arrives.
pub(super) fn each(
    connection: &mut Connection,
    text: &str,
    kinds: &[ColumnType],
    mut visit: impl FnMut(&[Cell]) -> Result<()>,
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
                visit(&cells)?;
            }
        }
        Connection::Postgres(_) => {
            let client = connection.raw_postgres().ok_or(Error::NotReady)?;
            let mut rows = client
                .query_raw(text, std::iter::empty::<i64>())
                .map_err(db_error::from_postgres)?;
            while let Some(row) = rows.next().map_err(db_error::from_postgres)? {
                cells.clear();
                for (index, kind) in kinds.iter().enumerate() {
                    cells.push(of_postgres(&row, index, *kind).map_err(internal)?);
                }
                visit(&cells)?;
            }
        }
    }
    Ok(())
}

fn of_sqlite(value: ValueRef<'_>, kind: ColumnType) -> Result<Cell> {
    let cell = match (value, kind) {
        (ValueRef::Null, _) => Some(Cell::Null),
        (ValueRef::Text(_), ColumnType::Text) => value.as_str().ok().map(|text| Cell::Text(text.to_owned())),
        (ValueRef::Integer(number), ColumnType::Int) => Some(Cell::Int(number)),
        (ValueRef::Integer(number), ColumnType::Bool) => Some(Cell::Bool(number != 0)),
        (ValueRef::Real(number), ColumnType::Real) => Some(Cell::Real(number)),
        #[expect(
            clippy::cast_precision_loss,
            reason = "SQLite stores whole reals as integers; points are small"
        )]
        (ValueRef::Integer(number), ColumnType::Real) => Some(Cell::Real(number as f64)),
        _ => None,
    };
    cell.ok_or_else(|| Error::Internal(anyhow::anyhow!("a {kind:?} column holds {:?}", value.data_type())))
}

fn of_postgres(row: &postgres::Row, index: usize, kind: ColumnType) -> std::result::Result<Cell, postgres::Error> {
    Ok(match kind {
        ColumnType::Text => row.try_get::<_, Option<String>>(index)?.map_or(Cell::Null, Cell::Text),
        ColumnType::Int => row.try_get::<_, Option<i64>>(index)?.map_or(Cell::Null, Cell::Int),
        ColumnType::Bool => row.try_get::<_, Option<bool>>(index)?.map_or(Cell::Null, Cell::Bool),
        ColumnType::Real => row.try_get::<_, Option<f64>>(index)?.map_or(Cell::Null, Cell::Real),
    })
}

fn internal(error: impl Into<anyhow::Error>) -> Error {
    Error::Internal(error.into())
}
