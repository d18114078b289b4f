//! Reads CSV row by row with constant memory, whatever the input: a row that is too long or too wide is skipped and
//! reported.

use std::io::Read;

use csv_core::{ReadRecordResult, ReaderBuilder};
use domain::import::RowProblem;

use common::error::{Error, Result};

/// The size of the read buffer in bytes.
const PIECE: usize = 64 * 1024;
/// The maximum size of a row in bytes.
const ROW_MAX: usize = 64 * 1024;
/// The maximum number of cells in a row.
const CELLS_MAX: usize = 256;

/// The maximum number of blank rows; spreadsheets append some.
const BLANK_MAX: usize = 10_000;
/// The maximum number of consecutive line break bytes, which the parser skips.
const BLANK_BYTES_MAX: usize = 1 << 20;

/// A CSV table.
pub struct CsvReader<R> {
    source: R,
    parser: csv_core::Reader,
    chunk: Vec<u8>,
    buffered: std::ops::Range<usize>,
    is_at_end: bool,
    cells: Vec<u8>,
    ends: Vec<usize>,
    number: usize,
    blank: usize,
}

/// A row of a table.
pub struct TableRow {
    /// The row number as in a spreadsheet: the header is row 1, blank lines do not count.
    pub number: usize,
    /// The cells, or the reason why the row cannot be parsed.
    pub cells: std::result::Result<Vec<String>, RowProblem>,
}

impl<R: Read> CsvReader<R> {
    /// Opens a table. Without a separator, the header decides between `,` and `;`.
    pub fn open(mut source: R, separator: Option<u8>) -> Result<Self> {
        let mut chunk = vec![0; PIECE];
        let read = fill(&mut source, &mut chunk)?;
        let separator = separator.unwrap_or_else(|| detect_separator(&chunk[..read]));
        Ok(Self {
            source,
            parser: ReaderBuilder::new().delimiter(separator).build(),
            chunk,
            buffered: 0..read,
            is_at_end: read == 0,
            cells: vec![0; ROW_MAX],
            ends: vec![0; CELLS_MAX],
            number: 0,
            blank: 0,
        })
    }

    /// Returns the next row that is not blank.
    pub fn next_row(&mut self) -> Result<Option<TableRow>> {
        loop {
            let Some(cells) = self.read()? else { return Ok(None) };
            self.number += 1;
            let is_blank = matches!(&cells, Ok(cells) if cells.iter().all(|cell| cell.trim().is_empty()));
            if !is_blank {
                let number = self.number;
                return Ok(Some(TableRow { number, cells }));
            }
            self.blank += 1;
            if self.blank > BLANK_MAX {
                return Err(too_many_blank_rows());
            }
        }
    }

    fn read(&mut self) -> Result<Option<std::result::Result<Vec<String>, RowProblem>>> {
        let (mut filled, mut ended, mut quotes, mut skipped) = (0, 0, 0_usize, 0);
        let mut problem = None;
        loop {
            if self.buffered.is_empty() && !self.is_at_end {
                let read = fill(&mut self.source, &mut self.chunk)?;
                (self.buffered, self.is_at_end) = (0..read, read == 0);
            }
            let input = &self.chunk[self.buffered.clone()];
            let (result, read, wrote, ends) =
                self.parser
                    .read_record(input, &mut self.cells[filled..], &mut self.ends[ended..]);
            quotes += count_byte(&input[..read], b'"');
            self.buffered.start += read;
            filled += wrote;
            ended += ends;
            match result {
                ReadRecordResult::InputEmpty if filled == 0 && ended == 0 && problem.is_none() => {
                    skipped += read;
                    if skipped > BLANK_BYTES_MAX {
                        return Err(too_many_blank_rows());
                    }
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    problem.get_or_insert_with(|| RowProblem::new("", "too_long", "is longer than a row may be"));
                    (filled, ended) = (0, 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    problem.get_or_insert_with(|| RowProblem::new("", "columns", "has more cells than a row may have"));
                    (filled, ended) = (0, 0);
                }
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(None),
            }
        }
        if quotes % 2 == 1 {
            problem.get_or_insert_with(|| RowProblem::new("", "quotes", "has a quote that is never closed"));
        }
        if let Some(problem) = problem {
            return Ok(Some(Err(problem)));
        }
        let mut begin = 0;
        let mut cells = Vec::with_capacity(ended);
        for end in &self.ends[..ended] {
            let cell = std::str::from_utf8(&self.cells[begin..*end]);
            // Another encoding makes all names wrong, so the whole file is rejected.
            let cell = cell.map_err(|_| Error::UnsupportedFileType("the table is not UTF-8 text".to_owned()))?;
            cells.push(cell.to_owned());
            begin = *end;
        }
        Ok(Some(Ok(cells)))
    }
}

/// Such a file keeps the import busy without any effect.
fn too_many_blank_rows() -> Error {
    let message = format!("has more than {BLANK_MAX} blank rows");
    Error::invalid("file", "blank_rows", message)
}

/// Reads until the buffer is full or the source ends.
fn fill(source: &mut impl Read, chunk: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match source.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // A corrupted archive. Errors of our own storage occur when the file is opened.
            Err(error) => return Err(Error::UnsupportedFileType(format!("it cannot be read: {error}"))),
        }
    }
    Ok(filled)
}

