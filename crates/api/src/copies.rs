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
use db::{ReadTx, WriteTx};
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
    let prepare = move |tx: &mut ReadTx<'_>| copies::files_of_topics(tx, &course, &requested);
    let act = move |files: Vec<FileCopy>| {
        let (id, new) = (id.clone(), new.clone());
        move |tx: &mut WriteTx<'_>| copies::copy_topics(tx, &id, &new, &files).map(created)
    };
    copy(&cx, query.dry_run, prepare, act).await
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
    let prepare = move |tx: &mut ReadTx<'_>| copies::files_of_course(tx, &class, &requested);
    let act = move |files: Vec<FileCopy>| {
        let (id, new) = (id.clone(), new.clone());
        move |tx: &mut WriteTx<'_>| copies::copy_course(tx, &id, &new, &files).map(created)
    };
    copy(&cx, query.dry_run, prepare, act).await
}

async fn copy<A>(
    cx: &Context,
    dry_run: DryRun,
    prepare: impl Fn(&mut ReadTx<'_>) -> Result<Vec<FileCopy>> + Clone + Send + 'static,
    act: impl Fn(Vec<FileCopy>) -> A + Send + Sync,
) -> Result<Created<CopiesView>>
where
    A: FnMut(&mut WriteTx<'_>) -> Result<Created<CopiesView>> + Send + 'static,
{
    if dry_run.is_on() {
        let files = cx.read(prepare).await?;
        return cx.write_or_preview(dry_run, act(files)).await;
    }
    let prepare = move |tx: &mut ReadTx<'_>| {
        let files = prepare(tx)?;
        let keys = FileCopy::keys(&files);
        Ok((files, keys))
    };
    files::copy_files(cx, prepare, |files| cx.repeatable(act(files))).await
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
