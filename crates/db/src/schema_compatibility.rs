//! The schema requirements of a release: its statements, and the columns and unique keys they use. `groupwork
//! statements` writes them into `releases/` when a version is tagged. `tests/operations/releases.rs` checks all of them
//! against the newest schema, because the previous release keeps running during a migration and is restored if the
//! upgrade fails.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::connection::Connection;
use super::migrate::{migrated_in_memory, newest_migration};
use super::sql::Sql;
use common::error::Result;

/// The columns of every table with type and `NOT NULL`.
static COLUMNS: Sql = Sql::new(
    "SELECT m.name AS table_name, c.name AS name, c.type || CASE WHEN c.\"notnull\" = 1 THEN ' NOT NULL' ELSE '' END AS type
    FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'refinery_schema_history'
    ORDER BY m.name, c.name",
);
/// The columns of every unique key, in their order.
static UNIQUE_KEYS: Sql = Sql::new(
    "SELECT m.name AS table_name, l.name || CASE WHEN l.partial = 1 THEN ' of some rows' ELSE '' END AS key_name,
        COALESCE(i.name, 'expression') AS column_name
    FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_info(l.name) i
    WHERE m.type = 'table' AND m.name <> 'refinery_schema_history' AND l.\"unique\" = 1
    ORDER BY m.name, l.name, i.seqno",
);

/// The schema requirements of a release, in a format whose diffs show single statements and columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SchemaRequirements {
    pub version: String,
    /// The newest migration in the release.
    pub migration: i32,
    pub tables: BTreeMap<String, Table>,
    /// The statements by file and name, as lines of text.
    pub statements: BTreeMap<String, Vec<String>>,
}

/// A table as known to the release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// The columns with type and `NOT NULL`.
    pub columns: BTreeMap<String, String>,
    /// The columns of each unique key.
    pub unique: BTreeSet<String>,
}

impl SchemaRequirements {
    /// Returns the requirements of the running release.
    pub fn current() -> Result<Self> {
        let files = super::statements().into_iter().chain(super::platform::statements());
        let statements = files.flat_map(|(file, statements)| {
            let named = statements.into_iter();
            named.map(move |(name, sql)| (format!("{file}::{name}"), normalized_lines(sql.text())))
        });
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            migration: newest_migration(),
            tables: tables(&mut Connection::Sqlite(migrated_in_memory()?))?,
            statements: statements.collect(),
        })
    }
}

/// Reads the tables of a SQLite database. Both databases have the same migrations, so it represents both.
pub fn tables(connection: &mut Connection) -> Result<BTreeMap<String, Table>> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    let columns = connection.fetch_all(&COLUMNS, &[], |row| {
        Ok((
            row.get::<String>("table_name")?,
            row.get::<String>("name")?,
            row.get::<String>("type")?,
        ))
    })?;
    for (table, column, kind) in columns {
        tables.entry(table).or_default().columns.insert(column, kind);
    }
    let keys = connection.fetch_all(&UNIQUE_KEYS, &[], |row| {
        Ok((
            row.get::<String>("table_name")?,
            row.get::<String>("key_name")?,
            row.get::<String>("column_name")?,
        ))
    })?;
    let mut joined: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (table, key, column) in keys {
        joined.entry((table, key)).or_default().push(column);
    }
    for ((table, key), columns) in joined {
        let rows = if key.ends_with(" of some rows") {
            " of some rows"
        } else {
            ""
        };
        let key = columns.join(", ") + rows;
        tables.entry(table).or_default().unique.insert(key);
    }
    Ok(tables)
}

/// Splits a statement into lines without the indentation of the source.
fn normalized_lines(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}
