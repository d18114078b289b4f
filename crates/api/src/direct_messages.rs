//! `/messages`: direct messages and announcements to classes. Messages to groups and topics are forwarded to the chat
//! of their rooms. See docs/api-contract.md#direct-messages.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use domain::id::{ClassId, MessageId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::context::Context;
use super::cross_tenant_list::Direction;
use super::dry_run::DryRunQuery;
use super::pagination::{Cursor, DirectMessages, Limit, Page, window};
use super::response::{Ack, Created};
use super::valid::{Valid, ValidQuery};
use api_types::message::{MessageView, RoomMessageView, RoomMessagesView, SentMessageView};
use common::error::{Error, Result};
use db::WriteTx;
use db::direct_messages::{MessageBox, VisibleMessage, position};
use service::actions::direct_messages::{self, DeliveredMessage, NewMessage};

/// A message box of the caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BoxName {
    /// Received messages.
    #[default]
    Inbox,
    /// Sent messages.
    Sent,
    /// The announcements to a class, earlier ones than the caller's enrolment included.
    Class,
}

#[query]
pub(crate) struct DirectMessageListQuery {
    /// The box to list. `class` requires `classId`.
    #[garde(skip)]
    #[serde(default, rename = "box")]
    #[param(value_type = Option<BoxName>, required = false)]
    of: BoxName,
    /// Only announcements to this class.
    class_id: Option<ClassId>,
    /// Maximum number of messages. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, DirectMessages>>,
}

/// The number of unread messages.
#[view(Copy)]
pub(crate) struct UnreadCount {
    /// Messages in the inbox that the caller has not read.
    unread_count: i64,
}

/// List the caller's messages, newest first
#[utoipa::path(get, path = "/messages", params(DirectMessageListQuery), responses((status = 200, body = Page<MessageView>)))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(query): ValidQuery<DirectMessageListQuery>,
) -> Result<Json<Page<MessageView>>> {
    let (of, class) = (message_box(query.of), query.class_id);
    if of == MessageBox::Class && class.is_none() {
        return Err(Error::invalid(
            "classId",
            "required",
            "is required for the box of a class",
        ));
    }
    let window = window(query.limit, query.cursor);
    let slice = cx.page(
        window,
        Direction::Descending,
        move |tx, window| tx.messages(of, class.as_ref(), window),
        position,
    );
    Ok(Json(Page::of(DirectMessages, slice.await?, |seen| shown(&seen))))
}

/// Send a message to people, to a class, to a group or to all groups of a topic
///
/// Students may write to the teachers of their classes, to administrators and to the room of their own group.
#[utoipa::path(post, path = "/messages", request_body = NewMessage,
    responses((status = 201, body = SentMessageView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER, FORBIDDEN_ROLE")))]
pub(crate) async fn send(cx: Context, Valid(new): Valid<NewMessage>) -> Result<Created<SentMessageView>> {
    let send = move |tx: &mut WriteTx<'_>| Ok(sent(direct_messages::send(tx, &new)?));
    cx.create(send).await
}

fn sent(sent: DeliveredMessage) -> Created<SentMessageView> {
    match sent {
        DeliveredMessage::Direct(seen) => {
            let place = format!("/api/messages/{}", seen.message.id);
            Created(place, SentMessageView::Direct(shown(&seen)))
        }
        DeliveredMessage::Room(message) => {
            let view = RoomMessageView::from(message.as_ref());
            Created(view.address(), SentMessageView::Room(view))
        }
        DeliveredMessage::Rooms(assignment_id, messages) => {
            let place = format!("/api/assignments/{assignment_id}");
            let messages = messages.iter().map(RoomMessageView::from).collect();
            Created(
                place,
                SentMessageView::Rooms(RoomMessagesView {
                    assignment_id,
                    messages,
                }),
            )
        }
    }
}

/// Count the caller's unread messages
#[utoipa::path(get, path = "/messages/unread-count", responses((status = 200, body = UnreadCount)))]
pub(crate) async fn unread_count(cx: Context) -> Result<Json<UnreadCount>> {
    let counts = cx.list(|tx| Ok(vec![((), tx.unread_messages()?)])).await?;
    Ok(Json(UnreadCount {
        unread_count: counts.into_iter().sum(),
    }))
}

/// Get a message
///
/// The sender also receives the recipients.
#[utoipa::path(get, path = "/messages/{id}", params(("id" = String, Path)), responses((status = 200, body = MessageView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<MessageId>) -> Result<Json<MessageView>> {
    let seen = cx.read(move |tx| tx.message(&id)).await?;
    Ok(Json(shown(&seen)))
}

/// Mark a message as read
#[utoipa::path(post, path = "/messages/{id}/read", params(("id" = String, Path)),
    responses((status = 200, body = UnreadCount)))]
pub(crate) async fn read(cx: Context, Path(id): Path<MessageId>) -> Result<Json<UnreadCount>> {
    let unread_count = cx.write(move |tx| direct_messages::read(tx, &id)).await?;
    Ok(Json(UnreadCount { unread_count }))
}

/// Remove a message from the caller's own view
///
/// Sender and other recipients keep it.
#[utoipa::path(delete, path = "/messages/{id}", params(("id" = String, Path), DryRunQuery), responses((status = 200, body = Ack)))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<MessageId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| direct_messages::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

fn shown(seen: &VisibleMessage) -> MessageView {
    if seen.is_own {
        MessageView::sent(&seen.message, seen.read_at, seen.recipients)
    } else {
        MessageView::received(&seen.message, seen.read_at)
    }
}

fn message_box(name: BoxName) -> MessageBox {
    match name {
        BoxName::Inbox => MessageBox::Inbox,
        BoxName::Sent => MessageBox::Sent,
        BoxName::Class => MessageBox::Class,
    }
}
