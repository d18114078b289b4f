//! `/workrooms/documents/{id}/pdf`: for staff at any time, for students once the topic is finished. See
//! docs/api-contract.md#documents-and-files.

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::domain_error::DomainError;
use domain::id::DocumentId;

use super::context::Context;
use super::downloads::{Content as Stored, Download, download};
use adapters::blob_store::name;
use common::error::{Error, Result};
use db::ReadTx;
use db::converted_files::ConvertedFile;
use db::documents::{CurrentFile, VisibleDocument};
use service::document_workflows::{ConversionInput, ConversionRequest};

/// Get a document as PDF
#[utoipa::path(get, path = "/workrooms/documents/{id}/pdf", params(("id" = String, Path)),
    responses((status = 200, description = "The PDF", content_type = "application/pdf"),
        (status = 206, description = "The requested range"), (status = 304, description = "Not modified"),
        (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE"),
        (status = 409, description = "ASSIGNMENT_NOT_FINISHED"), (status = 502, description = "DOCSERVER_ERROR"),
        (status = 504, description = "DOCSERVER_TIMEOUT")))]
pub(crate) async fn pdf(cx: Context, Path(id): Path<DocumentId>, headers: HeaderMap) -> Result<Response> {
    let load = |tx: &mut ReadTx<'_>, id: &DocumentId| {
        let seen = tx.document(id)?;
        if !tx.viewer().is_staff() && !seen.document().status.is_locked() {
            return Err(Error::from(DomainError::AssignmentNotFinished));
        }
        let current = tx.current_file(seen.document())?;
        Ok((seen, current, !tx.unsaved_generations(id)?.is_empty()))
    };
    let requested = id.clone();
    let mut found = cx.read(move |tx| load(tx, &requested)).await?;
    // The document is open and was never saved, or has changes in the built-in editor. Without a save the PDF would be
    // blank or old.
    let needs_save = matches!(found.1, CurrentFile::Blank(_)) || found.2;
    if needs_save && cx.app().document_workflows().save_open(&cx.context()?, &id).await? {
        found = cx.read(move |tx| load(tx, &id)).await?;
    }
    let (seen, current, _) = found;
    send_pdf(&cx, &headers, source(seen, current)).await
}

/// Converts a file to PDF and sends it.
pub(super) async fn send_pdf(cx: &Context, headers: &HeaderMap, request: ConversionRequest) -> Result<Response> {
    let workflows = cx.app().document_workflows();
    let name = name::from_title(&request.title, "pdf");
    let made = workflows.pdf(cx.context()?, request).await?;
    let file = Download {
        name,
        mime: "application/pdf".to_owned(),
        sha256: made.file.sha256.clone(),
        content: Stored::File(made.file.key.clone(), made.file.size),
    };
    let response = download(cx.app().files(), headers, file).await;
    workflows.release_pdf(&made).await;
    response
}

fn source(seen: VisibleDocument, current: CurrentFile) -> ConversionRequest {
    let document = seen.details.document;
    let content = match current {
        CurrentFile::Revision(revision) => {
            let file = ConvertedFile {
                key: revision.file_key,
                size: revision.size,
                sha256: revision.sha256,
            };
            ConversionInput::Revision(revision.id, file)
        }
        CurrentFile::Blank(_) => ConversionInput::Blank,
    };
    ConversionRequest {
        title: document.title.as_str().to_owned(),
        extension: document.file_extension,
        document: document.id,
        content,
    }
}
