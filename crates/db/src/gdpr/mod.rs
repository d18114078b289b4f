//! Export of the personal data of a user in an organization: table by table, page by page, as JSON. Other users are
//! referenced by id only. [`data_map`] defines the treatment of every column with personal data; a test compares it with
//! the schema.

pub mod account_tables;
pub mod data_map;
pub mod export_tables;
pub mod files;
pub mod hidden;

use domain::id::UserId;
use serde_json::{Map, Value};

use super::ReadTx;
use super::platform::PlatformTx;
use super::sql::{Columns, Sql, Value as Argument};
use crate::args;
use common::error::Result;

/// Rows per query, which bounds the memory of an export.
const PAGE: i64 = 500;

/// A table of the export: its file in the archive and its query. Each column of the query is exported, under its name
/// in camel case. The first one is the pagination key.
#[derive(Debug)]
pub struct ExportTable {
    /// The file name without extension.
    pub name: &'static str,
    statement: &'static Sql,
}

/// The type of a column. Every column is nullable.
#[derive(Debug, Clone, Copy)]
enum ColumnKind {
    Text,
    Timestamp,
    Integer,
    Real,
    Boolean,
}

impl ColumnKind {
    /// Returns the type of a column, which follows from its name in all tables.
    fn of_column(name: &str) -> Self {
        match name {
            "attempt" | "characters" | "editing_millis" | "failures" | "group_number" | "last_read_seq"
            | "late_by_seconds" | "mentions" | "saves" | "size" | "version" => Self::Integer,
            "points" => Self::Real,
            "banned"
            | "begun"
            | "edited_last"
            | "email_verified"
            | "has_second_factor"
            | "must_change_password"
            | "needs_help"
            | "own"
            | "saved"
            | "submitted" => Self::Boolean,
            "read_until" => Self::Timestamp,
            _ if name.ends_with("_at") => Self::Timestamp,
            _ if name.starts_with("is_") => Self::Boolean,
            _ => Self::Text,
        }
    }
}

/// A page of a table.
#[derive(Debug)]
pub struct ExportPage {
    pub rows: Vec<Map<String, Value>>,
    /// The cursor of the next page; `None` after the last one.
    pub next: Option<String>,
}

impl ReadTx<'_> {
    /// Returns a page of a table about a user in this organization, after the given key.
    pub fn organization_export_page(
        &mut self,
        table: &'static ExportTable,
        user: &UserId,
        after: &str,
    ) -> Result<ExportPage> {
        self.fetch_all(table.statement, args![user, after, PAGE], read)
            .map(page)
    }
}

impl PlatformTx<'_> {
    /// Returns a page of a table about an account, after the given key.
    pub fn account_export_page(
        &mut self,
        table: &'static ExportTable,
        user: &UserId,
        after: &str,
    ) -> Result<ExportPage> {
        let arguments: &[Argument<'_>] = args![user, after, PAGE];
        self.fetch_all(table.statement, arguments, read).map(page)
    }
}

impl ExportTable {
    const fn new(name: &'static str, statement: &'static Sql) -> Self {
        Self { name, statement }
    }
}

fn read(row: &Columns<'_>) -> Result<Map<String, Value>> {
    let mut object = Map::new();
    for column in row.names() {
        let value = match ColumnKind::of_column(column) {
            ColumnKind::Text => row.get::<Option<String>>(column)?.into(),
            ColumnKind::Timestamp => serde_json::to_value(row.get::<Option<domain::time::Timestamp>>(column)?)?,
            ColumnKind::Integer => row.get::<Option<i64>>(column)?.into(),
            ColumnKind::Real => row.get::<Option<f64>>(column)?.into(),
            ColumnKind::Boolean => row.get::<Option<bool>>(column)?.into(),
        };
        object.insert(field_of(column), value);
    }
    Ok(object)
}

fn page(rows: Vec<Map<String, Value>>) -> ExportPage {
    let is_full = i64::try_from(rows.len()) == Ok(PAGE);
    let key = rows.last().and_then(|row| row.values().next()?.as_str());
    let next = key.filter(|_| is_full).map(str::to_owned);
    ExportPage { rows, next }
}

/// Returns the field of a column: `is_active` is exported as `isActive`.
fn field_of(column: &str) -> String {
    let mut words = column.split('_');
    let mut field = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (initial, rest) = word.split_at(word.len().min(1));
        field.push_str(&initial.to_ascii_uppercase());
        field.push_str(rest);
    }
    field
}
