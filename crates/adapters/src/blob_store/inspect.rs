//! Validates file types: the content must match the type of the extension. Everything else is rejected, so that no
//! stored file can be interpreted as another type by a browser or an office program.

use std::io::Read;

use domain::file::{FileType, LegacyFormat};

use super::archive::{self, ArchiveKind};
use super::staged::{FileSource, ReadSeek, Staged};
use common::error::{Error, Result};

use super::{blocking, compound};

/// Markup that must not appear at the beginning of an image or document: a browser that sniffs types would run it.
const MARKUP: &[&[u8]] = &[b"<script", b"<html", b"<!doctype", b"<body", b"<iframe", b"<svg"];

/// The reason of a rejection, shown to users after the file type.
pub(super) type InspectionResult = Result<(), String>;

/// The type of an uploaded file, determined from its name and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadedType {
    /// A type that is stored.
    Stored(FileType),
    /// A format that has to be converted.
    Legacy(LegacyFormat),
}

/// Determines the type of an uploaded file. Older Office formats are recognized by their content. The extension must
/// belong to the same editor: Word saves .rtf files as .doc, and users rename .doc files to .docx.
pub async fn uploaded_type(staged: &Staged, name: &str) -> Result<UploadedType> {
    let claimed = LegacyFormat::of_name(name);
    let modern =
        FileType::of_name(name).filter(|kind| matches!(kind, FileType::Docx | FileType::Xlsx | FileType::Pptx));
    let Some(target) = claimed.map(LegacyFormat::successor).or(modern) else {
        return file_type(staged, name).await.map(UploadedType::Stored);
    };
    let something_else = || {
        let extension = claimed.map_or(target.as_str(), LegacyFormat::as_str);
        Error::UnsupportedFileType(format!("this is no {extension} file (its content is something else)"))
    };
    let found = if staged.peek(5) == b"{\\rtf" {
        Some(compound::CompoundContent::Format(LegacyFormat::Rtf))
    } else if staged.peek(8) == compound::MAGIC {
        let source = staged.source();
        blocking(move || Ok(compound::content(&mut source.open()?))).await?
    } else if claimed.is_none() {
        return file_type(staged, name).await.map(UploadedType::Stored);
    } else {
        None
    };
    match found {
        Some(compound::CompoundContent::Format(format)) if format.successor() == target => {
            Ok(UploadedType::Legacy(format))
        }
        Some(compound::CompoundContent::Encrypted) => Err(Error::UnreadableFile {
            code: "password",
            message: "it is protected with a password",
        }),
        _ => Err(something_else()),
    }
}

/// Returns the type of a file's extension after checking its content.
pub async fn file_type(staged: &Staged, name: &str) -> Result<FileType> {
    let claimed = FileType::of_name(name).ok_or_else(|| {
        let extension = name.rsplit_once('.').map_or("no extension", |(_, extension)| extension);
        Error::UnsupportedFileType(extension.chars().take(20).collect())
    })?;
    check_type(staged, claimed).await?;
    Ok(claimed)
}

/// Returns the first `count` bytes.
pub async fn head(staged: &Staged, count: u64) -> Result<Vec<u8>> {
    let source = staged.source();
    blocking(move || {
        let mut bytes = Vec::new();
        source.open()?.take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    })
    .await
}

/// Rejects content that is not of this type.
pub async fn check_type(staged: &Staged, kind: FileType) -> Result<()> {
    check(staged.source(), staged.peek(4096).to_vec(), kind).await
}

/// Returns the type of a table's or archive's extension after checking its content; for files that are read in place.
pub async fn table_type(source: &FileSource, name: &str) -> Result<FileType> {
    let refused = || Error::UnsupportedFileType("an import is a .csv or .zip file".to_owned());
    let claimed = FileType::of_name(name).filter(|kind| matches!(kind, FileType::Csv | FileType::Zip));
    let claimed = claimed.ok_or_else(refused)?;
    check(source.clone(), Vec::new(), claimed).await?;
    Ok(claimed)
}

