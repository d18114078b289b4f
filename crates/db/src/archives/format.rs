//! The format of archives, version 1: a sequence of chunks and a manifest. A chunk is a zlib stream of lines of JSON,
//! encoded as base64: an object names a table with its columns and their types, and each array after it is one row. The
//! manifest describes the content and contains the SHA-256 of all uncompressed chunks; its own SHA-256 is the seal.
//! See docs/undo.md#format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

use aws_lc_rs::digest::{Context, SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::deleted_object::DeletedNoun;
use domain::domain_error::DomainError;
use domain::time::Timestamp;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document_log::packs;

use super::tables::ArchivedTable;
use crate::dump::school::{SchoolTable, list_entries};
use crate::dump::{Cell, ColumnType};
use common::error::{Error, Result};

/// The name of the format.
pub const FORMAT: &str = "groupwork-archive";
/// The version of the format that this release writes, and the newest that it reads.
pub const VERSION: i64 = 1;
/// The size at which a chunk ends, in bytes before compression.
const CHUNK_BYTES: usize = 256 * 1024;
/// The maximum size of a chunk in bytes after decompression: an archive may come from another installation. A chunk
/// exceeds [`CHUNK_BYTES`] by one row.
const CHUNK_MAX_BYTES: u64 = 128 << 20;

/// The description of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveManifest {
    pub format: String,
    pub version: i64,
    /// The version of the schema of the rows.
    pub schema: i64,
    pub organization: String,
    pub noun: DeletedNoun,
    pub object: String,
    pub created_at: Timestamp,
    /// Number of rows by table.
    pub tables: BTreeMap<String, i64>,
    /// Number of files.
    pub files: i64,
    /// Size of the files.
    pub bytes: i64,
    /// The subjects that the rows refer to, by id.
    pub subjects: BTreeMap<String, String>,
    pub chunks: i64,
    /// Hexadecimal SHA-256 of the uncompressed chunks.
    pub sha256: String,
}

impl ArchiveManifest {
    /// Returns the stored text and its seal.
    pub fn sealed(&self) -> Result<(String, String)> {
        let text = serde_json::to_string(self)?;
        let seal = sha256(text.as_bytes());
        Ok((text, seal))
    }

    /// Reads a stored manifest; [`DomainError::ArchiveDamaged`] if the seal does not match.
    pub fn open(text: &str, seal: &str) -> Result<Self> {
        if sha256(text.as_bytes()) != seal {
            return Err(DomainError::ArchiveDamaged.into());
        }
        let manifest: Self = serde_json::from_str(text).map_err(|_| DomainError::ArchiveDamaged)?;
        if manifest.format != FORMAT || manifest.version > VERSION {
            return Err(DomainError::ArchiveDamaged.into());
        }
        Ok(manifest)
    }

    /// Returns the number of rows of a table.
    pub fn rows(&self, table: &str) -> i64 {
        self.tables.get(table).copied().unwrap_or(0)
    }
}

/// A table in an archive: the columns of its rows as they were when the archive was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowHeader {
    pub table: String,
    pub columns: Vec<(String, ColumnType)>,
}

impl RowHeader {
    pub fn of(table: &ArchivedTable) -> Self {
        let columns = table.columns().iter();
        Self {
            table: table.name.to_owned(),
            columns: columns.map(|column| (column.name.clone(), column.kind)).collect(),
        }
    }

    fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|(name, _)| name == column)
    }
}

/// A row of an archive.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedRow<'h> {
    pub header: &'h RowHeader,
    pub cells: Vec<Cell>,
}

