//! Reads archives. Their content is untrusted until the whole archive has been verified.

use std::io::{self, BufRead, BufReader, Read, SeekFrom};

use anyhow::{Context as _, ensure};
use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::encryption::ArchiveFile;
use super::format::{
    ArchiveHeader, ArchivePart, ArchivedFiles, CHECKSUM_ENTRY_BYTES, FAULTS_MAX, FILE_LIST, FORMAT, FileEntry, HEADER,
    HashingStream, LINE_MAX, MANIFEST, Manifest, TablePart, checksum_entry, file_name, parse_row, rows_name,
};
use super::{CHUNK_BYTES, Progress, ProgressCallback};
use adapters::blob_store::ReadSeek;
use db::dump::Cell;

/// The maximum size in bytes of the header and the manifest, which are read into memory.
const HEADER_MAX: u64 = 64 << 10;
const MANIFEST_MAX: u64 = 4 << 20;
/// The maximum number of tables.
const TABLES_MAX: usize = 1000;

/// An archive whose entries are known.
pub struct BackupArchive {
    file: ArchiveFile,
    pub header: ArchiveHeader,
    pub manifest: Manifest,
    rows: Vec<ByteRange>,
    list: ByteRange,
    files: ByteRange,
}

/// A range of bytes in the archive.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteRange {
    pub(super) from: u64,
    pub(super) size: u64,
}

/// Reads a whole archive and verifies it against its manifest; writes nothing.
pub fn verify(file: ArchiveFile, report_progress: ProgressCallback<'_>) -> anyhow::Result<BackupArchive> {
    let name = file.path().display().to_string();
    check_checksum(&file, report_progress).with_context(|| format!("{name} is no whole backup"))?;
    let archive = BackupArchive::open(file).with_context(|| format!("{name} is no backup this release can read"))?;
    archive
        .check_contents(report_progress)
        .with_context(|| format!("{name} contradicts itself"))?;
    Ok(archive)
}

/// Verifies the checksum of the whole archive.
pub(super) fn check_checksum(file: &ArchiveFile, report_progress: ProgressCallback<'_>) -> anyhow::Result<()> {
    let size = file.size()?;
    ensure!(size > CHECKSUM_ENTRY_BYTES, "it is too short");
    let mut digest = Sha256::new();
    let mut left = size - CHECKSUM_ENTRY_BYTES;
    let mut reader = file.open()?;
    let mut chunk = vec![0; CHUNK_BYTES];
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        reader.read_exact(&mut chunk[..wanted])?;
        digest.update(&chunk[..wanted]);
        left -= wanted as u64;
        report_progress(Progress {
            what: "bytes compared".to_owned(),
            done: size - CHECKSUM_ENTRY_BYTES - left,
            of: Some(size - CHECKSUM_ENTRY_BYTES),
            bytes: size - CHECKSUM_ENTRY_BYTES - left,
        });
    }
    let mut end = Vec::new();
    reader.read_to_end(&mut end)?;
    ensure!(
        end == checksum_entry(&digest.finalize())?,
        "it was cut off or changed: its checksum does not fit"
    );
    Ok(())
}

/// Called for each line of the list of files, with its bytes if the archive contains them.
pub(super) type FileVisitor<'s> = dyn FnMut(&FileEntry, Option<&mut dyn Read>) -> anyhow::Result<()> + 's;

/// The entries of an archive: a header, parts, the list of files, files, and the manifest, in this order.
pub(super) struct ArchiveEntries<Header, Manifest> {
    pub(super) header: Header,
    pub(super) parts: Vec<(String, ByteRange)>,
    pub(super) list: ByteRange,
    pub(super) files: ByteRange,
    pub(super) manifest: Manifest,
}

impl<Header, Manifest: DeserializeOwned> ArchiveEntries<Header, Manifest> {
    /// Locates the entries, which must be the known ones in the known order. Skips the bytes of parts and files.
    /// `read_header` gets the first entry; `is_part` the name and the number of a part.
    pub(super) fn locate(
        file: &ArchiveFile,
        header_name: &str,
        read_header: impl Fn(&[u8]) -> anyhow::Result<Header>,
        is_part: impl Fn(&str, usize) -> bool,
    ) -> anyhow::Result<Self> {
        let reader = ReadUntil::open(file)?;
        let end = reader.end;
        let mut tar = tar::Archive::new(reader);
        let (mut header, mut parts) = (None, Vec::new());
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
                    name == header_name && size <= HEADER_MAX,
                    "it does not begin with {header_name}"
                );
                header = Some(read_header(&read_entry(&mut entry)?)?);
            } else if name == MANIFEST {
                ensure!(size <= MANIFEST_MAX, "the manifest is too long");
                manifest = Some((from, serde_json::from_slice(&read_entry(&mut entry)?)?));
            } else if list.is_some() {
                ensure!(name.starts_with("files/"), "unknown entry {name}");
                files.get_or_insert(range);
            } else if name == FILE_LIST {
                list = Some(range);
            } else {
                ensure!(is_part(&name, parts.len()), "unknown entry {name}");
                parts.push((name, range));
            }
        }
        let (manifest_at, manifest) = manifest.context("it has no manifest")?;
        // The header of an entry precedes its bytes.
        let begin = files.map_or(manifest_at - 512, |first| first.from - 512);
        Ok(Self {
            header: header.context("it is empty")?,
            parts,
            list: list.context("it has no list of files")?,
            files: ByteRange {
                from: begin,
                size: (manifest_at - 512).checked_sub(begin).context("its parts overlap")?,
            },
            manifest,
        })
    }
}

