//! Accepting an invitation: signed in with a proven mailbox, by the mailed token, or confirmed by a platform administrator
//! where there is no email. Registering the address first gains nothing: on an account whose mailbox was
//! never proven the password is replaced, all sessions end and every other membership becomes an invitation.

use model::access::{MemberRole, Viewer};
use model::change::class::ClassChange;
use model::change::homeroom::HomeroomChange;
use model::change::invitation::{AcceptedBy, InvitationChange};
use model::change::user::UserChange;
use model::class::EnrolledBy;
use model::id::{ClassId, HomeroomId, InvitationId, UserId};
use model::invitation::{Denial, Invitation, InvitationStatus, LIFETIME, Proof};
use model::news::KillReason;
use model::time::Timestamp;
use model::user::Member;

use super::invitations::{add_places, digest, settle};
use super::people::{self, NewPerson, Password};
use super::{classes, passwords, sessions};
use common::clock;
use common::error::{Error, Result};
use db::leaving::EndedMembership;
use db::people::{Membership, NewAccount};
use db::platform::invitations::KnownInvitation;
use db::platform::sessions::{Session, User};
use db::platform::{Platform, PlatformWork};
use db::{Actor, Standpoint, Work};

/// An answered invitation, with the membership if it was accepted.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The invitation as it is now.
    pub invitation: Invitation,
    /// The membership, if the invitation was accepted.
    pub member: Option<Member>,
}

/// The password that replaces the one of an account whose mailbox was never proven.
#[derive(Debug, Clone)]
pub enum NewPassword {
    /// Chosen by the person who holds the mailed token; none where the account needs none.
    Own(Option<String>),
    /// Made by the service for a platform administrator to hand over.
    Temporary(String),
}

/// The acting user, for the activity log.
#[derive(Debug, Clone)]
pub struct Answerer {
    /// The platform administrator; none for the invited person.
    pub platform: Option<Actor>,
    /// The request.
    pub request_id: Option<String>,
    /// The request's clock.
    pub now: Timestamp,
}

/// What a session proves about the mailbox of its account.
pub fn proof<'a>(platform: &mut Platform<'_>, session: &Session, user: &'a User) -> Result<Proof<'a>> {
    let mailbox = platform.mailbox(&user.id)?.ok_or(Error::Unauthenticated)?;
    Ok(Proof::Session {
        email: &user.email,
        is_verified: mailbox.is_verified,
        has_own_password: mailbox.password_organization.is_none(),
        is_impersonated: session.impersonated_by.is_some(),
    })
}

/// Whether an administrator chose the password of an account that other organizations know: the signed-in person may
/// be that administrator, so it must not reach beyond that organization, nor move the account to another mailbox.
pub fn is_confined(platform: &mut Platform<'_>, user: &UserId) -> Result<bool> {
    let mailbox = platform.mailbox(user)?;
    let Some(organization) = mailbox.and_then(|mailbox| mailbox.password_organization) else {
        return Ok(false);
    };
    Ok(platform.memberships(user)?.iter().any(|other| *other != organization))
}

/// Accepts or rejects an invitation in a session; an accepted one becomes the session's organization.
pub fn answer(
    work: &mut PlatformWork<'_>,
    id: &InvitationId,
    (session, user): (&Session, &User),
    status: InvitationStatus,
    answerer: &Answerer,
) -> Result<std::result::Result<Answered, Denial>> {
    let Some(known) = work.known_invitation(id)? else {
        return Ok(Err(Denial::NotOpen));
    };
    if status == InvitationStatus::Accepted {
        hold(work, &known, answerer)?;
    }
    // Locked, so that the mailbox cannot lose its proof meanwhile.
    work.profile_to_change(&user.id)?;
    let proof = proof(work, session, user)?;
    if let Err(denial) = known.invitation.may_be_answered(proof, answerer.now) {
        return Ok(Err(denial));
    }
    let standpoint = standpoint(&known, answerer, &user.id, &user.name);
    let answered = work.within(standpoint, |work| {
        let mut invitation = work.invitation_to_change(id)?;
        if !invitation.is_open(answerer.now) {
            return Ok(None);
        }
        if status == InvitationStatus::Accepted {
            return join(work, invitation, &user.id, AcceptedBy::Session).map(Some);
        }
        settle(work, &mut invitation, InvitationStatus::Rejected)?;
        let change = invitation.clone();
        work.record(InvitationChange::Rejected { invitation: change });
        let member = None;
        Ok(Some(Answered { invitation, member }))
    })?;
    let Some(answered) = answered else {
        return Ok(Err(Denial::NotOpen));
    };
    if answered.member.is_some() {
        let organization = Some(known.tenant.id());
        sessions::choose(work, session, organization, answerer.now)?;
    }
    Ok(Ok(answered))
}