impl ArchivedRow<'_> {
    /// Returns the value in a column, if the archive has the column.
    pub fn get(&self, column: &str) -> Option<&Cell> {
        self.header.position(column).map(|index| &self.cells[index])
    }

    /// Returns the text in a column, if it has one.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.get(column) {
            Some(Cell::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the number in a column, if it has one.
    pub fn int(&self, column: &str) -> Option<i64> {
        match self.get(column) {
            Some(Cell::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns whether a column has this text.
    pub fn is(&self, column: &str, text: &str) -> bool {
        self.text(column) == Some(text)
    }

    pub fn set(&mut self, column: &str, cell: Cell) {
        if let Some(index) = self.header.position(column) {
            self.cells[index] = cell;
        }
    }

    pub fn set_text(&mut self, column: &str, text: &str) {
        self.set(column, Cell::Text(text.to_owned()));
    }

    /// Adds to the number in a column.
    pub fn add(&mut self, column: &str, number: i64) {
        if let Some(value) = self.int(column) {
            self.set(column, Cell::Int(value + number));
        }
    }

    /// Clears columns.
    pub fn clear(&mut self, columns: &[&str]) {
        for column in columns {
            self.set(column, Cell::Null);
        }
    }

    /// Returns the users whose ids the row contains, except those whom texts mention.
    pub(crate) fn people(&self) -> Vec<String> {
        let table = ArchivedTable::find(&self.header.table).and_then(|table| SchoolTable::find(table.table));
        let Some(rules) = table else { return Vec::new() };
        let mut people = Vec::new();
        let visited = self.clone().visit_people(rules.users, rules.user_lists, &mut |id| {
            people.push(id.to_owned());
            None
        });
        // A damaged value is archived as it is.
        drop(visited);
        people.sort_unstable();
        people.dedup();
        people
    }

    /// Calls `visit` with the id of each user in these columns and lists, and in packed commits, and replaces it by the id
    /// that `visit` returns. Returns a description of a damaged value, after all others were visited.
    pub(crate) fn visit_people(
        &mut self,
        columns: &[&str],
        lists: &[&str],
        visit: &mut dyn FnMut(&str) -> Option<String>,
    ) -> std::result::Result<(), String> {
        let mut damaged = None;
        for column in columns {
            let other = self.text(column).and_then(&mut *visit);
            if let Some(other) = other {
                self.set_text(column, &other);
            }
        }
        if self.header.table == "document_steps"
            && self.int("packed_from").is_some()
            && let Some(text) = self.text("steps")
        {
            match packs::rename_authors(text, visit) {
                Ok(Some(other)) => self.set_text("steps", &other),
                Ok(None) => {}
                Err(_) => damaged = Some("packed commits are damaged".to_owned()),
            }
        }
        for column in lists {
            let Some(text) = self.text(column) else { continue };
            let Ok(mut list) = serde_json::from_str(text) else {
                damaged = Some(format!("{column} of {} is invalid", self.header.table));
                continue;
            };
            let mut is_changed = false;
            for id in list_entries(&mut list) {
                if let Some(other) = visit(id) {
                    *id = other;
                    is_changed = true;
                }
            }
            if is_changed {
                self.set_text(column, &list.to_string());
            }
        }
        damaged.map_or(Ok(()), Err)
    }
}

/// A file that rows of an archive refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedFile {
    pub size: i64,
    pub sha256: String,
}

/// Collects rows into chunks.
pub struct ChunkEncoder {
    lines: Vec<u8>,
    /// The table of the last line.
    table: String,
    hash: Context,
    pub chunks: i64,
    pub tables: BTreeMap<String, i64>,
}

impl Default for ChunkEncoder {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            table: String::new(),
            hash: Context::new(&SHA256),
            chunks: 0,
            tables: BTreeMap::new(),
        }
    }
}

impl ChunkEncoder {
    /// Adds a row. Returns whether the chunk is full and must be taken.
    pub fn push(&mut self, header: &RowHeader, cells: &[Cell]) -> Result<bool> {
        if self.table != header.table {
            self.table.clone_from(&header.table);
            self.line(&serde_json::to_value(header)?);
        }
        self.line(&cells.iter().map(json_of).collect());
        *self.tables.entry(header.table.clone()).or_default() += 1;
        Ok(self.lines.len() >= CHUNK_BYTES)
    }

    fn line(&mut self, value: &Value) {
        self.lines.extend_from_slice(value.to_string().as_bytes());
        self.lines.push(b'\n');
    }

