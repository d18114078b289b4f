//! `/workrooms/{id}/messages` and `/workrooms/{id}/read`: the chat of a work room. See docs/api-contract.md#chat.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use domain::file::FileKey;
use domain::id::{AttachmentId, MessageId, WorkRoomId};
use domain::message;

use super::context::Context;
use super::downloads::{Download, download};
use super::dry_run::DryRunQuery;
use super::files::{self, FileForm, Unconverted};
use super::pagination::{Cursor, Limit, Page, RoomMessages, window};
use super::patch_fields::Editable;
use super::response::{Created, CreatedOrFound};
use super::valid::{Patch, Valid, ValidOrEmpty, ValidQuery};
use api_types::message::{MessageAttachmentView, RoomMessageView};
use common::clock;
use common::error::Result;
use db::WriteTx;
use db::chat::ReadDirection;
use service::actions::chat::{self, NewRoomMessage, Reading, RoomMessageEdit, SentMessage};

impl Editable for RoomMessageEdit {
    type Resource = RoomMessageView;
}

#[query]
pub(crate) struct RoomMessageListQuery {
    /// Maximum number of messages. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, RoomMessages>>,
    /// Only messages after this `seq`, oldest first. Use it to fetch missed messages.
    #[garde(range(min = 0))]
    after: Option<i64>,
}

/// List the messages of a room
///
/// Newest first; with `after` oldest first.
#[utoipa::path(get, path = "/workrooms/{id}/messages", params(("id" = String, Path), RoomMessageListQuery),
    responses((status = 200, body = Page<RoomMessageView>)))]
pub(crate) async fn list(
    cx: Context,
    Path(id): Path<WorkRoomId>,
    ValidQuery(query): ValidQuery<RoomMessageListQuery>,
) -> Result<Json<Page<RoomMessageView>>> {
    let window = window(query.limit, query.cursor);
    let way = query.after.map_or(ReadDirection::Back, ReadDirection::From);
    let load = cx.read(move |tx| {
        tx.group_context_of_room(&id)?;
        tx.room_messages(&id, way, &window)
    });
    Ok(Json(Page::of(RoomMessages, load.await?, |message| {
        RoomMessageView::from(&message)
    })))
}

/// Send a message
///
/// A repeated `clientMessageId` returns 200 with the first message.
#[utoipa::path(post, path = "/workrooms/{id}/messages", params(("id" = String, Path)), request_body = NewRoomMessage,
    responses((status = 201, body = RoomMessageView), (status = 200, body = RoomMessageView),
        (status = 409, description = "CLASS_ARCHIVED")))]
pub(crate) async fn send(
    cx: Context,
    Path(id): Path<WorkRoomId>,
    Valid(new): Valid<NewRoomMessage>,
) -> Result<Response> {
    message::has_content(new.content.as_ref(), new.attachment_ids.len())?;
    let message = MessageId::new(clock::new_id());
    let send = move |tx: &mut WriteTx<'_>| {
        Ok(match chat::send(tx, &id, &message, &new)? {
            SentMessage::New(message) => {
                let view = RoomMessageView::from(&message);
                CreatedOrFound::Created(Created(view.address(), view))
            }
            SentMessage::Repeated(message) => CreatedOrFound::Found(RoomMessageView::from(&message)),
        })
    };
    Ok(cx.create(send).await?.into_response())
}

/// Edit a message
///
/// Only its author, during the first 15 minutes.
#[utoipa::path(patch, path = "/workrooms/{id}/messages/{messageId}",
    params(("id" = String, Path), ("messageId" = String, Path)), request_body = RoomMessageEdit,
    responses((status = 200, body = RoomMessageView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_AUTHOR, EDIT_TIME_OVER")))]
pub(crate) async fn edit(
    cx: Context,
    Path((id, message)): Path<(WorkRoomId, MessageId)>,
    patch: Patch<RoomMessageEdit>,
) -> Result<Json<RoomMessageView>> {
    let edited = cx.write(move |tx| chat::edit(tx, &id, &message, &patch.edit)).await?;
    Ok(Json(RoomMessageView::from(&edited)))
}

/// Delete a message
///
/// Authors may delete their messages during the first 15 minutes, staff of the class any message at any time.
#[utoipa::path(delete, path = "/workrooms/{id}/messages/{messageId}",
    params(("id" = String, Path), ("messageId" = String, Path), DryRunQuery),
    responses((status = 200, body = RoomMessageView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_AUTHOR, EDIT_TIME_OVER")))]
pub(crate) async fn remove(
    cx: Context,
    Path((id, message)): Path<(WorkRoomId, MessageId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<RoomMessageView>> {
    let removed = cx
        .write_or_preview(query.dry_run, move |tx| chat::remove(tx, &id, &message))
        .await?;
    Ok(Json(RoomMessageView::from(&removed)))
}

/// Upload a file for a message
///
/// A message of the same user must name the file within 24 hours.
#[utoipa::path(post, path = "/workrooms/{id}/messages/attachments", params(("id" = String, Path)),
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 201, body = MessageAttachmentView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE")))]
pub(crate) async fn upload(
    cx: Context,
    Path(id): Path<WorkRoomId>,
    Unconverted(file): Unconverted,
) -> Result<Created<MessageAttachmentView>> {
    let attachment = AttachmentId::new(clock::new_id());
    let key = FileKey::new(format!("{attachment}.{}", file.kind));
    let stored = file.stored(key.clone());
    let act = cx.repeatable(move |tx| {
        let added = chat::add_file(tx, &id, attachment.clone(), stored.clone())?;
        let view = MessageAttachmentView::from(&added);
        Ok(Created(view.url().to_owned(), view))
    });
    files::store_file(&cx, file.staged, key, act).await
}

/// Download a file of the chat
#[utoipa::path(get, path = "/workrooms/{id}/messages/attachments/{attachmentId}/download",
    params(("id" = String, Path), ("attachmentId" = String, Path)),
    responses((status = 200, description = "The file"), (status = 206, description = "The requested range"),
        (status = 304, description = "Not modified"), (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn content(
    cx: Context,
    Path((id, attachment)): Path<(WorkRoomId, AttachmentId)>,
    headers: HeaderMap,
) -> Result<Response> {
    let load = cx.read(move |tx| {
        tx.group_context_of_room(&id)?;
        tx.file_of_chat(&id, &attachment)
    });
    download(cx.app().files(), &headers, Download::from(load.await?.file)).await
}

/// The number of unread messages.
#[view]
pub(crate) struct Unread {
    unread_count: i64,
}

/// Mark the messages of a room as read, all of them or up to one
#[utoipa::path(post, path = "/workrooms/{id}/read", params(("id" = String, Path)), request_body = Option<Reading>,
    responses((status = 200, body = Unread)))]
pub(crate) async fn read(
    cx: Context,
    Path(id): Path<WorkRoomId>,
    ValidOrEmpty(reading): ValidOrEmpty<Reading>,
) -> Result<Json<Unread>> {
    let unread_count = cx.write(move |tx| chat::read(tx, &id, &reading)).await?;
    Ok(Json(Unread { unread_count }))
}
