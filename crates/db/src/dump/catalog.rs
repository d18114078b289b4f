//! Reads tables, columns and foreign keys from the system catalog of either database.

use std::collections::{BTreeMap, BTreeSet};

use super::{ColumnType, DumpTable, EXCLUDED_TABLES, HISTORY, TableColumn};
use crate::connection::Connection;
use crate::sql::Sql;
use common::error::{Error, Result};

/// Whether the schema exists (SQLite).
static SQLITE_HISTORY: Sql =
    Sql::new("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'refinery_schema_history'");
/// Whether the schema exists (PostgreSQL).
static POSTGRES_HISTORY: Sql = Sql::new(
    "SELECT COUNT(*) FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_name = 'refinery_schema_history'",
);
static VERSION: Sql = Sql::new("SELECT CAST(MAX(version) AS BIGINT) FROM refinery_schema_history");
/// Every column of every table (SQLite).
static SQLITE_COLUMNS: Sql = Sql::new(
    "SELECT m.name AS table_name, c.name AS name, c.type AS type FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.name",
);
/// Every column of every table (PostgreSQL).
static POSTGRES_COLUMNS: Sql = Sql::new(
    "SELECT CAST(c.table_name AS TEXT) AS table_name, CAST(c.column_name AS TEXT) AS name,
        CAST(c.data_type AS TEXT) AS type
    FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
    ORDER BY CAST(c.table_name AS TEXT) COLLATE \"C\", CAST(c.column_name AS TEXT) COLLATE \"C\"",
);
/// Foreign keys between tables (SQLite).
static SQLITE_REFERENCES: Sql = Sql::new(
    "SELECT DISTINCT m.name AS table_name, f.\"table\" AS parent FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table'",
);
/// Foreign keys between tables (PostgreSQL).
static POSTGRES_REFERENCES: Sql = Sql::new(
    "SELECT DISTINCT CAST(a.relname AS TEXT) AS table_name, CAST(b.relname AS TEXT) AS parent
    FROM pg_constraint c
    JOIN pg_class a ON a.oid = c.conrelid JOIN pg_class b ON b.oid = c.confrelid
    JOIN pg_namespace n ON n.oid = a.relnamespace
    WHERE c.contype = 'f' AND n.nspname = current_schema()",
);

/// Returns the version of the schema; `None` without a schema.
pub(crate) fn version(connection: &mut Connection) -> Result<Option<i64>> {
    let history = match connection {
        Connection::Sqlite(_) => &SQLITE_HISTORY,
        Connection::Postgres(_) => &POSTGRES_HISTORY,
    };
    let tables: i64 = connection.fetch_optional(history, &[], |row| row.only())?.unwrap_or(0);
    if tables == 0 {
        return Ok(None);
    }
    Ok(connection.fetch_optional(&VERSION, &[], |row| row.only())?.flatten())
}

/// Returns every table that a backup contains, referenced tables first.
pub(super) fn tables(connection: &mut Connection) -> Result<Vec<DumpTable>> {
    let (columns, references) = match connection {
        Connection::Sqlite(_) => (&SQLITE_COLUMNS, &SQLITE_REFERENCES),
        Connection::Postgres(_) => (&POSTGRES_COLUMNS, &POSTGRES_REFERENCES),
    };
    let columns: Vec<(String, String, String)> = connection.fetch_all(columns, &[], |row| {
        Ok((row.get("table_name")?, row.get("name")?, row.get("type")?))
    })?;
    let mut tables: BTreeMap<String, DumpTable> = BTreeMap::new();
    for (table, name, declared) in columns {
        if table == HISTORY || EXCLUDED_TABLES.contains(&table.as_str()) {
            continue;
        }
        let kind = ColumnType::of_type(&declared)
            .ok_or_else(|| Error::Internal(anyhow::anyhow!("{table}.{name} is of type {declared}")))?;
        let found = tables.entry(table.clone()).or_insert_with(|| DumpTable {
            name: table,
            columns: Vec::new(),
        });
        found.columns.push(TableColumn { name, kind });
    }
    let references: BTreeSet<(String, String)> = connection
        .fetch_all(references, &[], |row| row.pair("table_name", "parent"))?
        .into_iter()
        .collect();
    in_order(tables, &references)
}

/// Sorts tables topologically by their foreign keys.
fn in_order(mut left: BTreeMap<String, DumpTable>, references: &BTreeSet<(String, String)>) -> Result<Vec<DumpTable>> {
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |name: &String| {
            !references
                .iter()
                .any(|(from, to)| from == name && to != name && left.contains_key(to))
        };
        let free: Vec<String> = left.keys().filter(|name| is_free(name)).cloned().collect();
        if free.is_empty() {
            let circle: Vec<&String> = left.keys().collect();
            return Err(Error::Internal(anyhow::anyhow!(
                "tables refer to each other in a circle: {circle:?}"
            )));
        }
        ordered.extend(free.iter().filter_map(|name| left.remove(name)));
    }
    Ok(ordered)
}
