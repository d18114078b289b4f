//! Computes the stored search and sort keys of names (`domain::collation`) for rows that lack them: after an upgrade
//! from a release without keys, after a change of the key version, and for rows that the previous release wrote during
//! an upgrade.
//!
//! Rows are read in batches by id and updated in one transaction per batch; rows with correct keys are not updated. An
//! interrupted run therefore continues where it ended. Other instances can run concurrently: a name that changed after
//! it was read keeps the keys written with the change.

use std::sync::LazyLock;

use domain::collation::{VERSION, person_sort_key, search_key, sort_key};

use crate::connection::Connection;
use crate::sql::{Columns, Sql};
use crate::{args, from_row, groups};
use common::clock;
use common::error::Result;

/// Rows per batch and transaction.
const BATCH: i64 = 500;

static READ_VERSION: Sql = Sql::new("SELECT value FROM settings WHERE name = 'name_keys'");
static WRITE_VERSION: Sql = Sql::new(
    "INSERT INTO settings (name, value, updated_at) VALUES ('name_keys', $1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
);
/// Log records whose search key is not ASCII. The others have no accents, and case was folded when they were inserted.
static READ_LOG: Sql = Sql::new(
    "SELECT id, search_key FROM activity_logs
    WHERE id > $1 AND OCTET_LENGTH(search_key) <> LENGTH(search_key) ORDER BY id LIMIT $2",
);
static WRITE_LOG: Sql = Sql::new("UPDATE activity_logs SET search_key = $2 WHERE id = $1 AND search_key = $3");

/// A table with names.
struct NamedTable {
    /// All rows: id, name, second name, and both keys.
    all: Sql,
    /// Rows whose keys may be missing or outdated. Keys also differ from the lower-case name if it has accents; such
    /// rows are recomputed and mostly found correct.
    stale: Sql,
    /// Updates the keys of a row whose name is still `$4`.
    write: Sql,
    keys: fn(&NamedRow) -> (String, String),
}

/// A row with its names and its stored keys.
struct NamedRow {
    id: String,
    name: String,
    second: Option<String>,
    search_key: String,
    sort_key: String,
}

impl NamedTable {
    /// `name` and `second` are the columns of the names.
    fn of(table: &str, name: &str, second: &str, has_sort_key: bool, keys: fn(&NamedRow) -> (String, String)) -> Self {
        let (sort_key, or_unsorted, set_sort_key) = if has_sort_key {
            ("sort_key", "OR sort_key = ''", ", sort_key = $3")
        } else {
            ("''", "", "")
        };
        let select = format!(
            "SELECT id, {name} AS name, {second} AS second_name, search_key, {sort_key} AS sort_key FROM {table} WHERE id > $1"
        );
        Self {
            all: Sql::text_of(format!("{select} ORDER BY id LIMIT $2")),
            stale: Sql::text_of(format!(
                "{select} AND (search_key <> {name}_key {or_unsorted}) ORDER BY id LIMIT $2"
            )),
            write: Sql::text_of(format!(
                "UPDATE {table} SET search_key = $2{set_sort_key}
                WHERE id = $1 AND CAST($3 AS TEXT) IS NOT NULL AND {name} = $4"
            )),
            keys,
        }
    }
}

static TABLES: LazyLock<[NamedTable; 8]> = LazyLock::new(|| {
    [
        NamedTable::of("organizations", "name", "CAST(NULL AS TEXT)", true, plain),
        NamedTable::of("users", "name", "last_name", true, person),
        NamedTable::of("subjects", "name", "CAST(NULL AS TEXT)", true, plain),
        NamedTable::of("homerooms", "name", "CAST(NULL AS TEXT)", true, plain),
        NamedTable::of("classes", "name", "CAST(NULL AS TEXT)", true, plain),
        NamedTable::of("courses", "name", "CAST(NULL AS TEXT)", true, plain),
        NamedTable::of("groups", "name", "display_name", false, group),
        NamedTable::of("assignments", "title", "CAST(NULL AS TEXT)", false, topic),
    ]
});

/// Computes missing keys; returns the number of updated rows.
pub(super) fn fill(connection: &mut Connection) -> Result<u64> {
    let stored: Option<String> = connection.fetch_optional(&READ_VERSION, &[], |row| row.get("value"))?;
    let is_current = stored.as_deref() == Some(VERSION);
    let mut written = 0;
    for table in TABLES.iter() {
        let read = if is_current { &table.stale } else { &table.all };
        written += fill_table(connection, table, read)?;
    }
    if !is_current {
        written += fill_log(connection)?;
        connection.execute(&WRITE_VERSION, args![VERSION, clock::now()])?;
    }
    if written > 0 {
        tracing::info!(rows = written, version = VERSION, "search and sort keys computed");
    }
    Ok(written)
}

fn fill_table(connection: &mut Connection, table: &'static NamedTable, read: &'static Sql) -> Result<u64> {
    let (mut after, mut written) = (String::new(), 0);
    loop {
        let rows = connection.fetch_all(read, args![after, BATCH], named_row)?;
        let Some(last) = rows.last() else { return Ok(written) };
        after.clone_from(&last.id);
        written += transaction(connection, |connection| {
            let mut written = 0;
            for row in &rows {
                let (search_key, sort_key) = (table.keys)(row);
                if search_key != row.search_key || sort_key != row.sort_key {
                    written +=
                        connection.execute_counted(&table.write, args![row.id, search_key, sort_key, row.name])?;
                }
            }
            Ok(written)
        })?;
    }
}

fn fill_log(connection: &mut Connection) -> Result<u64> {
    let (mut after, mut written) = (String::new(), 0);
    loop {
        let read = |row: &Columns<'_>| Ok((row.get("id")?, row.get("search_key")?));
        let records: Vec<(String, String)> = connection.fetch_all(&READ_LOG, args![after, BATCH], read)?;
        let Some((last, _)) = records.last() else {
            return Ok(written);
        };
        after.clone_from(last);
        written += transaction(connection, |connection| {
            let mut written = 0;
            for (id, stored) in &records {
                let key = search_key(stored);
                if key != *stored {
                    written += connection.execute_counted(&WRITE_LOG, args![id, key, stored])?;
                }
            }
            Ok(written)
        })?;
    }
}

fn transaction<T>(connection: &mut Connection, act: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
    connection.execute_batch("BEGIN")?;
    let outcome = act(connection);
    connection.execute_batch(if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    outcome
}

fn named_row(row: &Columns<'_>) -> Result<NamedRow> {
    from_row!(row => NamedRow { id, name, second = "second_name", search_key, sort_key })
}

fn plain(row: &NamedRow) -> (String, String) {
    (search_key(&row.name), sort_key(&row.name))
}

fn person(row: &NamedRow) -> (String, String) {
    (search_key(&row.name), person_sort_key(&row.name, row.second.as_deref()))
}

fn group(row: &NamedRow) -> (String, String) {
    (groups::search_key(&row.name, row.second.as_deref()), String::new())
}

fn topic(row: &NamedRow) -> (String, String) {
    (search_key(&row.name), String::new())
}
