//! All attempts of a group at a topic with their content, and copies of single documents, for viewers of the group. The
//! children of many attempts are read by one statement per kind.

use std::sync::LazyLock;

use domain::assignment::AssignmentStatus;
use domain::details::SubmissionDetails;
use domain::file::GradeFile;
use domain::id::{AttachmentId, GroupAssignmentId, SubmissionId};
use domain::submission::SubmissionDocument;

use super::{copy, grade_file};
use crate::current_submissions::CurrentParts;
use crate::group_assignments::{SUBMISSION_COLUMNS, submission};
use crate::submissions::{COPY_COLUMNS, GRADE_FILE_COLUMNS};
use crate::visibility::CAN_VIEW_LINK;
use crate::{ReadTx, args, fragments, statements};
use common::error::Result;

fragments! {
    /// Attempts `s` at a link `ga` of group `g` in class `k`.
    FROM_ATTEMPTS = "FROM group_assignments ga
            JOIN groups g ON g.id = ga.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN assignments a ON a.id = ga.assignment_id
            JOIN submissions s ON s.group_assignment_id = ga.id";
}

statements! {
    /// The attempts, newest first.
    OF_LINK = "SELECT s.organization_id, {SUBMISSION_COLUMNS} {FROM_ATTEMPTS}
        WHERE ga.organization_id = $1 AND ga.id = $5 AND {CAN_VIEW_LINK} ORDER BY s.attempt DESC";
    /// A copy, by its own id or that of its document, with the status of its topic.
    COPY = "SELECT {COPY_COLUMNS}, a.status AS assignment_status {FROM_ATTEMPTS}
        JOIN submission_documents sd ON sd.submission_id = s.id
        WHERE ga.organization_id = $1 AND s.id = $5 AND (sd.id = $6 OR sd.document_id = $6) AND {CAN_VIEW_LINK}";
    /// A file of a grade; for students only once the grade is published.
    GRADE_FILE = "SELECT {GRADE_FILE_COLUMNS} {FROM_ATTEMPTS}
        JOIN grades gr ON gr.submission_id = s.id
        JOIN grade_files gf ON gf.submission_id = s.id
        WHERE ga.organization_id = $1 AND s.id = $5 AND gf.id = $6 AND {CAN_VIEW_LINK}
            AND ($2 <> 'STUDENT' OR gr.status = 'PUBLISHED')";
}

/// The content of all attempts at a link.
pub(super) static CONTENT: LazyLock<CurrentParts> = LazyLock::new(|| {
    let selected = format!("ga.organization_id = $1 AND ga.id = $5 AND {CAN_VIEW_LINK}");
    CurrentParts::of(&FROM_ATTEMPTS.to_string(), "s.id", &selected)
});

impl ReadTx<'_> {
    /// Lists all attempts at a link, newest first; `NotFound` if the viewer cannot view the group.
    pub fn attempts_at(&mut self, link: &GroupAssignmentId) -> Result<Vec<SubmissionDetails>> {
        self.work_of_link(link)?;
        let mut attempts = self.fetch_all_visible(&OF_LINK, args![link], |row| {
            Ok(SubmissionDetails {
                submission: submission(row)?,
                documents: Vec::new(),
                grade: None,
                feedback: Vec::new(),
            })
        })?;
        self.fill_current(&CONTENT, args![link], attempts.iter_mut().collect())?;
        Ok(attempts)
    }

    /// Returns a file of the grade of an attempt, or `NotFound` if the viewer may not read it.
    pub fn file_of_grade(&mut self, submission: &SubmissionId, id: &AttachmentId) -> Result<GradeFile> {
        self.fetch_one_visible(&GRADE_FILE, args![submission, id], grade_file)
    }

    /// Returns a copy in an attempt, by its own id or that of its document, with the status of its topic.
    pub fn copy_in(
        &mut self,
        submission: &SubmissionId,
        named: &str,
    ) -> Result<(SubmissionDocument, AssignmentStatus)> {
        self.fetch_one_visible(&COPY, args![submission, named], |row| {
            Ok((copy(row)?, row.get::<AssignmentStatus>("assignment_status")?))
        })
    }
}
