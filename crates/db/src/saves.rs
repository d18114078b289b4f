//! What the document server told us: save notices, so that a repeat is recognised, and which documents are open in an
//! editor under which key. Nothing here decides what becomes of a save.

use model::document_kind::FileExtension;
use model::id::{AssignmentId, DocumentId, RevisionId, UserId};
use model::time::Timestamp;

use super::sql::Columns;
use super::{Scope, Work};
use crate::{args, statements};
use common::clock;
use common::error::Result;

/// The columns of an editing session, as [`session`] reads them.
macro_rules! session_columns {
    () => {
        "e.document_id, e.generation, e.document_key, e.editors, e.last_callback_at, e.saved_nonce, e.flushed, e.has_gap"
    };
}
pub(super) use session_columns;

statements! {
    /// What became of a save notice that came before.
    SAVE = "SELECT outcome, sha256, revision_id FROM document_saves
        WHERE organization_id = $1 AND document_id = $2 AND document_key = $3 AND url_path_hash = $4";
    /// Notes what became of a save notice; a second attempt at the same one writes over the first.
    NOTE_SAVE = "INSERT INTO document_saves (organization_id, id, document_id, document_key, url_path_hash, sha256, last_save,
            outcome, revision_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (document_id, document_key, url_path_hash) DO UPDATE SET sha256 = excluded.sha256,
            last_save = excluded.last_save, outcome = excluded.outcome, revision_id = excluded.revision_id";
    /// Forgets the save notices of a document that are too old to be repeated.
    PRUNE_SAVES = "DELETE FROM document_saves WHERE organization_id = $1 AND document_id = $2 AND created_at < $3";
    /// One editing session.
    SESSION = concat!("SELECT ", session_columns!(), " FROM editing_sessions e
        WHERE e.organization_id = $1 AND e.document_id = $2 AND e.generation = $3");
    /// All editing sessions of a document.
    SESSIONS = concat!("SELECT ", session_columns!(), " FROM editing_sessions e
        WHERE e.organization_id = $1 AND e.document_id = $2 ORDER BY e.generation");
    /// Notes who edits now.
    NOTE_EDITORS = "INSERT INTO editing_sessions (organization_id, id, document_id, generation, document_key, editors, since,
            last_callback_at, has_gap)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)
        ON CONFLICT (document_id, generation) DO UPDATE SET editors = excluded.editors,
            last_callback_at = excluded.last_callback_at, has_gap = excluded.has_gap";
    /// Notes whose page has reported that everything was sent.
    FLUSHED = "UPDATE editing_sessions SET flushed = $4
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
    /// Notes that a session has saved, perhaps with words that somebody waits for.
    ARRIVED = "UPDATE editing_sessions SET last_callback_at = $4, saved_nonce = COALESCE($5, saved_nonce), has_gap = FALSE
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
    /// The same for a session without a row. One of a former key is over: its final save overtook this one.
    APPEARED = "INSERT INTO editing_sessions (organization_id, id, document_id, generation, document_key, editors, since,
            last_callback_at, saved_nonce)
        SELECT $1, $2, d.id, d.generation, $5, '[]', CAST($6 AS BIGINT), CAST($6 AS BIGINT), $7 FROM documents d
        WHERE d.organization_id = $1 AND d.id = $3 AND (d.generation = $4 OR d.unsaved_generation = $4) ON CONFLICT (document_id, generation) DO NOTHING";
    /// Notes that a session may still be open although it never spoke.
    EXPECT = "INSERT INTO editing_sessions (organization_id, id, document_id, generation, document_key, editors, since,
            last_callback_at)
        VALUES ($1, $2, $3, $4, $5, '[]', $6, $6) ON CONFLICT (document_id, generation) DO NOTHING";
    /// Whether a save of a session was taken since a moment.
    SAVED_SINCE = "SELECT EXISTS (SELECT 1 FROM document_saves WHERE organization_id = $1 AND document_id = $2
        AND document_key = $3 AND created_at >= $4 AND outcome <> 'FAILED')";
    /// When the last change was made that failed saves of a session brought.
    FAILED_SAVE = "SELECT MAX(last_save) FROM document_saves
        WHERE organization_id = $1 AND document_id = $2 AND document_key = $3 AND outcome = 'FAILED'";
    /// Whether these bytes are kept as some revision of a document.
    KEEPS = "SELECT EXISTS (SELECT 1 FROM document_revisions WHERE organization_id = $1 AND document_id = $2 AND sha256 = $3)";
    /// Another kind of file: the document server gave back another one than it got.
    CORRECT_EXTENSION = "UPDATE documents SET file_extension = $3 WHERE organization_id = $1 AND id = $2";
    /// The language somebody chose.
    LOCALE = "SELECT u.locale FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2";
    /// The editing sessions of all documents of the groups that work on a topic.
    SESSIONS_OF_TOPIC = concat!("SELECT ", session_columns!(), " FROM editing_sessions e
        JOIN documents d ON d.id = e.document_id
        JOIN work_rooms r ON r.id = d.work_room_id
        JOIN group_assignments ga ON ga.group_id = r.group_id
        WHERE e.organization_id = $1 AND ga.assignment_id = $2 ORDER BY e.document_id, e.generation");
    /// The session is over.
    END_SESSION = "DELETE FROM editing_sessions WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
}

