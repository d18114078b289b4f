//! What the document server saves of a document after it was deleted. The staff of its class can fetch it for a day.

use crate::document_kind::FileExtension;
use crate::file::FileKey;
use crate::id::{ClassId, DocumentId, GroupId, LateTextId, UserId};
use crate::text::DocumentTitle;
use crate::time::Timestamp;

/// How long a late text is kept, counted from its arrival.
pub const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// How long the keys of a deleted document count as ours, so that what arrives under them is taken.
pub const KEYS_KEPT_SECONDS: i64 = 30 * 24 * 60 * 60;

/// What is known of a document after it was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedDocument {
    /// The id it had.
    pub id: DocumentId,
    /// Its class; none if the class is deleted, too.
    pub class_id: Option<ClassId>,
    /// The name of the class.
    pub class_name: String,
    /// Its group, which may be deleted.
    pub group_id: GroupId,
    /// The name of the group.
    pub group_name: String,
    /// Its title.
    pub title: DocumentTitle,
    /// The kind of its file.
    pub file_extension: FileExtension,
    /// The last generation of its key.
    pub generation: i64,
    /// The first generation whose editors may be open.
    pub oldest_generation: i64,
    /// When it was deleted.
    pub deleted_at: Timestamp,
}

/// The newest text of one session of a deleted document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateText {
    /// Its id.
    pub id: LateTextId,
    /// The document.
    pub document_id: DocumentId,
    /// The generation of the key of its session.
    pub generation: i64,
    /// The kind of its file.
    pub file_extension: FileExtension,
    /// Its bytes.
    pub file_key: FileKey,
    /// How many.
    pub size: i64,
    /// Their hash.
    pub sha256: String,
    /// The last author.
    pub saved_by_id: Option<UserId>,
    /// When its last change was made, if the document server named it.
    pub last_save: Option<Timestamp>,
    /// When it arrived.
    pub received_at: Timestamp,
}

impl LateText {
    /// When it is deleted.
    pub fn expires_at(&self) -> Timestamp {
        self.received_at.plus_seconds(KEPT_SECONDS)
    }

    /// Whether it takes the place of another text of the same session: saves may overtake each other, and the newest change
    /// stays.
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
