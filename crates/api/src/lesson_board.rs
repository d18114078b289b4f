//! `GET /assignments/{id}/board`: the lesson board in one request. It combines stored data with presence, which is in
//! memory only. Callers who do not manage the class have no board. See docs/api-contract.md#overview-and-lesson-board.

use std::collections::HashMap;

use axum::Json;
use axum::extract::Path;
use domain::details::GroupAssignmentDetails;
use domain::group::GroupMember;
use domain::id::{AssignmentId, GroupId, UserId};

use super::context::Context;
use api_types::audience::Audience;
use api_types::board::{BoardDocumentView, BoardGroupView, BoardMemberView, BoardView};
use api_types::course_detail::AssignmentSummaryView;
use api_types::group::{GroupMemberView, GroupSummaryView};
use api_types::group_assignment::GroupAssignmentView;
use common::error::Result;
use db::boards::Board;
use db::groups::VisibleGroup;
use realtime::RealtimeServer;

/// Get the lesson board of a topic
///
/// Presence and typing indicators are kept in memory only and are never stored or logged.
#[utoipa::path(get, path = "/assignments/{id}/board", params(("id" = String, Path)),
    responses((status = 200, body = BoardView)))]
pub(crate) async fn board(cx: Context, Path(id): Path<AssignmentId>) -> Result<Json<BoardView>> {
    let (found, server_now) = cx.read(move |tx| Ok((tx.board(&id)?, tx.now()))).await?;
    let Board {
        topic,
        groups,
        documents,
        unread_comments,
    } = found;
    let mut by_group: HashMap<GroupId, Vec<BoardDocumentView>> = HashMap::new();
    for seen in &documents {
        let unread = unread_comments.get(&seen.document().id).copied();
        let shown = BoardDocumentView::new(&seen.details, unread.unwrap_or_default());
        by_group
            .entry(seen.group_context.group.id.clone())
            .or_default()
            .push(shown);
    }
    let links: HashMap<&GroupId, &GroupAssignmentDetails> = topic
        .details
        .links
        .iter()
        .map(|link| (&link.link.group_id, link))
        .collect();
    let mut help_queue: Vec<_> = groups
        .iter()
        .map(|known| &known.details.group)
        .filter_map(|group| Some((group.help.queue_position()?, group.group_number, group.id.clone())))
        .collect();
    help_queue.sort();
    let shown = groups.iter().filter_map(|known| {
        let id = &known.details.group.id;
        let (link, documents) = (links.get(id)?, by_group.remove(id).unwrap_or_default());
        Some(card(cx.app().realtime(), known, link, documents, server_now))
    });
    let shown = shown.collect::<Vec<_>>();
    Ok(Json(BoardView {
        server_now,
        groups: shown,
        help_queue: help_queue.into_iter().map(|(_, _, id)| id).collect(),
        assignment: AssignmentSummaryView::new(topic.details.assignment.clone(), topic.groups),
    }))
}

fn card(
    realtime: &RealtimeServer,
    known: &VisibleGroup,
    link: &GroupAssignmentDetails,
    documents: Vec<BoardDocumentView>,
    now: domain::time::Timestamp,
) -> BoardGroupView {
    let (group, members) = (&known.details.group, &known.details.members);
    let school = &group.organization_id;
    let ids: Vec<UserId> = members.iter().map(|member| member.user.id.clone()).collect();
    let (writing, activity) = realtime.group_activity(school, &group.id, &ids);
    let member = |member: &GroupMember| BoardMemberView {
        user: GroupMemberView::new(member, &Audience::Staff).into_user(),
        online: realtime.is_online(school, &member.user.id),
    };
    BoardGroupView {
        group: GroupSummaryView::new(group, known.member_count, &Audience::Staff, now),
        members: members.iter().map(member).collect(),
        documents,
        group_assignment: GroupAssignmentView::new(link, &Audience::Staff),
        needs_help: group.help.needs_help(),
        help_requested_at: group.help.requested_at(),
        help_message: group.help.message().cloned(),
        help_withdrawn_at: group.help.withdrawn_at(),
        unread_messages: known.unread,
        writing,
        activity: activity.to_vec(),
    }
}
