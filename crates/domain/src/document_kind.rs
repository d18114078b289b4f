//! Kinds of documents: their editor, file extension and media type.

use crate::domain_error::DomainError;
use crate::string_enum::string_enum;

string_enum! {
    /// Type of editor a document needs.
    DocumentType {
        /// Text document.
        Word = "word",
        Cell = "cell",
        Slide = "slide",
        Pdf = "pdf",
    }
}

string_enum! {
    /// File extension of a document, in lower case and without a dot. Other files cannot be documents.
    FileExtension {
        /// Office Open XML text document.
        Docx = "docx",
        /// Office Open XML spreadsheet.
        Xlsx = "xlsx",
        /// Office Open XML presentation.
        Pptx = "pptx",
        Pdf = "pdf",
        /// OpenDocument text.
        Odt = "odt",
        /// OpenDocument spreadsheet.
        Ods = "ods",
        /// OpenDocument presentation.
        Odp = "odp",
        Txt = "txt",
        Csv = "csv",
    }
}

string_enum! {
    /// Editor in which a document opens.
    EditorKind {
        /// The editor of the web client.
        Builtin = "builtin",
        /// The editor of the document server.
        OnlyOffice = "onlyoffice",
    }
}

impl DocumentType {
    /// Returns the extension of a new blank document of this type; `None` for PDF, which can only be uploaded.
    pub const fn blank_extension(self) -> Option<FileExtension> {
        match self {
            Self::Word => Some(FileExtension::Docx),
            Self::Cell => Some(FileExtension::Xlsx),
            Self::Slide => Some(FileExtension::Pptx),
            Self::Pdf => None,
        }
    }
}

impl FileExtension {
    /// Returns the type of editor for such a file.
    pub const fn document_type(self) -> DocumentType {
        match self {
            Self::Docx | Self::Odt | Self::Txt => DocumentType::Word,
            Self::Xlsx | Self::Ods | Self::Csv => DocumentType::Cell,
            Self::Pptx | Self::Odp => DocumentType::Slide,
            Self::Pdf => DocumentType::Pdf,
        }
    }

    /// Parses the extension of a file name, ignoring case.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::parse(&name.rsplit_once('.')?.1.to_ascii_lowercase())
    }

    /// Returns whether a blank document with this extension can be created.
    pub const fn has_blank(self) -> bool {
        matches!(self, Self::Docx | Self::Xlsx | Self::Pptx)
    }

    /// Returns the media type for the `Content-Type` header.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Pdf => "application/pdf",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Self::Odp => "application/vnd.oasis.opendocument.presentation",
            Self::Txt => "text/plain; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    /// Returns the kind of a new blank document from the request: a type, an extension, or both if they agree.
    pub fn of_new(kind: Option<DocumentType>, extension: Option<Self>) -> Result<Self, DomainError> {
        let wrong = |path, message| {
            Err(DomainError::Invalid {
                path,
                code: "format",
                message,
            })
        };
        match (kind, extension) {
            (None, None) => Err(DomainError::Invalid {
                path: "documentType",
                code: "required",
                message: "or fileExtension is required",
            }),
            (Some(kind), Some(extension)) if extension.document_type() != kind => {
                wrong("fileExtension", "does not fit documentType")
            }
            (_, Some(extension)) if !extension.has_blank() => wrong(
                "fileExtension",
                "must be docx, xlsx or pptx; other files can be uploaded",
            ),
            (_, Some(extension)) => Ok(extension),
            (Some(kind), None) => kind
                .blank_extension()
                .map_or_else(|| wrong("documentType", "must be word, cell or slide"), Ok),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FileType;

    #[test]
    fn every_document_may_also_be_uploaded_and_keeps_its_media_type() {
        for extension in FileExtension::ALL {
            assert_eq!(
                FileType::parse(extension.as_str()).map(FileType::mime),
                Some(extension.mime())
            );
        }
    }

    #[test]
    fn new_document_has_the_requested_type() {
        for kind in DocumentType::ALL {
            if let Some(extension) = kind.blank_extension() {
                assert_eq!(extension.document_type(), *kind);
                assert!(extension.has_blank());
            }
        }
    }

    #[test]
    fn type_and_extension_of_a_new_document_agree() {
        assert_eq!(
            FileExtension::of_new(Some(DocumentType::Cell), None),
            Ok(FileExtension::Xlsx)
        );
        assert_eq!(
            FileExtension::of_new(None, Some(FileExtension::Pptx)),
            Ok(FileExtension::Pptx)
        );
        for (kind, extension, path) in [
            (None, None, "documentType"),
            (Some(DocumentType::Pdf), None, "documentType"),
            (Some(DocumentType::Word), Some(FileExtension::Xlsx), "fileExtension"),
            (None, Some(FileExtension::Csv), "fileExtension"),
        ] {
            let domain_error = FileExtension::of_new(kind, extension);
            assert!(
                matches!(domain_error, Err(DomainError::Invalid { path: found, .. }) if found == path),
                "{kind:?} {extension:?}: {domain_error:?}"
            );
        }
    }

    #[test]
    fn macro_files_are_not_documents() {
        assert_eq!(FileExtension::of_name("Letter.DOCX"), Some(FileExtension::Docx));
        assert_eq!(FileExtension::of_name("letter.docm"), None);
        assert_eq!(FileExtension::of_name("photo.png"), None);
    }
}
