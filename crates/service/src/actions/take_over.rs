//! Takes over the account of an address under an email domain of the organization that adds the address
//! (`domain::take_over`). This affects several organizations, so it runs before the membership is inserted, in the
//! same transaction.

use domain::change::UserChange;
use domain::id::UserId;
use domain::realtime::KillReason;

use super::acceptance::convert_to_invitation;
use super::sessions;
use adapters::mailer::{Mailer, Recipient};
use common::error::Result;
use db::RequestContext;
use db::platform::PlatformWriteTx;

/// The page where a user without a password requests one.
const PAGE: &str = "/forgot";

/// Takes over the account of an address for the organization of `context`, if the rules allow it; returns whether
/// it did. The account then has no sessions, emailed links or password, its other memberships have become
/// invitations, and the organization is its home.
pub fn take_over(
    tx: &mut PlatformWriteTx<'_>,
    context: &RequestContext,
    email: &str,
    mail: Option<&Mailer>,
) -> Result<bool> {
    let Some(user) = tx.user_with_email(email)? else {
        return Ok(false);
    };
    lock_account(tx, context, &user)?;
    let account = tx.lock_profile(&user)?;
    let candidate = tx.write_in_tenant(context.clone(), |tx| tx.take_over_candidate(email))?;
    if account.email.address() != Some(email) || !candidate.is_some_and(|candidate| candidate.can_be_taken_over()) {
        return Ok(false);
    }
    tx.delete_verifications(&user)?;
    tx.delete_sign_ins(&user)?;
    tx.delete_second_factor(&user)?;
    let ended_sessions = sessions::revoke_all(tx, &user, None, KillReason::PasswordChanged)?;
    tx.write_in_tenant(context.clone(), |tx| tx.take_over_account(&user))?;
    let others = tx.organizations_of(&user)?;
    let ended_memberships = others.len();
    for other in others {
        let context = RequestContext::for_service(other.tenant, "groupwork", context.now);
        tx.write_in_tenant(context, |tx| {
            let membership = tx.lock_membership(&user)?;
            let person = membership.user.person();
            convert_to_invitation(tx, membership)?;
            tx.record(UserChange::TakenOver {
                user: person,
                ended_sessions,
                ended_memberships: 1,
            });
            Ok(())
        })?;
    }
    tx.write_in_tenant(context.clone(), |tx| {
        tx.record(UserChange::TakenOver {
            user: account.person(),
            ended_sessions,
            ended_memberships,
        });
        let Some(mail) = mail else { return Ok(()) };
        let school = tx.current_organization()?;
        let to = Recipient::from_user(&account, school.metadata.as_ref());
        let queued = mail.account_takeover(to, school.name.as_str(), PAGE, tx.now())?;
        tx.enqueue_email(&queued)
    })?;
    Ok(true)
}

/// Locks the affected organizations in id order and before the account, the lock order of the whole service.
fn lock_account(tx: &mut PlatformWriteTx<'_>, context: &RequestContext, user: &UserId) -> Result<()> {
    let mut tenants = vec![context.tenant.clone()];
    tenants.extend(tx.organizations_of(user)?.into_iter().map(|seen| seen.tenant));
    tenants.sort_by(|one, other| one.id().cmp(other.id()));
    tenants.dedup();
    for tenant in tenants {
        let context = RequestContext::for_service(tenant, "groupwork", context.now);
        tx.write_in_tenant(context, |tx| tx.lock_membership_changes())?;
    }
    Ok(())
}
