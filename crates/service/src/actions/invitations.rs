//! Invitations: an address whose account was not created by this organization is invited, and becomes a member only
//! when its owner accepts. `domain::invitation` holds the rules, `acceptance.rs` the acceptance.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::access::RoleLevel;
use domain::change::InvitationChange;
use domain::domain_error::DomainError;
use domain::error_code::ErrorCode;
use domain::id::InvitationId;
use domain::invitation::{EnrollmentTargets, Invitation, InvitationStatus, LIFETIME, can_be_invited};
use domain::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::people::NewPerson;
use adapters::mailer::{Mailer, Recipient};
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;

/// The page that the emailed link opens. The token is in the fragment (`#`), so that it is neither sent to a server
/// nor logged.
const PAGE: &str = "/accept-invitation";

/// Invites an address. A pending invitation is updated and extended; it is emailed again only if it had expired or
/// was never emailed, so that a repeated import sends no second email.
pub fn invite(
    tx: &mut WriteTx<'_>,
    new: &NewPerson,
    email: &str,
    enrollment_targets: &EnrollmentTargets,
    mail: Option<&Mailer>,
) -> Result<Invitation> {
    can_be_invited(email)?;
    let now = tx.now();
    let inviter_id = tx.actor().user.clone();
    if let Some(mut invitation) = tx.pending_invitation(email)? {
        let is_due = !invitation.is_open(now) || invitation.sent_at.is_none();
        let same = invitation.clone();
        invitation.name = new.name.clone();
        invitation.role = new.role;
        invitation.external_id.clone_from(&new.external_id);
        add_enrollment_targets(&mut invitation, enrollment_targets);
        if is_due {
            invitation.renew(now);
        }
        let is_sent = is_due && send(tx, &mut invitation, mail)?;
        if invitation != same {
            invitation.inviter_id = inviter_id;
            invitation.updated_at = now;
            tx.update_invitation(&invitation)?;
            let change = invitation.clone();
            tx.record(InvitationChange::Renewed {
                invitation: change,
                is_sent,
            });
        }
        return Ok(invitation);
    }
    let mut invitation = Invitation {
        id: InvitationId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        email: email.to_owned(),
        name: new.name.clone(),
        role: new.role,
        external_id: new.external_id.clone(),
        class_ids: enrollment_targets.class_ids.clone(),
        homeroom_ids: enrollment_targets.homeroom_ids.clone(),
        is_home: false,
        inviter_id,
        status: InvitationStatus::Pending,
        sent_at: None,
        expires_at: now.plus_seconds(LIFETIME),
        created_at: now,
        updated_at: now,
    };
    // Canceled invitations count too: canceling and inviting again must not flood a mailbox.
    invitation.sent_at = tx.last_invitation_sent(&invitation.email)?;
    check_rate(&invitation, now)?;
    invitation.sent_at = None;
    if !tx.insert_invitation(&invitation)? {
        return Err(already_invited());
    }
    let is_sent = send(tx, &mut invitation, mail)?;
    tx.update_invitation(&invitation)?;
    tx.record(InvitationChange::Created {
        invitation: invitation.clone(),
        is_sent,
    });
    Ok(invitation)
}

/// Extends a pending invitation and emails it with a new token. The former token becomes invalid.
pub fn resend(tx: &mut WriteTx<'_>, id: &InvitationId, mail: &Mailer) -> Result<Invitation> {
    let now = tx.now();
    let mut invitation = pending(tx, id)?;
    check_rate(&invitation, now)?;
    invitation.renew(now);
    let is_sent = send(tx, &mut invitation, Some(mail))?;
    tx.update_invitation(&invitation)?;
    tx.record(InvitationChange::Renewed {
        invitation: invitation.clone(),
        is_sent,
    });
    Ok(invitation)
}

/// Cancels a pending invitation.
pub fn cancel(tx: &mut WriteTx<'_>, id: &InvitationId) -> Result<Invitation> {
    let mut invitation = pending(tx, id)?;
    set_status(tx, &mut invitation, InvitationStatus::Canceled)?;
    tx.record(InvitationChange::Canceled {
        invitation: invitation.clone(),
    });
    Ok(invitation)
}

/// Returns a pending invitation that the caller may change: its role is below the caller's rank.
fn pending(tx: &mut WriteTx<'_>, id: &InvitationId) -> Result<Invitation> {
    let role_level = tx.role_level()?;
    let invitation = tx.lock_invitation(id)?;
    if role_level != RoleLevel::SuperAdmin && !role_level.outranks(invitation.role) {
        return Err(DomainError::ForbiddenRank.into());
    }
    if invitation.status == InvitationStatus::Pending {
        Ok(invitation)
    } else {
        Err(Error::NotFound)
    }
}

/// Sets the final state of an invitation and invalidates its token.
pub(super) fn set_status(tx: &mut WriteTx<'_>, invitation: &mut Invitation, status: InvitationStatus) -> Result<()> {
    invitation.status = status;
    invitation.updated_at = tx.now();
    tx.set_invitation_token(&invitation.id, None)?;
    tx.update_invitation(invitation)
}

/// Enqueues the email with a new token; returns false if there is no mailer.
fn send(tx: &mut WriteTx<'_>, invitation: &mut Invitation, mail: Option<&Mailer>) -> Result<bool> {
    let Some(mail) = mail else { return Ok(false) };
    let school = tx.current_organization()?;
    let token = better_auth::token::session_token();
    let locale = school.metadata.as_ref().and_then(|metadata| metadata.locale.as_ref());
    let to = Recipient {
        address: &invitation.email,
        name: invitation.name.as_str(),
        locale,
    };
    let host = school
        .custom_domain
        .as_ref()
        .map_or_else(|| mail.host(), |domain| domain.as_str());
    let path = format!("{PAGE}#token={token}");
    let queued = mail.organization_invitation(
        to,
        school.name.as_str(),
        host,
        invitation.role,
        &path,
        LIFETIME / (24 * 60 * 60),
        tx.now(),
    )?;
    tx.set_invitation_token(&invitation.id, Some(&digest(&token)))?;
    tx.enqueue_email(&queued)?;
    invitation.sent_at = Some(tx.now());
    Ok(true)
}

/// Adds classes and homerooms to an invitation, without duplicates.
pub fn add_enrollment_targets(invitation: &mut Invitation, enrollment_targets: &EnrollmentTargets) {
    for class in &enrollment_targets.class_ids {
        if !invitation.class_ids.contains(class) {
            invitation.class_ids.push(class.clone());
        }
    }
    for homeroom in &enrollment_targets.homeroom_ids {
        if !invitation.homeroom_ids.contains(homeroom) {
            invitation.homeroom_ids.push(homeroom.clone());
        }
    }
}

fn check_rate(invitation: &Invitation, now: Timestamp) -> Result<()> {
    let Some(next) = invitation.resend_after(now) else {
        return Ok(());
    };
    let milliseconds = next.as_millis().saturating_sub(now.as_millis()).max(1);
    let retry_after = u64::try_from(milliseconds).unwrap_or(1).div_ceil(1000);
    Err(Error::RateLimited { retry_after })
}

/// Returns the stored form of a token: a hash, so that tokens cannot be recovered from a backup.
pub(super) fn digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes()))
}

fn already_invited() -> Error {
    Error::Conflict {
        code: ErrorCode::AlreadyInvited,
        message: "This address was invited in this moment; read the list of invitations again.",
        path: "email",
        existing_id: None,
    }
}
