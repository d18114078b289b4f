//! Files in legacy Office formats, built according to [MS-CFB], [MS-DOC], [MS-XLS], [MS-PPT] and the RTF specification:
//! each has the structure by which programs recognize the format, and one readable text.

/// Size of a sector in bytes.
const SECTOR: usize = 512;
/// Marks the end of a sector chain.
const END: u32 = 0xFFFF_FFFE;
/// Marks an unused sector or a missing directory entry.
const FREE: u32 = 0xFFFF_FFFF;
/// The minimum size of a stream that is stored outside the mini stream; all streams here are padded to it.
const STREAM: usize = 4096;

/// Builds a .doc with this text.
pub fn doc(text: &str) -> Vec<u8> {
    compound(&[("WordDocument", doc_stream(text, false)), ("1Table", Vec::new())])
}

/// Builds an encrypted .doc with this text.
pub fn doc_with_password(text: &str) -> Vec<u8> {
    compound(&[("WordDocument", doc_stream(text, true))])
}

/// Builds a .doc with an embedded spreadsheet.
pub fn doc_with_sheet(text: &str) -> Vec<u8> {
    let mut entries = vec![
        Entry::stream("WordDocument", doc_stream(text, false)),
        Entry::storage("ObjectPool"),
        Entry::stream("Workbook", xls_stream("embedded", false)),
    ];
    entries[1].child = Some(2);
    entries[2].is_top_level = false;
    compound_of(entries)
}

/// Builds a .xls with this text.
pub fn xls(text: &str) -> Vec<u8> {
    compound(&[("Workbook", xls_stream(text, false))])
}

/// Builds an encrypted .xls with this text.
pub fn xls_with_password(text: &str) -> Vec<u8> {
    compound(&[("Workbook", xls_stream(text, true))])
}

/// Builds a .ppt with this text.
pub fn ppt(text: &str) -> Vec<u8> {
    // A Document container with one TextBytesAtom.
    let mut stream = record(0x0F, 0x03E8, &record(0, 0x0FA8, text.as_bytes()));
    stream.resize(STREAM, 0);
    compound(&[("PowerPoint Document", stream), ("Current User", vec![0; 64])])
}

/// Builds a password-protected .docx: the archive is encrypted inside a compound file.
pub fn docx_with_password() -> Vec<u8> {
    compound(&[
        ("EncryptionInfo", vec![4, 0, 4, 0]),
        ("EncryptedPackage", vec![7; 5000]),
    ])
}

/// Builds a compound file that is not an Office document, such as an installer.
pub fn other_compound() -> Vec<u8> {
    compound(&[("SummaryInformation", vec![0; 100])])
}

/// Builds an .rtf with this text.
pub fn rtf(text: &str) -> Vec<u8> {
    format!("{{\\rtf1\\ansi\\deff0{{\\fonttbl{{\\f0 Arial;}}}}\\f0\\fs24 {text}\\par }}").into_bytes()
}

fn doc_stream(text: &str, is_encrypted: bool) -> Vec<u8> {
    // FibBase: wIdent, nFib, …, flags at 10, fcMin at 24.
    let mut stream = vec![0; STREAM.max(SECTOR + text.len())];
    stream[..4].copy_from_slice(&[0xEC, 0xA5, 0xC1, 0x00]);
    stream[10..12].copy_from_slice(&(0x1000_u16 | u16::from(is_encrypted) << 8).to_le_bytes());
    stream[24..28].copy_from_slice(&512_u32.to_le_bytes());
    stream[SECTOR..SECTOR + text.len()].copy_from_slice(text.as_bytes());
    stream
}

