//! State reported by the document server: save callbacks, to detect retries, and open editing sessions by document key.
//! The treatment of a save is decided elsewhere.

use domain::document_kind::FileExtension;
use domain::id::{AssignmentId, DocumentId, RevisionId, UserId};
use domain::time::Timestamp;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
use common::clock;
use common::error::Result;

fragments! {
    /// The columns of an editing session of [`session`].
    pub(crate) SESSION_COLUMNS = "e.document_id, e.generation, e.document_key, e.editors, e.last_callback_at,
        e.saved_nonce, e.flushed, e.has_gap";
}

statements! {
    /// The outcome of an earlier save callback.
    SAVE = "SELECT outcome FROM document_saves
        WHERE organization_id = $1 AND document_id = $2 AND document_key = $3 AND url_path_hash = $4";
    /// Records the outcome of a save callback; a retry overwrites the record.
    NOTE_SAVE = "INSERT INTO document_saves (organization_id, id, document_id, document_key, url_path_hash, sha256,
        last_save,
            outcome, revision_id, created_at)
        VALUES ($1, :id, :document_id, :document_key, :url_path_hash, :sha256, :last_save, :outcome, :revision_id,
            :created_at)
        ON CONFLICT (document_id, document_key, url_path_hash) DO UPDATE SET sha256 = excluded.sha256,
            last_save = excluded.last_save, outcome = excluded.outcome, revision_id = excluded.revision_id";
    /// Deletes records of save callbacks that are too old to be retried.
    PRUNE_SAVES = "DELETE FROM document_saves WHERE organization_id = $1 AND document_id = $2 AND created_at < $3";
    SESSION = "SELECT {SESSION_COLUMNS} FROM editing_sessions e
        WHERE e.organization_id = $1 AND e.document_id = $2 AND e.generation = $3";
    SESSIONS = "SELECT {SESSION_COLUMNS} FROM editing_sessions e
        WHERE e.organization_id = $1 AND e.document_id = $2 ORDER BY e.generation";
    /// Records the present editors.
    NOTE_EDITORS = "INSERT INTO editing_sessions (organization_id, id, document_id, generation, document_key, editors,
        since,
            last_callback_at, has_gap)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)
        ON CONFLICT (document_id, generation) DO UPDATE SET editors = excluded.editors,
            last_callback_at = excluded.last_callback_at, has_gap = excluded.has_gap";
    /// Records the editors whose page reported that all changes were sent.
    FLUSHED = "UPDATE editing_sessions SET flushed = $4
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
    /// Records that a session saved, optionally with the nonce that a caller waits for.
    ARRIVED = "UPDATE editing_sessions SET last_callback_at = $4, saved_nonce = COALESCE($5, saved_nonce),
        has_gap = FALSE
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
    /// Inserts a session that saved but has no row. A session of a superseded key is ignored: its final save arrived
    /// before.
    APPEARED = "INSERT INTO editing_sessions (organization_id, id, document_id, generation, document_key, editors,
        since,
            last_callback_at, saved_nonce)
        SELECT $1, $2, d.id, d.generation, $5, '[]', CAST($6 AS BIGINT), CAST($6 AS BIGINT), $7 FROM documents d
        WHERE d.organization_id = $1 AND d.id = $3 AND (d.generation = $4
        OR d.unsaved_generation = $4) ON CONFLICT (document_id, generation) DO NOTHING";
    /// Inserts a session that may be open although it never sent a callback.
    EXPECT = "INSERT INTO editing_sessions (organization_id, id, document_id, generation, document_key, editors, since,
            last_callback_at)
        VALUES ($1, $2, $3, $4, $5, '[]', $6, $6) ON CONFLICT (document_id, generation) DO NOTHING";
    /// Whether a save of a session was accepted since a point in time.
    SAVED_SINCE = "SELECT EXISTS (SELECT 1 FROM document_saves WHERE organization_id = $1 AND document_id = $2
        AND document_key = $3 AND created_at >= $4 AND outcome <> 'FAILED')";
    /// The time of the last change in failed saves of a session.
    FAILED_SAVE = "SELECT MAX(last_save) FROM document_saves
        WHERE organization_id = $1 AND document_id = $2 AND document_key = $3 AND outcome = 'FAILED'";
    /// Whether a revision of a document has these bytes.
    KEEPS = "SELECT EXISTS (SELECT 1 FROM document_revisions
            WHERE organization_id = $1 AND document_id = $2 AND sha256 = $3)";
    /// Updates the file type: the document server returned another type than it received.
    CORRECT_EXTENSION = "UPDATE documents SET file_extension = $3 WHERE organization_id = $1 AND id = $2";
    /// The language setting of a member.
    LOCALE = "SELECT u.locale FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2";
    /// The editing sessions of all documents of the groups that work on a topic.
    SESSIONS_OF_TOPIC = "SELECT {SESSION_COLUMNS} FROM editing_sessions e
        JOIN documents d ON d.id = e.document_id
        JOIN work_rooms r ON r.id = d.work_room_id
        JOIN group_assignments ga ON ga.group_id = r.group_id
        WHERE e.organization_id = $1 AND ga.assignment_id = $2 ORDER BY e.document_id, e.generation";
    END_SESSION = "DELETE FROM editing_sessions WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
}

