//! Processes saves of the document server. A save is not a user's request, so a lock never rejects it: it becomes the
//! content or is kept as a late revision. Either way it may be acknowledged once this transaction is committed.

use domain::change::{DocumentChange, DocumentStep, SubmissionChange};
use domain::document::{Document, UnlockedStatus};
use domain::document_kind::FileExtension;
use domain::file::FileKey;
use domain::id::{DocumentId, RevisionId, UserId};
use domain::patch::FieldDiff;
use domain::save::{History, Revision, RevisionOrigin, Save, SaveDisposition};
use domain::time::Timestamp;

use super::documents::record_activity;
use super::submissions::whole_link;
use super::{contributions, session_notices};
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::documents::VisibleDocument;
use db::saves::{EditingSession, SaveNote, SaveOutcome};

/// Days after which save callbacks are not repeated any more.
const SAVES_KEPT_DAYS: i64 = 30;

/// A save whose bytes are durable, before it is processed.
#[derive(Debug, Clone)]
pub struct IncomingSave {
    /// When this service requested the save, if it is a forgotten file, which the document server keeps if no
    /// callback was acknowledged.
    pub forgotten_at: Option<Timestamp>,
    /// Whether the text was sent after its generation had ended, so that it never becomes the content.
    pub is_late: bool,
    /// The identity of the callback, by which a repeat is recognized.
    pub note: SaveNote,
    /// The generation of the document key.
    pub generation: i64,
    /// Whether the session has ended.
    pub is_final: bool,
    /// When the last change was made.
    pub last_save: Option<Timestamp>,
    /// The last author, according to the document server.
    pub author: Option<UserId>,
    /// All authors, according to the document server.
    pub editors: Vec<UserId>,
    /// The change history.
    pub history: History,
    /// The user data of the command that forced the save.
    pub nonce: Option<String>,
    /// Whether the result is corrupted. A corrupted save never becomes the content.
    pub is_partial: bool,
    pub blob: StoredBlob,
}

/// Bytes stored under their final key, which no row refers to yet.
#[derive(Debug, Clone)]
pub struct StoredBlob {
    /// The revision that they may become.
    pub revision: RevisionId,
    pub extension: FileExtension,
    pub key: FileKey,
    pub size: i64,
    /// The hexadecimal SHA-256 of the bytes.
    pub sha256: String,
    /// The key of a second copy, for a submitted document.
    pub copy: Option<FileKey>,
}

/// Which of the stored files rows refer to now; the others may be deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReferencedFiles {
    pub revision: bool,
    /// The copy in a submission.
    pub copy: bool,
    /// Nothing was written: the document was submitted in the meantime, and the caller has to store a copy first.
    pub needs_copy: bool,
}

/// Returns the user data of a forced save that belongs to the freeze at `frozen_at`: its content existed at that
/// time, whatever the clocks say.
pub fn nonce(frozen_at: Timestamp) -> String {
    format!("{}-{}", frozen_at.as_millis(), clock::new_id())
}

/// Returns the value that records a failed forced save.
pub fn failure_nonce(nonce: &str) -> String {
    format!("failed-{nonce}")
}

fn belongs_to(nonce: Option<&str>, frozen_at: Timestamp) -> bool {
    let millis = nonce.and_then(|nonce| nonce.split_once('-')).map(|(millis, _)| millis);
    millis == Some(frozen_at.as_millis().to_string().as_str())
}

/// Locks a document until the transaction ends and returns it. Its generation must be the present or a former one.
pub(super) fn lock_document(tx: &mut WriteTx<'_>, id: &DocumentId, generation: i64) -> Result<VisibleDocument> {
    let class = tx.document(id)?.group_context.class;
    tx.lock_class(&class)?;
    let seen = tx.lock_writable_document(id)?;
    if generation > seen.document().generation {
        return Err(Error::DocumentServerTokenMismatch);
    }
    Ok(seen)
}

