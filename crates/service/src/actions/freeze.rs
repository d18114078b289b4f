//! Freezes a document when it is submitted or locked. The row changes its state first; then open editors get time to
//! send their pending changes (the flush), are asked to save, and are disconnected; then the freeze is complete. Each
//! step is a separate transaction, and the rows record which steps remain.

use domain::change::{DocumentStep, SubmissionChange};
use domain::document::{Document, UnlockedStatus};
use domain::document_kind::{DocumentType, EditorKind};
use domain::id::DocumentId;
use domain::save::DocumentKey;
use domain::time::Timestamp;

use super::acting_user::acting_user;
use super::saves::{nonce, record_unsaved_content};
use super::submissions::whole_link;
use adapters::onlyoffice::DocumentServer;
use common::error::{Error, Result};
use db::WriteTx;
use db::saves::EditingSession;

/// An editing session of a document that may still be open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freeze {
    pub document: DocumentId,
    /// The generation of the session's document key.
    pub generation: i64,
    /// The document key as the document server knows it.
    pub key: String,
    /// The user data of the forced save.
    pub nonce: String,
    /// Whether the document was frozen just now. If so, changes that the document server still holds of an ended
    /// session were made before the freeze.
    pub is_new: bool,
    /// Whether to wait until the editors have sent their pending changes.
    pub is_flushing: bool,
}

/// The state of the last changes of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreezeOutcome {
    /// All changes were saved.
    Complete,
    /// It is unknown whether all changes were saved; a save may still arrive.
    Pending,
    /// The document server was restarted and holds changes. It sends them when the document is opened again under the
    /// same key.
    Unsaved,
}

/// Begins to freeze a document that has just been submitted or locked. The sessions to ask are those that are known
/// to be open and the one that could be joined until now. Each gets a row in the freezing transaction, so that the
/// periodic sweep asks them if this instance cannot. The freeze ends at `until` at the latest. The caller updates the
/// document.
pub fn begin(
    tx: &mut WriteTx<'_>,
    document: &mut Document,
    former_key: Option<DocumentKey>,
    sessions: &[EditingSession],
    server: &DocumentServer,
    until: Timestamp,
) -> Result<Vec<Freeze>> {
    let is_new = former_key.is_some();
    let mut freezes = sessions_to_save(document, former_key, sessions, server);
    if server.editor_kind(document) == EditorKind::Builtin {
        retain_opened(tx, &mut freezes, sessions)?;
    }
    for freeze in &freezes {
        let is_written = |session: &EditingSession| {
            session.document_id == freeze.document && session.generation == freeze.generation
        };
        if !sessions.iter().any(is_written) {
            tx.expect_session(&freeze.document, freeze.generation, &freeze.key)?;
        }
    }
    // A lock does not extend the time of a document that was submitted before.
    if freezes.is_empty() || !is_new {
        for freeze in &mut freezes {
            freeze.is_flushing = false;
        }
        return Ok(freezes);
    }
    let now = tx.now();
    let has_editors = freezes.iter().any(|freeze| freeze.is_flushing);
    let cut = if has_editors {
        server.timeouts().flush_deadline(now)
    } else {
        now
    };
    document.begin_freeze(cut, until);
    for freeze in &mut freezes {
        freeze.nonce = nonce(document.frozen_at().unwrap_or(now));
    }
    Ok(freezes)
}

