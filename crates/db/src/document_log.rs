//! Logs of documents in the built-in editor: commits of steps, snapshots, and late commits. Whether a commit is accepted
//! is decided elsewhere.

pub(crate) mod packs;

use domain::document_log::{DocumentCommit, DocumentGeneration, DocumentLog};
use domain::id::{AssignmentId, DocumentId, UserId};
use domain::time::Timestamp;
use serde_json::Value;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
use common::clock;
use common::error::Result;

fragments! {
    /// The columns of [`commits_of`].
    COMMIT_COLUMNS = "s.version, s.packed_from, s.ref, s.client_id, s.author_id, s.created_at, s.steps";
}

statements! {
    LOG = "SELECT l.document_id, l.generation, l.version, l.snapshot_version, l.base_revision_id, l.saved_version,
            l.unsaved_since, l.last_commit_at, l.is_closed, l.packed_version, l.read_only_reasons, l.styles, l.images
        FROM document_logs l WHERE l.organization_id = $1 AND l.document_id = $2 AND l.generation = $3";
    /// The newest generation that was opened in the built-in editor.
    LATEST = "SELECT MAX(generation) FROM document_logs WHERE organization_id = $1 AND document_id = $2";
    /// The generations of which a file has to be written.
    UNSAVED = "SELECT generation FROM document_logs
        WHERE organization_id = $1 AND document_id = $2 AND unsaved_since IS NOT NULL ORDER BY generation";
    /// The documents of a topic of which a file has to be written.
    UNSAVED_OF_TOPIC = "SELECT DISTINCT l.document_id FROM group_assignments t
        JOIN work_rooms r ON r.group_id = t.group_id
        JOIN documents d ON d.work_room_id = r.id
        JOIN document_logs l ON l.document_id = d.id
        WHERE t.organization_id = $1 AND t.assignment_id = $2 AND l.unsaved_since IS NOT NULL ORDER BY l.document_id";
    /// Begins a log, unless it exists.
    BEGIN = "INSERT INTO document_logs (organization_id, document_id, generation, base_revision_id, read_only_reasons,
        styles,
            images, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (document_id, generation) DO NOTHING";
    /// The generations of a document that were opened in the built-in editor.
    GENERATIONS = "SELECT generation, version, created_at, last_commit_at FROM document_logs
        WHERE organization_id = $1 AND document_id = $2 ORDER BY generation LIMIT $3";
    SNAPSHOT = "SELECT content FROM document_snapshots
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND version = $4";
    /// The newest snapshot with an authorship, or the first one.
    AUTHORED_SNAPSHOT = "SELECT version, content, authorship FROM document_snapshots
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND (authorship IS NOT NULL OR version = 0)
        ORDER BY version DESC LIMIT 1";
    INSERT_SNAPSHOT = "INSERT INTO document_snapshots (organization_id, document_id, generation, version, content,
        created_at, authorship)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (document_id, generation, version) DO NOTHING";
    /// Deletes the snapshots between the first and the newest one.
    PRUNE_SNAPSHOTS = "DELETE FROM document_snapshots
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND version > 0 AND version < $4";
    /// The commits after version `$4` up to `$5`. The last row can be a pack that ends up to version `$6`.
    COMMITS = "SELECT {COMMIT_COLUMNS} FROM document_steps s
        WHERE s.organization_id = $1 AND s.document_id = $2 AND s.generation = $3 AND s.version > $4
            AND s.version <= $6 AND COALESCE(s.packed_from, s.version) <= $5
        ORDER BY s.version";
    /// The packs with commits after a version.
    PACKS = "SELECT {COMMIT_COLUMNS} FROM document_steps s
        WHERE s.organization_id = $1 AND s.document_id = $2 AND s.generation = $3 AND s.version > $4
            AND s.version <= $5 AND s.packed_from IS NOT NULL
        ORDER BY s.version";
    /// The commits after version `$4` up to `$5` that were accepted before `$6`.
    UNPACKED = "SELECT {COMMIT_COLUMNS} FROM document_steps s
        WHERE s.organization_id = $1 AND s.document_id = $2 AND s.generation = $3 AND s.version > $4
            AND s.version <= $5 AND s.created_at < $6
        ORDER BY s.version LIMIT $7";
    RECORD_PACKED = "UPDATE document_logs SET packed_version = $5
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND packed_version = $4";
    /// The last row of a pack becomes the pack.
    STORE_PACK = "UPDATE document_steps SET packed_from = $5, steps = $6
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND version = $4";
    DELETE_PACKED = "DELETE FROM document_steps
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND version >= $4 AND version < $5";
    BY_REFERENCE = "SELECT {COMMIT_COLUMNS} FROM document_steps s
        WHERE s.organization_id = $1 AND s.document_id = $2 AND s.generation = $3 AND s.ref = $4";
    INSERT_COMMIT = "INSERT INTO document_steps (organization_id, document_id, generation, version, author_id,
            client_id, ref, steps, created_at)
        VALUES ($1, :document_id, :generation, :version, :author_id, :client_id, :ref, :steps, :created_at)";
    ADVANCE = "UPDATE document_logs SET version = $4, last_commit_at = $5,
            unsaved_since = COALESCE(unsaved_since, CAST($5 AS BIGINT)), snapshot_version = $6
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3";
    /// Records that a revision contains the log up to a version.
    SAVED = "UPDATE document_logs SET saved_version = $4,
            unsaved_since = CASE WHEN version = $4 THEN NULL ELSE last_commit_at END
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND saved_version <= $4";
    /// From now on, commits of the generation are late.
    CLOSE = "UPDATE document_logs SET is_closed = TRUE WHERE organization_id = $1 AND document_id = $2
        AND generation = $3";
    /// The authors of the commits after a version, with the time of their last one, the latest last.
    AUTHORS = "SELECT author_id, MAX(created_at) AS last_at FROM document_steps
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND version > $4
        GROUP BY author_id ORDER BY MAX(created_at), MAX(version)";
    LATE_EXISTS = "SELECT EXISTS (SELECT 1 FROM late_commits
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND ref = $4)";
    LATE_COUNT = "SELECT COUNT(*) FROM late_commits WHERE organization_id = $1 AND document_id = $2 AND author_id = $3";
    INSERT_LATE = "INSERT INTO late_commits (organization_id, id, document_id, generation, author_id, client_id, ref,
            version, steps, created_at)
        VALUES ($1, :id, :document_id, :generation, :author_id, :client_id, :ref, :version, :steps, :created_at)";
    /// The late commits of a document that no revision contains.
    LATE = "SELECT generation, author_id, client_id, version, steps, created_at FROM late_commits
        WHERE organization_id = $1 AND document_id = $2 AND NOT is_saved
        ORDER BY generation, author_id, created_at, id";
    LATE_SAVED = "UPDATE late_commits SET is_saved = TRUE
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 AND author_id = $4 AND created_at <= $5";
    DELETE_LATE = "DELETE FROM late_commits WHERE organization_id = $1 AND document_id = $2";
    DELETE_STEPS = "DELETE FROM document_steps WHERE organization_id = $1 AND document_id = $2";
    DELETE_SNAPSHOTS = "DELETE FROM document_snapshots WHERE organization_id = $1 AND document_id = $2";
    DELETE_LOGS = "DELETE FROM document_logs WHERE organization_id = $1 AND document_id = $2";
}

