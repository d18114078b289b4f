//! Documents that were deleted, of all organizations: whose editors have still to be closed, and what has expired.

use model::id::DocumentId;
use model::time::Timestamp;

use super::Platform;
use crate::Tenant;
use crate::{args, statements};
use common::error::{Error, Result};

statements! {
    /// The organization a deleted document belonged to.
    HOME = "SELECT d.organization_id FROM deleted_documents d JOIN organizations o ON o.id = d.organization_id
        WHERE d.id = $1 AND o.deleted_at IS NULL";
    /// Those whose editors may be open.
    OPEN = "SELECT id, oldest_generation, generation FROM deleted_documents WHERE is_open ORDER BY deleted_at, id LIMIT 100";
    /// The editors of one were closed.
    CLOSE = "UPDATE deleted_documents SET is_open = FALSE WHERE id = $1";
    /// Whether anything has expired.
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM late_texts WHERE received_at <= $1)
        OR EXISTS (SELECT 1 FROM deleted_documents WHERE deleted_at <= $2)";
    /// The bytes of expired texts go after the commit.
    FORGET = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT organization_id, id, file_key, $2, $2 FROM late_texts WHERE received_at <= $1";
    /// Expired texts.
    DELETE_TEXTS = "DELETE FROM late_texts WHERE received_at <= $1";
    /// Documents whose keys are forgotten.
    DELETE_DOCUMENTS = "DELETE FROM deleted_documents WHERE deleted_at <= $1
        AND NOT EXISTS (SELECT 1 FROM late_texts t WHERE t.document_id = deleted_documents.id)";
}

/// A deleted document whose editors may be open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenEditors {
    /// The document.
    pub document: DocumentId,
    /// The generations of its keys that may be open, first and last.
    pub generations: (i64, i64),
}

impl Platform<'_> {
    /// The organization of a document that was deleted, for the document server.
    pub fn home_of_deleted_document(&mut self, id: &DocumentId) -> Result<Tenant> {
        let home = self.connection.maybe(&HOME, args![id], |row| Ok(Tenant(row.take()?)))?;
        home.ok_or(Error::NotFound)
    }

    /// Deleted documents whose editors may be open, a few at a time.
    pub fn open_deleted_documents(&mut self) -> Result<Vec<OpenEditors>> {
        self.connection.many(&OPEN, args![], |row| {
            Ok(OpenEditors {
                document: row.take()?,
                generations: (row.take()?, row.take()?),
            })
        })
    }

    /// Notes that the editors of a deleted document were closed.
    pub fn note_closed_editors(&mut self, id: &DocumentId) -> Result<()> {
        self.connection.run(&CLOSE, args![id]).map(drop)
    }

    /// Whether a text that arrived by the first moment, or a document that was deleted by the second, is there.
    pub fn has_expired_late_texts(&mut self, texts: Timestamp, documents: Timestamp) -> Result<bool> {
        let any = self
            .connection
            .maybe(&ANY_EXPIRED, args![texts, documents], |row| row.take())?;
        Ok(any.unwrap_or(false))
    }

    /// Deletes them.
    pub fn expire_late_texts(&mut self, texts: Timestamp, documents: Timestamp, now: Timestamp) -> Result<()> {
        self.connection.run(&FORGET, args![texts, now])?;
        self.connection.run(&DELETE_TEXTS, args![texts])?;
        self.connection.run(&DELETE_DOCUMENTS, args![documents]).map(drop)
    }
}
