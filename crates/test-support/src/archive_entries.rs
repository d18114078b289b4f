//! Archives as a client unpacks them: all entries in sequence, with verified checksums.

use std::io::{Cursor, Read as _, Write as _};
use std::process::{Command, Stdio};

/// One file of an archive.
pub struct ArchiveEntry {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Whether the archive flags the name as UTF-8, if the name is not ASCII.
    pub is_utf8: bool,
}

/// Returns all files of an archive in their stored sequence.
pub fn read_archive(bytes: &[u8]) -> Vec<ArchiveEntry> {
    let flags = flags(bytes);
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(archive.len(), flags.len());
    let entry = |index: usize| {
        let mut entry = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let name = String::from_utf8(entry.name_raw().to_vec()).unwrap();
        assert!(
            entry.enclosed_name().is_some() && entry.is_file(),
            "{name} leads outside"
        );
        ArchiveEntry {
            name,
            bytes,
            is_utf8: flags[index] & 1 << 11 != 0,
        }
    };
    (0..flags.len()).map(entry).collect()
}

/// Returns the flags of all entries from the central directory.
fn flags(bytes: &[u8]) -> Vec<u16> {
    let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let end = bytes.windows(4).rposition(|four| four == b"PK\x05\x06").unwrap();
    let mut at = usize::from(number(end + 16)) | usize::from(number(end + 18)) << 16;
    let mut flags = Vec::new();
    for _ in 0..number(end + 10) {
        assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
        flags.push(number(at + 8));
        at += 46
            + [28, 30, 32]
                .map(|field| usize::from(number(at + field)))
                .iter()
                .sum::<usize>();
    }
    flags
}

/// Checks an archive with Python's `zipfile` and returns the fault it reports; `None` if there is none or if Python is
/// not installed.
pub fn python_zip_error(bytes: &[u8]) -> Option<String> {
    let script = "import sys, io, zipfile\n\
                  archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))\n\
                  print(archive.testzip())";
    let python = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut python) = python else {
        println!("there is no python3 here; the archive was not shown to it");
        return None;
    };
    python.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = python.wait_with_output().unwrap();
    let context = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && context == "None" {
        None
    } else {
        Some(context)
    }
}

/// Parses a table into rows keyed by the names in its header.
pub fn rows(table: &[u8]) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv_core::Reader::new();
    let (mut input, mut records, mut record, mut cell) = (table, Vec::new(), Vec::new(), Vec::new());
    loop {
        let mut piece = [0; 256];
        let (result, read, written) = reader.read_field(input, &mut piece);
        input = &input[read..];
        cell.extend_from_slice(&piece[..written]);
        match result {
            csv_core::ReadFieldResult::InputEmpty if input.is_empty() && read == 0 => break,
            csv_core::ReadFieldResult::InputEmpty | csv_core::ReadFieldResult::OutputFull => {}
            csv_core::ReadFieldResult::Field { record_end } => {
                record.push(String::from_utf8(std::mem::take(&mut cell)).unwrap());
                if record_end {
                    records.push(std::mem::take(&mut record));
                }
            }
            csv_core::ReadFieldResult::End => break,
        }
    }
    let head = records.remove(0);
    let named = |record: Vec<String>| head.iter().cloned().zip(record).collect();
    records.into_iter().map(named).collect()
}
