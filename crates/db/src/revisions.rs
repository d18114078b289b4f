//! Revisions of documents: immutable snapshots of their content. They are inserted and deleted, never updated.

use std::collections::HashMap;

use domain::document::Document;
use domain::file::FileKey;
use domain::id::{AssignmentId, DocumentId, RevisionId};
use domain::save::{History, Revision, RevisionOrigin};

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

/// The maximum number of revisions kept of a draft (docs/api-contract.md#documents-and-files). Older ones are pruned.
pub const REVISIONS_MAX: i64 = 50;

fragments! {
    SELECT_REVISIONS = "SELECT v.id, v.organization_id, v.document_id, v.version, v.file_key, v.size, v.sha256,
        v.saved_by_id,
                v.editors, v.origin, v.is_for_group, v.last_save, v.generation, v.created_at
            FROM document_revisions v WHERE v.organization_id = $1 AND";
}

statements! {
    OF_DOCUMENT = "{SELECT_REVISIONS} v.document_id = $2 ORDER BY v.version DESC";
    BY_VERSION = "{SELECT_REVISIONS} v.document_id = $2 AND v.version = $3";
    BY_ID = "{SELECT_REVISIONS} v.document_id = $2 AND v.id = $3";
    /// The current revisions of the documents of all groups on a topic.
    OF_TOPIC = "SELECT v.id, v.organization_id, v.document_id, v.version, v.file_key, v.size, v.sha256, v.saved_by_id,
            v.editors, v.origin, v.is_for_group, v.last_save, v.generation, v.created_at
        FROM group_assignments t
        JOIN work_rooms r ON r.group_id = t.group_id
        JOIN documents d ON d.work_room_id = r.id
        JOIN document_revisions v ON v.id = d.current_revision_id
        WHERE t.organization_id = $1 AND t.assignment_id = $2";
    /// The number of the next revision; late saves are numbered as well.
    NEXT_VERSION = "SELECT COALESCE(MAX(version), 0) + 1 FROM document_revisions
        WHERE organization_id = $1 AND document_id = $2";
    INSERT = "INSERT INTO document_revisions (organization_id, id, document_id, version, file_key, size, sha256,
            saved_by_id, editors, origin, is_for_group, last_save, generation, created_at)
        VALUES ($1, :id, :document_id, :version, :file_key, :size, :sha256, :saved_by_id, :editors, :origin,
            :is_for_group, :last_save, :generation, :created_at)";
    /// Old revisions that are not retained: neither current, nor submitted, nor the file of a log, nor late saves kept
    /// for staff.
    OUTDATED = "{SELECT_REVISIONS} v.document_id = $2 AND v.version <= $3 AND (v.origin <> 'LATE_AFTER_LOCK'
            OR v.is_for_group)
            AND NOT EXISTS (SELECT 1 FROM documents d
                WHERE d.organization_id = $1 AND d.id = $2 AND d.current_revision_id = v.id)
            AND NOT EXISTS (SELECT 1 FROM submission_documents sd
                WHERE sd.organization_id = $1 AND sd.document_id = $2 AND sd.document_version = v.version)
            AND NOT EXISTS (SELECT 1 FROM document_logs l
                WHERE l.organization_id = $1 AND l.document_id = $2 AND l.base_revision_id = v.id)
        ORDER BY v.version";
    /// The change history reported by the document server for a revision.
    NOTE_HISTORY = "UPDATE document_revisions SET history = $3 WHERE organization_id = $1 AND id = $2";
    /// The change histories of all revisions of a document.
    HISTORIES = "SELECT id, history FROM document_revisions
        WHERE organization_id = $1 AND document_id = $2 AND history IS NOT NULL";
    CONVERTED = "SELECT file_key FROM converted_files WHERE organization_id = $1 AND revision_id = $2";
    DELETE_CONVERTED = "DELETE FROM converted_files WHERE organization_id = $1 AND revision_id = $2";
    DELETE = "DELETE FROM document_revisions WHERE organization_id = $1 AND id = $2";
}

