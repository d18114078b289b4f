//! Idempotency keys: a creating request that is sent again with its key creates nothing and gets the first answer.

use crate::id::UserId;

/// How long a key is remembered, in seconds.
pub const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// How many keys of one person an organization remembers; older ones are forgotten.
pub const MOST_KEYS: i64 = 1_000;
/// How many bytes of responses to one person an organization keeps; older ones are forgotten.
pub const MOST_BYTES: i64 = 8 * 1024 * 1024;
/// The longest key, in characters.
pub const LONGEST_KEY: usize = 255;

/// Whether a text can be a key: visible ASCII without spaces.
pub fn is_key(text: &str) -> bool {
    (1..=LONGEST_KEY).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Names of fields that hold secrets. An answer is stored with null in their place.
pub const SECRETS: [&str; 3] = ["temporaryPassword", "password", "secret"];

/// A creating request that carries a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    /// Who sends it.
    pub user: UserId,
    /// Method and template of the path.
    pub route: String,
    /// The digest of the key.
    pub key_digest: String,
    /// The digest of path, query and body.
    pub request_digest: String,
}

/// The answer to a creating request, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The status.
    pub status: u16,
    /// The address of what was created.
    pub location: Option<String>,
    /// The version of what was created.
    pub etag: Option<String>,
    /// The body, JSON.
    pub body: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_visible_ascii_of_at_most_255_characters() {
        assert!(is_key("a") && is_key("018f3c1e-6c2f-7b8e-9d2a-3f1f7e1f2a3b") && is_key(&"k".repeat(255)));
        assert!(!is_key("") && !is_key("a b") && !is_key("ü") && !is_key("a\n") && !is_key(&"k".repeat(256)));
    }
}