/// Whether accepting with the mailed token asks for a new password: the mailbox of the account was never proven, or an
/// administrator chose its password, or there is no account.
pub fn needs_password(platform: &mut Platform<'_>, email: &str) -> Result<bool> {
    let Some(user) = platform.user_with_email(email)? else {
        return Ok(true);
    };
    let mailbox = platform.mailbox(&user)?;
    Ok(mailbox.is_none_or(|mailbox| !mailbox.is_verified || mailbox.password_organization.is_some()))
}

/// The invitation of a mailed token that can still be accepted.
pub fn of_token(platform: &mut Platform<'_>, token: &str, now: Timestamp) -> Result<KnownInvitation> {
    let known = platform.invitation_of_token(&digest(token))?;
    known
        .filter(|known| known.invitation.may_be_answered(Proof::Token, now).is_ok())
        .ok_or(Error::NotFound)
}

/// Accepts with the mailed token.
pub fn accept_with_token(
    work: &mut PlatformWork<'_>,
    token: &str,
    password: &NewPassword,
    answerer: &Answerer,
) -> Result<Answered> {
    let known = of_token(work, token, answerer.now)?;
    accept(work, &known, password, AcceptedBy::Token, answerer)
}

/// Accepts in the place of a person whom no email reaches. The mailbox stays unproven.
pub fn confirm(
    work: &mut PlatformWork<'_>,
    id: &InvitationId,
    password: &NewPassword,
    answerer: &Answerer,
) -> Result<(Answered, bool)> {
    let known = work.known_invitation(id)?.ok_or(Error::NotFound)?;
    if !known.invitation.is_open(answerer.now) {
        return Err(Error::NotFound);
    }
    let is_replaced = needs_password(work, &known.invitation.email)?;
    let answered = accept(work, &known, password, AcceptedBy::Platform, answerer)?;
    Ok((answered, is_replaced))
}

fn accept(
    work: &mut PlatformWork<'_>,
    known: &KnownInvitation,
    password: &NewPassword,
    by: AcceptedBy,
    answerer: &Answerer,
) -> Result<Answered> {
    hold(work, known, answerer)?;
    let (email, now) = (&known.invitation.email, answerer.now);
    let needs_password = needs_password(work, email)?;
    let hash = match password {
        NewPassword::Own(hash) => hash.as_ref(),
        NewPassword::Temporary(hash) => Some(hash),
    };
    let hash = hash.filter(|_| needs_password);
    if needs_password && hash.is_none() {
        let message = "is required: choose a password for this account";
        return Err(Error::invalid("password", "required", message));
    }
    let found = work.user_with_email(email)?;
    let user = match &found {
        Some(user) => user.clone(),
        None => UserId::new(clock::new_id()),
    };
    if found.is_some() {
        take_over(work, known, &user, hash.map(String::as_str), answerer)?;
    }
    let (is_new, name) = (found.is_none(), known.invitation.name.as_str().to_owned());
    let invitation_id = known.invitation.id.clone();
    let answered = work.within(standpoint(known, answerer, &user, &name), |work| {
        let invitation = work.invitation_to_change(&invitation_id)?;
        if !invitation.is_open(now) {
            return Err(Error::NotFound);
        }
        if is_new {
            insert_account(work, &invitation, &user)?;
        }
        let answered = join(work, invitation, &user, by)?;
        if let (NewPassword::Temporary(_), Some(hash)) = (password, hash) {
            people::write_password(work, &user, &Password::Temporary(hash.clone()))?;
        }
        Ok(answered)
    })?;
    if by == AcceptedBy::Token {
        if let (true, Some(hash)) = (is_new, hash) {
            work.choose_password(&user, hash, now)?;
        }
        work.prove_mailbox(&user, now)?;
    }
    Ok(answered)
}

