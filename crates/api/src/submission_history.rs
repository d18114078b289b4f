//! The submission attempts of a group and the immutable copies of the submitted documents. See
//! docs/api-contract.md#submissions-grades-and-feedback.

use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::assignment::AssignmentStatus;
use domain::domain_error::DomainError;
use domain::id::{GroupAssignmentId, SubmissionId};
use domain::submission::SubmissionDocument;
use domain::version::VersionedObject;

use super::context::Context;
use super::downloads::{Content as Stored, Download, download};
use super::pdf::send_pdf;
use super::response::Versioned;
use adapters::blob_store::name;
use api_types::audience::Audience;
use api_types::submission::SubmissionView;
use common::error::{Error, Result};
use db::converted_files::ConvertedFile;
use service::document_workflows::{ConversionInput, ConversionRequest};

/// List the attempts of a group for a topic, newest first
#[utoipa::path(get, path = "/feedback/group-assignments/{id}/submissions", params(("id" = String, Path)),
    responses((status = 200, body = [SubmissionView])))]
pub(crate) async fn history(cx: Context, Path(id): Path<GroupAssignmentId>) -> Result<Json<Vec<SubmissionView>>> {
    let load = cx.read(move |tx| {
        let audience = Audience::of(tx.viewer());
        let attempts = tx.attempts_at(&id)?;
        Ok(attempts
            .iter()
            .map(|attempt| SubmissionView::new(attempt, &audience))
            .collect())
    });
    Ok(Json(load.await?))
}

/// Get an attempt with its grade, as far as the caller may see it
#[utoipa::path(get, path = "/feedback/submissions/{id}", params(("id" = String, Path)),
    responses((status = 200, body = SubmissionView, headers(("ETag" = String, description = "Version of the object")))))]
pub(crate) async fn show(cx: Context, Path(id): Path<SubmissionId>) -> Result<Versioned<SubmissionView>> {
    let object = VersionedObject::from(&id);
    let load = cx.read_object(object, move |tx| {
        let audience = Audience::of(tx.viewer());
        let link = tx.submission(&id)?.submission.group_assignment_id;
        let mut attempts = tx.attempts_at(&link)?.into_iter();
        let attempt = attempts.find(|attempt| attempt.submission.id == id);
        Ok(SubmissionView::new(&attempt.ok_or(Error::NotFound)?, &audience))
    });
    load.await
}

/// Download a submitted document
#[utoipa::path(get, path = "/feedback/submissions/{id}/documents/{documentId}/download",
    params(("id" = String, Path), ("documentId" = String, Path, description = "The id of the copy, or of its document")),
    responses((status = 200, description = "The file"), (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"),
        (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(
    cx: Context,
    Path((id, document)): Path<(SubmissionId, String)>,
    headers: HeaderMap,
) -> Result<Response> {
    let load = cx.read(move |tx| tx.copy_in(&id, &document));
    let (copy, _) = load.await?;
    let file = Download {
        name: name::from_title(&copy.title, copy.file_extension.as_str()),
        mime: copy.file_extension.mime().to_owned(),
        sha256: copy.sha256,
        content: Stored::File(copy.file_key, copy.size),
    };
    download(cx.app().files(), &headers, file).await
}

/// Get a submitted document as PDF
#[utoipa::path(get, path = "/feedback/submissions/{id}/documents/{documentId}/pdf",
    params(("id" = String, Path), ("documentId" = String, Path, description = "The id of the copy, or of its document")),
    responses((status = 200, description = "The PDF", content_type = "application/pdf"),
        (status = 206, description = "The requested range"), (status = 304, description = "Not modified"),
        (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE"),
        (status = 409, description = "ASSIGNMENT_NOT_FINISHED"), (status = 502, description = "DOCSERVER_ERROR"),
        (status = 504, description = "DOCSERVER_TIMEOUT")))]
pub(crate) async fn pdf(
    cx: Context,
    Path((id, document)): Path<(SubmissionId, String)>,
    headers: HeaderMap,
) -> Result<Response> {
    let load = cx.read(move |tx| {
        let (copy, topic) = tx.copy_in(&id, &document)?;
        match topic {
            AssignmentStatus::Active if !tx.viewer().is_staff() => Err(DomainError::AssignmentNotFinished.into()),
            AssignmentStatus::Active | AssignmentStatus::Finished => Ok(copy),
        }
    });
    send_pdf(&cx, &headers, source(load.await?)?).await
}

fn source(copy: SubmissionDocument) -> Result<ConversionRequest> {
    let file = ConvertedFile {
        key: copy.file_key,
        size: copy.size,
        sha256: copy.sha256,
    };
    Ok(ConversionRequest {
        // The document server fetches a copy through its original document.
        document: copy.document_id.ok_or(Error::NotFound)?,
        title: copy.title,
        extension: copy.file_extension,
        content: ConversionInput::Copy(copy.id, file),
    })
}
