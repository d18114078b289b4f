//! Documents as lines of text: reads them from an office file and writes changed ones back. The kind is detected from
//! the bytes, never from the name, and archives are unpacked only up to the limits of the real server.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read, Write},
};

use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::{
    blank,
    xml::{self, BlockEdit, BlockFormat, EditPlan},
};

/// The kind of a document, detected from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Text document (docx).
    Word,
    /// Spreadsheet (xlsx).
    Cell,
    /// Presentation (pptx).
    Slide,
    /// PDF; its text cannot be edited.
    Pdf,
    /// Plain text, which the real server opens under any name and saves as docx.
    Text,
}

/// Why a document cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentError {
    /// Neither an office file nor a PDF nor text.
    Unknown,
    /// The unpacked size exceeds the limit.
    TooLarge,
    /// The archive or one of its parts is damaged.
    Corrupt(String),
}

const PARAGRAPHS: BlockFormat = BlockFormat {
    block: "p",
    run: Some("r"),
    keeps_space: true,
};
const SLIDE_PARAGRAPHS: BlockFormat = BlockFormat {
    block: "p",
    run: Some("r"),
    keeps_space: false,
};
const SHARED_STRINGS: BlockFormat = BlockFormat {
    block: "si",
    run: None,
    keeps_space: true,
};
const CELL_STRINGS: BlockFormat = BlockFormat {
    block: "is",
    run: None,
    keeps_space: true,
};

/// Prefix of the archive comment that holds text for which the parts have no element.
const COMMENT_PREFIX: &str = "practice text:\n";

impl DocumentKind {
    /// Returns the file type under which a document of this kind is saved.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Word | Self::Text => "docx",
            Self::Cell => "xlsx",
            Self::Slide => "pptx",
            Self::Pdf => "pdf",
        }
    }

    fn limit(self) -> u64 {
        if self == Self::Cell { 300 << 20 } else { 50 << 20 }
    }
}

fn corrupt(error: impl std::fmt::Display) -> DocumentError {
    DocumentError::Corrupt(error.to_string())
}

struct OfficePackage<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    kind: DocumentKind,
}

impl<'b> OfficePackage<'b> {
    fn open(bytes: &'b [u8]) -> Result<Self, DocumentError> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(corrupt)?;
        let has = |name: &str| archive.index_for_name(name).is_some();
        let kind = if has("word/document.xml") {
            DocumentKind::Word
        } else if has("xl/workbook.xml") {
            DocumentKind::Cell
        } else if has("ppt/presentation.xml") {
            DocumentKind::Slide
        } else {
            return Err(DocumentError::Unknown);
        };
        let mut declared = 0_u64;
        for number in 0..archive.len() {
            declared += archive.by_index_raw(number).map_err(corrupt)?.size();
        }
        if declared > kind.limit() {
            return Err(DocumentError::TooLarge);
        }
        Ok(Self { archive, kind })
    }

    fn part(&mut self, name: &str) -> Result<Vec<u8>, DocumentError> {
        let limit = self.kind.limit();
        let entry = self.archive.by_name(name).map_err(corrupt)?;
        let mut bytes = Vec::new();
        entry.take(limit + 1).read_to_end(&mut bytes).map_err(corrupt)?;
        if bytes.len() as u64 > limit {
            return Err(DocumentError::TooLarge);
        }
        Ok(bytes)
    }

