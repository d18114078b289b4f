//! Memberships: change a role, end a membership. Both lock the row of the organization, so that two owners who remove
//! each other at the same time cannot leave it without an owner.

use api_macros::patch;
use domain::access::{MemberRole, PlatformRole};
use domain::change::UserChange;
use domain::domain_error::DomainError;
use domain::id::{MemberId, UserId};
use domain::patch::{FieldPatch, not_null};

use super::api_tokens;
use super::homeroom_following::{FollowScope, follow};
use common::error::Result;
use db::WriteTx;
use db::members::MemberWithUser;
use db::membership_removal::RemovedMembership;
use db::people::Membership;

/// The fields of a membership that a PATCH can change.
#[patch]
pub struct MemberEdit {
    /// The role in the organization.
    #[garde(custom(not_null))]
    pub role: FieldPatch<MemberRole>,
}

/// Changes the role of a member. Users cannot change their own role.
pub fn edit(tx: &mut WriteTx<'_>, id: &MemberId, edit: &MemberEdit) -> Result<MemberWithUser> {
    tx.lock_membership_changes()?;
    let user = tx.user_of_member(id)?;
    let role_level = tx.role_level()?;
    let Membership { user, mut member, .. } = tx.lock_membership(&user)?;
    role_level.may_act_on(user.role, member.role)?;
    let role = edit.role.clone().required("role").map_err(DomainError::from)?;
    if let Some(role) = role.filter(|role| *role != member.role) {
        if tx.actor().user.as_ref() == Some(&user.id) {
            return Err(DomainError::ForbiddenRank.into());
        }
        role_level.may_change(member.role, role)?;
        member.may_stop_owning(tx.other_owners(&user.id)?)?;
        user.has_sign_in_name(role)?;
        let from = std::mem::replace(&mut member.role, role);
        member.updated_at = Some(tx.now());
        tx.update_member(&member)?;
        follow(tx, FollowScope::Student(&user.id))?;
        let sessions = tx.end_sessions_after_role_change(&user.id)?;
        api_tokens::revoke_all_of(tx, &user.id)?;
        tx.record(UserChange::RoleChanged {
            user: user.person(),
            member,
            from,
            sessions,
        });
    }
    tx.member(id)
}

/// Ends a user's membership.
pub fn remove(tx: &mut WriteTx<'_>, user: &UserId) -> Result<()> {
    tx.lock_membership_changes()?;
    let role_level = tx.role_level()?;
    let membership = tx.lock_membership(user)?;
    role_level.may_act_on(membership.user.role, membership.member.role)?;
    end(tx, membership)
}

/// Ends a membership by its id.
pub fn remove_member(tx: &mut WriteTx<'_>, id: &MemberId) -> Result<()> {
    let user = tx.user_of_member(id)?;
    remove(tx, &user)
}

/// Ends a membership with its enrolments, groups, sessions and sockets. The account is deactivated if this was its
/// last membership. The caller has locked the organization and checked the permission.
pub fn end(tx: &mut WriteTx<'_>, membership: Membership) -> Result<()> {
    let Membership {
        user,
        member,
        is_elsewhere,
    } = membership;
    member.may_stop_owning(tx.other_owners(&user.id)?)?;
    // Platform administrators stay active without a membership.
    let is_deactivated = !is_elsewhere && user.role != PlatformRole::SuperAdmin;
    let RemovedMembership {
        classes,
        left,
        sessions,
    } = tx.remove_membership(&user.id, is_deactivated)?;
    api_tokens::revoke_all_of(tx, &user.id)?;
    tx.record(UserChange::MembershipEnded {
        user: user.person(),
        member,
        classes,
        left,
        sessions,
        is_deactivated,
    });
    Ok(())
}
