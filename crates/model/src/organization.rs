//! Organizations: the schools, each a tenant of its own.

use serde_json::Value;

use crate::id::OrganizationId;
use crate::text::Name;
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// Whether an organization works.
    OrganizationStatus {
        /// It works.
        Active = "ACTIVE",
        /// Its members are refused until it is activated again.
        Suspended = "SUSPENDED",
    }
}

/// A school.
#[derive(Clone, Debug, PartialEq)]
pub struct Organization {
    /// Its id.
    pub id: OrganizationId,
    /// Its name.
    pub name: Name,
    /// Its name in addresses, unique on the platform.
    pub slug: String,
    /// A host of its own.
    pub custom_domain: Option<String>,
    /// Address of its logo.
    pub logo: Option<String>,
    /// Whether it works.
    pub status: OrganizationStatus,
    /// Settings, a small JSON object.
    pub metadata: Option<Value>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Whether a text can be the slug of an organization: 2 to 63 of `a`-`z`, `0`-`9` and `-`.
pub fn is_slug(text: &str) -> bool {
    (2..=63).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_short_lower_case_and_plain() {
        assert!(is_slug("north-school") && is_slug("7b"));
        assert!(!is_slug("a") && !is_slug("North") && !is_slug("north.school") && !is_slug(&"a".repeat(64)));
    }
}
