//! Documents of work rooms and their revisions. The statements return only documents of groups that the viewer can
//! view.

use domain::change::{DocumentChange, DocumentStep};
use domain::details::DocumentDetails;
use domain::document::{Document, DocumentState, DocumentStatus, EditorMode, UnlockedStatus};
use domain::document_kind::FileExtension;
use domain::domain_error::DomainError;
use domain::file::FileKey;
use domain::grade::Grade;
use domain::group::GroupContext;
use domain::id::{AssignmentId, AttachmentId, DocumentId, GroupId, SubmissionId, WorkRoomId};
use domain::save::Revision;

use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::labels::{GROUP_CONTEXT_COLUMNS, PERSON_COLUMNS, group_context, optional_person};
use crate::submissions::group_grade;
use crate::visibility::{CAN_VIEW_GROUP, IS_PUBLISHED};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    /// The columns of [`document`] for document `d`.
    pub(crate) DOCUMENT_COLUMNS = "d.id, d.organization_id, d.work_room_id, d.title, d.document_type,
        d.file_extension, d.status,
            d.status_before_lock, d.locked_at, d.locked_by_assignment_id, d.assignment_id, d.generation,
            d.current_revision_id, d.version, d.size, d.created_by_id, d.last_edited_by, d.last_activity,
            d.save_failed_at, d.cut_at, d.freezing_until, d.unsaved_generation, d.submitted_at, d.submitted_by_id,
            d.created_at, d.updated_at";
    SELECT_DOCUMENTS = "SELECT {DOCUMENT_COLUMNS}, {GROUP_CONTEXT_COLUMNS}, {PERSON_COLUMNS},
            gr.submission_id, gr.value, gr.points, gr.feedback, gr.status AS grade_status, gr.version AS grade_version,
                gr.graded_by_id, gr.graded_at, gr.published_at
            FROM";
    VISIBLE_DOCUMENTS = "JOIN classes k ON k.id = g.class_id
            LEFT JOIN users u ON u.id = d.last_edited_by
            LEFT JOIN group_assignments ga ON ga.assignment_id = d.assignment_id AND ga.group_id = g.id
            LEFT JOIN submission_documents sd ON sd.submission_id = ga.current_submission_id AND sd.document_id = d.id
            LEFT JOIN grades gr ON gr.submission_id = sd.submission_id
            WHERE d.organization_id = $1 AND {CAN_VIEW_GROUP}";
}

