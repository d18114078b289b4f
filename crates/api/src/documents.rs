//! `/workrooms/{id}/documents` and `/workrooms/documents`. The routes of the document server are in
//! `document_server.rs`. See docs/api-contract.md#documents-and-files.

use api_macros::{query, view};
use std::collections::HashMap;

use axum::Json;
use axum::extract::{FromRequest, Path, Request};
use axum::http::HeaderMap;
use axum::response::Response;
use domain::comment::UnreadComments;
use domain::document::DocumentStatus;
use domain::document_kind::FileExtension;
use domain::file::FileType;
use domain::id::{AssignmentId, DocumentId, RevisionId, WorkRoomId};
use domain::save::{Revision, RevisionOrigin};
use domain::text::DocumentTitle;
use domain::version::VersionedObject;
use utoipa::ToSchema;

use super::context::{App, Context};
use super::downloads::{Content, Download, FileBytes, download};
use super::dry_run::DryRunQuery;
use super::files::{self, FileForm, Upload, Uploaded, is_form};
use super::patch_fields::Editable;
use super::response::{CreatedObject, Versioned, or_current};
use super::valid::{Patch, Valid, ValidQuery};
use adapters::blob_store::{name, templates};
use api_types::audience::Audience;
use api_types::deletion::UndoView;
use api_types::document::DocumentView;
use common::clock;
use common::error::{Error, Result};
use db::documents::{CurrentFile, DocumentFilter, Template, VisibleDocument};
use db::{ReadTx, WriteTx};
use service::actions::deletions::KeptDeletion;
use service::actions::documents::{self, DocumentCreation, DocumentEdit, NewContent, NewDocument, UploadedDocument};

#[query]
pub(crate) struct DocumentListQuery {
    /// Only documents with this status.
    status: Option<DocumentStatus>,
    /// Only documents linked to this topic.
    assignment_id: Option<AssignmentId>,
}

impl Editable for DocumentEdit {
    type Resource = DocumentView;
}

/// List the documents of a room, oldest first
#[utoipa::path(get, path = "/workrooms/{id}/documents", params(("id" = String, Path), DocumentListQuery),
    responses((status = 200, body = [DocumentView])))]
pub(crate) async fn list(
    cx: Context,
    Path(room): Path<WorkRoomId>,
    ValidQuery(filter): ValidQuery<DocumentListQuery>,
) -> Result<Json<Vec<DocumentView>>> {
    let filter = DocumentFilter {
        status: filter.status,
        assignment_id: filter.assignment_id,
    };
    let found = cx
        .read(move |tx| {
            let audience = Audience::of(tx.viewer());
            let found = tx.documents(&room, &filter)?;
            let unread = tx.unread_comments_of_room(&room)?;
            Ok(found
                .iter()
                .map(|seen| view_with_unread(seen, &audience, &unread))
                .collect())
        })
        .await?;
    Ok(Json(found))
}

/// The content of a new document.
pub(crate) enum NewBody {
    /// Blank or from a template.
    Described(NewDocument),
    /// An uploaded file.
    Own(Upload<UploadedDocument>),
}

impl FromRequest<App> for NewBody {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        if is_form(request.headers()) {
            Upload::from_request(request, app).await.map(Self::Own)
        } else {
            Valid::from_request(request, app)
                .await
                .map(|Valid(new)| Self::Described(new))
        }
    }
}

/// The form that creates a document from a file.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only describes the body in the OpenAPI document")]
struct DocumentForm {
    /// The file of the document.
    #[schema(value_type = String, format = Binary)]
    file: (),
    /// The title. Defaults to the name of the file.
    #[schema(nullable = false)]
    title: Option<DocumentTitle>,
    /// The topic of the document.
    #[schema(nullable = false)]
    assignment_id: Option<AssignmentId>,
}

/// Create a document: blank, from a template or from an uploaded file
#[utoipa::path(post, path = "/workrooms/{id}/documents", params(("id" = String, Path)),
    request_body(content((NewDocument = "application/json"), (DocumentForm = "multipart/form-data"))),
    responses((status = 201, body = DocumentView),
        (status = 409, description = "CLASS_ARCHIVED, LIMIT_REACHED, GROUP_NOT_ON_ASSIGNMENT, \
            ASSIGNMENT_NOT_PUBLISHED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE"),
        (status = 502, description = "DOCSERVER_ERROR"), (status = 504, description = "DOCSERVER_TIMEOUT")))]
pub(crate) async fn create(
    cx: Context,
    Path(room): Path<WorkRoomId>,
    body: NewBody,
) -> Result<CreatedObject<DocumentView>> {
    let id = DocumentId::new(clock::new_id());
    match body {
        NewBody::Own(upload) => create_uploaded(&cx, id, room, upload).await,
        NewBody::Described(new) if new.template_attachment_id.is_some() => create_copied(&cx, id, room, new).await,
        NewBody::Described(new) => {
            let file_extension = FileExtension::of_new(new.document_type, new.file_extension)?;
            let NewDocument {
                title, assignment_id, ..
            } = new;
            let beginning = DocumentCreation {
                id,
                title,
                file_extension,
                assignment_id,
                content: None,
            };
            cx.write(creation(&cx, room, beginning)).await
        }
    }
}

