//! Client of OpenID Connect providers: discovery, keys, the exchange of codes, and verified tokens. It follows OpenID
//! Connect Core and Discovery 1.0, RFC 7636 (PKCE) and RFC 9207 (issuer of the response). It decides nothing about
//! accounts. See docs/single-sign-on.md.

mod keys;
mod metadata;
mod tokens;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::network::Network;
use domain::time::Timestamp;
use serde_json::{Map, Value};
use url::Url;

use self::keys::{KeyStore, TokenSender};
use self::metadata::MetadataStore;
pub use self::metadata::ProviderMetadata;
use crate::outgoing_http::{OutgoingError, OutgoingHttp};
use common::error::Result;

/// Providers whose metadata is cached. When there are more, the cache is emptied.
const CACHED_PROVIDERS_MAX: usize = 2000;

/// The claims of a verified token.
pub type VerifiedClaims = Map<String, Value>;

/// A provider as this client needs it.
#[derive(Debug, Clone)]
pub struct ProviderAccess {
    /// The id of the provider. Keys are cached by provider, so that one organization cannot affect another.
    pub id: String,
    pub issuer: String,
    pub client_id: String,
    /// The decrypted secret.
    pub client_secret: String,
}

/// Why a provider or one of its responses is not accepted. The codes are shown to administrators and in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenIdError {
    #[error("the address of the provider must begin with https:// and must not be a private address")]
    AddressNotAllowed,
    #[error("the provider cannot be reached")]
    Unreachable,
    #[error("the provider returned an error")]
    ErrorResponse,
    #[error("the response of the provider is not the expected JSON, or it is too large")]
    UnexpectedResponse,
    #[error("the configuration of the provider names another issuer")]
    IssuerMismatch,
    #[error("the configuration of the provider lacks an endpoint, or does not support the authorization code flow")]
    Unsupported,
    #[error("the provider rejected the client id, the client secret or the code")]
    CodeRejected,
    #[error("the provider returned no ID token")]
    NoIdToken,
    #[error("the algorithm of the token is not allowed")]
    AlgorithmNotAllowed,
    #[error("the provider has no key for the token")]
    UnknownKey,
    #[error("the signature of the token is invalid")]
    InvalidSignature,
    #[error("the token is of another issuer")]
    WrongIssuer,
    #[error("the token is for another audience")]
    WrongAudience,
    #[error("the token has expired, or is not valid yet")]
    WrongTime,
    #[error("the token belongs to another sign-in")]
    WrongNonce,
    #[error("the token has no valid subject")]
    NoSubject,
    #[error("the user data belongs to another subject")]
    SubjectMismatch,
    #[error("the token is not a logout token")]
    NotALogoutToken,
}

impl From<OutgoingError> for OpenIdError {
    fn from(error: OutgoingError) -> Self {
        match error {
            OutgoingError::AddressNotAllowed => Self::AddressNotAllowed,
            OutgoingError::Unreachable => Self::Unreachable,
            OutgoingError::Status(_) => Self::ErrorResponse,
            OutgoingError::UnexpectedBody => Self::UnexpectedResponse,
        }
    }
}

impl OpenIdError {
    /// Returns the stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::AddressNotAllowed => "address_not_allowed",
            Self::Unreachable => "unreachable",
            Self::ErrorResponse => "error_response",
            Self::UnexpectedResponse => "unexpected_response",
            Self::IssuerMismatch => "issuer_mismatch",
            Self::Unsupported => "unsupported",
            Self::CodeRejected => "code_rejected",
            Self::NoIdToken => "no_id_token",
            Self::AlgorithmNotAllowed => "algorithm_not_allowed",
            Self::UnknownKey => "unknown_key",
            Self::InvalidSignature => "invalid_signature",
            Self::WrongIssuer => "wrong_issuer",
            Self::WrongAudience => "wrong_audience",
            Self::WrongTime => "wrong_time",
            Self::WrongNonce => "wrong_nonce",
            Self::NoSubject => "no_subject",
            Self::SubjectMismatch => "subject_mismatch",
            Self::NotALogoutToken => "not_a_logout_token",
        }
    }
}

/// The parameters of a request for a code.
#[derive(Debug, Clone)]
pub struct AuthorizationRequest<'a> {
    pub redirect_uri: &'a str,
    pub state: &'a str,
    pub nonce: &'a str,
    pub code_verifier: &'a str,
    /// The address that the user has entered.
    pub login_hint: Option<&'a str>,
}

/// The tokens of a sign-in.
#[derive(Clone)]
pub struct ExchangedTokens {
    pub id_token: String,
    access_token: Option<String>,
}

/// A verified request of the provider to end sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogoutRequest {
    pub subject: Option<String>,
    /// `sid`.
    pub session: Option<String>,
    /// `jti`.
    pub token_id: String,
}

/// The client; clones share its caches.
#[derive(Clone)]
pub struct OpenIdClient(Arc<OpenIdInner>);

struct OpenIdInner {
    http: OutgoingHttp,
    metadata: Mutex<HashMap<(String, String), Arc<MetadataStore>>>,
    keys: Mutex<HashMap<(String, String), Arc<KeyStore>>>,
}

impl OpenIdClient {
    /// Creates a client. It connects to public addresses and to these networks; to loopback addresses in them also
    /// without TLS.
    pub fn new(networks: &[Network]) -> Result<Self> {
        Ok(Self(Arc::new(OpenIdInner {
            http: OutgoingHttp::new(networks)?,
            metadata: Mutex::default(),
            keys: Mutex::default(),
        })))
    }

