//! The files of topics. Who sees which is said by `model::group_assignment::sees_file`; [`sees_file`] is its SQL twin,
//! used alike by lists and downloads (contract 3.6), and `tests/api/attachments.rs` proves the two equal.

use model::file::{AssignmentAttachment, FileKey, StoredFile};
use model::id::{AssignmentId, AttachmentId};

use super::assignments::{staff_topics, student_topics};
use super::sql::{Columns, Value};
use super::{Scope, Work};
use crate::{args, manages_class, sees_group, statements};
use common::error::{Error, Result};

/// The viewer sees file `f` of topic `a` in class `k`: staff of the class every one; a student what is shared with a
/// visible group of his, and what is that group's own while the topic is not shared. Staged files are nobody's yet.
macro_rules! sees_file {
    () => {
        concat!(
            "(",
            manages_class!(),
            " OR ($2 = 'STUDENT' AND f.staged_at IS NULL AND EXISTS (SELECT 1 FROM group_assignments ga
                JOIN groups g ON g.id = ga.group_id
                WHERE ga.organization_id = a.organization_id AND ga.assignment_id = a.id
                AND (f.group_assignment_id IS NULL OR (NOT a.is_shared AND f.group_assignment_id = ga.id)) AND ",
            sees_group!(),
            ")))"
        )
    };
}

macro_rules! files {
    ($($where:tt)*) => {
        concat!(
            "SELECT f.id, f.organization_id, f.assignment_id, f.group_assignment_id, f.file_key, f.file_name, f.mime_type,
                f.size, f.sha256, f.staged_at, f.uploaded_by_id, f.created_at
            FROM assignments a
            JOIN classes k ON k.id = a.class_id
            JOIN assignment_attachments f ON f.assignment_id = a.id
            WHERE a.organization_id = $1 AND ",
            sees_file!(), " AND ",
            $($where)*
        )
    };
}

statements! {
    /// The files of one topic.
    OF_ASSIGNMENT = files!("a.id = $5 AND f.staged_at IS NULL ORDER BY f.created_at, f.id");
    /// The files of the topics that match, for staff.
    OF_STAFF_LIST = files!(staff_topics!(), " AND f.staged_at IS NULL ORDER BY f.created_at, f.id");
    /// The files of the topics that match, for a student.
    OF_STUDENT_LIST = files!(student_topics!(), " AND f.staged_at IS NULL ORDER BY f.created_at, f.id");
    /// One file of one topic; staff reach staged ones too.
    BY_ID = files!("a.id = $5 AND f.id = $6");
    /// The staged files of one topic.
    STAGED = files!("a.id = $5 AND f.staged_at IS NOT NULL ORDER BY f.created_at, f.id");
    /// A new file.
    INSERT = "INSERT INTO assignment_attachments (organization_id, id, assignment_id, group_assignment_id, file_name,
            mime_type, size, sha256, file_key, staged_at, uploaded_by_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    /// A staged file becomes a shared one.
    PUBLISH = "UPDATE assignment_attachments SET staged_at = NULL WHERE organization_id = $1 AND id = $2";
    /// Removes a file.
    DELETE = "DELETE FROM assignment_attachments WHERE organization_id = $1 AND id = $2";
}

impl Scope<'_> {
    /// The files of one topic that the viewer sees, oldest first.
    pub fn files_of_assignment(&mut self, id: &AssignmentId) -> Result<Vec<AssignmentAttachment>> {
        self.many_visible(&OF_ASSIGNMENT, args![id], file)
    }

    /// The files of the topics of a list; the arguments are those of the list.
    pub(super) fn files_of_assignments(&mut self, arguments: &[Value<'_>]) -> Result<Vec<AssignmentAttachment>> {
        self.many_visible(
            if self.viewer().is_staff() {
                &OF_STAFF_LIST
            } else {
                &OF_STUDENT_LIST
            },
            arguments,
            file,
        )
    }

    /// One file of a topic, if the viewer sees it.
    pub fn file_of_assignment(&mut self, assignment: &AssignmentId, id: &AttachmentId) -> Result<AssignmentAttachment> {
        self.one_visible(&BY_ID, args![assignment, id], file)
    }

    /// The files of a topic that wait for a bulk edit.
    pub fn staged_files(&mut self, assignment: &AssignmentId) -> Result<Vec<AssignmentAttachment>> {
        self.many_visible(&STAGED, args![assignment], file)
    }
}

impl Work<'_> {
    /// Writes a new file.
    pub fn insert_file(&mut self, new: &AssignmentAttachment) -> Result<()> {
        self.stored(new.file.size);
        self.run(
            &INSERT,
            args![
                new.id,
                new.assignment_id,
                new.group_assignment_id,
                new.file.file_name,
                new.file.mime_type,
                new.file.size,
                new.file.sha256,
                new.file.key.as_str(),
                new.staged_at,
                new.uploaded_by_id,
                new.created_at,
            ],
        )
        .map(drop)
    }

    /// Makes a staged file a shared one; 404 when it was dropped meanwhile.
    pub fn publish_file(&mut self, id: &AttachmentId) -> Result<()> {
        if self.run(&PUBLISH, args![id])? == 0 {
            Err(Error::NotFound)
        } else {
            Ok(())
        }
    }

    /// Removes the row of a file; whoever records the change names its bytes.
    pub fn delete_file(&mut self, id: &AttachmentId) -> Result<()> {
        if self.run(&DELETE, args![id])? == 0 {
            Err(Error::NotFound)
        } else {
            Ok(())
        }
    }
}

pub(super) fn file(row: &mut Columns<'_>) -> Result<AssignmentAttachment> {
    Ok(AssignmentAttachment {
        id: row.take()?,
        organization_id: row.take()?,
        assignment_id: row.take()?,
        group_assignment_id: row.take()?,
        file: StoredFile {
            key: FileKey::new(row.take::<String>()?),
            file_name: row.take()?,
            mime_type: row.take()?,
            size: row.take()?,
            sha256: row.take()?,
        },
        staged_at: row.take()?,
        uploaded_by_id: row.take()?,
        created_at: row.take()?,
    })
}
