//! The submission overview: a paginated list of all groups on all topics that the viewer manages, and statistics per
//! topic. Teachers see their own classes, admins all classes.

use std::collections::HashMap;
use std::sync::LazyLock;

use domain::assignment::AssignmentLabel;
use domain::course::CourseLabel;
use domain::details::GroupAssignmentDetails;
use domain::file::AssignmentAttachment;
use domain::group_assignment::Statistics;
use domain::id::{AssignmentId, ClassId, CourseId, GroupAssignmentId, SubjectId};
use domain::subject::SubjectLabel;
use domain::text::Title;
use domain::time::Timestamp;

use super::assignments::assignment;
use super::current_submissions::CurrentParts;
use super::group_assignments::{current_submission, link};
use super::page::{Position, Slice, Window};
use super::sql::{Columns, NamedStatements};
use super::{ReadTx, attachments};
use crate::assignments::ASSIGNMENT_COLUMNS;
use crate::group_assignments::{LINK_COLUMNS, SUBMISSION_COLUMNS};
use crate::labels::{group_context, optional_course_label, optional_subject_label};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, statements};
use common::error::Result;

/// The sort key of a row: deadline descending (hence negated), topic id, group number. The id of the link is part of
/// the position itself.
pub type OverviewPosition = (i64, String, i64);

fragments! {
    /// The links `ga` of topics `a` in class `k` and group `g`, with course `c` and current submission `s`.
    FROM_LINKS = "FROM assignments a
            JOIN classes k ON k.id = a.class_id
            JOIN group_assignments ga ON ga.assignment_id = a.id
            JOIN groups g ON g.id = ga.group_id
            LEFT JOIN courses c ON c.id = a.course_id
            LEFT JOIN submissions s ON s.id = ga.current_submission_id";
    /// The filter of the overview, `$5` to `$9`. A topic without a course has the subject of its group.
    MATCHING = "WHERE a.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL AND {CAN_MANAGE_CLASS}
            AND (CAST($5 AS TEXT) IS NULL OR a.class_id = $5)
            AND (CAST($6 AS TEXT) IS NULL OR COALESCE(c.subject_id, g.subject_id) = $6)
            AND (CAST($7 AS TEXT) IS NULL OR a.course_id = $7)
            AND (CAST($8 AS TEXT) IS NULL OR a.id = $8)
            AND (CAST($9 AS TEXT) IS NULL OR a.search_key LIKE '%' || $9 || '%' ESCAPE '\\'
                OR g.search_key LIKE '%' || $9 || '%' ESCAPE '\\'
                OR EXISTS (SELECT 1 FROM group_members m JOIN users u ON u.id = m.user_id
                    WHERE m.organization_id = $1 AND m.group_id = g.id
                        AND u.search_key LIKE '%' || $9 || '%' ESCAPE '\\'))";
    /// The current submission is late.
    IS_LATE = "(ga.status IN ('SUBMITTED', 'GRADED') AND COALESCE(s.is_late, FALSE))";
    /// One page: `$10` status, `$11` to `$14` the preceding row, `$15` the number of rows.
    ONE_PAGE = "{MATCHING} AND (CAST($10 AS TEXT) IS NULL OR ga.status = $10 OR ($10 = 'UNGRADED'
            AND ga.status = 'SUBMITTED')
                OR ($10 = 'LATE' AND {IS_LATE}))
            AND a.deadline <= $11 AND (a.deadline < $11 OR (a.id, g.group_number, ga.id) > ($12, $13, $14))
            ORDER BY a.deadline DESC, a.id, g.group_number, ga.id LIMIT $15";
    /// The links of the page, for the statements that read their children.
    ON_PAGE = "ga.organization_id = $1 AND ga.id IN (SELECT ga.id {FROM_LINKS} {ONE_PAGE})";
}

statements! {
    PAGE = "SELECT {LINK_COLUMNS}, {ASSIGNMENT_COLUMNS}, (SELECT COUNT(*) FROM submission_documents sd
            WHERE sd.organization_id = $1 AND sd.submission_id = ga.current_submission_id) AS submitted_count,
        g.name AS group_name, g.group_number, g.display_name, g.course_id AS group_course_id,
        k.status AS class_status, g.start_date, c.name AS course_name, c.subject_id AS course_subject_id,
        sj.id AS subject_id, sj.name AS subject_name, sj.code AS subject_code, sj.color AS subject_color,
        {SUBMISSION_COLUMNS} {FROM_LINKS}
        LEFT JOIN subjects sj ON sj.id = COALESCE(c.subject_id, g.subject_id) {ONE_PAGE}";
    /// The files of their topics, repeated for each link that can view them.
    FILES = "SELECT ga.id AS link_id, f.id, f.organization_id, f.assignment_id, f.group_assignment_id, f.file_key,
        f.file_name,
            f.mime_type, f.size, f.sha256, f.staged_at, f.uploaded_by_id, f.created_at
        FROM group_assignments ga JOIN assignment_attachments f ON f.assignment_id = ga.assignment_id
            AND (f.group_assignment_id IS NULL OR f.group_assignment_id = ga.id)
        WHERE f.staged_at IS NULL AND {ON_PAGE} ORDER BY f.created_at, f.id";
    /// Statistics per topic, independent of page and status.
    STATS = "SELECT a.id, a.title, a.deadline, COUNT(*) AS group_count,
            SUM(CASE WHEN ga.status = 'NOT_STARTED' THEN 1 ELSE 0 END) AS not_started,
            SUM(CASE WHEN ga.status = 'IN_PROGRESS' THEN 1 ELSE 0 END) AS in_progress,
            SUM(CASE WHEN ga.status = 'SUBMITTED' THEN 1 ELSE 0 END) AS submitted,
            SUM(CASE WHEN ga.status = 'RETURNED' THEN 1 ELSE 0 END) AS returned,
            SUM(CASE WHEN ga.status = 'GRADED' THEN 1 ELSE 0 END) AS graded,
            SUM(CASE WHEN {IS_LATE} THEN 1 ELSE 0 END) AS late {FROM_LINKS} {MATCHING}
            GROUP BY a.id, a.title, a.deadline
            ORDER BY a.deadline DESC, a.id";
}

