//! `/workrooms`. The documents of a room are in `documents.rs`. See docs/api-contract.md#documents-and-files.

use axum::Json;
use axum::extract::Path;
use domain::id::{GroupId, WorkRoomId};

use super::context::Context;
use super::documents::view_with_unread;
use api_types::audience::Audience;
use api_types::work_room::{LastMessageView, RoomPresence, WorkRoomSummaryView, WorkRoomView};
use common::error::Result;
use db::documents::{DocumentFilter, VisibleDocument};
use db::work_rooms::{LastMessage, VisibleWorkRoom};
use db::{ReadTx, RequestContext};
use realtime::RealtimeServer;

/// List the work rooms that the caller may enter, by class and group number
#[utoipa::path(get, path = "/workrooms", responses((status = 200, body = [WorkRoomSummaryView])))]
pub(crate) async fn list(cx: Context) -> Result<Json<Vec<WorkRoomSummaryView>>> {
    let rooms = cx.list(|tx| {
        let audience = Audience::of(tx.viewer());
        let found = tx.work_rooms()?.into_iter();
        Ok(found.map(|room| (room.position(), summary(room, &audience))).collect())
    });
    Ok(Json(rooms.await?))
}

/// Get a work room with its documents
///
/// Who is online and who is writing is kept in memory only and is never stored or logged.
#[utoipa::path(get, path = "/workrooms/{id}", params(("id" = String, Path)),
    responses((status = 200, body = WorkRoomView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<WorkRoomId>) -> Result<Json<WorkRoomView>> {
    let context = cx.context()?;
    let load = move |tx: &mut ReadTx<'_>| {
        let room = tx.work_room(&id)?;
        details(tx, room, &context)
    };
    let room = cx.read(load).await?;
    Ok(Json(present(cx.app().realtime(), room)))
}

/// Get the work room of a group
#[utoipa::path(get, path = "/workrooms/group/{groupId}", params(("groupId" = String, Path)),
    responses((status = 200, body = WorkRoomView)))]
pub(crate) async fn show_of_group(cx: Context, Path(group): Path<GroupId>) -> Result<Json<WorkRoomView>> {
    let context = cx.context()?;
    let load = move |tx: &mut ReadTx<'_>| {
        let room = tx.work_room_of(&group)?;
        details(tx, room, &context)
    };
    let room = cx.read(load).await?;
    Ok(Json(present(cx.app().realtime(), room)))
}

fn summary(seen: VisibleWorkRoom, audience: &Audience) -> WorkRoomSummaryView {
    let last_message = seen.last_message.map(message);
    let view = WorkRoomSummaryView::new(
        seen.room,
        seen.group_context.group,
        seen.unread,
        seen.documents,
        audience,
    );
    view.with_last_message(last_message)
}

fn details(tx: &mut ReadTx<'_>, room: VisibleWorkRoom, context: &RequestContext) -> Result<WorkRoomView> {
    let audience = Audience::of(&context.viewer);
    let group = tx.whole_group(&room.room.group_id)?;
    let documents = tx.documents(&room.room.id, &DocumentFilter::default())?;
    let unread = tx.unread_comments_of_room(&room.room.id)?;
    let document = |seen: VisibleDocument| view_with_unread(&seen, &audience, &unread);
    let documents = documents.into_iter().map(document).collect();
    let (teacher, helper) = (room.teacher.clone(), room.help_claimed_by.clone());
    Ok(summary(room, &audience).details(&group, teacher, helper, documents, &audience))
}

/// Adds the presence of the members, which is in memory only.
fn present(realtime: &RealtimeServer, room: WorkRoomView) -> WorkRoomView {
    let members = room.member_ids();
    let (writing, _) = realtime.group_activity(room.organization_id(), room.group_id(), &members);
    let online = realtime.online_members(room.organization_id(), &members);
    room.with_presence(RoomPresence { online, writing })
}

fn message(message: LastMessage) -> LastMessageView {
    LastMessageView {
        id: message.id,
        seq: message.seq,
        r#type: message.kind,
        content: message.content,
        created_at: message.created_at,
        deleted_at: message.deleted_at,
        sender: message.sender,
    }
}
