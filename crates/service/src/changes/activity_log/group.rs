//! Log entries of groups, their members and their help requests.

use domain::activity::{Action, Category};
use domain::change::{GroupChange, HelpChange};
use domain::details::GroupDetails;
use domain::group::GroupContext;
use domain::help::HelpRequestOutcome;
use serde_json::{Value, json};

use super::{LogEntry, added_or_removed, difference, group_name, people, person};

pub(super) fn entry(change: &GroupChange) -> LogEntry {
    match change {
        GroupChange::Created { group } => {
            about(Action::Create, &group.group_context()).details(json!({"members": members(group)}))
        }
        GroupChange::Updated {
            group,
            before: _,
            changed,
        } => about(Action::Update, &group.group_context()).details(difference(changed)),
        GroupChange::Deleted {
            group: _,
            group_context,
            members,
            documents,
            submissions,
            files: _,
        } => about(Action::Delete, group_context).details(json!({
            "counts": {"members": members.len(), "documents": documents, "submissions": submissions},
        })),
        GroupChange::MembersAdded { group, users } => {
            about(Action::MemberAdded, &group.group_context()).details(json!({"users": people(users)}))
        }
        GroupChange::MemberRemoved { group, user } => {
            about(Action::MemberRemoved, &group.group_context()).details(json!({"user": person(user)}))
        }
        GroupChange::MemberMoved { from, to, user } => about(Action::MemberMoved, &to.group_context()).details(json!({
            "user": person(user),
            "from": group_name(&from.group_context()),
            "to": group_name(&to.group_context()),
        })),
        GroupChange::AttachmentChanged {
            group,
            attachment,
            is_added,
        } => about(Action::Update, &group.group_context()).details(json!({
            "changed": ["attachments"],
            added_or_removed(*is_added): {"id": attachment.id, "fileName": attachment.file.file_name},
        })),
    }
}

/// Returns the log entry of a help request: when it is opened, no longer needed, or resolved. Repeats and claims are not
/// logged.
pub(super) fn help(change: &HelpChange) -> Option<LogEntry> {
    match change {
        HelpChange::Requested { group, by: _, outcome } => {
            let message = match outcome {
                HelpRequestOutcome::First => group.group.help.message(),
                HelpRequestOutcome::Renewed => None,
                HelpRequestOutcome::Again => return None,
            };
            let details = json!({"message": message, "waitedSeconds": 0});
            Some(about(Action::HelpRequested, &group.group_context()).details(details))
        }
        HelpChange::Withdrawn { group, by: _ } => Some(about(Action::HelpWithdrawn, &group.group_context())),
        HelpChange::Claimed { .. } => None,
        HelpChange::Resolved {
            group,
            by: _,
            message,
            note,
            waited_seconds,
        } => {
            let details = json!({"message": message, "note": note, "waitedSeconds": waited_seconds});
            Some(about(Action::HelpResolved, &group.group_context()).details(details))
        }
    }
}

fn about(action: Action, group_context: &GroupContext) -> LogEntry {
    let (id, name) = (&group_context.group.id, &group_context.group.name);
    LogEntry::new(Category::Group, action, "group", id, name).group_context(group_context)
}

fn members(group: &GroupDetails) -> Vec<Value> {
    group.members.iter().map(|member| person(&member.user)).collect()
}
