//! Reads archives of schools. Their content is untrusted, also after the checksums were verified: who can write an
//! archive can write its checksums.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use anyhow::{Context as _, anyhow, ensure};
use db::archives::format::{ChunkVerifier, RowHeader, read_chunk};
use db::dump::Cell;

use super::format::{HEADER, SchoolHeader, SchoolManifest, chunk_name};
use crate::encryption::ArchiveFile;
use crate::format::{CHECKSUM_ENTRY_BYTES, FAULTS_MAX, FILE_LIST, HashingStream, MANIFEST};
use crate::read::{ByteRange, FileList, ReadUntil, check_checksum, check_part, is_key, open_range, read_entry};
use crate::{Progress, ProgressCallback};

/// The maximum size in bytes of the header, the manifest and a chunk, which are read into memory.
const HEADER_MAX: u64 = 64 << 10;
const MANIFEST_MAX: u64 = 4 << 20;
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
    /// Locates the entries, which must be the known ones in the known order.
    fn open(file: ArchiveFile) -> anyhow::Result<Self> {
        let end = file.size()?.saturating_sub(CHECKSUM_ENTRY_BYTES);
        let mut tar = tar::Archive::new(ReadUntil::open(&file)?);
        let mut header = None;
        let mut chunks = Vec::new();
        let (mut list, mut files, mut manifest) = (None, None::<ByteRange>, None);
        for entry in tar.entries_with_seek()?.raw(true) {
            let mut entry = entry?;
            ensure!(entry.header().entry_type().is_file(), "an entry is no file");
            let name = String::from_utf8(entry.path_bytes().into_owned()).context("a name is no text")?;
            let size = entry.header().entry_size()?;
            let from = entry.raw_file_position();
            let range = ByteRange { from, size };
            ensure!(
                from.checked_add(size).is_some_and(|until| until <= end),
                "{name} goes beyond the end"
            );
            ensure!(manifest.is_none(), "{name} comes after the end");
            if header.is_none() {
                ensure!(
                    name == HEADER && size <= HEADER_MAX,
                    "it does not begin as an archive of a school"
                );
                let found: SchoolHeader = serde_json::from_slice(&read_entry(&mut entry)?)?;
                ensure!(found.is_readable(), "it is of another format or a later version");
                header = Some(found);
            } else if name == MANIFEST {
                ensure!(size <= MANIFEST_MAX, "the manifest is too long");
                manifest = Some((
                    from,
                    serde_json::from_slice::<SchoolManifest>(&read_entry(&mut entry)?)?,
                ));
            } else if list.is_some() {
                ensure!(name.starts_with("files/"), "unknown entry {name}");
                files.get_or_insert(range);
            } else if name == FILE_LIST {
                list = Some(range);
            } else {
                let number = i64::try_from(chunks.len())? + 1;
                ensure!(name == chunk_name(number), "unknown entry {name}");
                ensure!(size <= CHUNK_MAX && chunks.len() < CHUNKS_MAX, "the rows are too long");
                chunks.push(range);
            }
        }
        let (manifest_at, manifest) = manifest.context("it has no manifest")?;
        let list = list.context("it has no list of files")?;
        // The header of an entry precedes its bytes.
        let begin = files.map_or(manifest_at - 512, |first| first.from - 512);
        let files = ByteRange {
            from: begin,
            size: (manifest_at - 512).checked_sub(begin).context("its parts overlap")?,
        };
        Ok(Self {
            file,
            header: header.context("it is empty")?,
            manifest,
            chunks,
            list,
            files,
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
        check_part(&self.file, self.list, &manifest.list).context("the list of files")?;
        let (mut files, mut bytes, mut missing, mut damaged) = (0, 0, Vec::new(), Vec::new());
        self.file_list().for_each(&mut |line, content| {
            ensure!(is_key(&line.key), "{:?} is no key of a file", line.key);
            ensure!(
                line.size.is_some() && line.sha256.is_some(),
                "{} has no checksum",
                line.key
            );
            let Some(content) = content else {
                missing.push(line.key.clone());
                ensure!(missing.len() <= FAULTS_MAX, "too many files are missing");
                return Ok(());
            };
            let mut hashed = HashingStream::new(content);
            io::copy(&mut hashed, &mut io::sink())?;
            let is_whole = line.sha256.as_ref() == Some(&hashed.sha256())
                && line.size.and_then(|size| u64::try_from(size).ok()) == Some(hashed.size);
            if !is_whole {
                damaged.push(line.key.clone());
                ensure!(damaged.len() <= FAULTS_MAX, "too many files are damaged");
            }
            (files, bytes) = (files + 1, bytes + hashed.size);
            report_progress(Progress {
                what: "files".to_owned(),
                done: files,
                of: Some(manifest.files_named),
                bytes,
            });
            Ok(())
        })?;
        ensure!(
            (files, bytes) == (manifest.files, manifest.bytes),
            "it has {files} files of {bytes} bytes and not {} of {}",
            manifest.files,
            manifest.bytes
        );
        ensure!(missing == manifest.missing, "files are missing that its manifest has");
        ensure!(damaged == manifest.damaged, "files are damaged that were whole");
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
            unpacked: self.manifest.list.unpacked,
            files: self.files,
            count: self.manifest.files_named,
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
