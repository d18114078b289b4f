//! Processes callbacks of the document server without bytes: a user joined or left an editing session, the session is
//! over, or its save could not be downloaded.

use domain::document::Document;
use domain::id::{DocumentId, UserId};
use domain::save::{self, DocumentKey};
use domain::time::Timestamp;

use super::contributions;
use super::saves::{lock_document, record_recovery, record_unsaved_content};
use common::error::{Error, Result};
use db::WriteTx;
use db::saves::{SaveNote, SaveOutcome};

/// The session is over, and an earlier forced save contained all changes.
pub fn close_saved(tx: &mut WriteTx<'_>, note: &SaveNote, generation: i64) -> Result<()> {
    let before = lock_document(tx, &note.document_id, generation)?.details.document;
    let mut document = before.clone();
    contributions::record_presence(tx, &document.id, generation)?;
    if generation == document.key().generation {
        document.renew_key();
        document.save_failed_at = None;
    }
    document.note_arrival(generation, true);
    if document != before {
        document.updated_at = tx.now();
        tx.update_document(&document)?;
    }
    record_recovery(tx, &before, &document)?;
    record_unsaved_content(tx, &before, &document)?;
    tx.end_session(&note.document_id, generation)
}

/// The last editor left without changes.
pub fn close(tx: &mut WriteTx<'_>, id: &DocumentId, generation: i64) -> Result<()> {
    let before = lock_document(tx, id, generation)?.details.document;
    contributions::record_presence(tx, id, generation)?;
    end_locked(tx, before, generation)
}

/// Ends a session of which the document server holds no changes. The document is locked first: a freeze that
/// completes at the same time must not keep the key of a session that is over.
pub fn end(tx: &mut WriteTx<'_>, id: &DocumentId, generation: i64) -> Result<()> {
    let before = lock_document(tx, id, generation)?.details.document;
    end_locked(tx, before, generation)
}

/// Ends a session of a document that this transaction has locked.
pub(super) fn end_locked(tx: &mut WriteTx<'_>, before: Document, generation: i64) -> Result<()> {
    let mut document = before.clone();
    document.note_arrival(generation, true);
    if document != before {
        document.updated_at = tx.now();
        tx.update_document(&document)?;
        record_unsaved_content(tx, &before, &document)?;
    }
    tx.end_session(&before.id, generation)
}

/// An editor joined or left.
pub fn update_editors(
    tx: &mut WriteTx<'_>,
    note: &SaveNote,
    generation: i64,
    users: &[UserId],
    (joined, left): (&[UserId], &[UserId]),
) -> Result<()> {
    if users.is_empty() {
        // The response to an `info` command may arrive after the final save, whose transaction ended the session.
        lock_document(tx, &note.document_id, generation)?;
    } else if generation > tx.document(&note.document_id)?.document().generation {
        return Err(Error::DocumentServerTokenMismatch);
    }
    contributions::record_presence(tx, &note.document_id, generation)?;
    let before = tx.editing_session(&note.document_id, generation)?;
    if users.is_empty() && before.is_none() {
        return Ok(());
    }
    let has_gap = before
        .as_ref()
        .is_some_and(|before| before.has_gap || save::shows_gap(&before.editors, users, joined, left));
    tx.record_editors(&note.document_id, generation, &note.document_key, users, has_gap)
}

/// A save could not be downloaded; the document server repeats the callback, or the periodic sweep downloads it.
pub fn record_unfetched(tx: &mut WriteTx<'_>, note: &SaveNote, last_save: Option<Timestamp>) -> Result<()> {
    if tx.is_save_processed(note)? {
        return Ok(());
    }
    let outcome = SaveOutcome {
        word: "FAILED",
        sha256: None,
        last_save,
        revision_id: None,
    };
    tx.record_save(note, &outcome)
}

/// Users joined or left a document in the built-in editor. A session without editors has ended.
pub fn change_editors(
    tx: &mut WriteTx<'_>,
    key: &DocumentKey,
    text: &str,
    joined: &[UserId],
    left: &[UserId],
) -> Result<()> {
    let document = lock_document(tx, &key.document, key.generation)?.details.document;
    contributions::record_presence(tx, &key.document, key.generation)?;
    let before = tx.editing_session(&key.document, key.generation)?;
    let mut editors = before.map_or_else(Vec::new, |session| session.editors);
    editors.retain(|editor| !left.contains(editor));
    for user in joined {
        if !editors.contains(user) {
            editors.push(user.clone());
        }
    }
    let is_present = key.generation == document.key().generation;
    if editors.is_empty() {
        return end_locked(tx, document, key.generation);
    }
    // A page that is still open after its generation has ended begins no session.
    if is_present || tx.editing_session(&key.document, key.generation)?.is_some() {
        tx.record_editors(&key.document, key.generation, text, &editors, false)?;
    }
    Ok(())
}
