//! Deleted documents of all organizations: open editors that must be closed, and expiry of the records.

use domain::id::DocumentId;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{Tenant, args, statements};
use common::error::Result;

statements! {
    /// The organization of a deleted document.
    HOME = "SELECT d.organization_id FROM deleted_documents d JOIN organizations o ON o.id = d.organization_id
        WHERE d.id = $1 AND o.deleted_at IS NULL";
    /// Deleted documents whose editors may be open.
    OPEN = "SELECT id, oldest_generation, generation FROM deleted_documents WHERE is_open
        ORDER BY deleted_at, id LIMIT 100";
    /// Records that the editors of a document were closed.
    CLOSE = "UPDATE deleted_documents SET is_open = FALSE WHERE id = $1";
    /// Whether there are expired records.
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM late_texts WHERE received_at <= $1)
        OR EXISTS (SELECT 1 FROM deleted_documents WHERE deleted_at <= $2)";
    /// Schedules the files of expired late texts for removal after the commit.
    FORGET = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT organization_id, id, file_key, $2, $2 FROM late_texts WHERE received_at <= $1";
    /// Deletes expired late texts.
    DELETE_TEXTS = "DELETE FROM late_texts WHERE received_at <= $1";
    /// Deletes expired records of documents without late texts.
    DELETE_DOCUMENTS = "DELETE FROM deleted_documents WHERE deleted_at <= $1
        AND NOT EXISTS (SELECT 1 FROM late_texts t WHERE t.document_id = deleted_documents.id)";
}

/// A deleted document whose editors may be open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenEditors {
    pub document: DocumentId,
    /// The first and the last generation of its document keys that may be open.
    pub generations: (i64, i64),
}

impl PlatformTx<'_> {
    /// Returns the organization of a deleted document, for callbacks of the document server.
    pub fn tenant_of_deleted_document(&mut self, id: &DocumentId) -> Result<Tenant> {
        self.fetch_one(&HOME, args![id], |row| Ok(Tenant(row.get("organization_id")?)))
    }

    /// Returns a batch of deleted documents whose editors may be open.
    pub fn open_deleted_documents(&mut self) -> Result<Vec<OpenEditors>> {
        self.fetch_all(&OPEN, args![], |row| {
            Ok(OpenEditors {
                document: row.get("id")?,
                generations: (row.get("oldest_generation")?, row.get("generation")?),
            })
        })
    }

    /// Records that the editors of a deleted document were closed.
    pub fn record_closed_editors(&mut self, id: &DocumentId) -> Result<()> {
        self.execute(&CLOSE, args![id])
    }

    /// Returns whether there is a late text received by `texts` or a document deleted by `documents`.
    pub fn has_expired_late_texts(&mut self, texts: Timestamp, documents: Timestamp) -> Result<bool> {
        self.fetch_one(&ANY_EXPIRED, args![texts, documents], |row| row.only())
    }

    /// Deletes late texts received by `texts` and records of documents deleted by `documents`.
    pub fn expire_late_texts(&mut self, texts: Timestamp, documents: Timestamp, now: Timestamp) -> Result<()> {
        self.execute(&FORGET, args![texts, now])?;
        self.execute(&DELETE_TEXTS, args![texts])?;
        self.execute(&DELETE_DOCUMENTS, args![documents])
    }
}
