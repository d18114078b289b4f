//! Documents that were deleted, and what was saved of them afterwards.

use model::document_kind::FileExtension;
use model::file::FileKey;
use model::id::{ClassId, DocumentId, LateTextId};
use model::late_text::{DeletedDocument, LateText};
use model::time::Timestamp;
use model::user::Person;

use super::sql::Columns;
use super::{Scope, Work};
use crate::{args, manages_class, statements};
use common::error::Result;

/// Remembers documents that are about to be deleted; `$3` is now. The statements that delete follow.
macro_rules! remember {
    ($($condition:expr),+) => {
        concat!(
            "INSERT INTO deleted_documents (organization_id, id, class_id, class_name, group_id, group_name, title,
                file_extension, generation, oldest_generation, is_open, deleted_at)
            SELECT d.organization_id, d.id, k.id, k.name, g.id, COALESCE(g.display_name, g.name), d.title, d.file_extension,
                d.generation,
                COALESCE((SELECT MIN(e.generation) FROM editing_sessions e
                    WHERE e.organization_id = $1 AND e.document_id = d.id), d.generation),
                EXISTS (SELECT 1 FROM editing_sessions e WHERE e.organization_id = $1 AND e.document_id = d.id),
                CAST($3 AS BIGINT)
            FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
            JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
            WHERE d.organization_id = $1 AND ",
            $($condition),+
        )
    };
}
pub(super) use remember;

macro_rules! late_texts {
    ($where:literal) => {
        concat!(
            "SELECT t.id, t.document_id, t.generation, t.file_extension, t.file_key, t.size, t.sha256, t.saved_by_id, t.last_save,
                t.received_at, d.id, d.class_id, d.class_name, d.group_id, d.group_name, d.title, d.file_extension, d.generation,
                d.oldest_generation, d.deleted_at, u.id, u.name, u.image
            FROM late_texts t JOIN deleted_documents d ON d.id = t.document_id
            LEFT JOIN classes k ON k.id = d.class_id LEFT JOIN users u ON u.id = t.saved_by_id
            WHERE t.organization_id = $1 AND t.received_at > CAST($4 AS BIGINT) - 86400000 AND ",
            manages_class!(),
            $where
        )
    };
}

statements! {
    /// Remembers one document.
    REMEMBER = remember!("d.id = $2");
    /// A document that was deleted.
    DELETED = "SELECT d.id, d.class_id, d.class_name, d.group_id, d.group_name, d.title, d.file_extension, d.generation,
            d.oldest_generation, d.deleted_at
        FROM deleted_documents d WHERE d.organization_id = $1 AND d.id = $2";
    /// The same, held until this unit ends.
    LOCK_DELETED = "SELECT id FROM deleted_documents WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    /// The late texts whose class the viewer manages; of classes that are deleted administrators see them.
    ALL = late_texts!(" AND (CAST($5 AS TEXT) IS NULL OR d.class_id = $5) ORDER BY t.received_at DESC, t.id");
    /// One of them.
    BY_ID = late_texts!(" AND t.id = $5");
    /// The late text of one session.
    OF_SESSION = "SELECT id, document_id, generation, file_extension, file_key, size, sha256, saved_by_id, last_save,
            received_at
        FROM late_texts WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
    /// Makes room for a newer one.
    DELETE = "DELETE FROM late_texts WHERE organization_id = $1 AND id = $2";
    /// A late text.
    INSERT = "INSERT INTO late_texts (organization_id, id, document_id, generation, file_extension, file_key, size, sha256,
            saved_by_id, last_save, received_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    /// A class is deleted; what was deleted in it is left to the administrators.
    FREE = "UPDATE deleted_documents SET class_id = NULL WHERE organization_id = $1 AND class_id = $2";
}

/// A late text with the document it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenLateText {
    /// The text.
    pub text: LateText,
    /// The document.
    pub document: DeletedDocument,
    /// The last author.
    pub saved_by: Option<Person>,
}

impl Scope<'_> {
    /// A document that was deleted.
    pub fn deleted_document(&mut self, id: &DocumentId) -> Result<DeletedDocument> {
        self.one(&DELETED, args![id], deleted)
    }

    /// The late texts the viewer may fetch, newest first.
    pub fn late_texts(&mut self, class: Option<&ClassId>) -> Result<Vec<SeenLateText>> {
        self.many_visible(&ALL, args![class], seen)
    }

    /// One late text the viewer may fetch.
    pub fn late_text(&mut self, id: &LateTextId) -> Result<SeenLateText> {
        self.one_visible(&BY_ID, args![id], seen)
    }
}

impl Work<'_> {
    /// Remembers a document that this unit deletes.
    pub(super) fn remember_document(&mut self, id: &DocumentId) -> Result<()> {
        let now = self.now();
        self.run(&REMEMBER, args![id, now]).map(drop)
    }

    /// Leaves what was deleted in a class to the administrators.
    pub(super) fn free_deleted_documents(&mut self, class: &ClassId) -> Result<()> {
        self.run(&FREE, args![class]).map(drop)
    }

    /// A document that was deleted, held until this unit ends.
    pub fn deleted_document_to_write(&mut self, id: &DocumentId) -> Result<DeletedDocument> {
        self.one(&LOCK_DELETED, args![id], |row| row.take::<DocumentId>())?;
        self.deleted_document(id)
    }

    /// The late text of one session, if there is one.
    pub fn late_text_of_session(&mut self, document: &DocumentId, generation: i64) -> Result<Option<LateText>> {
        self.maybe(&OF_SESSION, args![document, generation], text)
    }

    /// Writes a late text in the place of that of the same session.
    pub fn replace_late_text(&mut self, former: Option<&LateText>, new: &LateText) -> Result<()> {
        if let Some(former) = former {
            self.run(&DELETE, args![former.id])?;
        }
        self.run(
            &INSERT,
            args![
                new.id,
                new.document_id,
                new.generation,
                new.file_extension.as_str(),
                new.file_key.as_str(),
                new.size,
                new.sha256,
                new.saved_by_id,
                new.last_save,
                new.received_at
            ],
        )
        .map(drop)
    }
}

fn deleted(row: &mut Columns<'_>) -> Result<DeletedDocument> {
    Ok(DeletedDocument {
        id: row.take()?,
        class_id: row.take()?,
        class_name: row.take()?,
        group_id: row.take()?,
        group_name: row.take()?,
        title: row.take()?,
        file_extension: row.parse(FileExtension::parse)?,
        generation: row.take()?,
        oldest_generation: row.take()?,
        deleted_at: row.take()?,
    })
}

fn text(row: &mut Columns<'_>) -> Result<LateText> {
    Ok(LateText {
        id: row.take()?,
        document_id: row.take()?,
        generation: row.take()?,
        file_extension: row.parse(FileExtension::parse)?,
        file_key: FileKey::new(row.take::<String>()?),
        size: row.take()?,
        sha256: row.take()?,
        saved_by_id: row.take()?,
        last_save: row.take::<Option<Timestamp>>()?,
        received_at: row.take()?,
    })
}

fn seen(row: &mut Columns<'_>) -> Result<SeenLateText> {
    let (text, document) = (text(row)?, deleted(row)?);
    let (id, name, image): (Option<_>, Option<_>, _) = (row.take()?, row.take()?, row.take()?);
    let saved_by = id.zip(name).map(|(id, name)| Person { id, name, image });
    Ok(SeenLateText {
        text,
        document,
        saved_by,
    })
}
