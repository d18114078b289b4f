//! Changes of documents. Submissions and locks are recorded with submissions and topics.

use crate::details::DocumentDetails;
use crate::document::Document;
use crate::file::FileKey;
use crate::group::GroupContext;
use crate::late_text::{DeletedDocument, LateText};
use crate::patch::FieldDiff;
use crate::save::Revision;

/// A change of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentChange {
    /// The document was created: blank, from a template or by an upload.
    Created {
        /// The group that owns the document.
        group_context: GroupContext,
        document: Box<DocumentDetails>,
    },
    /// The document was renamed or linked to another topic.
    Updated {
        group_context: GroupContext,
        document: Box<DocumentDetails>,
        changed: FieldDiff,
    },
    /// The document server saved the document.
    Saved {
        group_context: GroupContext,
        document: Box<DocumentDetails>,
        /// The new content.
        revision: Box<Revision>,
    },
    /// A save arrived too late to become the content; the staff are notified.
    SavedLate {
        group_context: GroupContext,
        /// The document, unchanged.
        document: Box<DocumentDetails>,
        /// The content kept from the save.
        revision: Box<Revision>,
    },
    /// The document server could not save the document; the room and its staff are notified.
    SaveFailed {
        group_context: GroupContext,
        document: Box<DocumentDetails>,
    },
    /// The freeze is complete, or pending content has arrived.
    Frozen {
        group_context: GroupContext,
        document: Box<DocumentDetails>,
    },
    /// The content was replaced by an upload or by an earlier revision.
    Replaced {
        group_context: GroupContext,
        document: Box<DocumentDetails>,
        /// The new content; its origin distinguishes an upload from a restored revision.
        revision: Box<Revision>,
    },
    /// A member of the staff watched how the document was written. Nothing has changed.
    PlayedBack {
        group_context: GroupContext,
        document: Box<DocumentDetails>,
        generation: i64,
        /// The version after which the listed commits begin.
        since: i64,
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