    /// Returns the parts that hold text, in reading order.
    fn text_parts(&self) -> Result<Vec<(String, BlockFormat)>, DocumentError> {
        let numbered = |folder: &str| -> Result<Vec<String>, DocumentError> {
            let mut found = BTreeMap::new();
            for name in self.archive.file_names() {
                let name = name.map_err(corrupt)?;
                let number = name
                    .strip_prefix(folder)
                    .and_then(|rest| rest.strip_suffix(".xml"))
                    .and_then(|number| number.parse::<u32>().ok());
                if let Some(number) = number {
                    found.insert(number, name.into_owned());
                }
            }
            Ok(found.into_values().collect())
        };
        Ok(match self.kind {
            DocumentKind::Word => vec![("word/document.xml".into(), PARAGRAPHS)],
            DocumentKind::Slide => numbered("ppt/slides/slide")?
                .into_iter()
                .map(|name| (name, SLIDE_PARAGRAPHS))
                .collect(),
            _ => {
                let strings = "xl/sharedStrings.xml";
                let shared = self
                    .archive
                    .index_for_name(strings)
                    .map(|_| (strings.into(), SHARED_STRINGS));
                let sheet = numbered("xl/worksheets/sheet")?.into_iter().next();
                shared
                    .into_iter()
                    .chain(sheet.map(|name| (name, CELL_STRINGS)))
                    .collect()
            }
        })
    }

    fn comment_lines(&self) -> Vec<String> {
        let comment = String::from_utf8_lossy(self.archive.comment());
        let text = comment.strip_prefix(COMMENT_PREFIX).unwrap_or("");
        text.lines().map(str::to_owned).collect()
    }

    /// Returns a copy of the archive with some parts replaced; all others are copied in compressed form.
    fn rewrite(mut self, parts: &BTreeMap<String, Vec<u8>>, extra: &[String]) -> Result<Vec<u8>, DocumentError> {
        let mut copy = ZipWriter::new(Cursor::new(Vec::new()));
        for number in 0..self.archive.len() {
            let entry = self.archive.by_index_raw(number).map_err(corrupt)?;
            let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
            if let Some(new) = parts.get(&name) {
                copy.start_file(name, SimpleFileOptions::default()).map_err(corrupt)?;
                copy.write_all(new).map_err(corrupt)?;
            } else {
                copy.raw_copy_file(entry).map_err(corrupt)?;
            }
        }
        if !extra.is_empty() {
            copy.set_comment(format!("{COMMENT_PREFIX}{}", extra.join("\n")))
                .map_err(corrupt)?;
        }
        Ok(copy.finish().map_err(corrupt)?.into_inner())
    }
}

fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// Returns the kind of the document and its lines: paragraphs, or the texts of cells and slides.
pub fn read(bytes: &[u8]) -> Result<(DocumentKind, Vec<String>), DocumentError> {
    if bytes.starts_with(b"%PDF-") {
        let text = crate::pdf::text(bytes).unwrap_or_default();
        return Ok((DocumentKind::Pdf, text.lines().map(str::to_owned).collect()));
    }
    if !is_archive(bytes) {
        let text = std::str::from_utf8(bytes).map_err(|_| DocumentError::Unknown)?;
        let readable = !text.chars().any(|c| c.is_control() && !c.is_whitespace());
        let lines = text.lines().map(str::to_owned).collect();
        return if readable {
            Ok((DocumentKind::Text, lines))
        } else {
            Err(DocumentError::Unknown)
        };
    }
    let mut package = OfficePackage::open(bytes)?;
    let mut lines = Vec::new();
    for (name, format) in package.text_parts()? {
        lines.extend(xml::read(&package.part(&name)?, &format).map_err(corrupt)?);
    }
    lines.extend(package.comment_lines());
    Ok((package.kind, lines))
}

