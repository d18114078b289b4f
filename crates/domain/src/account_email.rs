//! The email address of an account. Accounts of students may have none: the column then holds a placeholder below
//! `.invalid`, because it is unique, is not nullable in earlier releases, and is the key of the sign-in limits. This type
//! decides what is shown: serialized, a placeholder is null.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::id::UserId;
use crate::stored::stored;

/// The domain of all placeholders. No mail is delivered to it (RFC 2606), and requests cannot name it.
pub const PLACEHOLDER_DOMAIN: &str = "no-email.invalid";

/// The email address of an account, or the placeholder of an account without one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccountEmail(Arc<str>);

stored!(AccountEmail as Text: |email| email.stored_form(), |text| Some(Self::stored(text)), Self::stored(""));

impl AccountEmail {
    /// Returns the placeholder of an account without an email address.
    pub fn none(user: &UserId) -> Self {
        Self(format!("{user}@{PLACEHOLDER_DOMAIN}").into())
    }

    /// Wraps a validated address in lower case, or the value of the database column.
    pub fn stored(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().into())
    }

    /// Returns the address; `None` if the account has none.
    pub fn address(&self) -> Option<&str> {
        Some(self.stored_form()).filter(|text| !is_placeholder(text))
    }

    /// Returns the address as responses contain it.
    pub fn shown(&self) -> Option<String> {
        self.address().map(str::to_owned)
    }

    /// Returns the value of the column, possibly a placeholder: the key of the sign-in limits, and what `/auth` sends,
    /// because the type of the client library requires a text.
    pub fn stored_form(&self) -> &str {
        &self.0
    }
}

impl Serialize for AccountEmail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.address().serialize(serializer)
    }
}

/// Returns whether a text is a placeholder instead of an email address, regardless of case.
pub fn is_placeholder(text: &str) -> bool {
    let domain = text.trim().rsplit_once('@').map(|(_, domain)| domain);
    domain.is_some_and(|domain| domain.eq_ignore_ascii_case(PLACEHOLDER_DOMAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_is_null_in_responses() {
        let none = AccountEmail::none(&UserId::new("ben"));
        assert_eq!(none.stored_form(), "ben@no-email.invalid");
        assert_eq!((none.address(), none.shown()), (None, None));
        assert_eq!(serde_json::json!(none), serde_json::Value::Null);
        let ada = AccountEmail::stored("ada@school.example");
        assert_eq!(ada.address(), Some("ada@school.example"));
        assert_eq!(serde_json::json!(ada), "ada@school.example");
        assert!(is_placeholder(" X@No-Email.Invalid ") && !is_placeholder("x@other.invalid"));
    }
}
