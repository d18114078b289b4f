//! Late texts, saved after their document was deleted, in responses to the staff of the class.

use api_macros::view;
use domain::document_kind::FileExtension;
use domain::id::{ClassId, DocumentId, LateTextId};
use domain::late_text::{DeletedDocument, LateText};
use domain::text::DocumentTitle;
use domain::time::Timestamp;
use domain::user::Person;

/// A text that was saved after its document was deleted.
#[view]
pub struct LateTextView {
    id: LateTextId,
    /// Id of the deleted document.
    document_id: DocumentId,
    title: DocumentTitle,
    file_extension: FileExtension,
    size: i64,
    /// The class; null if it is deleted.
    class_id: Option<ClassId>,
    class_name: String,
    group_name: String,
    /// The user who edited the text last, if the document server reported one.
    saved_by: Option<Person>,
    deleted_at: Timestamp,
    received_at: Timestamp,
    /// When the text will be deleted: 24 hours after it arrived.
    expires_at: Timestamp,
}

impl LateTextView {
    pub fn new(text: LateText, document: DeletedDocument, saved_by: Option<Person>) -> Self {
        Self {
            expires_at: text.expires_at(),
            id: text.id,
            document_id: text.document_id,
            title: document.title,
            file_extension: text.file_extension,
            size: text.size,
            class_id: document.class_id,
            class_name: document.class_name,
            group_name: document.group_name,
            saved_by,
            deleted_at: document.deleted_at,
            received_at: text.received_at,
        }
    }
}
