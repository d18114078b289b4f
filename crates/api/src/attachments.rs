//! `/assignments/{id}/attachments`: the files of a topic. See docs/api-contract.md#topics.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::file::FileKey;
use domain::id::{AssignmentId, AttachmentId, GroupAssignmentId};
use utoipa::ToSchema;

use super::context::Context;
use super::downloads::{Download, FileBytes, download};
use super::dry_run::DryRunQuery;
use super::files::{self, Upload};
use super::response::{Ack, Created};
use super::valid::{Switch, ValidQuery};
use api_types::attachment::AssignmentAttachmentView;
use api_types::audience::Audience;
use common::clock;
use common::error::{Error, Result};
use service::actions::attachments::{self, AttachmentFields, NewAttachment};

#[query]
pub(crate) struct AttachmentUploadQuery {
    /// If `1`, students do not see the file until a bulk edit names it. Staged files are deleted after 24 hours.
    staged: Switch,
}

/// The form that adds a file to a topic.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only describes the body in the OpenAPI document")]
struct AttachmentForm {
    /// The file to add.
    #[schema(value_type = String, format = Binary)]
    file: (),
    /// The group that receives the file. When absent, the file is for all groups.
    #[schema(nullable = false)]
    group_assignment_id: Option<GroupAssignmentId>,
}

/// List the files of a topic that the caller may see, oldest first
#[utoipa::path(get, path = "/assignments/{id}/attachments", params(("id" = String, Path)),
    responses((status = 200, body = [AssignmentAttachmentView])))]
pub(crate) async fn list(cx: Context, Path(id): Path<AssignmentId>) -> Result<Json<Vec<AssignmentAttachmentView>>> {
    let load = cx.read(move |tx| {
        let audience = Audience::of(tx.viewer());
        let seen = tx.assignment(&id)?;
        // Teachers of other classes see the outline of the topic, which does not include files.
        if audience.is_staff() && !seen.is_managed {
            return Err(Error::NotFound);
        }
        let view = |file| AssignmentAttachmentView::new(file, &seen.details.assignment, &audience);
        Ok(seen.details.attachments.iter().map(view).collect())
    });
    Ok(Json(load.await?))
}

/// Add a file to a topic, for all its groups or for one
#[utoipa::path(post, path = "/assignments/{id}/attachments", params(("id" = String, Path), AttachmentUploadQuery),
    request_body(content = AttachmentForm, content_type = "multipart/form-data"),
    responses((status = 201, body = AssignmentAttachmentView),
        (status = 409, description = "ASSIGNMENT_FINISHED, LIMIT_REACHED, CLASS_ARCHIVED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE"),
        (status = 502, description = "DOCSERVER_ERROR"), (status = 504, description = "DOCSERVER_TIMEOUT"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn upload(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<AttachmentUploadQuery>,
    Upload { file, fields }: Upload<AttachmentFields>,
) -> Result<Created<AssignmentAttachmentView>> {
    let group_assignment_id = fields.group_assignment_id.filter(|id| !id.as_str().is_empty());
    let is_staged = query.staged.0;
    if is_staged && group_assignment_id.is_some() {
        return Err(Error::invalid(
            "groupAssignmentId",
            "staged",
            "cannot be given for a staged file",
        ));
    }
    let attachment = AttachmentId::new(clock::new_id());
    let key = FileKey::new(format!("{attachment}.{}", file.kind));
    let new = NewAttachment {
        id: attachment,
        file: file.stored(key.clone()),
        group_assignment_id,
        is_staged,
    };
    let act = cx.repeatable(move |tx| {
        let (details, attachment) = attachments::add(tx, &id, &new)?;
        let view = AssignmentAttachmentView::new(&attachment, &details.assignment, &Audience::Staff);
        Ok(Created(view.url().to_owned(), view))
    });
    files::store_file(&cx, file.staged, key, act).await
}

/// Download a file of a topic
#[utoipa::path(get, path = "/assignments/{id}/attachments/{attachmentId}/download",
    params(("id" = String, Path), ("attachmentId" = String, Path)),
    responses((status = 200, description = "The file", body = inline(FileBytes), content_type = "*/*"),
        (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"), (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(
    cx: Context,
    Path((id, attachment)): Path<(AssignmentId, AttachmentId)>,
    headers: HeaderMap,
) -> Result<Response> {
    let found = cx.read(move |tx| tx.file_of_assignment(&id, &attachment)).await?;
    download(cx.app().files(), &headers, Download::from(found.file)).await
}

/// Delete a file of a topic
#[utoipa::path(delete, path = "/assignments/{id}/attachments/{attachmentId}",
    params(("id" = String, Path), ("attachmentId" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 409, description = "ASSIGNMENT_FINISHED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remove(
    cx: Context,
    Path((id, attachment)): Path<(AssignmentId, AttachmentId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| attachments::remove(tx, &id, &attachment))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
