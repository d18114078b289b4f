//! Pictures that were added to documents in the built-in editor. They are private to the users who may view the document.

use domain::document_image::DocumentImage;
use domain::file::FileKey;
use domain::id::{DocumentId, ImageId};

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, from_row, named, statements};
use common::error::Result;

statements! {
    BY_ID = "SELECT i.id, i.document_id, i.mime_type, i.size, i.sha256, i.file_key, i.width, i.height, i.uploaded_by_id,
            i.created_at
        FROM document_images i WHERE i.organization_id = $1 AND i.document_id = $2 AND i.id = $3";
    OF_DOCUMENT = "SELECT i.id, i.document_id, i.mime_type, i.size, i.sha256, i.file_key, i.width, i.height,
        i.uploaded_by_id,
            i.created_at
        FROM document_images i WHERE i.organization_id = $1 AND i.document_id = $2 ORDER BY i.id";
    COUNT = "SELECT COUNT(*) FROM document_images WHERE organization_id = $1 AND document_id = $2";
    INSERT = "INSERT INTO document_images (organization_id, id, document_id, mime_type, size, sha256, file_key, width,
            height, uploaded_by_id, created_at)
        VALUES ($1, :id, :document_id, :mime_type, :size, :sha256, :file_key, :width, :height, :uploaded_by_id,
            :created_at)";
    DELETE = "DELETE FROM document_images WHERE organization_id = $1 AND document_id = $2";
}

impl ReadTx<'_> {
    /// Returns a picture of a document; `None` if it was not added in the editor.
    pub fn document_image(&mut self, document: &DocumentId, id: &ImageId) -> Result<Option<DocumentImage>> {
        self.fetch_optional(&BY_ID, args![document, id], image)
    }

    /// Lists the pictures that were added to a document.
    pub fn document_images(&mut self, document: &DocumentId) -> Result<Vec<DocumentImage>> {
        self.fetch_all(&OF_DOCUMENT, args![document], image)
    }

    /// Counts the pictures that were added to a document.
    pub fn count_document_images(&mut self, document: &DocumentId) -> Result<i64> {
        self.fetch_one(&COUNT, args![document], |row| row.only())
    }
}

impl WriteTx<'_> {
    /// Inserts a picture and counts its size against the storage quota. Its bytes must already be durable.
    pub fn insert_document_image(&mut self, new: &DocumentImage) -> Result<()> {
        self.stored(new.size);
        self.execute_named(
            &INSERT,
            named![new =>
                id, document_id, mime_type, size, sha256, file_key, width, height, uploaded_by_id, created_at,
            ],
        )
    }

    /// Deletes the pictures of a document that is being deleted, and returns their files.
    pub(super) fn delete_document_images(&mut self, document: &DocumentId) -> Result<Vec<FileKey>> {
        let images = self.document_images(document)?;
        self.execute(&DELETE, args![document])?;
        Ok(images.into_iter().map(|image| image.file_key).collect())
    }
}

fn image(row: &Columns<'_>) -> Result<DocumentImage> {
    from_row!(row => DocumentImage {
        id, document_id, mime_type, size, sha256, file_key, width, height, uploaded_by_id, created_at,
    })
}
