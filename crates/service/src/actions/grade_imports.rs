//! Imports grades from a spreadsheet. Rows are independent: an invalid row changes nothing, and the others are
//! applied. All rows of one submission result in one update of its grade.

use std::collections::HashMap;

use domain::details::{GroupAssignmentDetails, SubmissionDetails};
use domain::domain_error::DomainError;
use domain::grade::{Grade, GradeEdit, MemberGrade};
use domain::id::{AssignmentId, SubmissionId, UserId};
use domain::import::{RowProblem, RowStatus};
use domain::number::Points;
use domain::text::{FeedbackText, GradeValue};

use super::acting_user::acting_user;
use super::grades::{record, rules, write};
use common::error::Result;
use db::WriteTx;

/// A row of the spreadsheet.
#[derive(Debug, Clone)]
pub struct GradeRow {
    /// The row number as in the spreadsheet; the header is row 1.
    pub number: usize,
    /// The parsed row, or its errors.
    pub parsed: std::result::Result<ParsedGrade, Vec<RowProblem>>,
}

/// The content of a row; absent values stay unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedGrade {
    /// The submission; `None` for a group that has not submitted.
    pub submission: Option<SubmissionId>,
    /// The member that the grade is for; the whole group if absent.
    pub user: Option<UserId>,
    /// A value of the grade scale.
    pub value: Option<GradeValue>,
    pub points: Option<Points>,
    /// The comment on the grade.
    pub feedback: Option<FeedbackText>,
}

/// The result of a row.
#[derive(Debug, Clone)]
pub struct GradeOutcome {
    /// The row number.
    pub number: usize,
    pub status: RowStatus,
    /// The member that the grade is for.
    pub user: Option<UserId>,
    /// Why the row was rejected.
    pub problems: Vec<RowProblem>,
}

/// Imports rows for one topic. A dry run is rolled back.
pub fn import(tx: &mut WriteTx<'_>, id: &AssignmentId, rows: &[GradeRow], is_dry: bool) -> Result<Vec<GradeOutcome>> {
    if is_dry {
        tx.dry_run(|tx| apply_rows(tx, id, rows))
    } else {
        apply_rows(tx, id, rows)
    }
}

/// The grade of one submission while its rows are collected.
struct GradeCollector<'a> {
    link: &'a GroupAssignmentDetails,
    submission: &'a SubmissionDetails,
    edit: GradeEdit,
    /// The members that have a row; `None` is the whole group.
    named: Vec<Option<UserId>>,
}

fn apply_rows(tx: &mut WriteTx<'_>, id: &AssignmentId, rows: &[GradeRow]) -> Result<Vec<GradeOutcome>> {
    let details = tx.lock_writable_assignment(id)?;
    let current = details.links.iter().filter_map(|link| {
        let gathering = GradeCollector {
            link,
            submission: link.current_submission.as_ref()?,
            edit: GradeEdit::default(),
            named: Vec::new(),
        };
        Some(gathering)
    });
    let mut gathered: Vec<GradeCollector<'_>> = current.collect();
    let places: HashMap<SubmissionId, usize> = gathered
        .iter()
        .enumerate()
        .map(|(place, gathering)| (gathering.submission.submission.id.clone(), place))
        .collect();
    let mut outcomes = Vec::with_capacity(rows.len());
    for row in rows {
        let judged = row.parsed.clone().and_then(|parsed| {
            let place = parsed.submission.as_ref().map(|submission| places.get(submission));
            match place {
                Some(Some(place)) => gathered[*place].take(&parsed).map_err(|problem| vec![problem]),
                None if parsed.is_empty() => Ok(RowStatus::Skipped),
                None => Err(vec![RowProblem::new(
                    "submissionId",
                    "required",
                    "is empty: nothing is handed in",
                )]),
                Some(None) => Err(vec![RowProblem::new(
                    "submissionId",
                    "not_current",
                    "is no current submission of this topic; export the table again",
                )]),
            }
        });
        let (status, problems) = match judged {
            Ok(status) => (status, Vec::new()),
            Err(problems) => (RowStatus::Failed, problems),
        };
        let user = row.parsed.as_ref().ok().and_then(|parsed| parsed.user.clone());
        outcomes.push(GradeOutcome {
            number: row.number,
            status,
            user,
            problems,
        });
    }
    let mut written = Vec::new();
    for GradeCollector {
        link, submission, edit, ..
    } in gathered
    {
        let grade = match submission.grade.clone() {
            Some(grade) => grade,
            None => Grade::blank(submission.submission.id.clone(), acting_user(tx)?, tx.now()),
        };
        written.extend(write(tx, link, submission, grade, (edit, None))?);
    }
    record(tx, id, &written)?;
    Ok(outcomes)
}