/// The number of commits in a pack.
pub(crate) const PACK_MAX: i64 = 200;

/// The maximum number of generations in a list.
const GENERATIONS_MAX: i64 = 1_000;

/// A document at a version, as JSON text.
#[derive(Debug, Clone)]
pub struct DocumentSnapshot {
    pub version: i64,
    pub content: String,
    /// Who wrote which part; `None` if an earlier release stored the snapshot.
    pub authorship: Option<String>,
}

/// A commit after the end of its generation.
#[derive(Debug, Clone, PartialEq)]
pub struct LateCommit {
    pub generation: i64,
    pub author_id: UserId,
    pub client_id: String,
    /// The version that the steps are based on.
    pub version: i64,
    pub steps: Vec<Value>,
    pub received_at: Timestamp,
}

impl ReadTx<'_> {
    /// Returns the log of a generation; `None` if it was not opened in the built-in editor.
    pub fn document_log(&mut self, document: &DocumentId, generation: i64) -> Result<Option<DocumentLog>> {
        self.fetch_optional(&LOG, args![document, generation], log)
    }

    /// Returns the newest generation with a log.
    pub fn latest_log(&mut self, document: &DocumentId) -> Result<Option<i64>> {
        self.fetch_one(&LATEST, args![document], |row| row.only())
    }

    /// Lists the generations with commits that no revision contains.
    pub fn unsaved_generations(&mut self, document: &DocumentId) -> Result<Vec<i64>> {
        self.fetch_all(&UNSAVED, args![document], |row| row.get("generation"))
    }

    /// Lists the documents of all groups on a topic with commits that no revision contains.
    pub fn unsaved_documents_of_topic(&mut self, topic: &AssignmentId) -> Result<Vec<DocumentId>> {
        self.fetch_all(&UNSAVED_OF_TOPIC, args![topic], |row| row.get("document_id"))
    }

    /// Lists the generations of a document that were opened in the built-in editor, oldest first.
    pub fn generations(&mut self, document: &DocumentId) -> Result<Vec<DocumentGeneration>> {
        self.fetch_all(
            &GENERATIONS,
            args![document, GENERATIONS_MAX],
            |row| from_row!(row => DocumentGeneration { generation, version, began_at = "created_at", last_commit_at }),
        )
    }

    /// Returns the content with which a generation began as JSON text.
    pub fn first_snapshot(&mut self, document: &DocumentId, generation: i64) -> Result<String> {
        self.fetch_one(&SNAPSHOT, args![document, generation, 0], |row| row.get("content"))
    }

    /// Returns the newest snapshot of a log as JSON text.
    pub fn snapshot(&mut self, log: &DocumentLog) -> Result<String> {
        let arguments = args![log.document_id, log.generation, log.snapshot_version];
        self.fetch_one(&SNAPSHOT, arguments, |row| row.get("content"))
    }

    /// Returns the newest snapshot whose authorship is known, otherwise the one with which the generation began.
    pub fn authored_snapshot(&mut self, log: &DocumentLog) -> Result<DocumentSnapshot> {
        self.fetch_one(
            &AUTHORED_SNAPSHOT,
            args![log.document_id, log.generation],
            |row| from_row!(row => DocumentSnapshot { version, content, authorship }),
        )
    }

    /// Lists at most `limit` commits after a version, oldest first.
    pub fn commits_since(
        &mut self,
        document: &DocumentId,
        generation: i64,
        version: i64,
        limit: i64,
    ) -> Result<Vec<DocumentCommit>> {
        let last = version.saturating_add(limit);
        let end = last.saturating_add(PACK_MAX);
        let rows = self.fetch_all(&COMMITS, args![document, generation, version, last, end], commits_of)?;
        let is_asked = |commit: &DocumentCommit| commit.version > version && commit.version <= last;
        Ok(rows.into_iter().flatten().filter(is_asked).collect())
    }

    /// Returns the commit with this reference. `base` is the version that the steps of the request are based on: the
    /// commit is later.
    pub fn commit_by_reference(
        &mut self,
        log: &DocumentLog,
        reference: &str,
        base: i64,
    ) -> Result<Option<DocumentCommit>> {
        let is_it = |commit: &DocumentCommit| commit.reference == reference;
        let arguments = args![log.document_id, log.generation, reference];
        let found = self.fetch_optional(&BY_REFERENCE, arguments, commits_of)?;
        if found.is_some() || base >= log.packed_version {
            return Ok(found.into_iter().flatten().find(is_it));
        }
        let arguments = args![log.document_id, log.generation, base, log.packed_version];
        let packs = self.fetch_all(&PACKS, arguments, commits_of)?;
        Ok(packs.into_iter().flatten().find(is_it))
    }

    /// Lists the authors of the commits after a version, with the time of their last one, the latest last.
    pub fn authors_since(
        &mut self,
        document: &DocumentId,
        generation: i64,
        version: i64,
    ) -> Result<Vec<(UserId, Timestamp)>> {
        let arguments = args![document, generation, version];
        self.fetch_all(&AUTHORS, arguments, |row| row.pair("author_id", "last_at"))
    }

    /// Returns whether a late commit with this reference is kept.
    pub fn has_late_commit(&mut self, document: &DocumentId, generation: i64, reference: &str) -> Result<bool> {
        self.fetch_one(&LATE_EXISTS, args![document, generation, reference], |row| row.only())
    }

    /// Counts the late commits of a user in a document.
    pub fn count_late_commits(&mut self, document: &DocumentId, author: &UserId) -> Result<i64> {
        self.fetch_one(&LATE_COUNT, args![document, author], |row| row.only())
    }

    /// Lists the late commits that no revision contains, by generation and author, oldest first.
    pub fn unsaved_late_commits(&mut self, document: &DocumentId) -> Result<Vec<LateCommit>> {
        self.fetch_all(&LATE, args![document], |row| {
            from_row!(row => LateCommit {
                generation, author_id, client_id, version, received_at = "created_at",
                steps: row.json("steps")?,
            })
        })
    }
}

