//! Reads .docx files as documents of the built-in editor, and writes edited documents back.
//!
//! [`open`] converts the text of a file into the rich text of `crates/rich-text/schema.json`. What the schema does not
//! know becomes an island: it is shown as a labelled box and kept byte for byte. [`save`] patches the original file: parts
//! and paragraphs that were not edited keep their bytes.

mod content;
mod error;
mod flat;
mod footnotes;
mod format;
mod grid;
mod json;
mod limits;
mod normalize;
mod numbering;
mod original;
mod package;
mod properties;
mod read;
mod styles;
mod units;
mod write;
mod xml;

use serde_json::Value;

pub use error::{DocxError, DocxResult};
pub use limits::Limits;
pub use original::{ImagePart, ReadOnlyReason};
pub use read::IslandSummary;
pub use styles::StyleName;
pub use write::{ImageSource, NewImage, SaveProblem, Saved};

use original::OriginalFile;
use package::Package;

/// An opened file.
#[derive(Debug)]
pub struct Opened {
    /// The rich text as JSON. Blocks have the attribute `source`, with which [`save`] finds the original block.
    pub document: Value,
    /// The islands in the order of the document.
    pub islands: Vec<IslandSummary>,
    /// Pictures that image nodes refer to; [`read_part`] returns their bytes.
    pub images: Vec<ImagePart>,
    /// Paragraph styles that the document offers.
    pub styles: Vec<StyleName>,
    /// Why the document can be shown but not edited.
    pub read_only: Option<ReadOnlyReason>,
}

/// Reads a file.
pub fn open(bytes: &[u8], limits: &Limits) -> DocxResult<Opened> {
    let mut package = Package::open(bytes, limits)?;
    let original = OriginalFile::read(&mut package)?;
    let reading = read::read(&original, limits);
    let document = json::to_json(&reading.document);
    if json::content_size(&document) > limits.document_size {
        return Err(DocxError::TooLarge("it contains too much text to be edited here"));
    }
    Ok(Opened {
        document,
        islands: reading.summaries(),
        images: original.images().cloned().collect(),
        styles: original.styles.names(),
        read_only: original.read_only_reason(),
    })
}

/// Returns the bytes of a part, for example of a picture.
pub fn read_part(bytes: &[u8], part: &str, limits: &Limits) -> DocxResult<Option<Vec<u8>>> {
    Package::open(bytes, limits)?.read(part)
}

/// Writes an edited document into a copy of the file that it was opened from.
///
/// `document` is the rich text as JSON, whose `source` attributes refer to blocks of `original`. `images` returns
/// pictures that are not part of the original. If nothing was edited, the result is `original` itself.
pub fn save(original: &[u8], document: &Value, images: &ImageSource<'_>, limits: &Limits) -> DocxResult<Saved> {
    write::save(original, &json::from_json(document)?, images, limits)
}

/// Returns a document in the form in which it is read back after [`save`]: what a file cannot express is dropped or
/// expressed differently, for example adjacent bullet lists are one list.
pub fn normalize(document: &Value) -> DocxResult<Value> {
    Ok(json::to_json(&json::from_json(document)?.normalized()))
}
