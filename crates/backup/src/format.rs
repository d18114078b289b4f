//! What an archive looks like: a tar of known parts in a known order. Names in it are never taken for paths, and the last
//! entry is the SHA-256 of every byte before it, so that no bit of an archive can change unseen.
//!
//! ```text
//! backup.json             format, release, version of the schema
//! rows/<table>.jsonl.gz   one row on each line, tables that others refer to first
//! files.jsonl.gz          key, size and SHA-256 of every file, by key
//! files/<line>            the bytes of the file of that line
//! manifest.json           rows, sizes and SHA-256 of the parts; what could not be read
//! SHA256                  of everything before it
//! ```

use std::io::{self, Read, Write};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use adapters::files::hex;
use db::dump::{Cell, Column, Kind, Table};

/// The format this release writes, and the only one it reads.
pub(super) const FORMAT: u32 = 1;
pub(super) const HEADER: &str = "backup.json";
pub(super) const LIST: &str = "files.jsonl.gz";
pub(super) const MANIFEST: &str = "manifest.json";
const SEAL: &str = "SHA256";
/// Bytes of the last entry with the two empty blocks that end a tar.
pub(super) const SEAL_BYTES: u64 = 2048;
/// The longest row; a message has 4,000 characters, a record 16 KiB.
pub(super) const LINE_MAX: u64 = 64 << 20;
/// How many files may be missing or damaged before a backup says that something else is wrong.
pub(super) const FAULTS_MAX: usize = 1000;

/// What an archive begins with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The format of the archive.
    pub format: u32,
    /// The release that wrote it.
    pub release: String,
    /// The version of the schema.
    pub schema: i64,
    /// Which database the rows came from.
    pub database: String,
    /// When the rows were read.
    pub taken_at: String,
}

/// What an archive ends with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The rows, in the order of the archive.
    pub tables: Vec<TablePart>,
    /// How many files rows name.
    pub files_named: u64,
    /// How many of them are here.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The list of files.
    pub list: Part,
    /// Keys of files that were not there.
    pub missing: Vec<String>,
    /// Keys of files that are here, but other than they were written.
    pub damaged: Vec<String>,
}

/// The rows of one table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TablePart {
    /// The table.
    pub name: String,
    /// What stands on a line, in this order.
    pub columns: Vec<Column>,
    /// How many lines.
    pub rows: u64,
    /// The bytes.
    #[serde(flatten)]
    pub part: Part,
}

/// Bytes of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// As they stand in the archive.
    pub size: u64,
    /// Unpacked.
    pub unpacked: u64,
    /// Hexadecimal SHA-256, as they stand in the archive.
    pub sha256: String,
}

/// A line of the list of files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileLine {
    /// The key.
    pub key: String,
    /// Bytes, where the row says so.
    pub size: Option<i64>,
    /// Hexadecimal SHA-256, where the row says so.
    pub sha256: Option<String>,
}

impl TablePart {
    pub(super) fn table(&self) -> Table {
        Table {
            name: self.name.clone(),
            columns: self.columns.clone(),
        }
    }
}

/// The entry of a table.
pub(super) fn rows_name(table: &str) -> String {
    format!("rows/{table}.jsonl.gz")
}

/// The entry of a file, by its line in the list.
pub(super) fn file_name(line: u64) -> String {
    format!("files/{line:010}")
}

/// The head of an entry: the same bytes for the same name and size.
pub(super) fn head(name: &str, size: u64) -> anyhow::Result<tar::Header> {
    let mut head = tar::Header::new_ustar();
    head.set_entry_type(tar::EntryType::Regular);
    head.set_path(name).with_context(|| name.to_owned())?;
    head.set_size(size);
    head.set_mode(0o600);
    head.set_mtime(0);
    head.set_cksum();
    Ok(head)
}

/// What fills the last block of an entry.
pub(super) fn padding(size: u64) -> &'static [u8] {
    static NOTHING: [u8; 512] = [0; 512];
    let over = usize::try_from(size % 512).unwrap_or(0);
    if over == 0 { &[] } else { &NOTHING[over..] }
}

/// The end of an archive with this digest, to the last byte.
pub(super) fn seal(digest: &[u8]) -> anyhow::Result<Vec<u8>> {
    let text = format!("{}\n", hex(digest));
    let mut end = head(SEAL, text.len() as u64)?.as_bytes().to_vec();
    end.extend_from_slice(text.as_bytes());
    end.extend_from_slice(padding(text.len() as u64));
    end.resize(usize::try_from(SEAL_BYTES)?, 0);
    Ok(end)
}

/// A row as a line.
pub(super) fn to_line(row: &[Cell], line: &mut Vec<u8>) -> anyhow::Result<()> {
    line.push(b'[');
    for (index, cell) in row.iter().enumerate() {
        if index > 0 {
            line.push(b',');
        }
        match cell {
            Cell::Null => line.extend_from_slice(b"null"),
            Cell::Text(text) => serde_json::to_writer(&mut *line, text)?,
            Cell::Int(number) => serde_json::to_writer(&mut *line, number)?,
            Cell::Bool(truth) => serde_json::to_writer(&mut *line, truth)?,
            // As text: every reader of JSON rounds numbers in its own way.
            Cell::Real(number) => serde_json::to_writer(&mut *line, &format!("{number:?}"))?,
        }
    }
    line.extend_from_slice(b"]\n");
    Ok(())
}

/// A line as a row.
pub(super) fn of_line(line: &[u8], columns: &[Column]) -> anyhow::Result<Vec<Cell>> {
    use serde_json::Value;
    let values: Vec<Value> = serde_json::from_slice(line)?;
    if values.len() != columns.len() {
        bail!("a row has {} values and not {}", values.len(), columns.len());
    }
    let cells = values.into_iter().zip(columns).map(|(value, column)| {
        let cell = match (value, column.kind) {
            (Value::Null, _) => Some(Cell::Null),
            (Value::String(text), Kind::Text) => Some(Cell::Text(text)),
            (Value::Number(number), Kind::Int) => number.as_i64().map(Cell::Int),
            (Value::Bool(truth), Kind::Bool) => Some(Cell::Bool(truth)),
            (Value::String(text), Kind::Real) => text.parse().ok().map(Cell::Real),
            _ => None,
        };
        cell.with_context(|| format!("column {} holds something else", column.name))
    });
    cells.collect()
}

/// Bytes on their way, counted and hashed.
pub(super) struct Counted<T> {
    pub(super) inner: T,
    pub(super) size: u64,
    digest: Sha256,
}

impl<T> Counted<T> {
    pub(super) fn new(inner: T) -> Self {
        Self {
            inner,
            size: 0,
            digest: Sha256::new(),
        }
    }

    pub(super) fn digest(&self) -> Vec<u8> {
        self.digest.clone().finalize().to_vec()
    }

    pub(super) fn sha256(&self) -> String {
        hex(&self.digest())
    }

    fn count(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.digest.update(bytes);
    }
}

impl<T: Read> Read for Counted<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count(&buffer[..count]);
        Ok(count)
    }
}

impl<T: Write> Write for Counted<T> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(buffer)?;
        self.count(&buffer[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
