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
    /// Number of characters of the user in the text, as it was last saved; `None` if the document was not edited in the
    /// built-in editor.
    pub characters: Option<i64>,
    /// Number of characters of the whole text.
    pub text_characters: Option<i64>,
}

/// Returns a part of a text in percent, rounded; `None` for an empty text.
pub fn share(part: i64, whole: i64) -> Option<i64> {
    (whole > 0).then(|| (part.clamp(0, whole) * 200 + whole) / (2 * whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_is_rounded_percent() {
        assert_eq!(share(1, 3), Some(33));
        assert_eq!(share(2, 3), Some(67));
        assert_eq!(share(1, 8), Some(13));
        assert_eq!((share(0, 5), share(5, 5), share(9, 5)), (Some(0), Some(100), Some(100)));
        assert_eq!(share(0, 0), None);
    }
}
