//! Events of accounts and memberships. Sockets change their rooms, and users who can see a person are notified of
//! changes.

use model::change::administration::AdministrationChange;
use model::change::user::UserChange;
use model::edit::Changed;
use model::id::{ClassId, UserId};
use model::news::{Event, EventAction, KillReason, MembershipAction, Party, Room};

use super::telling::{Telling, names};
use super::{class, group};
use api_types::event::{ImportProgress, UserUpdated};

#[expect(clippy::too_many_lines, reason = "one match arm per case")]
pub fn tell(change: &UserChange, telling: &mut Telling<'_>) {
    match change {
        UserChange::Created { user, .. } => {
            telling.resync_users([&user.id], Vec::new());
            to_staff(Some(&user.id), EventAction::Created, &[], telling);
        }
        UserChange::RoleChanged { user, sessions, .. } => {
            for session in sessions {
                telling.kill(Party::Session(session.clone()), KillReason::Revoked);
            }
            telling.resync_users([&user.id], Vec::new());
            to_staff(Some(&user.id), EventAction::Updated, &["role"], telling);
        }
        UserChange::Updated {
            user,
            changed,
            seen_in,
            is_imported,
        } => {
            if changed.has("isActive") && !user.is_active {
                telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            }
            let shown = if *is_imported { Vec::new() } else { names(changed) };
            person_changed(&user.id, changed, &shown, seen_in, telling);
        }
        UserChange::ProfileEdited { user, changed, seen_in } => {
            let mut shown = names(changed);
            shown.retain(|name| SEEN.contains(name));
            person_changed(&user.id, changed, &shown, seen_in, telling);
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
            to_staff(Some(&user.id), EventAction::Updated, &["isActive"], telling);
        }
        UserChange::PasswordReset { user } => {
            telling.kill(Party::User(user.id.clone()), KillReason::PasswordChanged);
            to_staff(Some(&user.id), EventAction::Updated, &["mustChangePassword"], telling);
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
                // A session in another organization stays connected.
                let mut leave: Vec<_> = left.iter().map(|group| Room::Group(group.group.id.clone())).collect();
                leave.extend(classes.iter().map(|class| Room::Class(class.id.clone())));
                leave.extend([
                    telling.organization(),
                    telling.organization_staff(),
                    telling.organization_admins(),
                ]);
                telling.resync_users([&user.id], leave);
            }
            for whole in left {
                group::left(whole, user, telling);
                group::updated(whole, &["members"], telling);
            }
            for class in classes {
                class::student(class, &user.id, MembershipAction::Removed, telling);
            }
            to_staff(Some(&user.id), EventAction::Deleted, &[], telling);
        }
        UserChange::Erased { user, left, files: _ } => {
            telling.kill(Party::User(user.id.clone()), KillReason::Deactivated);
            for whole in left {
                group::left(whole, user, telling);
                group::updated(whole, &["members"], telling);
            }
            to_staff(Some(&user.id), EventAction::Deleted, &[], telling);
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
            let rest = ImportProgress {
                import_id: import_id.clone(),
                rows: *rows,
                done: counts.total(),
                created: counts.created,
                updated: counts.updated,
                invited: counts.invited,
                skipped: counts.skipped,
                failed: counts.failed,
                dry_run: *is_dry_run,
                is_finished: *is_finished,
            };
            telling.tell(&told, vec![Room::User(importer.clone())], rest);
        }
        // One event for the whole import: an event per user would flood every teacher of the organization.
        UserChange::Imported { .. } => to_staff(None, EventAction::Imported, &[], telling),
        // The sessions of the account were ended by separate changes.
        UserChange::TakenOver { user, .. } => to_staff(Some(&user.id), EventAction::Updated, &["email"], telling),
        UserChange::Exported { .. } => {}
    }
}

/// Events of what platform administrators did to an account, as staff of its organizations see them.
pub fn administered(change: &AdministrationChange, telling: &mut Telling<'_>) {
    match change {
        AdministrationChange::Banned { user, .. } | AdministrationChange::Unbanned { user } => {
            to_staff(Some(&user.id), EventAction::Updated, &["isBanned"], telling);
        }
        AdministrationChange::PlatformRoleChanged { user, .. } => {
            to_staff(Some(&user.id), EventAction::Updated, &["role"], telling);
        }
        // No visible field of the user changed; sessions are ended by separate changes.
        AdministrationChange::SessionsRevoked { .. }
        | AdministrationChange::ImpersonationBegun { .. }
        | AdministrationChange::ImpersonationEnded { .. } => {}
    }
}

/// The fields of a user that non-staff can see.
const SEEN: &[&str] = &["name", "image"];

/// Notifies teachers and administrators, who see the list of users.
fn to_staff(user: Option<&UserId>, action: EventAction, changed: &[&str], telling: &mut Telling<'_>) {
    let told = Telling::event_without_class(Event::UserUpdated);
    let rest = UserUpdated {
        user_id: user.cloned(),
        action,
        changed,
    };
    telling.tell(&told, vec![telling.organization_staff()], rest);
}

/// Notifies staff, classes and the user, each once and with the fields that they can see.
fn person_changed(
    user: &UserId,
    changed: &Changed,
    for_staff: &[&str],
    seen_in: &[ClassId],
    telling: &mut Telling<'_>,
) {
    let mut except = Vec::new();
    if !for_staff.is_empty() {
        to_staff(Some(user), EventAction::Updated, for_staff, telling);
        except.push(telling.organization_staff());
    }
    let (told, own) = (
        Telling::event_without_class(Event::UserUpdated),
        Room::User(user.clone()),
    );
    let changed = names(changed);
    let rest = |changed| UserUpdated {
        user_id: Some(user.clone()),
        action: EventAction::Updated,
        changed,
    };
    telling.tell_except(&told, vec![own.clone()], except.clone(), rest(&changed));
    let seen: Vec<_> = changed.iter().copied().filter(|name| SEEN.contains(name)).collect();
    if !seen.is_empty() {
        except.push(own);
        let classes = seen_in.iter().cloned().map(Room::Class).collect();
        telling.tell_except(&told, classes, except, rest(&seen));
    }
}
