//! The whole database as rows without a meaning, read in one snapshot and written in one transaction: what a backup
//! carries. Names of tables and columns come from the schema itself, so a new table cannot be forgotten; this is the one
//! room whose statements are not literal, because nobody can list the tables of a later release.

mod catalog;
pub(super) mod load;
mod snapshot;

use serde::{Deserialize, Serialize};

pub(super) use self::catalog::version;
pub use self::load::Target;
pub use self::snapshot::{NamedFile, Snapshot};

/// Tables whose rows a backup leaves out: sign-ins and mailed links work like passwords and end with the old service,
/// letters would be sent twice, and signals between instances are minutes old at most.
const LEFT_OUT: &[&str] = &["sessions", "verifications", "letters", "event_outbox"];
/// The own table of the migrations: the schema is made by them, not copied.
const HISTORY: &str = "refinery_schema_history";
/// What waits to be removed names files that nobody needs.
const REMOVALS: &str = "file_removals";

/// A table with its columns in the order of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// What a column holds; there are no others (migrations/V0001).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text, ids and JSON.
    Text,
    /// Whole numbers and times.
    Int,
    /// Truth values.
    Bool,
    /// Numbers with a fraction.
    Real,
}

/// One value of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A number with a fraction.
    Real(f64),
}

impl Kind {
    fn of_type(declared: &str) -> Option<Self> {
        match declared.to_ascii_uppercase().as_str() {
            "TEXT" => Some(Self::Text),
            "BIGINT" => Some(Self::Int),
            "BOOLEAN" => Some(Self::Bool),
            "DOUBLE PRECISION" => Some(Self::Real),
            _ => None,
        }
    }
}

impl Table {
    /// Its columns as a statement lists them.
    fn list(&self) -> String {
        let quoted: Vec<String> = self.columns.iter().map(|column| quoted(&column.name)).collect();
        quoted.join(", ")
    }
}

/// A name as a statement takes it, whatever it is.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
