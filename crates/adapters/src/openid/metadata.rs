//! Configuration of providers, with a cache. Concurrent requests for the same provider are joined.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::OpenIdError;
use crate::outgoing_http::OutgoingHttp;

/// How long a configuration is used before it is read again.
const FRESH: Duration = Duration::from_mins(10);
/// How long a failed request for the configuration is remembered.
const FAILURE_FRESH: Duration = Duration::from_secs(5);

/// The configuration of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderMetadata {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    pub userinfo_endpoint: Option<String>,
    pub end_session_endpoint: Option<String>,
    /// Whether authorization responses contain `iss` (RFC 9207).
    pub announces_issuer: bool,
    authentication_methods: Option<Vec<String>>,
}

impl ProviderMetadata {
    /// Parses the configuration and compares the issuer, character by character.
    fn parse(document: &Map<String, Value>, issuer: &str) -> Result<Self, OpenIdError> {
        let text = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
        let list = |key: &str| {
            let values = document.get(key)?.as_array()?.iter();
            Some(values.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
        };
        if text("issuer").as_deref() != Some(issuer) {
            return Err(OpenIdError::IssuerMismatch);
        }
        let required = |key: &str| text(key).ok_or(OpenIdError::Unsupported);
        if list("response_types_supported").is_some_and(|types| !types.iter().any(|kind| kind == "code")) {
            return Err(OpenIdError::Unsupported);
        }
        let announces_issuer = document
            .get("authorization_response_iss_parameter_supported")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: required("authorization_endpoint")?,
            token_endpoint: required("token_endpoint")?,
            jwks_uri: required("jwks_uri")?,
            userinfo_endpoint: text("userinfo_endpoint"),
            end_session_endpoint: text("end_session_endpoint"),
            announces_issuer,
            authentication_methods: list("token_endpoint_auth_methods_supported"),
        })
    }

    /// Returns whether the client authenticates with a header. That is the default of a provider that lists no methods.
    pub(super) fn uses_basic_authentication(&self) -> bool {
        let methods = self.authentication_methods.as_deref();
        methods.is_none_or(|methods| {
            methods.iter().any(|method| method == "client_secret_basic")
                || !methods.iter().any(|method| method == "client_secret_post")
        })
    }

    /// Returns the URL at which the provider ends the session of the browser (RP-Initiated Logout), if it has one. `id_token`
    /// names the session to end, so that the provider need not ask.
    pub fn end_session_url(&self, client_id: &str, return_to: &str, id_token: Option<&str>) -> Option<String> {
        let mut url = url::Url::parse(self.end_session_endpoint.as_deref()?).ok()?;
        url.query_pairs_mut()
            .append_pair("client_id", client_id)
            .append_pair("post_logout_redirect_uri", return_to);
        if let Some(id_token) = id_token {
            url.query_pairs_mut().append_pair("id_token_hint", id_token);
        }
        Some(url.into())
    }

    /// Checks the `iss` parameter of an authorization response.
    pub fn check_response_issuer(&self, issuer: Option<&str>) -> Result<(), OpenIdError> {
        match issuer {
            Some(issuer) if issuer == self.issuer => Ok(()),
            None if !self.announces_issuer => Ok(()),
            _ => Err(OpenIdError::WrongIssuer),
        }
    }
}

/// Reads the configuration of a provider.
pub(super) async fn fetch(http: &OutgoingHttp, issuer: &str) -> Result<ProviderMetadata, OpenIdError> {
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let metadata = ProviderMetadata::parse(&http.get(&url, None).await?, issuer)?;
    let endpoints = [
        Some(&metadata.authorization_endpoint),
        Some(&metadata.token_endpoint),
        Some(&metadata.jwks_uri),
        metadata.userinfo_endpoint.as_ref(),
        metadata.end_session_endpoint.as_ref(),
    ];
    for endpoint in endpoints.into_iter().flatten() {
        let url = url::Url::parse(endpoint).map_err(|_| OpenIdError::Unsupported)?;
        if !http.allows(&url) {
            return Err(OpenIdError::AddressNotAllowed);
        }
    }
    Ok(metadata)
}

type FetchedMetadata = Result<Arc<ProviderMetadata>, OpenIdError>;

/// The cached configuration of one provider.
#[derive(Default)]
pub(super) struct MetadataStore(Mutex<Option<(Instant, FetchedMetadata)>>);

impl MetadataStore {
    /// Returns the configuration. While it is read, other callers wait for the same result.
    pub(super) async fn get(&self, http: &OutgoingHttp, issuer: &str) -> FetchedMetadata {
        let mut cached = self.0.lock().await;
        if let Some((at, found)) = &*cached {
            let fresh = if found.is_ok() { FRESH } else { FAILURE_FRESH };
            if at.elapsed() < fresh {
                return found.clone();
            }
        }
        let found = fetch(http, issuer).await.map(Arc::new);
        // A provider that is unavailable for a moment keeps its last configuration.
        let former = cached.take().and_then(|(_, former)| former.ok());
        let found = match (found, former) {
            (Err(OpenIdError::Unreachable | OpenIdError::ErrorResponse), Some(former)) => Ok(former),
            (found, _) => found,
        };
        *cached = Some((Instant::now(), found.clone()));
        found
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({
            "issuer": "https://id.example",
            "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://id.example/token",
            "jwks_uri": "https://id.example/keys",
        })
    }

    fn parse(document: &Value) -> Result<ProviderMetadata, OpenIdError> {
        ProviderMetadata::parse(document.as_object().unwrap(), "https://id.example")
    }

    #[test]
    fn issuer_of_configuration_is_compared_exactly() {
        assert!(parse(&document()).is_ok());
        for issuer in ["https://id.example/", "https://ID.example", "https://evil.example"] {
            let mut changed = document();
            changed["issuer"] = json!(issuer);
            assert_eq!(parse(&changed), Err(OpenIdError::IssuerMismatch), "{issuer}");
        }
    }

    #[test]
    fn announced_issuer_is_required_in_response() {
        let mut announced = document();
        announced["authorization_response_iss_parameter_supported"] = json!(true);
        let (plain, announced) = (parse(&document()).unwrap(), parse(&announced).unwrap());
        let own = Some("https://id.example");
        assert_eq!(announced.check_response_issuer(own), Ok(()));
        assert_eq!(announced.check_response_issuer(None), Err(OpenIdError::WrongIssuer));
        assert_eq!(plain.check_response_issuer(None), Ok(()));
        for metadata in [plain, announced] {
            assert_eq!(
                metadata.check_response_issuer(Some("https://evil.example")),
                Err(OpenIdError::WrongIssuer)
            );
        }
    }

    #[test]
    fn client_authenticates_as_the_provider_supports_it() {
        let with = |methods: Value| {
            let mut changed = document();
            changed["token_endpoint_auth_methods_supported"] = methods;
            parse(&changed).unwrap().uses_basic_authentication()
        };
        assert!(parse(&document()).unwrap().uses_basic_authentication());
        assert!(with(json!(["client_secret_post", "client_secret_basic"])));
        assert!(!with(json!(["client_secret_post", "private_key_jwt"])));
    }
}
