//! The workflow of a sign-on through an OpenID Connect provider: which provider, the request to it, and the claims of
//! its response. Network requests run outside of transactions; the steps inside are in `actions::sign_on` and
//! `actions::sign_on_sessions`.

use std::sync::Arc;

use domain::id::SignOnProviderId;
use domain::mail_domain::MailDomainName;
use domain::sign_on::{ATTEMPT_SECONDS, IdentityClaims, SignOnProvider};
use domain::time::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use adapters::openid::{
    AuthorizationRequest, LogoutRequest, OpenIdClient, OpenIdError, ProviderAccess, ProviderMetadata, VerifiedClaims,
};
use common::encryptor::Encryptor;
use common::error::{Error, Result};
use db::Store;
use db::platform::organizations::HostName;
use db::platform::sign_on::SignOnAttempt;
use db::platform::{CrossTenantReason, PlatformTx};

/// Length of `state`, `nonce` and the value of the cookie: 43 of 62 characters each, about 256 bits.
const SECRET_LENGTH: usize = 43;
/// Length of the code verifier; RFC 7636 allows 43 to 128.
const VERIFIER_LENGTH: usize = 64;
/// Values of the role claim that are considered.
const ROLES_MAX: usize = 100;

/// Sign-on of this installation; clones share it.
#[derive(Clone)]
pub struct SignOn {
    client: OpenIdClient,
    encryptor: Arc<Encryptor>,
    /// `FRONTEND_URL` without a slash at its end. Addresses are built from it, never from the `Host` of a request.
    frontend_url: String,
}

/// How a sign-in names the provider.
#[derive(Debug, Clone, Default)]
pub struct ProviderChoice {
    pub provider_id: Option<String>,
    pub organization_slug: Option<String>,
    /// An email address or a mail domain.
    pub domain: Option<String>,
    pub issuer: Option<String>,
    pub host: Option<HostName>,
}

/// The pages to which the browser returns.
#[derive(Debug, Clone)]
pub struct ReturnPages {
    pub callback: String,
    pub error: String,
    pub new_user: String,
}

/// A sign-in that was prepared.
pub struct StartedSignOn {
    /// To be stored before the browser is sent to the provider.
    pub attempt: SignOnAttempt,
    /// The URL of the provider.
    pub url: String,
}

/// The parameters of the provider's response to the browser.
#[derive(Debug, Clone, Default)]
pub struct AuthorizationResponse {
    pub code: Option<String>,
    pub issuer: Option<String>,
}

/// Longest ID token that is kept for the sign-out, in bytes: it becomes part of an address.
const ID_TOKEN_MAX: usize = 4096;

/// A person whom a provider has identified.
#[derive(Debug, Clone)]
pub struct SignOnIdentity {
    pub claims: IdentityClaims,
    /// The ID token, encrypted; `None` if it is too long.
    pub id_token: Option<String>,
}

impl SignOn {
    pub fn new(client: OpenIdClient, encryptor: Encryptor, frontend_url: &str) -> Self {
        Self {
            client,
            encryptor: Arc::new(encryptor),
            frontend_url: frontend_url.to_owned(),
        }
    }

    /// Returns the address to which a provider sends the browser. It is registered at the provider.
    pub fn redirect_uri(&self, provider: &SignOnProviderId) -> String {
        format!("{}/api/auth/sso/callback/{provider}", self.frontend_url)
    }

    /// Returns the address to which a provider sends logout tokens.
    pub fn logout_uri(&self, provider: &SignOnProviderId) -> String {
        format!("{}/api/auth/sso/backchannel-logout/{provider}", self.frontend_url)
    }

    /// Returns the address to which a provider sends the browser after a sign-out.
    pub fn signed_out_uri(&self) -> String {
        format!("{}/login", self.frontend_url)
    }

    /// Returns whether the URL of an issuer may be used.
    pub fn allows_issuer(&self, issuer: &str) -> bool {
        self.client.allows_issuer(issuer)
    }

    /// Encrypts the client secret of a provider.
    pub fn encrypt(&self, provider: &SignOnProviderId, secret: &str) -> Result<String> {
        self.encryptor.encrypt(provider.as_str(), secret)
    }

    /// Reads configuration and keys of a provider.
    pub async fn test(&self, provider: &SignOnProvider) -> Result<Arc<ProviderMetadata>> {
        let access = self.access(provider)?;
        self.client.probe(&access).await.map_err(unusable)
    }

