//! `/assignments/submissions/overview`: the submissions of all topics in classes that the caller manages. See
//! docs/api-contract.md#overview-and-lesson-board.

use api_macros::query;
use std::cmp::Reverse;

use axum::Json;
use domain::group_assignment::SubmissionState;
use domain::id::{AssignmentId, ClassId, CourseId, SubjectId};
use domain::text::Search;
use domain::time::Timestamp;

use super::context::Context;
use super::cross_tenant_list::Direction;
use super::pagination::{Cursor, Limit, Overview, Page, window};
use super::valid::ValidQuery;
use api_types::overview::{OverviewRowView, OverviewStatsView, OverviewView};
use common::error::Result;
use db::overview::{OverviewFilter, OverviewPosition, OverviewRow, OverviewStats, position};

#[query]
pub(crate) struct SubmissionOverviewListQuery {
    /// Only topics of this class.
    class_id: Option<ClassId>,
    /// Only topics of courses in this subject.
    subject_id: Option<SubjectId>,
    /// Only topics of this course.
    course_id: Option<CourseId>,
    /// Only this topic.
    assignment_id: Option<AssignmentId>,
    /// Only rows with this status. LATE and UNGRADED overlap with the other statuses. `stats` ignores this filter.
    status: Option<SubmissionState>,
    /// Substring of the title of the topic, or of the name of the group or a member.
    search: Option<Search>,
    /// Maximum number of rows. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<OverviewPosition, Overview>>,
}

/// List every group on every topic of the classes that the caller manages
///
/// Topics with the latest deadline come first.
#[utoipa::path(get, path = "/assignments/submissions/overview", params(SubmissionOverviewListQuery),
    responses((status = 200, body = OverviewView)))]
pub(crate) async fn overview(
    cx: Context,
    ValidQuery(query): ValidQuery<SubmissionOverviewListQuery>,
) -> Result<Json<OverviewView>> {
    let filter = OverviewFilter {
        class_id: query.class_id,
        subject_id: query.subject_id,
        course_id: query.course_id,
        assignment_id: query.assignment_id,
        search: query.search.map(Search::into_string).filter(|text| !text.is_empty()),
        state: query.status.map(SubmissionState::as_str),
    };
    let (page_filter, window) = (filter.clone(), window(query.limit, query.cursor));
    let rows = cx.page(
        window,
        Direction::Ascending,
        move |tx, window| tx.overview(&page_filter, window),
        position,
    );
    let page = Page::of(Overview, rows.await?, |row: OverviewRow| {
        OverviewRowView::new(&row.details, row.course, row.subject.as_ref())
    });
    let stats = cx.list(move |tx| {
        let stats = tx.overview_stats(&filter)?.into_iter();
        Ok(stats.map(|topic| (list_key(&topic), shown(topic))).collect())
    });
    Ok(Json(OverviewView {
        data: page.data,
        stats: stats.await?,
        next_cursor: page.next_cursor,
    }))
}

/// The sort key of a topic, in the order of the rows.
fn list_key(topic: &OverviewStats) -> (Reverse<Timestamp>, AssignmentId) {
    (Reverse(topic.deadline), topic.assignment_id.clone())
}

fn shown(topic: OverviewStats) -> OverviewStatsView {
    OverviewStatsView::new(topic.assignment_id, topic.title, topic.deadline, &topic.counted)
}
