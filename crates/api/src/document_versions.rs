//! `/workrooms/documents/{id}/versions`: the stored versions of a document. See
//! docs/api-contract.md#documents-and-files.

use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::id::{DocumentId, RevisionId};
use domain::save::{Revision, RevisionOrigin};

use super::context::Context;
use super::documents::shown;
use super::downloads::{Content, Download, FileBytes, download};
use super::files;
use adapters::blob_store::name;
use api_types::document::{DocumentVersionView, DocumentView};
use common::clock;
use common::error::{Error, Result};
use db::documents::VisibleDocument;
use db::{ReadTx, revisions};
use service::actions::documents::{self, NewContent};

/// List the versions of a document, newest first
///
/// Versions that arrived after a submission or a lock are shown to staff only.
#[utoipa::path(get, path = "/workrooms/documents/{id}/versions", params(("id" = String, Path)),
    responses((status = 200, body = [DocumentVersionView])))]
pub(crate) async fn versions(cx: Context, Path(id): Path<DocumentId>) -> Result<Json<Vec<DocumentVersionView>>> {
    let found = cx
        .read(move |tx| {
            tx.document(&id)?;
            let is_staff = tx.viewer().is_staff();
            let mut found = tx.revisions(&id)?;
            found.retain(|revision| is_staff || revisions::shown_to_students(revision));
            Ok((found, tx.histories(&id)?))
        })
        .await?;
    let (revisions, mut histories) = found;
    let shown = revisions.into_iter().map(|revision| {
        let history = histories.remove(&revision.id);
        DocumentVersionView::new(revision, history)
    });
    Ok(Json(shown.collect()))
}

/// Download a version of a document
#[utoipa::path(get, path = "/workrooms/documents/{id}/versions/{version}/download",
    params(("id" = String, Path), ("version" = i64, Path, description = "The number of the version")),
    responses((status = 200, description = "The file", body = inline(FileBytes), content_type = "*/*"),
        (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"), (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn version_content(
    cx: Context,
    Path((id, version)): Path<(DocumentId, String)>,
    headers: HeaderMap,
) -> Result<Response> {
    let (seen, revision) = cx.read(move |tx| one_version(tx, &id, &version)).await?;
    // The type of the document may have changed since; a version keeps its own type.
    let extension = revision.extension().unwrap_or(seen.document().file_extension);
    let title = format!("{} (version {})", seen.document().title, revision.version);
    let file = Download {
        name: name::from_title(&title, extension.as_str()),
        mime: extension.mime().to_owned(),
        sha256: revision.sha256,
        content: Content::File(revision.file_key, revision.size),
    };
    download(cx.app().files(), &headers, file).await
}

/// Restore a version as the content of a draft
#[utoipa::path(post, path = "/workrooms/documents/{id}/versions/{version}/restore",
    params(("id" = String, Path), ("version" = i64, Path, description = "The number of the version")),
    responses((status = 200, body = DocumentView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 507, description = "QUOTA_EXCEEDED, DISK_FULL"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED")))]
pub(crate) async fn restore(
    cx: Context,
    Path((id, version)): Path<(DocumentId, String)>,
) -> Result<Json<DocumentView>> {
    let document = id.clone();
    // Checked again in the transaction. The check here avoids a needless copy.
    let look = move |tx: &mut ReadTx<'_>| {
        let (seen, former) = one_version(tx, &document, &version)?;
        documents::check_replaceable(&seen)?;
        Ok((seen, former))
    };
    cx.read(look.clone()).await?;
    // What was written in the built-in editor remains a version.
    cx.app().document_workflows().save_changes(&cx.context()?, &id).await?;
    let document = id.clone();
    let prepare = move |tx: &mut ReadTx<'_>| {
        let (seen, former) = look(tx)?;
        let extension = former.extension().unwrap_or(seen.document().file_extension);
        let revision = RevisionId::new(clock::new_id());
        let file_key = Revision::file_key(&document, &revision, extension);
        let content = NewContent {
            id: revision,
            file_key: file_key.clone(),
            size: former.size,
            sha256: former.sha256,
        };
        Ok(((extension, content), vec![(former.file_key, file_key)]))
    };
    let act = move |(extension, content)| {
        let id = id.clone();
        move |tx: &mut db::WriteTx<'_>| documents::replace(tx, &id, extension, &content, RevisionOrigin::Restore)
    };
    let seen = files::copy_files(&cx, prepare, act).await?;
    Ok(Json(shown(&cx, &seen)?))
}

/// Reads a version, as far as the caller may see it. A malformed number is an unknown version (404).
fn one_version(tx: &mut ReadTx<'_>, id: &DocumentId, version: &str) -> Result<(VisibleDocument, Revision)> {
    let seen = tx.document(id)?;
    let revision = tx.revision(id, version.parse().map_err(|_| Error::NotFound)?)?;
    if tx.viewer().is_staff() || revisions::shown_to_students(&revision) {
        Ok((seen, revision))
    } else {
        Err(Error::NotFound)
    }
}
