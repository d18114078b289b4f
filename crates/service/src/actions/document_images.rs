//! Adds pictures to documents in the built-in editor. The bytes are stored before the transaction begins.

use domain::document_image::{DocumentImage, IMAGES_MAX};
use domain::domain_error::DomainError;

use common::error::Result;
use db::WriteTx;

/// Adds a picture to a draft.
pub fn add(tx: &mut WriteTx<'_>, image: &DocumentImage) -> Result<()> {
    let seen = tx.lock_writable_document(&image.document_id)?;
    seen.writable()?.rewritable()?;
    let count = tx.count_document_images(&image.document_id)?;
    DomainError::check_limit("pictures in a document", count + 1, IMAGES_MAX)?;
    tx.insert_document_image(image)
}
