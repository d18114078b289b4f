//! The header of a table: the position of each column. Required columns must exist and no column may appear twice; a
//! strict table has no other columns, because an ignored column is most likely a mistake.

use domain::import::RowProblem;

use super::csv_reader::TableRow;
use common::error::{Error, Problem, Result};

/// The columns of a table.
pub struct TableLayout {
    /// The name of the table in errors; empty for a file with a single table.
    pub table: &'static str,
    /// Columns that must exist.
    pub required: &'static [&'static str],
    /// Columns that may exist.
    pub optional: &'static [&'static str],
    /// Whether other columns are rejected.
    pub is_strict: bool,
}

/// The position of each column of a layout in a table.
pub struct Header {
    positions: Vec<(&'static str, usize)>,
    width: usize,
}

impl Header {
    /// Parses the header.
    pub fn parse(layout: &TableLayout, header: Option<TableRow>) -> Result<Self> {
        let names = match header.map(|row| row.cells) {
            Some(Ok(names)) => names,
            Some(Err(problem)) => return Err(header_error(layout, "", &problem.message)),
            None => Vec::new(),
        };
        let known = || layout.required.iter().chain(layout.optional);
        let mut positions: Vec<(&'static str, usize)> = Vec::new();
        for (position, name) in names.iter().enumerate() {
            let name = name.trim();
            match known().find(|known| known.eq_ignore_ascii_case(name)) {
                Some(column) if positions.iter().any(|(other, _)| other == column) => {
                    return Err(header_error(layout, column, "is there twice"));
                }
                Some(column) => positions.push((column, position)),
                None if layout.is_strict => {
                    let name: String = name.chars().take(80).collect();
                    return Err(header_error(layout, &name, "is no column of this file"));
                }
                None => {}
            }
        }
        if let Some(missing) = layout
            .required
            .iter()
            .find(|required| !positions.iter().any(|(column, _)| column == *required))
        {
            return Err(header_error(layout, missing, "is missing"));
        }
        Ok(Self {
            positions,
            width: names.len(),
        })
    }

    /// Returns the cells of a row by column.
    pub fn row<'a>(&'a self, cells: &'a [String]) -> std::result::Result<RowCells<'a>, RowProblem> {
        // Spreadsheets omit empty cells at the end of a row, or append some.
        let has_more = cells.iter().skip(self.width).any(|cell| !cell.trim().is_empty());
        if has_more {
            return Err(RowProblem::new("", "columns", "has more cells than the header"));
        }
        Ok(RowCells { header: self, cells })
    }
}

/// The cells of a row by column.
#[derive(Clone, Copy)]
pub struct RowCells<'a> {
    header: &'a Header,
    cells: &'a [String],
}

impl<'a> RowCells<'a> {
    /// Returns the trimmed text of a column; empty if the table has no such column.
    pub fn get(&self, column: &str) -> &'a str {
        let position = self.header.positions.iter().find(|(name, _)| *name == column);
        let text = position.and_then(|(_, position)| self.cells.get(*position));
        text.map_or("", |text| text.trim())
    }
}

fn header_error(layout: &TableLayout, column: &str, what: &str) -> Error {
    let path = match (layout.table, column) {
        ("", column) => column.to_owned(),
        (table, "") => table.to_owned(),
        (table, column) => format!("{table}: {column}"),
    };
    Error::ImportHeader(Problem::new(path, "header", what))
}