/// A document that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditingSession {
    /// The document.
    pub document_id: DocumentId,
    /// The generation of its key.
    pub generation: i64,
    /// The key as the document server knows it.
    pub document_key: String,
    /// Who edits.
    pub editors: Vec<UserId>,
    /// When it last spoke.
    pub last_callback_at: Timestamp,
    /// The words of the last save that arrived.
    pub saved_nonce: Option<String>,
    /// Whose page has reported that everything was sent.
    pub flushed: Vec<UserId>,
    /// Whether its life was not seen without a gap since its last save.
    pub has_gap: bool,
}

impl EditingSession {
    /// Whether it was known to have editors: then "nothing new" has to be proven.
    pub fn had_editors(&self) -> bool {
        !self.editors.is_empty() || self.has_gap
    }

    /// Whether the page of an editor has not reported yet that everything was sent.
    pub fn is_flushing(&self) -> bool {
        self.editors.iter().any(|editor| !self.flushed.contains(editor))
    }
}

/// A save notice, by what makes a repeat the same.
#[derive(Debug, Clone)]
pub struct SaveNote {
    /// The document.
    pub document_id: DocumentId,
    /// The key as the document server knows it.
    pub document_key: String,
    /// Hash of the path of the result; empty for a notice without bytes.
    pub url_path_hash: String,
}

/// What became of a save notice.
#[derive(Debug, Clone)]
pub struct SaveOutcome {
    /// `CURRENT`, `LATE`, `OUTDATED`, `UNCHANGED`, `RECOVERED` or `FAILED`.
    pub word: &'static str,
    /// The hash of its bytes.
    pub sha256: Option<String>,
    /// When its last change was made.
    pub last_save: Option<Timestamp>,
    /// The revision it became.
    pub revision_id: Option<RevisionId>,
}

impl Scope<'_> {
    /// Whether this save notice was taken before; one that failed was not.
    pub fn has_taken(&mut self, note: &SaveNote) -> Result<bool> {
        let arguments = args![note.document_id, note.document_key, note.url_path_hash];
        let outcome = self.maybe(&SAVE, arguments, |row| row.take::<String>())?;
        Ok(outcome.is_some_and(|outcome| outcome != "FAILED" && outcome != "PENDING"))
    }

    /// One editing session.
    pub fn editing_session(&mut self, document: &DocumentId, generation: i64) -> Result<Option<EditingSession>> {
        self.maybe(&SESSION, args![document, generation], session)
    }

    /// The editing sessions of all documents of the groups that work on a topic.
    pub fn editing_sessions_of_topic(&mut self, topic: &AssignmentId) -> Result<Vec<EditingSession>> {
        self.many(&SESSIONS_OF_TOPIC, args![topic], session)
    }

    /// When the last change was made that a failed save of this session would have brought.
    pub fn failed_save(&mut self, document: &DocumentId, key: &str) -> Result<Option<Timestamp>> {
        self.one(&FAILED_SAVE, args![document, key], |row| row.take())
    }

    /// Whether what a session told last was a save, and nothing after it.
    pub fn saved_last(&mut self, session: &EditingSession) -> Result<bool> {
        let arguments = args![session.document_id, session.document_key, session.last_callback_at];
        self.one(&SAVED_SINCE, arguments, |row| row.take())
    }

    /// Whether these bytes are kept as some revision of a document.
    pub fn keeps_bytes(&mut self, document: &DocumentId, sha256: &str) -> Result<bool> {
        self.one(&KEEPS, args![document, sha256], |row| row.take())
    }

    /// The language a member chose; English for everybody else.
    pub fn locale_of(&mut self, user: &UserId) -> Result<String> {
        let locale = self.maybe(&LOCALE, args![user], |row| row.take::<String>())?;
        Ok(locale.unwrap_or_else(|| "en".to_owned()))
    }

    /// All editing sessions of a document, the oldest key first.
    pub fn editing_sessions(&mut self, document: &DocumentId) -> Result<Vec<EditingSession>> {
        self.many(&SESSIONS, args![document], session)
    }
}

