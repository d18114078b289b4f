//! Authentication with an API token in the header `X-API-Key`, on the routes that accept one. A cookie of the same
//! request is ignored there, and the origin is not checked: no page can send the header to another origin.

use axum::http::{HeaderMap, Method};
use domain::api_token::{ApiTokenText, TokenScope};

use common::error::{Error, Result};
use db::platform::CrossTenantReason;
use db::platform::api_tokens::ApiTokenFacts;

use super::{Authenticator, Caller, RequestCredentials, caller, check_organization};

/// The header with an API token.
pub const API_TOKEN: &str = "x-api-key";

/// The value of [`API_TOKEN`]. `None` for a repeated header and for text that is no token; neither is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentedToken(Option<ApiTokenText>);

impl PresentedToken {
    /// Returns the token of the request; `None` without the header.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(API_TOKEN).iter();
        let first = values.next()?;
        let is_repeated = values.next().is_some();
        let text = first.to_str().ok().filter(|_| !is_repeated);
        Some(Self(text.and_then(ApiTokenText::parse)))
    }
}

impl Authenticator {
    /// Looks up the token and records its use; `None` for a token that is unknown, expired, revoked or without a valid
    /// user.
    pub async fn find_api_token(&self, presented: &PresentedToken) -> Result<Option<ApiTokenFacts>> {
        let Some(text) = &presented.0 else { return Ok(None) };
        let (hash, now) = (text.hash(), common::clock::now());
        let find = self
            .store
            .platform_read(CrossTenantReason::SessionLookup, move |platform| {
                platform.api_token(&hash, now)
            });
        let facts = find.await?;
        if let Some(facts) = facts.as_ref().filter(|facts| facts.is_use_due(now)) {
            let id = facts.token.id.clone();
            let record = self
                .store
                .platform_write(CrossTenantReason::SessionLookup, move |platform| {
                    platform.record_api_token_use(&id, now)
                });
            if let Err(error) = record.await {
                tracing::warn!(%error, "use of an API token not recorded");
            }
        }
        Ok(facts)
    }
}

/// Authorizes a request with an API token on a route that is open to `scope`. The token acts as an administrator of its
/// organization.
pub fn authenticate_token(
    credentials: RequestCredentials,
    facts: Option<ApiTokenFacts>,
    scope: TokenScope,
    method: &Method,
) -> Result<Caller> {
    let facts = facts.ok_or(Error::Unauthenticated)?;
    if let Some(shown) = &credentials.shown {
        shown.check(&facts.session)?;
    }
    check_organization(&facts.session)?;
    if !facts.scopes.open(scope, *method == Method::GET) {
        return Err(Error::TokenScopeMissing);
    }
    Ok(Caller {
        api_token: Some(facts.token),
        ..caller(facts.session, credentials.request_id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn repeated_or_malformed_header_is_no_token() {
        let token = ApiTokenText::new(&"a".repeat(ApiTokenText::random_length()));
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = HeaderValue::from_str(value);
                headers.append(API_TOKEN, value.unwrap_or(HeaderValue::from_static("")));
            }
            PresentedToken::of(&headers)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[token.expose()]), Some(PresentedToken(Some(token.clone()))));
        assert_eq!(of(&["something"]), Some(PresentedToken(None)));
        assert_eq!(of(&[token.expose(), token.expose()]), Some(PresentedToken(None)));
    }
}
