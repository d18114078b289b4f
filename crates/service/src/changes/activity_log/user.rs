//! Log entries of accounts and memberships. They name the changed fields but contain no values of personal data,
//! because entries stay when a user is erased.

use domain::activity::{Action, Category};
use domain::change::UserChange;
use domain::user::Person;
use serde_json::json;

use super::{LogEntry, left_groups};

pub(super) fn entry(change: &UserChange) -> Option<LogEntry> {
    Some(match change {
        UserChange::Created {
            user,
            member,
            is_new_account,
        } => about(Action::Create, user).details(json!({"role": member.role, "isNewAccount": is_new_account})),
        UserChange::Updated { user, changed, .. } => {
            LogEntry::new(Category::User, Action::Update, "user", &user.id, user.name.as_str())
                .details(json!({"changed": changed.names()}))
        }
        UserChange::MembershipSwitched {
            user,
            is_active,
            sessions,
        } => about(Action::Update, user).details(json!({
            "changed": ["isActive"],
            "isActive": is_active,
            "endedSessions": sessions.len(),
        })),
        UserChange::RoleChanged {
            user,
            member,
            from,
            sessions,
        } => about(Action::RoleChanged, user)
            .details(json!({"from": from, "to": member.role, "endedSessions": sessions.len()})),
        UserChange::TakenOver {
            user,
            ended_sessions,
            ended_memberships,
        } => about(Action::Update, user).details(json!({
            "changed": ["password"],
            "takenOver": true,
            "endedSessions": ended_sessions,
            "endedMemberships": ended_memberships,
        })),
        UserChange::PasswordReset { user } => about(Action::Update, user).details(json!({"changed": ["password"]})),
        UserChange::SecondFactorReset { user } => {
            LogEntry::new(Category::Auth, Action::FactorReset, "user", &user.id, &user.name)
        }
        UserChange::MembershipEnded {
            user,
            member,
            classes,
            left,
            sessions: _,
            is_deactivated,
        } => about(Action::Delete, user).details(json!({
            "role": member.role,
            "removedFromClasses": classes.iter().map(|class| json!({"id": class.id, "name": class.name})).collect::<Vec<_>>(),
            "removedFromGroups": left_groups(left),
            "isDeactivated": is_deactivated,
        })),
        UserChange::Imported {
            created,
            updated,
            invited,
            skipped,
            failed,
        } => LogEntry::new(Category::User, Action::Import, "user", "", "").details(json!({
            "created": created,
            "updated": updated,
            "invited": invited,
            "skipped": skipped,
            "failed": failed,
        })),
        // The progress of an import is not logged; its end is.
        UserChange::ImportProgressed { .. } | UserChange::ProfileEdited { .. } => return None,
        UserChange::Exported { user } => about(Action::Export, user),
        UserChange::Erased {
            user,
            left: _,
            files: _,
        } => LogEntry::new(Category::User, Action::Delete, "user", &user.id, "").details(json!({"erased": true})),
    })
}

fn about(action: Action, user: &Person) -> LogEntry {
    LogEntry::new(Category::User, action, "user", &user.id, &user.name)
}