/// The action that creates a document and renders it for the caller.
fn creation(
    cx: &Context,
    room: WorkRoomId,
    beginning: DocumentCreation,
) -> impl FnMut(&mut WriteTx<'_>) -> Result<CreatedObject<DocumentView>> + Send + use<> {
    let inside = cx.clone();
    cx.repeatable(move |tx| {
        let seen = documents::create(tx, &room, &beginning)?;
        let document = shown(&inside, &seen)?;
        Ok(CreatedObject(
            format!("/api/workrooms/documents/{}", document.id()),
            document,
        ))
    })
}

async fn create_uploaded(
    cx: &Context,
    id: DocumentId,
    room: WorkRoomId,
    upload: Upload<UploadedDocument>,
) -> Result<CreatedObject<DocumentView>> {
    let Upload { file, fields } = upload;
    let file_extension = extension(file.kind)?;
    let title = fields.title.unwrap_or_else(|| title_of(file.name.as_str()));
    let content = content_of(&id, file_extension, &file);
    let key = content.file_key.clone();
    let assignment_id = fields.assignment_id;
    let beginning = DocumentCreation {
        id,
        title,
        file_extension,
        assignment_id,
        content: Some(content),
    };
    files::store_file(cx, file.staged, key, creation(cx, room, beginning)).await
}

async fn create_copied(
    cx: &Context,
    id: DocumentId,
    room: WorkRoomId,
    new: NewDocument,
) -> Result<CreatedObject<DocumentView>> {
    let Some(attachment) = new.template_attachment_id.clone() else {
        return Err(Error::NotFound);
    };
    let looked = room.clone();
    let prepare = move |tx: &mut ReadTx<'_>| {
        let place = tx.group_context_of_room(&looked)?;
        let template = tx.template(&place.group.id, &attachment)?;
        let from = template.file_key.clone();
        let beginning = creation_from_template(&id, &new, template)?;
        let to = beginning.content.as_ref().map(|content| content.file_key.clone());
        Ok((beginning, to.map(|to| (from, to)).into_iter().collect()))
    };
    files::copy_files(cx, prepare, |beginning| creation(cx, room.clone(), beginning)).await
}

fn creation_from_template(id: &DocumentId, new: &NewDocument, template: Template) -> Result<DocumentCreation> {
    let wrong = |path: &str, message: &str| Error::invalid(path, "format", message);
    let file_extension = FileExtension::of_name(&template.file_name)
        .ok_or_else(|| wrong("templateAttachmentId", "is no document that can be edited"))?;
    if new.file_extension.is_some_and(|wanted| wanted != file_extension) {
        return Err(wrong("fileExtension", "does not fit the template"));
    }
    if new
        .document_type
        .is_some_and(|wanted| wanted != file_extension.document_type())
    {
        return Err(wrong("documentType", "does not fit the template"));
    }
    let revision = RevisionId::new(clock::new_id());
    let content = NewContent {
        file_key: Revision::file_key(id, &revision, file_extension),
        id: revision,
        size: template.size,
        sha256: template.sha256,
    };
    Ok(DocumentCreation {
        id: id.clone(),
        title: new.title.clone(),
        file_extension,
        assignment_id: new.assignment_id.clone(),
        content: Some(content),
    })
}

/// Get a document
#[utoipa::path(get, path = "/workrooms/documents/{id}", params(("id" = String, Path)),
    responses((status = 200, body = DocumentView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<DocumentId>) -> Result<Versioned<DocumentView>> {
    let object = VersionedObject::from(&id);
    let Versioned(seen, version) = cx.read_object(object, move |tx| tx.document(&id)).await?;
    Ok(Versioned(shown(&cx, &seen)?, version))
}

/// Rename a document or link it to a topic
#[utoipa::path(patch, path = "/workrooms/documents/{id}", params(("id" = String, Path)), request_body = DocumentEdit,
    responses((status = 200, body = DocumentView), (status = 423, description = "DOCUMENT_LOCKED"), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED, GROUP_NOT_ON_ASSIGNMENT")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<DocumentId>,
    patch: Patch<DocumentEdit>,
) -> Result<Versioned<DocumentView>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let act = move |tx: &mut WriteTx<'_>| documents::edit(tx, &id, &patch.edit);
    let Versioned(seen, version) = or_current(cx.write_object(object, act).await, current).await?;
    Ok(Versioned(shown(&cx, &seen)?, version))
}

/// The result of deleting a document.
#[view]
pub(crate) struct DocumentRemoved {
    success: bool,
    #[serde(flatten)]
    undo: UndoView,
}