/// Replaces the password of an account that exists, if it has to be replaced. Where the mailbox was never proven, the creator of
/// the account is unknown: its sessions and links end, and its other memberships have to be accepted again.
fn take_over(
    work: &mut PlatformWork<'_>,
    known: &KnownInvitation,
    user: &UserId,
    hash: Option<&str>,
    answerer: &Answerer,
) -> Result<()> {
    let account = work.profile_to_change(user)?;
    if account.email != known.invitation.email {
        return Err(Error::NotFound);
    }
    let Some(hash) = hash else { return Ok(()) };
    work.delete_verifications(user)?;
    passwords::replace(work, user, hash, answerer.now)?;
    if account.email_verified {
        return Ok(());
    }
    sessions::revoke_all(work, user, None, KillReason::PasswordChanged)?;
    for other in work.organizations_of(user)? {
        // A deactivated membership opens nothing, and stays for its organization to activate: accepting must not do that.
        let is_active = other.member.as_ref().is_some_and(|member| member.is_active);
        if !is_active || other.tenant.id() == known.tenant.id() {
            continue;
        }
        let standpoint = Standpoint {
            tenant: other.tenant,
            ..standpoint(known, answerer, user, account.name.as_str())
        };
        work.within(standpoint, |work| {
            let membership = work.membership_to_change(user)?;
            turn_into_invitation(work, membership)
        })?;
    }
    Ok(())
}

/// Ends a membership and leaves an invitation in its place, with the same role, classes and homerooms. It is not mailed: the
/// person who reads the mailbox finds it after signing in.
pub(super) fn turn_into_invitation(work: &mut Work<'_>, membership: Membership) -> Result<()> {
    let Membership { user, member, .. } = membership;
    let (now, is_home) = (
        work.now(),
        user.home_organization_id.as_ref() == Some(work.organization()),
    );
    let places = work.places_of_member(&user.id)?;
    let EndedMembership {
        classes,
        left,
        sessions,
    } = work.end_membership(&user.id, false)?;
    let mut invitation = Invitation {
        id: InvitationId::new(clock::new_id()),
        organization_id: work.organization().clone(),
        email: user.email.clone(),
        name: user.name.clone(),
        role: member.role,
        external_id: member.external_id.clone(),
        class_ids: Vec::new(),
        homeroom_ids: Vec::new(),
        is_home,
        inviter_id: None,
        status: InvitationStatus::Pending,
        sent_at: None,
        expires_at: now.plus_seconds(LIFETIME),
        created_at: now,
        updated_at: now,
    };
    add_places(&mut invitation, &places);
    work.insert_invitation(&invitation)?;
    work.record(UserChange::MembershipEnded {
        user: user.person(),
        member,
        classes,
        left,
        sessions,
        is_deactivated: false,
    });
    work.record(InvitationChange::Created {
        invitation,
        is_sent: false,
    });
    Ok(())
}

/// The account of an address that lost the one it had, at home in the organization that invited it.
fn insert_account(work: &mut Work<'_>, invitation: &Invitation, user: &UserId) -> Result<()> {
    let person = NewPerson {
        name: invitation.name.clone(),
        email: invitation.email.clone(),
        first_name: None,
        last_name: None,
        username: None,
        role: invitation.role,
        external_id: None,
    };
    let account = NewAccount {
        id: user,
        name: &person.name,
        first_name: None,
        last_name: None,
        email: &person.email,
        username: None,
        role: person.role.platform_role(),
    };
    if work.insert_account(&account)? {
        Ok(())
    } else {
        Err(Error::NotReady)
    }
}

