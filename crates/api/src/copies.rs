//! `POST /courses/{id}/copies` and `POST /classes/{id}/copies`: copy topics into a course, or a course into a class. See
//! docs/api-contract.md#copies-of-topics-and-courses.

use axum::extract::Path;
use domain::id::{ClassId, CourseId};

use super::context::Context;
use super::dry_run::{DryRun, DryRunQuery};
use super::files;
use super::response::Created;
use super::valid::{Valid, ValidQuery};
use api_types::copy::CopiesView;
use common::error::Result;
use db::WriteTx;
use service::actions::class_clones::FileCopy;
use service::actions::copies::{self, Copied, NewCourseCopy, NewTopicCopies};

/// Copy topics into a course
///
/// Copies topics of any managed class with their texts, optionally with their files and groups, all or none. A dry run
/// copies no files.
#[utoipa::path(post, path = "/courses/{id}/copies", params(("id" = String, Path), DryRunQuery),
    request_body = NewTopicCopies,
    responses((status = 201, body = CopiesView),
        (status = 409, description = "CLASS_ARCHIVED, COURSE_ARCHIVED, LIMIT_REACHED"),
        (status = 507, description = "QUOTA_EXCEEDED, DISK_FULL"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn into_course(
    cx: Context,
    Path(id): Path<CourseId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(new): Valid<NewTopicCopies>,
) -> Result<Created<CopiesView>> {
    let (course, requested) = (id.clone(), new.clone());
    let files = cx
        .read(move |tx| copies::files_of_topics(tx, &course, &requested))
        .await?;
    let copied = files.clone();
    let act = move |tx: &mut WriteTx<'_>| copies::copy_topics(tx, &id, &new, &copied).map(created);
    copy(&cx, query.dry_run, files, act).await
}

/// Copy a course into a class
///
/// Creates a course with the topics of another one, optionally with their files and groups, all or none. A dry run
/// copies no files.
#[utoipa::path(post, path = "/classes/{id}/copies", params(("id" = String, Path), DryRunQuery),
    request_body = NewCourseCopy,
    responses((status = 201, body = CopiesView),
        (status = 409, description = "CLASS_ARCHIVED, DUPLICATE_COURSE, LIMIT_REACHED"),
        (status = 507, description = "QUOTA_EXCEEDED, DISK_FULL"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn into_class(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(new): Valid<NewCourseCopy>,
) -> Result<Created<CopiesView>> {
    let (class, requested) = (id.clone(), new.clone());
    let files = cx
        .read(move |tx| copies::files_of_course(tx, &class, &requested))
        .await?;
    let copied = files.clone();
    let act = move |tx: &mut WriteTx<'_>| copies::copy_course(tx, &id, &new, &copied).map(created);
    copy(&cx, query.dry_run, files, act).await
}

async fn copy(
    cx: &Context,
    dry_run: DryRun,
    files: Vec<FileCopy>,
    act: impl FnMut(&mut WriteTx<'_>) -> Result<Created<CopiesView>> + Send + 'static,
) -> Result<Created<CopiesView>> {
    if dry_run.is_on() {
        return cx.write_or_preview(dry_run, act).await;
    }
    let keys = files.into_iter().map(|copy| (copy.from, copy.to)).collect();
    files::copy_files(cx, keys, cx.repeatable(act)).await
}

fn created(copied: Copied) -> Created<CopiesView> {
    let Copied {
        course,
        topics,
        groups,
        files,
        missing_members,
    } = copied;
    let view = CopiesView::new(course.into(), topics, groups, files, missing_members);
    Created(format!("/api/courses/{}", view.course_id()), view)
}
