//! Tokens with which programs call the API for an administrator of an organization: what they open, how long they are
//! valid, and how they look.

use sha2::{Digest as _, Sha256};

use crate::domain_error::DomainError;
use crate::id::{ApiTokenId, OrganizationId, UserId};
use crate::string_enum::string_enum;
use crate::text::ShortName;
use crate::time::Timestamp;

/// Maximum number of tokens of one organization.
pub const TOKENS_MAX: usize = 50;
/// Validity of a token whose creation names no end, in days.
pub const VALID_DAYS_DEFAULT: i64 = 365;
/// Longest validity of a token, in days.
pub const VALID_DAYS_MAX: i64 = 731;
/// Interval in seconds within which a further use of a token is not recorded.
pub const USE_RECORDED_SECONDS: i64 = 60;
/// The beginning of every token, by which scanners for leaked secrets recognize it.
const PREFIX: &str = "gwt_";
/// Number of random characters after the prefix, out of 62: 238 bits.
const RANDOM_LENGTH: usize = 40;
/// Number of characters that lists show of a token.
const HINT_LENGTH: usize = 8;
const DAY_SECONDS: i64 = 24 * 60 * 60;

string_enum! {
    /// What a token opens.
    TokenScope {
        /// Reads people, classes, courses, groups, topics and the activity log. No grades and no documents.
        Read = "read",
        /// Reads and changes people, subjects, homerooms, classes and courses.
        Provisioning = "provisioning",
        /// Reads and writes grades.
        Grades = "grades",
    }
}

/// The scopes of a token, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenScopes(Vec<TokenScope>);

impl TokenScopes {
    pub fn new(mut scopes: Vec<TokenScope>) -> Self {
        scopes.sort_unstable();
        scopes.dedup();
        Self(scopes)
    }

    /// Parses the column, in which the scopes are separated by commas. A scope that this release does not know opens
    /// nothing.
    pub fn stored(text: &str) -> Self {
        Self::new(text.split(',').filter_map(TokenScope::parse).collect())
    }

    /// Returns the scopes as the column stores them.
    pub fn to_column(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|scope| scope.as_str()).collect();
        names.join(",")
    }

    pub fn as_slice(&self) -> &[TokenScope] {
        &self.0
    }

    /// Returns whether a token with these scopes may call a route that is open to `route`. `Read` also reads what
    /// `Provisioning` changes; grades need their own scope.
    pub fn open(&self, route: TokenScope, is_reading: bool) -> bool {
        let reads = is_reading && route == TokenScope::Provisioning && self.0.contains(&TokenScope::Read);
        reads || self.0.contains(&route)
    }
}

/// A new token as its creator sees it once.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiTokenText(String);

impl ApiTokenText {
    /// Builds a token from random characters; see [`random_length`](Self::random_length).
    pub fn new(random: &str) -> Self {
        Self(format!("{PREFIX}{random}"))
    }

    /// Returns how many random characters a token needs.
    pub const fn random_length() -> usize {
        RANDOM_LENGTH
    }

    /// Parses the value of the header; `None` for what cannot be a token, which needs no look-up.
    pub fn parse(text: &str) -> Option<Self> {
        let random = text.strip_prefix(PREFIX)?;
        let fits = random.len() == RANDOM_LENGTH && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns the hash that is stored. The token is random, so that a fast hash suffices.
    pub fn hash(&self) -> String {
        use std::fmt::Write as _;
        Sha256::digest(&self.0).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Returns the beginning, by which administrators recognize the token in a list.
    pub fn hint(&self) -> String {
        self.0.chars().take(HINT_LENGTH).collect()
    }

    /// Returns the token for the response to its creation.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ApiTokenText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("***")
    }
}

/// A token of an organization, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    pub id: ApiTokenId,
    pub organization_id: OrganizationId,
    pub name: ShortName,
    pub scopes: TokenScopes,
    /// The first characters.
    pub hint: String,
    /// The user for whom the token acts. It is invalid while they do not administer the organization.
    pub created_by_id: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The last use, accurate to [`USE_RECORDED_SECONDS`].
    pub last_used_at: Option<Timestamp>,
}

/// Returns whether a use at this time has to be recorded.
pub fn is_use_due(last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
    last_used_at.is_none_or(|used| used.plus_seconds(USE_RECORDED_SECONDS) <= now)
}

/// Checks the end of a new token, or returns the default.
pub fn end_of_validity(requested: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, DomainError> {
    let Some(end) = requested else {
        return Ok(now.plus_seconds(VALID_DAYS_DEFAULT * DAY_SECONDS));
    };
    let message = if end <= now {
        "must be in the future"
    } else if end > now.plus_seconds(VALID_DAYS_MAX * DAY_SECONDS) {
        "must be within two years"
    } else {
        return Ok(end);
    };
    let (path, code) = ("expiresAt", "range");
    Err(DomainError::Invalid { path, code, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_opens_its_routes_and_reading_opens_what_provisioning_changes() {
        use TokenScope::{Grades, Provisioning, Read};
        let cases = [
            (Read, Read, true, true),
            (Read, Provisioning, true, true),
            (Read, Provisioning, false, false),
            (Read, Grades, true, false),
            (Provisioning, Provisioning, false, true),
            (Provisioning, Read, true, false),
            (Provisioning, Grades, true, false),
            (Grades, Grades, false, true),
            (Grades, Read, true, false),
            (Grades, Provisioning, true, false),
        ];
        for (scope, route, is_reading, expected) in cases {
            let opens = TokenScopes::new(vec![scope]).open(route, is_reading);
            assert_eq!(opens, expected, "{scope} on {route}, reading: {is_reading}");
        }
        assert!(
            !TokenScopes::stored("everything").open(Read, true),
            "an unknown scope opens nothing"
        );
    }

    #[test]
    fn scopes_are_stored_once_and_in_order() {
        let scopes = TokenScopes::new(vec![TokenScope::Grades, TokenScope::Read, TokenScope::Grades]);
        assert_eq!(scopes.to_column(), "read,grades");
        assert_eq!(TokenScopes::stored("read,grades"), scopes);
    }

    #[test]
    fn only_complete_tokens_are_looked_up() {
        let token = ApiTokenText::new(&"a".repeat(ApiTokenText::random_length()));
        assert_eq!(ApiTokenText::parse(token.expose()), Some(token.clone()));
        assert_eq!(token.hint(), "gwt_aaaa");
        assert_eq!(format!("{token:?}"), "***");
        assert!(!token.hash().contains("aaaa"));
        for text in [
            "",
            "gwt_",
            "gwt_short",
            &token.expose()[4..],
            &format!("{}!", &token.expose()[..43]),
        ] {
            assert_eq!(ApiTokenText::parse(text), None, "{text}");
        }
    }

    #[test]
    fn validity_ends_within_two_years() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let after = |days: i64| now.plus_seconds(days * DAY_SECONDS);
        assert_eq!(end_of_validity(None, now), Ok(after(365)));
        assert_eq!(end_of_validity(Some(after(731)), now), Ok(after(731)));
        for wrong in [now, after(-1), after(732)] {
            assert!(end_of_validity(Some(wrong), now).is_err(), "{wrong:?}");
        }
    }
}