impl WriteTx<'_> {
    /// Begins the log of a generation with its content and the authors of it as JSON text, unless it exists.
    pub fn begin_document_log(&mut self, log: &DocumentLog, content: &str, authorship: &str) -> Result<()> {
        let now = self.now();
        let (reasons, styles) = (serde_json::to_string(&log.read_only_reasons)?, log.styles.to_string());
        let images = serde_json::to_string(&log.images)?;
        let arguments = args![
            log.document_id,
            log.generation,
            log.base_revision_id,
            reasons,
            styles,
            images,
            now,
        ];
        if self.execute_counted(&BEGIN, arguments)? > 0 {
            self.insert_snapshot(log, 0, content, Some(authorship))?;
        }
        Ok(())
    }

    fn insert_snapshot(
        &mut self,
        log: &DocumentLog,
        version: i64,
        content: &str,
        authorship: Option<&str>,
    ) -> Result<()> {
        let now = self.now();
        self.execute(
            &INSERT_SNAPSHOT,
            args![log.document_id, log.generation, version, content, now, authorship],
        )
    }

    /// Appends a commit to its log, and a snapshot of the document after it if there is one. The caller holds the lock
    /// of the document.
    pub fn append_commit(
        &mut self,
        log: &DocumentLog,
        commit: &DocumentCommit,
        snapshot: Option<&DocumentSnapshot>,
    ) -> Result<()> {
        let steps = serde_json::to_string(&commit.steps)?;
        self.execute_named(
            &INSERT_COMMIT,
            named![commit =>
                version, author_id, client_id,
                document_id: log.document_id,
                generation: log.generation,
                ref: commit.reference,
                steps: steps,
                created_at: commit.committed_at,
            ],
        )?;
        let snapshot_version = match snapshot {
            Some(snapshot) => {
                let authorship = snapshot.authorship.as_deref();
                self.insert_snapshot(log, commit.version, &snapshot.content, authorship)?;
                self.execute(&PRUNE_SNAPSHOTS, args![log.document_id, log.generation, commit.version])?;
                commit.version
            }
            None => log.snapshot_version,
        };
        self.execute(
            &ADVANCE,
            args![
                log.document_id,
                log.generation,
                commit.version,
                commit.committed_at,
                snapshot_version,
            ],
        )
    }

    /// Packs the next commits that are contained in a revision and were accepted before a time. Returns whether there
    /// may be more.
    pub fn pack_commits(&mut self, document: &DocumentId, generation: i64, before: Timestamp) -> Result<bool> {
        let Some(log) = self.document_log(document, generation)? else {
            return Ok(false);
        };
        let packed = log.packed_version;
        let arguments = args![document, generation, packed, log.saved_version, before, PACK_MAX];
        let rows = self.fetch_all(&UNPACKED, arguments, commits_of)?;
        // The clocks of instances differ, so a commit can be older than the one before.
        let versions = packed + 1..;
        let consecutive = rows.into_iter().flatten().zip(versions);
        let commits: Vec<DocumentCommit> = consecutive
            .take_while(|(commit, version)| commit.version == *version)
            .map(|(commit, _)| commit)
            .collect();
        let (Some(first), Some(last)) = (commits.first(), commits.last()) else {
            return Ok(false);
        };
        let (first, last) = (first.version, last.version);
        // An instance that packs at the same time has changed the row.
        if self.execute_counted(&RECORD_PACKED, args![document, generation, packed, last])? == 0 || first == last {
            return Ok(false);
        }
        self.execute(&DELETE_PACKED, args![document, generation, first, last])?;
        let pack = packs::pack(&commits)?;
        self.execute(&STORE_PACK, args![document, generation, last, first, pack])?;
        Ok(last - first + 1 >= PACK_MAX)
    }

    /// Records that a revision contains the log up to a version.
    pub fn record_saved_version(&mut self, document: &DocumentId, generation: i64, version: i64) -> Result<()> {
        self.execute(&SAVED, args![document, generation, version])
    }

    /// Closes a log: later commits of the generation are late. The caller holds the lock of the document.
    pub fn close_document_log(&mut self, document: &DocumentId, generation: i64) -> Result<()> {
        self.execute(&CLOSE, args![document, generation])
    }

    /// Keeps a commit that arrived after the end of its generation.
    pub fn insert_late_commit(&mut self, document: &DocumentId, late: &LateCommit, reference: &str) -> Result<()> {
        let steps = serde_json::to_string(&late.steps)?;
        self.execute_named(
            &INSERT_LATE,
            named![late =>
                generation, author_id, client_id, version,
                id: clock::new_id(),
                document_id: document,
                ref: reference,
                steps: steps,
                created_at: late.received_at,
            ],
        )
    }

    /// Records that a revision contains the late commits of a user up to this one.
    pub fn record_late_saved(&mut self, document: &DocumentId, last: &LateCommit) -> Result<()> {
        self.execute(
            &LATE_SAVED,
            args![document, last.generation, last.author_id, last.received_at],
        )
    }

    /// Deletes the logs of a document that is being deleted.
    pub(super) fn delete_document_logs(&mut self, document: &DocumentId) -> Result<()> {
        for statement in [&DELETE_LATE, &DELETE_STEPS, &DELETE_SNAPSHOTS, &DELETE_LOGS] {
            self.execute(statement, args![document])?;
        }
        Ok(())
    }
}

fn log(row: &Columns<'_>) -> Result<DocumentLog> {
    from_row!(row => DocumentLog {
        document_id, generation, version, snapshot_version, base_revision_id, saved_version, unsaved_since,
        last_commit_at, is_closed, packed_version,
        read_only_reasons: row.json("read_only_reasons")?,
        styles: row.json("styles")?,
        images: row.json("images")?,
    })
}

/// Reads the commits of a row: one, or those of a pack.
fn commits_of(row: &Columns<'_>) -> Result<Vec<DocumentCommit>> {
    if let Some(first) = row.get("packed_from")? {
        return packs::unpack(first, &row.get::<String>("steps")?);
    }
    Ok(vec![from_row!(row => DocumentCommit {
        version, reference = "ref", client_id, author_id, committed_at = "created_at",
        steps: row.json("steps")?,
    })?])
}
