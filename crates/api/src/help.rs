//! `/groups/{id}/help`: students set the help flag, staff handle it. See docs/api-contract.md#help-flag.

use api_macros::view;
use axum::Json;
use axum::extract::Path;
use domain::id::{GroupId, UserId};
use domain::rate::Rate;
use domain::text::HelpMessage;
use domain::time::Timestamp;

use super::context::Context;
use super::valid::ValidOrEmpty;
use common::error::Result;
use service::actions::help::{self, HelpRequest, HelpResolution};

/// A help flag that is set.
#[view]
pub(crate) struct HelpRaised {
    needs_help: bool,
    help_requested_at: Option<Timestamp>,
    help_message: Option<HelpMessage>,
}

/// Request help
///
/// A repeated request changes only the message.
#[utoipa::path(post, path = "/groups/{id}/help", params(("id" = String, Path)), request_body = Option<HelpRequest>,
    responses((status = 200, body = HelpRaised), (status = 409, description = "CLASS_ARCHIVED")))]
pub(crate) async fn raise(
    cx: Context,
    Path(id): Path<GroupId>,
    ValidOrEmpty(call): ValidOrEmpty<HelpRequest>,
) -> Result<Json<HelpRaised>> {
    let limit = cx.app().rate_limiter().limit(Rate::Help);
    let group = cx.write(move |tx| help::request(tx, &id, &call, limit)).await?;
    Ok(Json(HelpRaised {
        needs_help: group.help.needs_help(),
        help_requested_at: group.help.requested_at(),
        help_message: group.help.message().cloned(),
    }))
}

/// A help request that is no longer needed.
#[view]
pub(crate) struct HelpWithdrawn {
    /// Stays true until staff resolve the request.
    needs_help: bool,
    /// Null if the group does not ask for help.
    help_withdrawn_at: Option<Timestamp>,
}

/// Mark the own help request as no longer needed
///
/// It stays open, last in the queue, until staff resolve it. Requesting help again renews it.
#[utoipa::path(post, path = "/groups/{id}/help/withdraw", params(("id" = String, Path)),
    responses((status = 200, body = HelpWithdrawn), (status = 409, description = "CLASS_ARCHIVED")))]
pub(crate) async fn withdraw(cx: Context, Path(id): Path<GroupId>) -> Result<Json<HelpWithdrawn>> {
    let group = cx.write(move |tx| help::withdraw(tx, &id)).await?;
    Ok(Json(HelpWithdrawn {
        needs_help: group.help.needs_help(),
        help_withdrawn_at: group.help.withdrawn_at(),
    }))
}

/// A help flag that was cleared.
#[view]
pub(crate) struct HelpResolved {
    needs_help: bool,
}

/// Mark a help request as resolved
#[utoipa::path(post, path = "/groups/{id}/help/resolve", params(("id" = String, Path)), request_body = Option<HelpResolution>,
    responses((status = 200, body = HelpResolved), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn resolve(
    cx: Context,
    Path(id): Path<GroupId>,
    ValidOrEmpty(handled): ValidOrEmpty<HelpResolution>,
) -> Result<Json<HelpResolved>> {
    let group = cx.write(move |tx| help::resolve(tx, &id, &handled)).await?;
    Ok(Json(HelpResolved {
        needs_help: group.help.needs_help(),
    }))
}

/// A claimed help request.
#[view]
pub(crate) struct HelpClaimed {
    /// Null if the group does not ask for help.
    help_claimed_by_id: Option<UserId>,
}

/// Claim a help request
#[utoipa::path(post, path = "/groups/{id}/help/claim", params(("id" = String, Path)),
    responses((status = 200, body = HelpClaimed), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn claim(cx: Context, Path(id): Path<GroupId>) -> Result<Json<HelpClaimed>> {
    let group = cx.write(move |tx| help::claim(tx, &id)).await?;
    Ok(Json(HelpClaimed {
        help_claimed_by_id: group.help.claimed_by().cloned(),
    }))
}
