//! API tokens in responses.

use api_macros::view;
use domain::api_token::{ApiToken, ApiTokenText, TokenScope};
use domain::id::{ApiTokenId, UserId};
use domain::time::Timestamp;
use domain::user::Person;

/// An API token of an organization, without its secret.
#[view]
pub struct ApiTokenView {
    id: ApiTokenId,
    name: String,
    scopes: Vec<TokenScope>,
    /// The first characters of the token.
    hint: String,
    created_at: Timestamp,
    expires_at: Timestamp,
    /// The last use, accurate to a minute.
    last_used_at: Option<Timestamp>,
}

/// The user for whom an API token acts.
#[view]
pub struct TokenHolder {
    pub id: UserId,
    pub name: String,
}

/// An API token in the list.
#[view]
pub struct ListedApiTokenView {
    #[serde(flatten)]
    token: ApiTokenView,
    created_by: TokenHolder,
    /// Whether the token is accepted: it is not expired, and its user still administers the organization.
    is_valid: bool,
}

/// A new API token. The response to its creation is the only one that contains it.
#[view]
pub struct CreatedApiTokenView {
    #[serde(flatten)]
    token: ApiTokenView,
    /// The token, for the header `X-API-Key`. Null in a repeated response to the same `Idempotency-Key`.
    secret: Option<String>,
}

view_from!(token: ApiToken => ApiTokenView {
    id, hint, created_at, expires_at, last_used_at,
    name: token.name.into_string(),
    scopes: token.scopes.as_slice().to_vec(),
});

impl ListedApiTokenView {
    /// `is_administrator` is whether the user still administers the organization.
    pub fn new(token: ApiToken, created_by: Person, is_administrator: bool, now: Timestamp) -> Self {
        Self {
            is_valid: is_administrator && token.expires_at > now,
            created_by: TokenHolder {
                id: created_by.id,
                name: created_by.name,
            },
            token: token.into(),
        }
    }
}

impl CreatedApiTokenView {
    pub fn new(token: ApiToken, text: &ApiTokenText) -> Self {
        Self {
            token: token.into(),
            secret: Some(text.expose().to_owned()),
        }
    }
}
