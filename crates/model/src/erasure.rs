//! What is left of a person who was erased: an id that leads to nobody. The group's work stays, the name goes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::UserId;
use crate::user::Person;

/// The name that stands where the person's name stood.
pub const ERASED_NAME: &str = "Deleted person";

/// The address of an erased account: unique, and one that no mail can reach (RFC 2606).
pub fn erased_address(user: &UserId) -> String {
    format!("erased-{user}@erased.invalid")
}

/// An erased person as others meet him.
pub fn erased_person(user: &UserId) -> Person {
    Person {
        id: user.clone(),
        name: ERASED_NAME.to_owned(),
        image: None,
    }
}

/// How much was erased, by noun; the second time it is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Erased {
    /// The profile: 1, or 0 when it was empty before.
    pub profiles: i64,
    /// Sign-ins that ended.
    pub sessions: i64,
    /// Passwords and other ways to sign in.
    pub sign_ins: i64,
    /// Traces of signing in: addresses, failures, mailed links.
    pub sign_in_traces: i64,
    /// Memberships of organizations.
    pub memberships: i64,
    /// Homerooms left or led no more.
    pub homerooms: i64,
    /// Classes left.
    pub enrollments: i64,
    /// Classes not taught along any more.
    pub co_teachings: i64,
    /// Groups left.
    pub groups: i64,
    /// Calls for help without words and name now.
    pub help_calls: i64,
    /// Chat messages that say nothing any more.
    pub chat_messages: i64,
    /// Files of the chat.
    pub chat_files: i64,
    /// Marks of what was read.
    pub reading_marks: i64,
    /// Documents for which it was counted how long and how often the person wrote.
    pub contributions: i64,
    /// Sent messages that say nothing any more.
    pub messages_sent: i64,
    /// Messages in the own box.
    pub messages_received: i64,
    /// Notes on hand-ins.
    pub submission_notes: i64,
    /// Grades of the person alone, former ones included.
    pub member_grades: i64,
    /// Exports of the person's data.
    pub exports: i64,
    /// Records of the activity log that named the person.
    pub log_records: i64,
}

impl Erased {
    /// Whether there was nothing to erase.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Details of a record without the name and the address of a person; ids stay. `address` is in lower case.
#[must_use]
pub fn without_person(details: Value, user: &UserId, address: &str) -> Value {
    match details {
        Value::Object(mut object) => {
            let is_person = object.get("id").and_then(Value::as_str) == Some(user.as_str());
            if is_person && object.contains_key("name") {
                object.insert("name".to_owned(), ERASED_NAME.into());
            }
            let is_sign_in = object.get("email").is_some_and(|email| is_address(email, address));
            if is_sign_in && object.contains_key("address") {
                // Where somebody signed in from tells about the person, too.
                object.insert("address".to_owned(), Value::Null);
            }
            let fields = object.into_iter();
            fields
                .map(|(key, value)| (key, without_person(value, user, address)))
                .collect()
        }
        Value::Array(list) => list
            .into_iter()
            .map(|value| without_person(value, user, address))
            .collect(),
        value if is_address(&value, address) => Value::Null,
        value => value,
    }
}

/// Former grades of a hand-in without those of a person, and how many went.
pub fn without_grades_of(grades: Value, user: &UserId) -> (Value, i64) {
    let Value::Array(list) = grades else { return (grades, 0) };
    let before = list.len();
    let kept: Vec<Value> = list
        .into_iter()
        .filter(|grade| grade["userId"].as_str() != Some(user.as_str()))
        .collect();
    let gone = i64::try_from(before - kept.len()).unwrap_or_default();
    (Value::Array(kept), gone)
}

fn is_address(value: &Value, address: &str) -> bool {
    value.as_str().is_some_and(|text| text.to_lowercase() == address)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_go_wherever_they_stand_beside_the_id() {
        let details = json!({
            "users": [{"id": "ben", "name": "Ben"}, {"id": "cem", "name": "Cem"}],
            "user": {"id": "ben", "name": "Benny (as he was called then)"},
            "groups": [{"id": "g", "name": "Ben"}],
        });
        let expected = json!({
            "users": [{"id": "ben", "name": ERASED_NAME}, {"id": "cem", "name": "Cem"}],
            "user": {"id": "ben", "name": ERASED_NAME},
            "groups": [{"id": "g", "name": "Ben"}],
        });
        assert_eq!(without_person(details, &UserId::new("ben"), "ben@x.example"), expected);
    }

    #[test]
    fn the_address_goes_with_where_it_came_from() {
        let details = json!({"email": "Ben@x.example", "address": "192.0.2.1", "changed": ["email", "ben@x.example"]});
        let expected = json!({"email": null, "address": null, "changed": ["email", null]});
        assert_eq!(without_person(details, &UserId::new("ben"), "ben@x.example"), expected);
        let other = json!({"email": "cem@x.example", "address": "192.0.2.1"});
        assert_eq!(
            without_person(other.clone(), &UserId::new("ben"), "ben@x.example"),
            other
        );
    }

    #[test]
    fn grades_of_others_stay() {
        let grades = json!([{"userId": "ben", "value": "A"}, {"userId": "cem", "value": "B"}]);
        let (kept, gone) = without_grades_of(grades, &UserId::new("ben"));
        assert_eq!((kept, gone), (json!([{"userId": "cem", "value": "B"}]), 1));
    }

    #[test]
    fn erased_addresses_differ_and_reach_nobody() {
        let (one, two) = (erased_address(&UserId::new("a")), erased_address(&UserId::new("b")));
        assert!(one != two && one.ends_with(".invalid"));
    }
}
