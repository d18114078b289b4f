//! Changes of documents. Submissions and locks are recorded with submissions and topics.

use crate::details::DocumentDetails;
use crate::document::Document;
use crate::file::FileKey;
use crate::group::GroupContext;
use crate::late_text::{DeletedDocument, LateText};
use crate::patch::FieldDiff;
use crate::save::Revision;
use crate::version::VersionedObject;

/// A change of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentChange {
    /// Something happened to a document that exists.
    Changed {
        /// The group that owns the document.
        group_context: GroupContext,
        document: Box<DocumentDetails>,
        step: DocumentStep,
    },
    /// Old revisions of a draft were deleted.
    RevisionsPruned {
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
    /// A late text was stored after the document was deleted.
    LateTextKept {
        /// The document before its deletion.
        document: Box<DeletedDocument>,
        text: Box<LateText>,
        /// Whether an earlier late text of the same editing session was replaced.
        is_replacement: bool,
        /// The file of the text that was replaced.
        files: Vec<FileKey>,
    },
    /// The document was deleted.
    Deleted {
        group_context: GroupContext,
        /// The document before its deletion.
        document: Box<Document>,
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
}

impl DocumentChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::RevisionsPruned { files } | Self::Deleted { files, .. } | Self::LateTextKept { files, .. } => files,
            Self::Changed { .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Changed { document, step, .. } => match step {
                // A save, and its recovery after a failure, is no change of the document's own fields.
                DocumentStep::Updated(changed) if changed.has("saveFailedAt") => Vec::new(),
                DocumentStep::Updated(_) | DocumentStep::Replaced(_) => vec![(&document.document.id).into()],
                DocumentStep::Created
                | DocumentStep::Saved(_)
                | DocumentStep::SavedLate(_)
                | DocumentStep::Frozen
                | DocumentStep::SaveFailed
                | DocumentStep::PlayedBack { .. } => Vec::new(),
            },
            Self::RevisionsPruned { .. } | Self::LateTextKept { .. } | Self::Deleted { .. } => Vec::new(),
        }
    }
}

/// What happened to a document that exists.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentStep {
    /// The document was created: blank, from a template or by an upload.
    Created,
    /// The document was renamed or linked to another topic.
    Updated(FieldDiff),
    /// The document server saved the document: the new content.
    Saved(Box<Revision>),
    /// A save arrived too late to become the content, and was kept. The document is unchanged; the staff are notified.
    SavedLate(Box<Revision>),
    /// The document server could not save the document; the room and its staff are notified.
    SaveFailed,
    /// The freeze is complete, or pending content has arrived.
    Frozen,
    /// The content was replaced by an upload or by an earlier revision, which its origin distinguishes.
    Replaced(Box<Revision>),
    /// A member of the staff watched how the document was written. Nothing has changed.
    PlayedBack {
        generation: i64,
        /// The version after which the listed commits begin.
        since: i64,
    },
}
