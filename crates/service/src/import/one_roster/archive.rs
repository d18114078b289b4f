//! Reads the files of a OneRoster archive row by row, without extracting them to disk.

use std::io::{self, BufReader, Read};

use domain::import::RowProblem;
use zip::ZipArchive;

use crate::import::csv_reader::CsvReader;
use crate::import::header::{Header, RowCells, TableLayout};
use adapters::blob_store::{FileSource, ReadSeek};
use common::error::{Error, Result};

/// The files in the two versions of the standard. Others are rejected, because they may be nested archives.
const KNOWN_FILES: [&str; 22] = [
    "academicSessions",
    "categories",
    "classes",
    "classResources",
    "courses",
    "courseResources",
    "demographics",
    "enrollments",
    "lineItemLearningObjectiveIds",
    "lineItems",
    "lineItemScoreScales",
    "manifest",
    "orgs",
    "resources",
    "resultLearningObjectiveIds",
    "results",
    "resultScoreScales",
    "roles",
    "scoreScales",
    "userProfiles",
    "userResources",
    "users",
];

/// A OneRoster archive.
pub struct OneRosterArchive {
    zip: ZipArchive<BufReader<Box<dyn ReadSeek>>>,
}

impl OneRosterArchive {
    /// Opens an archive that passed the security checks, and rejects files that are not part of an export.
    pub fn open(source: &FileSource) -> Result<Self> {
        let zip = ZipArchive::new(BufReader::new(source.open()?)).map_err(damaged)?;
        for name in zip.file_names() {
            let name = name.map_err(damaged)?;
            let is_known = KNOWN_FILES
                .iter()
                .any(|known| name.strip_suffix(".csv").is_some_and(|stem| stem == *known));
            if !is_known {
                let name: String = name.chars().take(80).collect();
                return Err(Error::invalid(name, "unknown", "is no file of a OneRoster export"));
            }
        }
        Ok(Self { zip })
    }

    /// Returns whether the archive contains this file.
    pub fn has(&self, file: &str) -> bool {
        self.zip.index_for_name(file).is_some()
    }

    /// Calls `read` for every row of a file with its number; does nothing if the file does not exist.
    pub fn for_each_row(
        &mut self,
        layout: &TableLayout,
        limit: usize,
        mut read: impl FnMut(usize, std::result::Result<RowCells<'_>, RowProblem>) -> Result<()>,
    ) -> Result<()> {
        if !self.has(layout.table) {
            return Ok(());
        }
        let entry = self.zip.by_name(layout.table).map_err(damaged)?;
        let left = entry.size();
        let mut reader = CsvReader::open(SizeLimited { inner: entry, left }, Some(b','))?;
        let header = Header::parse(layout, reader.next_row()?)?;
        let mut rows = 0;
        while let Some(row) = reader.next_row()? {
            rows += 1;
            if rows > limit {
                return Err(Error::invalid(
                    layout.table,
                    "too_many_rows",
                    format!("has more than {limit} rows"),
                ));
            }
            match row.cells {
                Ok(cells) => read(row.number, header.row(&cells))?,
                Err(problem) => read(row.number, Err(problem))?,
            }
        }
        Ok(())
    }

    /// Rejects a file without a column that only this archive needs.
    pub fn check_columns(&mut self, layout: &TableLayout) -> Result<()> {
        let entry = self.zip.by_name(layout.table).map_err(damaged)?;
        let left = entry.size();
        let mut reader = CsvReader::open(SizeLimited { inner: entry, left }, Some(b','))?;
        Header::parse(layout, reader.next_row()?).map(drop)
    }
}

/// Reads no more of an entry than its declared size, which was checked before.
struct SizeLimited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for SizeLimited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other("it unpacks to more than it declares")),
        }
        Ok(read)
    }
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::UnsupportedFileType(format!("the archive is damaged: {error}"))
}
