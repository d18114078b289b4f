//! Log entries of groups, their members and their help requests.

use model::activity::{Action, Category};
use model::change::group::GroupChange;
use model::change::help::HelpChange;
use model::details::GroupDetails;
use model::file::GroupAttachment;
use model::group::Place;
use serde_json::{Value, json};

use super::{Entry, difference, group_name, people, person};

pub(super) fn entry(change: &GroupChange) -> Entry {
    match change {
        GroupChange::Created { group } => {
            about(Action::Create, &group.place()).details(json!({"members": members(group)}))
        }
        GroupChange::Updated {
            group,
            before: _,
            changed,
        } => about(Action::Update, &group.place()).details(difference(changed)),
        GroupChange::Deleted {
            group: _,
            place,
            members,
            documents,
            submissions,
            files: _,
        } => about(Action::Delete, place).details(json!({
            "counts": {"members": members.len(), "documents": documents, "submissions": submissions},
        })),
        GroupChange::MembersAdded { group, users } => {
            about(Action::MemberAdded, &group.place()).details(json!({"users": people(users)}))
        }
        GroupChange::MemberRemoved { group, user } => {
            about(Action::MemberRemoved, &group.place()).details(json!({"user": person(user)}))
        }
        GroupChange::MemberMoved { from, to, user } => about(Action::MemberMoved, &to.place()).details(json!({
            "user": person(user),
            "from": group_name(&from.place()),
            "to": group_name(&to.place()),
        })),
        GroupChange::AttachmentAdded { group, attachment } => {
            about(Action::Update, &group.place()).details(file("added", attachment))
        }
        GroupChange::AttachmentRemoved { group, attachment } => {
            about(Action::Update, &group.place()).details(file("removed", attachment))
        }
    }
}

/// Returns the log entry of a help request: one when it is opened and one when it is resolved. Repeats and claims are
/// not logged.
pub(super) fn help(change: &HelpChange) -> Option<Entry> {
    match change {
        HelpChange::Requested {
            group,
            by: _,
            is_first: true,
        } => {
            let details = json!({"message": group.group.help.message(), "waitedSeconds": 0});
            Some(about(Action::HelpRequested, &group.place()).details(details))
        }
        HelpChange::Requested { is_first: false, .. } | HelpChange::Claimed { .. } => None,
        HelpChange::Resolved {
            group,
            by: _,
            message,
            note,
            waited_seconds,
        } => {
            let details = json!({"message": message, "note": note, "waitedSeconds": waited_seconds});
            Some(about(Action::HelpResolved, &group.place()).details(details))
        }
    }
}

fn about(action: Action, place: &Place) -> Entry {
    Entry::new(Category::Group, action, "group", &place.group.id, &place.group.name).place(place)
}

fn members(group: &GroupDetails) -> Vec<Value> {
    group.members.iter().map(|member| person(&member.user)).collect()
}

fn file(what: &str, attachment: &GroupAttachment) -> Value {
    json!({"changed": ["attachments"], what: {"id": attachment.id, "fileName": attachment.file.file_name}})
}
