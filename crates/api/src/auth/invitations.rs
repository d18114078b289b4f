//! Invitations in the wire format of better-auth, for the invited person and for the administrators of an organization.
//! Invitations are created by `POST /users` and resent by `POST /admin/invitations/{id}/resend`.

use better_auth::error::AuthError;
use better_auth::object::InvitationObject;
use model::access::{MemberRole, PlatformRole};
use model::id::InvitationId;
use model::invitation::{Invitation, InvitationDenial, InvitationStatus};
use serde_json::{Value, json};

use super::answer::{Answered, Refused, answer};
use super::asked::{Asked, Present};
use super::organization::{active, asked_for, context, reach};
use super::schema;
use super::wire;
use common::error::Error;
use db::platform::CrossTenantReason;
use db::platform::invitations::InvitationWithOrganization;
use db::platform::organizations::{OrganizationName, OrganizationOfUser};
use service::actions::acceptance::{self, InvitationCaller};
use service::actions::invitations;
use service::changes;

/// List the pending invitations for the caller's address
#[utoipa::path(get, path = "/auth/organization/list-user-invitations",
    responses((status = 200, body = [schema::OwnInvitation], description = "invitations, each with organizationName"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION: the mailbox was never verified")))]
pub async fn list_own(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let (session, user, now) = (present.session.clone(), present.user.clone(), asked.now);
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            if !acceptance::proof(platform, &session, &user)?.is_of_mailbox() {
                return Ok(None);
            }
            platform.invitations_of_address(&user.email, now).map(Some)
        });
    let Some(known) = load.await? else {
        return refused(AuthError::invitation_needs_mailbox(), &present);
    };
    let views: Vec<Value> = known.iter().map(with_organization).collect();
    Ok(answer(&views, present.cookies))
}

/// Get an invitation for the caller's address
#[utoipa::path(get, path = "/auth/organization/get-invitation",
    params(("id" = String, Query, description = "The invitation")),
    responses((status = 200, body = schema::InvitationDetail, description = "invitation with organizationName, organizationSlug, inviterEmail"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION, \
            EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION")))]
pub async fn show(asked: Asked) -> Answered {
    let query = asked.query_object();
    let mut reader = better_auth::schema::FieldReader::query(&query);
    let id = InvitationId::new(reader.string("id"));
    reader.finish()?;
    let present = asked.present().await?;
    let (session, user, now) = (present.session.clone(), present.user.clone(), asked.now);
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
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
            Ok(answer(&view, present.cookies))
        }
        Err(denial) => refused(denied(denial), &present),
    }
}