async fn check(source: FileSource, head: Vec<u8>, kind: FileType) -> Result<()> {
    blocking(move || {
        let refused = |reason: String| Error::UnsupportedFileType(format!("this is no {kind} file ({reason})"));
        match package(kind) {
            _ if is_text(kind) => text(source.open()?, kind, &head).map_err(refused),
            Some(package) => archive::check(&source, package).map_err(refused),
            None => binary(kind, &head).map_err(refused),
        }
    })
    .await
}

const fn is_text(kind: FileType) -> bool {
    matches!(kind, FileType::Txt | FileType::Md | FileType::Csv | FileType::Svg)
}

const fn package(kind: FileType) -> Option<ArchiveKind> {
    Some(match kind {
        FileType::Docx => {
            ArchiveKind::Ooxml("application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml")
        }
        FileType::Xlsx => {
            ArchiveKind::Ooxml("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml")
        }
        FileType::Pptx => {
            ArchiveKind::Ooxml("application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml")
        }
        FileType::Odt | FileType::Ods | FileType::Odp => ArchiveKind::OpenDocument(kind.mime()),
        FileType::Zip => ArchiveKind::Plain,
        _ => return None,
    })
}

/// Checks the magic bytes of images, audio, video and PDFs.
fn binary(kind: FileType, head: &[u8]) -> InspectionResult {
    let at = |offset: usize, magic: &[u8]| head.get(offset..offset + magic.len()) == Some(magic);
    let fits = match kind {
        FileType::Pdf => at(0, b"%PDF-1.") || at(0, b"%PDF-2."),
        FileType::Png => at(0, b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"),
        FileType::Jpg => at(0, b"\xff\xd8\xff"),
        FileType::Gif => at(0, b"GIF87a") || at(0, b"GIF89a"),
        FileType::Webp => at(0, b"RIFF") && at(8, b"WEBPVP8"),
        // An ID3 tag, or the sync word of an MPEG layer III frame.
        FileType::Mp3 => at(0, b"ID3") || matches!(head, [0xff, second, ..] if second & 0xe6 == 0xe2),
        FileType::M4a | FileType::Mp4 => at(4, b"ftyp"),
        FileType::Webm => at(0, b"\x1a\x45\xdf\xa3") && contains(&head[..head.len().min(128)], b"webm"),
        _ => false,
    };
    if !fits {
        return Err("its content is something else".to_owned());
    }
    let beginning: Vec<u8> = head.iter().take(1024).map(u8::to_ascii_lowercase).collect();
    if MARKUP.iter().any(|tag| contains(&beginning, tag)) {
        return Err("it begins with a web page".to_owned());
    }
    Ok(())
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// Checks for UTF-8 without NUL in chunks; an SVG must also begin like one.
fn text(mut reader: Box<dyn ReadSeek>, kind: FileType, head: &[u8]) -> InspectionResult {
    if kind == FileType::Svg && !is_drawing(&String::from_utf8_lossy(head)) {
        return Err("it does not begin with <svg".to_owned());
    }
    let mut chunk = vec![0; 64 * 1024];
    let mut kept = 0;
    loop {
        let read = reader.read(&mut chunk[kept..]).map_err(|error| error.to_string())?;
        let filled = kept + read;
        if chunk[kept..filled].contains(&0) {
            return Err("it holds a NUL byte".to_owned());
        }
        let whole = match std::str::from_utf8(&chunk[..filled]) {
            Ok(_) => filled,
            // A character may be split between chunks, but not at the end of the file.
            Err(error) if error.error_len().is_none() && read > 0 => error.valid_up_to(),
            Err(_) => return Err("it is not UTF-8 text".to_owned()),
        };
        if read == 0 {
            return Ok(());
        }
        chunk.copy_within(whole..filled, 0);
        kept = filled - whole;
    }
}

/// Returns whether a text is an SVG: only declarations and comments before `<svg`.
fn is_drawing(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    for (open, close) in std::iter::repeat_n([("<?", "?>"), ("<!--", "-->"), ("<!DOCTYPE svg", ">")], 8).flatten() {
        if rest.starts_with(open)
            && let Some((_, after)) = rest.split_once(close)
        {
            rest = after.trim_start();
        }
    }
    let after_name = rest.strip_prefix("<svg").or_else(|| rest.strip_prefix("<svg:svg"));
    after_name.is_some_and(|after| after.starts_with(|next: char| next.is_whitespace() || next == '>' || next == ':'))
}