impl ReadTx<'_> {
    /// Lists all revisions of a document, newest first. Late saves are visible to staff only: filter with
    /// [`shown_to_students`].
    pub fn revisions(&mut self, document: &DocumentId) -> Result<Vec<Revision>> {
        self.fetch_all(&OF_DOCUMENT, args![document], revision)
    }

    /// Returns a revision of a document by its number.
    pub fn revision(&mut self, document: &DocumentId, version: i64) -> Result<Revision> {
        self.fetch_one(&BY_VERSION, args![document, version], revision)
    }

    /// Returns a revision of a document by its id.
    pub fn revision_by_id(&mut self, document: &DocumentId, id: &RevisionId) -> Result<Revision> {
        self.fetch_one(&BY_ID, args![document, id], revision)
    }

    /// Returns the change histories that the document server reported for the revisions of a document.
    pub fn histories(&mut self, document: &DocumentId) -> Result<HashMap<RevisionId, History>> {
        let found = self.fetch_all(&HISTORIES, args![document], |row| {
            Ok((row.get("id")?, row.json("history")?))
        })?;
        Ok(found.into_iter().collect())
    }

    /// Returns the current revision of a document; `None` before the first save.
    pub fn current_revision(&mut self, document: &Document) -> Result<Option<Revision>> {
        match &document.current_revision_id {
            Some(id) => self.fetch_one(&BY_ID, args![document.id, id], revision).map(Some),
            None => Ok(None),
        }
    }

    /// Lists the current revisions of the documents of all groups on a topic, regardless of the viewer.
    pub fn current_revisions_of_topic(&mut self, topic: &AssignmentId) -> Result<Vec<Revision>> {
        self.fetch_all(&OF_TOPIC, args![topic], revision)
    }
}

impl WriteTx<'_> {
    /// Returns the number of the next revision of a document.
    pub fn next_version(&mut self, document: &DocumentId) -> Result<i64> {
        self.fetch_one(&NEXT_VERSION, args![document], |row| row.only())
    }

    /// Inserts a revision and counts its size against the storage quota. Its bytes must already be durable.
    pub fn insert_revision(&mut self, new: &Revision) -> Result<()> {
        self.stored(new.size);
        let editors = serde_json::to_string(&new.editors)?;
        self.execute_named(
            &INSERT,
            named![new =>
                id, document_id, version, file_key, size, sha256, saved_by_id, last_save, generation, created_at,
                editors: editors,
                origin: stored_origin(new.origin),
                is_for_group: new.origin == RevisionOrigin::Late,
            ],
        )
    }

    /// Stores the change history that the document server reported for a revision.
    pub fn record_history(&mut self, revision: &RevisionId, history: &History) -> Result<()> {
        let history = serde_json::to_string(history)?;
        self.execute(&NOTE_HISTORY, args![revision, history])
    }

    /// Deletes all but the last [`REVISIONS_MAX`] revisions and returns their files. Call it after inserting a
    /// revision.
    pub fn prune_revisions(&mut self, document: &DocumentId) -> Result<Vec<FileKey>> {
        let newest = self.next_version(document)? - 1;
        let outdated = self.fetch_all(&OUTDATED, args![document, newest - REVISIONS_MAX], revision)?;
        self.delete_revisions(outdated)
    }

    /// Deletes revisions with their conversions and returns all their files.
    pub(super) fn delete_revisions(&mut self, revisions: Vec<Revision>) -> Result<Vec<FileKey>> {
        let mut files = Vec::new();
        for revision in revisions {
            let converted = self.fetch_all(&CONVERTED, args![revision.id], |row| row.get::<String>("file_key"))?;
            self.execute(&DELETE_CONVERTED, args![revision.id])?;
            self.execute(&DELETE, args![revision.id])?;
            files.extend(converted.into_iter().map(FileKey::new));
            files.push(revision.file_key);
        }
        Ok(files)
    }
}

/// The stored origin: the check constraint of the column does not allow `LATE`, which has a flag of its own.
const fn stored_origin(origin: RevisionOrigin) -> RevisionOrigin {
    match origin {
        RevisionOrigin::Late => RevisionOrigin::LateAfterLock,
        origin => origin,
    }
}

/// Reads the origin from its column and the flag of late saves that the group can view.
fn origin(row: &Columns<'_>) -> Result<RevisionOrigin> {
    let stored = row.get::<RevisionOrigin>("origin")?;
    let is_for_group: bool = row.get("is_for_group")?;
    Ok(if is_for_group { RevisionOrigin::Late } else { stored })
}

/// Returns whether students can view a revision. Saves after a submission or a lock are visible to staff only.
pub fn shown_to_students(revision: &Revision) -> bool {
    revision.origin != RevisionOrigin::LateAfterLock
}

fn revision(row: &Columns<'_>) -> Result<Revision> {
    from_row!(row => Revision {
        id, organization_id, document_id, version, file_key, size, sha256, saved_by_id, last_save, generation,
        created_at,
        editors: row.json("editors")?,
        origin: origin(row)?,
    })
}