/// Decides what happens to a save and writes the result.
pub fn apply(tx: &mut WriteTx<'_>, incoming: &IncomingSave) -> Result<ReferencedFiles> {
    let seen = lock_document(tx, &incoming.note.document_id, incoming.generation)?;
    if tx.is_save_processed(&incoming.note)? {
        contributions::record_presence(tx, &incoming.note.document_id, incoming.generation)?;
        if incoming.is_final {
            session_notices::end_locked(tx, seen.details.document, incoming.generation)?;
        } else {
            update_session(tx, incoming)?;
        }
        return Ok(ReferencedFiles::default());
    }
    contributions::record_presence(tx, &incoming.note.document_id, incoming.generation)?;
    let mut document = seen.document().clone();
    let current = tx.current_revision(&document)?;
    let is_unchanged = current
        .as_ref()
        .is_some_and(|current| current.sha256 == incoming.blob.sha256);
    let session = tx.editing_session(&document.id, incoming.generation)?;
    let save = resolve_save(&document, incoming, session.as_ref());
    let received = document.classify_save(save, current.as_ref().map(Revision::stored_save));
    // A revision that was saved while this one was downloaded is newer, even if both are from the same session.
    let is_overtaken = match (incoming.forgotten_at, &current) {
        (Some(asked), Some(current)) => current.created_at >= asked,
        _ => false,
    };
    let received = if is_overtaken || incoming.is_late {
        SaveDisposition::Late
    } else {
        received
    };
    let is_content = received == SaveDisposition::Current && !is_unchanged && !incoming.is_partial;
    if is_content && document.status.open() == UnlockedStatus::Submitted && incoming.blob.copy.is_none() {
        return Ok(ReferencedFiles {
            needs_copy: true,
            ..ReferencedFiles::default()
        });
    }
    let before = document.clone();
    let (decision, revision, referenced) = match received {
        _ if is_unchanged => ("UNCHANGED", None, ReferencedFiles::default()),
        _ if incoming.is_partial => keep_as_late(tx, &seen, incoming, "RECOVERED")?,
        SaveDisposition::Current => apply_as_current(tx, &seen, &mut document, incoming)?,
        SaveDisposition::Late => keep_as_late(tx, &seen, incoming, "LATE")?,
        SaveDisposition::Superseded => ("OUTDATED", None, ReferencedFiles::default()),
    };
    if incoming.is_final && incoming.generation == document.generation {
        document.renew_key();
    }
    if !incoming.is_partial {
        document.save_failed_at = None;
        document.note_arrival(incoming.generation, incoming.is_final);
    }
    if document != before {
        document.updated_at = tx.now();
        tx.update_document(&document)?;
    }
    record_change(tx, &seen, &document, received, revision.as_ref())?;
    record_recovery(tx, &before, &document)?;
    record_unsaved_content(tx, &before, &document)?;
    let outcome = SaveOutcome {
        word: decision,
        sha256: Some(incoming.blob.sha256.clone()),
        last_save: incoming.last_save,
        revision_id: revision.map(|revision| revision.id),
    };
    tx.record_save(&incoming.note, &outcome)?;
    update_session(tx, incoming)?;
    let old = tx.now().plus_seconds(-SAVES_KEPT_DAYS * 86_400);
    tx.prune_saves(&document.id, old)?;
    Ok(referenced)
}

/// Returns the save as input of the rules: a save that was forced by the freeze is not later than the freeze.
fn resolve_save(document: &Document, incoming: &IncomingSave, session: Option<&EditingSession>) -> Save {
    let nonce = incoming.nonce.as_deref();
    let frozen_at = document.frozen_at();
    let is_snapshot = frozen_at.is_some_and(|frozen_at| belongs_to(nonce, frozen_at));
    let saved_before = session.and_then(|session| session.saved_nonce.as_deref());
    let last_save = match frozen_at {
        Some(frozen_at) if is_snapshot => Some(incoming.last_save.map_or(frozen_at, |last| last.min(frozen_at))),
        _ => incoming.last_save,
    };
    Save {
        generation: incoming.generation,
        last_save,
        is_final: incoming.is_final,
        is_after_snapshot: !is_snapshot && frozen_at.is_some_and(|frozen_at| belongs_to(saved_before, frozen_at)),
    }
}