    /// Returns whether the URL of an issuer may be used.
    pub fn allows_issuer(&self, issuer: &str) -> bool {
        let Ok(url) = Url::parse(issuer) else { return false };
        url.query().is_none() && url.fragment().is_none() && self.0.http.allows(&url)
    }

    /// Returns the configuration of a provider, from the cache if it is recent.
    pub async fn metadata(&self, provider: &ProviderAccess) -> Result<Arc<ProviderMetadata>, OpenIdError> {
        let store = cached(&self.0.metadata, provider);
        store.get(&self.0.http, &provider.issuer).await
    }

    /// Reads configuration and keys from the provider, past the cache.
    pub async fn probe(&self, provider: &ProviderAccess) -> Result<Arc<ProviderMetadata>, OpenIdError> {
        let metadata = metadata::fetch(&self.0.http, &provider.issuer).await?;
        keys::fetch(&self.0.http, &metadata.jwks_uri).await?;
        Ok(Arc::new(metadata))
    }

    /// Returns the URL of the provider to which the browser is sent.
    pub fn authorization_url(
        &self,
        provider: &ProviderAccess,
        metadata: &ProviderMetadata,
        request: &AuthorizationRequest<'_>,
    ) -> Result<String, OpenIdError> {
        let mut url = Url::parse(&metadata.authorization_endpoint).map_err(|_| OpenIdError::Unsupported)?;
        let challenge = tokens::code_challenge(request.code_verifier);
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &provider.client_id)
                .append_pair("redirect_uri", request.redirect_uri)
                .append_pair("scope", "openid email profile")
                .append_pair("state", request.state)
                .append_pair("nonce", request.nonce)
                .append_pair("code_challenge", &challenge)
                .append_pair("code_challenge_method", "S256");
            if let Some(hint) = request.login_hint {
                query.append_pair("login_hint", hint);
            }
        }
        Ok(url.into())
    }

    /// Exchanges a code for tokens.
    pub async fn exchange(
        &self,
        provider: &ProviderAccess,
        metadata: &ProviderMetadata,
        (code, code_verifier, redirect_uri): (&str, &str, &str),
    ) -> Result<ExchangedTokens, OpenIdError> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", code_verifier),
        ];
        let basic = if metadata.uses_basic_authentication() {
            Some((provider.client_id.as_str(), provider.client_secret.as_str()))
        } else {
            form.push(("client_id", &provider.client_id));
            form.push(("client_secret", &provider.client_secret));
            None
        };
        let body = self.0.http.post_form(&metadata.token_endpoint, &form, basic).await;
        let body = body.map_err(|error| match error {
            OutgoingError::Status(_) => OpenIdError::CodeRejected,
            error => error.into(),
        })?;
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(ExchangedTokens {
            id_token: text("id_token").ok_or(OpenIdError::NoIdToken)?,
            access_token: text("access_token"),
        })
    }

    /// Verifies the ID token of a sign-in with this nonce and returns its claims.
    pub async fn verify_id_token(
        &self,
        provider: &ProviderAccess,
        metadata: &ProviderMetadata,
        (token, nonce): (&str, &str),
        now: Timestamp,
    ) -> Result<VerifiedClaims, OpenIdError> {
        let claims = self.verify(provider, metadata, token, TokenSender::Provider).await?;
        tokens::check_id_token(&claims, &provider.issuer, &provider.client_id, nonce, now)?;
        Ok(claims)
    }

    /// Verifies a logout token.
    pub async fn verify_logout_token(
        &self,
        provider: &ProviderAccess,
        metadata: &ProviderMetadata,
        token: &str,
        now: Timestamp,
    ) -> Result<LogoutRequest, OpenIdError> {
        let claims = self.verify(provider, metadata, token, TokenSender::Anyone).await?;
        tokens::check_logout_token(&claims, &provider.issuer, &provider.client_id, now)
    }

    /// Adds the claims of the user endpoint that the ID token lacks, if there is such an endpoint.
    pub async fn add_user_info(
        &self,
        metadata: &ProviderMetadata,
        tokens: &ExchangedTokens,
        claims: &mut VerifiedClaims,
    ) -> Result<(), OpenIdError> {
        let (Some(endpoint), Some(token)) = (&metadata.userinfo_endpoint, &tokens.access_token) else {
            return Ok(());
        };
        let mut more = self.0.http.get(endpoint, Some(token)).await?;
        if more.get("sub") != claims.get("sub") {
            return Err(OpenIdError::SubjectMismatch);
        }
        // `email_verified` is a statement about the address next to it.
        if claims.get("email") != more.get("email") {
            let other = if claims.contains_key("email") {
                &mut more
            } else {
                &mut *claims
            };
            other.remove("email_verified");
        }
        for (key, value) in more {
            claims.entry(key).or_insert(value);
        }
        Ok(())
    }

    async fn verify(
        &self,
        provider: &ProviderAccess,
        metadata: &ProviderMetadata,
        token: &str,
        sender: TokenSender,
    ) -> Result<VerifiedClaims, OpenIdError> {
        let header = tokens::header(token)?;
        let keys = cached(&self.0.keys, provider);
        keys.verify(&self.0.http, &metadata.jwks_uri, (token, &header), sender)
            .await
    }
}

/// Returns the entry of a provider. Its issuer is part of the key, so that entries never outlive a change.
fn cached<T: Default>(entries: &Mutex<HashMap<(String, String), Arc<T>>>, provider: &ProviderAccess) -> Arc<T> {
    let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (provider.id.clone(), provider.issuer.clone());
    if entries.len() >= CACHED_PROVIDERS_MAX && !entries.contains_key(&key) {
        entries.clear();
    }
    Arc::clone(entries.entry(key).or_default())
}
