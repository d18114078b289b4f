//! Reads the directory of a compound file ([MS-CFB]), the container of .doc, .xls and .ppt: enough to tell these formats apart
//! and to find out whether the content is encrypted. Everything is bounded, because the numbers in a file can be anything.

use std::io::{Read, Seek, SeekFrom};

use domain::file::LegacyFormat;

/// The first bytes of a compound file.
pub(super) const MAGIC: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Marks the end of a chain of sectors, and an entry without a neighbor.
const NONE: u32 = u32::MAX - 5;
/// The most sectors of a directory that are read: 4096 entries of the usual sectors of 512 bytes.
const DIRECTORY_SECTORS_MAX: usize = 1024;
/// Sectors of the FAT that the header itself lists.
const HEADER_FAT_SECTORS: usize = 109;
/// Bytes of a directory entry.
const ENTRY: usize = 128;
/// The size from which the bytes of a stream are in sectors of their own.
const MINI_STREAM: u64 = 4096;

/// What a compound file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompoundContent {
    /// A document of this format.
    Format(LegacyFormat),
    /// An Office document that only its password opens.
    Encrypted,
    /// Something else.
    Unknown,
}

/// An entry of the directory.
struct DirectoryEntry {
    name: String,
    /// Its neighbors among the entries of the same storage.
    neighbors: [u32; 2],
    /// The first entry of a storage.
    child: u32,
    /// The first sector of a stream.
    start: u32,
    size: u64,
}

struct Reader<'r, R> {
    bytes: &'r mut R,
    header: Vec<u8>,
    sector_size: usize,
}

/// Returns what a compound file contains, or `None` for a damaged one.
pub(super) fn content(bytes: &mut (impl Read + Seek)) -> Option<CompoundContent> {
    let mut header = vec![0; 512];
    bytes.seek(SeekFrom::Start(0)).ok()?;
    bytes.read_exact(&mut header).ok()?;
    let shift = header.get(30).copied().filter(|shift| matches!(shift, 9 | 12))?;
    if !header.starts_with(MAGIC) {
        return None;
    }
    let mut reader = Reader {
        bytes,
        header,
        sector_size: 1 << shift,
    };
    let entries = reader.directory()?;
    let streams = top_level(&entries);
    let named = |name: &str| {
        let mut found = streams.iter();
        found.find(|entry| entry.name.eq_ignore_ascii_case(name)).copied()
    };
    // `EncryptedPackage` is a .docx, .xlsx or .pptx with a password.
    if named("EncryptedPackage").is_some() || named("EncryptedSummary").is_some() {
        return Some(CompoundContent::Encrypted);
    }
    let found = [
        (named("WordDocument"), LegacyFormat::Doc),
        (named("Workbook").or_else(|| named("Book")), LegacyFormat::Xls),
        (named("PowerPoint Document"), LegacyFormat::Ppt),
    ];
    let mut found = found
        .into_iter()
        .filter_map(|(entry, format)| entry.map(|entry| (entry, format)));
    let (Some((entry, format)), None) = (found.next(), found.next()) else {
        return Some(CompoundContent::Unknown);
    };
    let head = reader.head(entry).unwrap_or_default();
    Some(if is_encrypted(format, &head) {
        CompoundContent::Encrypted
    } else {
        CompoundContent::Format(format)
    })
}

/// The entries directly below the root. Embedded documents have entries of the same names further below.
fn top_level(entries: &[DirectoryEntry]) -> Vec<&DirectoryEntry> {
    let mut found = Vec::new();
    let mut waiting: Vec<u32> = entries.first().map(|root| root.child).into_iter().collect();
    while let Some(index) = waiting.pop() {
        let entry = usize::try_from(index).ok().and_then(|index| entries.get(index));
        // Entries that point at each other in a circle end here.
        if let Some(entry) = entry.filter(|_| found.len() < entries.len()) {
            waiting.extend(entry.neighbors);
            found.push(entry);
        }
    }
    found
}

/// Whether the head of the main stream announces encryption.
fn is_encrypted(format: LegacyFormat, head: &[u8]) -> bool {
    let short = |offset: usize| Some(u16::from_le_bytes(head.get(offset..offset + 2)?.try_into().ok()?));
    match format {
        // fEncrypted of FibBase.
        LegacyFormat::Doc => short(10).is_some_and(|flags| flags & 0x0100 != 0),
        // The record FilePass follows the first one, BOF.
        LegacyFormat::Xls => {
            let second = short(2).map(|length| 4 + usize::from(length));
            second.and_then(short) == Some(0x002f)
        }
        LegacyFormat::Ppt | LegacyFormat::Rtf => false,
    }
}

impl<R: Read + Seek> Reader<'_, R> {
    /// The entries of the directory, the root first.
    fn directory(&mut self) -> Option<Vec<DirectoryEntry>> {
        let mut entries = Vec::new();
        let mut sector = number(&self.header, 48)?;
        for _ in 0..DIRECTORY_SECTORS_MAX {
            if sector >= NONE {
                break;
            }
            let bytes = self.sector(sector)?;
            entries.extend(bytes.chunks_exact(ENTRY).filter_map(entry));
            sector = self.next(sector)?;
        }
        Some(entries)
    }

    /// The first bytes of a stream that has sectors of its own.
    fn head(&mut self, entry: &DirectoryEntry) -> Option<Vec<u8>> {
        let has_sectors = entry.size >= MINI_STREAM;
        self.sector(entry.start).filter(|_| has_sectors)
    }

    /// The sector that follows another one, from the FAT.
    fn next(&mut self, sector: u32) -> Option<u32> {
        let sector = usize::try_from(sector).ok()?;
        let per_sector = self.sector_size / 4;
        let mut index = sector / per_sector;
        let fat = if index < HEADER_FAT_SECTORS {
            number(&self.header, 76 + index * 4)?
        } else {
            // The rest is listed in a chain of sectors, which end with the number of the next one.
            index -= HEADER_FAT_SECTORS;
            let mut list = number(&self.header, 68)?;
            for _ in 0..index / (per_sector - 1) {
                let bytes = self.sector(list)?;
                list = number(&bytes, self.sector_size - 4)?;
            }
            number(&self.sector(list)?, index % (per_sector - 1) * 4)?
        };
        number(&self.sector(fat)?, sector % per_sector * 4)
    }

    fn sector(&mut self, sector: u32) -> Option<Vec<u8>> {
        let offset = (u64::from(sector) + 1).checked_mul(self.sector_size as u64)?;
        let mut bytes = vec![0; self.sector_size];
        self.bytes.seek(SeekFrom::Start(offset)).ok()?;
        self.bytes.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}

fn entry(bytes: &[u8]) -> Option<DirectoryEntry> {
    // The length counts the zero behind the name.
    let length = usize::from(*bytes.get(64)?).saturating_sub(2).min(62);
    let name: Vec<u16> = bytes[..length]
        .chunks_exact(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
        .collect();
    Some(DirectoryEntry {
        name: String::from_utf16_lossy(&name),
        neighbors: [number(bytes, 68)?, number(bytes, 72)?],
        child: number(bytes, 76)?,
        start: number(bytes, 116)?,
        size: u64::from(number(bytes, 120)?),
    })
}

fn number(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}