statements! {
    BY_ID = "{SELECT_DOCUMENTS} documents d JOIN work_rooms r ON r.id = d.work_room_id
            JOIN groups g ON g.id = r.group_id {VISIBLE_DOCUMENTS} AND d.id = $5";
    OF_ROOM = "{SELECT_DOCUMENTS} documents d JOIN work_rooms r ON r.id = d.work_room_id
            JOIN groups g ON g.id = r.group_id {VISIBLE_DOCUMENTS} AND d.work_room_id = $5
        AND (CAST($6 AS TEXT) IS NULL OR d.status = $6)
        AND (CAST($7 AS TEXT) IS NULL OR d.assignment_id = $7)
        ORDER BY d.created_at, d.id";
    /// The documents of all groups that work on a topic. The `FROM` clause begins with the topic: with this many joins
    /// PostgreSQL keeps the written order of the last ones and would otherwise read the documents of all organizations
    /// first.
    OF_TOPIC = "{SELECT_DOCUMENTS} group_assignments t JOIN groups g ON g.id = t.group_id
            JOIN work_rooms r ON r.group_id = g.id
            JOIN documents d ON d.work_room_id = r.id {VISIBLE_DOCUMENTS} AND t.organization_id = $1
            AND t.assignment_id = $5
        ORDER BY g.group_number, d.created_at, d.id";
    /// Locks the documents of all groups of a topic until the end of the transaction, always in the same order.
    LOCK_OF_TOPIC = "SELECT id FROM documents WHERE organization_id = $1 AND work_room_id IN (
            SELECT r.id FROM work_rooms r JOIN group_assignments t ON t.group_id = r.group_id
            WHERE t.organization_id = $1 AND t.assignment_id = $2)
        ORDER BY id FOR UPDATE";
    /// The group and class of a room that the viewer can view.
    ROOM = "SELECT {GROUP_CONTEXT_COLUMNS} FROM work_rooms r
        JOIN groups g ON g.id = r.group_id
        JOIN classes k ON k.id = g.class_id
        WHERE r.organization_id = $1 AND {CAN_VIEW_GROUP} AND r.id = $5";
    /// Locks the room until the end of the transaction, so that concurrent inserts cannot exceed the limit of
    /// documents.
    LOCK_ROOM = "SELECT id FROM work_rooms WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    COUNT = "SELECT COUNT(*) FROM documents WHERE organization_id = $1 AND work_room_id = $2";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM documents WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    INSERT = "INSERT INTO documents (organization_id, id, work_room_id, title, document_type, file_extension,
            assignment_id, generation, current_revision_id, version, size, created_by_id, last_edited_by, last_activity,
            created_at, updated_at)
        VALUES ($1, :id, :work_room_id, :title, :document_type, :file_extension, :assignment_id, :generation,
            :current_revision_id, :version, :size, :created_by_id, :last_edited_by, :last_activity, :created_at,
            :updated_at)";
    /// Updates every mutable field of a document.
    UPDATE = "UPDATE documents SET title = :title, status = :status, status_before_lock = :status_before_lock,
            locked_at = :locked_at, locked_by_assignment_id = :locked_by_assignment_id, assignment_id = :assignment_id,
            generation = :generation, current_revision_id = :current_revision_id, version = :version, size = :size,
            last_edited_by = :last_edited_by, last_activity = :last_activity, save_failed_at = :save_failed_at,
            submitted_at = :submitted_at, submitted_by_id = :submitted_by_id, updated_at = :updated_at,
            cut_at = :cut_at, freezing_until = :freezing_until, unsaved_generation = :unsaved_generation
        WHERE organization_id = $1 AND id = :id";
    /// Ends the flush of a freeze: changes after it do not belong to the frozen content.
    END_FLUSH = "UPDATE documents SET cut_at = $3
        WHERE organization_id = $1 AND id = $2 AND freezing_until IS NOT NULL AND cut_at > $3";
    /// Detaches feedback from the document; it remains with the topic.
    UNLINK_FEEDBACK = "UPDATE feedback SET document_id = NULL WHERE organization_id = $1 AND document_id = $2";
    DELETE_SAVES = "DELETE FROM document_saves WHERE organization_id = $1 AND document_id = $2";
    DELETE_SESSIONS = "DELETE FROM editing_sessions WHERE organization_id = $1 AND document_id = $2";
    DELETE_CONTRIBUTIONS = "DELETE FROM document_contributions WHERE organization_id = $1 AND document_id = $2";
    DELETE = "DELETE FROM documents WHERE organization_id = $1 AND id = $2";
    /// Whether an attempt contains a copy of the document.
    WAS_HANDED_IN = "SELECT EXISTS (SELECT 1 FROM submission_documents
            WHERE organization_id = $1 AND document_id = $2)";
    /// Locks the links of a group that are published and not started, optionally only that to one topic.
    UNTOUCHED = "SELECT ga.assignment_id FROM group_assignments ga
        WHERE ga.organization_id = $1 AND ga.group_id = $2 AND ga.status = 'NOT_STARTED'
            AND (CAST($3 AS TEXT) IS NULL OR ga.assignment_id = $3)
            AND EXISTS (SELECT 1 FROM assignments a
                WHERE a.organization_id = $1 AND a.id = ga.assignment_id AND {IS_PUBLISHED})
        ORDER BY ga.id FOR NO KEY UPDATE";
    /// A file visible to the group, from one of its published topics or its own, used as the template of a document.
    TEMPLATE = "SELECT f.file_name, f.file_key, f.size, f.sha256 FROM assignment_attachments f
            JOIN assignments a ON a.id = f.assignment_id
            JOIN group_assignments ga ON ga.assignment_id = a.id AND ga.group_id = $2
            WHERE f.organization_id = $1 AND f.id = $3 AND f.staged_at IS NULL AND {IS_PUBLISHED}
            AND (f.group_assignment_id IS NULL OR (NOT a.is_shared AND f.group_assignment_id = ga.id))
        UNION ALL
        SELECT f.file_name, f.file_key, f.size, f.sha256 FROM group_attachments f
            WHERE f.organization_id = $1 AND f.id = $3 AND f.group_id = $2";
}

/// A document with the context that responses contain.
#[derive(Debug, Clone)]
pub struct VisibleDocument {
    /// The group of its room, with the status of its class.
    pub group_context: GroupContext,
    /// The document with its last author and its grade.
    pub details: DocumentDetails,
}

