//! Events of accounts and memberships. Sockets change their rooms, and users who can see a person are notified of
//! changes.

use domain::change::{AdministrationChange, UserChange};
use domain::from_fields;
use domain::id::{ClassId, UserId};
use domain::patch::FieldDiff;
use domain::realtime::{ConnectionTarget, Event, EventAction, KillReason, MembershipAction, Room};

use super::event_builder::{EventBuilder, names};
use super::{class, group};
use api_types::event::{ImportProgress, UserUpdated};

#[expect(clippy::too_many_lines, reason = "one match arm per case")]
pub fn emit(change: &UserChange, builder: &mut EventBuilder<'_>) {
    match change {
        UserChange::Created { user, .. } => {
            builder.resync_users([&user.id], Vec::new());
            emit_updated_to_staff(Some(&user.id), EventAction::Created, &[], builder);
        }
        UserChange::RoleChanged { user, sessions, .. } => {
            builder.close_each(sessions, KillReason::Revoked);
            builder.resync_users([&user.id], Vec::new());
            emit_updated_to_staff(Some(&user.id), EventAction::Updated, &["role"], builder);
        }
        UserChange::Updated {
            user,
            changed,
            seen_in,
            is_imported,
        } => {
            if changed.has("isActive") && !user.is_active {
                builder.close_sessions(ConnectionTarget::User(user.id.clone()), KillReason::Deactivated);
            }
            let shown = if *is_imported { Vec::new() } else { names(changed) };
            emit_profile_updated(&user.id, changed, &shown, seen_in, builder);
        }
        UserChange::ProfileEdited { user, changed, seen_in } => {
            let mut shown = names(changed);
            shown.retain(|name| MEMBER_VISIBLE_FIELDS.contains(name));
            emit_profile_updated(&user.id, changed, &shown, seen_in, builder);
        }
        UserChange::MembershipSwitched {
            user,
            is_active: _,
            sessions,
        } => {
            builder.close_each(sessions, KillReason::Deactivated);
            builder.resync_users([&user.id], Vec::new());
            emit_updated_to_staff(Some(&user.id), EventAction::Updated, &["isActive"], builder);
        }
        UserChange::PasswordReset { user } => {
            builder.close_sessions(ConnectionTarget::User(user.id.clone()), KillReason::PasswordChanged);
            emit_updated_to_staff(Some(&user.id), EventAction::Updated, &["mustChangePassword"], builder);
        }
        UserChange::SecondFactorReset { user } => {
            builder.close_sessions(ConnectionTarget::User(user.id.clone()), KillReason::Revoked);
            emit_updated_to_staff(Some(&user.id), EventAction::Updated, &["hasSecondFactor"], builder);
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
                builder.close_sessions(ConnectionTarget::User(user.id.clone()), KillReason::Deactivated);
            } else {
                builder.close_each(sessions, KillReason::MembershipEnded);
                // A session in another organization stays connected.
                let mut leave: Vec<_> = left.iter().map(|group| Room::Group(group.group.id.clone())).collect();
                leave.extend(classes.iter().map(|class| Room::Class(class.id.clone())));
                leave.extend([
                    builder.organization(),
                    builder.organization_staff(),
                    builder.organization_admins(),
                ]);
                builder.resync_users([&user.id], leave);
            }
            group::emit_left(left, user, builder);
            for class in classes {
                class::emit_student_membership(class, &user.id, MembershipAction::Removed, builder);
            }
            emit_updated_to_staff(Some(&user.id), EventAction::Deleted, &[], builder);
        }
        UserChange::Erased { user, left, files: _ } => {
            builder.close_sessions(ConnectionTarget::User(user.id.clone()), KillReason::Deactivated);
            group::emit_left(left, user, builder);
            emit_updated_to_staff(Some(&user.id), EventAction::Deleted, &[], builder);
        }
        UserChange::ImportProgressed {
            importer,
            import_id,
            rows,
            counts,
            is_dry_run,
            is_finished,
        } => {
            let header = EventBuilder::event_without_class(Event::ImportProgress);
            let payload = from_fields!(counts => ImportProgress {
                import_id: import_id.clone(),
                rows: *rows,
                done: counts.total(),
                created, updated, invited, skipped, failed,
                dry_run: *is_dry_run,
                is_finished: *is_finished,
            });
            builder.emit(&header, vec![Room::User(importer.clone())], payload);
        }
        // One event for the whole import: an event per user would flood every teacher of the organization.
        UserChange::Imported { .. } => emit_updated_to_staff(None, EventAction::Imported, &[], builder),
        // The sessions of the account were ended by separate changes.
        UserChange::TakenOver { user, .. } => {
            emit_updated_to_staff(Some(&user.id), EventAction::Updated, &["email"], builder);
        }
        UserChange::Exported { .. } => {}
    }
}

/// Events of what platform administrators did to an account, as staff of its organizations see them.
pub fn emit_administration(change: &AdministrationChange, builder: &mut EventBuilder<'_>) {
    match change {
        AdministrationChange::Banned { user, .. } | AdministrationChange::Unbanned { user } => {
            emit_updated_to_staff(Some(&user.id), EventAction::Updated, &["isBanned"], builder);
        }
        AdministrationChange::PlatformRoleChanged { user, .. } => {
            emit_updated_to_staff(Some(&user.id), EventAction::Updated, &["role"], builder);
        }
        // No visible field of the user changed; sessions are ended by separate changes.
        AdministrationChange::SessionsRevoked { .. }
        | AdministrationChange::ImpersonationBegun { .. }
        | AdministrationChange::ImpersonationEnded { .. } => {}
    }
}

/// The fields of a user that non-staff can see.
const MEMBER_VISIBLE_FIELDS: &[&str] = &["name", "image"];

/// Notifies teachers and administrators, who see the list of users.
fn emit_updated_to_staff(user: Option<&UserId>, action: EventAction, changed: &[&str], builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event_without_class(Event::UserUpdated);
    let payload = UserUpdated {
        user_id: user.cloned(),
        action,
        changed,
    };
    builder.emit(&header, vec![builder.organization_staff()], payload);
}

/// Notifies staff, classes and the user, each once and with the fields that they can see.
fn emit_profile_updated(
    user: &UserId,
    changed: &FieldDiff,
    for_staff: &[&str],
    seen_in: &[ClassId],
    builder: &mut EventBuilder<'_>,
) {
    let mut except = Vec::new();
    if !for_staff.is_empty() {
        emit_updated_to_staff(Some(user), EventAction::Updated, for_staff, builder);
        except.push(builder.organization_staff());
    }
    let (header, own) = (
        EventBuilder::event_without_class(Event::UserUpdated),
        Room::User(user.clone()),
    );
    let changed = names(changed);
    let payload = |changed| UserUpdated {
        user_id: Some(user.clone()),
        action: EventAction::Updated,
        changed,
    };
    builder.emit_except(&header, vec![own.clone()], except.clone(), payload(&changed));
    let visible: Vec<_> = changed
        .iter()
        .copied()
        .filter(|name| MEMBER_VISIBLE_FIELDS.contains(name))
        .collect();
    if !visible.is_empty() {
        except.push(own);
        let classes = seen_in.iter().cloned().map(Room::Class).collect();
        builder.emit_except(&header, classes, except, payload(&visible));
    }
}
