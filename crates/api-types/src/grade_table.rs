//! The grades of a topic as a table: a row for each group, and one for each member of what it handed in. It is for the
//! staff, who see drafts, too; the same table is read by the import.

use std::collections::BTreeMap;

use model::grade::Grade;
use model::id::UserId;
use model::import::{ImportCounts, RowStatus};
use model::number::Points;
use model::text::{FeedbackText, GradeValue};
use model::whole::{WholeGroupAssignment, WholeSubmission};
use serde::Serialize;
use utoipa::ToSchema;

use super::csv;
use super::import::ImportRowView;

/// The columns in their order.
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

/// What a grade says of the group or of one member.
type Said<'a> = (Option<&'a GradeValue>, Option<Points>, Option<&'a FeedbackText>);

/// The table of these links; `names` are those of the members.
pub fn table(links: &[WholeGroupAssignment], names: &BTreeMap<UserId, String>, delimiter: char) -> String {
    let mut table = csv::line_between(delimiter, COLUMNS);
    for link in links {
        let Some(current) = &link.current_submission else {
            table.push_str(&row(link, None, ("", ""), None, delimiter));
            continue;
        };
        let grade = current.grade.as_ref();
        let said = grade.map(|grade| (grade.value.as_ref(), grade.points, grade.feedback.as_ref()));
        table.push_str(&row(link, Some(current), ("", ""), said, delimiter));
        for member in &current.submission.member_ids {
            let name = names.get(member).map_or("", String::as_str);
            let own = grade.into_iter().flat_map(|grade| &grade.member_grades);
            let own = own.into_iter().find(|own| own.user_id == *member);
            let said = own.map(|own| (own.value.as_ref(), own.points, own.feedback.as_ref()));
            table.push_str(&row(link, Some(current), (member.as_str(), name), said, delimiter));
        }
    }
    table
}

fn row(
    link: &WholeGroupAssignment,
    current: Option<&WholeSubmission>,
    (user, name): (&str, &str),
    said: Option<Said<'_>>,
    delimiter: char,
) -> String {
    let submission = current.map(|current| &current.submission);
    let grade: Option<&Grade> = current.and_then(|current| current.grade.as_ref());
    let (value, points, feedback) = said.unwrap_or_default();
    let text = |text: Option<String>| text.unwrap_or_default();
    let group = &link.place.group;
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
    csv::line_between(delimiter, cells)
}

/// Where a spreadsheet wants semicolons, it wants a comma before the fraction; a point would make a date of it.
fn number(points: Points, delimiter: char) -> String {
    let text = points.get().to_string();
    if delimiter == ';' { text.replace('.', ",") } else { text }
}

/// How an import of grades went.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GradeImportReport)]
pub struct GradeImportView {
    /// Whether nothing was changed
    dry_run: bool,
    /// Rows that gave a grade where none was
    created: i64,
    /// Rows that changed a grade
    updated: i64,
    /// Rows that said nothing new
    skipped: i64,
    /// Rows that were refused
    failed: i64,
    /// Every row
    rows: Vec<ImportRowView>,
}

impl GradeImportView {
    /// The report of these rows with how each ended.
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
