//! `/activity-logs`. See docs/api-contract.md#activity-log.

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::activity::{Action, ActivityEvent, ActivityRecord, Category};
use domain::from_fields;
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, UserId};
use domain::text::Search;
use domain::time::Timestamp;
use futures_util::stream;
use garde::Validate;
use serde::Deserialize;
use utoipa::IntoParams;

use super::context::Context;
use super::cross_tenant_list::Direction;
use super::pagination::{ActivityLogs, Cursor, Limit, Page, window};
use super::response::PreserializedJson;
use super::valid::ValidQuery;
use api_types::activity_log::ActivityLogView;
use common::error::{Error, Result};
use db::ReadTx;
use db::activity::{ActivityFilter, position};
use db::page::{Position, Slice, Window};

/// Rows that an export reads at a time. It holds no more in memory.
const EXPORT_ROWS: usize = 500;

/// Defines a query struct with the filters of the activity log and further fields.
macro_rules! filters {
    ($name:ident { $($more:tt)* }) => {
        #[derive(Deserialize, Validate, IntoParams)]
        #[serde(rename_all = "camelCase")]
        #[into_params(parameter_in = Query)]
        pub(crate) struct $name {
            /// Only records of this class. For a class that the caller does not manage, the page is empty.
            #[garde(skip)]
            class_id: Option<ClassId>,
            /// Only records of this group.
            #[garde(skip)]
            group_id: Option<GroupId>,
            /// Only records of this course.
            #[garde(skip)]
            course_id: Option<CourseId>,
            /// Only records of this topic.
            #[garde(skip)]
            assignment_id: Option<AssignmentId>,
            /// Only records about this kind of object.
            #[garde(skip)]
            category: Option<Category>,
            /// Only records of this action.
            #[garde(skip)]
            action: Option<Action>,
            /// Only records with this event, such as `COURSE_CREATE` or `HELP_REQUESTED`.
            #[garde(skip)]
            #[param(value_type = Option<String>)]
            event: Option<ActivityEvent>,
            /// Only actions of this user.
            #[garde(skip)]
            user_id: Option<UserId>,
            /// Only records at or after this time.
            #[garde(skip)]
            from: Option<Timestamp>,
            /// Only records before this time.
            #[garde(skip)]
            to: Option<Timestamp>,
            /// Substring of the name of the actor or of the object.
            #[garde(dive)]
            search: Option<Search>,
            $($more)*
        }

        impl $name {
            fn filter(&self) -> ActivityFilter {
                from_fields!(&self => ActivityFilter {
                    class_id, group_id, course_id, assignment_id, category, action, event, user_id, from, to,
                    search: self.search.as_ref().map(|text| text.as_str().to_owned()).filter(|text| !text.is_empty()),
                })
            }
        }
    };
}

filters!(ActivityLogListQuery {
    /// Maximum number of records. A value above 200 counts as 200.
    #[garde(skip)]
    #[param(value_type = Option<i64>, minimum = 1, default = 50)]
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    #[garde(skip)]
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<i64, ActivityLogs>>,
});
filters!(Exported {});

/// List activity log records
///
/// Newest first. Administrators read the records of the organization, teachers those of the classes they manage.
#[utoipa::path(get, path = "/activity-logs", params(ActivityLogListQuery), responses((status = 200, body = Page<ActivityLogView>)))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(query): ValidQuery<ActivityLogListQuery>,
) -> Result<PreserializedJson> {
    let filter = query.filter();
    let window = window(query.limit, query.cursor);
    if cx.caller().is_cross_tenant() {
        let slice = page(&cx, filter, window).await?;
        return PreserializedJson::one(&Page::of(ActivityLogs, slice, ActivityLogView::from));
    }
    cx.read(move |tx| {
        let slice = tx.activity(&filter, &window)?;
        PreserializedJson::one(&Page::of(ActivityLogs, slice, ActivityLogView::from))
    })
    .await
}

async fn page(cx: &Context, filter: ActivityFilter, window: Window<i64>) -> Result<Slice<ActivityRecord, i64>> {
    let load = move |tx: &mut ReadTx<'_>, window: &Window<i64>| tx.activity(&filter, window);
    cx.page(window, Direction::Descending, load, position).await
}

/// Export the activity log as CSV
///
/// Has the same filters as the list and contains all pages.
#[utoipa::path(get, path = "/activity-logs/export.csv", params(Exported),
    responses((status = 200, description = "RFC 4180, UTF-8", content_type = "text/csv", body = String)))]
pub(crate) async fn export(cx: Context, ValidQuery(query): ValidQuery<Exported>) -> Result<Response> {
    let filter = query.filter();
    // The first rows are read before the response starts, so that an error still produces an error status.
    let (first, next) = lines(&cx, &filter, None).await?;
    let begin = stream::iter([Ok(ActivityLogView::csv_header()), Ok(first)]);
    let rest = stream::try_unfold((cx, filter, next), async |(cx, filter, next)| {
        let Some(after) = next else { return Ok::<_, Error>(None) };
        let (text, next) = lines(&cx, &filter, Some(after)).await?;
        Ok(Some((text, (cx, filter, next))))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"activity-log.csv\""),
    ];
    let body = Body::from_stream(stream::StreamExt::chain(begin, rest));
    Ok((headers, body).into_response())
}

/// Renders the records after `after` as CSV, and returns the position of the next ones.
async fn lines(
    cx: &Context,
    filter: &ActivityFilter,
    after: Option<Position<i64>>,
) -> Result<(String, Option<Position<i64>>)> {
    let window = Window {
        after,
        limit: EXPORT_ROWS,
    };
    let slice = page(cx, filter.clone(), window).await?;
    let lines = slice
        .rows
        .into_iter()
        .map(|record| ActivityLogView::from(record).csv_row())
        .collect();
    Ok((lines, slice.next))
}
