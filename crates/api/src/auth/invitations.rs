//! Invitations in the wire format of better-auth, for the invited person and for the administrators of an organization.
//! Invitations are created by `POST /users` and resent by `POST /admin/invitations/{id}/resend`.

use better_auth::error::AuthError;
use better_auth::object::InvitationObject;
use domain::access::{MemberRole, PlatformRole};
use domain::id::InvitationId;
use domain::invitation::{Invitation, InvitationDenial, InvitationStatus};
use serde_json::{Value, json};

use super::dto;
use super::organization::{active, context, find_organization, named_organization};
use super::request::{AuthRequest, CurrentSession};
use super::response::{AuthResult, json_response};
use super::schema;
use common::error::Error;
use db::WriteTx;
use db::platform::invitations::InvitationWithOrganization;
use db::platform::organizations::{OrganizationName, OrganizationOfUser};
use service::actions::acceptance::{self, InvitationCaller};
use service::actions::invitations;

/// List the pending invitations for the caller's address
#[utoipa::path(get, path = "/auth/organization/list-user-invitations",
    responses((status = 200, body = [schema::AuthOwnInvitation], description = "invitations, each with organizationName"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION: the mailbox was never verified")))]
pub(crate) async fn list_own(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let (session, user, now) = (
        current_session.session.clone(),
        current_session.user.clone(),
        request.now,
    );
    let load = request.read(move |platform| {
        if !acceptance::proof(platform, &session, &user)?.is_of_mailbox() {
            return Ok(None);
        }
        platform.invitations_of_address(user.email.stored_form(), now).map(Some)
    });
    let Some(known) = load.await? else {
        return current_session.reject(AuthError::invitation_needs_mailbox());
    };
    let views: Vec<Value> = known.iter().map(with_organization).collect();
    Ok(json_response(&views, current_session.cookies))
}

/// Get an invitation for the caller's address
#[utoipa::path(get, path = "/auth/organization/get-invitation",
    params(("id" = String, Query, description = "The invitation")),
    responses((status = 200, body = schema::AuthInvitationDetail, description = "invitation with organizationName, organizationSlug, inviterEmail"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION, \
            EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION")))]
pub(crate) async fn show(request: AuthRequest) -> AuthResult {
    let query = request.query_object();
    let mut reader = better_auth::schema::FieldReader::query(&query);
    let id = InvitationId::new(reader.string("id"));
    reader.finish()?;
    let current_session = request.current_session().await?;
    let (session, user, now) = (
        current_session.session.clone(),
        current_session.user.clone(),
        request.now,
    );
    let load = request.read(move |platform| {
        let Some(known) = platform.invitation_with_organization(&id)? else {
            return Ok(Err(InvitationDenial::NotOpen));
        };
        let proof = acceptance::proof(platform, &session, &user)?;
        Ok(known.invitation.may_be_answered(proof, now).map(|()| known))
    });
    match load.await? {
        Ok(known) => {
            let mut view = with_organization(&known);
            view["organizationSlug"] = json!(known.organization_slug);
            view["inviterEmail"] = json!(known.inviter_email);
            Ok(json_response(&view, current_session.cookies))
        }
        Err(denial) => current_session.reject(denied(denial)),
    }
}

/// Accept an invitation for the caller's address
///
/// Requires a verified mailbox.
#[utoipa::path(post, path = "/auth/organization/accept-invitation",
    request_body = schema::AuthInvitationId,
    responses((status = 200, body = schema::AuthInvitationClosed, description = "invitation and member; the organization becomes active in the session"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION, \
            EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION")))]
pub(crate) async fn accept(request: AuthRequest) -> AuthResult {
    respond(request, InvitationStatus::Accepted).await
}

/// Decline an invitation for the caller's address
#[utoipa::path(post, path = "/auth/organization/reject-invitation",
    request_body = schema::AuthInvitationId,
    responses((status = 200, body = schema::AuthInvitationClosed, description = "invitation, and null for member"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION, \
            EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION")))]
pub(crate) async fn reject(request: AuthRequest) -> AuthResult {
    respond(request, InvitationStatus::Rejected).await
}

/// List the invitations of an organization in every state
///
/// For administrators of the organization.
#[utoipa::path(get, path = "/auth/organization/list-invitations",
    params(("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one")),
    responses((status = 200, body = [schema::AuthInvitation], description = "invitations"), (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "ORGANIZATION_NOT_FOUND"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_LIST_INVITATIONS, USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let Some(name) = named_organization(&request).or_else(|| active(&current_session)) else {
        return current_session.reject(AuthError::organization_not_found());
    };
    let seen = find_organization(&request, &current_session, name).await?;
    if !is_administrator(&current_session, &seen) {
        return current_session.reject(AuthError::may_not_list_invitations());
    }
    let context = context(&request, &current_session, &seen)?;
    let found = request.app.store().read(context, |tx| tx.newest_invitations()).await?;
    let views: Vec<InvitationObject> = found.into_iter().map(dto::invitation).collect();
    Ok(json_response(&views, current_session.cookies))
}

/// Withdraw an invitation
#[utoipa::path(post, path = "/auth/organization/cancel-invitation",
    request_body = schema::AuthInvitationId,
    responses((status = 200, body = schema::AuthInvitation, description = "the invitation, canceled"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND, MEMBER_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_CANCEL_THIS_INVITATION")))]
pub(crate) async fn cancel(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let id = InvitationId::new(reader.string("invitationId"));
    reader.finish()?;
    let current_session = request.current_session().await?;
    let lookup = id.clone();
    let load = request.read(move |platform| platform.invitation_with_organization(&lookup));
    let Some(known) = load.await? else {
        return current_session.reject(AuthError::invitation_not_found());
    };
    let name = OrganizationName::Id(known.invitation.organization_id.to_string());
    let Ok(seen) = find_organization(&request, &current_session, name).await else {
        return current_session.reject(AuthError::member_not_found());
    };
    if !is_administrator(&current_session, &seen) {
        return current_session.reject(AuthError::may_not_cancel_invitation());
    }
    let context = context(&request, &current_session, &seen)?;
    let cancel = move |tx: &mut WriteTx<'_>| invitations::cancel(tx, &id);
    match request.app.transactor().write(context, cancel).await {
        Ok(invitation) => Ok(json_response(&dto::invitation(invitation), current_session.cookies)),
        Err(Error::NotFound) => current_session.reject(AuthError::invitation_not_found()),
        Err(Error::Domain(_)) => current_session.reject(AuthError::may_not_cancel_invitation()),
        Err(error) => Err(error.into()),
    }
}

async fn respond(request: AuthRequest, status: InvitationStatus) -> AuthResult {
    let mut reader = request.reader();
    let id = InvitationId::new(reader.string("invitationId"));
    reader.finish()?;
    let current_session = request.current_session().await?;
    let (session, user) = (current_session.session.clone(), current_session.user.clone());
    let responder = InvitationCaller {
        platform: None,
        request_id: request.request_id.clone(),
        now: request.now,
    };
    let outcome = request
        .act(move |tx| acceptance::respond(tx, &id, (&session, &user), status, &responder))
        .await?;
    match outcome {
        Ok(outcome) => {
            let organization = outcome.invitation.organization_id.clone();
            let member = outcome.member.map(dto::plain_member);
            let body = json!({ "invitation": dto::invitation(outcome.invitation), "member": member });
            if member.is_none() {
                return Ok(json_response(&body, current_session.cookies));
            }
            let mut session = current_session.session.clone();
            session.active_organization_id = Some(organization);
            session.updated_at = request.now;
            Ok(json_response(
                &body,
                request.issue(&session, &current_session.user, current_session.remember),
            ))
        }
        Err(InvitationDenial::MailboxNotProven) => current_session.reject(AuthError::answer_needs_mailbox()),
        Err(denial) => current_session.reject(denied(denial)),
    }
}

fn is_administrator(current_session: &CurrentSession, seen: &OrganizationOfUser) -> bool {
    let role = seen.member.as_ref().map(|member| member.role);
    current_session.user.role == PlatformRole::SuperAdmin || matches!(role, Some(MemberRole::Owner | MemberRole::Admin))
}

fn with_organization(known: &InvitationWithOrganization) -> Value {
    let mut view = json!(dto::invitation(Invitation::clone(&known.invitation)));
    view["organizationName"] = json!(known.organization_name);
    view
}

fn denied(denial: InvitationDenial) -> AuthError {
    match denial {
        InvitationDenial::NotOpen => AuthError::invitation_not_found(),
        InvitationDenial::NotTheRecipient => AuthError::not_the_recipient_of_the_invitation(),
        InvitationDenial::MailboxNotProven => AuthError::invitation_needs_mailbox(),
    }
}
