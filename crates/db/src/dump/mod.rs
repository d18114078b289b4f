//! The whole database as untyped rows, read in one snapshot and loaded in one transaction: the content of a backup.
//! Names of tables and columns are read from the schema, so a new table cannot be forgotten. This is the only module
//! with SQL that is not literal, because the tables of later releases are unknown.

mod catalog;
pub(super) mod load;
pub mod school;
pub(crate) mod school_completion;
pub(crate) mod school_import;
pub(crate) mod school_people;
mod snapshot;

use serde::{Deserialize, Serialize};

pub(super) use self::catalog::version;
pub use self::load::RestoreTarget;
pub use self::school_import::{ImportedSchool, SchoolImport};
pub use self::snapshot::{FileReference, Snapshot};

/// Tables that a backup excludes: sessions and verification links are credentials and end with the old service, queued
/// emails would be sent twice, and events between instances and sign-ins that wait for a provider are obsolete after
/// minutes.
const EXCLUDED_TABLES: &[&str] = &[
    "sessions",
    "verifications",
    "letters",
    "event_outbox",
    "sign_on_attempts",
    "sign_on_logouts",
];
/// The table of the migrations. A restore creates the schema by migrations and does not copy it.
const HISTORY: &str = "refinery_schema_history";
/// Queued file removals refer to files that are not needed.
const FILE_REMOVALS: &str = "file_removals";

/// A table with its columns ordered by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DumpTable {
    pub name: String,
    pub columns: Vec<TableColumn>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    pub name: String,
    pub kind: ColumnType,
}

/// The type of a column. The migrations use no other types (migrations/V0001).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// Text, ids and JSON.
    Text,
    /// Integers and timestamps.
    Int,
    Bool,
    /// Floating-point numbers.
    Real,
}

/// One value of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Text(String),
    Int(i64),
    Bool(bool),
    Real(f64),
}

impl ColumnType {
    pub(crate) fn of_type(declared: &str) -> Option<Self> {
        match declared.to_ascii_uppercase().as_str() {
            "TEXT" => Some(Self::Text),
            "BIGINT" => Some(Self::Int),
            "BOOLEAN" => Some(Self::Bool),
            "DOUBLE PRECISION" => Some(Self::Real),
            _ => None,
        }
    }
}

impl DumpTable {
    /// The quoted column names, comma-separated.
    fn list(&self) -> String {
        let quoted: Vec<String> = self.columns.iter().map(|column| quoted(&column.name)).collect();
        quoted.join(", ")
    }
}

/// Quotes an identifier.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
