//! A cache of converted files. The source is a revision or a submitted copy; its bytes are immutable.

use domain::file::FileKey;
use domain::id::{RevisionId, SubmissionDocumentId};

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, from_row, statements};
use common::clock;
use common::error::Result;

statements! {
    OF_REVISION = "SELECT file_key, size, sha256 FROM converted_files
        WHERE organization_id = $1 AND revision_id = $2 AND format = $3";
    OF_COPY = "SELECT file_key, size, sha256 FROM converted_files
        WHERE organization_id = $1 AND submission_document_id = $2 AND format = $3";
    /// Whether the source revision still exists.
    HAS_REVISION = "SELECT EXISTS (SELECT 1 FROM document_revisions WHERE organization_id = $1 AND id = $2)";
    /// Whether the submitted copy still exists with this file.
    HAS_COPY = "SELECT EXISTS (SELECT 1 FROM submission_documents WHERE organization_id = $1 AND id = $2
        AND file_key = $3)";
    /// The converted files of a submitted copy.
    FILES_OF_COPY = "SELECT file_key FROM converted_files WHERE organization_id = $1 AND submission_document_id = $2";
    DELETE_OF_COPY = "DELETE FROM converted_files WHERE organization_id = $1 AND submission_document_id = $2";
    /// Inserts a conversion. Of two concurrent ones the first is kept.
    INSERT = "INSERT INTO converted_files (organization_id, id, revision_id, submission_document_id, format, file_key,
        size,
            sha256, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
}

/// The source of a conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConvertedSource {
    Revision(RevisionId),
    /// A submitted copy of a document.
    Copy(SubmissionDocumentId),
}

/// A cached conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertedFile {
    pub key: FileKey,
    /// Size in bytes.
    pub size: i64,
    /// Hexadecimal SHA-256.
    pub sha256: String,
}

impl ReadTx<'_> {
    /// Returns the cached conversion of a source to this format, if there is one.
    pub fn converted(&mut self, source: &ConvertedSource, format: &str) -> Result<Option<ConvertedFile>> {
        match source {
            ConvertedSource::Revision(id) => self.fetch_optional(&OF_REVISION, args![id, format], converted),
            ConvertedSource::Copy(id) => self.fetch_optional(&OF_COPY, args![id, format], converted),
        }
    }
}

impl WriteTx<'_> {
    /// Stores a conversion of the file `made_of` and returns the stored one, which may be that of a concurrent request.
    /// Returns `None` if the source was deleted or got another file in the meantime.
    pub fn insert_converted_file(
        &mut self,
        source: &ConvertedSource,
        made_of: &FileKey,
        format: &str,
        new: &ConvertedFile,
    ) -> Result<Option<ConvertedFile>> {
        let (revision, copy) = match source {
            ConvertedSource::Revision(id) => (Some(id), None),
            ConvertedSource::Copy(id) => (None, Some(id)),
        };
        let exists: bool = match source {
            ConvertedSource::Revision(id) => self.fetch_one(&HAS_REVISION, args![id], |row| row.only())?,
            ConvertedSource::Copy(id) => self.fetch_one(&HAS_COPY, args![id, made_of.as_str()], |row| row.only())?,
        };
        if !exists {
            return Ok(None);
        }
        let now = self.now();
        self.execute(
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

impl WriteTx<'_> {
    /// Deletes the conversions of a copy whose bytes change; returns their files.
    pub fn delete_converted_copies(&mut self, copy: &SubmissionDocumentId) -> Result<Vec<FileKey>> {
        let files = self.fetch_all(&FILES_OF_COPY, args![copy], file)?;
        self.execute(&DELETE_OF_COPY, args![copy])?;
        Ok(files)
    }
}

fn file(row: &Columns<'_>) -> Result<FileKey> {
    row.get::<String>("file_key").map(FileKey::new)
}

fn converted(row: &Columns<'_>) -> Result<ConvertedFile> {
    from_row!(row => ConvertedFile { key = "file_key", size, sha256 })
}
