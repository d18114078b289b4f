//! What happens to documents; hand-ins and locks are told with submissions and topics.

use crate::document::Document;
use crate::edit::Changed;
use crate::file::FileKey;
use crate::group::Place;
use crate::late_text::{DeletedDocument, LateText};
use crate::save::Revision;
use crate::whole::WholeDocument;

/// What happened to a document.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentChange {
    /// It was made, blank, from a template or by an upload.
    Created {
        /// The group in whose room it is.
        place: Place,
        /// The document.
        document: Box<WholeDocument>,
    },
    /// It was renamed or linked to another topic.
    Updated {
        /// The group in whose room it is.
        place: Place,
        /// The document as it is now.
        document: Box<WholeDocument>,
        /// What changed.
        changed: Changed,
    },
    /// The document server saved it.
    Saved {
        /// The group in whose room it is.
        place: Place,
        /// The document as it is now.
        document: Box<WholeDocument>,
        /// The new content.
        revision: Box<Revision>,
    },
    /// A save came too late to become the content; the staff are told.
    SavedLate {
        /// The group in whose room it is.
        place: Place,
        /// The document, unchanged.
        document: Box<WholeDocument>,
        /// What was kept.
        revision: Box<Revision>,
    },
    /// The document server could not save it; the room and its staff are told.
    SaveFailed {
        /// The group in whose room it is.
        place: Place,
        /// The document as it is now.
        document: Box<WholeDocument>,
    },
    /// Its freeze is complete, or what was pending of its content has arrived.
    Frozen {
        /// The group in whose room it is.
        place: Place,
        /// The document as it is now.
        document: Box<WholeDocument>,
    },
    /// Its content was replaced by an upload or by an earlier revision.
    Replaced {
        /// The group in whose room it is.
        place: Place,
        /// The document as it is now.
        document: Box<WholeDocument>,
        /// The new content; its origin says which of the two.
        revision: Box<Revision>,
    },
    /// Old revisions of a draft were dropped.
    RevisionsPruned {
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
    /// A text of it was kept after it was deleted.
    LateTextKept {
        /// The document as it was.
        document: Box<DeletedDocument>,
        /// The text.
        text: Box<LateText>,
        /// Whether an earlier text of the same session was replaced.
        is_replacement: bool,
        /// The file of the text that was replaced.
        files: Vec<FileKey>,
    },
    /// It was deleted.
    Deleted {
        /// The group in whose room it was.
        place: Place,
        /// The document as it was.
        document: Box<Document>,
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
}
