//! Conversions kept for reuse: of a revision or of a handed-in copy, whose bytes never change.

use model::file::FileKey;
use model::id::{RevisionId, SubmissionDocumentId};

use super::sql::Columns;
use super::{Scope, Work};
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    /// The conversion of a revision.
    OF_REVISION = "SELECT file_key, size, sha256 FROM converted_files
        WHERE organization_id = $1 AND revision_id = $2 AND format = $3";
    /// The conversion of a handed-in copy.
    OF_COPY = "SELECT file_key, size, sha256 FROM converted_files
        WHERE organization_id = $1 AND submission_document_id = $2 AND format = $3";
    /// Whether there is still something to keep a conversion of.
    HAS_REVISION = "SELECT EXISTS (SELECT 1 FROM document_revisions WHERE organization_id = $1 AND id = $2)";
    /// The same for a handed-in copy, as long as its bytes are these.
    HAS_COPY = "SELECT EXISTS (SELECT 1 FROM submission_documents WHERE organization_id = $1 AND id = $2
        AND file_key = $3)";
    /// The files a handed-in copy was converted to.
    FILES_OF_COPY = "SELECT file_key FROM converted_files WHERE organization_id = $1 AND submission_document_id = $2";
    /// Forgets them.
    DELETE_OF_COPY = "DELETE FROM converted_files WHERE organization_id = $1 AND submission_document_id = $2";
    /// A new conversion; of two at once the first stays.
    INSERT = "INSERT INTO converted_files (organization_id, id, revision_id, submission_document_id, format, file_key, size,
            sha256, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
}

/// What a conversion was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConvertedOf {
    /// A revision.
    Revision(RevisionId),
    /// A handed-in copy.
    Copy(SubmissionDocumentId),
}

/// A kept conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// Where the bytes are.
    pub key: FileKey,
    /// How many.
    pub size: i64,
    /// Hexadecimal SHA-256.
    pub sha256: String,
}

impl Scope<'_> {
    /// A kept conversion, if there is one.
    pub fn converted(&mut self, source: &ConvertedOf, format: &str) -> Result<Option<Converted>> {
        match source {
            ConvertedOf::Revision(id) => self.maybe(&OF_REVISION, args![id, format], converted),
            ConvertedOf::Copy(id) => self.maybe(&OF_COPY, args![id, format], converted),
        }
    }
}

impl Work<'_> {
    /// Keeps a conversion of the file `made_of`; answers the one that is kept now, and nothing when its source went or
    /// became another file meanwhile.
    pub fn keep_converted(
        &mut self,
        source: &ConvertedOf,
        made_of: &FileKey,
        format: &str,
        new: &Converted,
    ) -> Result<Option<Converted>> {
        let (revision, copy) = match source {
            ConvertedOf::Revision(id) => (Some(id), None),
            ConvertedOf::Copy(id) => (None, Some(id)),
        };
        let exists: bool = match source {
            ConvertedOf::Revision(id) => self.one(&HAS_REVISION, args![id], |row| row.take())?,
            ConvertedOf::Copy(id) => self.one(&HAS_COPY, args![id, made_of.as_str()], |row| row.take())?,
        };
        if !exists {
            return Ok(None);
        }
        let now = self.now();
        self.run(
            &INSERT,
            args![
                clock::new_id(),
                revision,
                copy,
                format,
                new.key.as_str(),
                new.size,
                new.sha256,
                now
            ],
        )?;
        self.converted(source, format)
    }
}

impl Work<'_> {
    /// Forgets the conversions of a copy whose bytes change, and answers their files.
    pub fn delete_converted_copies(&mut self, copy: &SubmissionDocumentId) -> Result<Vec<FileKey>> {
        let files = self.many(&FILES_OF_COPY, args![copy], file)?;
        self.run(&DELETE_OF_COPY, args![copy])?;
        Ok(files)
    }
}

fn file(row: &mut Columns<'_>) -> Result<FileKey> {
    row.take::<String>().map(FileKey::new)
}

fn converted(row: &mut Columns<'_>) -> Result<Converted> {
    Ok(Converted {
        key: FileKey::new(row.take::<String>()?),
        size: row.take()?,
        sha256: row.take()?,
    })
}
