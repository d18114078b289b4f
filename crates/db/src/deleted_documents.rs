//! Deleted documents and the content that was saved after their deletion (late texts).

use domain::id::{ClassId, DocumentId, LateTextId};
use domain::late_text::{DeletedDocument, LateText};
use domain::user::Person;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, optional_person};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;
use common::failpoint;

fragments! {
    /// Records documents that are about to be deleted; `$3` is the current time. The caller deletes them afterwards.
    pub(crate) RECORD_DOCUMENTS = "INSERT INTO deleted_documents (organization_id, id, class_id, class_name, group_id,
        group_name, title,
                file_extension, generation, oldest_generation, is_open, deleted_at)
            SELECT d.organization_id, d.id, k.id, k.name, g.id, COALESCE(g.display_name, g.name), d.title,
            d.file_extension,
                d.generation,
                COALESCE((SELECT MIN(e.generation) FROM editing_sessions e
                    WHERE e.organization_id = $1 AND e.document_id = d.id), d.generation),
                EXISTS (SELECT 1 FROM editing_sessions e WHERE e.organization_id = $1 AND e.document_id = d.id),
                CAST($3 AS BIGINT)
            FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
            JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
            WHERE d.organization_id = $1 AND";
    /// A document that was deleted before and restored keeps one record.
    pub(crate) RECORDED_AGAIN = "ON CONFLICT (id) DO UPDATE SET class_id = excluded.class_id,
            class_name = excluded.class_name, group_id = excluded.group_id, group_name = excluded.group_name,
            title = excluded.title, file_extension = excluded.file_extension, generation = excluded.generation,
            oldest_generation = CASE WHEN deleted_documents.is_open THEN deleted_documents.oldest_generation
                ELSE excluded.oldest_generation END,
            is_open = excluded.is_open OR deleted_documents.is_open, deleted_at = excluded.deleted_at";
    SELECT_LATE_TEXTS = "SELECT t.id AS late_text_id, t.document_id, t.generation AS saved_generation,
            t.file_extension AS saved_extension, t.file_key, t.size, t.sha256, t.saved_by_id, t.last_save,
                t.received_at, d.id, d.class_id, d.class_name, d.group_id, d.group_name, d.title, d.file_extension,
                d.generation,
                d.oldest_generation, d.deleted_at, {PERSON_COLUMNS}
            FROM late_texts t JOIN deleted_documents d ON d.id = t.document_id
            LEFT JOIN classes k ON k.id = d.class_id LEFT JOIN users u ON u.id = t.saved_by_id
            WHERE t.organization_id = $1 AND t.received_at > CAST($4 AS BIGINT) - 86400000 AND {CAN_MANAGE_CLASS}";
}

statements! {
    RECORD = "{RECORD_DOCUMENTS} d.id = $2 {RECORDED_AGAIN}";
    DELETED = "SELECT d.id, d.class_id, d.class_name, d.group_id, d.group_name, d.title, d.file_extension, d.generation,
            d.oldest_generation, d.deleted_at
        FROM deleted_documents d WHERE d.organization_id = $1 AND d.id = $2";
    /// Locks the row until the end of the transaction.
    LOCK_DELETED = "SELECT id FROM deleted_documents WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    /// Late texts in classes the viewer manages, while they can be downloaded. Admins also see those of deleted
    /// classes.
    ALL = "{SELECT_LATE_TEXTS} AND (CAST($5 AS TEXT) IS NULL OR d.class_id = $5) ORDER BY t.received_at DESC, t.id";
    BY_ID = "{SELECT_LATE_TEXTS} AND t.id = $5";
    OF_SESSION = "SELECT id AS late_text_id, document_id, generation AS saved_generation,
            file_extension AS saved_extension, file_key, size, sha256, saved_by_id, last_save,
            received_at
        FROM late_texts WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
    /// Deletes a late text that a newer one replaces.
    DELETE = "DELETE FROM late_texts WHERE organization_id = $1 AND id = $2";
    INSERT = "INSERT INTO late_texts (organization_id, id, document_id, generation, file_extension, file_key, size,
            sha256, saved_by_id, last_save, received_at)
        VALUES ($1, :id, :document_id, :generation, :file_extension, :file_key, :size, :sha256, :saved_by_id,
            :last_save, :received_at)";
    /// Detaches the deleted documents of a class that is deleted; from then on only admins see them.
    FREE = "UPDATE deleted_documents SET class_id = NULL WHERE organization_id = $1 AND class_id = $2";
}

/// A late text with its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleLateText {
    pub text: LateText,
    pub document: DeletedDocument,
    /// The last author.
    pub saved_by: Option<Person>,
}

impl ReadTx<'_> {
    /// Returns the record of a deleted document.
    pub fn deleted_document(&mut self, id: &DocumentId) -> Result<DeletedDocument> {
        self.fetch_one(&DELETED, args![id], deleted)
    }

    /// Lists the late texts the viewer may download, newest first.
    pub fn late_texts(&mut self, class: Option<&ClassId>) -> Result<Vec<VisibleLateText>> {
        self.fetch_all_visible(&ALL, args![class], visible)
    }

    /// Returns a late text the viewer may download.
    pub fn late_text(&mut self, id: &LateTextId) -> Result<VisibleLateText> {
        self.fetch_one_visible(&BY_ID, args![id], visible)
    }
}

impl WriteTx<'_> {
    /// Records a document that this transaction deletes.
    pub(super) fn record_deleted_document(&mut self, id: &DocumentId) -> Result<()> {
        let now = self.now();
        self.execute(&RECORD, args![id, now])?;
        failpoint::hit("deletion.listed");
        Ok(())
    }

    /// Detaches the deleted documents of a class that is deleted; from then on only admins see them.
    pub(super) fn free_deleted_documents(&mut self, class: &ClassId) -> Result<()> {
        self.execute(&FREE, args![class])
    }

    /// Returns the record of a deleted document, locked until the end of the transaction.
    pub fn lock_deleted_document(&mut self, id: &DocumentId) -> Result<DeletedDocument> {
        self.fetch_one(&LOCK_DELETED, args![id], |row| row.get::<DocumentId>("id"))?;
        self.deleted_document(id)
    }

    /// Returns the late text of an editing session, if there is one.
    pub fn late_text_of_session(&mut self, document: &DocumentId, generation: i64) -> Result<Option<LateText>> {
        self.fetch_optional(&OF_SESSION, args![document, generation], text)
    }

    /// Inserts a late text and deletes the former one of the same session.
    pub fn replace_late_text(&mut self, former: Option<&LateText>, new: &LateText) -> Result<()> {
        if let Some(former) = former {
            self.execute(&DELETE, args![former.id])?;
        }
        self.execute_named(
            &INSERT,
            named![new =>
                id, document_id, generation, file_extension, file_key, size, sha256, saved_by_id, last_save,
                received_at,
            ],
        )
    }
}

fn deleted(row: &Columns<'_>) -> Result<DeletedDocument> {
    from_row!(row => DeletedDocument {
        id, class_id, class_name, group_id, group_name, title, file_extension, generation, oldest_generation,
        deleted_at,
    })
}

fn text(row: &Columns<'_>) -> Result<LateText> {
    from_row!(row => LateText {
        id = "late_text_id", document_id, generation = "saved_generation", file_extension = "saved_extension", file_key,
        size, sha256, saved_by_id, last_save, received_at,
    })
}

fn visible(row: &Columns<'_>) -> Result<VisibleLateText> {
    let (text, document) = (text(row)?, deleted(row)?);
    let saved_by = optional_person(row)?;
    Ok(VisibleLateText {
        text,
        document,
        saved_by,
    })
}
