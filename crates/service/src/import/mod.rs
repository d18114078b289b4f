//! Imports users from a file: a CSV table, a OneRoster archive, or a list in a request body. A file is read twice and
//! streamed row by row: first to validate it, then to apply its rows in short transactions. So memory does not depend
//! on the number of rows, and other organizations are not delayed.

mod csv_reader;
pub mod grades;
mod header;
mod one_roster;
mod people;
mod run;

use std::collections::HashSet;

use domain::access::MemberRole;
use domain::file::FileType;
use domain::import::{PEOPLE_MAX, RowProblem};
use domain::roster_source::RosterRoles;
use domain::time::Timestamp;
use tokio::sync::mpsc;

use self::csv_reader::CsvReader;
use self::header::Header;
pub use self::one_roster::RosterSnapshot;
use self::one_roster::{ArchiveOverview, OneRosterArchive};
pub use self::people::PersonRow;
pub use self::run::{Import, RowReport, RowSubject};
pub use crate::actions::imports::{ImportRecord, ImportRules};
use adapters::blob_store::FileSource;
use common::error::{Error, Result};

/// The number of rows in one transaction.
const BATCH_ROWS: usize = 200;

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
pub struct NumberedRow {
    file: Option<&'static str>,
    number: usize,
    record: std::result::Result<ImportRecord, Vec<RowProblem>>,
}

/// A validated file or list.
pub struct ImportPlan {
    rows: usize,
    content: PlanContent,
    /// The people of a roster that are imported; `None` for other imports.
    roles: Option<RosterRoles>,
}

enum PlanContent {
    Table(FileSource),
    OneRoster(FileSource, Box<ArchiveOverview>),
    List(Vec<NumberedRow>),
}

impl ImportPlan {
    /// Reads a file once and rejects it if it is invalid as a whole; nothing is written. Classes of an archive
    /// without school years belong to `this_year`.
    pub async fn from_file(source: FileSource, kind: FileType, this_year: String) -> Result<Self> {
        let read = tokio::task::spawn_blocking(move || match kind {
            FileType::Csv => Self::from_table(source),
            FileType::Zip => {
                let overview = Box::new(ArchiveOverview::read(&mut OneRosterArchive::open(&source)?, this_year)?);
                Ok(Self {
                    rows: overview.rows,
                    content: PlanContent::OneRoster(source, overview),
                    roles: None,
                })
            }
            other => Err(Error::UnsupportedFileType(format!(
                "an import is a .csv or .zip file, no {other}"
            ))),
        });
        read.await.map_err(|error| Error::Internal(error.into()))?
    }

    /// Creates a plan from users in a request body, numbered from 1.
    pub fn from_list<'a>(people: impl IntoIterator<Item = PersonRow<'a>>) -> Self {
        let rows: Vec<NumberedRow> = people
            .into_iter()
            .enumerate()
            .map(|(index, row)| NumberedRow {
                file: None,
                number: index + 1,
                record: row.parse(),
            })
            .collect();
        Self {
            rows: rows.len(),
            content: PlanContent::List(rows),
            roles: None,
        }
    }

    /// Creates a plan from records, numbered from 1.
    pub fn from_records(records: Vec<ImportRecord>) -> Self {
        let rows = records.into_iter().enumerate().map(|(index, record)| NumberedRow {
            file: None,
            number: index + 1,
            record: Ok(record),
        });
        let rows: Vec<NumberedRow> = rows.collect();
        Self {
            rows: rows.len(),
            content: PlanContent::List(rows),
            roles: None,
        }
    }

    /// Restricts the plan to what a roster source may change: people of these roles. Removals are left to the caller,
    /// who knows which people the source brought.
    #[must_use]
    pub const fn of_roster(mut self, roles: RosterRoles) -> Self {
        self.roles = Some(roles);
        self
    }

    fn from_table(source: FileSource) -> Result<Self> {
        let mut reader = CsvReader::open(source.open()?, None)?;
        Header::parse(&people::LAYOUT, reader.next_row()?)?;
        let mut rows = 0;
        while reader.next_row()?.is_some() {
            rows += 1;
            if rows > PEOPLE_MAX {
                let message = format!("has more than {PEOPLE_MAX} rows; import it in parts");
                return Err(Error::invalid("file", "too_many_rows", message));
            }
        }
        Ok(Self {
            rows,
            content: PlanContent::Table(source),
            roles: None,
        })
    }

    /// Sends the rows in batches from a blocking thread. Stops early when the receiver is dropped.
    fn send(self, rows_out: &mut RowSender) -> Result<()> {
        rows_out.roles = self.roles;
        match self.content {
            PlanContent::List(rows) => rows.into_iter().try_for_each(|row| rows_out.send(row))?,
            PlanContent::Table(source) => {
                let mut reader = CsvReader::open(source.open()?, None)?;
                let header = Header::parse(&people::LAYOUT, reader.next_row()?)?;
                while let Some(row) = reader.next_row()? {
                    let cells = row.cells.map_err(|problem| vec![problem]);
                    let record = cells.and_then(|cells| {
                        let cells = header.row(&cells).map_err(|problem| vec![problem])?;
                        PersonRow::from_cells(cells).parse()
                    });
                    rows_out.send(NumberedRow {
                        file: None,
                        number: row.number,
                        record,
                    })?;
                }
            }
            PlanContent::OneRoster(source, overview) => {
                one_roster::send(&mut OneRosterArchive::open(&source)?, &overview, rows_out)?;
            }
        }
        rows_out.flush()
    }
}

/// The bounded channel from the thread that reads rows to the task that writes them.
pub struct RowSender {
    batches: mpsc::Sender<Vec<NumberedRow>>,
    batch: Vec<NumberedRow>,
    started_files: HashSet<&'static str>,
    roles: Option<RosterRoles>,
}

impl RowSender {
    fn new(batches: mpsc::Sender<Vec<NumberedRow>>) -> Self {
        Self {
            batches,
            batch: Vec::with_capacity(BATCH_ROWS),
            started_files: HashSet::new(),
            roles: None,
        }
    }

    /// Returns whether this is the first pass over a file.
    fn start_file(&mut self, file: &'static str) -> bool {
        self.started_files.insert(file)
    }

    fn send(&mut self, mut row: NumberedRow) -> Result<()> {
        if let (Some(roles), Ok(record)) = (self.roles, &mut row.record)
            && is_left_out(roles, record)
        {
            *record = ImportRecord::Ignored;
        }
        self.batch.push(row);
        if self.batch.len() < BATCH_ROWS {
            Ok(())
        } else {
            self.flush()
        }
    }

    fn flush(&mut self) -> Result<()> {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH_ROWS));
        // The receiver has stopped, so the error is never reported.
        self.batches.blocking_send(batch).map_err(|_| Error::NotReady)
    }
}

/// Returns whether a record of a roster is not imported.
fn is_left_out(roles: RosterRoles, record: &ImportRecord) -> bool {
    match record {
        ImportRecord::Person(person) => !roles.includes(person.role),
        ImportRecord::Enrollment(place) => !roles.includes(if place.is_teacher {
            MemberRole::Teacher
        } else {
            MemberRole::Student
        }),
        ImportRecord::RemovedPerson(_) | ImportRecord::RemovedClass(_) => true,
        ImportRecord::Class(_) | ImportRecord::Homeroom(_) | ImportRecord::Ignored => false,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn school_year_starts_in_august() {
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
