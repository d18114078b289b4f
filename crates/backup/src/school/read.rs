//! Reads archives of schools. Their content is untrusted, also after the checksums were verified: who can write an
//! archive can write its checksums.

use std::collections::BTreeMap;
use std::io::Read as _;

use anyhow::{Context as _, anyhow, ensure};
use db::archives::format::{ChunkVerifier, RowHeader, read_chunk};
use db::dump::Cell;

use super::format::{HEADER, SchoolHeader, SchoolManifest, chunk_name};
use crate::ProgressCallback;
use crate::encryption::ArchiveFile;
use crate::format::FileEntry;
use crate::read::{ArchiveEntries, ByteRange, FileList, check_checksum, open_range};

/// The maximum size in bytes of a chunk, which is read into memory.
const CHUNK_MAX: u64 = 64 << 20;
/// The maximum number of chunks: 256 GB of rows.
const CHUNKS_MAX: usize = 1 << 20;

/// An archive whose entries are known.
pub struct SchoolArchive {
    file: ArchiveFile,
    pub header: SchoolHeader,
    pub manifest: SchoolManifest,
    chunks: Vec<ByteRange>,
    list: ByteRange,
    files: ByteRange,
}

/// Reads a whole archive and verifies it against its manifest; writes nothing.
pub fn verify(file: ArchiveFile, report_progress: ProgressCallback<'_>) -> anyhow::Result<SchoolArchive> {
    let name = file.path().display().to_string();
    check_checksum(&file, report_progress).with_context(|| format!("{name} is no whole archive"))?;
    let archive = SchoolArchive::open(file)
        .with_context(|| format!("{name} is no archive of a school that this release can read"))?;
    archive
        .check_contents(report_progress)
        .with_context(|| format!("{name} contradicts itself"))?;
    Ok(archive)
}

impl SchoolArchive {
    fn open(file: ArchiveFile) -> anyhow::Result<Self> {
        let read_header = |text: &[u8]| {
            let found: SchoolHeader = serde_json::from_slice(text)?;
            ensure!(found.is_readable(), "it is of another format or a later version");
            Ok(found)
        };
        let is_part = |name: &str, number: usize| {
            number < CHUNKS_MAX && i64::try_from(number).is_ok_and(|number| name == chunk_name(number + 1))
        };
        let entries = ArchiveEntries::<_, SchoolManifest>::locate(&file, HEADER, read_header, is_part)?;
        let chunks: Vec<ByteRange> = entries.parts.into_iter().map(|(_, range)| range).collect();
        ensure!(
            chunks.iter().all(|chunk| chunk.size <= CHUNK_MAX),
            "the rows are too long"
        );
        Ok(Self {
            file,
            header: entries.header,
            manifest: entries.manifest,
            chunks,
            list: entries.list,
            files: entries.files,
        })
    }

    /// Verifies every part against the manifest.
    fn check_contents(&self, report_progress: ProgressCallback<'_>) -> anyhow::Result<()> {
        let manifest = &self.manifest;
        ensure!(
            i64::try_from(self.chunks.len())? == manifest.chunks,
            "chunks are missing"
        );
        let mut verifier = ChunkVerifier::default();
        let mut tables = BTreeMap::<String, i64>::new();
        for index in 0..self.chunks.len() {
            let chunk = self.chunk(index)?;
            verifier.add(&chunk)?;
            read_chunk(&chunk, |row| {
                *tables.entry(row.header.table.clone()).or_default() += 1;
                Ok(())
            })?;
        }
        ensure!(
            verifier.sha256() == manifest.sha256,
            "its rows are not those of the manifest"
        );
        ensure!(tables == manifest.tables, "its tables are not those of the manifest");
        self.check_file_list()?;
        self.file_list().check(false, report_progress)
    }

    /// Fails if a file has no size or checksum: the rows of files have both.
    fn check_file_list(&self) -> anyhow::Result<()> {
        let list = self.file_list();
        let mut lines = list.lines()?;
        while let Some(line) = lines.next_line()? {
            let line: FileEntry = serde_json::from_slice(line)?;
            ensure!(
                line.size.is_some() && line.sha256.is_some(),
                "{} has no checksum",
                line.key
            );
        }
        Ok(())
    }

    fn chunk(&self, index: usize) -> anyhow::Result<String> {
        let mut text = String::new();
        open_range(&self.file, self.chunks[index])?
            .read_to_string(&mut text)
            .context("rows are no text")?;
        Ok(text)
    }

    /// Returns the list of files with their bytes.
    pub(super) fn file_list(&self) -> FileList<'_> {
        FileList {
            file: &self.file,
            list: self.list,
            files: self.files,
            archived: &self.manifest.archived,
        }
    }

    /// Returns the rows, one chunk in memory at a time.
    pub(super) fn rows(&self) -> RowStream<'_> {
        RowStream {
            archive: self,
            next_chunk: 0,
            rows: Vec::new().into_iter(),
            peeked: None,
        }
    }
}

type StreamedRow = (RowHeader, Vec<Cell>);

/// The rows of an archive.
pub(super) struct RowStream<'a> {
    archive: &'a SchoolArchive,
    next_chunk: usize,
    rows: std::vec::IntoIter<StreamedRow>,
    peeked: Option<StreamedRow>,
}

impl RowStream<'_> {
    fn advance(&mut self) -> anyhow::Result<Option<StreamedRow>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            if self.next_chunk == self.archive.chunks.len() {
                return Ok(None);
            }
            let chunk = self.archive.chunk(self.next_chunk)?;
            self.next_chunk += 1;
            let mut rows = Vec::new();
            read_chunk(&chunk, |row| {
                rows.push((row.header.clone(), row.cells));
                Ok(())
            })
            .map_err(|error| anyhow!("{error}"))?;
            self.rows = rows.into_iter();
        }
    }

    /// Returns the columns of the next table.
    pub(super) fn next_table(&mut self) -> anyhow::Result<Option<RowHeader>> {
        if self.peeked.is_none() {
            self.peeked = self.advance()?;
        }
        Ok(self.peeked.as_ref().map(|(header, _)| header.clone()))
    }

    /// Returns the next row of a table; `None` after its last row.
    pub(super) fn next_row(&mut self, of: &RowHeader) -> anyhow::Result<Option<Vec<Cell>>> {
        let next = match self.peeked.take() {
            Some(row) => Some(row),
            None => self.advance()?,
        };
        match next {
            Some((header, cells)) if header == *of => Ok(Some(cells)),
            other => {
                self.peeked = other;
                Ok(None)
            }
        }
    }
}
