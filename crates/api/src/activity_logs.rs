//! `/activity-logs` (specification, Activity log; contract 6.13).

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use garde::Validate;
use model::access::Access;
use model::activity::{Action, Category, Event, Record};
use model::id::{AssignmentId, ClassId, CourseId, GroupId, UserId};
use model::text::Search;
use model::time::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::context::Context;
use super::endpoint::Endpoints;
use super::everywhere::Direction;
use super::page::{ActivityLogs, Cursor, Limit, Page, window};
use super::reply::Written;
use super::terms::Terms;
use super::valid::ValidQuery;
use api_types::activity_log::ActivityLogView;
use common::error::{Error, Result};
use db::Scope;
use db::activity::{ActivityFilter, position};
use db::page::{Position, Slice, Window};

/// How many rows an export reads at a time; it holds no more in memory.
const EXPORT_ROWS: usize = 500;

/// The routes of the activity log. Students have no business here.
pub fn routes() -> Endpoints {
    Endpoints::new("activity-logs")
        .add(Access::Staff, routes!(list))
        .add_on(Terms::Export, Access::Admin, routes!(export))
}

/// A query with the filters of the log and what else it may name.
macro_rules! filters {
    ($name:ident { $($more:tt)* }) => {
        #[derive(Deserialize, Validate, IntoParams)]
        #[serde(rename_all = "camelCase")]
        #[into_params(parameter_in = Query)]
        struct $name {
            /// Of this class; a colleague's class answers an empty page
            #[garde(skip)]
            class_id: Option<ClassId>,
            /// Of this group
            #[garde(skip)]
            group_id: Option<GroupId>,
            /// Of this course
            #[garde(skip)]
            course_id: Option<CourseId>,
            /// Of this topic
            #[garde(skip)]
            assignment_id: Option<AssignmentId>,
            /// About this sort of thing
            #[garde(skip)]
            category: Option<Category>,
            /// Of this deed
            #[garde(skip)]
            action: Option<Action>,
            /// With this event, such as COURSE_CREATE or HELP_REQUESTED
            #[garde(skip)]
            #[param(value_type = Option<String>)]
            event: Option<Event>,
            /// By this person
            #[garde(skip)]
            user_id: Option<UserId>,
            /// At this moment or later
            #[garde(skip)]
            from: Option<Timestamp>,
            /// Before this moment
            #[garde(skip)]
            to: Option<Timestamp>,
            /// Part of the name of the person or of the thing
            #[garde(dive)]
            search: Option<Search>,
            $($more)*
        }

        impl $name {
            fn filter(&self) -> ActivityFilter {
                ActivityFilter {
                    class_id: self.class_id.clone(),
                    group_id: self.group_id.clone(),
                    course_id: self.course_id.clone(),
                    assignment_id: self.assignment_id.clone(),
                    category: self.category,
                    action: self.action,
                    event: self.event,
                    user_id: self.user_id.clone(),
                    from: self.from,
                    to: self.to,
                    search: self.search.as_ref().map(|text| text.as_str().to_owned()).filter(|text| !text.is_empty()),
                }
            }
        }
    };
}

filters!(Listed {
    /// How many records; more than 200 are 200
    #[garde(skip)]
    #[param(value_type = Option<i64>, minimum = 1, default = 50)]
    limit: Option<Limit>,
    /// The `nextCursor` of the page before
    #[garde(skip)]
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<i64, ActivityLogs>>,
});
filters!(Exported {});

/// What happened, newest first: an admin reads the organization, a teacher the own classes
#[utoipa::path(get, path = "/activity-logs", params(Listed), responses((status = 200, body = Page<ActivityLogView>)))]
async fn list(cx: Context, ValidQuery(query): ValidQuery<Listed>) -> Result<Written> {
    let filter = query.filter();
    let window = window(query.limit, query.cursor);
    if cx.caller().is_everywhere() {
        let slice = page(&cx, filter, window).await?;
        return Written::one(&Page::of(ActivityLogs, slice, ActivityLogView::from));
    }
    cx.read(move |scope| {
        let slice = scope.activity(&filter, &window)?;
        Written::one(&Page::of(ActivityLogs, slice, ActivityLogView::from))
    })
    .await
}

async fn page(cx: &Context, filter: ActivityFilter, window: Window<i64>) -> Result<Slice<Record, i64>> {
    let look = move |scope: &mut Scope<'_>, window: &Window<i64>| scope.activity(&filter, window);
    cx.page(window, Direction::Falling, look, position).await
}

/// The same as comma-separated values, all pages at once
#[utoipa::path(get, path = "/activity-logs/export.csv", params(Exported),
    responses((status = 200, description = "RFC 4180, UTF-8", content_type = "text/csv", body = String)))]
async fn export(cx: Context, ValidQuery(query): ValidQuery<Exported>) -> Result<Response> {
    let filter = query.filter();
    // The first part is read before the answer begins, so that what can fail fails with a status.
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

/// The records after `after` as lines, and where the next ones begin.
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
        .map(|record| ActivityLogView::from(record).csv_line())
        .collect();
    Ok((lines, slice.next))
}
