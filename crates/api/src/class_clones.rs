//! `POST /classes/{id}/clone`. See docs/api-contract.md#copies-of-classes.

use axum::extract::Path;
use domain::id::ClassId;

use super::context::Context;
use super::files;
use super::response::CreatedObject;
use super::valid::Valid;
use api_types::class::ClassView;
use common::error::Result;
use service::actions::class_clones::{self, NewClone};

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
    let copies = cx
        .read(move |tx| class_clones::files_to_copy(tx, &class, &requested))
        .await?;
    let files = copies.iter().map(|copy| (copy.from.clone(), copy.to.clone())).collect();
    let act = cx.repeatable(move |tx| {
        let details = class_clones::clone(tx, &id, &new, &copies)?;
        let class = ClassView::of(details, tx.viewer());
        Ok(CreatedObject(format!("/api/classes/{}", class.id()), class))
    });
    files::copy_files(&cx, files, act).await
}
