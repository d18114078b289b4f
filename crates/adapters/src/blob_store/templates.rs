//! The blank templates, embedded in the binary: the content of a document before its first save.

use domain::document_kind::FileExtension;
use sha2::{Digest, Sha256};

use super::staged::hex;

/// Returns the blank template of a type; `None` for types that cannot be created.
pub const fn blank_document(extension: FileExtension) -> Option<&'static [u8]> {
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

/// Returns the hexadecimal SHA-256 of embedded bytes.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
