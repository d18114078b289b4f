//! Reads a JSON body or a query key by key and reports errors with the messages of the library's schema. All issues are
//! collected. Unknown keys are ignored, so only keys that are read here by name are used.

use serde_json::{Map, Value};

use crate::{email::is_email, error::AuthError};

/// A string that may be absent or `null`, where the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nullable<'a> {
    /// The key is missing.
    Absent,
    /// The key is `null`.
    Null,
    /// The key is a string.
    Text(&'a str),
}

impl<'a> Nullable<'a> {
    /// Returns the string, if any.
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Null => None,
        }
    }
}

/// Reads the keys of one body or query. Read them in the order of the library's schema and end with
/// [`FieldReader::finish`]; the values are meaningless if it fails.
#[derive(Debug)]
pub struct FieldReader<'a> {
    place: &'static str,
    object: Option<&'a Map<String, Value>>,
    issues: Vec<String>,
}

impl<'a> FieldReader<'a> {
    /// Reads a body; `None` if the request has none.
    pub fn body(body: Option<&'a Value>) -> Self {
        Self::new("body", body)
    }

    /// Reads a query that was converted to an object.
    pub fn query(query: &'a Value) -> Self {
        Self::new("query", Some(query))
    }

    /// Reads an object inside a body or query; `place` names it in issues.
    pub fn nested(place: &'static str, object: &'a Map<String, Value>) -> Self {
        Self {
            place,
            object: Some(object),
            issues: Vec::new(),
        }
    }

    fn new(place: &'static str, value: Option<&'a Value>) -> Self {
        let object = value.and_then(Value::as_object);
        let mut reader = Self {
            place,
            object,
            issues: Vec::new(),
        };
        if object.is_none() {
            reader.issues.push(format!("[{place}] {}", unexpected("object", value)));
        }
        reader
    }

    /// Reads a required string; empty if missing.
    pub fn string(&mut self, key: &str) -> &'a str {
        match self.get(key) {
            Some(Value::String(text)) => text,
            other => self.unexpected(key, "string", other),
        }
    }

    /// Reads a required, non-empty string.
    pub fn filled_string(&mut self, key: &str) -> &'a str {
        let before = self.issues.len();
        let text = self.string(key);
        if text.is_empty() && self.issues.len() == before {
            self.add(key, "Too small: expected string to have >=1 characters");
        }
        text
    }

    /// Reads a required email address.
    pub fn email(&mut self, key: &str) -> &'a str {
        let before = self.issues.len();
        let text = self.string(key);
        if !is_email(text) && self.issues.len() == before {
            self.add(key, "Invalid email address");
        }
        text
    }

    /// Reads a string that may be absent, but not `null`.
    pub fn optional_string(&mut self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            Value::String(text) => Some(text),
            other => Some(self.unexpected(key, "string", Some(other))),
        }
    }

    /// Reads a string that may be absent or `null`.
    pub fn nullable_string(&mut self, key: &str) -> Nullable<'a> {
        match self.get(key) {
            None => Nullable::Absent,
            Some(Value::Null) => Nullable::Null,
            Some(_) => self.optional_string(key).map_or(Nullable::Absent, Nullable::Text),
        }
    }

    /// Reads an optional boolean.
    pub fn optional_bool(&mut self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Bool(answer) => Some(*answer),
            other => {
                self.unexpected(key, "boolean", Some(other));
                None
            }
        }
    }

    /// Reads an optional string from a fixed set.
    pub fn optional_enum(&mut self, key: &str, words: &[&str]) -> Option<&'a str> {
        match self.get(key)? {
            Value::String(text) if words.contains(&text.as_str()) => Some(text),
            _ => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                self.add(key, &format!("Invalid option: expected one of {}", words.join("|")));
                None
            }
        }
    }

    /// Reads an optional number.
    pub fn optional_number(&mut self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Value::Number(number) => number.as_f64(),
            other => {
                self.unexpected(key, "number", Some(other));
                None
            }
        }
    }

    /// Reads a required object with any keys.
    pub fn record(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        match self.get(key) {
            Some(Value::Object(record)) => Some(record),
            other => {
                self.unexpected(key, "record", other);
                None
            }
        }
    }

    /// Reads a required object of lists of strings, the form of permissions.
    pub fn record_of_lists(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        let record = self.record(key)?;
        for (name, value) in record {
            let place = format!("{key}.{name}");
            match value {
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate().filter(|(_, item)| !item.is_string()) {
                        self.unexpected(&format!("{place}.{index}"), "string", Some(item));
                    }
                }
                other => {
                    self.unexpected(&place, "array", Some(other));
                }
            }
        }
        Some(record)
    }

    /// Reads an optional object with any keys.
    pub fn optional_record(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        self.get(key)?;
        self.record(key)
    }

    /// Reads a string or a list of strings, the form of roles; empty if it is neither.
    pub fn strings(&mut self, key: &str) -> Vec<&'a str> {
        let texts = match self.get(key) {
            Some(Value::String(text)) => Some(vec![text.as_str()]),
            Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
            _ => None,
        };
        texts.unwrap_or_else(|| {
            self.add(key, "Invalid input");
            Vec::new()
        })
    }

    /// Returns all issues as one error.
    pub fn finish(self) -> Result<(), AuthError> {
        if self.issues.is_empty() {
            return Ok(());
        }
        Err(AuthError::validation(self.issues.join("; ")))
    }

    /// Reports a value that is longer than the service stores.
    pub fn check_length(&mut self, key: &str, text: &str, max: usize) {
        if text.chars().count() > max {
            self.add(key, &format!("Too big: expected string to have <={max} characters"));
        }
    }

    /// Reads a value of any type; `None` if it is missing.
    pub fn any(&self, key: &str) -> Option<&'a Value> {
        self.get(key)
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.object?.get(key)
    }

    fn unexpected(&mut self, key: &str, expected: &str, received: Option<&Value>) -> &'a str {
        self.add(key, &unexpected(expected, received));
        ""
    }

    /// If the object itself is missing, issues of its keys are not reported.
    fn add(&mut self, key: &str, issue: &str) {
        if self.object.is_some() {
            self.issues.push(format!("[{}.{key}] {issue}", self.place));
        }
    }
}

