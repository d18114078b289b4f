//! `/workrooms/documents/{id}/images`: pictures of documents in the built-in editor. See docs/built-in-editor.md.

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::response::Response;
use domain::document_image::{DocumentImage, IMAGE_BYTES_MAX, PIXELS_MAX, dimensions, is_document_image};
use domain::file::FileKey;
use domain::id::{DocumentId, ImageId};

use super::context::Context;
use super::downloads::{Content, Download, FileBytes, download};
use super::files::{self, FileForm, Unconverted, Uploaded};
use super::response::Created;
use adapters::blob_store::{inspect, name};
use api_types::document_log::DocumentImageView;
use common::clock;
use common::error::{Error, Result};
use service::actions::document_images;
use service::document_workflows::PictureContent;

/// The first bytes of a picture in which its size is searched. Profiles and thumbnails come before it.
const HEAD: u64 = 1 << 20;

/// Add a picture to a draft
#[utoipa::path(post, path = "/workrooms/documents/{id}/images", params(("id" = String, Path)),
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 201, body = DocumentImageView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED, LIMIT_REACHED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE")))]
pub(crate) async fn upload(
    cx: Context,
    Path(id): Path<DocumentId>,
    Unconverted(file): Unconverted,
) -> Result<Created<DocumentImageView>> {
    let (width, height) = size(&file).await?;
    let image = ImageId::new(clock::new_id());
    let key = FileKey::new(format!("{id}.{image}.{}", file.kind));
    let stored = file.stored(key.clone());
    let new = DocumentImage {
        id: image,
        document_id: id,
        mime_type: stored.mime_type,
        size: stored.size,
        sha256: stored.sha256,
        file_key: key.clone(),
        width: i64::from(width),
        height: i64::from(height),
        uploaded_by_id: cx.caller().user.id.clone(),
        created_at: cx.caller().now,
    };
    let act = cx.repeatable(move |tx| {
        document_images::add(tx, &new)?;
        let view = DocumentImageView::from(&new);
        Ok(Created(view.url(&new.document_id), view))
    });
    files::store_file(&cx, file.staged, key, act).await
}

/// Checks type and size of a picture, and returns its width and height.
async fn size(file: &Uploaded) -> Result<(u32, u32)> {
    if !is_document_image(file.kind) {
        return Err(Error::UnsupportedFileType(format!(
            "a {} file is no picture",
            file.kind
        )));
    }
    if file.staged.size() > IMAGE_BYTES_MAX {
        return Err(Error::TooLarge {
            limit_bytes: IMAGE_BYTES_MAX,
        });
    }
    let head = inspect::head(&file.staged, HEAD).await?;
    let found = dimensions(file.kind, &head).filter(|(width, height)| *width > 0 && *height > 0);
    let (width, height) =
        found.ok_or_else(|| Error::UnsupportedFileType("the size of the picture is unknown".to_owned()))?;
    if u64::from(width) * u64::from(height) > PIXELS_MAX {
        return Err(Error::invalid("file", "too_long", "has more than 50 megapixels"));
    }
    Ok((width, height))
}

/// Get a picture of a document
#[utoipa::path(get, path = "/workrooms/documents/{id}/images/{imageId}",
    params(("id" = String, Path), ("imageId" = String, Path)),
    responses((status = 200, description = "The picture", body = inline(FileBytes), content_type = "*/*"),
        (status = 206, description = "The requested range"), (status = 304, description = "Not modified"),
        (status = 416, description = "RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(
    cx: Context,
    Path((id, image)): Path<(DocumentId, ImageId)>,
    headers: HeaderMap,
) -> Result<Response> {
    let picture = cx.app().document_workflows().picture(cx.context()?, id, image).await?;
    let file = Download {
        name: name::sanitize("picture"),
        mime: picture.media_type,
        sha256: picture.sha256,
        content: match picture.content {
            PictureContent::File(key, size) => Content::File(key, size),
            PictureContent::Bytes(bytes) => Content::Part(bytes),
        },
    };
    let mut response = download(cx.app().files(), &headers, file).await?;
    // An id names the same bytes for ever.
    let cache = HeaderValue::from_static("private, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, cache);
    Ok(response)
}