impl VisibleDocument {
    /// Returns the change of a document to which this happened.
    pub fn change(&self, step: DocumentStep) -> DocumentChange {
        DocumentChange::Changed {
            group_context: self.group_context.clone(),
            document: Box::new(self.details.clone()),
            step,
        }
    }

    pub fn document(&self) -> &Document {
        &self.details.document
    }

    /// Checks that users can change the document: it is not locked (423) and its class is not archived (409).
    pub fn writable(&self) -> Result<UnlockedStatus, DomainError> {
        let open = self.details.document.status.writable()?;
        self.group_context.class_status.writable()?;
        Ok(open)
    }

    /// Returns the editor mode for a user who can view the document. All of them can edit it while it is a draft.
    pub fn mode(&self) -> EditorMode {
        self.details.document.mode(true, self.group_context.class_status)
    }
}

/// Restricts a list of documents. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct DocumentFilter {
    pub status: Option<DocumentStatus>,
    pub assignment_id: Option<AssignmentId>,
}

/// A file from which a document is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub file_name: String,
    pub file_key: FileKey,
    /// Size in bytes.
    pub size: i64,
    /// Hexadecimal SHA-256.
    pub sha256: String,
}

/// The location of the present content of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CurrentFile {
    Revision(Box<Revision>),
    /// Nothing was saved yet: the blank template of this file type.
    Blank(FileExtension),
}

impl ReadTx<'_> {
    /// Returns a document, or `NotFound` if the viewer cannot view its group. The document server reads with admin
    /// rights.
    pub fn document(&mut self, id: &DocumentId) -> Result<VisibleDocument> {
        self.fetch_one_visible(&BY_ID, args![id], visible)
    }

    /// Lists the matching documents of a room, oldest first; `NotFound` if the viewer cannot view the room.
    pub fn documents(&mut self, room: &WorkRoomId, filter: &DocumentFilter) -> Result<Vec<VisibleDocument>> {
        self.group_context_of_room(room)?;
        let status = filter.status.map(DocumentStatus::as_str);
        self.fetch_all_visible(&OF_ROOM, args![room, status, filter.assignment_id], visible)
    }

    /// Lists the documents of all groups on a topic that the viewer can view, by group number.
    pub fn documents_of_topic(&mut self, topic: &AssignmentId) -> Result<Vec<VisibleDocument>> {
        self.fetch_all_visible(&OF_TOPIC, args![topic], visible)
    }

    /// Returns the group of a room, or `NotFound` if the viewer cannot view it.
    pub fn group_context_of_room(&mut self, room: &WorkRoomId) -> Result<GroupContext> {
        self.fetch_one_visible(&ROOM, args![room], group_context)
    }

    /// Returns a file visible to the group as a template; `NotFound` for every other file.
    pub fn template(&mut self, group: &GroupId, attachment: &AttachmentId) -> Result<Template> {
        let now = self.now();
        self.fetch_one(
            &TEMPLATE,
            args![group, attachment, now],
            |row| from_row!(row => Template { file_name, file_key, size, sha256 }),
        )
    }

    /// Returns the location of the present content of a document.
    pub fn current_file(&mut self, document: &Document) -> Result<CurrentFile> {
        Ok(match self.current_revision(document)? {
            Some(revision) => CurrentFile::Revision(Box::new(revision)),
            None => CurrentFile::Blank(document.file_extension),
        })
    }
}

