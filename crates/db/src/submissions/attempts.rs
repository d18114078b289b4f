//! All attempts of a group at a topic with their content, and copies of single documents, for viewers of the group. The
//! children of many attempts are read by one statement per kind.

use domain::assignment::AssignmentStatus;
use domain::details::SubmissionDetails;
use domain::id::{GroupAssignmentId, SubmissionId};
use domain::submission::SubmissionDocument;

use super::{copy, copy_columns, feedback_columns, grade_columns, member_grade_columns};
use crate::ReadTx;
use crate::current_submissions::CurrentParts;
use crate::group_assignments::{submission, submission_columns};
use crate::{args, can_view_group, statements};
use common::error::Result;

/// Attempts `s` at a link `ga` of group `g` in class `k`.
macro_rules! from_attempts {
    () => {
        " FROM group_assignments ga
            JOIN groups g ON g.id = ga.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN submissions s ON s.group_assignment_id = ga.id"
    };
}

macro_rules! of_link {
    () => {
        concat!(" WHERE ga.organization_id = $1 AND ga.id = $5 AND ", can_view_group!())
    };
}

statements! {
    /// The attempts, newest first.
    OF_LINK = concat!("SELECT ", submission_columns!(), from_attempts!(), of_link!(), " ORDER BY s.attempt DESC");
    COPIES = concat!("SELECT ", copy_columns!(), from_attempts!(),
        " JOIN submission_documents sd ON sd.submission_id = s.id", of_link!(), " ORDER BY sd.created_at, sd.id");
    GRADES = concat!("SELECT ", grade_columns!(), from_attempts!(), " JOIN grades gr ON gr.submission_id = s.id", of_link!());
    MEMBER_GRADES = concat!("SELECT gr.submission_id, ", member_grade_columns!(), from_attempts!(),
        " JOIN grades gr ON gr.submission_id = s.id JOIN member_grades mg ON mg.grade_id = gr.id", of_link!(),
        " ORDER BY mg.user_id");
    FEEDBACK = concat!("SELECT ", feedback_columns!(), from_attempts!(),
        " JOIN feedback fb ON fb.submission_id = s.id JOIN users u ON u.id = fb.author_id", of_link!(),
        " ORDER BY fb.created_at, fb.id");
    /// A copy, by its own id or that of its document, with the status of its topic.
    COPY = concat!("SELECT ", copy_columns!(), ", a.status", from_attempts!(),
        " JOIN submission_documents sd ON sd.submission_id = s.id
        JOIN assignments a ON a.id = ga.assignment_id
        WHERE ga.organization_id = $1 AND s.id = $5 AND (sd.id = $6 OR sd.document_id = $6) AND ", can_view_group!());
}

static PARTS: CurrentParts = CurrentParts {
    copies: &COPIES,
    grades: &GRADES,
    member_grades: &MEMBER_GRADES,
    feedback: &FEEDBACK,
};

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
        self.fill_current(&PARTS, args![link], attempts.iter_mut().collect())?;
        Ok(attempts)
    }

    /// Returns a copy in an attempt, by its own id or that of its document, with the status of its topic.
    pub fn copy_in(
        &mut self,
        submission: &SubmissionId,
        named: &str,
    ) -> Result<(SubmissionDocument, AssignmentStatus)> {
        self.fetch_one_visible(&COPY, args![submission, named], |row| {
            Ok((copy(row)?, row.parse(AssignmentStatus::parse)?))
        })
    }
}