/// Makes the person a member with the classes and homerooms of the invitation. What is gone or closed by now is skipped. The
/// caller has locked the invitation and checked it.
fn join(work: &mut Work<'_>, mut invitation: Invitation, user: &UserId, by: AcceptedBy) -> Result<Answered> {
    let external_id = match &invitation.external_id {
        Some(id) if work.member_of_external_id(id.as_str())?.is_none() => Some(id.clone()),
        _ => None,
    };
    let new = work.insert_member(user, invitation.role, external_id.as_ref())?;
    settle(work, &mut invitation, InvitationStatus::Accepted)?;
    work.record(InvitationChange::Accepted {
        invitation: invitation.clone(),
        by,
    });
    let Some(member) = new else {
        // A member meanwhile: the membership stays as it is.
        let member = Some(work.membership(user)?.member);
        return Ok(Answered { invitation, member });
    };
    if invitation.is_home {
        work.restore_home(user)?;
    }
    let person = work.membership(user)?.user.person();
    work.record(UserChange::Created {
        user: person,
        member: member.clone(),
        is_new_account: false,
    });
    for homeroom in &invitation.homeroom_ids {
        skip_gone(enter_homeroom(work, homeroom, user))?;
    }
    for class in &invitation.class_ids {
        skip_gone(enter_class(work, class, user, invitation.role))?;
    }
    let member = Some(member);
    Ok(Answered { invitation, member })
}

fn enter_homeroom(work: &mut Work<'_>, id: &HomeroomId, user: &UserId) -> Result<()> {
    let homeroom = work.homeroom_to_change(id)?;
    let student = work.learning_member(user)?;
    if work.enroll_in_homeroom(id, user)? {
        let students = vec![student];
        work.record(HomeroomChange::StudentsAdded { homeroom, students });
    }
    Ok(())
}

fn enter_class(work: &mut Work<'_>, id: &ClassId, user: &UserId, role: MemberRole) -> Result<()> {
    let class = work.class_to_write(id)?;
    if role != MemberRole::Student {
        let user_id = user.clone();
        return classes::add_teacher(work, id, &classes::NewCoTeacher { user_id }).map(drop);
    }
    let student = work.learning_member(user)?;
    if work.enroll_by(id, user, EnrolledBy::Admin)? {
        let (class, students) = (Box::new(class), vec![student]);
        work.record(ClassChange::Enrolled { class, students });
    }
    Ok(())
}

fn skip_gone(entered: Result<()>) -> Result<()> {
    match entered {
        Err(Error::NotFound | Error::Refused(_)) => Ok(()),
        other => other,
    }
}

/// Locks the organizations that change, in one order, before any account: as everywhere.
fn hold(work: &mut PlatformWork<'_>, known: &KnownInvitation, answerer: &Answerer) -> Result<()> {
    let mut tenants = vec![known.tenant.clone()];
    if let Some(user) = work.user_with_email(&known.invitation.email)? {
        tenants.extend(work.organizations_of(&user)?.into_iter().map(|seen| seen.tenant));
    }
    tenants.sort_by(|one, other| one.id().cmp(other.id()));
    tenants.dedup();
    for tenant in tenants {
        let standpoint = Standpoint::of_service(tenant, "groupwork", answerer.now);
        work.within(standpoint, |work| work.hold_organization())?;
    }
    Ok(())
}

/// The organization of an invitation, seen by the invited person.
fn standpoint(known: &KnownInvitation, answerer: &Answerer, user: &UserId, name: &str) -> Standpoint {
    let actor = answerer.platform.clone().unwrap_or_else(|| Actor {
        user: Some(user.clone()),
        name: name.to_owned(),
        role: known.invitation.role.as_str(),
        impersonated_by: None,
        request_id: answerer.request_id.clone(),
    });
    Standpoint {
        tenant: known.tenant.clone(),
        viewer: Viewer::Admin,
        actor,
        now: answerer.now,
    }
}
