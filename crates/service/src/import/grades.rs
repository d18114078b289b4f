//! Parses an exported table of grades. It is read completely, because a topic has no more rows than its groups have
//! members.

use domain::file::FileType;
use domain::id::{SubmissionId, UserId};
use domain::import::RowProblem;
use domain::number::Points;
use domain::text::{FeedbackText, GradeValue};

use super::csv_reader::CsvReader;
use super::header::{Header, RowCells, TableLayout};
use crate::actions::grade_imports::{GradeRow, ParsedGrade};
use adapters::blob_store::FileSource;
use api_types::csv::unescape;
use api_types::grade_table::COLUMNS;
use common::error::{Error, Result};

/// The maximum number of rows.
const ROWS_MAX: usize = 10_000;

/// The columns of the export. Required are only those that identify a grade; columns that explain a row to readers
/// are ignored.
const LAYOUT: TableLayout = TableLayout {
    table: "",
    required: &["submissionId", "userId"],
    optional: &COLUMNS,
    is_strict: true,
};

/// Parses a table of grades. Without a separator, the header decides between `,` and `;`.
pub async fn read(source: FileSource, kind: FileType, separator: Option<u8>) -> Result<Vec<GradeRow>> {
    if kind != FileType::Csv {
        let message = format!("grades are imported from a .csv file, no {kind}");
        return Err(Error::UnsupportedFileType(message));
    }
    let reading = tokio::task::spawn_blocking(move || rows(&source, separator));
    reading.await.map_err(|error| Error::Internal(error.into()))?
}

fn rows(source: &FileSource, separator: Option<u8>) -> Result<Vec<GradeRow>> {
    let mut reader = CsvReader::open(source.open()?, separator)?;
    let header = Header::parse(&LAYOUT, reader.next_row()?)?;
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row()? {
        if rows.len() == ROWS_MAX {
            let message = format!("has more than {ROWS_MAX} rows");
            return Err(Error::invalid("file", "too_many_rows", message));
        }
        let cells = row.cells.map_err(|problem| vec![problem]);
        let parsed = cells.and_then(|cells| parse_row(header.row(&cells).map_err(|problem| vec![problem])?));
        rows.push(GradeRow {
            number: row.number,
            parsed,
        });
    }
    Ok(rows)
}

/// Parses a row. Empty cells are absent values.
fn parse_row(cells: RowCells<'_>) -> std::result::Result<ParsedGrade, Vec<RowProblem>> {
    let mut problems = Vec::new();
    let cell = |column: &str| Some(unescape(cells.get(column)).trim()).filter(|text| !text.is_empty());
    let mut problem = |column: &str, message: String| problems.push(RowProblem::new(column, "invalid", message));
    let value = cell("value").and_then(|text| {
        let value = GradeValue::try_from(text);
        value.map_err(|error| problem("value", error.to_string())).ok()
    });
    let points = cell("points").and_then(|text| {
        // Spreadsheets in some locales use a decimal comma.
        let number = text.replace(',', ".").parse::<f64>();
        let points = number.map_err(|_| "must be a number".to_owned());
        let points = points.and_then(|points| Points::try_from(points).map_err(|error| error.to_string()));
        points.map_err(|message| problem("points", message)).ok()
    });
    let feedback = cell("feedback").and_then(|text| {
        let feedback = FeedbackText::try_from(text);
        feedback.map_err(|error| problem("feedback", error.to_string())).ok()
    });
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(ParsedGrade {
        submission: cell("submissionId").map(SubmissionId::new),
        user: cell("userId").map(UserId::new),
        value,
        points,
        feedback,
    })
}
