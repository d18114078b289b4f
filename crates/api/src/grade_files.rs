//! `/feedback/submissions/{id}/files`: files of a grade. Staff manage them; the group reads them once the grade is published.
//! See docs/rubrics.md#files.

use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::file::FileKey;
use domain::id::{AttachmentId, SubmissionId};

use super::context::Context;
use super::downloads::{Download, FileBytes, download};
use super::dry_run::DryRunQuery;
use super::files::{self, FileForm, Upload};
use super::response::{Ack, Created};
use super::valid::ValidQuery;
use api_types::submission::GradeFileView;
use common::clock;
use common::error::Result;
use service::actions::grade_files;

/// Add a file to the grade of a submission
///
/// At most five. The group sees it once the grade is published.
#[utoipa::path(post, path = "/feedback/submissions/{id}/files", params(("id" = String, Path)),
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 201, body = GradeFileView),
        (status = 409, description = "LIMIT_REACHED, NOT_SUBMITTED, CLASS_ARCHIVED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE"),
        (status = 502, description = "DOCSERVER_ERROR"), (status = 504, description = "DOCSERVER_TIMEOUT")))]
pub(crate) async fn upload(
    cx: Context,
    Path(id): Path<SubmissionId>,
    Upload { file, .. }: Upload,
) -> Result<Created<GradeFileView>> {
    let attachment = AttachmentId::new(clock::new_id());
    let key = FileKey::new(format!("{attachment}.{}", file.kind));
    let stored = file.stored(key.clone());
    let act = cx.repeatable(move |tx| {
        let added = grade_files::add(tx, &id, attachment.clone(), stored.clone())?;
        let view = GradeFileView::from(&added);
        Ok(Created(view.url().to_owned(), view))
    });
    files::store_file(&cx, file.staged, key, act).await
}

/// Download a file of a grade
#[utoipa::path(get, path = "/feedback/submissions/{id}/files/{fileId}/download",
    params(("id" = String, Path), ("fileId" = String, Path)),
    responses((status = 200, description = "The file", body = inline(FileBytes), content_type = "*/*"),
        (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"), (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(
    cx: Context,
    Path((id, file)): Path<(SubmissionId, AttachmentId)>,
    headers: HeaderMap,
) -> Result<Response> {
    let found = cx.read(move |tx| tx.file_of_grade(&id, &file)).await?;
    download(cx.app().files(), &headers, Download::from(found.file)).await
}

/// Remove a file of a grade
#[utoipa::path(delete, path = "/feedback/submissions/{id}/files/{fileId}",
    params(("id" = String, Path), ("fileId" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 409, description = "CLASS_ARCHIVED")))]
pub(crate) async fn remove(
    cx: Context,
    Path((id, file)): Path<(SubmissionId, AttachmentId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| grade_files::remove(tx, &id, &file))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
