//! The blank documents of this project, part of the program: what a document is before anything was saved in it.

use model::document_kind::FileExtension;
use sha2::{Digest, Sha256};

use super::staged::hex;

/// The bytes of a blank document; only kinds that can be made from nothing have one.
pub const fn blank(extension: FileExtension) -> Option<&'static [u8]> {
    match extension {
        FileExtension::Docx => Some(include_bytes!("../../templates/blank.docx")),
        FileExtension::Xlsx => Some(include_bytes!("../../templates/blank.xlsx")),
        FileExtension::Pptx => Some(include_bytes!("../../templates/blank.pptx")),
        FileExtension::Pdf
        | FileExtension::Odt
        | FileExtension::Ods
        | FileExtension::Odp
        | FileExtension::Txt
        | FileExtension::Csv => None,
    }
}

/// Hexadecimal SHA-256 of bytes that are part of the program.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
