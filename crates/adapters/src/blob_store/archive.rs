//! Checks zip files: Office documents and archives. They are decompressed completely, with limits, before they are
//! stored. Zip bombs, entries outside the target folder and macros are rejected based on the content, not on declared
//! values.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;
use zip::read::ZipFile;

use super::inspect::InspectionResult;
use super::staged::{FileSource, ReadSeek};

/// The maximum number of entries in one archive.
const ENTRIES_MAX: u64 = 10_000;
/// The maximum decompressed size in bytes.
const INFLATED_MAX: u64 = 500 << 20;
/// The maximum compression ratio.
const RATIO_MAX: u64 = 100;
/// Below this decompressed size in bytes the ratio is not checked.
const RATIO_EXEMPT_BYTES: u64 = 1 << 20;
/// The maximum size of the central directory in bytes; it is read into memory.
const DIRECTORY_MAX: u64 = 4 << 20;
/// The maximum size of an office document's content types in bytes; they are read into memory.
const TYPES_MAX: u64 = 1 << 20;
/// The maximum nesting of archives: a text document contains a presentation, which contains the data of its chart.
const DEPTH_MAX: u8 = 3;
/// The maximum size of the end of central directory record, including the longest comment.
const END_MAX: u64 = 22 + 65_535;

/// The declared kind of an archive.
#[derive(Debug, Clone, Copy)]
pub enum ArchiveKind {
    /// An Office Open XML document whose main part has this content type.
    Ooxml(&'static str),
    /// An OpenDocument file with this media type.
    OpenDocument(&'static str),
    /// A plain archive, which the service never extracts.
    Plain,
    /// An archive within another one, of any kind.
    Embedded,
}

/// The remaining limits of an archive, shared with the archives in it.
struct Budget<'s> {
    /// Decompressed bytes.
    left: u64,
    entries: u64,
    /// The nesting depth.
    depth: u8,
    /// The source, whose folder is used to extract embedded archives.
    source: &'s FileSource,
}

impl Budget<'_> {
    fn take(&mut self, bytes: u64) -> InspectionResult {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or("it unpacks to more than it declares")?;
        Ok(())
    }

    /// Creates an anonymous temporary file, so that embedded archives do not add up in memory.
    fn scratch_file(&self) -> Result<File, String> {
        let made = match self.source {
            FileSource::File(path) | FileSource::Buffered(path, _) => {
                tempfile::tempfile_in(path.parent().unwrap_or(path))
            }
            FileSource::Bytes(_) => tempfile::tempfile(),
        };
        made.map_err(|error| format!("it cannot be looked at: {error}"))
    }
}

/// Rejects an archive that is dangerous, corrupted, or not of the declared kind.
pub(super) fn check(source: &FileSource, package: ArchiveKind) -> InspectionResult {
    let mut bytes = source.open().map_err(damaged)?;
    let size = bytes.seek(SeekFrom::End(0)).map_err(damaged)?;
    let mut budget = Budget {
        left: INFLATED_MAX.min(RATIO_EXEMPT_BYTES.max(size.saturating_mul(RATIO_MAX))),
        entries: ENTRIES_MAX,
        depth: 0,
        source,
    };
    check_within(bytes, size, package, &mut budget)
}

fn check_within(
    mut bytes: Box<dyn ReadSeek>,
    size: u64,
    package: ArchiveKind,
    budget: &mut Budget<'_>,
) -> InspectionResult {
    let entries = count_entries(&mut bytes, size)?;
    budget.entries = budget.entries.checked_sub(entries).ok_or("it has too many entries")?;
    let mut archive = ZipArchive::new(BufReader::new(bytes)).map_err(damaged)?;
    if archive.len() as u64 != entries || archive.has_duplicate_names() {
        return Err("it names an entry twice".to_owned());
    }
    if archive.offset() != 0 {
        return Err("it does not begin as an archive".to_owned());
    }
    // Declared sizes are cheap to check; wrong declarations are detected below.
    let declared = (0..archive.len()).try_fold(0_u64, |sum, index| {
        let entry = archive.by_index_raw(index).map_err(damaged)?;
        check_entry_name(&entry)?;
        Ok::<_, String>(sum.saturating_add(entry.size()))
    })?;
    if declared > budget.left {
        return Err("it unpacks to far more than its size".to_owned());
    }
    match package {
        ArchiveKind::Plain => return Ok(()),
        ArchiveKind::Ooxml(main_type) => check_ooxml(&mut archive, main_type)?,
        ArchiveKind::OpenDocument(mime) => check_open_document(&mut archive, mime)?,
        ArchiveKind::Embedded => check_no_macros(&names(&archive))?,
    }
    let mut chunk = vec![0; 64 * 1024];
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(damaged)?;
        check_entry(entry, &mut chunk, budget)?;
    }
    Ok(())
}