    /// Ends the chunk and returns it with its number.
    pub fn take_chunk(&mut self) -> Result<(i64, String)> {
        self.hash.update(&self.lines);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&self.lines)?;
        let compressed = encoder.finish()?;
        self.lines.clear();
        self.table.clear();
        self.chunks += 1;
        Ok((self.chunks, STANDARD.encode(compressed)))
    }

    /// Returns whether there are rows that are in no chunk yet.
    pub fn has_rows(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Returns the hexadecimal SHA-256 of all chunks.
    pub fn sha256(&self) -> String {
        hex(self.hash.clone().finish().as_ref())
    }
}

/// Collects rows of a deletion into chunks, and what the manifest contains about them.
#[derive(Default)]
pub struct ChunkWriter {
    encoder: ChunkEncoder,
    pub people: BTreeMap<String, i64>,
    pub files: BTreeMap<String, ArchivedFile>,
}

impl std::ops::Deref for ChunkWriter {
    type Target = ChunkEncoder;

    fn deref(&self) -> &ChunkEncoder {
        &self.encoder
    }
}

impl ChunkWriter {
    /// Adds a row. Returns whether the chunk is full and must be taken.
    pub fn push(&mut self, row: &ArchivedRow<'_>) -> Result<bool> {
        for person in row.people() {
            *self.people.entry(person).or_default() += 1;
        }
        if let Some(key) = row.text("file_key") {
            let file = ArchivedFile {
                size: row.int("size").unwrap_or(0),
                sha256: row.text("sha256").unwrap_or_default().to_owned(),
            };
            self.files.insert(key.to_owned(), file);
        }
        self.encoder.push(row.header, &row.cells)
    }

    /// Ends the chunk and returns it with its number.
    pub fn take_chunk(&mut self) -> Result<(i64, String)> {
        self.encoder.take_chunk()
    }

    /// Returns the size of the files.
    pub fn bytes(&self) -> i64 {
        self.files.values().map(|file| file.size).sum()
    }
}

/// Verifies the chunks of an archive in their order.
pub struct ChunkVerifier {
    hash: Context,
}

impl Default for ChunkVerifier {
    fn default() -> Self {
        Self {
            hash: Context::new(&SHA256),
        }
    }
}

impl ChunkVerifier {
    pub fn add(&mut self, content: &str) -> Result<()> {
        self.hash.update(&decoded(content)?);
        Ok(())
    }

    /// Returns the hexadecimal SHA-256 of all chunks.
    pub fn sha256(self) -> String {
        hex(self.hash.finish().as_ref())
    }

    /// Fails unless the chunks are those of the manifest.
    pub fn verify(self, manifest: &ArchiveManifest) -> Result<()> {
        if self.sha256() == manifest.sha256 {
            Ok(())
        } else {
            Err(DomainError::ArchiveDamaged.into())
        }
    }
}

/// Calls `visit` with each row of a chunk.
pub fn read_chunk(content: &str, mut visit: impl FnMut(ArchivedRow<'_>) -> Result<()>) -> Result<()> {
    let bytes = decoded(content)?;
    let mut header: Option<RowHeader> = None;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line).map_err(|_| DomainError::ArchiveDamaged)? {
            Value::Array(values) => {
                let header = header.as_ref().ok_or(DomainError::ArchiveDamaged)?;
                if values.len() != header.columns.len() {
                    return Err(DomainError::ArchiveDamaged.into());
                }
                let cells = values.into_iter().zip(&header.columns);
                let cells: Option<Vec<Cell>> = cells.map(|(value, (_, kind))| cell_of(value, *kind)).collect();
                let cells = cells.ok_or(DomainError::ArchiveDamaged)?;
                visit(ArchivedRow { header, cells })?;
            }
            other => header = Some(serde_json::from_value(other).map_err(|_| DomainError::ArchiveDamaged)?),
        }
    }
    Ok(())
}