    /// Prepares a sign-in of the browser with this cookie.
    pub async fn start(
        &self,
        provider: &SignOnProvider,
        pages: ReturnPages,
        (browser, login_hint): (&str, Option<&str>),
        now: Timestamp,
    ) -> Result<StartedSignOn> {
        let access = self.access(provider)?;
        let metadata = self.client.metadata(&access).await.map_err(unusable)?;
        let (state, nonce) = (secret(), secret());
        let code_verifier = better_auth::token::random_text(VERIFIER_LENGTH);
        let request = AuthorizationRequest {
            redirect_uri: &self.redirect_uri(&provider.id),
            state: &state,
            nonce: &nonce,
            code_verifier: &code_verifier,
            login_hint,
        };
        let url = self.client.authorization_url(&access, &metadata, &request);
        let url = url.map_err(unusable)?;
        let attempt = SignOnAttempt {
            organization_id: provider.organization_id.clone(),
            state_digest: digest(&state),
            browser_digest: digest(browser),
            provider_id: provider.id.clone(),
            nonce,
            code_verifier,
            callback_url: pages.callback,
            error_url: pages.error,
            new_user_url: pages.new_user,
            expires_at: now.plus_seconds(ATTEMPT_SECONDS),
        };
        Ok(StartedSignOn { attempt, url })
    }

    /// Exchanges the code of a response and returns the verified claims.
    pub async fn identify(
        &self,
        provider: &SignOnProvider,
        attempt: &SignOnAttempt,
        response: &AuthorizationResponse,
        now: Timestamp,
    ) -> Result<SignOnIdentity, OpenIdError> {
        let access = self.access(provider).map_err(|_| OpenIdError::CodeRejected)?;
        let metadata = self.client.metadata(&access).await?;
        metadata.check_response_issuer(response.issuer.as_deref())?;
        let code = response.code.as_deref().ok_or(OpenIdError::CodeRejected)?;
        let redirect_uri = self.redirect_uri(&provider.id);
        let exchange = (code, attempt.code_verifier.as_str(), redirect_uri.as_str());
        let tokens = self.client.exchange(&access, &metadata, exchange).await?;
        let token = (tokens.id_token.as_str(), attempt.nonce.as_str());
        let mut claims = self.client.verify_id_token(&access, &metadata, token, now).await?;
        if lacks_claims(&claims, provider) {
            self.client.add_user_info(&metadata, &tokens, &mut claims).await?;
        }
        let id_token = Some(tokens.id_token.as_str()).filter(|token| token.len() <= ID_TOKEN_MAX);
        Ok(SignOnIdentity {
            claims: identity(&claims, provider),
            id_token: id_token.and_then(|token| self.encrypt(&provider.id, token).ok()),
        })
    }

    /// Verifies a logout token of a provider.
    pub async fn verify_logout(
        &self,
        provider: &SignOnProvider,
        token: &str,
        now: Timestamp,
    ) -> Result<LogoutRequest, OpenIdError> {
        let access = self.access(provider).map_err(|_| OpenIdError::Unsupported)?;
        let metadata = self.client.metadata(&access).await?;
        self.client.verify_logout_token(&access, &metadata, token, now).await
    }

    /// Returns the address at which the provider ends its own session, if it has one. `id_token` is the encrypted ID token of
    /// the session.
    pub async fn end_session_url(&self, provider: &SignOnProvider, id_token: Option<&str>) -> Option<String> {
        let access = self.access(provider).ok()?;
        let metadata = self.client.metadata(&access).await.ok()?;
        let id_token = id_token.and_then(|sealed| self.encryptor.decrypt(provider.id.as_str(), sealed));
        metadata.end_session_url(&provider.client_id, &self.signed_out_uri(), id_token.as_deref())
    }

    /// Encrypts the client secrets of all providers with the current secret of the installation. Called when the service
    /// starts while the secret is replaced, because these secrets outlive the earlier one.
    pub async fn reencrypt_secrets(&self, store: &Store) -> Result<()> {
        let encryptor = Arc::clone(&self.encryptor);
        let reencrypt = move |platform: &mut PlatformTx<'_>| {
            for (id, sealed) in platform.sign_on_secrets()? {
                let Some(secret) = encryptor.decrypt(id.as_str(), &sealed) else {
                    tracing::warn!(provider_id = %id, "client secret of sign-on provider cannot be decrypted");
                    continue;
                };
                platform.replace_sign_on_secret(&id, &sealed, &encryptor.encrypt(id.as_str(), &secret)?)?;
            }
            Ok(())
        };
        store.platform_write(CrossTenantReason::Housekeeping, reencrypt).await
    }

    fn access(&self, provider: &SignOnProvider) -> Result<ProviderAccess> {
        let secret = self
            .encryptor
            .decrypt(provider.id.as_str(), &provider.client_secret)
            .ok_or_else(|| Error::SignOnFailed {
                code: "secret_unreadable",
                message: "AUTH_SECRET was replaced; enter the client secret again.".to_owned(),
            })?;
        Ok(ProviderAccess {
            id: provider.id.to_string(),
            issuer: provider.issuer.clone(),
            client_id: provider.client_id.clone(),
            client_secret: secret,
        })
    }
}