/// Ends the flush of these documents now and renews the nonces that identify the forced saves.
pub fn end_flush(tx: &mut WriteTx<'_>, mut freezes: Vec<Freeze>) -> Result<Vec<Freeze>> {
    for freeze in freezes.iter_mut().filter(|freeze| freeze.is_flushing) {
        freeze.is_flushing = false;
        tx.end_flush(&freeze.document)?;
        match tx.document(&freeze.document) {
            Ok(seen) => freeze.nonce = nonce(seen.document().frozen_at().unwrap_or(tx.now())),
            // The document was deleted in the meantime.
            Err(Error::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(freezes)
}

/// Records that the page of the caller has sent all pending changes of a document that is being frozen. Counts only
/// for the caller's own editor; ignored in any other state.
pub fn record_flushed(tx: &mut WriteTx<'_>, id: &DocumentId) -> Result<()> {
    let user = acting_user(tx)?;
    if !tx.document(id)?.document().is_freezing() {
        return Ok(());
    }
    let document = tx.lock_writable_document(id)?.details.document;
    for session in tx.editing_sessions(id)? {
        let is_asked = session.generation < document.generation && session.editors.contains(&user);
        if is_asked && !session.flushed.contains(&user) {
            let mut flushed = session.flushed.clone();
            flushed.push(user.clone());
            tx.record_flushed(&session, &flushed)?;
        }
    }
    Ok(())
}

/// Completes the freeze of a document: its readers may now see the frozen content. Also records missing changes: then
/// the key is kept for the next editors, and staff are alerted if the changes will not arrive on their own.
pub fn complete(tx: &mut WriteTx<'_>, id: &DocumentId, outcomes: &[(i64, FreezeOutcome)]) -> Result<()> {
    let class = tx.document(id)?.group_context.class;
    tx.lock_class(&class)?;
    let seen = tx.lock_writable_document(id)?;
    let before = seen.details.document;
    let mut document = before.clone();
    document.freezing_until = None;
    let is_frozen = document.frozen_at().is_some();
    for (generation, outcome) in outcomes {
        let session = tx.editing_session(id, *generation)?;
        match outcome {
            // The session ended in the meantime, so all its changes were saved.
            _ if session.is_none() => document.note_arrival(*generation, true),
            FreezeOutcome::Complete => document.note_arrival(*generation, false),
            FreezeOutcome::Pending if is_frozen && session.as_ref().is_some_and(EditingSession::had_editors) => {
                document.unsaved_generation = Some(*generation);
            }
            FreezeOutcome::Pending => {}
            FreezeOutcome::Unsaved => {
                // Submission withdrawn in the meantime, and an editor is open under the new key: that key stays.
                if is_frozen || tx.editing_session(id, document.key().generation)?.is_none() {
                    document.unsaved_generation = Some(*generation);
                }
                document.save_failed_at = document.save_failed_at.or(Some(tx.now()));
                tx.end_session(id, *generation)?;
            }
        }
    }
    if document == before {
        return Ok(());
    }
    let is_pending_changed = document.unsaved_generation != before.unsaved_generation;
    let is_alarm = document.save_failed_at != before.save_failed_at;
    if is_pending_changed || is_alarm {
        document.updated_at = tx.now();
    }
    tx.update_document(&document)?;
    if is_alarm {
        let change = tx.document(id)?.change(DocumentStep::SaveFailed);
        tx.record(change);
    }
    if before.is_freezing() && is_frozen || is_pending_changed && document.unsaved_generation.is_some() {
        return record_frozen(tx, &document, before.is_freezing());
    }
    record_unsaved_content(tx, &before, &document)
}

fn record_frozen(tx: &mut WriteTx<'_>, document: &Document, has_changed: bool) -> Result<()> {
    let seen = tx.document(&document.id)?;
    let topic = document.assignment_id.as_ref();
    let topic = topic.filter(|_| has_changed && document.status.open() == UnlockedStatus::Submitted);
    if let Some(topic) = topic
        && let Some(submission) = tx.submission_of_document(&document.id)?
    {
        let link = Box::new(whole_link(tx, topic, &seen.group_context.group.id)?);
        tx.record(SubmissionChange::Frozen {
            link,
            document: Box::new(seen.details),
            submission: Box::new(submission),
        });
        return Ok(());
    }
    tx.record(seen.change(DocumentStep::Frozen));
    Ok(())
}

/// Returns the sessions of an already frozen document that may not have been asked, because of an interruption.
pub fn pending_freezes(document: &Document, sessions: &[EditingSession], server: &DocumentServer) -> Vec<Freeze> {
    let left = sessions_to_save(document, None, sessions, server).into_iter();
    left.map(|freeze| Freeze {
        is_new: false,
        is_flushing: false,
        ..freeze
    })
    .collect()
}

/// Builds the freeze of a session under a former key whose callbacks have timed out.
pub fn stale_session_freeze(session: EditingSession, frozen_at: Timestamp) -> Freeze {
    Freeze {
        nonce: nonce(frozen_at),
        document: session.document_id,
        generation: session.generation,
        key: session.document_key,
        is_new: false,
        is_flushing: false,
    }
}

/// Removes generations that were never opened. The first opening in the built-in editor begins a log.
fn retain_opened(tx: &mut WriteTx<'_>, freezes: &mut Vec<Freeze>, sessions: &[EditingSession]) -> Result<()> {
    let mut opened = Vec::new();
    for freeze in freezes.drain(..) {
        let is_session = |session: &EditingSession| {
            session.document_id == freeze.document && session.generation == freeze.generation
        };
        if sessions.iter().any(is_session) || tx.document_log(&freeze.document, freeze.generation)?.is_some() {
            opened.push(freeze);
        }
    }
    *freezes = opened;
    Ok(())
}

fn sessions_to_save(
    document: &Document,
    former_key: Option<DocumentKey>,
    sessions: &[EditingSession],
    server: &DocumentServer,
) -> Vec<Freeze> {
    // PDFs are only opened for reading, and without an editor no session is open.
    if document.document_type == DocumentType::Pdf || !server.has_editor(document) {
        return Vec::new();
    }
    let frozen_at = document.frozen_at().unwrap_or(document.updated_at);
    let former = former_key.map(|key| (key.generation, server.key(&key)));
    let open = sessions.iter().filter(|session| session.document_id == document.id);
    let open: Vec<_> = open
        .filter(|session| session.generation < document.generation)
        .collect();
    let mut keys: Vec<(i64, String)> = former
        .into_iter()
        .chain(
            open.iter()
                .map(|session| (session.generation, session.document_key.clone())),
        )
        .collect();
    keys.sort();
    keys.dedup();
    let freeze = |(generation, key)| Freeze {
        document: document.id.clone(),
        generation,
        key,
        nonce: nonce(frozen_at),
        is_new: true,
        is_flushing: open
            .iter()
            .any(|session| session.generation == generation && session.is_flushing()),
    };
    keys.into_iter().map(freeze).collect()
}