fn decoded(content: &str) -> Result<Vec<u8>, Error> {
    let compressed = STANDARD.decode(content).map_err(|_| DomainError::ArchiveDamaged)?;
    let mut bytes = Vec::new();
    ZlibDecoder::new(compressed.as_slice())
        .take(CHUNK_MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|_| DomainError::ArchiveDamaged)?;
    if bytes.len() as u64 > CHUNK_MAX_BYTES {
        return Err(DomainError::ArchiveDamaged.into());
    }
    Ok(bytes)
}

/// A floating-point number is a text, because not every JSON library reads numbers exactly.
fn json_of(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Text(text) => text.as_str().into(),
        Cell::Int(number) => (*number).into(),
        Cell::Bool(truth) => (*truth).into(),
        Cell::Real(number) => format!("{number:?}").into(),
    }
}

/// Reads a value of a row; `None` if it is not of the type of its column.
fn cell_of(value: Value, kind: ColumnType) -> Option<Cell> {
    match (value, kind) {
        (Value::Null, _) => Some(Cell::Null),
        (Value::String(text), ColumnType::Text) => Some(Cell::Text(text)),
        (Value::String(text), ColumnType::Real) => text.parse().ok().map(Cell::Real),
        (Value::Number(number), ColumnType::Int) => number.as_i64().map(Cell::Int),
        (Value::Bool(truth), ColumnType::Bool) => Some(Cell::Bool(truth)),
        _ => None,
    }
}

fn sha256(bytes: &[u8]) -> String {
    let mut hash = Context::new(&SHA256);
    hash.update(bytes);
    hex(hash.finish().as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    fn header() -> RowHeader {
        RowHeader::of(ArchivedTable::find("member_grades").unwrap())
    }

    fn row(header: &RowHeader) -> ArchivedRow<'_> {
        let mut row = ArchivedRow {
            header,
            cells: vec![Cell::Null; header.columns.len()],
        };
        row.set_text("id", "m1");
        row.set_text("user_id", "ben");
        row.set("points", Cell::Real(0.1 + 0.2));
        row.set("graded_at", Cell::Int(i64::MAX));
        row
    }

    #[test]
    fn rows_roundtrip_through_a_chunk() {
        let header = header();
        let mut writer = ChunkWriter::default();
        assert!(!writer.push(&row(&header)).unwrap());
        let (number, content) = writer.take_chunk().unwrap();
        assert_eq!((number, writer.has_rows()), (1, false));
        assert_eq!(writer.people, BTreeMap::from([("ben".to_owned(), 1)]));
        let mut found = 0;
        read_chunk(&content, |read| {
            assert_eq!(read, row(&header));
            found += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(found, 1);
    }

    #[test]
    fn changed_chunk_and_changed_manifest_are_detected() {
        let header = header();
        let mut writer = ChunkWriter::default();
        writer.push(&row(&header)).unwrap();
        let (_, content) = writer.take_chunk().unwrap();
        let manifest = ArchiveManifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            schema: 68,
            organization: "o".to_owned(),
            noun: DeletedNoun::Group,
            object: "g".to_owned(),
            created_at: Timestamp::from_millis(1_764_150_000_000),
            tables: writer.tables.clone(),
            files: 0,
            bytes: 0,
            subjects: BTreeMap::new(),
            chunks: 1,
            sha256: writer.sha256(),
        };
        let mut verifier = ChunkVerifier::default();
        verifier.add(&content).unwrap();
        verifier.verify(&manifest).unwrap();
        let mut other = ChunkVerifier::default();
        let mut writer = ChunkWriter::default();
        let mut changed = row(&header);
        changed.set_text("user_id", "cem");
        writer.push(&changed).unwrap();
        other.add(&writer.take_chunk().unwrap().1).unwrap();
        assert!(other.verify(&manifest).is_err());
        let (text, seal) = manifest.sealed().unwrap();
        assert_eq!(ArchiveManifest::open(&text, &seal).unwrap(), manifest);
        assert!(ArchiveManifest::open(&text.replace("\"chunks\":1", "\"chunks\":2"), &seal).is_err());
    }
}