impl WriteTx<'_> {
    /// Locks a document until the end of the transaction. It does not check [`VisibleDocument::writable`]: saves of the
    /// document server are accepted even when users may not write.
    pub fn lock_writable_document(&mut self, id: &DocumentId) -> Result<VisibleDocument> {
        self.document(id)?;
        self.fetch_one(&LOCK, args![id], |row| row.get::<DocumentId>("id"))?;
        self.document(id)
    }

    /// Locks a room until the end of the transaction; returns its group and the number of its documents.
    pub fn lock_room_for_documents(&mut self, room: &WorkRoomId) -> Result<(GroupContext, i64)> {
        self.group_context_of_room(room)?;
        self.fetch_one(&LOCK_ROOM, args![room], |row| row.get::<WorkRoomId>("id"))?;
        Ok((
            self.group_context_of_room(room)?,
            self.fetch_one(&COUNT, args![room], |row| row.only())?,
        ))
    }

    /// Locks the documents of all groups that work on a topic until the end of the transaction.
    pub fn lock_documents_of_topic(&mut self, topic: &AssignmentId) -> Result<Vec<VisibleDocument>> {
        self.fetch_all(&LOCK_OF_TOPIC, args![topic], |row| row.get::<DocumentId>("id"))?;
        self.fetch_all_visible(&OF_TOPIC, args![topic], visible)
    }

    /// Locks the published links of a group that are not started and that a new document starts: that to its topic, or
    /// all if it has no topic. Returns their topics.
    pub fn untouched_topics(&mut self, group: &GroupId, topic: Option<&AssignmentId>) -> Result<Vec<AssignmentId>> {
        let now = self.now();
        self.fetch_all(&UNTOUCHED, args![group, topic, now], |row| row.get("assignment_id"))
    }

    /// Inserts a document as a draft.
    pub fn insert_document(&mut self, new: &Document) -> Result<()> {
        self.write_document(&INSERT, new)
    }

    /// Updates every mutable field of a document.
    pub fn update_document(&mut self, document: &Document) -> Result<()> {
        self.write_document(&UPDATE, document)
    }

    fn write_document(&mut self, statement: &'static Sql, document: &Document) -> Result<()> {
        self.execute_named(
            statement,
            named![document =>
                id, work_room_id, title, document_type, file_extension, locked_at, locked_by_assignment_id,
                assignment_id, generation, current_revision_id, version, size, created_by_id, last_edited_by,
                last_activity, save_failed_at, cut_at, freezing_until, unsaved_generation, submitted_at,
                submitted_by_id, created_at, updated_at,
                status: document.status.document_status(),
                status_before_lock: document.status.before_lock(),
            ],
        )
    }

    /// Ends the flush of a document that is being frozen.
    pub fn end_flush(&mut self, document: &DocumentId) -> Result<()> {
        let now = self.now();
        self.execute(&END_FLUSH, args![document, now])
    }

    /// Deletes a document that was never submitted, with its revisions; returns the files that are no longer
    /// referenced.
    pub fn delete_document(&mut self, id: &DocumentId) -> Result<Vec<FileKey>> {
        self.record_deleted_document(id)?;
        let revisions = self.revisions(id)?;
        let mut files = self.delete_revisions(revisions)?;
        files.extend(self.delete_document_images(id)?);
        self.delete_document_logs(id)?;
        self.delete_comments_of_document(id)?;
        for children in [
            &UNLINK_FEEDBACK,
            &DELETE_SAVES,
            &DELETE_SESSIONS,
            &DELETE_CONTRIBUTIONS,
            &DELETE,
        ] {
            self.execute(children, args![id])?;
        }
        Ok(files)
    }

    /// Returns whether a document was ever submitted, even if the submission was withdrawn.
    pub fn was_submitted(&mut self, id: &DocumentId) -> Result<bool> {
        self.fetch_one(&WAS_HANDED_IN, args![id], |row| row.only())
    }
}

/// Reads the columns of [`DOCUMENT_COLUMNS`], and the group of the document.
pub(super) fn document(row: &Columns<'_>) -> Result<Document> {
    from_row!(row => Document {
        id, organization_id, work_room_id, group_id, title, document_type, file_extension, locked_at,
        locked_by_assignment_id, assignment_id, generation, current_revision_id, version, size, created_by_id,
        last_edited_by, last_activity, save_failed_at, cut_at, freezing_until, unsaved_generation, submitted_at,
        submitted_by_id, created_at, updated_at,
        status: {
            let word = row.get::<DocumentStatus>("status")?;
            DocumentState::stored(word, row.get::<Option<UnlockedStatus>>("status_before_lock")?)
        },
    })
}

fn visible(row: &Columns<'_>) -> Result<VisibleDocument> {
    let (document, group_context) = (document(row)?, group_context(row)?);
    let last_editor = optional_person(row)?;
    Ok(VisibleDocument {
        group_context,
        details: DocumentDetails {
            document,
            last_editor,
            grade: grade(row)?,
        },
    })
}

/// Reads the grade of the group, if the document is in a graded submission. Grades of single members are not shown with
/// a document and not read here.
fn grade(row: &Columns<'_>) -> Result<Option<Grade>> {
    let submission: Option<SubmissionId> = row.get("submission_id")?;
    submission.map(|submission| group_grade(row, submission)).transpose()
}
