//! `/workrooms/{id}/messages` and `/workrooms/{id}/read` (contract 3.7, 6.10): the chat of a work room.

use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use garde::Validate;
use model::access::Access;
use model::file::FileKey;
use model::id::{AttachmentId, MessageId, WorkRoomId};
use model::message;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::context::Context;
use super::downloads::{Download, download};
use super::dry_run::DryRunQuery;
use super::endpoint::Endpoints;
use super::files::{self, FileForm, Upload};
use super::page::{Cursor, Limit, Page, RoomMessages, window};
use super::reply::{Created, CreatedOrFound};
use super::terms::Terms;
use super::valid::{Editable, Patch, Valid, ValidOrEmpty, ValidQuery};
use api_types::message::{MessageAttachmentView, RoomMessageView};
use common::clock;
use common::error::Result;
use db::Work;
use db::chat::Way;
use service::actions::chat::{self, NewRoomMessage, Reading, RoomMessageEdit, Sent};

/// The routes of the chat.
pub fn routes() -> Endpoints {
    Endpoints::new("workrooms")
        .add(Access::Member, routes!(list))
        .add_on(Terms::Chat, Access::Member, routes!(send))
        .add(Access::Member, routes!(edit, remove))
        .add(Access::Member, routes!(upload))
        .add(Access::Member, routes!(content))
        .add(Access::Member, routes!(read))
}

impl Editable for RoomMessageEdit {
    const FIELDS: &'static [&'static str] = &["content"];
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "workRoomId",
        "seq",
        "senderId",
        "sender",
        "type",
        "attachments",
        "replyToId",
        "clientMessageId",
        "createdAt",
        "editedAt",
        "deletedAt",
    ];
}

#[derive(Deserialize, Validate, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct Listed {
    /// How many messages; more than 200 are 200
    #[garde(skip)]
    #[param(value_type = Option<i64>, minimum = 1, default = 50)]
    limit: Option<Limit>,
    /// The `nextCursor` of the page before
    #[garde(skip)]
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<i64, RoomMessages>>,
    /// Only messages after this `seq`, the earliest first: what was missed
    #[garde(range(min = 0))]
    after: Option<i64>,
}

/// The messages of a room, the latest first; with `after` those that came since, the earliest first
#[utoipa::path(get, path = "/workrooms/{id}/messages", params(("id" = String, Path), Listed),
    responses((status = 200, body = Page<RoomMessageView>)))]
async fn list(
    cx: Context,
    Path(id): Path<WorkRoomId>,
    ValidQuery(query): ValidQuery<Listed>,
) -> Result<Json<Page<RoomMessageView>>> {
    let window = window(query.limit, query.cursor);
    let way = query.after.map_or(Way::Back, Way::From);
    let look = cx.read(move |scope| {
        scope.place_of_room(&id)?;
        scope.room_messages(&id, way, &window)
    });
    Ok(Json(Page::of(RoomMessages, look.await?, |message| {
        RoomMessageView::from(&message)
    })))
}

/// Write a message; one with a `clientMessageId` of before answers 200 with the first one
#[utoipa::path(post, path = "/workrooms/{id}/messages", params(("id" = String, Path)), request_body = NewRoomMessage,
    responses((status = 201, body = RoomMessageView), (status = 200, body = RoomMessageView),
        (status = 409, description = "CLASS_ARCHIVED")))]
async fn send(cx: Context, Path(id): Path<WorkRoomId>, Valid(new): Valid<NewRoomMessage>) -> Result<Response> {
    message::has_content(new.content.as_ref(), new.attachment_ids.len())?;
    let message = MessageId::new(clock::new_id());
    let send = move |work: &mut Work<'_>| {
        Ok(match chat::send(work, &id, &message, &new)? {
            Sent::New(message) => {
                let view = RoomMessageView::from(&message);
                CreatedOrFound::Created(Created(view.address(), view))
            }
            Sent::Again(message) => CreatedOrFound::Found(RoomMessageView::from(&message)),
        })
    };
    Ok(cx.create(send).await?.into_response())
}

