//! Imports users from a file: a CSV table, a OneRoster archive, or a list in a request body. A file is read twice and
//! streamed row by row: first to validate it, then to apply its rows in short transactions. So memory does not depend
//! on the number of rows, and other organizations are not delayed.

mod columns;
pub mod grades;
mod one_roster;
mod people;
mod run;
mod sheet;

use std::collections::HashSet;

use model::file::FileType;
use model::import::{PEOPLE_MAX, RowProblem};
use model::time::Timestamp;
use tokio::sync::mpsc;

use self::columns::Columns;
use self::one_roster::{Archive, Overview};
pub use self::people::Said;
pub use self::run::{Import, Reported};
use self::sheet::Sheet;
use crate::actions::imports::Record;
pub use crate::actions::imports::Rules;
use adapters::blob_store::FileSource;
use common::error::{Error, Result};

/// The number of rows in one transaction.
const UNIT: usize = 200;

/// Returns the school year at a time, for exports that do not name one. School years begin in August.
pub fn school_year(now: Timestamp) -> String {
    let text = now.to_string();
    let mut numbers = text.split('-').map_while(|part| part.parse::<u16>().ok());
    let (year, month) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let begins = if month >= 8 { year } else { year.saturating_sub(1) };
    format!("{begins}/{}", begins + 1)
}

/// A row with its position in the file.
#[derive(Debug)]
pub struct Numbered {
    file: Option<&'static str>,
    number: usize,
    record: std::result::Result<Record, Vec<RowProblem>>,
}

/// A validated file or list.
pub struct Plan {
    rows: usize,
    content: Content,
}

enum Content {
    Table(FileSource),
    OneRoster(FileSource, Box<Overview>),
    List(Vec<Numbered>),
}

impl Plan {
    /// Reads a file once and rejects it if it is invalid as a whole; nothing is written. Classes of an archive
    /// without school years belong to `this_year`.
    pub async fn of_file(source: FileSource, kind: FileType, this_year: String) -> Result<Self> {
        let read = tokio::task::spawn_blocking(move || match kind {
            FileType::Csv => Self::of_table(source),
            FileType::Zip => {
                let overview = Box::new(Overview::of(&mut Archive::open(&source)?, this_year)?);
                Ok(Self {
                    rows: overview.rows,
                    content: Content::OneRoster(source, overview),
                })
            }
            other => Err(Error::UnsupportedFileType(format!(
                "an import is a .csv or .zip file, no {other}"
            ))),
        });
        read.await.map_err(|error| Error::Internal(error.into()))?
    }

    /// Creates a plan from users in a request body, numbered from 1.
    pub fn of_list<'a>(people: impl IntoIterator<Item = Said<'a>>) -> Self {
        let rows: Vec<Numbered> = people
            .into_iter()
            .enumerate()
            .map(|(index, said)| Numbered {
                file: None,
                number: index + 1,
                record: said.judged(),
            })
            .collect();
        Self {
            rows: rows.len(),
            content: Content::List(rows),
        }
    }

    fn of_table(source: FileSource) -> Result<Self> {
        let mut sheet = Sheet::begin(source.open()?, None)?;
        Columns::of(&people::LAYOUT, sheet.next_row()?)?;
        let mut rows = 0;
        while sheet.next_row()?.is_some() {
            rows += 1;
            if rows > PEOPLE_MAX {
                let message = format!("has more than {PEOPLE_MAX} rows; import it in parts");
                return Err(Error::invalid("file", "too_many_rows", message));
            }
        }
        Ok(Self {
            rows,
            content: Content::Table(source),
        })
    }

    /// Sends the rows in batches from a blocking thread. Stops early when the receiver is dropped.
    fn send(self, sending: &mut Sending) -> Result<()> {
        match self.content {
            Content::List(rows) => rows.into_iter().try_for_each(|row| sending.send(row))?,
            Content::Table(source) => {
                let mut sheet = Sheet::begin(source.open()?, None)?;
                let columns = Columns::of(&people::LAYOUT, sheet.next_row()?)?;
                while let Some(row) = sheet.next_row()? {
                    let cells = row.cells.map_err(|problem| vec![problem]);
                    let record = cells.and_then(|cells| {
                        let cells = columns.row(&cells).map_err(|problem| vec![problem])?;
                        Said::by(cells).judged()
                    });
                    sending.send(Numbered {
                        file: None,
                        number: row.number,
                        record,
                    })?;
                }
            }
            Content::OneRoster(source, overview) => one_roster::send(&mut Archive::open(&source)?, &overview, sending)?,
        }
        sending.flush()
    }
}

/// The bounded channel from the thread that reads rows to the task that writes them.
pub struct Sending {
    units: mpsc::Sender<Vec<Numbered>>,
    unit: Vec<Numbered>,
    begun: HashSet<&'static str>,
}

impl Sending {
    fn to(units: mpsc::Sender<Vec<Numbered>>) -> Self {
        Self {
            units,
            unit: Vec::with_capacity(UNIT),
            begun: HashSet::new(),
        }
    }

    /// Returns whether this is the first pass over a file.
    fn begins(&mut self, file: &'static str) -> bool {
        self.begun.insert(file)
    }

    fn send(&mut self, row: Numbered) -> Result<()> {
        self.unit.push(row);
        if self.unit.len() < UNIT { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        let unit = std::mem::replace(&mut self.unit, Vec::with_capacity(UNIT));
        // The receiver has stopped, so the error is never reported.
        self.units.blocking_send(unit).map_err(|_| Error::NotReady)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn a_school_year_begins_in_august() {
        for (day, year) in [
            ("2026-07-31", "2025/2026"),
            ("2026-08-01", "2026/2027"),
            ("2027-01-01", "2026/2027"),
        ] {
            let now = Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap();
            assert_eq!(school_year(now), year);
        }
    }
}
