//! The header of a table: which column stands where. What is required has to be there, and a column twice is a mistake; a
//! strict table has no other columns either, because a column that is ignored is a mistake its author wants to hear of.

use model::import::RowProblem;

use super::sheet::Row;
use common::error::{Error, Problem, Result};

/// The columns a table may have.
pub struct Layout {
    /// How refusals call the table; empty for a file that is one table.
    pub table: &'static str,
    /// Columns that have to be there.
    pub required: &'static [&'static str],
    /// Columns that may be there.
    pub optional: &'static [&'static str],
    /// Whether other columns are refused.
    pub is_strict: bool,
}

/// Where each column of a layout stands in one table.
pub struct Columns {
    places: Vec<(&'static str, usize)>,
    width: usize,
}

impl Columns {
    /// Reads the header.
    pub fn of(layout: &Layout, header: Option<Row>) -> Result<Self> {
        let names = match header.map(|row| row.cells) {
            Some(Ok(names)) => names,
            Some(Err(problem)) => return Err(header_refused(layout, "", &problem.message)),
            None => Vec::new(),
        };
        let known = || layout.required.iter().chain(layout.optional);
        let mut places: Vec<(&'static str, usize)> = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let name = name.trim();
            match known().find(|known| known.eq_ignore_ascii_case(name)) {
                Some(column) if places.iter().any(|(other, _)| other == column) => {
                    return Err(header_refused(layout, column, "is there twice"));
                }
                Some(column) => places.push((column, place)),
                None if layout.is_strict => {
                    let name: String = name.chars().take(80).collect();
                    return Err(header_refused(layout, &name, "is no column of this file"));
                }
                None => {}
            }
        }
        if let Some(missing) = layout
            .required
            .iter()
            .find(|required| !places.iter().any(|(column, _)| column == *required))
        {
            return Err(header_refused(layout, missing, "is missing"));
        }
        Ok(Self {
            places,
            width: names.len(),
        })
    }

    /// A row with its cells by column.
    pub fn row<'a>(&'a self, cells: &'a [String]) -> std::result::Result<Cells<'a>, RowProblem> {
        // Spreadsheets leave empty cells away at the end of a row, or add some.
        let has_more = cells.iter().skip(self.width).any(|cell| !cell.trim().is_empty());
        if has_more {
            return Err(RowProblem::new("", "columns", "has more cells than the header"));
        }
        Ok(Cells { columns: self, cells })
    }
}

/// The cells of a row by column.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    columns: &'a Columns,
    cells: &'a [String],
}

impl<'a> Cells<'a> {
    /// The text of a column, trimmed; empty where the table has no such column.
    pub fn get(&self, column: &str) -> &'a str {
        let place = self.columns.places.iter().find(|(name, _)| *name == column);
        let text = place.and_then(|(_, place)| self.cells.get(*place));
        text.map_or("", |text| text.trim())
    }
}

fn header_refused(layout: &Layout, column: &str, what: &str) -> Error {
    let path = match (layout.table, column) {
        ("", column) => column.to_owned(),
        (table, "") => table.to_owned(),
        (table, column) => format!("{table}: {column}"),
    };
    Error::ImportHeader(Problem::new(path, "header", what))
}