/// Change what a message of one's own says, during the first 15 minutes
#[utoipa::path(patch, path = "/workrooms/{id}/messages/{messageId}",
    params(("id" = String, Path), ("messageId" = String, Path)), request_body = RoomMessageEdit,
    responses((status = 200, body = RoomMessageView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_AUTHOR, EDIT_TIME_OVER")))]
async fn edit(
    cx: Context,
    Path((id, message)): Path<(WorkRoomId, MessageId)>,
    patch: Patch<RoomMessageEdit>,
) -> Result<Json<RoomMessageView>> {
    let edited = cx
        .write(move |work| chat::edit(work, &id, &message, &patch.edit))
        .await?;
    Ok(Json(RoomMessageView::from(&edited)))
}

/// Take a message back: one's own during the first 15 minutes, teachers and admins any
#[utoipa::path(delete, path = "/workrooms/{id}/messages/{messageId}",
    params(("id" = String, Path), ("messageId" = String, Path), DryRunQuery),
    responses((status = 200, body = RoomMessageView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_AUTHOR, EDIT_TIME_OVER")))]
async fn remove(
    cx: Context,
    Path((id, message)): Path<(WorkRoomId, MessageId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<RoomMessageView>> {
    let removed = cx
        .write_or_preview(query.dry_run, move |work| chat::remove(work, &id, &message))
        .await?;
    Ok(Json(RoomMessageView::from(&removed)))
}

/// Bring a file; a message of the same person names it within 24 hours
#[utoipa::path(post, path = "/workrooms/{id}/messages/attachments", params(("id" = String, Path)),
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 201, body = MessageAttachmentView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"), (status = 415, description = "UNSUPPORTED_FILE_TYPE")))]
async fn upload(
    cx: Context,
    Path(id): Path<WorkRoomId>,
    Upload { file, .. }: Upload,
) -> Result<Created<MessageAttachmentView>> {
    let attachment = AttachmentId::new(clock::new_id());
    let key = FileKey::new(format!("{attachment}.{}", file.kind));
    let stored = file.stored(key.clone());
    let act = cx.repeatable(move |work| {
        let added = chat::add_file(work, &id, attachment.clone(), stored.clone())?;
        let view = MessageAttachmentView::from(&added);
        Ok(Created(view.url().to_owned(), view))
    });
    files::keep(&cx, file.staged, key, act).await
}

/// The bytes of a file of the chat
#[utoipa::path(get, path = "/workrooms/{id}/messages/attachments/{attachmentId}/download",
    params(("id" = String, Path), ("attachmentId" = String, Path)),
    responses((status = 200, description = "The file"), (status = 206, description = "A part of it"),
        (status = 304, description = "It did not change"), (status = 416, description = "It has no such part, RANGE_NOT_SATISFIABLE")))]
async fn content(
    cx: Context,
    Path((id, attachment)): Path<(WorkRoomId, AttachmentId)>,
    headers: HeaderMap,
) -> Result<Response> {
    let look = cx.read(move |scope| {
        scope.place_of_room(&id)?;
        scope.file_of_chat(&id, &attachment)
    });
    download(cx.app().files(), &headers, Download::from(look.await?.file)).await
}

/// What is left to read.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Unread {
    unread_count: i64,
}

/// Say that the messages of a room were read, all of them or those up to one
#[utoipa::path(post, path = "/workrooms/{id}/read", params(("id" = String, Path)), request_body = Option<Reading>,
    responses((status = 200, body = Unread)))]
async fn read(
    cx: Context,
    Path(id): Path<WorkRoomId>,
    ValidOrEmpty(reading): ValidOrEmpty<Reading>,
) -> Result<Json<Unread>> {
    let unread_count = cx.write(move |work| chat::read(work, &id, &reading)).await?;
    Ok(Json(Unread { unread_count }))
}
