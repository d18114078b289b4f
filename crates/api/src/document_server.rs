//! The routes of the document server, and the editor configuration for clients. The document server routes ignore
//! cookies and trust only its tokens. A callback is acknowledged in the protocol of the document server: `{"error":0}`
//! is success, everything else is a failure. See docs/api-contract.md#document-server.

use api_macros::{query, view};
use axum::Json;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::document::{Document, EditorMode};
use domain::document_kind::FileExtension;
use domain::file::FileKey;
use domain::id::{ConversionSourceId, DocumentId, RevisionId, SubmissionDocumentId};
use domain::text::FileName;

use super::anonymous_body::AnonymousBody;
use super::body_timeout::read_body;
use super::context::{App, Context};
use super::downloads::{Content, Download, FileBytes, download};
use super::valid::{self, ValidQuery};
use adapters::blob_store::{name, templates};
use adapters::onlyoffice::FileVersion;
use adapters::onlyoffice::editor::{Editor, EditorUser};
use common::error::{Error, Result};
use common::metrics::metrics;
use db::documents::CurrentFile;
use service::document_workflows::CallbackReply;

/// Size limit of a callback body in bytes. Long sessions have long histories.
const CALLBACK_LIMIT: u64 = 2 << 20;

#[query]
#[serde(deny_unknown_fields)]
pub(crate) struct Opening {
    /// `view` opens a draft in view mode.
    mode: Option<EditorMode>,
}

/// Get the configuration that opens a document in the editor
#[utoipa::path(get, path = "/workrooms/documents/{id}/editor-config", params(("id" = String, Path), Opening),
    responses((status = 200, body = Editor)))]
pub(crate) async fn editor(
    cx: Context,
    Path(id): Path<DocumentId>,
    ValidQuery(options): ValidQuery<Opening>,
) -> Result<Json<Editor>> {
    let user = &cx.caller().user;
    let (reader_id, name) = (user.id.clone(), user.name.clone());
    let found = cx.read(move |tx| {
        let seen = tx.document(&id)?;
        let reader = EditorUser {
            locale: tx.locale_of(&reader_id)?,
            id: reader_id,
            name,
        };
        Ok((seen, reader))
    });
    let (seen, reader) = found.await?;
    // A client may request less than the rules allow, never more. During maintenance no document is opened for editing.
    let mode = match options.mode {
        Some(EditorMode::View) => EditorMode::View,
        Some(EditorMode::Edit) | None if cx.app().maintenance().is_on() => EditorMode::View,
        Some(EditorMode::Edit) | None => seen.mode(),
    };
    cx.app()
        .document_server()
        .editor(seen.document(), mode, reader)
        .map(Json)
}