type Decision = (&'static str, Option<Revision>, ReferencedFiles);

/// Makes the save the current content. If the document is submitted, the current submission gets it too.
fn apply_as_current(
    tx: &mut WriteTx<'_>,
    seen: &VisibleDocument,
    document: &mut Document,
    incoming: &IncomingSave,
) -> Result<Decision> {
    let origin = if incoming.is_final {
        RevisionOrigin::Editor
    } else {
        RevisionOrigin::Forcesave
    };
    let revision = insert(tx, incoming, origin)?;
    document.current_revision_id = Some(revision.id.clone());
    document.version = revision.version;
    document.size = revision.size;
    document.last_activity = tx.now();
    if let Some(author) = &revision.saved_by_id {
        document.last_edited_by = Some(author.clone());
    }
    if document.file_extension != incoming.blob.extension {
        document.file_extension = incoming.blob.extension;
        tx.correct_extension(&document.id, incoming.blob.extension)?;
    }
    // The content was saved under an older key. Users who open the present key must not get what the document server
    // cached under it. Only an open session under the present key keeps its key: its save comes later and wins. In a
    // read-only document all sessions are readers: open ones keep showing the old content, new ones get the new
    // content.
    let present = document.key().generation;
    let is_older = incoming.generation < present;
    let is_read_only = document.frozen_at().is_some();
    if is_older && (is_read_only || tx.editing_session(&document.id, present)?.is_none()) {
        document.renew_key();
    }
    let copy = complete_submission(tx, document, &revision, incoming)?;
    record_activity(tx, &seen.group_context.group.id, document.assignment_id.as_ref())?;
    Ok((
        "CURRENT",
        Some(revision),
        ReferencedFiles {
            revision: true,
            copy,
            needs_copy: false,
        },
    ))
}

/// Keeps the save as a late revision, unless its bytes are stored already. The group sees it if the document is a
/// draft and the save was only overtaken. A save after a freeze, or a corrupted one, is visible to staff only.
fn keep_as_late(
    tx: &mut WriteTx<'_>,
    seen: &VisibleDocument,
    incoming: &IncomingSave,
    decision: &'static str,
) -> Result<Decision> {
    if tx.has_revision_with_content(&seen.document().id, &incoming.blob.sha256)? {
        return Ok(("UNCHANGED", None, ReferencedFiles::default()));
    }
    let is_overtaken = seen.document().frozen_at().is_none() && !incoming.is_partial;
    let origin = if is_overtaken {
        RevisionOrigin::Late
    } else {
        RevisionOrigin::LateAfterLock
    };
    let revision = insert(tx, incoming, origin)?;
    let referenced = ReferencedFiles {
        revision: true,
        ..ReferencedFiles::default()
    };
    Ok((decision, Some(revision), referenced))
}

fn insert(tx: &mut WriteTx<'_>, incoming: &IncomingSave, origin: RevisionOrigin) -> Result<Revision> {
    let document = &incoming.note.document_id;
    let mut editors = Vec::new();
    for editor in &incoming.editors {
        if tx.is_member(editor)? {
            editors.push(editor.clone());
        }
    }
    let revision = Revision {
        id: incoming.blob.revision.clone(),
        organization_id: tx.organization().clone(),
        document_id: document.clone(),
        version: tx.next_version(document)?,
        file_key: incoming.blob.key.clone(),
        size: incoming.blob.size,
        sha256: incoming.blob.sha256.clone(),
        saved_by_id: incoming.author.clone().filter(|author| editors.contains(author)),
        editors,
        origin,
        // The time of a forgotten save is unknown: a user may still be writing under its key, and their save must
        // win.
        last_save: incoming.last_save.filter(|_| incoming.forgotten_at.is_none()),
        generation: incoming.generation,
        created_at: tx.now(),
    };
    tx.insert_revision(&revision)?;
    if !incoming.history.is_empty() {
        tx.record_history(&revision.id, &incoming.history)?;
    }
    contributions::record_save(tx, document, &revision.editors)?;
    Ok(revision)
}

/// Adds a save that was pending at submission to the submission. Returns whether it used the stored copy.
fn complete_submission(
    tx: &mut WriteTx<'_>,
    document: &Document,
    revision: &Revision,
    incoming: &IncomingSave,
) -> Result<bool> {
    let (Some(copy), UnlockedStatus::Submitted) = (&incoming.blob.copy, document.status.open()) else {
        return Ok(false);
    };
    let Some(submission) = tx.submission_of_document(&document.id)? else {
        return Ok(false);
    };
    let mut documents = submission.documents.into_iter();
    let Some(mut submitted) = documents.find(|submitted| submitted.document_id.as_ref() == Some(&document.id)) else {
        return Ok(false);
    };
    let former = std::mem::replace(&mut submitted.file_key, copy.clone());
    submitted.document_version = revision.version;
    submitted.size = revision.size;
    submitted.sha256.clone_from(&revision.sha256);
    tx.replace_copy(&submitted, &former)?;
    Ok(true)
}

fn record_change(
    tx: &mut WriteTx<'_>,
    seen: &VisibleDocument,
    document: &Document,
    received: SaveDisposition,
    revision: Option<&Revision>,
) -> Result<()> {
    let Some(revision) = revision else { return Ok(()) };
    let (saved, revision) = (tx.document(&document.id)?, Box::new(revision.clone()));
    if matches!(revision.origin, RevisionOrigin::Late | RevisionOrigin::LateAfterLock) {
        tx.record(saved.change(DocumentStep::SavedLate(revision)));
        return Ok(());
    }
    debug_assert_eq!(received, SaveDisposition::Current, "nothing else becomes the content");
    tx.record(saved.change(DocumentStep::Saved(revision)));
    let topic = document
        .assignment_id
        .as_ref()
        .filter(|_| document.status.open() == UnlockedStatus::Submitted);
    if let Some(topic) = topic
        && let Some(submission) = tx.submission_of_document(&document.id)?
    {
        let link = Box::new(whole_link(tx, topic, &seen.group_context.group.id)?);
        tx.record(SubmissionChange::Completed {
            link,
            submission: Box::new(submission),
        });
    }
    let files = tx.prune_revisions(&document.id)?;
    if !files.is_empty() {
        tx.record(DocumentChange::RevisionsPruned { files });
    }
    Ok(())
}

/// Records that a save succeeded after a failed one, for the users who saw the alert.
pub(super) fn record_recovery(tx: &mut WriteTx<'_>, before: &Document, after: &Document) -> Result<()> {
    if before.save_failed_at.is_some() && after.save_failed_at.is_none() {
        let mut changed = FieldDiff::new();
        changed.write("saveFailedAt", &mut before.save_failed_at.clone(), after.save_failed_at);
        let change = tx.document(&after.id)?.change(DocumentStep::Updated(changed));
        tx.record(change);
    }
    Ok(())
}

/// Records that no content is pending any more, for the users who were notified that some was. Not during a freeze,
/// which ends with the same event.
pub(super) fn record_unsaved_content(tx: &mut WriteTx<'_>, before: &Document, after: &Document) -> Result<()> {
    if before.unsaved_generation.is_some() && after.unsaved_generation.is_none() && !after.is_freezing() {
        let change = tx.document(&after.id)?.change(DocumentStep::Frozen);
        tx.record(change);
    }
    Ok(())
}

fn update_session(tx: &mut WriteTx<'_>, incoming: &IncomingSave) -> Result<()> {
    let note = &incoming.note;
    if incoming.is_final {
        tx.end_session(&note.document_id, incoming.generation)
    } else {
        let nonce = incoming.nonce.as_deref();
        tx.record_save_arrival(&note.document_id, incoming.generation, &note.document_key, nonce)
    }
}

/// Records that the document server could not save. The room and its staff are notified once, until a save succeeds.
pub fn record_failure(tx: &mut WriteTx<'_>, note: &SaveNote, generation: i64, nonce: Option<&str>) -> Result<()> {
    let seen = lock_document(tx, &note.document_id, generation)?;
    contributions::record_presence(tx, &note.document_id, generation)?;
    if let Some(nonce) = nonce {
        tx.record_save_arrival(
            &note.document_id,
            generation,
            &note.document_key,
            Some(&failure_nonce(nonce)),
        )?;
    }
    if seen.document().save_failed_at.is_some() {
        return Ok(());
    }
    let mut document = seen.document().clone();
    document.save_failed_at = Some(tx.now());
    tx.update_document(&document)?;
    let change = tx.document(&document.id)?.change(DocumentStep::SaveFailed);
    tx.record(change);
    Ok(())
}
