//! Takes over the account of an address under a mail domain of the organization that adds the address (`model::take_over`).
//! It crosses organizations, so it runs before the membership is made, in the same transaction.

use model::change::user::UserChange;
use model::id::UserId;
use model::news::KillReason;

use super::acceptance::turn_into_invitation;
use super::sessions;
use adapters::mail::{Mail, Recipient};
use common::error::Result;
use db::Standpoint;
use db::platform::PlatformWork;

/// The page where a person without a password asks for one.
const PAGE: &str = "/forgot";

/// Takes the account of an address over for the organization of `standpoint`, if that is due; returns whether it did. Its
/// sessions, mailed links and password are gone afterwards, its other memberships are invitations, and the organization is
/// its home.
pub fn take_over(
    work: &mut PlatformWork<'_>,
    standpoint: &Standpoint,
    email: &str,
    mail: Option<&Mail>,
) -> Result<bool> {
    let Some(user) = work.user_with_email(email)? else {
        return Ok(false);
    };
    hold(work, standpoint, &user)?;
    let account = work.profile_to_change(&user)?;
    let candidate = work.within(standpoint.clone(), |work| work.take_over_candidate(email))?;
    if account.email != email || !candidate.is_some_and(|candidate| candidate.can_be_taken_over()) {
        return Ok(false);
    }
    work.delete_verifications(&user)?;
    work.delete_sign_ins(&user)?;
    let ended_sessions = sessions::revoke_all(work, &user, None, KillReason::PasswordChanged)?;
    work.within(standpoint.clone(), |work| work.adopt_account(&user))?;
    let others = work.organizations_of(&user)?;
    let ended_memberships = others.len();
    for other in others {
        let standpoint = Standpoint::of_service(other.tenant, "groupwork", standpoint.now);
        work.within(standpoint, |work| {
            let membership = work.membership_to_change(&user)?;
            let person = membership.user.person();
            turn_into_invitation(work, membership)?;
            work.record(UserChange::TakenOver {
                user: person,
                ended_sessions,
                ended_memberships: 1,
            });
            Ok(())
        })?;
    }
    work.within(standpoint.clone(), |work| {
        work.record(UserChange::TakenOver {
            user: account.person(),
            ended_sessions,
            ended_memberships,
        });
        let Some(mail) = mail else { return Ok(()) };
        let school = work.school()?;
        let letter = mail.taken_over(Recipient::of(&account), school.name.as_str(), PAGE, work.now())?;
        work.insert_letter(&letter)
    })?;
    Ok(true)
}

/// Locks the organizations that change before the account, in the order in which everything else does.
fn hold(work: &mut PlatformWork<'_>, standpoint: &Standpoint, user: &UserId) -> Result<()> {
    let mut tenants = vec![standpoint.tenant.clone()];
    tenants.extend(work.organizations_of(user)?.into_iter().map(|seen| seen.tenant));
    tenants.sort_by(|one, other| one.id().cmp(other.id()));
    tenants.dedup();
    for tenant in tenants {
        let standpoint = Standpoint::of_service(tenant, "groupwork", standpoint.now);
        work.within(standpoint, |work| work.hold_organization())?;
    }
    Ok(())
}