/// Accept an invitation for the caller's address
///
/// Requires a verified mailbox.
#[utoipa::path(post, path = "/auth/organization/accept-invitation",
    request_body = schema::InvitationName,
    responses((status = 200, body = schema::InvitationClosed, description = "invitation and member; the organization becomes active in the session"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION, \
            EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION")))]
pub async fn accept(asked: Asked) -> Answered {
    respond(asked, InvitationStatus::Accepted).await
}

/// Decline an invitation for the caller's address
#[utoipa::path(post, path = "/auth/organization/reject-invitation",
    request_body = schema::InvitationName,
    responses((status = 200, body = schema::InvitationClosed, description = "invitation, and null for member"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION, \
            EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION")))]
pub async fn reject(asked: Asked) -> Answered {
    respond(asked, InvitationStatus::Rejected).await
}

/// List the invitations of an organization in every state
///
/// For administrators of the organization.
#[utoipa::path(get, path = "/auth/organization/list-invitations",
    params(("organizationId" = Option<String>, Query, description = "The organization. Defaults to the active one")),
    responses((status = 200, body = [schema::AuthInvitation], description = "invitations"), (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "ORGANIZATION_NOT_FOUND"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_LIST_INVITATIONS, USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION")))]
pub async fn list(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(name) = asked_for(&asked).or_else(|| active(&present)) else {
        return refused(AuthError::organization_not_found(), &present);
    };
    let seen = reach(&asked, &present, name).await?;
    if !administers(&present, &seen) {
        return refused(AuthError::may_not_list_invitations(), &present);
    }
    let context = context(&asked, &present, &seen)?;
    let found = asked.app.store().read(context, |tx| tx.newest_invitations()).await?;
    let views: Vec<InvitationObject> = found.into_iter().map(wire::invitation).collect();
    Ok(answer(&views, present.cookies))
}

/// Withdraw an invitation
#[utoipa::path(post, path = "/auth/organization/cancel-invitation",
    request_body = schema::InvitationName,
    responses((status = 200, body = schema::AuthInvitation, description = "the invitation, canceled"),
        (status = 400, description = "BAD_REQUEST, INVITATION_NOT_FOUND, MEMBER_NOT_FOUND"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_CANCEL_THIS_INVITATION")))]
pub async fn cancel(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let id = InvitationId::new(reader.string("invitationId"));
    reader.finish()?;
    let present = asked.present().await?;
    let sought = id.clone();
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.invitation_with_organization(&sought)
        });
    let Some(known) = load.await? else {
        return refused(AuthError::invitation_not_found(), &present);
    };
    let name = OrganizationName::Id(known.invitation.organization_id.to_string());
    let Ok(seen) = reach(&asked, &present, name).await else {
        return refused(AuthError::member_not_found(), &present);
    };
    if !administers(&present, &seen) {
        return refused(AuthError::may_not_cancel_invitation(), &present);
    }
    let context = context(&asked, &present, &seen)?;
    let (store, bus) = (asked.app.store(), asked.app.bus());
    let act = changes::perform(store, bus, context, move |tx| invitations::cancel(tx, &id));
    match act.await {
        Ok(invitation) => Ok(answer(&wire::invitation(invitation), present.cookies)),
        Err(Error::NotFound) => refused(AuthError::invitation_not_found(), &present),
        Err(Error::Domain(_)) => refused(AuthError::may_not_cancel_invitation(), &present),
        Err(error) => Err(error.into()),
    }
}

async fn respond(asked: Asked, status: InvitationStatus) -> Answered {
    let mut reader = asked.reader();
    let id = InvitationId::new(reader.string("invitationId"));
    reader.finish()?;
    let present = asked.present().await?;
    let (session, user) = (present.session.clone(), present.user.clone());
    let answerer = InvitationCaller {
        platform: None,
        request_id: asked.request_id.clone(),
        now: asked.now,
    };
    let answered = asked
        .act(move |tx| acceptance::respond(tx, &id, (&session, &user), status, &answerer))
        .await?;
    match answered {
        Ok(answered) => {
            let organization = answered.invitation.organization_id.clone();
            let member = answered.member.map(wire::plain_member);
            let body = json!({ "invitation": wire::invitation(answered.invitation), "member": member });
            if member.is_none() {
                return Ok(answer(&body, present.cookies));
            }
            let mut session = present.session.clone();
            session.active_organization_id = Some(organization);
            session.updated_at = asked.now;
            Ok(answer(&body, asked.issue(&session, &present.user, present.remember)))
        }
        Err(InvitationDenial::MailboxNotProven) => refused(AuthError::answer_needs_mailbox(), &present),
        Err(denial) => refused(denied(denial), &present),
    }
}

fn administers(present: &Present, seen: &OrganizationOfUser) -> bool {
    let role = seen.member.as_ref().map(|member| member.role);
    present.user.role == PlatformRole::SuperAdmin || matches!(role, Some(MemberRole::Owner | MemberRole::Admin))
}

fn with_organization(known: &InvitationWithOrganization) -> Value {
    let mut view = json!(wire::invitation(Invitation::clone(&known.invitation)));
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

fn refused(error: AuthError, present: &Present) -> Answered {
    Err(Refused::from(error).with(present.cookies.clone()))
}
