//! Takes over the account of an address under an email domain of the organization that adds the address
//! (`model::take_over`). This affects several organizations, so it runs before the membership is inserted, in the
//! same transaction.

use model::change::user::UserChange;
use model::id::UserId;
use model::news::KillReason;

use super::acceptance::convert_to_invitation;
use super::sessions;
use adapters::mailer::{Mailer, Recipient};
use common::error::Result;
use db::Standpoint;
use db::platform::PlatformWork;

/// The page where a user without a password requests one.
const PAGE: &str = "/forgot";

/// Takes over the account of an address for the organization of `standpoint`, if the rules allow it; returns whether
/// it did. The account then has no sessions, emailed links or password, its other memberships have become
/// invitations, and the organization is its home.
pub fn take_over(
    work: &mut PlatformWork<'_>,
    standpoint: &Standpoint,
    email: &str,
    mail: Option<&Mailer>,
) -> Result<bool> {
    let Some(user) = work.user_with_email(email)? else {
        return Ok(false);
    };
    lock_account(work, standpoint, &user)?;
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
            convert_to_invitation(work, membership)?;
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
        let letter = mail.account_takeover(Recipient::from_user(&account), school.name.as_str(), PAGE, work.now())?;
        work.insert_letter(&letter)
    })?;
    Ok(true)
}

/// Locks the affected organizations in id order and before the account, the lock order of the whole service.
fn lock_account(work: &mut PlatformWork<'_>, standpoint: &Standpoint, user: &UserId) -> Result<()> {
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
