//! Editing statistics: how long and how often a user edited a document.

use crate::id::DocumentId;
use crate::time::Timestamp;

/// Editing statistics of one user in one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    pub document_id: DocumentId,
    pub title: String,
    /// Time the user had the document open in the editor, in milliseconds.
    pub editing_millis: i64,
    /// Number of saves that contain edits of the user.
    pub saves: i64,
    /// When the user first edited the document.
    pub first_at: Timestamp,
    /// When the user was last active in the document.
    pub last_at: Timestamp,
}
