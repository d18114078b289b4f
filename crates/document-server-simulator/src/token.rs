//! Signs and verifies the tokens of the protocol: one secret, four shapes. Values are taken only from verified tokens.

use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, Validation, errors::ErrorKind};
use serde_json::{Map, Value, json};

use crate::clock;

/// Claims of a token.
pub(crate) type TokenClaims = Map<String, Value>;

/// Lifetime of issued tokens.
const LIFE_SECONDS: u64 = 300;

/// Why a token is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenError {
    Missing,
    /// Wrong signature, algorithm or shape.
    Invalid,
    Expired,
}

/// The keys derived from the shared secret.
pub(crate) struct RequestSigner {
    signing: EncodingKey,
    verifying: DecodingKey,
    rules: Validation,
}

impl RequestSigner {
    pub(crate) fn new(secret: &str) -> Self {
        // The real server accepts every HMAC length, tokens without `exp`, and 60 s of clock skew.
        let mut rules = Validation::new_for_family(AlgorithmFamily::Hmac);
        rules.required_spec_claims.clear();
        rules.leeway = 60;
        rules.validate_nbf = true;
        rules.validate_aud = false;
        Self {
            signing: EncodingKey::from_secret(secret.as_bytes()),
            verifying: DecodingKey::from_secret(secret.as_bytes()),
            rules,
        }
    }

    /// Signs the claims at top level, as in the `token` of a callback body.
    pub(crate) fn sign(&self, mut claims: TokenClaims) -> String {
        let now = clock::now_seconds();
        claims.insert("iat".into(), now.into());
        claims.insert("exp".into(), (now + LIFE_SECONDS).into());
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.signing)
            .expect("a map of JSON values can be signed")
    }

    /// Signs the claims inside `payload`, as in the header of every request that the server sends.
    pub(crate) fn sign_wrapped(&self, payload: TokenClaims) -> String {
        let mut outer = TokenClaims::new();
        outer.insert("payload".into(), Value::Object(payload));
        self.sign(outer)
    }

    /// Returns the claims of a valid token that is not expired.
    pub(crate) fn verify(&self, token: &str) -> Result<TokenClaims, TokenError> {
        if token.is_empty() {
            return Err(TokenError::Missing);
        }
        match jsonwebtoken::decode::<TokenClaims>(token, &self.verifying, &self.rules) {
            Ok(read) => Ok(read.claims),
            Err(error) if matches!(error.kind(), ErrorKind::ExpiredSignature) => Err(TokenError::Expired),
            Err(_) => Err(TokenError::Invalid),
        }
    }

    /// Returns the parameters of a request to `/command` or `/converter`: from the token of the body, or else from the
    /// payload of the header token.
    pub(crate) fn request_parameters(&self, body: &Value, header: Option<&str>) -> Result<TokenClaims, TokenError> {
        if let Some(token) = body.get("token").and_then(Value::as_str) {
            return self.verify(token);
        }
        let mut claims = self.verify(header.ok_or(TokenError::Missing)?)?;
        match claims.remove("payload") {
            Some(Value::Object(payload)) => Ok(payload),
            _ => Err(TokenError::Invalid),
        }
    }

    /// Returns the header token for downloading a document.
    pub(crate) fn sign_download(&self, url: &str) -> String {
        let mut payload = TokenClaims::new();
        payload.insert("url".into(), json!(url));
        self.sign_wrapped(payload)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn foreign_tokens_are_invalid_and_old_tokens_are_expired() {
        let ours = RequestSigner::new("one secret of enough length for all");
        let theirs = RequestSigner::new("another secret of the same good length");
        let token = ours.sign_download("http://a/b");
        assert_eq!(ours.verify(&token).unwrap()["payload"]["url"], "http://a/b");
        assert_eq!(theirs.verify(&token), Err(TokenError::Invalid));
        let old = json!({"key": "k", "exp": clock::now_seconds() - 120});
        let old = jsonwebtoken::encode(&Header::new(Algorithm::HS256), &old, &ours.signing).unwrap();
        assert_eq!(ours.verify(&old), Err(TokenError::Expired));
    }

    #[test]
    fn body_token_takes_precedence_over_header_token() {
        let tokens = RequestSigner::new("one secret of enough length for all");
        let claims = |key: &str| json!({"c": "info", "key": key}).as_object().unwrap().clone();
        let body = json!({"c": "drop", "key": "plain", "token": tokens.sign(claims("body"))});
        let header = tokens.sign_wrapped(claims("header"));
        assert_eq!(tokens.request_parameters(&body, Some(&header)).unwrap()["key"], "body");
        assert_eq!(
            tokens.request_parameters(&json!({}), Some(&header)).unwrap()["key"],
            "header"
        );
        assert_eq!(
            tokens.request_parameters(&json!({"key": "plain"}), None),
            Err(TokenError::Missing)
        );
    }
}
