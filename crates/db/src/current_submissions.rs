//! Loads the content of the current submissions of many links: copies, grades and feedback, one statement per kind over
//! the same set of links. The views filter what the viewer can see.

use std::collections::HashMap;

use domain::details::SubmissionDetails;
use domain::id::SubmissionId;

use super::ReadTx;
use super::sql::{Sql, Value};
use super::submissions::{copy, feedback, grade, member_grade};
use common::error::Result;

/// The statements over one set of links.
pub struct CurrentParts {
    pub copies: &'static Sql,
    pub grades: &'static Sql,
    pub member_grades: &'static Sql,
    pub feedback: &'static Sql,
}

/// Defines the statements over one set of links. `from` joins the link `ga` and the tables that `where` filters on;
/// both are identical to those of the query of the links.
macro_rules! current_parts {
    ($(#[doc = $doc:expr])* $name:ident, from: $from:expr, where: $where:expr) => {
        $(#[doc = $doc])*
        pub mod $name {
            use $crate::submissions::{copy_columns, feedback_columns, grade_columns, member_grade_columns};

            $crate::statements! {
                COPIES = concat!("SELECT ", copy_columns!(), $from,
                    " JOIN submission_documents sd ON sd.submission_id = ga.current_submission_id WHERE ", $where,
                    " ORDER BY sd.created_at, sd.id");
                GRADES = concat!("SELECT ", grade_columns!(), $from,
                    " JOIN grades gr ON gr.submission_id = ga.current_submission_id WHERE ", $where);
                MEMBER_GRADES = concat!("SELECT gr.submission_id, ", member_grade_columns!(), $from,
                    " JOIN grades gr ON gr.submission_id = ga.current_submission_id
                    JOIN member_grades mg ON mg.grade_id = gr.id WHERE ", $where,
                    " ORDER BY mg.user_id");
                FEEDBACK = concat!("SELECT ", feedback_columns!(), $from,
                    " JOIN feedback fb ON fb.submission_id = ga.current_submission_id
                    JOIN users u ON u.id = fb.author_id WHERE ", $where,
                    " ORDER BY fb.created_at, fb.id");
            }

            pub static PARTS: $crate::current_submissions::CurrentParts =
                $crate::current_submissions::CurrentParts {
                    copies: &COPIES,
                    grades: &GRADES,
                    member_grades: &MEMBER_GRADES,
                    feedback: &FEEDBACK,
                };
        }
    };
}
pub(super) use current_parts;

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
        for copy in self.fetch_all_visible(parts.copies, arguments, copy)? {
            if let Some(details) = filled.get_mut(&copy.submission_id) {
                details.documents.push(copy);
            }
        }
        for (_, grade) in self.fetch_all_visible(parts.grades, arguments, grade)? {
            if let Some(details) = filled.get_mut(&grade.submission_id) {
                details.grade = Some(grade);
            }
        }
        let single = self.fetch_all_visible(parts.member_grades, arguments, |row| {
            Ok((row.take::<SubmissionId>()?, member_grade(row)?))
        })?;
        for (submission, single) in single {
            if let Some(grade) = filled.get_mut(&submission).and_then(|details| details.grade.as_mut()) {
                single.add_to(grade);
            }
        }
        for feedback in self.fetch_all_visible(parts.feedback, arguments, feedback)? {
            let submission = feedback.submission_id.as_ref();
            if let Some(details) = submission.and_then(|submission| filled.get_mut(submission)) {
                details.feedback.push(feedback);
            }
        }
        Ok(())
    }
}
