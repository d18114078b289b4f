//! Processes callbacks of the document server without bytes: a user joined or left an editing session, the session is
//! over, or its save could not be downloaded.

use model::document::Document;
use model::id::{DocumentId, UserId};
use model::save;
use model::time::Timestamp;

use super::contributions;
use super::saves::{lock_document, record_recovery, record_unsaved_content};
use common::error::{Error, Result};
use db::Work;
use db::saves::{SaveNote, SaveOutcome};

/// The session is over, and an earlier forced save contained all changes.
pub fn close_saved(work: &mut Work<'_>, note: &SaveNote, generation: i64) -> Result<()> {
    let before = lock_document(work, &note.document_id, generation)?.whole.document;
    let mut document = before.clone();
    contributions::record_presence(work, &document.id, generation)?;
    if generation == document.key().generation {
        document.renew_key();
        document.save_failed_at = None;
    }
    document.note_arrival(generation, true);
    if document != before {
        document.updated_at = work.now();
        work.update_document(&document)?;
    }
    record_recovery(work, &before, &document)?;
    record_unsaved_content(work, &before, &document)?;
    work.end_session(&note.document_id, generation)
}

/// The last editor left without changes.
pub fn close(work: &mut Work<'_>, id: &DocumentId, generation: i64) -> Result<()> {
    let before = lock_document(work, id, generation)?.whole.document;
    contributions::record_presence(work, id, generation)?;
    end_locked(work, before, generation)
}

/// Ends a session of which the document server holds no changes. The document is locked first: a freeze that
/// completes at the same time must not keep the key of a session that is over.
pub fn end(work: &mut Work<'_>, id: &DocumentId, generation: i64) -> Result<()> {
    let before = lock_document(work, id, generation)?.whole.document;
    end_locked(work, before, generation)
}

/// Ends a session of a document that this transaction has locked.
pub(super) fn end_locked(work: &mut Work<'_>, before: Document, generation: i64) -> Result<()> {
    let mut document = before.clone();
    document.note_arrival(generation, true);
    if document != before {
        document.updated_at = work.now();
        work.update_document(&document)?;
        record_unsaved_content(work, &before, &document)?;
    }
    work.end_session(&before.id, generation)
}

/// An editor joined or left.
pub fn update_editors(
    work: &mut Work<'_>,
    note: &SaveNote,
    generation: i64,
    users: &[UserId],
    (joined, left): (&[UserId], &[UserId]),
) -> Result<()> {
    if users.is_empty() {
        // The response to an `info` command may arrive after the final save, whose transaction ended the session.
        lock_document(work, &note.document_id, generation)?;
    } else if generation > work.document(&note.document_id)?.document().generation {
        return Err(Error::DocumentServerTokenMismatch);
    }
    contributions::record_presence(work, &note.document_id, generation)?;
    let before = work.editing_session(&note.document_id, generation)?;
    if users.is_empty() && before.is_none() {
        return Ok(());
    }
    let has_gap = before
        .as_ref()
        .is_some_and(|before| before.has_gap || save::shows_gap(&before.editors, users, joined, left));
    work.note_editors(&note.document_id, generation, &note.document_key, users, has_gap)
}

/// A save could not be downloaded; the document server repeats the callback, or the periodic sweep downloads it.
pub fn record_unfetched(work: &mut Work<'_>, note: &SaveNote, last_save: Option<Timestamp>) -> Result<()> {
    if work.has_taken(note)? {
        return Ok(());
    }
    let outcome = SaveOutcome {
        word: "FAILED",
        sha256: None,
        last_save,
        revision_id: None,
    };
    work.note_save(note, &outcome)
}
