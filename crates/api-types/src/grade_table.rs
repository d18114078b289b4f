//! The grades of a topic as a CSV table: one row for each group, followed by one for each member of its submission.
//! Intended for staff, it contains unpublished grades. The import reads the same format.

use api_macros::view;
use std::collections::BTreeMap;

use domain::details::{GroupAssignmentDetails, SubmissionDetails};
use domain::grade::Grade;
use domain::id::UserId;
use domain::import::{ImportCounts, RowStatus};
use domain::number::Points;
use domain::text::{FeedbackText, GradeValue};

use super::csv;
use super::import::ImportRowView;

/// Names of the columns in order.
pub const COLUMNS: [&str; 13] = [
    "submissionId",
    "groupNumber",
    "group",
    "attempt",
    "submittedAt",
    "late",
    "userId",
    "member",
    "value",
    "points",
    "feedback",
    "status",
    "gradedAt",
];

/// Value, points and comment of a grade of the group or of one member.
type TableGrade<'a> = (Option<&'a GradeValue>, Option<Points>, Option<&'a FeedbackText>);

/// Returns the table for these links; `names` maps user ids to names.
pub fn table(links: &[GroupAssignmentDetails], names: &BTreeMap<UserId, String>, delimiter: char) -> String {
    let mut table = csv::format_row_with(delimiter, COLUMNS);
    for link in links {
        let Some(current) = &link.current_submission else {
            table.push_str(&row(link, None, ("", ""), None, delimiter));
            continue;
        };
        let grade = current.grade.as_ref();
        let content = grade.map(|grade| (grade.value.as_ref(), grade.points, grade.feedback.as_ref()));
        table.push_str(&row(link, Some(current), ("", ""), content, delimiter));
        for member in &current.submission.member_ids {
            let name = names.get(member).map_or("", String::as_str);
            let own = grade.into_iter().flat_map(|grade| &grade.member_grades);
            let own = own.into_iter().find(|own| own.user_id == *member);
            let content = own.map(|own| (own.value.as_ref(), own.points, own.feedback.as_ref()));
            table.push_str(&row(link, Some(current), (member.as_str(), name), content, delimiter));
        }
    }
    table
}

fn row(
    link: &GroupAssignmentDetails,
    current: Option<&SubmissionDetails>,
    (user, name): (&str, &str),
    content: Option<TableGrade<'_>>,
    delimiter: char,
) -> String {
    let submission = current.map(|current| &current.submission);
    let grade: Option<&Grade> = current.and_then(|current| current.grade.as_ref());
    let (value, points, feedback) = content.unwrap_or_default();
    let text = |text: Option<String>| text.unwrap_or_default();
    let group = &link.group_context.group;
    let cells = [
        text(submission.map(|submission| submission.id.to_string())),
        group.group_number.to_string(),
        group.display_name.clone().unwrap_or_else(|| group.name.clone()),
        text(submission.map(|submission| submission.attempt.to_string())),
        text(submission.map(|submission| submission.submitted_at.to_string())),
        text(submission.map(|submission| u8::from(submission.lateness.is_late).to_string())),
        user.to_owned(),
        name.to_owned(),
        text(value.map(ToString::to_string)),
        text(points.map(|points| number(points, delimiter))),
        text(feedback.map(ToString::to_string)),
        text(grade.map(|grade| grade.status.as_str().to_owned())),
        text(grade.map(|grade| grade.graded_at.to_string())),
    ];
    csv::format_row_with(delimiter, cells)
}

/// Formats points for the locale implied by the delimiter: spreadsheets that expect semicolons also expect a decimal
/// comma, and would read a decimal point as a date.
fn number(points: Points, delimiter: char) -> String {
    let text = points.get().to_string();
    if delimiter == ';' { text.replace('.', ",") } else { text }
}

/// Result of an import of grades.
#[view]
#[schema(as = GradeImportReport)]
pub struct GradeImportView {
    /// Whether this was a dry run that changed nothing.
    dry_run: bool,
    /// Number of rows that set a grade where there was none.
    created: i64,
    /// Number of rows that changed a grade.
    updated: i64,
    /// Number of rows that changed nothing.
    skipped: i64,
    /// Number of rejected rows.
    failed: i64,
    /// All rows.
    rows: Vec<ImportRowView>,
}

impl GradeImportView {
    /// Returns the report for these rows and their results.
    pub fn new(dry_run: bool, rows: Vec<(RowStatus, ImportRowView)>) -> Self {
        let mut counts = ImportCounts::default();
        for (status, _) in &rows {
            counts.add(*status);
        }
        let ImportCounts {
            created,
            updated,
            invited: _,
            skipped,
            failed,
        } = counts;
        Self {
            dry_run,
            created,
            updated,
            skipped,
            failed,
            rows: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }
}