/// The content of the current submissions of the page.
static CURRENT: LazyLock<CurrentParts> = LazyLock::new(|| {
    CurrentParts::of(
        "FROM group_assignments ga",
        "ga.current_submission_id",
        &ON_PAGE.to_string(),
    )
});

/// The statements of this file, for the tests of all SQL.
pub fn all_statements() -> Vec<(&'static str, NamedStatements)> {
    vec![
        ("overview", STATEMENTS.to_vec()),
        ("overview::of_page", CURRENT.statements()),
    ]
}

/// Restricts the overview. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct OverviewFilter {
    pub class_id: Option<ClassId>,
    /// The subject of the course of the topic, or of the group if the topic has no course.
    pub subject_id: Option<SubjectId>,
    pub course_id: Option<CourseId>,
    pub assignment_id: Option<AssignmentId>,
    /// Matches a part of the name of the topic, of the group or of a member.
    pub search: Option<String>,
    /// The status as in the API: a status of a link, `LATE` or `UNGRADED`.
    pub state: Option<&'static str>,
}

/// One group on one topic.
#[derive(Debug, Clone)]
pub struct OverviewRow {
    /// The link with topic, group and current submission.
    pub details: GroupAssignmentDetails,
    /// The course of the topic.
    pub course: Option<CourseLabel>,
    /// The subject of the course, or of the group if there is no course.
    pub subject: Option<SubjectLabel>,
}

/// Statistics about the groups of one topic.
#[derive(Debug, Clone)]
pub struct OverviewStats {
    pub assignment_id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
    pub counted: Statistics,
}

impl OverviewRow {
    pub fn assignment(&self) -> AssignmentLabel {
        self.details.assignment.label()
    }
}

impl ReadTx<'_> {
    /// Returns a page of the matching links.
    pub fn overview(
        &mut self,
        filter: &OverviewFilter,
        window: &Window<OverviewPosition>,
    ) -> Result<Slice<OverviewRow, OverviewPosition>> {
        let search = filter.search.as_deref().map(super::pattern);
        let first = (i64::MIN, String::new(), 0);
        let (key, id) = window
            .after
            .as_ref()
            .map_or((&first, ""), |after| (&after.key, after.id.as_str()));
        // A forged cursor could contain NUL, which PostgreSQL text cannot.
        let topic = key.1.replace('\0', "");
        let (deadline, rows) = (key.0.saturating_neg(), window.rows());
        let arguments = args![
            filter.class_id,
            filter.subject_id,
            filter.course_id,
            filter.assignment_id,
            search,
            filter.state,
            deadline,
            topic,
            key.2,
            id,
            rows,
        ];
        let mut rows = self.fetch_all_visible(&PAGE, arguments, row)?;
        if !rows.is_empty() {
            let mut files: HashMap<GroupAssignmentId, Vec<AssignmentAttachment>> = HashMap::new();
            for (link, file) in self.fetch_all_visible(&FILES, arguments, |row| {
                Ok((row.get("link_id")?, attachments::file(row)?))
            })? {
                files.entry(link).or_default().push(file);
            }
            for row in &mut rows {
                row.details.attachments = files.remove(&row.details.link.id).unwrap_or_default();
            }
        }
        let current = rows
            .iter_mut()
            .filter_map(|row| row.details.current_submission.as_mut())
            .collect();
        self.fill_current(&CURRENT, arguments, current)?;
        Ok(window.cut(rows, position))
    }

    /// Returns statistics for the topics of the matching links, independent of their status.
    pub fn overview_stats(&mut self, filter: &OverviewFilter) -> Result<Vec<OverviewStats>> {
        let search = filter.search.as_deref().map(super::pattern);
        let arguments = args![
            filter.class_id,
            filter.subject_id,
            filter.course_id,
            filter.assignment_id,
            search
        ];
        self.fetch_all_visible(&STATS, arguments, |row| {
            from_row!(row => OverviewStats {
                assignment_id = "id", title, deadline,
                counted: from_row!(row => Statistics {
                    groups = "group_count", not_started, in_progress, submitted, returned, graded, late,
                    // A link with a published grade has the status GRADED, so every SUBMITTED link is ungraded.
                    ungraded = "submitted",
                })?,
            })
        })
    }
}

/// Returns the pagination position of a row.
pub fn position(row: &OverviewRow) -> Position<OverviewPosition> {
    let (topic, number) = (&row.details.assignment, row.details.group_context.group.group_number);
    Position {
        key: (
            topic.deadline.as_millis().saturating_neg(),
            topic.id.to_string(),
            number,
        ),
        id: row.details.link.id.to_string(),
    }
}

fn row(row: &Columns<'_>) -> Result<OverviewRow> {
    let (link, assignment, submitted_count) = (link(row)?, assignment(row)?, row.get("submitted_count")?);
    let group_context = group_context(row)?;
    let (course, subject) = (optional_course_label(row)?, optional_subject_label(row)?);
    let current_submission = current_submission(&link, row)?;
    Ok(OverviewRow {
        details: GroupAssignmentDetails {
            link,
            assignment,
            group_context,
            attachments: Vec::new(),
            submitted_count,
            current_submission,
        },
        course,
        subject,
    })
}