impl Work<'_> {
    /// Notes what became of a save notice.
    pub fn note_save(&mut self, note: &SaveNote, outcome: &SaveOutcome) -> Result<()> {
        let now = self.now();
        self.run(
            &NOTE_SAVE,
            args![
                clock::new_id(),
                note.document_id,
                note.document_key,
                note.url_path_hash,
                outcome.sha256,
                outcome.last_save,
                outcome.word,
                outcome.revision_id,
                now,
            ],
        )
        .map(drop)
    }

    /// Forgets save notices from before this moment.
    pub fn prune_saves(&mut self, document: &DocumentId, before: Timestamp) -> Result<()> {
        self.run(&PRUNE_SAVES, args![document, before]).map(drop)
    }

    /// Notes who edits a document now, under which key.
    pub fn note_editors(
        &mut self,
        document: &DocumentId,
        generation: i64,
        key: &str,
        editors: &[UserId],
        has_gap: bool,
    ) -> Result<()> {
        let now = self.now();
        let editors = serde_json::to_string(editors)?;
        self.run(
            &NOTE_EDITORS,
            args![clock::new_id(), document, generation, key, editors, now, has_gap],
        )
        .map(drop)
    }

    /// Notes whose pages have reported that everything was sent.
    pub fn note_flushed(&mut self, session: &EditingSession, flushed: &[UserId]) -> Result<()> {
        let flushed = serde_json::to_string(flushed)?;
        self.run(&FLUSHED, args![session.document_id, session.generation, flushed])
            .map(drop)
    }

    /// Notes that a session has saved, perhaps with the words that somebody waits for.
    pub fn save_arrived(
        &mut self,
        document: &DocumentId,
        generation: i64,
        key: &str,
        nonce: Option<&str>,
    ) -> Result<()> {
        let now = self.now();
        if self.run(&ARRIVED, args![document, generation, now, nonce])? == 0 {
            self.run(&APPEARED, args![clock::new_id(), document, generation, key, now, nonce])?;
        }
        Ok(())
    }

    /// Notes that a session may still be open, so that it is asked after whatever happens to this instance.
    pub fn expect_session(&mut self, document: &DocumentId, generation: i64, key: &str) -> Result<()> {
        let now = self.now();
        self.run(&EXPECT, args![clock::new_id(), document, generation, key, now])
            .map(drop)
    }

    /// Writes down that the content of a document is of another kind of file than before.
    pub fn correct_extension(&mut self, document: &DocumentId, extension: FileExtension) -> Result<()> {
        self.run(&CORRECT_EXTENSION, args![document, extension.as_str()])
            .map(drop)
    }

    /// Forgets an editing session.
    pub fn end_session(&mut self, document: &DocumentId, generation: i64) -> Result<()> {
        self.run(&END_SESSION, args![document, generation]).map(drop)
    }
}

/// Reads an editing session.
pub(super) fn session(row: &mut Columns<'_>) -> Result<EditingSession> {
    Ok(EditingSession {
        document_id: row.take()?,
        generation: row.take()?,
        document_key: row.take()?,
        editors: row.json()?,
        last_callback_at: row.take()?,
        saved_nonce: row.take()?,
        flushed: row.json()?,
        has_gap: row.take()?,
    })
}
