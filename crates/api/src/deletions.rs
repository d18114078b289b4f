//! `/deletions`: deleted objects that can be restored. See docs/undo.md.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use domain::id::DeletionId;

use super::context::Context;
use super::cross_tenant_list::Direction;
use super::dry_run::DryRunQuery;
use super::pagination::{Cursor, Deletions, Limit, Page, window};
use super::response::Ack;
use super::valid::ValidQuery;
use api_types::deletion::{DeletionView, RestoredView};
use common::error::Result;
use db::WriteTx;
use db::archives::position;
use service::actions::deletions;

#[query]
pub(crate) struct DeletionListQuery {
    /// Maximum number of rows. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, Deletions>>,
}

/// List deleted objects that can be restored, newest first
///
/// Administrators see those of the organization, teachers what they deleted in the classes that they manage, and the
/// documents that others deleted there.
#[utoipa::path(get, path = "/deletions", params(DeletionListQuery),
    responses((status = 200, body = Page<DeletionView>)))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(query): ValidQuery<DeletionListQuery>,
) -> Result<Json<Page<DeletionView>>> {
    let window = window(query.limit, query.cursor);
    let slice = cx
        .page(
            window,
            Direction::Descending,
            |tx, window| tx.deleted_objects(window),
            position,
        )
        .await?;
    Ok(Json(Page::of(Deletions, slice, DeletionView::from)))
}

/// Restore a deleted object with everything that was deleted with it
///
/// Objects keep their ids. Group numbers that are taken are replaced, a course whose name is taken gets a number, and
/// people who left in the meantime stay out.
#[utoipa::path(post, path = "/deletions/{id}/restore", params(("id" = String, Path)),
    responses((status = 200, body = RestoredView),
        (status = 409, description = "ALREADY_RESTORED, ARCHIVE_DAMAGED, PARENT_MISSING, COURSE_MISMATCH, CLASS_ARCHIVED, LIMIT_REACHED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn restore(cx: Context, Path(id): Path<DeletionId>) -> Result<Json<RestoredView>> {
    let (deletion, outcome) = cx.write(move |tx| deletions::restore(tx, &id)).await?;
    Ok(Json(RestoredView::new(deletion, outcome)))
}

/// Delete a deleted object for good, with its files
#[utoipa::path(delete, path = "/deletions/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 409, description = "ALREADY_RESTORED")))]
pub(crate) async fn discard(
    cx: Context,
    Path(id): Path<DeletionId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    let act = move |tx: &mut WriteTx<'_>| deletions::discard(tx, &id).map(drop);
    cx.write_or_preview(query.dry_run, act).await?;
    Ok(Json(Ack::SUCCESS))
}