impl ParsedGrade {
    fn is_empty(&self) -> bool {
        self.value.is_none() && self.points.is_none() && self.feedback.is_none()
    }
}

impl GradeCollector<'_> {
    /// Adds a row to the pending update of this submission.
    fn take(&mut self, parsed: &ParsedGrade) -> std::result::Result<RowStatus, RowProblem> {
        if self.named.contains(&parsed.user) {
            return Err(RowProblem::new("userId", "duplicate", "has a row before this one"));
        }
        let rules = rules(&self.link.assignment, self.submission);
        if parsed.user.as_ref().is_some_and(|user| !rules.members.contains(user)) {
            return Err(RowProblem::new("userId", "unknown", "is nobody of this submission"));
        }
        // Unchanged values are not validated again: the topic may have another scale since.
        let before = self.before(parsed.user.as_ref());
        let value = parsed
            .value
            .as_ref()
            .filter(|value| before.value.as_ref() != Some(value));
        let points = parsed.points.filter(|points| before.points != Some(*points));
        rules
            .check(value, points)
            .map_err(|domain_error| column(&domain_error))?;
        self.named.push(parsed.user.clone());
        let after = ParsedGrade {
            value: parsed.value.clone().or_else(|| before.value.clone()),
            points: parsed.points.or(before.points),
            feedback: parsed.feedback.clone().or_else(|| before.feedback.clone()),
            ..before.clone()
        };
        if after == before {
            return Ok(RowStatus::Skipped);
        }
        let is_new = before.is_empty();
        self.write(after);
        Ok(if is_new { RowStatus::Created } else { RowStatus::Updated })
    }

    /// Returns the grade of the group, or of one member, before this import.
    fn before(&self, user: Option<&UserId>) -> ParsedGrade {
        let grade = self.submission.grade.as_ref();
        let (submission, user_id) = (Some(self.submission.submission.id.clone()), user.cloned());
        let empty = ParsedGrade {
            submission,
            user: user_id,
            ..ParsedGrade::default()
        };
        match user {
            None => grade.map_or_else(
                || empty.clone(),
                |grade| ParsedGrade {
                    value: grade.value.clone(),
                    points: grade.points,
                    feedback: grade.feedback.clone(),
                    ..empty.clone()
                },
            ),
            Some(user) => {
                let members = grade.into_iter().flat_map(|grade| &grade.member_grades);
                let own = members.into_iter().find(|own| own.user_id == *user);
                own.map_or_else(
                    || empty.clone(),
                    |own| ParsedGrade {
                        value: own.value.clone(),
                        points: own.points,
                        feedback: own.feedback.clone(),
                        ..empty.clone()
                    },
                )
            }
        }
    }

    fn write(&mut self, after: ParsedGrade) {
        use domain::patch::FieldPatch;
        let ParsedGrade {
            user,
            value,
            points,
            feedback,
            ..
        } = after;
        let Some(user) = user else {
            self.edit.value = value.map_or(FieldPatch::Unchanged, FieldPatch::Value);
            self.edit.points = points.map_or(FieldPatch::Unchanged, FieldPatch::Value);
            self.edit.feedback = feedback.map_or(FieldPatch::Unchanged, FieldPatch::Value);
            return;
        };
        let grade = self.submission.grade.as_ref();
        let so_far = || grade.map(|grade| grade.member_grades.clone()).unwrap_or_default();
        let members = self.edit.member_grades.get_or_insert_with(so_far);
        members.retain(|own| own.user_id != user);
        members.push(MemberGrade {
            user_id: user,
            value,
            points,
            feedback,
        });
    }
}

/// Converts a domain error to an error of the column that it is about.
fn column(domain_error: &DomainError) -> RowProblem {
    match domain_error {
        DomainError::Invalid { path, code, message } => RowProblem::new(*path, *code, *message),
        other => RowProblem::new("", other.code().as_str(), other.to_string()),
    }
}
