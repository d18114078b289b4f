//! How long and how often somebody wrote.

use crate::id::DocumentId;
use crate::time::Timestamp;

/// What somebody did in one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// The document.
    pub document_id: DocumentId,
    /// Its title.
    pub title: String,
    /// How long he was in its editor.
    pub editing_millis: i64,
    /// Saves with words of his.
    pub saves: i64,
    /// When he came first.
    pub first_at: Timestamp,
    /// When he was last heard of.
    pub last_at: Timestamp,
}
