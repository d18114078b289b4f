//! Log entries of what platform administrators do to accounts. The reason of a ban is a text about a person and is
//! not logged.

use domain::activity::{Action, Category};
use domain::change::AdministrationChange;
use domain::user::Person;
use serde_json::json;

use super::LogEntry;

pub(super) fn entry(change: &AdministrationChange) -> LogEntry {
    match change {
        AdministrationChange::Banned { user, until } => {
            about(user).details(json!({"changed": ["banned"], "after": {"banned": true}, "until": until}))
        }
        AdministrationChange::Unbanned { user } => {
            about(user).details(json!({"changed": ["banned"], "after": {"banned": false}}))
        }
        AdministrationChange::PlatformRoleChanged {
            user,
            from,
            to,
            ended_sessions,
        } => about(user).details(json!({
            "changed": ["role"],
            "before": {"role": from},
            "after": {"role": to},
            "endedSessions": ended_sessions,
        })),
        AdministrationChange::SessionsRevoked { user, count } => about(user).details(json!({"endedSessions": count})),
        AdministrationChange::ImpersonationBegun { user } => impersonation(Action::Create, user),
        AdministrationChange::ImpersonationEnded { user } => impersonation(Action::Delete, user),
    }
}

fn about(user: &Person) -> LogEntry {
    LogEntry::new(Category::User, Action::Update, "user", &user.id, &user.name)
}

fn impersonation(action: Action, user: &Person) -> LogEntry {
    LogEntry::new(Category::Auth, action, "impersonation", &user.id, &user.name)
}
