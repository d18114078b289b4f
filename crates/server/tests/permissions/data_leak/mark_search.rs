//! Searches for marks in all output of the service: JSON, headers, frames, CSV, nested archives, office documents,
//! PDFs, and encoded values in cursors and tokens.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Minimum length of an encoded value. Shorter runs of characters are ordinary text.
const ENCODED: usize = 16;

/// Returns the marks that occur in these bytes, in any encoding.
pub fn find_marks<'m>(bytes: &[u8], marks: impl IntoIterator<Item = &'m String>) -> BTreeSet<String> {
    let text = readable(bytes, 0);
    let contained = marks.into_iter().filter(|mark| text.contains(mark.as_str()));
    contained.cloned().collect()
}

/// Returns all readable text in these bytes, in lower case.
fn readable(bytes: &[u8], depth: u8) -> String {
    let mut text = String::from_utf8_lossy(bytes).to_lowercase();
    if depth > 3 {
        return text;
    }
    if bytes.starts_with(b"PK\x03\x04") {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            text.push_str(&entry.name().unwrap().to_lowercase());
            text.push_str(&readable(&content, depth + 1));
        }
    } else if bytes.starts_with(b"%PDF") {
        let words = document_server_simulator::read_document(bytes).map(|(_, lines)| lines.join(" "));
        text.push_str(&words.unwrap_or_default().to_lowercase());
    } else {
        let is_encoding = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
        for run in bytes
            .split(|byte| !is_encoding(byte))
            .filter(|run| run.len() >= ENCODED)
        {
            let decoded = URL_SAFE_NO_PAD.decode(run).or_else(|_| STANDARD_NO_PAD.decode(run));
            if let Ok(decoded) = decoded {
                text.push('\n');
                text.push_str(&readable(&decoded, depth + 1));
            }
        }
    }
    text
}

#[test]
fn mark_is_found_in_every_encoding() {
    use std::io::Write as _;

    let marks = ["qz-here".to_owned(), "qz-elsewhere".to_owned()];
    let is_found = |bytes: &[u8]| find_marks(bytes, &marks).into_iter().collect::<Vec<_>>() == ["qz-here"];
    assert!(is_found(br#"{"name":"QZ-Here"}"#));
    let cursor = URL_SAFE_NO_PAD.encode(br#"["qz-here",7]"#);
    assert!(is_found(format!(r#"{{"nextCursor":"{cursor}"}}"#).as_bytes()));
    assert!(is_found(format!("head.{cursor}.signature").as_bytes()));
    let packed = |name: &str, content: &[u8]| {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive
            .start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content).unwrap();
        archive.finish().unwrap().into_inner()
    };
    assert!(is_found(&packed("qz-here.txt", b"")));
    assert!(is_found(&packed(
        "inner.docx",
        &packed("word/document.xml", b"<t>qz-here</t>")
    )));
    assert!(!is_found(b"nothing"));
}