/// Delete a draft that was never submitted
#[utoipa::path(delete, path = "/workrooms/documents/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = DocumentRemoved), (status = 412, description = "PRECONDITION_FAILED"), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED"), (status = 403, description = "NOT_AUTHOR")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<DocumentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<DocumentRemoved>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let retention = cx.app().settings().deletion_retention;
    let act = move |tx: &mut WriteTx<'_>| documents::remove(tx, &id, retention);
    let removed = cx.delete_or_preview(query.dry_run, object, act).await;
    let kept = or_current(removed, current).await?;
    Ok(Json(DocumentRemoved {
        success: true,
        undo: UndoView::new(kept.map(KeptDeletion::into_parts), query.dry_run.is_on()),
    }))
}

/// Download the last saved content of a document
#[utoipa::path(get, path = "/workrooms/documents/{id}/download", params(("id" = String, Path)),
    responses((status = 200, description = "The file", body = inline(FileBytes), content_type = "*/*"),
        (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"),
        (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(cx: Context, Path(id): Path<DocumentId>, headers: HeaderMap) -> Result<Response> {
    let load = |tx: &mut ReadTx<'_>, id: &DocumentId| {
        let seen = tx.document(id)?;
        let current = tx.current_file(seen.document())?;
        Ok((seen, current, !tx.unsaved_generations(id)?.is_empty()))
    };
    let requested = id.clone();
    let (mut seen, mut current, is_unsaved) = cx.read(move |tx| load(tx, &requested)).await?;
    if is_unsaved {
        cx.app().document_workflows().save_changes(&cx.context()?, &id).await?;
        (seen, current, _) = cx.read(move |tx| load(tx, &id)).await?;
    }
    let extension = seen.document().file_extension;
    let name = name::from_title(seen.document().title.as_str(), extension.as_str());
    let mime = extension.mime().to_owned();
    let file = match current {
        CurrentFile::Revision(revision) => {
            let Revision {
                file_key, size, sha256, ..
            } = *revision;
            Download {
                name,
                mime,
                sha256,
                content: Content::File(file_key, size),
            }
        }
        CurrentFile::Blank(extension) => {
            let bytes = templates::blank_document(extension)
                .ok_or_else(|| anyhow::anyhow!("a {extension} document has no content"))?;
            Download {
                name,
                mime,
                sha256: templates::sha256(bytes),
                content: Content::Embedded(bytes),
            }
        }
    };
    download(cx.app().files(), &headers, file).await
}

/// Replace the content of a draft with a file of the same type
#[utoipa::path(put, path = "/workrooms/documents/{id}/content", params(("id" = String, Path)),
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 200, body = DocumentView), (status = 423, description = "DOCUMENT_LOCKED"), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE"),
        (status = 502, description = "DOCSERVER_ERROR"), (status = 504, description = "DOCSERVER_TIMEOUT")))]
pub(crate) async fn replace(
    cx: Context,
    Path(id): Path<DocumentId>,
    upload: Upload,
) -> Result<Versioned<DocumentView>> {
    let file = upload.file;
    let extension = extension(file.kind)?;
    let content = content_of(&id, extension, &file);
    let key = content.file_key.clone();
    // What was written in the built-in editor remains a version.
    cx.app().document_workflows().save_changes(&cx.context()?, &id).await?;
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let act = move |tx: &mut WriteTx<'_>| documents::replace(tx, &id, extension, &content, RevisionOrigin::Upload);
    let kept = files::store_file_for_object(&cx, object, file.staged, key, act).await;
    let Versioned(seen, version) = or_current(kept, current).await?;
    Ok(Versioned(shown(&cx, &seen)?, version))
}

/// Images, videos and archives can be attached but not edited.
fn extension(kind: FileType) -> Result<FileExtension> {
    let refused = || Error::UnsupportedFileType(format!("a {kind} file is no document"));
    FileExtension::parse(kind.as_str()).ok_or_else(refused)
}

fn content_of(id: &DocumentId, extension: FileExtension, file: &Uploaded) -> NewContent {
    let revision = RevisionId::new(clock::new_id());
    let stored = file.stored(Revision::file_key(id, &revision, extension));
    NewContent {
        id: revision,
        file_key: stored.key,
        size: stored.size,
        sha256: stored.sha256,
    }
}

/// The title of a document created from a file.
fn title_of(file_name: &str) -> DocumentTitle {
    let title: String = name::stem(file_name).chars().take(DocumentTitle::MAX).collect();
    DocumentTitle::stored(title.trim())
}

/// The document as the caller may see it.
pub fn shown(cx: &Context, seen: &VisibleDocument) -> Result<DocumentView> {
    Ok(view(seen, &Audience::of(&cx.context()?.viewer)))
}

/// The document in a list, with the number of comments that the caller has not read.
pub fn view_with_unread(
    seen: &VisibleDocument,
    audience: &Audience,
    unread: &HashMap<DocumentId, UnreadComments>,
) -> DocumentView {
    let unread = unread.get(&seen.document().id).copied();
    view(seen, audience).with_unread(unread.unwrap_or_default())
}

fn view(seen: &VisibleDocument, audience: &Audience) -> DocumentView {
    DocumentView::new(&seen.details, audience).opening(seen.mode())
}
