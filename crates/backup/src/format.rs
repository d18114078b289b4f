//! The archive format: a tar with known entries in a fixed order. Entry names are never used as paths, and the last
//! entry is the SHA-256 of all bytes before it, so that any modification is detected.
//!
//! ```text
//! backup.json             format, release, version of the schema
//! rows/<table>.jsonl.gz   one row per line, referenced tables first
//! files.jsonl.gz          key, size and SHA-256 of every file, sorted by key
//! files/<line>            the bytes of the file on that line
//! manifest.json           rows, sizes and SHA-256 of the parts; missing and damaged files
//! SHA256                  of all bytes before it
//! ```

use std::io::{self, Read, Write};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use adapters::blob_store::hex;
use db::dump::{Cell, ColumnType, DumpTable, TableColumn};

/// The format that this release writes, and the only one that it reads.
pub(super) const FORMAT: u32 = 1;
pub(super) const HEADER: &str = "backup.json";
pub(super) const FILE_LIST: &str = "files.jsonl.gz";
pub(super) const MANIFEST: &str = "manifest.json";
const CHECKSUM_ENTRY: &str = "SHA256";
/// The size in bytes of the last entry, with the two empty blocks that end a tar.
pub(super) const CHECKSUM_ENTRY_BYTES: u64 = 2048;
/// The maximum size of a row in bytes. A message has at most 4,000 characters, a log entry 16 KiB.
pub(super) const LINE_MAX: u64 = 64 << 20;
/// The number of missing or damaged files at which a backup fails, because something else is wrong.
pub(super) const FAULTS_MAX: usize = 1000;

/// The first entry of an archive.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveHeader {
    pub format: u32,
    /// The release that wrote the archive.
    pub release: String,
    pub schema: i64,
    /// The database that the rows were read from.
    pub database: String,
    /// When the rows were read.
    pub taken_at: String,
}

/// The last entry of an archive before the checksum.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The tables, in the order of the archive.
    pub tables: Vec<TablePart>,
    /// Whether the bytes of files are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_files: bool,
    #[serde(flatten)]
    pub archived: ArchivedFiles,
}

/// The files of an archive.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchivedFiles {
    /// The number of files that rows refer to.
    pub files_named: u64,
    /// The number of files in the archive.
    pub files: u64,
    /// The total size of the files in bytes.
    pub bytes: u64,
    pub list: ArchivePart,
    /// The keys of files that did not exist.
    pub missing: Vec<String>,
    /// The keys of files in the archive whose checksum is wrong.
    pub damaged: Vec<String>,
}

impl ArchivedFiles {
    /// Returns whether every file was found undamaged. An archive with missing files is still usable; its readers are
    /// warned.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty()
    }
}

/// The rows of one table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TablePart {
    pub name: String,
    /// The columns, in the order of the cells on a line.
    pub columns: Vec<TableColumn>,
    pub rows: u64,
    #[serde(flatten)]
    pub part: ArchivePart,
}

/// The size and checksum of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivePart {
    /// The size in the archive, in bytes.
    pub size: u64,
    /// The decompressed size in bytes.
    pub unpacked: u64,
    /// The hexadecimal SHA-256 of the bytes in the archive.
    pub sha256: String,
}

/// A line of the list of files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileEntry {
    pub key: String,
    /// The size in bytes, if the row contains it.
    pub size: Option<i64>,
    /// The hexadecimal SHA-256, if the row contains it.
    pub sha256: Option<String>,
}

impl TablePart {
    pub(super) fn table(&self) -> DumpTable {
        DumpTable {
            name: self.name.clone(),
            columns: self.columns.clone(),
        }
    }
}

/// Returns the entry name of a table.
pub(super) fn rows_name(table: &str) -> String {
    format!("rows/{table}.jsonl.gz")
}

/// Returns the entry name of a file by its line in the list.
pub(super) fn file_name(line: u64) -> String {
    format!("files/{line:010}")
}

/// Builds the header of an entry; deterministic for the same name and size.
pub(super) fn tar_header(name: &str, size: u64) -> anyhow::Result<tar::Header> {
    let mut tar_header = tar::Header::new_ustar();
    tar_header.set_entry_type(tar::EntryType::Regular);
    tar_header.set_path(name).with_context(|| name.to_owned())?;
    tar_header.set_size(size);
    tar_header.set_mode(0o600);
    tar_header.set_mtime(0);
    tar_header.set_cksum();
    Ok(tar_header)
}

/// Returns the padding of the last block of an entry.
pub(super) fn padding(size: u64) -> &'static [u8] {
    static NOTHING: [u8; 512] = [0; 512];
    let over = usize::try_from(size % 512).unwrap_or(0);
    if over == 0 { &[] } else { &NOTHING[over..] }
}

/// Returns the end of an archive with this checksum, to the last byte.
pub(super) fn checksum_entry(digest: &[u8]) -> anyhow::Result<Vec<u8>> {
    let text = format!("{}\n", hex(digest));
    let mut end = tar_header(CHECKSUM_ENTRY, text.len() as u64)?.as_bytes().to_vec();
    end.extend_from_slice(text.as_bytes());
    end.extend_from_slice(padding(text.len() as u64));
    end.resize(usize::try_from(CHECKSUM_ENTRY_BYTES)?, 0);
    Ok(end)
}

/// Serializes a row to a line.
pub(super) fn write_row(row: &[Cell], line: &mut Vec<u8>) -> anyhow::Result<()> {
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
            // As text, because JSON parsers round numbers differently.
            Cell::Real(number) => serde_json::to_writer(&mut *line, &format!("{number:?}"))?,
        }
    }
    line.extend_from_slice(b"]\n");
    Ok(())
}

/// Parses a line as a row.
pub(super) fn parse_row(line: &[u8], columns: &[TableColumn]) -> anyhow::Result<Vec<Cell>> {
    use serde_json::Value;
    let values: Vec<Value> = serde_json::from_slice(line)?;
    if values.len() != columns.len() {
        bail!("a row has {} values and not {}", values.len(), columns.len());
    }
    let cells = values.into_iter().zip(columns).map(|(value, column)| {
        let cell = match (value, column.kind) {
            (Value::Null, _) => Some(Cell::Null),
            (Value::String(text), ColumnType::Text) => Some(Cell::Text(text)),
            (Value::Number(number), ColumnType::Int) => number.as_i64().map(Cell::Int),
            (Value::Bool(truth), ColumnType::Bool) => Some(Cell::Bool(truth)),
            (Value::String(text), ColumnType::Real) => text.parse().ok().map(Cell::Real),
            _ => None,
        };
        cell.with_context(|| format!("column {} holds something else", column.name))
    });
    cells.collect()
}

/// Counts and hashes bytes as they pass.
pub(super) struct HashingStream<T> {
    pub(super) inner: T,
    pub(super) size: u64,
    digest: Sha256,
}

impl<T> HashingStream<T> {
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

impl<T: Read> Read for HashingStream<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count(&buffer[..count]);
        Ok(count)
    }
}

impl<T: Write> Write for HashingStream<T> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(buffer)?;
        self.count(&buffer[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
