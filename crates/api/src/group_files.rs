//! `/groups/{id}/attachments`: the files of a group. Its students read them, staff of the class manage them. See
//! docs/api-contract.md#groups.

use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::file::FileKey;
use domain::id::{AttachmentId, GroupId};

use super::context::Context;
use super::downloads::{Download, FileBytes, download};
use super::dry_run::DryRunQuery;
use super::files::{self, FileForm, Upload};
use super::response::{Ack, Created};
use super::valid::ValidQuery;
use api_types::attachment::GroupAttachmentView;
use common::clock;
use common::error::{Error, Result};
use service::actions::group_files;

/// List the files of a group, oldest first
#[utoipa::path(get, path = "/groups/{id}/attachments", params(("id" = String, Path)),
    responses((status = 200, body = [GroupAttachmentView])))]
pub(crate) async fn list(cx: Context, Path(id): Path<GroupId>) -> Result<Json<Vec<GroupAttachmentView>>> {
    let group = cx.read(move |tx| tx.group(&id)).await?;
    // Teachers of other classes see the outline of the group, which does not include files.
    if !group.has_full_access {
        return Err(Error::NotFound);
    }
    let files = group.details.attachments.iter().map(GroupAttachmentView::from);
    Ok(Json(files.collect()))
}

/// Add a file to a group
#[utoipa::path(post, path = "/groups/{id}/attachments", params(("id" = String, Path)),
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 201, body = GroupAttachmentView), (status = 409, description = "LIMIT_REACHED, CLASS_ARCHIVED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE"),
        (status = 502, description = "DOCSERVER_ERROR"), (status = 504, description = "DOCSERVER_TIMEOUT"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn upload(
    cx: Context,
    Path(id): Path<GroupId>,
    Upload { file, .. }: Upload,
) -> Result<Created<GroupAttachmentView>> {
    let attachment = AttachmentId::new(clock::new_id());
    let key = FileKey::new(format!("{attachment}.{}", file.kind));
    let stored = file.stored(key.clone());
    let act = cx.repeatable(move |tx| {
        let added = group_files::add(tx, &id, attachment.clone(), stored.clone())?;
        let view = GroupAttachmentView::from(&added);
        Ok(Created(view.url().to_owned(), view))
    });
    files::store_file(&cx, file.staged, key, act).await
}

/// Download a file of a group
#[utoipa::path(get, path = "/groups/{id}/attachments/{attachmentId}/download",
    params(("id" = String, Path), ("attachmentId" = String, Path)),
    responses((status = 200, description = "The file", body = inline(FileBytes), content_type = "*/*"),
        (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"), (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(
    cx: Context,
    Path((id, attachment)): Path<(GroupId, AttachmentId)>,
    headers: HeaderMap,
) -> Result<Response> {
    let found = cx.read(move |tx| tx.file_of_group(&id, &attachment)).await?;
    download(cx.app().files(), &headers, Download::from(found.file)).await
}

/// Delete a file of a group
#[utoipa::path(delete, path = "/groups/{id}/attachments/{attachmentId}",
    params(("id" = String, Path), ("attachmentId" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remove(
    cx: Context,
    Path((id, attachment)): Path<(GroupId, AttachmentId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| group_files::remove(tx, &id, &attachment))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
