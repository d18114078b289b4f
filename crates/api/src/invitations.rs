//! Invitation routes outside of the better-auth wire format: the list and the emails for administrators, and the page
//! that the mailed token opens. The token is sent in a body, never in a URL, so that no log contains it. See
//! docs/accounts.md.

use api_macros::{body, query, view};
use axum::Extension;
use axum::Json;
use axum::extract::{Path, State};
use domain::id::InvitationId;

use super::context::{App, Context};
use super::cross_tenant_list::Direction;
use super::pagination::{Cursor, Invitations, Limit, Page, window};
use super::valid::{Valid, ValidQuery};
use api_types::invitation::{InvitationPreview, InvitationView};
use api_types::user::MembershipView;
use auth::{RequestId, temporary_password};
use common::clock;
use common::error::{Error, Result};
use db::ReadTx;
use db::page::{Position, Window};
use db::platform::invitations::InvitationWithOrganization;
use db::platform::{CrossTenantReason, PlatformWriteTx};
use service::actions::acceptance::{self, InvitationCaller, NewPassword};
use service::actions::invitations;

#[query]
pub(crate) struct InvitationListQuery {
    /// Maximum number of invitations. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, Invitations>>,
}

/// The token of an email.
#[body]
pub(crate) struct MailedToken {
    /// The part after `#token=` in the link.
    #[garde(length(max = 128))]
    token: String,
}

/// The token of an email, and the password for an account whose mailbox was never verified.
#[body]
pub(crate) struct Acceptance {
    /// The part after `#token=` in the link.
    #[garde(length(max = 128))]
    token: String,
    /// Required if the preview has `needsPassword`, ignored otherwise.
    #[garde(skip)]
    password: Option<String>,
}

/// A membership created with the token of an email.
#[view]
pub(crate) struct AcceptedInvitation {
    invitation: InvitationView,
    member: MembershipView,
}

/// A membership that a SUPER_ADMIN confirmed.
#[view]
pub(crate) struct ConfirmedInvitation {
    invitation: InvitationView,
    member: MembershipView,
    /// The new password of the account, returned only once. Absent if the account keeps its password.
    #[serde(skip_serializing_if = "Option::is_none")]
    temporary_password: Option<String>,
}

/// List the pending invitations of the organization, newest first
///
/// Expired invitations are included.
#[utoipa::path(get, path = "/admin/invitations", params(InvitationListQuery),
    responses((status = 200, body = Page<InvitationView>)))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(query): ValidQuery<InvitationListQuery>,
) -> Result<Json<Page<InvitationView>>> {
    let window = window(query.limit, query.cursor);
    let load = move |tx: &mut ReadTx<'_>, window: &Window<i64>| tx.pending_invitations(window);
    let position = |invitation: &domain::invitation::Invitation| Position {
        key: invitation.created_at.as_millis(),
        id: invitation.id.to_string(),
    };
    let slice = cx.page(window, Direction::Descending, load, position).await?;
    Ok(Json(Page::of(Invitations, slice, InvitationView::new)))
}

/// Send an invitation again and extend it by seven days
///
/// The link of the previous email becomes invalid.
#[utoipa::path(post, path = "/admin/invitations/{id}/resend", params(("id" = String, Path)),
    responses((status = 200, body = InvitationView), (status = 403, description = "FORBIDDEN_RANK")))]
pub(crate) async fn resend(cx: Context, Path(id): Path<InvitationId>) -> Result<Json<InvitationView>> {
    let mail = cx.app().mail().clone();
    let invitation = cx.write(move |tx| invitations::resend(tx, &id, &mail)).await?;
    Ok(Json(InvitationView::new(invitation)))
}

/// Confirm an invitation on behalf of a person who cannot receive email
///
/// The activity log names the actor. An account whose mailbox was never verified gets a temporary password, its
/// sessions end and its other memberships become invitations.
#[utoipa::path(post, path = "/admin/invitations/{id}/confirm", params(("id" = String, Path)),
    responses((status = 200, body = ConfirmedInvitation)))]
