//! Accounts and memberships: what people may hear changes, or they hear nothing any more.

use model::change::user::UserChange;
use model::news::{Event, KillReason, Party, Room};
use serde_json::json;

use super::telling::Telling;
use super::{class, group};

pub fn tell(change: &UserChange, telling: &mut Telling<'_>) {
    match change {
        UserChange::Created { user, .. } => telling.resync_users([&user.id], Vec::new()),
        UserChange::RoleChanged { user, sessions, .. } => {
            for session in sessions {
                telling.kill(Party::Session(session.clone()), KillReason::Revoked);
            }
            telling.resync_users([&user.id], Vec::new());
        }
        UserChange::Updated { user, changed } => {
            if changed.has("isActive") && !user.is_active {
                telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            }
        }
        UserChange::MembershipSwitched {
            user,
            is_active: _,
            sessions,
        } => {
            for session in sessions {
                telling.kill(Party::Session(session.clone()), KillReason::Deactivated);
            }
            telling.resync_users([&user.id], Vec::new());
        }
        UserChange::PasswordReset { user } => {
            telling.kill(Party::User(user.id.clone()), KillReason::PasswordChanged);
        }
        UserChange::MembershipEnded {
            user,
            member: _,
            classes,
            left,
            sessions,
            is_deactivated,
        } => {
            if *is_deactivated {
                telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            } else {
                for session in sessions {
                    telling.kill(Party::Session(session.clone()), KillReason::MembershipEnded);
                }
                // A session that had not chosen this organization goes on elsewhere.
                let mut leave: Vec<_> = left.iter().map(|group| Room::Group(group.group.id.clone())).collect();
                leave.extend(classes.iter().map(|class| Room::Class(class.id.clone())));
                telling.resync_users([&user.id], leave);
            }
            for whole in left {
                group::left(whole, user, telling);
                group::updated(whole, &["members"], telling);
            }
            for class in classes {
                class::membership(class, &user.id, "REMOVED", telling);
            }
        }
        UserChange::Erased { user, left, files: _ } => {
            telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            for whole in left {
                group::left(whole, user, telling);
                group::updated(whole, &["members"], telling);
            }
        }
        UserChange::ImportProgressed {
            importer,
            import_id,
            rows,
            counts,
            is_dry_run,
            is_finished,
        } => {
            let told = Telling::event_without_class(Event::ImportProgress);
            let rest = json!({
                "importId": import_id,
                "rows": rows,
                "done": counts.total(),
                "created": counts.created,
                "updated": counts.updated,
                "invited": counts.invited,
                "skipped": counts.skipped,
                "failed": counts.failed,
                "dryRun": is_dry_run,
                "isFinished": is_finished,
            });
            telling.tell(&told, vec![Room::User(importer.clone())], rest);
        }
        // The sessions of an account that was taken over ended as sessions.
        UserChange::TakenOver { .. } | UserChange::Imported { .. } | UserChange::Exported { .. } => {}
    }
}
