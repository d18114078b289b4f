//! Converts each change to its entry in the activity log. Entries must be readable after the objects they refer to
//! are gone, so names are copied. Texts that users wrote, grades and passwords are not logged.

mod administration;
mod assignment;
mod class;
mod deletion;
mod document;
mod group;
mod invitation;
mod organization;
mod submission;
mod user;

use domain::change::{Change, DeletedAssignment, DeletedGroup};
use domain::details::GroupDetails;
use domain::group::GroupContext;
use domain::patch::FieldDiff;
use domain::user::Person;
use serde_json::{Map, Value, json};

use db::activity::LogEntry;

/// The maximum size of the details in bytes: 16 KiB, less what an impersonation and an API token add.
const DETAILS_MAX: usize = 16 * 1024 - 768;

/// Returns the log entry of a change, if it has one.
pub fn entry(change: &Change) -> Option<LogEntry> {
    let entry = match change {
        Change::Class(change) => Some(class::entry(change)),
        Change::Homeroom(change) => Some(class::homeroom(change)),
        Change::Subject(change) => Some(class::subject(change)),
        Change::Course(change) => Some(class::course(change)),
        Change::Group(change) => Some(group::entry(change)),
        Change::Help(change) => group::help(change),
        Change::Assignment(change) => assignment::entry(change),
        Change::Submission(change) => submission::entry(change),
        Change::Feedback(change) => Some(submission::feedback(change)),
        Change::Document(change) => document::entry(change),
        Change::Comment(change) => document::comment(change),
        Change::Message(change) => document::message(change),
        Change::User(change) => user::entry(change),
        Change::Invitation(change) => Some(invitation::entry(change)),
        Change::Organization(change) => organization::entry(change),
        Change::Administration(change) => Some(administration::entry(change)),
        Change::MailDomain(change) => Some(organization::mail_domain(change)),
        Change::ApiToken(change) => Some(organization::api_token(change)),
        Change::Session(change) => organization::session(change),
        Change::SignOn(change) => Some(organization::sign_on(change)),
        Change::Roster(change) => organization::roster(change),
        Change::Rubric(change) => Some(submission::rubric(change)),
        // Snippets are private to their user.
        Change::Snippet(_) => None,
        Change::Deletion(change) => Some(deletion::entry(change)),
    };
    entry.map(|mut entry| {
        entry.details = truncate_details(entry.details);
        entry
    })
}

/// Returns the names of the changed fields with both values.
fn difference(changed: &FieldDiff) -> Value {
    json!({"changed": changed.names(), "before": changed.before(), "after": changed.after()})
}

/// Returns the changed fields with additional details.
fn difference_and(changed: &FieldDiff, more: Value) -> Value {
    let mut details = difference(changed);
    if let (Value::Object(details), Value::Object(more)) = (&mut details, more) {
        details.extend(more);
    }
    details
}

/// The key of a file in the details.
const fn added_or_removed(is_added: bool) -> &'static str {
    if is_added { "added" } else { "removed" }
}

fn person(person: &Person) -> Value {
    json!({"id": person.id, "name": person.name})
}

fn people(people: &[Person]) -> Vec<Value> {
    people.iter().map(person).collect()
}

fn group_name(group_context: &GroupContext) -> Value {
    json!({"id": group_context.group.id, "name": group_context.group.name})
}

fn left_groups(groups: &[GroupDetails]) -> Vec<Value> {
    groups.iter().map(|group| group_name(&group.group_context())).collect()
}

fn removed_groups(groups: &[DeletedGroup]) -> Vec<Value> {
    groups
        .iter()
        .map(|removed| group_name(&removed.group_context))
        .collect()
}

fn removed_assignments(assignments: &[DeletedAssignment]) -> Vec<Value> {
    assignments
        .iter()
        .map(|removed| json!({"id": removed.id, "title": removed.title}))
        .collect()
}

/// Reduces details to the maximum size: shortens long texts first, then long lists, and sets `truncated`.
fn truncate_details(details: Value) -> Value {
    if size(&details) <= DETAILS_MAX {
        return details;
    }
    let mut truncated = details;
    for (characters, entries) in [
        (1000, usize::MAX),
        (200, usize::MAX),
        (200, 200),
        (100, 50),
        (50, 20),
        (20, 5),
    ] {
        truncated = shorten(truncated, characters, entries);
        if let Value::Object(object) = &mut truncated {
            object.insert("truncated".to_owned(), Value::Bool(true));
        }
        if size(&truncated) <= DETAILS_MAX {
            return truncated;
        }
    }
    json!({"truncated": true})
}

fn size(details: &Value) -> usize {
    details.to_string().len()
}

fn shorten(value: Value, characters: usize, entries: usize) -> Value {
    match value {
        Value::String(text) if text.chars().count() > characters => {
            Value::String(text.chars().take(characters).chain(['…']).collect())
        }
        Value::Array(list) => list
            .into_iter()
            .take(entries)
            .map(|entry| shorten(entry, characters, entries))
            .collect(),
        Value::Object(object) => {
            let object = object
                .into_iter()
                .map(|(key, entry)| (key, shorten(entry, characters, entries)));
            Value::Object(object.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_details_are_not_truncated() {
        let details = json!({"courseName": "Cells", "deletedGroups": [{"id": "g", "name": "Group 1"}]});
        assert_eq!(truncate_details(details.clone()), details);
    }

    #[test]
    fn long_texts_are_truncated_before_lists() {
        let details = json!({"groupIds": ["a", "b"], "before": {"description": "ä".repeat(20_000)}});
        let truncated = truncate_details(details);
        assert!(size(&truncated) <= DETAILS_MAX);
        assert_eq!(truncated["truncated"], true);
        assert_eq!(truncated["groupIds"], json!(["a", "b"]));
        assert_eq!(
            truncated["before"]["description"]
                .as_str()
                .map(|text| text.chars().count()),
            Some(1001)
        );
    }

    #[test]
    fn long_lists_are_truncated_with_their_counts() {
        let groups: Vec<_> = (0..5000)
            .map(|n| json!({"id": format!("{n:036}"), "name": format!("Group {n}")}))
            .collect();
        let truncated = truncate_details(json!({"deletedGroups": groups, "counts": {"groups": 5000}}));
        assert!(size(&truncated) <= DETAILS_MAX);
        assert_eq!(truncated["counts"]["groups"], 5000);
        assert!(
            truncated["deletedGroups"]
                .as_array()
                .is_some_and(|list| !list.is_empty())
        );
    }
}
