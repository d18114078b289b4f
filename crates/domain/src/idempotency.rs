//! Idempotency keys: a creating request that is repeated with the same key creates nothing and receives the first
//! response.

use crate::id::UserId;

/// How long a key is stored, in seconds.
pub const RETENTION_SECONDS: i64 = 24 * 60 * 60;
/// Maximum number of keys stored per user and organization; the oldest are deleted.
pub const MAX_KEYS: i64 = 1_000;
/// Maximum total size, in bytes, of the responses stored per user and organization; the oldest are deleted.
pub const MAX_BYTES: i64 = 8 * 1024 * 1024;
/// Maximum length of a key in characters.
pub const MAX_KEY_LENGTH: usize = 255;

/// Returns whether a text is a valid key: visible ASCII without spaces.
pub fn is_key(text: &str) -> bool {
    (1..=MAX_KEY_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Names of JSON fields that contain secrets. Stored responses have null in their place.
pub const SECRETS: [&str; 4] = ["temporaryPassword", "slipToken", "password", "secret"];

/// A creating request with an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    pub user: UserId,
    /// Method and path template.
    pub route: String,
    /// Digest of the key.
    pub key_digest: String,
    /// Digest of path, query and body.
    pub request_digest: String,
}

/// The stored response to a creating request, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    /// HTTP status code.
    pub status: u16,
    /// Value of the `Location` header.
    pub location: Option<String>,
    /// Value of the `ETag` header.
    pub etag: Option<String>,
    /// JSON body.
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
