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

/// A table of the export: its file in the archive and its query. The first field is the pagination key.
#[derive(Debug)]
pub struct ExportTable {
    /// The file name without extension.
    pub name: &'static str,
    statement: &'static Sql,
    fields: &'static [(&'static str, ColumnKind)],
}

/// The type of a field. Every field is nullable.
#[derive(Debug, Clone, Copy)]
enum ColumnKind {
    Text,
    Timestamp,
    Integer,
    Real,
    Boolean,
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
        let rows = self.fetch_all(table.statement, args![user, after, PAGE], |row| table.read(row))?;
        Ok(table.page(rows))
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
        let rows = self
            .connection
            .fetch_all(table.statement, arguments, |row| table.read(row))?;
        Ok(table.page(rows))
    }
}

impl ExportTable {
    fn read(&self, row: &Columns<'_>) -> Result<Map<String, Value>> {
        let mut object = Map::new();
        for (name, kind) in self.fields {
            let column = &column_of(name);
            let value = match kind {
                ColumnKind::Text => row.get::<Option<String>>(column)?.into(),
                ColumnKind::Timestamp => serde_json::to_value(row.get::<Option<domain::time::Timestamp>>(column)?)?,
                ColumnKind::Integer => row.get::<Option<i64>>(column)?.into(),
                ColumnKind::Real => row.get::<Option<f64>>(column)?.into(),
                ColumnKind::Boolean => row.get::<Option<bool>>(column)?.into(),
            };
            object.insert((*name).to_owned(), value);
        }
        Ok(object)
    }

    fn page(&self, rows: Vec<Map<String, Value>>) -> ExportPage {
        let is_full = i64::try_from(rows.len()) == Ok(PAGE);
        let (key, _) = self.fields[0];
        let last = rows.last().and_then(|row| row[key].as_str()).map(str::to_owned);
        ExportPage {
            rows,
            next: last.filter(|_| is_full),
        }
    }
}

/// Returns the column of a field: `isActive` is read from `is_active`.
fn column_of(field: &str) -> String {
    let mut column = String::with_capacity(field.len() + 4);
    for character in field.chars() {
        if character.is_ascii_uppercase() {
            column.push('_');
        }
        column.push(character.to_ascii_lowercase());
    }
    column
}
