//! `/assignments/submissions/overview`: the submissions of all topics in classes that the caller manages. See
//! docs/api-contract.md#overview-and-lesson-board.

use std::cmp::Reverse;

use axum::Json;
use domain::group_assignment::SubmissionState;
use domain::id::{AssignmentId, ClassId, CourseId, SubjectId};
use domain::text::Search;
use domain::time::Timestamp;
use garde::Validate;
use serde::Deserialize;
use utoipa::IntoParams;

use super::context::Context;
use super::cross_tenant_list::Direction;
use super::pagination::{Cursor, Limit, Overview, Page, window};
use super::valid::ValidQuery;
use api_types::overview::{OverviewRowView, OverviewStatsView, OverviewView};
use common::error::Result;
use db::overview::{OverviewFilter, OverviewPosition, OverviewRow, OverviewStats, position};

#[derive(Deserialize, Validate, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct SubmissionOverviewListQuery {
    /// Only topics of this class.
    #[garde(skip)]
    class_id: Option<ClassId>,
    /// Only topics of courses in this subject.
    #[garde(skip)]
    subject_id: Option<SubjectId>,
    /// Only topics of this course.
    #[garde(skip)]
    course_id: Option<CourseId>,
    /// Only this topic.
    #[garde(skip)]
    assignment_id: Option<AssignmentId>,
    /// Only rows with this status. LATE and UNGRADED overlap with the other statuses. `stats` ignores this filter.
    #[garde(skip)]
    status: Option<SubmissionState>,
    /// Substring of the title of the topic, or of the name of the group or a member.
    #[garde(dive)]
    search: Option<Search>,
    /// Maximum number of rows. A value above 200 counts as 200.
    #[garde(skip)]
    #[param(value_type = Option<i64>, minimum = 1, default = 50)]
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    #[garde(skip)]
    #[param(value_type = Option<String>)]
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
