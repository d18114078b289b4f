//! Changes of the API tokens of an organization.

use crate::api_token::ApiToken;

/// A change of an API token.
#[derive(Clone, Debug, PartialEq)]
pub enum ApiTokenChange {
    Created { token: ApiToken },
    Revoked { token: ApiToken },
}