/// Parses a query flag like the library: every non-empty string is true, even `false`.
pub fn query_flag(value: Option<&str>) -> bool {
    value.is_some_and(|text| !text.is_empty())
}

fn unexpected(expected: &str, received: Option<&Value>) -> String {
    let received = match received {
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    };
    format!("Invalid input: expected {expected}, received {received}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use serde_json::json;

    use super::*;

    fn sign_up_issues(body: Option<&Value>) -> String {
        let mut reader = FieldReader::body(body);
        reader.string("name");
        reader.email("email");
        reader.filled_string("password");
        reader.optional_string("callbackURL");
        reader.optional_bool("rememberMe");
        reader.finish().unwrap_err().message.into_owned()
    }

    #[test]
    fn all_issues_are_reported_at_once() {
        assert_eq!(
            sign_up_issues(Some(&json!({}))),
            "[body.name] Invalid input: expected string, received undefined; \
             [body.email] Invalid input: expected string, received undefined; \
             [body.password] Invalid input: expected string, received undefined"
        );
        assert_eq!(
            sign_up_issues(Some(
                &json!({"name": 1, "email": "x", "password": "", "rememberMe": "y", "callbackURL": null})
            )),
            "[body.name] Invalid input: expected string, received number; \
             [body.email] Invalid email address; \
             [body.password] Too small: expected string to have >=1 characters; \
             [body.callbackURL] Invalid input: expected string, received null; \
             [body.rememberMe] Invalid input: expected boolean, received string"
        );
    }

    #[test]
    fn missing_body_is_a_single_issue() {
        assert_eq!(
            sign_up_issues(None),
            "[body] Invalid input: expected object, received undefined"
        );
        assert_eq!(
            sign_up_issues(Some(&json!(null))),
            "[body] Invalid input: expected object, received null"
        );
        assert_eq!(
            sign_up_issues(Some(&json!([]))),
            "[body] Invalid input: expected object, received array"
        );
    }

    #[test]
    fn schema_issues_are_validation_errors() {
        let mut reader = FieldReader::query(&Value::Null);
        reader.string("callbackURL");
        let refusal = reader.finish().unwrap_err();
        assert_eq!((refusal.status, refusal.code), (400, Some("VALIDATION_ERROR")));
        assert_eq!(refusal.message, "[query] Invalid input: expected object, received null");
    }

    #[test]
    fn valid_body_is_read_and_unknown_keys_are_ignored() {
        let body = json!({
            "email": "ada@school.test", "password": "p", "rememberMe": false, "organizationId": null,
            "role": ["a", "b"], "banExpiresIn": 60, "data": {"x": 1}, "role2": "c", "userId": "attacker"
        });
        let mut reader = FieldReader::body(Some(&body));
        assert_eq!(reader.email("email"), "ada@school.test");
        assert_eq!(reader.filled_string("password"), "p");
        assert_eq!(reader.optional_bool("rememberMe"), Some(false));
        assert_eq!(reader.optional_bool("absent"), None);
        assert_eq!(reader.optional_string("absent"), None);
        assert_eq!(reader.nullable_string("organizationId"), Nullable::Null);
        assert_eq!(reader.nullable_string("absent"), Nullable::Absent);
        assert_eq!(reader.nullable_string("email"), Nullable::Text("ada@school.test"));
        assert_eq!(reader.strings("role"), ["a", "b"]);
        assert_eq!(reader.strings("role2"), ["c"]);
        assert_eq!(reader.optional_number("banExpiresIn"), Some(60.0));
        assert_eq!(reader.record("data").unwrap().len(), 1);
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn wrong_types_are_named_in_issues() {
        let body = json!({"organizationId": [], "role": 5, "banExpiresIn": "q", "data": [], "roles": [1]});
        let mut reader = FieldReader::body(Some(&body));
        reader.nullable_string("organizationId");
        reader.strings("role");
        reader.strings("roles");
        reader.optional_number("banExpiresIn");
        reader.record("data");
        assert_eq!(
            reader.finish().unwrap_err().message,
            "[body.organizationId] Invalid input: expected string, received array; \
             [body.role] Invalid input; [body.roles] Invalid input; \
             [body.banExpiresIn] Invalid input: expected number, received string; \
             [body.data] Invalid input: expected record, received array"
        );
    }

    #[test]
    fn query_flag_is_true_for_any_text() {
        assert!(query_flag(Some("true")));
        assert!(query_flag(Some("false")));
        assert!(!query_flag(Some("")));
        assert!(!query_flag(None));
    }
}
