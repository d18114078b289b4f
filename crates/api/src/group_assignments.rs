//! `/assignments/{id}/groups`: the groups that work on a topic. See docs/api-contract.md#topics.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use domain::group_assignment::GroupAssignmentEdit;
use domain::id::{AssignmentId, GroupId};

use super::context::Context;
use super::dry_run::DryRun;
use super::patch_fields::Editable;
use super::response::Ack;
use super::valid::{Patch, Switch, Valid, ValidQuery};
use api_types::audience::Audience;
use api_types::group_assignment::GroupAssignmentView;
use common::error::Result;
use service::actions::group_assignments::{self, NewGroups};

#[query]
pub(crate) struct Force {
    /// If `1`, detach the group even if it has submitted, and delete its submissions.
    force: Switch,
    /// Preview the effects without changing anything.
    dry_run: DryRun,
}

impl Editable for GroupAssignmentEdit {
    type Resource = GroupAssignmentView;
}

/// Attach groups to a topic
///
/// Groups that are attached already are returned unchanged.
#[utoipa::path(post, path = "/assignments/{id}/groups", params(("id" = String, Path)), request_body = NewGroups,
    responses((status = 200, body = [GroupAssignmentView]),
        (status = 409, description = "ASSIGNMENT_FINISHED, CLASS_MISMATCH, COURSE_MISMATCH, COURSE_ARCHIVED, \
         CLASS_ARCHIVED, \
            DUPLICATE_GROUP_ASSIGNMENT when another text or publication is given for an attached group"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn attach(
    cx: Context,
    Path(id): Path<AssignmentId>,
    Valid(new): Valid<NewGroups>,
) -> Result<Json<Vec<GroupAssignmentView>>> {
    let links = cx.write(move |tx| group_assignments::attach(tx, &id, &new)).await?;
    Ok(Json(
        links
            .iter()
            .map(|link| GroupAssignmentView::new(link, &Audience::Staff))
            .collect(),
    ))
}

/// Set the own text, the extended deadline or the publication of a group
#[utoipa::path(patch, path = "/assignments/{id}/groups/{groupId}",
    params(("id" = String, Path), ("groupId" = String, Path)), request_body = GroupAssignmentEdit,
    responses((status = 200, body = GroupAssignmentView),
        (status = 409, description = "ASSIGNMENT_FINISHED, ASSIGNMENT_STARTED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn edit(
    cx: Context,
    Path((id, group)): Path<(AssignmentId, GroupId)>,
    patch: Patch<GroupAssignmentEdit>,
) -> Result<Json<GroupAssignmentView>> {
    let link = cx
        .write(move |tx| group_assignments::edit(tx, &id, &group, &patch.edit))
        .await?;
    Ok(Json(GroupAssignmentView::new(&link, &Audience::Staff)))
}

/// Detach a group from a topic
#[utoipa::path(delete, path = "/assignments/{id}/groups/{groupId}",
    params(("id" = String, Path), ("groupId" = String, Path), Force),
    responses((status = 200, body = Ack), (status = 409, description = "HAS_SUBMISSION, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn detach(
    cx: Context,
    Path((id, group)): Path<(AssignmentId, GroupId)>,
    ValidQuery(query): ValidQuery<Force>,
) -> Result<Json<Ack>> {
    let is_forced = query.force.0;
    cx.write_or_preview(query.dry_run, move |tx| {
        group_assignments::detach(tx, &id, &group, is_forced)
    })
    .await?;
    Ok(Json(Ack::SUCCESS))
}