/// Reads an entry to its end; checks an embedded archive recursively.
fn check_entry<R: Read>(mut entry: ZipFile<'_, R>, chunk: &mut [u8], budget: &mut Budget<'_>) -> InspectionResult {
    let declared = entry.size();
    let mut found = 0;
    let mut embedded = None;
    loop {
        let read = fill(&mut entry, chunk)?;
        if found == 0 && chunk[..read].starts_with(b"PK\x03\x04") {
            embedded = Some(budget.scratch_file()?);
        }
        if read == 0 {
            break;
        }
        found += read as u64;
        budget.take(read as u64)?;
        if found > declared {
            return Err("it unpacks to more than it declares".to_owned());
        }
        if let Some(scratch_file) = &mut embedded {
            scratch_file.write_all(&chunk[..read]).map_err(damaged)?;
        }
    }
    let Some(scratch_file) = embedded else { return Ok(()) };
    if budget.depth == DEPTH_MAX {
        return Err("it holds archives within archives".to_owned());
    }
    budget.depth += 1;
    check_within(Box::new(scratch_file), found, ArchiveKind::Embedded, budget)?;
    budget.depth -= 1;
    Ok(())
}

/// Reads until the buffer is full or the reader ends.
fn fill(reader: &mut impl Read, chunk: &mut [u8]) -> Result<usize, String> {
    let mut filled = 0;
    while filled < chunk.len() {
        match reader.read(&mut chunk[filled..]).map_err(damaged)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Returns the declared number of entries, read from the last record before anything is loaded into memory.
fn count_entries(bytes: &mut Box<dyn ReadSeek>, size: u64) -> Result<u64, String> {
    let mut first = [0; 4];
    bytes.seek(SeekFrom::Start(0)).map_err(damaged)?;
    bytes.read_exact(&mut first).map_err(damaged)?;
    if first != *b"PK\x03\x04" {
        return Err("it does not begin as an archive".to_owned());
    }
    let mut tail = Vec::new();
    bytes
        .seek(SeekFrom::Start(size.saturating_sub(END_MAX)))
        .map_err(damaged)?;
    bytes.take(END_MAX).read_to_end(&mut tail).map_err(damaged)?;
    let start = tail
        .windows(4)
        .rposition(|window| window == b"PK\x05\x06")
        .ok_or("it has no end")?;
    let end = &tail[start..];
    let number = |offset: usize, length: usize| -> Option<u64> {
        let bytes = end.get(offset..offset + length)?;
        Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let (count, directory, comment) = (number(10, 2), number(12, 4), number(20, 2));
    let (Some(count), Some(directory), Some(comment)) = (count, directory, comment) else {
        return Err("its end is cut off".to_owned());
    };
    if end.len() as u64 != 22 + comment {
        return Err("something follows its end".to_owned());
    }
    // The Zip64 format has separate counts; files of that size are rejected anyway.
    let has_large_form = start >= 20 && tail[start - 20..].starts_with(b"PK\x06\x07");
    if has_large_form || count > ENTRIES_MAX || directory > DIRECTORY_MAX {
        return Err("it has too many entries".to_owned());
    }
    Ok(count)
}

/// Checks that an entry stays inside the target folder and is a regular file or folder.
fn check_entry_name<R: Read>(entry: &ZipFile<'_, R>) -> InspectionResult {
    let name = entry.name().map_err(damaged)?.replace('\\', "/");
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    let is_outside = name.starts_with('/') || is_drive || name.split('/').any(|part| part == "..");
    if is_outside || name.is_empty() || name.contains(char::is_control) || entry.is_symlink() {
        return Err("an entry leads outside of it".to_owned());
    }
    Ok(())
}

/// Checks that the main part has the content type of the extension, and that there are no macros.
fn check_ooxml<R: Read + Seek>(archive: &mut ZipArchive<R>, main_type: &str) -> InspectionResult {
    let names = names(archive);
    check_no_macros(&names)?;
    let types = ContentTypes::read(&read_entry(archive, "[Content_Types].xml")?)?;
    if types.macros {
        return Err("it carries macros".to_owned());
    }
    let has_main = types.declared.iter().any(|(part, content_type)| {
        content_type == main_type
            && match part {
                Part::Named(name) => names.contains(name),
                Part::Extension(extension) => names.iter().any(|name| name.ends_with(&format!(".{extension}"))),
            }
    });
    if has_main {
        Ok(())
    } else {
        Err("its main part is something else".to_owned())
    }
}

fn check_no_macros(names: &[String]) -> InspectionResult {
    let is_code = |name: &String| name.ends_with("vbaproject.bin") || name.ends_with("vbadata.xml");
    if names.iter().any(is_code) {
        return Err("it carries macros".to_owned());
    }
    Ok(())
}

/// Checks that the first entry contains the media type, and that there are no macros.
fn check_open_document<R: Read + Seek>(archive: &mut ZipArchive<R>, mime: &str) -> InspectionResult {
    if names(archive).iter().any(|name| {
        let is_code = name.starts_with("basic/") || name.starts_with("scripts/");
        is_code && !name.ends_with('/')
    }) {
        return Err("it carries macros".to_owned());
    }
    if read_entry(archive, "mimetype")?.trim_ascii() == mime.as_bytes() {
        Ok(())
    } else {
        Err("its type is something else".to_owned())
    }
}

/// Returns the names of all entries in lower case, because office programs ignore case.
fn names<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<String> {
    archive.file_names().flatten().map(|name| name.to_lowercase()).collect()
}

/// Reads a small entry completely.
fn read_entry<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<Vec<u8>, String> {
    let entry = archive.by_name(name).map_err(|_| format!("it has no {name}"))?;
    let mut bytes = Vec::new();
    entry.take(TYPES_MAX + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() as u64 > TYPES_MAX {
        Err(format!("its {name} is too large"))
    } else {
        Ok(bytes)
    }
}

/// The parsed `[Content_Types].xml`.
struct ContentTypes {
    declared: Vec<(Part, String)>,
    macros: bool,
}

enum Part {
    /// One part, in lower case and without the leading slash.
    Named(String),
    /// All parts with an extension, in lower case.
    Extension(String),
}

impl ContentTypes {
    fn read(xml: &[u8]) -> Result<Self, String> {
        let mut found = Self {
            declared: Vec::new(),
            macros: false,
        };
        let mut reader = Reader::from_reader(xml);
        loop {
            match reader.read_event().map_err(damaged)? {
                Event::Eof => return Ok(found),
                Event::DocType(_) => return Err("its content types declare entities".to_owned()),
                Event::Start(element) | Event::Empty(element) => found.note(&element)?,
                _ => {}
            }
        }
    }

    fn note(&mut self, element: &BytesStart<'_>) -> InspectionResult {
        let (mut part, mut content_type) = (None, String::new());
        for attribute in element.attributes() {
            let attribute = attribute.map_err(damaged)?;
            let value = String::from_utf8_lossy(&attribute.value).into_owned();
            match attribute.key.as_ref() {
                b"PartName" => part = Some(Part::Named(value.trim_start_matches('/').to_lowercase())),
                b"Extension" => part = Some(Part::Extension(value.to_lowercase())),
                b"ContentType" => value.trim().clone_into(&mut content_type),
                _ => {}
            }
        }
        let lower = content_type.to_ascii_lowercase();
        self.macros |= lower.contains("macroenabled") || lower.contains("vbaproject");
        if let Some(part) = part {
            self.declared.push((part, content_type));
        }
        Ok(())
    }
}

fn damaged(error: impl std::fmt::Display) -> String {
    format!("it is damaged: {error}")
}
