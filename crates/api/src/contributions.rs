//! `GET /groups/{id}/contributions`: who worked on the documents of a group, how long and how often. Only for staff of
//! the class, because students must not see the minutes of others. See docs/api-contract.md#overview-and-lesson-board.

use axum::Json;
use axum::extract::Path;
use domain::id::GroupId;

use super::context::Context;
use api_types::contribution::MemberContributionView;
use common::error::{Error, Result};

/// List the contributions of the members of a group
///
/// Minutes and saves of each member, as reported by the document server.
#[utoipa::path(get, path = "/groups/{id}/contributions", params(("id" = String, Path)),
    responses((status = 200, body = [MemberContributionView])))]
pub(crate) async fn contributions(cx: Context, Path(id): Path<GroupId>) -> Result<Json<Vec<MemberContributionView>>> {
    let load = cx.read(move |tx| {
        let known = tx.group(&id)?;
        // Teachers of other classes see the outline of the group, which does not include this.
        if !known.has_full_access {
            return Err(Error::NotFound);
        }
        Ok((known.details.members, tx.contributions(&id)?))
    });
    let (members, found) = load.await?;
    Ok(Json(MemberContributionView::all(&members, found)))
}