/// Detects the separator in the header: spreadsheets in some locales use `;`.
fn detect_separator(text: &[u8]) -> u8 {
    let header = text
        .split(|byte| matches!(byte, b'\r' | b'\n'))
        .next()
        .unwrap_or_default();
    if count_byte(header, b';') > count_byte(header, b',') {
        b';'
    } else {
        b','
    }
}

fn count_byte(text: &[u8], wanted: u8) -> usize {
    text.iter().map(|byte| usize::from(*byte == wanted)).sum()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    fn rows(text: &[u8]) -> Vec<(usize, std::result::Result<Vec<String>, String>)> {
        let mut reader = CsvReader::open(text, None).unwrap();
        std::iter::from_fn(|| reader.next_row().unwrap())
            .map(|row| (row.number, row.cells.map_err(|problem| problem.code)))
            .collect()
    }

    fn cells(cells: &[&str]) -> std::result::Result<Vec<String>, String> {
        cells.iter().map(|cell| Ok((*cell).to_owned())).collect()
    }

    #[test]
    fn csv_reader_accepts_all_line_ends_and_separators() {
        for text in [
            "a,b\nc,d",
            "a,b\r\nc,d\r\n",
            "a,b\rc,d\r",
            "a;b\nc;d\n",
            "\u{feff}a,b\nc,d\n",
        ] {
            assert_eq!(
                rows(text.as_bytes()),
                [(1, cells(&["a", "b"])), (2, cells(&["c", "d"]))],
                "{text:?}"
            );
        }
        assert_eq!(rows(b"a;b\n\"x;y\";z\n")[1], (2, cells(&["x;y", "z"])));
        assert_eq!(rows(b"a,b\n,\n\nc,d\n")[1], (3, cells(&["c", "d"])));
        assert!(rows(b"").is_empty());
    }

    #[test]
    fn oversized_csv_rows_are_reported_and_skipped() {
        let long = format!("a,b\n{},x\nc,d\n", "y".repeat(ROW_MAX * 3));
        assert_eq!(
            rows(long.as_bytes())[1..],
            [(2, Err("too_long".to_owned())), (3, cells(&["c", "d"]))]
        );
        let wide = format!("a,b\n{}\nc,d\n", ",x".repeat(CELLS_MAX * 40));
        assert_eq!(
            rows(wide.as_bytes())[1..],
            [(2, Err("columns".to_owned())), (3, cells(&["c", "d"]))]
        );
        let open = b"a,b\n\"never closed,x\nc,d\n";
        assert_eq!(rows(open)[1..], [(2, Err("quotes".to_owned()))]);
    }

    #[test]
    fn number_of_blank_csv_rows_is_limited() {
        let read = |text: &str| {
            let mut reader = CsvReader::open(text.as_bytes(), None).unwrap();
            loop {
                match reader.next_row() {
                    Ok(Some(_)) => {}
                    Ok(None) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
        };
        let table = |blank: &str, count: usize| format!("a,b\nc,d\n{}e,f\n", blank.repeat(count));
        assert!(read(&table(",\n", BLANK_MAX)).is_ok());
        assert!(matches!(read(&table(",\n", BLANK_MAX + 1)), Err(Error::Invalid(_))));
        assert!(read(&table("\n", BLANK_BYTES_MAX / 2)).is_ok());
        assert!(matches!(
            read(&table("\n", BLANK_BYTES_MAX + 2 * PIECE)),
            Err(Error::Invalid(_))
        ));
    }

    #[test]
    fn csv_in_another_encoding_is_rejected() {
        let mut reader = CsvReader::open(b"a,b\nGr\xfc\xdfe,x\n".as_slice(), None).unwrap();
        reader.next_row().unwrap();
        assert!(matches!(reader.next_row(), Err(Error::UnsupportedFileType(_))));
    }

    #[test]
    fn csv_row_may_span_chunks() {
        let text = format!("a,b\n{}", "aaaaaaaaaaaaaaaaaaaa,\"b\"\"b\"\r\n".repeat(20_000));
        let found = rows(text.as_bytes());
        assert_eq!(found.len(), 20_001);
        assert!(
            found[1..]
                .iter()
                .all(|(_, row)| *row == cells(&["aaaaaaaaaaaaaaaaaaaa", "b\"b"]))
        );
    }
}
