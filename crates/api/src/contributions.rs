//! `/groups/{id}/contributions`: who worked on the documents of a group, how long and how often. It is for the teachers of
//! the class: nobody is to count his classmates' minutes.

use axum::Json;
use axum::extract::Path;
use model::access::Access;
use model::id::GroupId;
use utoipa_axum::routes;

use super::context::Context;
use super::endpoint::Endpoints;
use api_types::contribution::MemberContributionView;
use common::error::{Error, Result};

/// The route.
pub fn routes() -> Endpoints {
    Endpoints::new("groups").add(Access::Staff, routes!(contributions))
}

/// Who worked on the documents of a group: minutes and saves of each member, from what the document server told
#[utoipa::path(get, path = "/groups/{id}/contributions", params(("id" = String, Path)),
    responses((status = 200, body = [MemberContributionView])))]
async fn contributions(cx: Context, Path(id): Path<GroupId>) -> Result<Json<Vec<MemberContributionView>>> {
    let look = cx.read(move |scope| {
        let known = scope.group(&id)?;
        // Colleagues know the outline of the group; this is not part of it.
        if !known.is_seen {
            return Err(Error::NotFound);
        }
        Ok((known.whole.members, scope.contributions(&id)?))
    });
    let (members, found) = look.await?;
    Ok(Json(MemberContributionView::all(&members, found)))
}
