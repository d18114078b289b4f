//! Office documents and archives for tests: valid, dangerous, and with false headers.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
pub const SHEET: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";

/// Builds a compressed archive of these entries.
pub fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    packed(entries, CompressionMethod::Deflated)
}

fn packed(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer
            .start_file(*name, SimpleFileOptions::default().compression_method(method))
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Builds the list of content types with this main part.
pub fn content_types(part: &str, main: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"{part}\" ContentType=\"{main}\"/></Types>"
    )
}

/// Builds a text document with one paragraph.
pub fn docx(text: &str) -> Vec<u8> {
    docx_with(text, &[])
}

/// Returns a Word file with one paragraph that is complete enough for editors: with relationships and namespaces.
pub fn word_document(text: &str) -> Vec<u8> {
    word_document_with(text, &[])
}

/// Returns such a Word file with additional entries.
pub fn word_document_with(text: &str, further: &[(&str, &[u8])]) -> Vec<u8> {
    let types = content_types("/word/document.xml", WORD);
    let relationships = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let body = format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"#
    );
    let mut entries = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", relationships.as_bytes()),
        ("word/document.xml", body.as_bytes()),
    ];
    entries.extend_from_slice(further);
    archive(&entries)
}

/// Builds a text document with additional entries.
pub fn docx_with(text: &str, further: &[(&str, &[u8])]) -> Vec<u8> {
    let types = content_types("/word/document.xml", WORD);
    let body = format!("<w:document><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>");
    let mut entries = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("word/document.xml", body.as_bytes()),
    ];
    entries.extend_from_slice(further);
    archive(&entries)
}

/// Builds an OpenDocument file of this media type.
pub fn open_document(mime: &str, further: &[(&str, &[u8])]) -> Vec<u8> {
    let mut entries: Vec<(&str, &[u8])> = vec![("mimetype", mime.as_bytes()), ("content.xml", b"<office/>")];
    entries.extend_from_slice(further);
    packed(&entries, CompressionMethod::Stored)
}

/// Builds a document whose many entries share the same bytes of the file (a zip bomb): small to upload, but huge when
/// unpacked.
pub fn overlapping(copies: u16) -> Vec<u8> {
    let zeros = vec![0; 8 << 20];
    let one = archive(&[("word/media/a.bin", &zeros)]);
    let directory = find(&one, b"PK\x01\x02");
    let end = find(&one, b"PK\x05\x06");
    let entry = one[directory..end].to_vec();
    let mut bytes = one[..directory].to_vec();
    for copy in 0..copies {
        let mut entry = entry.clone();
        // Distinct names of the same length.
        let name = format!("word/{copy:011}");
        entry[46..46 + name.len()].copy_from_slice(name.as_bytes());
        bytes.extend(entry);
    }
    finished(bytes, directory, copies)
}

/// Builds a document that declares far more entries than its size permits.
pub fn archive_with_many_entries() -> Vec<u8> {
    let one = archive(&[("a", b"x")]);
    let directory = find(&one, b"PK\x01\x02");
    let end = find(&one, b"PK\x05\x06");
    let mut bytes = one[..directory].to_vec();
    for _ in 0..20_000 {
        bytes.extend_from_slice(&one[directory..end]);
    }
    finished(bytes, directory, 20_000)
}

/// Builds a document with an entry that unpacks to a thousand times its declared size.
pub fn archive_with_false_sizes() -> Vec<u8> {
    let zeros = vec![0; 64 << 20];
    let mut bytes = docx_with("x", &[("word/big.xml", &zeros)]);
    let declared = u32::try_from(zeros.len()).unwrap().to_le_bytes();
    let positions: Vec<usize> = (0..bytes.len() - 4)
        .filter(|at| bytes[*at..*at + 4] == declared)
        .collect();
    assert!(!positions.is_empty(), "the size is declared somewhere");
    for at in positions {
        bytes[at..at + 4].copy_from_slice(&4096_u32.to_le_bytes());
    }
    bytes
}

fn finished(mut bytes: Vec<u8>, directory: usize, entries: u16) -> Vec<u8> {
    let size = u32::try_from(bytes.len() - directory).unwrap();
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    bytes.extend_from_slice(&entries.to_le_bytes());
    bytes.extend_from_slice(&entries.to_le_bytes());
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(directory).unwrap().to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

fn find(bytes: &[u8], needle: &[u8]) -> usize {
    bytes.windows(needle.len()).position(|window| window == needle).unwrap()
}
