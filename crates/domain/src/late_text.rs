//! Late texts: content that the document server saves after a document was deleted. The staff of its class can download
//! it for one day.

use crate::document_kind::FileExtension;
use crate::file::FileKey;
use crate::id::{ClassId, DocumentId, GroupId, LateTextId, UserId};
use crate::text::DocumentTitle;
use crate::time::Timestamp;

/// How long a late text is kept after its arrival, in seconds.
pub const RETENTION_SECONDS: i64 = 24 * 60 * 60;
/// How long saves are accepted under the keys of a deleted document, in seconds.
pub const KEY_RETENTION_SECONDS: i64 = 30 * 24 * 60 * 60;

/// Data kept about a deleted document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedDocument {
    pub id: DocumentId,
    /// `None` if the class is deleted, too.
    pub class_id: Option<ClassId>,
    pub class_name: String,
    /// The group that owned the document; it may be deleted.
    pub group_id: GroupId,
    pub group_name: String,
    pub title: DocumentTitle,
    pub file_extension: FileExtension,
    /// The last generation of its document key.
    pub generation: i64,
    /// The oldest generation whose editors may still be open.
    pub oldest_generation: i64,
    pub deleted_at: Timestamp,
}

/// The latest text of one editing session of a deleted document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateText {
    pub id: LateTextId,
    pub document_id: DocumentId,
    /// The generation of the document key of the session.
    pub generation: i64,
    pub file_extension: FileExtension,
    pub file_key: FileKey,
    /// Size in bytes.
    pub size: i64,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
    /// The user who edited the text last.
    pub saved_by_id: Option<UserId>,
    /// When the last edit was made, if the document server reported it.
    pub last_save: Option<Timestamp>,
    pub received_at: Timestamp,
}

impl LateText {
    pub fn expires_at(&self) -> Timestamp {
        self.received_at.plus_seconds(RETENTION_SECONDS)
    }

    /// Returns whether this text replaces another one of the same session. Saves may arrive out of order; the one with
    /// the latest edit is kept.
    pub fn replaces(&self, other: &Self) -> bool {
        match (self.last_save, other.last_save) {
            (Some(own), Some(others)) => own >= others,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::at;

    fn text(last_save: Option<i64>) -> LateText {
        LateText {
            id: LateTextId::new("l"),
            document_id: DocumentId::new("d"),
            generation: 1,
            file_extension: FileExtension::Docx,
            file_key: FileKey::new("k"),
            size: 1,
            sha256: String::new(),
            saved_by_id: None,
            last_save: last_save.map(at),
            received_at: at(100),
        }
    }

    #[test]
    fn late_text_expires_a_day_after_its_arrival() {
        assert_eq!(text(None).expires_at(), at(100).plus_seconds(86_400));
    }

    #[test]
    fn newest_change_of_a_session_stays() {
        assert!(text(Some(5)).replaces(&text(Some(4))));
        assert!(text(Some(5)).replaces(&text(Some(5))));
        assert!(!text(Some(4)).replaces(&text(Some(5))));
        assert!(text(None).replaces(&text(Some(5))) && text(Some(5)).replaces(&text(None)));
    }
}
