//! Loads the content of the current submissions of many links: copies, grades and feedback, one statement per kind over
//! the same set of links. The views filter what the viewer can see.

use std::collections::HashMap;

use domain::details::SubmissionDetails;
use domain::id::SubmissionId;

use super::ReadTx;
use super::sql::{NamedStatements, Sql, Value};
use super::submissions::{
    COPY_COLUMNS, FEEDBACK_COLUMNS, GRADE_COLUMNS, GRADE_FILE_COLUMNS, MEMBER_GRADE_COLUMNS, copy, feedback, grade,
    grade_file, member_grade,
};
use common::error::Result;

/// The statements over one set of links.
pub struct CurrentParts {
    copies: Sql,
    grades: Sql,
    member_grades: Sql,
    grade_files: Sql,
    feedback: Sql,
}

impl CurrentParts {
    /// `from` joins the link `ga` and the tables that `selected` filters on; both are identical to those of the query
    /// of the links. `submission` is the id of the submission.
    pub(super) fn of(from: &str, submission: &str, selected: &str) -> Self {
        Self {
            copies: Sql::text_of(format!(
                "SELECT {COPY_COLUMNS} {from}
                JOIN submission_documents sd ON sd.submission_id = {submission}
                WHERE {selected} ORDER BY sd.created_at, sd.id"
            )),
            grades: Sql::text_of(format!(
                "SELECT {GRADE_COLUMNS} {from}
                JOIN grades gr ON gr.submission_id = {submission}
                WHERE {selected}"
            )),
            member_grades: Sql::text_of(format!(
                "SELECT gr.submission_id, {MEMBER_GRADE_COLUMNS} {from}
                JOIN grades gr ON gr.submission_id = {submission}
                JOIN member_grades mg ON mg.grade_id = gr.id
                WHERE {selected} ORDER BY mg.user_id"
            )),
            grade_files: Sql::text_of(format!(
                "SELECT {GRADE_FILE_COLUMNS} {from}
                JOIN grade_files gf ON gf.submission_id = {submission}
                WHERE {selected} ORDER BY gf.created_at, gf.id"
            )),
            feedback: Sql::text_of(format!(
                "SELECT {FEEDBACK_COLUMNS} {from}
                JOIN feedback fb ON fb.submission_id = {submission}
                JOIN users u ON u.id = fb.author_id
                WHERE {selected} ORDER BY fb.created_at, fb.id"
            )),
        }
    }

    /// The statements by name, for the tests of all SQL.
    pub(super) fn statements(&'static self) -> NamedStatements {
        vec![
            ("COPIES", &self.copies),
            ("GRADES", &self.grades),
            ("MEMBER_GRADES", &self.member_grades),
            ("GRADE_FILES", &self.grade_files),
            ("FEEDBACK", &self.feedback),
        ]
    }
}

impl ReadTx<'_> {
    /// Fills in the current submissions of links. The arguments are those of the query of the links.
    pub(super) fn fill_current(
        &mut self,
        parts: &'static CurrentParts,
        arguments: &[Value<'_>],
        submissions: Vec<&mut SubmissionDetails>,
    ) -> Result<()> {
        // Most lists are requested before anything is submitted.
        if submissions.is_empty() {
            return Ok(());
        }
        let mut filled: HashMap<SubmissionId, &mut SubmissionDetails> = submissions
            .into_iter()
            .map(|details| (details.submission.id.clone(), details))
            .collect();
        for copy in self.fetch_all_visible(&parts.copies, arguments, copy)? {
            if let Some(details) = filled.get_mut(&copy.submission_id) {
                details.documents.push(copy);
            }
        }
        for (_, grade) in self.fetch_all_visible(&parts.grades, arguments, grade)? {
            if let Some(details) = filled.get_mut(&grade.submission_id) {
                details.grade = Some(grade);
            }
        }
        let single = self.fetch_all_visible(&parts.member_grades, arguments, |row| {
            Ok((row.get::<SubmissionId>("submission_id")?, member_grade(row)?))
        })?;
        for (submission, single) in single {
            if let Some(grade) = filled.get_mut(&submission).and_then(|details| details.grade.as_mut()) {
                single.add_to(grade);
            }
        }
        for file in self.fetch_all_visible(&parts.grade_files, arguments, grade_file)? {
            let details = filled.get_mut(&file.submission_id);
            if let Some(grade) = details.and_then(|details| details.grade.as_mut()) {
                grade.files.push(file);
            }
        }
        for feedback in self.fetch_all_visible(&parts.feedback, arguments, feedback)? {
            let submission = feedback.submission_id.as_ref();
            if let Some(details) = submission.and_then(|submission| filled.get_mut(submission)) {
                details.feedback.push(feedback);
            }
        }
        Ok(())
    }
}
