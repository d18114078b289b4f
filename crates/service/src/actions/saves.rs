//! Processes saves of the document server. A save is not a user's request, so a lock never rejects it: it becomes the
//! content or is kept as a late revision. Either way it may be acknowledged once this transaction is committed.

use model::change::document::DocumentChange;
use model::change::submission::SubmissionChange;
use model::document::{Document, Open};
use model::document_kind::FileExtension;
use model::edit::Changed;
use model::file::FileKey;
use model::id::{DocumentId, RevisionId, UserId};
use model::save::{History, Received, Revision, RevisionOrigin, Save};
use model::time::Timestamp;

use super::contributions;
use super::documents::worked;
use super::session_notices;
use super::submissions::whole_link;
use common::clock;
use common::error::{Error, Result};
use db::Work;
use db::documents::SeenDocument;
use db::saves::{EditingSession, SaveNote, SaveOutcome};

/// Days after which save callbacks are not repeated any more.
const NOTICES_KEPT: i64 = 30;

/// A save whose bytes are durable, before it is processed.
#[derive(Debug, Clone)]
pub struct Arrived {
    /// When this service requested the save, if it is a forgotten file, which the document server keeps if no
    /// callback was acknowledged.
    pub forgotten_at: Option<Timestamp>,
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
    pub bytes: KeptBytes,
}