impl BackupArchive {
    fn open(file: ArchiveFile) -> anyhow::Result<Self> {
        let read_header = |text: &[u8]| {
            let found: ArchiveHeader = serde_json::from_slice(text)?;
            ensure!(
                found.format == FORMAT,
                "it is of format {} and this release reads {FORMAT}",
                found.format
            );
            Ok(found)
        };
        let is_part = |name: &str, number: usize| name.starts_with("rows/") && number < TABLES_MAX;
        let entries = ArchiveEntries::<_, Manifest>::locate(&file, HEADER, read_header, is_part)?;
        let (names, rows): (Vec<String>, Vec<ByteRange>) = entries.parts.into_iter().unzip();
        let manifest = entries.manifest;
        let expected: Vec<String> = manifest.tables.iter().map(|table| rows_name(&table.name)).collect();
        ensure!(names == expected, "its tables are not those of its manifest");
        Ok(Self {
            file,
            header: entries.header,
            manifest,
            rows,
            list: entries.list,
            files: entries.files,
        })
    }

    /// Verifies every part against the manifest.
    fn check_contents(&self, report_progress: ProgressCallback<'_>) -> anyhow::Result<()> {
        for (index, table) in self.manifest.tables.iter().enumerate() {
            report_progress(Progress {
                what: format!("rows of {}", table.name),
                done: index as u64,
                of: Some(self.manifest.tables.len() as u64),
                bytes: 0,
            });
            self.part(self.rows[index], &table.part)
                .with_context(|| table.name.clone())?;
            let mut rows = self.rows(index)?;
            let mut count = 0;
            while rows.next_row()?.is_some() {
                count += 1;
            }
            ensure!(
                count == table.rows,
                "{}: {count} rows and not {}",
                table.name,
                table.rows
            );
        }
        self.file_list().check(self.manifest.without_files, report_progress)
    }

    fn part(&self, span: ByteRange, part: &ArchivePart) -> anyhow::Result<()> {
        check_part(&self.file, span, part)
    }

    fn span(&self, span: ByteRange) -> anyhow::Result<impl Read + use<>> {
        open_range(&self.file, span)
    }

    /// Returns the rows of one table.
    pub(super) fn rows(&self, index: usize) -> anyhow::Result<RowReader<'_, impl Read + use<>>> {
        let table = &self.manifest.tables[index];
        let mut lines = GzipLines::new(self.span(self.rows[index])?);
        lines.unpacked_max = table.part.unpacked;
        Ok(RowReader { lines, table })
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

    /// Iterates over the list of files, with the bytes of each file in the archive.
    pub(super) fn for_each_file(&self, visit: &mut FileVisitor<'_>) -> anyhow::Result<()> {
        self.file_list().for_each(visit)
    }
}

/// Verifies a part of an archive.
pub(super) fn check_part(file: &ArchiveFile, range: ByteRange, part: &ArchivePart) -> anyhow::Result<()> {
    let mut hashed = HashingStream::new(open_range(file, range)?);
    io::copy(&mut hashed, &mut io::sink())?;
    ensure!(
        (hashed.size, hashed.sha256()) == (part.size, part.sha256.clone()),
        "its bytes are not those of the manifest"
    );
    Ok(())
}

/// Opens a range of an archive.
pub(super) fn open_range(file: &ArchiveFile, range: ByteRange) -> anyhow::Result<impl Read + use<>> {
    let mut file = file.open()?;
    file.seek(SeekFrom::Start(range.from))?;
    Ok(BufReader::with_capacity(CHUNK_BYTES, file.take(range.size)))
}

/// The list of files of an archive, with their bytes.
pub(super) struct FileList<'a> {
    pub(super) file: &'a ArchiveFile,
    pub(super) list: ByteRange,
    pub(super) files: ByteRange,
    /// The files according to the manifest.
    pub(super) archived: &'a ArchivedFiles,
}

