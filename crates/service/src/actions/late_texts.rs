//! Stores what is saved of a document after its deletion. It is kept for a day.

use domain::change::DocumentChange;
use domain::late_text::LateText;

use common::error::Result;
use db::WriteTx;

/// Stores the newest content of a session of a deleted document. Returns whether the row now refers to the file.
pub fn store(tx: &mut WriteTx<'_>, text: &LateText) -> Result<bool> {
    let document = tx.lock_deleted_document(&text.document_id)?;
    let former = tx.late_text_of_session(&text.document_id, text.generation)?;
    let is_same = |former: &LateText| former.sha256 == text.sha256 || !text.replaces(former);
    if former.as_ref().is_some_and(is_same) {
        return Ok(false);
    }
    let mut text = text.clone();
    if let Some(former) = &former {
        // The download link in a list that was read before the replacement must keep working.
        text.id = former.id.clone();
    }
    if let Some(author) = &text.saved_by_id
        && !tx.is_member(author)?
    {
        text.saved_by_id = None;
    }
    tx.replace_late_text(former.as_ref(), &text)?;
    tx.record(DocumentChange::LateTextKept {
        document: Box::new(document),
        text: Box::new(text),
        is_replacement: former.is_some(),
        files: former.into_iter().map(|former| former.file_key).collect(),
    });
    Ok(true)
}