/// Bytes stored under their final key, which no row refers to yet.
#[derive(Debug, Clone)]
pub struct KeptBytes {
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
pub struct Named {
    pub revision: bool,
    /// The copy in a submission.
    pub copy: bool,
    /// Nothing was written: the document was submitted in the meantime, and the caller has to store a copy first.
    pub wants_copy: bool,
}

/// Returns the user data of a forced save that belongs to the freeze at `frozen_at`: its content existed at that
/// time, whatever the clocks say.
pub fn nonce(frozen_at: Timestamp) -> String {
    format!("{}-{}", frozen_at.as_millis(), clock::new_id())
}

/// Returns the value that records a failed forced save.
pub fn failed(nonce: &str) -> String {
    format!("failed-{nonce}")
}

fn belongs_to(nonce: Option<&str>, frozen_at: Timestamp) -> bool {
    let millis = nonce.and_then(|nonce| nonce.split_once('-')).map(|(millis, _)| millis);
    millis == Some(frozen_at.as_millis().to_string().as_str())
}

/// Locks a document until the transaction ends and returns it. Its generation must be the present or a former one.
pub(super) fn hold(work: &mut Work<'_>, id: &DocumentId, generation: i64) -> Result<SeenDocument> {
    let class = work.document(id)?.place.class;
    work.hold_class(&class)?;
    let seen = work.document_to_write(id)?;
    if generation > seen.document().generation {
        return Err(Error::DocumentServerTokenMismatch);
    }
    Ok(seen)
}

/// Decides what happens to a save and writes the result.
pub fn save_back(work: &mut Work<'_>, arrived: &Arrived) -> Result<Named> {
    let seen = hold(work, &arrived.note.document_id, arrived.generation)?;
    if work.has_taken(&arrived.note)? {
        contributions::present(work, &arrived.note.document_id, arrived.generation)?;
        if arrived.is_final {
            session_notices::end_held(work, seen.whole.document, arrived.generation)?;
        } else {
            note_session(work, arrived)?;
        }
        return Ok(Named::default());
    }
    contributions::present(work, &arrived.note.document_id, arrived.generation)?;
    let mut document = seen.document().clone();
    let current = work.current_revision(&document)?;
    let holds_it = current
        .as_ref()
        .is_some_and(|current| current.sha256 == arrived.bytes.sha256);
    let session = work.editing_session(&document.id, arrived.generation)?;
    let save = effective(&document, arrived, session.as_ref());
    let received = document.receive(save, current.as_ref().map(Revision::kept));
    // A revision that was saved while this one was downloaded is newer, even if both are from the same session.
    let is_overtaken = match (arrived.forgotten_at, &current) {
        (Some(asked), Some(current)) => current.created_at >= asked,
        _ => false,
    };
    let received = if is_overtaken { Received::Late } else { received };
    let is_content = received == Received::Current && !holds_it && !arrived.is_partial;
    if is_content && document.status.open() == Open::Submitted && arrived.bytes.copy.is_none() {
        return Ok(Named {
            wants_copy: true,
            ..Named::default()
        });
    }
    let before = document.clone();
    let (decision, revision, named) = match received {
        _ if holds_it => ("UNCHANGED", None, Named::default()),
        _ if arrived.is_partial => keep_beside(work, &seen, arrived, "RECOVERED")?,
        Received::Current => become_content(work, &seen, &mut document, arrived)?,
        Received::Late => keep_beside(work, &seen, arrived, "LATE")?,
        Received::Superseded => ("OUTDATED", None, Named::default()),
    };
    if arrived.is_final && arrived.generation == document.generation {
        document.renew_key();
    }
    if !arrived.is_partial {
        document.save_failed_at = None;
        document.note_arrival(arrived.generation, arrived.is_final);
    }
    if document != before {
        document.updated_at = work.now();
        work.update_document(&document)?;
    }
    tell(work, &seen, &document, received, revision.as_ref())?;
    tell_recovery(work, &before, &document)?;
    tell_arrival(work, &before, &document)?;
    let outcome = SaveOutcome {
        word: decision,
        sha256: Some(arrived.bytes.sha256.clone()),
        last_save: arrived.last_save,
        revision_id: revision.map(|revision| revision.id),
    };
    work.note_save(&arrived.note, &outcome)?;
    note_session(work, arrived)?;
    let old = work.now().plus_seconds(-NOTICES_KEPT * 86_400);
    work.prune_saves(&document.id, old)?;
    Ok(named)
}

/// Returns the save as input of the rules: a save that was forced by the freeze is not later than the freeze.
fn effective(document: &Document, arrived: &Arrived, session: Option<&EditingSession>) -> Save {
    let nonce = arrived.nonce.as_deref();
    let cut = document.frozen_at();
    let is_snapshot = cut.is_some_and(|cut| belongs_to(nonce, cut));
    let saved_before = session.and_then(|session| session.saved_nonce.as_deref());
    let last_save = match cut {
        Some(cut) if is_snapshot => Some(arrived.last_save.map_or(cut, |last| last.min(cut))),
        _ => arrived.last_save,
    };
    Save {
        generation: arrived.generation,
        last_save,
        is_final: arrived.is_final,
        is_after_snapshot: !is_snapshot && cut.is_some_and(|cut| belongs_to(saved_before, cut)),
    }
}

type Decision = (&'static str, Option<Revision>, Named);

/// Makes the save the current content. If the document is submitted, the current submission gets it too.
fn become_content(
    work: &mut Work<'_>,
    seen: &SeenDocument,
    document: &mut Document,
    arrived: &Arrived,
) -> Result<Decision> {
    let origin = if arrived.is_final {
        RevisionOrigin::Editor
    } else {
        RevisionOrigin::Forcesave
    };
    let revision = insert(work, arrived, origin)?;
    document.current_revision_id = Some(revision.id.clone());
    document.version = revision.version;
    document.size = revision.size;
    document.last_activity = work.now();
    if let Some(author) = &revision.saved_by_id {
        document.last_edited_by = Some(author.clone());
    }
    if document.file_extension != arrived.bytes.extension {
        document.file_extension = arrived.bytes.extension;
        work.correct_extension(&document.id, arrived.bytes.extension)?;
    }
    // The content was saved under an older key. Users who open the present key must not get what the document server
    // cached under it. Only an open session under the present key keeps its key: its save comes later and wins. In a
    // read-only document all sessions are readers: open ones keep showing the old content, new ones get the new
    // content.
    let present = document.key().generation;
    let is_older = arrived.generation < present;
    let is_read_only = document.frozen_at().is_some();
    if is_older && (is_read_only || work.editing_session(&document.id, present)?.is_none()) {
        document.renew_key();
    }
    let copy = complete_submission(work, document, &revision, arrived)?;
    worked(work, &seen.place.group.id, document.assignment_id.as_ref())?;
    Ok((
        "CURRENT",
        Some(revision),
        Named {
            revision: true,
            copy,
            wants_copy: false,
        },
    ))
}

/// Keeps the save as a late revision, unless its bytes are stored already. The group sees it if the document is a
/// draft and the save was only overtaken. A save after a freeze, or a corrupted one, is visible to staff only.
fn keep_beside(
    work: &mut Work<'_>,
    seen: &SeenDocument,
    arrived: &Arrived,
    decision: &'static str,
) -> Result<Decision> {
    if work.keeps_bytes(&seen.document().id, &arrived.bytes.sha256)? {
        return Ok(("UNCHANGED", None, Named::default()));
    }
    let is_overtaken = seen.document().frozen_at().is_none() && !arrived.is_partial;
    let origin = if is_overtaken {
        RevisionOrigin::Late
    } else {
        RevisionOrigin::LateAfterLock
    };
    let revision = insert(work, arrived, origin)?;
    let named = Named {
        revision: true,
        ..Named::default()
    };
    Ok((decision, Some(revision), named))
}

fn insert(work: &mut Work<'_>, arrived: &Arrived, origin: RevisionOrigin) -> Result<Revision> {
    let document = &arrived.note.document_id;
    let mut editors = Vec::new();
    for editor in &arrived.editors {
        if work.is_member(editor)? {
            editors.push(editor.clone());
        }
    }
    let revision = Revision {
        id: arrived.bytes.revision.clone(),
        organization_id: work.organization().clone(),
        document_id: document.clone(),
        version: work.next_version(document)?,
        file_key: arrived.bytes.key.clone(),
        size: arrived.bytes.size,
        sha256: arrived.bytes.sha256.clone(),
        saved_by_id: arrived.author.clone().filter(|author| editors.contains(author)),
        editors,
        origin,
        // The time of a forgotten save is unknown: a user may still be writing under its key, and their save must
        // win.
        last_save: arrived.last_save.filter(|_| arrived.forgotten_at.is_none()),
        generation: arrived.generation,
        created_at: work.now(),
    };
    work.insert_revision(&revision)?;
    if !arrived.history.is_empty() {
        work.note_history(&revision.id, &arrived.history)?;
    }
    contributions::saved(work, document, &revision.editors)?;
    Ok(revision)
}

/// Adds a save that was pending at submission to the submission. Returns whether it used the stored copy.
fn complete_submission(
    work: &mut Work<'_>,
    document: &Document,
    revision: &Revision,
    arrived: &Arrived,
) -> Result<bool> {
    let (Some(copy), Open::Submitted) = (&arrived.bytes.copy, document.status.open()) else {
        return Ok(false);
    };
    let Some(submission) = work.submission_of_document(&document.id)? else {
        return Ok(false);
    };
    let mut documents = submission.documents.into_iter();
    let Some(mut handed_in) = documents.find(|handed_in| handed_in.document_id.as_ref() == Some(&document.id)) else {
        return Ok(false);
    };
    let former = std::mem::replace(&mut handed_in.file_key, copy.clone());
    handed_in.document_version = revision.version;
    handed_in.size = revision.size;
    handed_in.sha256.clone_from(&revision.sha256);
    work.replace_copy(&handed_in, &former)?;
    Ok(true)
}

fn tell(
    work: &mut Work<'_>,
    seen: &SeenDocument,
    document: &Document,
    received: Received,
    revision: Option<&Revision>,
) -> Result<()> {
    let Some(revision) = revision else { return Ok(()) };
    let place = seen.place.clone();
    let whole = Box::new(work.document(&document.id)?.whole);
    let revision = Box::new(revision.clone());
    if matches!(revision.origin, RevisionOrigin::Late | RevisionOrigin::LateAfterLock) {
        work.record(DocumentChange::SavedLate {
            place,
            document: whole,
            revision,
        });
        return Ok(());
    }
    debug_assert_eq!(received, Received::Current, "nothing else becomes the content");
    work.record(DocumentChange::Saved {
        place,
        document: whole,
        revision,
    });
    let topic = document
        .assignment_id
        .as_ref()
        .filter(|_| document.status.open() == Open::Submitted);
    if let Some(topic) = topic
        && let Some(submission) = work.submission_of_document(&document.id)?
    {
        let link = Box::new(whole_link(work, topic, &seen.place.group.id)?);
        work.record(SubmissionChange::Completed {
            link,
            submission: Box::new(submission),
        });
    }
    let files = work.prune_revisions(&document.id)?;
    if !files.is_empty() {
        work.record(DocumentChange::RevisionsPruned { files });
    }
    Ok(())
}

/// Records that a save succeeded after a failed one, for the users who saw the alert.
pub(super) fn tell_recovery(work: &mut Work<'_>, before: &Document, after: &Document) -> Result<()> {
    if before.save_failed_at.is_some() && after.save_failed_at.is_none() {
        let mut changed = Changed::new();
        changed.write("saveFailedAt", &mut before.save_failed_at.clone(), after.save_failed_at);
        let seen = work.document(&after.id)?;
        work.record(DocumentChange::Updated {
            place: seen.place,
            document: Box::new(seen.whole),
            changed,
        });
    }
    Ok(())
}

/// Records that no content is pending any more, for the users who were notified that some was. Not during a freeze,
/// which ends with the same event.
pub(super) fn tell_arrival(work: &mut Work<'_>, before: &Document, after: &Document) -> Result<()> {
    if before.unsaved_generation.is_some() && after.unsaved_generation.is_none() && !after.is_freezing() {
        let seen = work.document(&after.id)?;
        work.record(DocumentChange::Frozen {
            place: seen.place,
            document: Box::new(seen.whole),
        });
    }
    Ok(())
}

fn note_session(work: &mut Work<'_>, arrived: &Arrived) -> Result<()> {
    let note = &arrived.note;
    if arrived.is_final {
        work.end_session(&note.document_id, arrived.generation)
    } else {
        let nonce = arrived.nonce.as_deref();
        work.save_arrived(&note.document_id, arrived.generation, &note.document_key, nonce)
    }
}

/// Records that the document server could not save. The room and its staff are notified once, until a save succeeds.
pub fn note_failure(work: &mut Work<'_>, note: &SaveNote, generation: i64, nonce: Option<&str>) -> Result<()> {
    let seen = hold(work, &note.document_id, generation)?;
    contributions::present(work, &note.document_id, generation)?;
    if let Some(nonce) = nonce {
        work.save_arrived(&note.document_id, generation, &note.document_key, Some(&failed(nonce)))?;
    }
    if seen.document().save_failed_at.is_some() {
        return Ok(());
    }
    let mut document = seen.document().clone();
    document.save_failed_at = Some(work.now());
    work.update_document(&document)?;
    let whole = Box::new(work.document(&document.id)?.whole);
    work.record(DocumentChange::SaveFailed {
        place: seen.place,
        document: whole,
    });
    Ok(())
}
