//! `POST /classes/{id}/clone`. See docs/api-contract.md#copies-of-classes.

use axum::extract::Path;
use domain::id::ClassId;

use super::context::Context;
use super::files;
use super::response::CreatedObject;
use super::valid::Valid;
use api_types::class::ClassView;
use common::error::Result;
use db::ReadTx;
use service::actions::class_clones::{self, FileCopy, NewClone};

/// Clone a class for another school year
///
/// The copy is a draft without groups and submissions.
#[utoipa::path(post, path = "/classes/{id}/clone", params(("id" = String, Path)), request_body = NewClone,
    responses((status = 201, body = ClassView), (status = 409, description = "LIMIT_REACHED"),
        (status = 507, description = "QUOTA_EXCEEDED, DISK_FULL"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn clone(
    cx: Context,
    Path(id): Path<ClassId>,
    Valid(new): Valid<NewClone>,
) -> Result<CreatedObject<ClassView>> {
    let (class, requested) = (id.clone(), new.clone());
    let prepare = move |tx: &mut ReadTx<'_>| {
        let copies = class_clones::files_to_copy(tx, &class, &requested)?;
        let keys = FileCopy::keys(&copies);
        Ok((copies, keys))
    };
    let act = |copies: Vec<FileCopy>| {
        let (id, new) = (id.clone(), new.clone());
        cx.repeatable(move |tx| {
            let details = class_clones::clone(tx, &id, &new, &copies)?;
            let class = ClassView::of(details, tx.viewer());
            Ok(CreatedObject(format!("/api/classes/{}", class.id()), class))
        })
    };
    files::copy_files(&cx, prepare, act).await
}
