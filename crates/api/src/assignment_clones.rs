//! `POST /assignments/{id}/clone`: copies a topic. See docs/api-contract.md#topics.

use axum::extract::Path;
use domain::id::AssignmentId;

use super::context::Context;
use super::files;
use super::response::CreatedObject;
use super::valid::Valid;
use api_types::assignment::AssignmentView;
use api_types::audience::Audience;
use common::error::Result;
use db::ReadTx;
use service::actions::assignment_clones::{self, NewCopy};
use service::actions::class_clones::FileCopy;

/// Clone a topic
///
/// Copies the task, and optionally the shared files, within the class or to another class. Groups are not copied.
#[utoipa::path(post, path = "/assignments/{id}/clone", params(("id" = String, Path)), request_body = NewCopy,
    responses((status = 201, body = AssignmentView),
        (status = 409, description = "CLASS_MISMATCH, COURSE_ARCHIVED, CLASS_ARCHIVED"),
        (status = 507, description = "QUOTA_EXCEEDED, DISK_FULL"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn clone(
    cx: Context,
    Path(id): Path<AssignmentId>,
    Valid(new): Valid<NewCopy>,
) -> Result<CreatedObject<AssignmentView>> {
    let requested = new.clone();
    let prepare = move |tx: &mut ReadTx<'_>| {
        let original = assignment_clones::original(tx, &id, &requested)?;
        let keys = FileCopy::keys(&original.files);
        Ok((original, keys))
    };
    let act = |original| {
        let new = new.clone();
        cx.repeatable(move |tx| {
            let seen = assignment_clones::clone(tx, &new, &original)?;
            let topic = AssignmentView::new(&seen.details, &Audience::Staff);
            Ok(CreatedObject(format!("/api/assignments/{}", topic.id()), topic))
        })
    };
    files::copy_files(&cx, prepare, act).await
}
