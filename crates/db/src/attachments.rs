//! The files of topics. The rule of their visibility is `domain::group_assignment::can_view_file`. [`CAN_VIEW_FILE`]
//! implements it in SQL for lists and downloads; `tests/documents/attachments.rs` proves that both agree.

use domain::file::AssignmentAttachment;
use domain::id::{AssignmentId, AttachmentId};

use super::sql::{Columns, Value};
use super::{ReadTx, WriteTx};
use crate::assignments::{STAFF_TOPICS, STUDENT_TOPICS};
use crate::labels::stored_file;
use crate::visibility::{CAN_MANAGE_CLASS, CAN_VIEW_LINK};
use crate::{args, fragments, from_row, named, statements};
use common::error::{Error, Result};

fragments! {
    /// The viewer can view file `f` of topic `a` in class `k`. Staff of the class can view every file. Students can
    /// view files shared with a visible group of theirs for which the topic is published, and files of that group alone
    /// while the topic is not shared. Staged files are invisible to students.
    CAN_VIEW_FILE = "({CAN_MANAGE_CLASS} OR ($2 = 'STUDENT' AND f.staged_at IS NULL AND EXISTS (SELECT 1
            FROM group_assignments ga
                JOIN groups g ON g.id = ga.group_id
                WHERE ga.organization_id = a.organization_id AND ga.assignment_id = a.id
                AND (f.group_assignment_id IS NULL OR (NOT a.is_shared AND f.group_assignment_id = ga.id))
                AND {CAN_VIEW_LINK})))";
    SELECT_FILES = "SELECT f.id, f.organization_id, f.assignment_id, f.group_assignment_id, f.file_key, f.file_name,
        f.mime_type,
                f.size, f.sha256, f.staged_at, f.uploaded_by_id, f.created_at
            FROM assignments a
            JOIN classes k ON k.id = a.class_id
            JOIN assignment_attachments f ON f.assignment_id = a.id
            WHERE a.organization_id = $1 AND {CAN_VIEW_FILE} AND";
}

statements! {
    OF_ASSIGNMENT = "{SELECT_FILES} a.id = $5 AND f.staged_at IS NULL ORDER BY f.created_at, f.id";
    OF_STAFF_LIST = "{SELECT_FILES} {STAFF_TOPICS} AND f.staged_at IS NULL ORDER BY f.created_at, f.id";
    OF_STUDENT_LIST = "{SELECT_FILES} {STUDENT_TOPICS} AND f.staged_at IS NULL ORDER BY f.created_at, f.id";
    /// One file of one topic; for staff, staged files too.
    BY_ID = "{SELECT_FILES} a.id = $5 AND f.id = $6";
    STAGED = "{SELECT_FILES} a.id = $5 AND f.staged_at IS NOT NULL ORDER BY f.created_at, f.id";
    INSERT = "INSERT INTO assignment_attachments (organization_id, id, assignment_id, group_assignment_id, file_name,
            mime_type, size, sha256, file_key, staged_at, uploaded_by_id, created_at)
        VALUES ($1, :id, :assignment_id, :group_assignment_id, :file_name, :mime_type, :size, :sha256, :file_key,
            :staged_at, :uploaded_by_id, :created_at)";
    /// Turns a staged file into a shared one.
    PUBLISH = "UPDATE assignment_attachments SET staged_at = NULL WHERE organization_id = $1 AND id = $2";
    DELETE = "DELETE FROM assignment_attachments WHERE organization_id = $1 AND id = $2";
}

impl ReadTx<'_> {
    /// Lists the files of a topic that the viewer can view, oldest first.
    pub fn files_of_assignment(&mut self, id: &AssignmentId) -> Result<Vec<AssignmentAttachment>> {
        self.fetch_all_visible(&OF_ASSIGNMENT, args![id], file)
    }

    /// Lists the files of all topics of a list. The arguments are those of the list.
    pub(super) fn files_of_assignments(&mut self, arguments: &[Value<'_>]) -> Result<Vec<AssignmentAttachment>> {
        self.fetch_all_visible(
            if self.viewer().is_staff() {
                &OF_STAFF_LIST
            } else {
                &OF_STUDENT_LIST
            },
            arguments,
            file,
        )
    }

    /// Returns a file of a topic, or `NotFound` if it is invisible to the viewer.
    pub fn file_of_assignment(&mut self, assignment: &AssignmentId, id: &AttachmentId) -> Result<AssignmentAttachment> {
        self.fetch_one_visible(&BY_ID, args![assignment, id], file)
    }

    /// Lists the staged files of a topic. They become visible with the next bulk edit.
    pub fn staged_files(&mut self, assignment: &AssignmentId) -> Result<Vec<AssignmentAttachment>> {
        self.fetch_all_visible(&STAGED, args![assignment], file)
    }
}

impl WriteTx<'_> {
    /// Inserts a file and counts its size against the storage quota.
    pub fn insert_file(&mut self, new: &AssignmentAttachment) -> Result<()> {
        self.stored(new.file.size);
        self.execute_named(
            &INSERT,
            named![new =>
                id, assignment_id, group_assignment_id, staged_at, uploaded_by_id, created_at,
                file_name: new.file.file_name,
                mime_type: new.file.mime_type,
                size: new.file.size,
                sha256: new.file.sha256,
                file_key: new.file.key,
            ],
        )
    }

    /// Turns a staged file into a shared one; `NotFound` if it was deleted in the meantime.
    pub fn publish_file(&mut self, id: &AttachmentId) -> Result<()> {
        if self.execute_counted(&PUBLISH, args![id])? == 0 {
            Err(Error::NotFound)
        } else {
            Ok(())
        }
    }

    /// Deletes the row of a file. The caller schedules the removal of the stored bytes with the change it records.
    pub fn delete_file(&mut self, id: &AttachmentId) -> Result<()> {
        if self.execute_counted(&DELETE, args![id])? == 0 {
            Err(Error::NotFound)
        } else {
            Ok(())
        }
    }
}

pub(super) fn file(row: &Columns<'_>) -> Result<AssignmentAttachment> {
    from_row!(row => AssignmentAttachment {
        id, organization_id, assignment_id, group_assignment_id, staged_at, uploaded_by_id, created_at,
        file: stored_file(row)?,
    })
}
