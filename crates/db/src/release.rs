//! What a release needs of the schema: its statements, and the columns and unique keys they were written for. `groupwork
//! statements` writes it into `releases/` when a version is tagged; `tests/api/releases.rs` holds every kept one against
//! the newest schema, because the previous binary goes on while the next one migrates, and comes back when that fails.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::connection::Connection;
use super::migrate::{migrated_in_memory, newest_migration};
use super::sql::Sql;
use common::error::Result;

/// The columns of every table, each with its type and whether it is NOT NULL.
static COLUMNS: Sql = Sql::new(
    "SELECT m.name, c.name, c.type || CASE WHEN c.\"notnull\" = 1 THEN ' NOT NULL' ELSE '' END
    FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'refinery_schema_history'
    ORDER BY m.name, c.name",
);
/// The columns of every unique key, in their order.
static UNIQUE_KEYS: Sql = Sql::new(
    "SELECT m.name, l.name || CASE WHEN l.partial = 1 THEN ' of some rows' ELSE '' END, COALESCE(i.name, 'expression')
    FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_info(l.name) i
    WHERE m.type = 'table' AND m.name <> 'refinery_schema_history' AND l.\"unique\" = 1
    ORDER BY m.name, l.name, i.seqno",
);

/// What a release needs of the schema. It is written so that a diff of two shows each statement and column by itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// The newest migration it knows.
    pub migration: i32,
    /// The tables it knows.
    pub tables: BTreeMap<String, Table>,
    /// Its statements by file and name, line by line.
    pub statements: BTreeMap<String, Vec<String>>,
}

/// A table as a release knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its columns: type, and NOT NULL where it is.
    pub columns: BTreeMap<String, String>,
    /// The columns of each of its unique keys.
    pub unique: BTreeSet<String>,
}

impl Release {
    /// What the release that is running needs.
    pub fn this() -> Result<Self> {
        let files = super::statements().into_iter().chain(super::platform::statements());
        let statements = files.flat_map(|(file, statements)| {
            let named = statements.iter();
            named.map(move |(name, sql)| (format!("{file}::{name}"), lines(sql.text())))
        });
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            migration: newest_migration(),
            tables: tables(&mut migrated_in_memory()?)?,
            statements: statements.collect(),
        })
    }
}

/// The tables of an embedded database. The migrations are the same for both kinds, so one kind tells of both.
pub fn tables(connection: &mut Connection) -> Result<BTreeMap<String, Table>> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    let columns = connection.many(&COLUMNS, &[], |row| {
        Ok((row.take::<String>()?, row.take::<String>()?, row.take::<String>()?))
    })?;
    for (table, column, kind) in columns {
        tables.entry(table).or_default().columns.insert(column, kind);
    }
    let keys = connection.many(&UNIQUE_KEYS, &[], |row| {
        Ok((row.take::<String>()?, row.take::<String>()?, row.take::<String>()?))
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

/// A statement without the shape it has in the source.
fn lines(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}
