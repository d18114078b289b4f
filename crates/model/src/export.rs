//! The archive of a topic: what a teacher takes home of the work of its groups.

use crate::assignment::Assignment;
use crate::document::{Document, DocumentStatus};
use crate::document_kind::FileExtension;
use crate::file::FileKey;
use crate::id::{AssignmentId, DocumentId, RevisionId, SubmissionDocumentId};
use crate::time::Timestamp;
use crate::whole::WholeGroupAssignment;
use crate::word::words;

words! {
    /// As what the documents come.
    ExportFormat {
        /// As they are kept.
        Original = "original",
        /// As PDFs.
        Pdf = "pdf",
        /// Both.
        Both = "both",
    }
}

words! {
    /// Which state of the work comes.
    ExportSource {
        /// The documents as they are now.
        Current = "current",
        /// The copies that were handed in last.
        Submission = "submission",
    }
}

/// The work of the groups of a topic at one moment, as it goes into the archive.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicExport {
    /// The topic.
    pub assignment: Assignment,
    /// As what the documents come.
    pub format: ExportFormat,
    /// Its groups in the order of their numbers, also those without work.
    pub groups: Vec<ExportedGroup>,
}

/// The work of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedGroup {
    /// The group on the topic.
    pub link: WholeGroupAssignment,
    /// The names of those who are in the group, or were when it handed in.
    pub members: Vec<String>,
    /// Its documents.
    pub documents: Vec<ExportedDocument>,
}

/// One document of a group, with the state that comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedDocument {
    /// The document; none once it is deleted.
    pub id: Option<DocumentId>,
    /// Its title.
    pub title: String,
    /// What its bytes are.
    pub extension: FileExtension,
    /// Where its bytes are.
    pub content: ExportedContent,
    /// How many.
    pub size: i64,
    /// Hexadecimal SHA-256 of them.
    pub sha256: String,
    /// Since when they are so.
    pub written_at: Timestamp,
    /// Where it stands in the archive, without extension.
    pub path: String,
    /// Its status, unless it is a copy.
    pub status: Option<DocumentStatus>,
    /// Whether it is linked to the topic, and not loose.
    pub is_linked: bool,
    /// Whether it is in the group's current submission.
    pub is_submitted: bool,
}

/// Where the bytes of an exported document are; none of these ever change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportedContent {
    /// A revision.
    Revision(RevisionId, FileKey),
    /// A copy in a submission.
    Copy(SubmissionDocumentId, FileKey),
    /// The blank template: nothing was saved yet.
    Blank,
}

impl TopicExport {
    /// How many documents it has.
    pub fn count(&self) -> usize {
        self.groups.iter().map(|group| group.documents.len()).sum()
    }
}

impl ExportFormat {
    /// Whether a document comes as it is kept: one that is a PDF already always does, and then only so.
    pub fn has_original(self, extension: FileExtension) -> bool {
        self != Self::Pdf || extension == FileExtension::Pdf
    }

    /// Whether a document is converted.
    pub fn has_conversion(self, extension: FileExtension) -> bool {
        self != Self::Original && extension != FileExtension::Pdf
    }
}

impl Document {
    /// Whether the document counts as work on a topic of its group: it is linked to it, or to none, as most are until they
    /// are handed in. One that another topic locked belongs to that one.
    pub fn counts_for(&self, topic: &AssignmentId) -> bool {
        let own = self.assignment_id.as_ref().or(self.locked_by_assignment_id.as_ref());
        own.is_none_or(|own| own == topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pdf_is_never_converted_and_never_comes_twice() {
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