/// A document that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditingSession {
    pub document_id: DocumentId,
    /// The generation of the document key.
    pub generation: i64,
    /// The key used by the document server.
    pub document_key: String,
    /// The present editors.
    pub editors: Vec<UserId>,
    /// The time of the last callback.
    pub last_callback_at: Timestamp,
    /// The nonce of the last save.
    pub saved_nonce: Option<String>,
    /// The editors whose page reported that all changes were sent.
    pub flushed: Vec<UserId>,
    /// Whether callbacks may have been missed since the last save.
    pub has_gap: bool,
}

impl EditingSession {
    /// Returns whether the session may have had editors; then "no changes" must be verified.
    pub fn had_editors(&self) -> bool {
        !self.editors.is_empty() || self.has_gap
    }

    /// Returns whether an editor's page has not yet reported that all changes were sent.
    pub fn is_flushing(&self) -> bool {
        self.editors.iter().any(|editor| !self.flushed.contains(editor))
    }
}

/// Identifies a save callback, to detect retries.
#[derive(Debug, Clone)]
pub struct SaveNote {
    pub document_id: DocumentId,
    /// The key used by the document server.
    pub document_key: String,
    /// Hash of the path of the result URL; empty for a callback without a file.
    pub url_path_hash: String,
}

/// The outcome of a save callback.
#[derive(Debug, Clone)]
pub struct SaveOutcome {
    /// `CURRENT`, `LATE`, `OUTDATED`, `UNCHANGED`, `RECOVERED` or `FAILED`.
    pub word: &'static str,
    /// Hexadecimal SHA-256 of the file.
    pub sha256: Option<String>,
    /// The time of its last change.
    pub last_save: Option<Timestamp>,
    /// The revision it was stored as.
    pub revision_id: Option<RevisionId>,
}

impl ReadTx<'_> {
    /// Returns whether this save callback was processed before; a failed one was not.
    pub fn is_save_processed(&mut self, note: &SaveNote) -> Result<bool> {
        let arguments = args![note.document_id, note.document_key, note.url_path_hash];
        let outcome = self.fetch_optional(&SAVE, arguments, |row| row.get::<String>("outcome"))?;
        Ok(outcome.is_some_and(|outcome| outcome != "FAILED" && outcome != "PENDING"))
    }

    /// Returns an editing session.
    pub fn editing_session(&mut self, document: &DocumentId, generation: i64) -> Result<Option<EditingSession>> {
        self.fetch_optional(&SESSION, args![document, generation], session)
    }

    /// Lists the editing sessions of all documents of the groups that work on a topic.
    pub fn editing_sessions_of_topic(&mut self, topic: &AssignmentId) -> Result<Vec<EditingSession>> {
        self.fetch_all(&SESSIONS_OF_TOPIC, args![topic], session)
    }

    /// Returns the time of the last change in failed saves of this session.
    pub fn failed_save(&mut self, document: &DocumentId, key: &str) -> Result<Option<Timestamp>> {
        self.fetch_one(&FAILED_SAVE, args![document, key], |row| row.only())
    }

    /// Returns whether the last callback of a session was a save.
    pub fn saved_last(&mut self, session: &EditingSession) -> Result<bool> {
        let arguments = args![session.document_id, session.document_key, session.last_callback_at];
        self.fetch_one(&SAVED_SINCE, arguments, |row| row.only())
    }

    /// Returns whether a revision of a document has these bytes.
    pub fn has_revision_with_content(&mut self, document: &DocumentId, sha256: &str) -> Result<bool> {
        self.fetch_one(&KEEPS, args![document, sha256], |row| row.only())
    }

    /// Returns the language setting of a member; English for others.
    pub fn locale_of(&mut self, user: &UserId) -> Result<String> {
        let locale = self.fetch_optional(&LOCALE, args![user], |row| row.get::<String>("locale"))?;
        Ok(locale.unwrap_or_else(|| "en".to_owned()))
    }

    /// Lists the editing sessions of a document, oldest key first.
    pub fn editing_sessions(&mut self, document: &DocumentId) -> Result<Vec<EditingSession>> {
        self.fetch_all(&SESSIONS, args![document], session)
    }
}