/// Finds the provider of a sign-in: by id, by school, or by mail domain. Without any of them, the `Host` names the
/// school.
pub fn find_provider(platform: &mut PlatformTx<'_>, choice: &ProviderChoice) -> Result<Option<SignOnProvider>> {
    let slug = choice.organization_slug.as_deref();
    if let Some(id) = &choice.provider_id {
        let found = platform.enabled_sign_on_provider(&SignOnProviderId::new(id))?;
        return Ok(found.map(|(_, provider)| provider));
    }
    let of_school = match (slug, &choice.host) {
        (Some(slug), _) => Some(platform.sign_on_providers_of_slug(slug)?),
        (None, Some(host)) => Some(platform.sign_on_providers_of_host(host)?),
        (None, None) => None,
    };
    let domain = choice.domain.as_deref().map(|text| match text.rsplit_once('@') {
        Some((_, domain)) => MailDomainName::parse(domain),
        None => MailDomainName::parse(text),
    });
    let mut found = match (domain, of_school) {
        (Some(Ok(domain)), of_school) => {
            let mut found = platform.sign_on_providers_of_domain(&domain)?;
            if let Some(of_school) = of_school.filter(|providers| !providers.is_empty()) {
                found.retain(|provider| of_school.iter().any(|other| other.id == provider.id));
            }
            found
        }
        (Some(Err(_)), _) => Vec::new(),
        (None, of_school) => of_school.unwrap_or_default(),
    };
    if let Some(issuer) = &choice.issuer {
        found.retain(|provider| provider.issuer == *issuer);
    }
    Ok(found.into_iter().next())
}

/// Returns a new value for the cookie that binds sign-ins to a browser.
pub fn secret() -> String {
    better_auth::token::random_text(SECRET_LENGTH)
}

/// Returns whether a cookie can have been set by [`secret`].
pub fn is_secret(text: &str) -> bool {
    text.len() == SECRET_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the stored form of a secret.
pub fn digest(secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    digest
        .iter()
        .fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}"))
}

/// Returns whether the ID token lacks a claim that the provider may return at its user endpoint.
fn lacks_claims(claims: &VerifiedClaims, provider: &SignOnProvider) -> bool {
    let wanted = ["email", "name", &provider.external_id_claim, &provider.role_claim];
    wanted.iter().any(|key| !key.is_empty() && find(claims, key).is_none())
}

/// Returns a claim; dots separate the names of nested objects (`personenkontexte.rolle`). The first entry of a list of
/// objects counts.
fn find<'a>(claims: &'a VerifiedClaims, path: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    let mut names = path.split('.');
    let mut value = claims.get(names.next()?)?;
    for name in names {
        if let Value::Array(entries) = value {
            value = entries.first()?;
        }
        value = value.as_object()?.get(name)?;
    }
    Some(value)
}

fn identity(claims: &VerifiedClaims, provider: &SignOnProvider) -> IdentityClaims {
    let text = |key: &str| {
        let value = find(claims, key)?.as_str()?.trim();
        (!value.is_empty() && !value.contains('\0')).then(|| value.to_owned())
    };
    let external_id = Some(provider.external_id_claim.as_str()).filter(|claim| !claim.is_empty());
    let roles = match find(claims, &provider.role_claim) {
        Some(Value::String(role)) => vec![role.clone()],
        Some(Value::Array(roles)) => roles
            .iter()
            .filter_map(Value::as_str)
            .take(ROLES_MAX)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    let full_name = || {
        let parts = [text("given_name"), text("family_name")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    IdentityClaims {
        issuer: provider.issuer.clone(),
        subject: text_of(claims, "sub"),
        email: text("email").and_then(|email| crate::actions::people::address(&email)),
        // Only the boolean counts: a provider that sends a text has not understood the claim.
        is_email_verified: claims.get("email_verified") == Some(&Value::Bool(true)),
        name: text("name").or_else(full_name),
        external_id: external_id.and_then(text),
        roles,
        session: text("sid").filter(|session| session.len() <= domain::sign_on::PROVIDER_SESSION_MAX),
    }
}

/// Returns a claim unchanged: subjects are compared byte by byte.
fn text_of(claims: &VerifiedClaims, key: &str) -> String {
    claims.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn unusable(error: OpenIdError) -> Error {
    Error::SignOnFailed {
        code: error.code(),
        message: format!("Sign-on is not possible: {error}."),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use serde_json::json;

    #[test]
    fn claims_are_found_in_nested_objects() {
        let claims = json!({
            "sub": "a", "urn:x.y": "direct", "pid": {"rolle": "LEHR"}, "kontexte": [{"rolle": "LERN"}, {"rolle": "LEHR"}],
        });
        let claims = claims.as_object().unwrap();
        assert_eq!(find(claims, "urn:x.y").unwrap(), "direct");
        assert_eq!(find(claims, "pid.rolle").unwrap(), "LEHR");
        assert_eq!(find(claims, "kontexte.rolle").unwrap(), "LERN");
        for missing in ["", "rolle", "pid.rolle.x", "sub.x", "kontexte.x"] {
            assert_eq!(find(claims, missing), None, "{missing}");
        }
    }

    #[test]
    fn secrets_have_the_expected_form() {
        assert!(is_secret(&secret()) && !is_secret("") && !is_secret(&"-".repeat(SECRET_LENGTH)));
        assert_ne!(digest("a"), digest("b"));
    }
}
