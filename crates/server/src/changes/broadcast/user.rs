//! Accounts and memberships: what people may hear changes, or they hear nothing any more.

use model::change::user::UserChange;
use model::news::{KillReason, Party, Room};

use super::group;
use super::telling::Telling;

pub fn tell(change: &UserChange, telling: &mut Telling<'_>) {
    match change {
        UserChange::Created { user, .. } | UserChange::RoleChanged { user, .. } => {
            telling.resync_users([&user.id], Vec::new());
        }
        UserChange::Updated { user, changed } => {
            if changed.has("isActive") && !user.is_active {
                telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            }
        }
        UserChange::PasswordReset { user } => {
            telling.kill(Party::User(user.id.clone()), KillReason::PasswordChanged);
        }
        UserChange::MembershipEnded {
            user,
            member: _,
            left,
            is_deactivated,
        } => {
            if *is_deactivated {
                telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            } else {
                // Sessions of this organization are gone with the membership; the look finds that out and cuts them off.
                let leave = left.iter().map(|group| Room::Group(group.group.id.clone())).collect();
                telling.resync_users([&user.id], leave);
            }
            for whole in left {
                group::left(whole, user, telling);
                group::updated(whole, &["members"], telling);
            }
        }
        UserChange::Erased { user, left, files: _ } => {
            telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            for whole in left {
                group::left(whole, user, telling);
                group::updated(whole, &["members"], telling);
            }
        }
        UserChange::Imported { .. } | UserChange::Exported { .. } => {}
    }
}