/// Get the file of a document, for the document server
#[utoipa::path(get, path = "/workrooms/documents/{id}/file", params(("id" = String, Path)),
    responses((status = 200, description = "The file, or the blank template of its type", body = inline(FileBytes),
            content_type = "*/*"),
        (status = 206, description = "The requested range"), (status = 304, description = "Not modified"),
        (status = 404, description = "NOT_FOUND"), (status = 416, description = "RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn file(
    State(app): State<App>,
    Path(id): Path<DocumentId>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response> {
    let bytes = requested_bytes(query.as_deref());
    let token = token(&app, &headers);
    let bytes = match (app.document_server(), bytes) {
        // The token is checked first, so that a request without one does not learn which queries are known.
        (server, None) => {
            return Err(server
                .check_file_token(token, &id, &FileVersion::Current)
                .err()
                .unwrap_or(Error::NotFound));
        }
        (server, Some(bytes)) => {
            server.check_file_token(token, &id, &bytes)?;
            bytes
        }
    };
    check_rate_limit(&app, "file", &id)?;
    let requested = id.clone();
    let found = app.document_workflows().read_in_document_tenant(&requested, move |tx| {
        let seen = tx.document(&id)?;
        let document = seen.document();
        Ok(match bytes {
            FileVersion::Current => current(document, tx.current_file(document)?)?,
            FileVersion::Revision(revision) => {
                let revision = tx.revision_by_id(&id, &revision)?;
                stored_download(
                    document,
                    revision.extension().unwrap_or(document.file_extension),
                    revision.file_key,
                    revision.size,
                    revision.sha256,
                )
            }
            FileVersion::Blank(extension) => current(document, CurrentFile::Blank(extension))?,
            FileVersion::Copy(copy) => {
                let copy = tx.submitted_copy(&copy, &id)?;
                stored_download(document, copy.file_extension, copy.file_key, copy.size, copy.sha256)
            }
        })
    });
    let (_, found) = found.await?;
    download(app.files(), &headers, found)
        .await
        .map_err(retry_if_unreadable)
}

/// The bytes of an uploaded file while the document server converts it
#[utoipa::path(get, path = "/workrooms/uploads/{id}/file", params(("id" = String, Path)),
    responses((status = 200, description = "The file", body = inline(FileBytes), content_type = "*/*"),
        (status = 206, description = "A part of it"), (status = 304, description = "It did not change"),
        (status = 404, description = "NOT_FOUND"), (status = 416, description = "RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn source(
    State(app): State<App>,
    Path(id): Path<ConversionSourceId>,
    headers: HeaderMap,
) -> Result<Response> {
    app.document_server().may_fetch_source(token(&app, &headers), &id)?;
    let source = app.document_workflows().conversion_source(id).await?;
    let file = Download {
        name: name::sanitize(&format!("upload.{}", source.format)),
        mime: source.format.mime().to_owned(),
        content: Content::File(source.file_key(), source.size),
        sha256: source.sha256,
    };
    download(app.files(), &headers, file).await.map_err(retry_if_unreadable)
}

/// Applies the rate limit per document and route, which is far above what a class can cause. The document server
/// retries after a 429. Only requests with a valid token are counted, so that others cannot exhaust the limit of a
/// document.
fn check_rate_limit(app: &App, route: &'static str, document: &DocumentId) -> Result<()> {
    match app
        .rate_limiter()
        .check_document(route, document)
        .filter(|meter| meter.is_refused)
    {
        None => Ok(()),
        Some(meter) => Err(Error::RateLimited {
            retry_after: u64::try_from(meter.resets_in).unwrap_or(1).max(1),
        }),
    }
}

/// Maps unreadable bytes of an existing row to a retryable error, so that the document server tries again instead of
/// opening an empty document.
fn retry_if_unreadable(error: Error) -> Error {
    match error {
        Error::Internal(error) => {
            tracing::error!(error = format!("{error:?}"), "document file could not be read");
            Error::NotReady
        }
        other => other,
    }
}

/// The bytes that the query names; `None` for an unknown query.
fn requested_bytes(query: Option<&str>) -> Option<FileVersion> {
    let query = query.unwrap_or_default();
    match query.split_once('=') {
        None if query.is_empty() => Some(FileVersion::Current),
        Some(("revision", id)) => Some(FileVersion::Revision(RevisionId::new(id))),
        Some(("copy", id)) => Some(FileVersion::Copy(SubmissionDocumentId::new(id))),
        Some(("blank", extension)) => FileExtension::parse(extension).map(FileVersion::Blank),
        _ => None,
    }
}

/// The current content of a document as a download.
pub(super) fn current(document: &Document, current: CurrentFile) -> Result<Download> {
    Ok(match current {
        CurrentFile::Revision(revision) => {
            let extension = document.file_extension;
            stored_download(document, extension, revision.file_key, revision.size, revision.sha256)
        }
        CurrentFile::Blank(extension) => {
            let bytes =
                templates::blank_document(extension).ok_or_else(|| anyhow::anyhow!("a {extension} has no blank"))?;
            Download {
                name: file_name(document, extension),
                mime: extension.mime().to_owned(),
                sha256: templates::sha256(bytes),
                content: Content::Embedded(bytes),
            }
        }
    })
}

fn stored_download(document: &Document, extension: FileExtension, key: FileKey, size: i64, sha256: String) -> Download {
    Download {
        name: file_name(document, extension),
        mime: extension.mime().to_owned(),
        sha256,
        content: Content::File(key, size),
    }
}

fn file_name(document: &Document, extension: FileExtension) -> FileName {
    name::from_title(document.title.as_str(), extension.as_str())
}

/// The response to a callback, as the document server defines it.
#[view(Copy)]
struct Verdict {
    /// 0 if the callback was accepted, otherwise 1.
    error: i64,
}

/// Receive a callback of the document server about an editing session
#[utoipa::path(post, path = "/workrooms/documents/{id}/callback", params(("id" = String, Path)),
    request_body(content = serde_json::Value, description = "A callback of the document server with its token"),
    responses((status = 200, body = Verdict), (status = 413, description = "PAYLOAD_TOO_LARGE"),
        (status = 503, body = Verdict, description = "Try again")))]
pub(crate) async fn callback(State(app): State<App>, Path(id): Path<DocumentId>, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let (server, header) = (app.document_server(), token(&app, &parts.headers));
    let by_header = server.header_claims(header)?;
    if let Some(limits) = parts.extensions.get::<AnonymousBody>().filter(|_| by_header.is_some()) {
        limits.authenticate();
    }
    let body = read_body(body, CALLBACK_LIMIT).await?;
    let body = valid::parse(&body)?;
    let claims = server.callback_claims(by_header, header, &body)?;
    let text = claims.key.clone();
    let found = server.parse_callback(claims).filter(|(key, _)| key.document == id);
    let Some((key, notice)) = found else {
        // Valid token for a different document: misconfiguration or probing.
        tracing::warn!(audit = true, document.id = %id, document.key = text, "document server callback rejected: key of another document");
        return Err(Error::DocumentServerTokenMismatch);
    };
    check_rate_limit(&app, "callback", &id)?;
    match app.document_workflows().handle_callback(key, text, notice).await {
        Ok(answer) => Ok(callback_response(answer)),
        Err(error @ (Error::NotFound | Error::DocumentServerTokenMismatch)) => Err(error),
        // Database or disk failed. The document server repeats callbacks that receive a 5xx.
        Err(error) => {
            tracing::warn!(error = format!("{error:?}"), document.id = %id, "document server callback failed, will be repeated");
            Ok(callback_response(CallbackReply::Retry))
        }
    }
}

fn callback_response(answer: CallbackReply) -> Response {
    let (status, error, outcome) = match answer {
        CallbackReply::Accepted => (StatusCode::OK, 0, "taken"),
        CallbackReply::Rejected => (StatusCode::OK, 1, "refused"),
        CallbackReply::Retry => (StatusCode::SERVICE_UNAVAILABLE, 1, "again"),
    };
    metrics().record_callback(outcome);
    (status, Json(Verdict { error })).into_response()
}

fn token<'h>(app: &App, headers: &'h HeaderMap) -> Option<&'h str> {
    headers.get(app.document_server().header())?.to_str().ok()
}
