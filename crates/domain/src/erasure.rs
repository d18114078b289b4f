//! Erasure of a user's personal data. An id without a name remains, because the work of the group is kept.

use api_macros::view;
use serde::Deserialize;
use serde_json::Value;

use crate::id::UserId;
use crate::user::Person;

/// Name shown in place of the name of an erased user.
pub const ERASED_NAME: &str = "Deleted person";

/// Returns the email address of an erased account: unique and undeliverable (RFC 2606).
pub fn erased_address(user: &UserId) -> String {
    format!("erased-{user}@erased.invalid")
}

/// Returns an erased user as shown to other users.
pub fn erased_person(user: &UserId) -> Person {
    Person {
        id: user.clone(),
        name: ERASED_NAME.to_owned(),
        image: None,
    }
}

/// Number of erased objects by type. All zero if the user was erased before.
#[view(Copy, Default, PartialEq, Eq, Deserialize)]
#[schema(as = Erased)]
pub struct ErasureCounts {
    /// 1 if the profile was erased, 0 if it was empty already.
    pub profiles: i64,
    /// Sessions that ended.
    pub sessions: i64,
    /// Passwords and other credentials.
    pub sign_ins: i64,
    /// Traces of sign-ins: IP addresses, failed attempts, emailed links.
    pub sign_in_traces: i64,
    /// Memberships of organizations.
    pub memberships: i64,
    /// Homerooms in which the user was a student or the lead teacher.
    pub homerooms: i64,
    /// Enrolments in classes.
    pub enrollments: i64,
    /// Classes in which the user was a co-teacher.
    pub co_teachings: i64,
    /// Group memberships.
    pub groups: i64,
    /// Help requests whose message and name were removed.
    pub help_calls: i64,
    /// Room messages whose text was removed.
    pub chat_messages: i64,
    /// Comments on documents whose text was removed.
    pub document_comments: i64,
    /// Text snippets.
    pub text_snippets: i64,
    /// Attachments of room messages.
    pub chat_files: i64,
    /// Read markers.
    pub reading_marks: i64,
    /// Documents with editing statistics of the user.
    pub contributions: i64,
    /// Sent direct messages whose text was removed.
    pub messages_sent: i64,
    /// Received direct messages.
    pub messages_received: i64,
    /// Notes on submissions.
    pub submission_notes: i64,
    /// Individual grades of the user, former ones included.
    pub member_grades: i64,
    /// Deleted objects that can be restored and contained data of the user.
    pub deleted_items: i64,
    /// Exports of the user's data.
    pub exports: i64,
    /// Activity log records that contained the user's name.
    pub log_records: i64,
}

impl ErasureCounts {
    /// Returns whether there was nothing to erase.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Removes the name and the email address of a user from the details of an activity log record; ids are kept. `address`
/// must be in lower case.
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
                // The IP address of a sign-in is personal data, too.
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

/// Removes the individual grades of a user from the former grades of a submission. Returns the remaining grades and the
/// number of removed ones.
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
    fn erasure_removes_names_next_to_the_id() {
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
    fn erasure_removes_email_and_ip_address() {
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
    fn erasure_keeps_grades_of_others() {
        let grades = json!([{"userId": "ben", "value": "A"}, {"userId": "cem", "value": "B"}]);
        let (kept, gone) = without_grades_of(grades, &UserId::new("ben"));
        assert_eq!((kept, gone), (json!([{"userId": "cem", "value": "B"}]), 1));
    }

    #[test]
    fn erased_addresses_are_unique_and_undeliverable() {
        let (one, two) = (erased_address(&UserId::new("a")), erased_address(&UserId::new("b")));
        assert!(one != two && one.ends_with(".invalid"));
    }
}
