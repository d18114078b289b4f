//! Text is compared byte by byte on both databases: keyset pagination, prefix searches and indexes rely on it (decision
//! 0001). This is the default of SQLite. PostgreSQL uses the collation the database was created with, so text columns
//! are declared `COLLATE "C"` after the migrations. Comparisons use the collation of their column, so the statements
//! are the same for both databases.

use std::collections::BTreeMap;

use super::internal;
use common::error::{Error, Result};

/// The encoding of the database, and whether it compares bytes by default. `datlocprovider` exists since PostgreSQL 15;
/// an ICU locale can be combined with `datcollate` C.
const DATABASE: &str = "SELECT pg_encoding_to_char(d.encoding) AS encoding,
        COALESCE(to_jsonb(d) ->> 'datlocprovider', 'c') = 'b' OR (COALESCE(to_jsonb(d) ->> 'datlocprovider', 'c') = 'c'
            AND d.datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8')) AS compares_bytes
    FROM pg_database d WHERE d.datname = current_database()";
/// Text columns with a collation other than C.
const COLUMNS: &str = "SELECT CAST(c.relname AS TEXT) AS table_name, CAST(a.attname AS TEXT) AS column_name
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation l ON l.oid = a.attcollation
    WHERE c.relnamespace = CAST(CAST(current_schema() AS TEXT) AS regnamespace) AND c.relkind IN ('r', 'p')
        AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = CAST('text' AS regtype) AND l.collname <> 'C'
    ORDER BY c.relname, a.attnum";

/// Rejects a database with an encoding other than UTF-8.
pub(super) fn check_encoding(client: &mut postgres::Client) -> Result<()> {
    let (encoding, _) = database(client)?;
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(Error::Internal(anyhow::anyhow!(
        "the PostgreSQL database has encoding {encoding}; create it with ENCODING 'UTF8'"
    )))
}

/// Declares text columns `COLLATE "C"` if the database has another collation, including columns from new migrations or
/// restored dumps. Rows are not rewritten; the indexes of the columns are rebuilt.
pub(super) fn compare_bytes(client: &mut postgres::Client) -> Result<()> {
    if database(client)?.1 {
        return Ok(());
    }
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in client.query(COLUMNS, &[]).map_err(internal)? {
        let (table, column): (String, String) = (row.get("table_name"), row.get("column_name"));
        tables.entry(table).or_default().push(column);
    }
    if tables.is_empty() {
        return Ok(());
    }
    tracing::info!(tables = tables.len(), "declaring text columns COLLATE \"C\"");
    let mut transaction = client.transaction().map_err(internal)?;
    for (table, columns) in tables {
        let changes: Vec<String> = columns
            .iter()
            .map(|column| format!("ALTER COLUMN \"{column}\" TYPE TEXT COLLATE \"C\""))
            .collect();
        let statement = format!("ALTER TABLE \"{table}\" {}", changes.join(", "));
        transaction.batch_execute(&statement).map_err(internal)?;
    }
    transaction.commit().map_err(internal)
}

fn database(client: &mut postgres::Client) -> Result<(String, bool)> {
    let row = client.query_one(DATABASE, &[]).map_err(internal)?;
    Ok((row.get("encoding"), row.get("compares_bytes")))
}