pub(crate) async fn confirm(cx: Context, Path(id): Path<InvitationId>) -> Result<Json<ConfirmedInvitation>> {
    let temporary = temporary_password::generate();
    let hash = cx
        .app()
        .authenticator()
        .password_hasher()
        .hash(temporary.clone())
        .await?;
    let password = NewPassword::Temporary(hash);
    let responder = InvitationCaller {
        platform: Some(cx.caller().actor()),
        request_id: cx.caller().request_id.clone(),
        now: cx.caller().now,
    };
    let confirm = move |tx: &mut PlatformWriteTx<'_>| acceptance::confirm(tx, &id, &password, &responder);
    let transactor = cx.app().transactor();
    let (outcome, is_replaced) = transactor
        .write_platform(CrossTenantReason::SuperAdmin, confirm)
        .await?;
    let member = outcome.member.ok_or(Error::NotFound)?;
    Ok(Json(ConfirmedInvitation {
        invitation: InvitationView::new(outcome.invitation),
        member: member.into(),
        temporary_password: is_replaced.then_some(temporary),
    }))
}

/// Get the invitation of a mailed token
///
/// Does not use up the token.
#[utoipa::path(post, path = "/invitations/preview", request_body = MailedToken,
    responses((status = 200, body = InvitationPreview),
        (status = 404, description = "The token is unknown, used, withdrawn or expired, NOT_FOUND")))]
pub(crate) async fn preview(
    State(app): State<App>,
    Valid(lookup): Valid<MailedToken>,
) -> Result<Json<InvitationPreview>> {
    let now = clock::now();
    let (known, needs_password) = load(&app, lookup.token, now).await?;
    let InvitationWithOrganization {
        invitation,
        organization_name,
        organization_slug,
        organization_logo,
        custom_domain,
        ..
    } = known;
    let host = custom_domain.map_or_else(|| app.mail().host().to_owned(), |domain| domain.as_str().to_owned());
    Ok(Json(InvitationPreview {
        organization_name,
        organization_slug,
        organization_logo,
        host,
        role: invitation.role,
        email: invitation.email,
        needs_password,
        expires_at: invitation.expires_at,
    }))
}

/// Accept an invitation with the token of the email
///
/// For an account whose mailbox was never verified, the password is replaced in the same step, all sessions end, and
/// its other memberships become invitations.
#[utoipa::path(post, path = "/invitations/accept", request_body = Acceptance,
    responses((status = 200, body = AcceptedInvitation),
        (status = 404, description = "The token is unknown, used, withdrawn or expired, NOT_FOUND")))]
pub(crate) async fn accept(
    State(app): State<App>,
    request_id: Option<Extension<RequestId>>,
    Valid(acceptance): Valid<Acceptance>,
) -> Result<Json<AcceptedInvitation>> {
    let now = clock::now();
    let Acceptance { token, password } = acceptance;
    // Avoids hashing for an invalid token.
    let (known, needs_password) = load(&app, token.clone(), now).await?;
    let hash = match password.filter(|_| needs_password) {
        Some(password) => {
            let own = [
                known.invitation.name.as_str(),
                known.invitation.email.as_str(),
                known.organization_name.as_str(),
                known.organization_slug.as_str(),
            ];
            better_auth::password::check_new(&password, &own)
                .map_err(|error| Error::invalid("password", "format", error.to_string()))?;
            Some(app.authenticator().password_hasher().hash(password).await?)
        }
        None => None,
    };
    let (password, responder) = (
        NewPassword::Own(hash),
        InvitationCaller {
            platform: None,
            request_id: request_id.map(|Extension(RequestId(id))| id),
            now,
        },
    );
    let accept = move |tx: &mut PlatformWriteTx<'_>| acceptance::accept_with_token(tx, &token, &password, &responder);
    let transactor = app.transactor();
    let outcome = transactor
        .write_platform(CrossTenantReason::SessionLookup, accept)
        .await?;
    let member = outcome.member.ok_or(Error::NotFound)?;
    Ok(Json(AcceptedInvitation {
        invitation: InvitationView::new(outcome.invitation),
        member: member.into(),
    }))
}

async fn load(app: &App, token: String, now: domain::time::Timestamp) -> Result<(InvitationWithOrganization, bool)> {
    app.store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            let known = acceptance::find_by_token(platform, &token, now)?;
            let needs_password = acceptance::needs_password(platform, &known.invitation.email)?;
            Ok((known, needs_password))
        })
        .await
}