impl WriteTx<'_> {
    /// Records the outcome of a save callback.
    pub fn record_save(&mut self, note: &SaveNote, outcome: &SaveOutcome) -> Result<()> {
        let now = self.now();
        self.execute_named(
            &NOTE_SAVE,
            named![note =>
                document_id, document_key, url_path_hash,
                id: clock::new_id(),
                sha256: outcome.sha256,
                last_save: outcome.last_save,
                outcome: outcome.word,
                revision_id: outcome.revision_id,
                created_at: now,
            ],
        )
    }

    /// Deletes records of save callbacks from before `before`.
    pub fn prune_saves(&mut self, document: &DocumentId, before: Timestamp) -> Result<()> {
        self.execute(&PRUNE_SAVES, args![document, before])
    }

    /// Records the present editors of a document under a key.
    pub fn record_editors(
        &mut self,
        document: &DocumentId,
        generation: i64,
        key: &str,
        editors: &[UserId],
        has_gap: bool,
    ) -> Result<()> {
        let now = self.now();
        let editors = serde_json::to_string(editors)?;
        self.execute(
            &NOTE_EDITORS,
            args![clock::new_id(), document, generation, key, editors, now, has_gap],
        )
    }

    /// Records the editors whose page reported that all changes were sent.
    pub fn record_flushed(&mut self, session: &EditingSession, flushed: &[UserId]) -> Result<()> {
        let flushed = serde_json::to_string(flushed)?;
        self.execute(&FLUSHED, args![session.document_id, session.generation, flushed])
    }

    /// Records that a session saved, optionally with the nonce that a caller waits for.
    pub fn record_save_arrival(
        &mut self,
        document: &DocumentId,
        generation: i64,
        key: &str,
        nonce: Option<&str>,
    ) -> Result<()> {
        let now = self.now();
        if self.execute_counted(&ARRIVED, args![document, generation, now, nonce])? == 0 {
            self.execute(&APPEARED, args![clock::new_id(), document, generation, key, now, nonce])?;
        }
        Ok(())
    }

    /// Records that a session may be open, so that it is checked even if this instance stops.
    pub fn expect_session(&mut self, document: &DocumentId, generation: i64, key: &str) -> Result<()> {
        let now = self.now();
        self.execute(&EXPECT, args![clock::new_id(), document, generation, key, now])
    }

    /// Updates the file type of a document whose content changed its type.
    pub fn correct_extension(&mut self, document: &DocumentId, extension: FileExtension) -> Result<()> {
        self.execute(&CORRECT_EXTENSION, args![document, extension.as_str()])
    }

    /// Deletes an editing session.
    pub fn end_session(&mut self, document: &DocumentId, generation: i64) -> Result<()> {
        self.execute(&END_SESSION, args![document, generation])
    }
}

/// Reads the columns of [`SESSION_COLUMNS`].
pub(super) fn session(row: &Columns<'_>) -> Result<EditingSession> {
    from_row!(row => EditingSession {
        document_id, generation, document_key, last_callback_at, saved_nonce, has_gap,
        editors: row.json("editors")?,
        flushed: row.json("flushed")?,
    })
}