fn xls_stream(text: &str, is_encrypted: bool) -> Vec<u8> {
    let short = |value: usize| u16::try_from(value).unwrap().to_le_bytes();
    let biff = |kind: u16, content: &[u8]| [&kind.to_le_bytes()[..], &short(content.len()), content].concat();
    let mut stream = biff(0x0809, &[0, 6, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    if is_encrypted {
        stream.extend(biff(0x002F, &[0; 6]));
    }
    // SST with one string, stored with one byte per character.
    let mut sst = [1_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
    sst.extend(short(text.len()));
    sst.push(0);
    sst.extend(text.as_bytes());
    stream.extend(biff(0x00FC, &sst));
    stream.extend(biff(0x000A, &[]));
    stream.resize(STREAM.max(stream.len()), 0);
    stream
}

fn record(version: u16, kind: u16, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap();
    [
        &version.to_le_bytes()[..],
        &kind.to_le_bytes(),
        &length.to_le_bytes(),
        content,
    ]
    .concat()
}

struct Entry {
    name: &'static str,
    content: Vec<u8>,
    is_storage: bool,
    is_top_level: bool,
    child: Option<u32>,
}

impl Entry {
    fn stream(name: &'static str, mut content: Vec<u8>) -> Self {
        content.resize(content.len().max(STREAM), 0);
        Self {
            name,
            content,
            is_storage: false,
            is_top_level: true,
            child: None,
        }
    }

    fn storage(name: &'static str) -> Self {
        Self {
            is_storage: true,
            content: Vec::new(),
            ..Self::stream(name, Vec::new())
        }
    }
}

/// Builds a compound file with these streams below its root.
pub fn compound(streams: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    compound_of(
        streams
            .iter()
            .map(|(name, content)| Entry::stream(name, content.clone()))
            .collect(),
    )
}

/// Builds a compound file: header, the FAT in sector 0, the directory, then the streams in sequence. Values of `child`
/// are relative to the first entry after the root.
fn compound_of(entries: Vec<Entry>) -> Vec<u8> {
    let directory_sectors = (entries.len() + 1).div_ceil(4);
    let mut fat = vec![0xFFFF_FFFD_u32];
    let chain = |fat: &mut Vec<u32>, sectors: usize| {
        let start = u32::try_from(fat.len()).unwrap();
        for number in 1..=sectors {
            let next = start + u32::try_from(number).unwrap();
            fat.push(if number == sectors { END } else { next });
        }
        start
    };
    let directory_start = chain(&mut fat, directory_sectors);
    let starts: Vec<u32> = entries
        .iter()
        .map(|entry| match entry.content.len().div_ceil(SECTOR) {
            0 => END,
            sectors => chain(&mut fat, sectors),
        })
        .collect();
    assert!(
        fat.len() <= SECTOR / 4,
        "the file is larger than one sector of the FAT lists"
    );

    let mut bytes = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    bytes.resize(24, 0);
    bytes.extend([0x3E, 0, 3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    bytes.resize(44, 0);
    // One FAT sector, the directory, the minimum size of a stream, no mini FAT, no DIFAT sectors.
    for value in [1, directory_start, 0, 4096, END, 0, END, 0, 0] {
        bytes.extend(value.to_le_bytes());
    }
    bytes.resize(SECTOR, 0xFF);
    for value in fat {
        bytes.extend(value.to_le_bytes());
    }
    bytes.resize(2 * SECTOR, 0xFF);

    let top: Vec<u32> = (1..)
        .zip(&entries)
        .filter(|(_, entry)| entry.is_top_level)
        .map(|(index, _)| index)
        .collect();
    let mut directory = directory_entry("Root Entry", 5, FREE, top[0], END, 0);
    for (index, (entry, start)) in (1_u32..).zip(entries.iter().zip(&starts)) {
        // A linked list instead of a balanced tree: the right sibling of each entry is the next entry.
        let right = top.iter().find(|other| entry.is_top_level && **other > index);
        let kind = if entry.is_storage { 1 } else { 2 };
        let child = entry.child.map_or(FREE, |child| child + 1);
        directory.extend(directory_entry(
            entry.name,
            kind,
            right.copied().unwrap_or(FREE),
            child,
            *start,
            entry.content.len(),
        ));
    }
    while directory.len() < directory_sectors * SECTOR {
        directory.extend(directory_entry("", 0, FREE, FREE, 0, 0));
    }
    bytes.extend(directory);
    for entry in entries {
        let padded = entry.content.len().div_ceil(SECTOR) * SECTOR;
        bytes.extend(&entry.content);
        bytes.resize(bytes.len() + padded - entry.content.len(), 0);
    }
    bytes
}

fn directory_entry(name: &str, kind: u8, right: u32, child: u32, start: u32, size: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let length = if name.is_empty() { 0 } else { bytes.len() + 2 };
    bytes.resize(64, 0);
    bytes.extend(u16::try_from(length).unwrap().to_le_bytes());
    bytes.extend([kind, 1]);
    for value in [FREE, right, child] {
        bytes.extend(value.to_le_bytes());
    }
    bytes.resize(116, 0);
    bytes.extend(start.to_le_bytes());
    bytes.extend(u64::try_from(size).unwrap().to_le_bytes());
    bytes
}
