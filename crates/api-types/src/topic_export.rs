//! The index of a topic archive as CSV: one row for each document, and one for each group without documents. Intended
//! for staff, it contains unpublished grades.

use domain::details::SubmissionDetails;
use domain::export::{ExportedDocument, ExportedGroup, TopicExport};
use domain::group_assignment::GroupAssignmentStatus;

use super::csv;

/// Names of the columns in order. Size and hash refer to the original document, regardless of the export format.
pub const COLUMNS: [&str; 16] = [
    "groupNumber",
    "group",
    "members",
    "status",
    "document",
    "documentStatus",
    "linked",
    "attempt",
    "submittedAt",
    "late",
    "grade",
    "gradeStatus",
    "size",
    "sha256",
    "file",
    "pdf",
];

/// Returns the index of the archive.
pub fn index(export: &TopicExport) -> String {
    let mut list = csv::format_row(COLUMNS);
    for group in &export.groups {
        if group.documents.is_empty() {
            list.push_str(&row(export, group, None));
        }
        for document in &group.documents {
            list.push_str(&row(export, group, Some(document)));
        }
    }
    list
}

fn row(export: &TopicExport, group: &ExportedGroup, document: Option<&ExportedDocument>) -> String {
    let label = &group.link.group_context.group;
    let status: GroupAssignmentStatus = group.link.link.status;
    let submission = group.link.current_submission.as_ref();
    let submission = submission.filter(|_| document.is_some_and(|document| document.is_submitted));
    let of = |read: &dyn Fn(&ExportedDocument) -> String| document.map(read).unwrap_or_default();
    let of_attempt = |read: &dyn Fn(&SubmissionDetails) -> String| submission.map(read).unwrap_or_default();
    let bit = |bit: bool| u8::from(bit).to_string();
    csv::format_row([
        label.group_number.to_string(),
        label.display_name.clone().unwrap_or_else(|| label.name.clone()),
        group.members.join("; "),
        status.to_string(),
        of(&|document| document.title.clone()),
        of(&|document| document.status.map(|status| status.to_string()).unwrap_or_default()),
        of(&|document| bit(document.is_linked)),
        of_attempt(&|current| current.submission.attempt.to_string()),
        of_attempt(&|current| current.submission.submitted_at.to_string()),
        of_attempt(&|current| bit(current.submission.lateness.is_late)),
        of_attempt(&grade),
        of_attempt(&|current| {
            current
                .grade
                .as_ref()
                .map(|grade| grade.status.to_string())
                .unwrap_or_default()
        }),
        of(&|document| document.size.to_string()),
        of(&|document| document.sha256.clone()),
        of(&|document| {
            if export.format.has_original(document.extension) {
                format!("{}.{}", document.path, document.extension)
            } else {
                String::new()
            }
        }),
        of(&|document| {
            if export.format.has_conversion(document.extension) {
                format!("{}.pdf", document.path)
            } else {
                String::new()
            }
        }),
    ])
}

/// Returns the value of the grade or, without a value, its points.
fn grade(current: &SubmissionDetails) -> String {
    let Some(grade) = &current.grade else {
        return String::new();
    };
    let points = || grade.points.map(|points| points.get().to_string()).unwrap_or_default();
    grade.value.as_ref().map_or_else(points, ToString::to_string)
}
