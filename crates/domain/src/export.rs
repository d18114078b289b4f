//! Archive of a topic: the work of its groups as a download for the teacher.

use crate::assignment::Assignment;
use crate::details::GroupAssignmentDetails;
use crate::document::{Document, DocumentStatus};
use crate::document_kind::FileExtension;
use crate::file::{FileKey, StoredFile};
use crate::id::{AssignmentId, DocumentId, RevisionId, SubmissionDocumentId};
use crate::string_enum::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// File format of the exported documents.
    ExportFormat {
        /// The format in which they are stored.
        Original = "original",
        Pdf = "pdf",
        Both = "both",
    }
}

string_enum! {
    /// State of the documents to export.
    ExportSource {
        /// The current documents.
        Current = "current",
        /// The copies of the latest submission.
        Submission = "submission",
    }
}

/// Work of the groups of a topic at one point in time, as written to the archive.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicExport {
    pub assignment: Assignment,
    pub format: ExportFormat,
    /// The groups of the topic, ordered by number, including groups without work.
    pub groups: Vec<ExportedGroup>,
}

/// The work of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedGroup {
    pub link: GroupAssignmentDetails,
    /// Names of the present members, or of the members at the time of submission.
    pub members: Vec<String>,
    pub documents: Vec<ExportedDocument>,
    /// The files of the grade of the current submission.
    pub files: Vec<ExportedFile>,
}

/// A file of a grade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    pub file: StoredFile,
    /// When it was added.
    pub written_at: Timestamp,
    /// Path in the archive, with extension.
    pub path: String,
}

/// One document of a group, in the exported state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedDocument {
    /// `None` once the document is deleted.
    pub id: Option<DocumentId>,
    pub title: String,
    /// File type of the content.
    pub extension: FileExtension,
    pub content: ExportedContent,
    /// Size in bytes.
    pub size: i64,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
    /// When the content was last written.
    pub written_at: Timestamp,
    /// Path in the archive, without extension.
    pub path: String,
    /// Status of the document; `None` for a copy.
    pub status: Option<DocumentStatus>,
    /// Whether the document is linked to the topic.
    pub is_linked: bool,
    /// Whether it is part of the current submission of the group.
    pub is_submitted: bool,
}

/// Storage location of an exported document. The stored content is immutable in each case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportedContent {
    Revision(RevisionId, FileKey),
    /// A copy in a submission.
    Copy(SubmissionDocumentId, FileKey),
    /// The blank template, because nothing was saved yet.
    Blank,
}

impl TopicExport {
    /// Returns the number of documents and files of grades.
    pub fn count(&self) -> usize {
        self.groups
            .iter()
            .map(|group| group.documents.len() + group.files.len())
            .sum()
    }
}

impl ExportFormat {
    /// Returns whether a document is exported in its stored format. PDFs always are, and only once.
    pub fn has_original(self, extension: FileExtension) -> bool {
        self != Self::Pdf || extension == FileExtension::Pdf
    }

    /// Returns whether a document is converted.
    pub fn has_conversion(self, extension: FileExtension) -> bool {
        self != Self::Original && extension != FileExtension::Pdf
    }
}

impl Document {
    /// Returns whether the document counts as work on a topic of its group: it is linked to the topic, or to no topic,
    /// as most documents are until they are submitted. A document locked by another topic belongs to that topic.
    pub fn counts_for(&self, topic: &AssignmentId) -> bool {
        let own = self.assignment_id.as_ref().or(self.locked_by_assignment_id.as_ref());
        own.is_none_or(|own| own == topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pdf_is_exported_once_without_conversion() {
        for format in ExportFormat::ALL {
            assert!(format.has_original(FileExtension::Pdf) && !format.has_conversion(FileExtension::Pdf));
            let parts = (
                format.has_original(FileExtension::Docx),
                format.has_conversion(FileExtension::Docx),
            );
            let expected = match format {
                ExportFormat::Original => (true, false),
                ExportFormat::Pdf => (false, true),
                ExportFormat::Both => (true, true),
            };
            assert_eq!(parts, expected);
        }
    }
}