/// Returns the document with `lines` as its text; parts without text are unchanged.
pub fn write(bytes: &[u8], lines: &[String]) -> Result<Vec<u8>, DocumentError> {
    if bytes.starts_with(b"%PDF-") {
        return Ok(bytes.to_vec());
    }
    if !is_archive(bytes) {
        return write(&blank::document("docx"), lines);
    }
    let mut package = OfficePackage::open(bytes)?;
    let mut parts = Vec::new();
    for (name, format) in package.text_parts()? {
        let xml = package.part(&name)?;
        let blocks = xml::read(&xml, &format).map_err(corrupt)?;
        parts.push((name, format, xml, blocks));
    }
    let old: Vec<String> = parts.iter().flat_map(|part| part.3.iter().cloned()).collect();
    let whole = if package.kind == DocumentKind::Cell {
        map_by_position(&old, lines)
    } else {
        diff_blocks(&old, lines)
    };
    let BlockEdits {
        edits,
        mut first,
        after,
        mut rest,
    } = whole;
    let mut written = BTreeMap::new();
    let mut offset = 0;
    for (name, format, xml, blocks) in parts {
        let mut plan = EditPlan {
            edits: edits[offset..offset + blocks.len()].to_vec(),
            ..EditPlan::default()
        };
        for number in 0..blocks.len() {
            if let Some(new) = after.get(&(offset + number)) {
                plan.after.insert(number, new.clone());
            }
        }
        if !blocks.is_empty() || package.kind == DocumentKind::Word {
            plan.first = std::mem::take(&mut first);
        }
        offset += blocks.len();
        let mut new = xml::write(&xml, &format, &plan).map_err(corrupt)?;
        if format.block == CELL_STRINGS.block {
            append_rows(&mut new, &mut rest);
        }
        if new != xml {
            written.insert(name, new);
        }
    }
    rest.extend(first);
    package.rewrite(&written, &rest)
}

/// The edits of all lines of a document.
struct BlockEdits {
    edits: Vec<BlockEdit>,
    first: Vec<String>,
    after: BTreeMap<usize, Vec<String>>,
    rest: Vec<String>,
}

/// Keeps the blocks of the common prefix and suffix and replaces only those between them.
fn diff_blocks(old: &[String], new: &[String]) -> BlockEdits {
    let same_start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let same_end = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (removed, added) = (
        &old_rest[..old_rest.len() - same_end],
        &new_rest[..new_rest.len() - same_end],
    );
    let paired = removed.len().min(added.len());
    let mut edits = vec![BlockEdit::Keep; old.len()];
    for (at, edit) in edits.iter_mut().skip(same_start).take(removed.len()).enumerate() {
        *edit = added
            .get(at)
            .map_or(BlockEdit::Remove, |text| BlockEdit::Set(text.clone()));
    }
    let extra = added[paired..].to_vec();
    let mut changes = BlockEdits {
        edits,
        first: Vec::new(),
        after: BTreeMap::new(),
        rest: Vec::new(),
    };
    match (same_start + paired).checked_sub(1) {
        _ if extra.is_empty() => {}
        Some(before) => {
            changes.after.insert(before, extra);
        }
        None => changes.first = extra,
    }
    changes
}

/// Cells refer to shared strings by index, so these keep their positions and additional lines become rows.
fn map_by_position(old: &[String], new: &[String]) -> BlockEdits {
    let edits = old.iter().enumerate().map(|(at, was)| match new.get(at) {
        Some(text) if text == was => BlockEdit::Keep,
        Some(text) => BlockEdit::Set(text.clone()),
        None => BlockEdit::Set(String::new()),
    });
    BlockEdits {
        edits: edits.collect(),
        first: Vec::new(),
        after: BTreeMap::new(),
        rest: new.iter().skip(old.len()).cloned().collect(),
    }
}

/// Appends lines to the sheet as rows of one cell.
fn append_rows(sheet: &mut Vec<u8>, lines: &mut Vec<String>) {
    let text = String::from_utf8_lossy(sheet).into_owned();
    let mut rows = String::new();
    for line in lines.iter() {
        let line: String = line.chars().filter(|c| *c == '\t' || !c.is_control()).collect();
        let line = quick_xml::escape::escape(line.as_str());
        rows.push_str("<row><c t=\"inlineStr\"><is><t xml:space=\"preserve\">");
        rows.push_str(&line);
        rows.push_str("</t></is></c></row>");
    }
    let filled = if text.contains("</sheetData>") {
        text.replacen("</sheetData>", &format!("{rows}</sheetData>"), 1)
    } else if text.contains("<sheetData/>") {
        text.replacen("<sheetData/>", &format!("<sheetData>{rows}</sheetData>"), 1)
    } else {
        return;
    };
    *sheet = filled.into_bytes();
    lines.clear();
}

#[cfg(test)]
#[path = "ooxml_tests.rs"]
mod tests;