impl FileList<'_> {
    /// Opens the lines of the list.
    pub(super) fn lines(&self) -> anyhow::Result<GzipLines<impl Read + use<>>> {
        let mut lines = GzipLines::new(open_range(self.file, self.list)?);
        lines.unpacked_max = self.archived.list.unpacked;
        Ok(lines)
    }

    /// Verifies the list and the bytes of every file against the manifest. Without files there are no bytes.
    pub(super) fn check(&self, is_without_files: bool, report_progress: ProgressCallback<'_>) -> anyhow::Result<()> {
        let archived = self.archived;
        check_part(self.file, self.list, &archived.list).context("the list of files")?;
        let (mut files, mut bytes, mut missing, mut damaged) = (0, 0, Vec::new(), Vec::new());
        self.for_each(&mut |line, content| {
            ensure!(is_key(&line.key), "{:?} is no key of a file", line.key);
            let Some(content) = content else {
                if is_without_files {
                    return Ok(());
                }
                missing.push(line.key.clone());
                ensure!(missing.len() <= FAULTS_MAX, "too many files are missing");
                return Ok(());
            };
            let mut hashed = HashingStream::new(content);
            io::copy(&mut hashed, &mut io::sink())?;
            if line.sha256.as_ref().is_some_and(|sha256| *sha256 != hashed.sha256()) {
                damaged.push(line.key.clone());
                ensure!(damaged.len() <= FAULTS_MAX, "too many files are damaged");
            }
            (files, bytes) = (files + 1, bytes + hashed.size);
            report_progress(Progress {
                what: "files".to_owned(),
                done: files,
                of: Some(archived.files_named),
                bytes,
            });
            Ok(())
        })?;
        ensure!(
            (files, bytes) == (archived.files, archived.bytes),
            "it has {files} files of {bytes} bytes and not {} of {}",
            archived.files,
            archived.bytes
        );
        ensure!(missing == archived.missing, "files are missing that its manifest has");
        ensure!(damaged == archived.damaged, "files are damaged that were whole");
        Ok(())
    }

    pub(super) fn for_each(&self, visit: &mut FileVisitor<'_>) -> anyhow::Result<()> {
        let mut lines = self.lines()?;
        let mut tar = tar::Archive::new(open_range(self.file, self.files)?);
        let mut entries = tar.entries()?.raw(true);
        let mut next = entries.next().transpose()?;
        let (mut number, mut last) = (0, String::new());
        while let Some(text) = lines.next_line()? {
            let line: FileEntry = serde_json::from_slice(text)?;
            ensure!(line.key > last, "the list of files is out of order at {:?}", line.key);
            let is_here = match &next {
                Some(entry) => *entry.path_bytes() == *file_name(number).as_bytes(),
                None => false,
            };
            match next.as_mut().filter(|_| is_here) {
                Some(entry) => {
                    visit(&line, Some(entry))?;
                    next = entries.next().transpose()?;
                }
                None => visit(&line, None)?,
            }
            last = line.key;
            number += 1;
        }
        ensure!(next.is_none(), "a file stands in no list, or twice");
        ensure!(number == self.archived.files_named, "the list of files is too short");
        Ok(())
    }
}

/// Returns whether a text has the format of a generated key.
pub(super) fn is_key(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
    (1..=200).contains(&key.len()) && !key.starts_with('.') && key.bytes().all(plain)
}

pub(super) fn read_entry(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file without its checksum entry.
pub(super) struct ReadUntil {
    file: Box<dyn ReadSeek>,
    position: u64,
    end: u64,
}

impl ReadUntil {
    pub(super) fn open(file: &ArchiveFile) -> anyhow::Result<Self> {
        Ok(Self {
            end: file.size()?.saturating_sub(CHECKSUM_ENTRY_BYTES),
            file: file.open()?,
            position: 0,
        })
    }
}

impl Read for ReadUntil {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.position);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.file.read(&mut buffer[..wanted])?;
        self.position += count as u64;
        Ok(count)
    }
}

impl io::Seek for ReadUntil {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}

/// Reads compressed lines; rejects an unterminated or oversized line.
pub(super) struct GzipLines<R: Read> {
    reader: BufReader<GzDecoder<R>>,
    line: Vec<u8>,
    unpacked: u64,
    unpacked_max: u64,
}

impl<R: Read> GzipLines<R> {
    pub(super) fn new(packed: R) -> Self {
        Self {
            reader: BufReader::with_capacity(CHUNK_BYTES, GzDecoder::new(packed)),
            line: Vec::new(),
            unpacked: 0,
            unpacked_max: u64::MAX,
        }
    }

    pub(super) fn next_line(&mut self) -> anyhow::Result<Option<&[u8]>> {
        self.line.clear();
        let count = (&mut self.reader).take(LINE_MAX).read_until(b'\n', &mut self.line)?;
        if count == 0 {
            return Ok(None);
        }
        self.unpacked += count as u64;
        ensure!(self.line.ends_with(b"\n"), "a line has no end");
        ensure!(self.unpacked <= self.unpacked_max, "it unpacks to more than it states");
        Ok(Some(&self.line[..count - 1]))
    }
}

/// The rows of a table.
pub(super) struct RowReader<'a, R: Read> {
    lines: GzipLines<R>,
    table: &'a TablePart,
}

impl<R: Read> RowReader<'_, R> {
    pub(super) fn next_row(&mut self) -> anyhow::Result<Option<Vec<Cell>>> {
        match self.lines.next_line()? {
            Some(line) => parse_row(line, &self.table.columns)
                .with_context(|| format!("a row of {}", self.table.name))
                .map(Some),
            None => Ok(None),
        }
    }
}
