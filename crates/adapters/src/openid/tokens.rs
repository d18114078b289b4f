//! Verification of ID tokens and logout tokens. The algorithm is chosen from a fixed list and must fit the type of the
//! key, so that a public key is never used as a shared secret.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::sign_on::{PROVIDER_SESSION_MAX, SUBJECT_MAX};
use domain::time::Timestamp;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::Value;

use super::{LogoutRequest, OpenIdError, VerifiedClaims};

/// Tokens that are longer are not parsed.
const TOKEN_MAX: usize = 64 << 10;
/// The allowed clock skew in seconds.
const SKEW: i64 = 60;
/// Maximum age of a logout token in seconds.
const LOGOUT_AGE_MAX: i64 = 10 * 60;
/// The event of a logout token.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// The unverified header of a token with an allowed algorithm.
#[derive(Debug, Clone)]
pub(super) struct TokenHeader {
    algorithm: Algorithm,
    key_id: Option<String>,
}

impl TokenHeader {
    /// Returns the keys that fit the algorithm and the key id of the token.
    pub(super) fn matching(&self, keys: &[Jwk]) -> Vec<Jwk> {
        let has_id = |key: &&Jwk| self.key_id.is_none() || key.common.key_id == self.key_id;
        keys.iter()
            .filter(has_id)
            .filter(|key| fits(key, self.algorithm))
            .cloned()
            .collect()
    }
}

/// Reads the header of a token. Unsigned tokens, shared secrets and unknown extensions are rejected.
pub(super) fn header(token: &str) -> Result<TokenHeader, OpenIdError> {
    if token.len() > TOKEN_MAX {
        return Err(OpenIdError::UnexpectedResponse);
    }
    // A token with `alg: none` has no algorithm of this library.
    let header = jsonwebtoken::decode_header(token).map_err(|_| OpenIdError::AlgorithmNotAllowed)?;
    let is_allowed = matches!(
        header.alg,
        Algorithm::RS256 | Algorithm::PS256 | Algorithm::ES256 | Algorithm::EdDSA
    );
    if !is_allowed || header.crit.is_some() {
        return Err(OpenIdError::AlgorithmNotAllowed);
    }
    Ok(TokenHeader {
        algorithm: header.alg,
        key_id: header.kid,
    })
}

/// Returns whether a key is of the type of the algorithm and not meant for another one.
fn fits(key: &Jwk, algorithm: Algorithm) -> bool {
    let (is_of_type, named) = match (&key.algorithm, algorithm) {
        (AlgorithmParameters::RSA(_), Algorithm::RS256) => (true, KeyAlgorithm::RS256),
        (AlgorithmParameters::RSA(_), Algorithm::PS256) => (true, KeyAlgorithm::PS256),
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => {
            (key.curve == EllipticCurve::P256, KeyAlgorithm::ES256)
        }
        (AlgorithmParameters::OctetKeyPair(key), Algorithm::EdDSA) => {
            (key.curve == EllipticCurve::Ed25519, KeyAlgorithm::EdDSA)
        }
        _ => return false,
    };
    is_of_type && key.common.key_algorithm.is_none_or(|algorithm| algorithm == named)
}

/// Verifies the signature and returns the claims, which are not checked yet.
pub(super) fn verify(token: &str, header: &TokenHeader, keys: &[Jwk]) -> Result<VerifiedClaims, OpenIdError> {
    let mut validation = Validation::new(header.algorithm);
    validation.algorithms = vec![header.algorithm];
    // The claims are checked with the time of the request.
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    let verified = keys.iter().find_map(|key| {
        let key = DecodingKey::from_jwk(key).ok()?;
        jsonwebtoken::decode::<VerifiedClaims>(token, &key, &validation).ok()
    });
    verified.map(|data| data.claims).ok_or(OpenIdError::InvalidSignature)
}

/// Checks the claims of an ID token (OpenID Connect Core, section 3.1.3.7).
pub(super) fn check_id_token(
    claims: &VerifiedClaims,
    issuer: &str,
    client_id: &str,
    nonce: &str,
    now: Timestamp,
) -> Result<(), OpenIdError> {
    check_origin(claims, issuer, client_id)?;
    let now = now.as_millis() / 1000;
    let expires_at = number(claims, "exp").ok_or(OpenIdError::WrongTime)?;
    if expires_at.saturating_add(SKEW) <= now {
        return Err(OpenIdError::WrongTime);
    }
    check_start(claims, now)?;
    if !claims.contains_key("iat") {
        return Err(OpenIdError::WrongTime);
    }
    if text(claims, "nonce") != Some(nonce) {
        return Err(OpenIdError::WrongNonce);
    }
    subject(claims).ok_or(OpenIdError::NoSubject).map(drop)
}

/// Checks the claims of a logout token (OpenID Connect Back-Channel Logout, section 2.6).
pub(super) fn check_logout_token(
    claims: &VerifiedClaims,
    issuer: &str,
    client_id: &str,
    now: Timestamp,
) -> Result<LogoutRequest, OpenIdError> {
    check_origin(claims, issuer, client_id)?;
    let now = now.as_millis() / 1000;
    check_start(claims, now)?;
    let issued_at = number(claims, "iat").ok_or(OpenIdError::WrongTime)?;
    let is_expired = number(claims, "exp").is_some_and(|expires_at| expires_at.saturating_add(SKEW) <= now);
    if is_expired || issued_at.saturating_add(LOGOUT_AGE_MAX) < now {
        return Err(OpenIdError::WrongTime);
    }
    let events = claims.get("events").and_then(Value::as_object);
    let is_logout = events.is_some_and(|events| events.get(LOGOUT_EVENT).is_some_and(Value::is_object));
    // An ID token has a nonce; a logout token must not have one.
    if !is_logout || claims.contains_key("nonce") {
        return Err(OpenIdError::NotALogoutToken);
    }
    let up_to = |max: usize, key: &str| text(claims, key).filter(|text| (1..=max).contains(&text.len()));
    let request = LogoutRequest {
        subject: up_to(SUBJECT_MAX, "sub").map(str::to_owned),
        session: up_to(PROVIDER_SESSION_MAX, "sid").map(str::to_owned),
        token_id: up_to(SUBJECT_MAX, "jti")
            .ok_or(OpenIdError::NotALogoutToken)?
            .to_owned(),
    };
    if request.subject.is_none() && request.session.is_none() {
        return Err(OpenIdError::NotALogoutToken);
    }
    Ok(request)
}

/// Checks issuer and audience.
fn check_origin(claims: &VerifiedClaims, issuer: &str, client_id: &str) -> Result<(), OpenIdError> {
    if text(claims, "iss") != Some(issuer) {
        return Err(OpenIdError::WrongIssuer);
    }
    let audiences: Vec<&str> = match claims.get("aud") {
        Some(Value::String(audience)) => vec![audience],
        Some(Value::Array(audiences)) => audiences.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !audiences.contains(&client_id) {
        return Err(OpenIdError::WrongAudience);
    }
    // A token for several audiences names the one that it was issued to.
    match claims.get("azp") {
        None if audiences.len() == 1 => Ok(()),
        Some(Value::String(party)) if party == client_id => Ok(()),
        _ => Err(OpenIdError::WrongAudience),
    }
}

/// Rejects tokens of the future.
fn check_start(claims: &VerifiedClaims, now: i64) -> Result<(), OpenIdError> {
    for key in ["iat", "nbf"] {
        if claims.contains_key(key) && number(claims, key).is_none_or(|at| at > now + SKEW) {
            return Err(OpenIdError::WrongTime);
        }
    }
    Ok(())
}

/// Returns the subject, if it has a valid length.
pub(super) fn subject(claims: &VerifiedClaims) -> Option<&str> {
    text(claims, "sub").filter(|subject| (1..=SUBJECT_MAX).contains(&subject.len()) && !subject.contains('\0'))
}

fn text<'a>(claims: &'a VerifiedClaims, key: &str) -> Option<&'a str> {
    claims.get(key)?.as_str()
}

#[expect(clippy::cast_possible_truncation, reason = "seconds; a cast of a float saturates")]
fn number(claims: &VerifiedClaims, key: &str) -> Option<i64> {
    let value = claims.get(key)?;
    value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64))
}

/// Returns the code challenge of a verifier (`S256`).
pub(super) fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use serde_json::json;

    const NOW: i64 = 1_800_000_000;

    fn now() -> Timestamp {
        Timestamp::from_millis(NOW * 1000)
    }

    fn id_token(change: impl FnOnce(&mut VerifiedClaims)) -> Result<(), OpenIdError> {
        let claims = json!({
            "iss": "https://id.example", "aud": "client", "sub": "ben", "nonce": "n",
            "iat": NOW, "exp": NOW + 300,
        });
        let mut claims = claims.as_object().unwrap().clone();
        change(&mut claims);
        check_id_token(&claims, "https://id.example", "client", "n", now())
    }

    fn set(key: &str, value: Value) -> impl FnOnce(&mut VerifiedClaims) {
        let key = key.to_owned();
        move |claims| drop(claims.insert(key, value))
    }

    #[test]
    fn code_challenge_is_that_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(code_challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn id_token_of_another_issuer_audience_or_sign_in_is_rejected() {
        use OpenIdError::{NoSubject, WrongAudience, WrongIssuer, WrongNonce};
        assert_eq!(id_token(|_| {}), Ok(()));
        for (key, value, error) in [
            ("iss", json!("https://id.example/"), WrongIssuer),
            ("iss", Value::Null, WrongIssuer),
            ("aud", json!("other"), WrongAudience),
            ("aud", json!([]), WrongAudience),
            ("aud", json!(["other", "client"]), WrongAudience),
            ("azp", json!("other"), WrongAudience),
            ("azp", Value::Null, WrongAudience),
            ("nonce", json!("m"), WrongNonce),
            ("nonce", Value::Null, WrongNonce),
            ("sub", json!(""), NoSubject),
            ("sub", json!(5), NoSubject),
            ("sub", json!("s".repeat(256)), NoSubject),
        ] {
            assert_eq!(id_token(set(key, value.clone())), Err(error), "{key} {value}");
        }
        let several = |claims: &mut VerifiedClaims| {
            claims.insert("aud".to_owned(), json!(["other", "client"]));
            claims.insert("azp".to_owned(), json!("client"));
        };
        assert_eq!(id_token(several), Ok(()));
    }

    #[test]
    fn times_are_compared_with_a_skew_of_one_minute() {
        for (key, value, is_valid) in [
            ("exp", NOW - 59, true),
            ("exp", NOW - 60, false),
            ("iat", NOW + 60, true),
            ("iat", NOW + 61, false),
            ("nbf", NOW + 60, true),
            ("nbf", NOW + 61, false),
        ] {
            assert_eq!(id_token(set(key, json!(value))).is_ok(), is_valid, "{key} {value}");
        }
        for key in ["exp", "iat"] {
            assert_eq!(
                id_token(|claims| drop(claims.remove(key))),
                Err(OpenIdError::WrongTime),
                "{key}"
            );
        }
        assert_eq!(id_token(set("exp", json!("soon"))), Err(OpenIdError::WrongTime));
    }

    #[test]
    fn logout_token_is_no_id_token() {
        let check = |change: &dyn Fn(&mut VerifiedClaims)| {
            let mut claims = json!({
                "iss": "https://id.example", "aud": "client", "sub": "ben", "jti": "j", "iat": NOW,
                "events": {LOGOUT_EVENT: {}},
            });
            change(claims.as_object_mut().unwrap());
            check_logout_token(claims.as_object().unwrap(), "https://id.example", "client", now())
        };
        assert_eq!(check(&|_| {}).unwrap().subject.as_deref(), Some("ben"));
        let without = |key: &'static str| check(&move |claims| drop(claims.remove(key)));
        for key in ["events", "jti", "sub"] {
            assert_eq!(without(key), Err(OpenIdError::NotALogoutToken), "{key}");
        }
        assert_eq!(without("iat"), Err(OpenIdError::WrongTime));
        let with =
            |key: &'static str, value: Value| check(&move |claims| drop(claims.insert(key.to_owned(), value.clone())));
        assert_eq!(with("nonce", json!("n")), Err(OpenIdError::NotALogoutToken));
        assert_eq!(with("iat", json!(NOW - 601)), Err(OpenIdError::WrongTime));
        assert_eq!(with("aud", json!("other")), Err(OpenIdError::WrongAudience));
        for (length, is_known) in [(1, true), (1024, true), (1025, false)] {
            let session = json!("s".repeat(length));
            assert_eq!(with("sid", session).unwrap().session.is_some(), is_known, "{length}");
        }
    }

    #[test]
    fn unsigned_and_symmetric_tokens_have_no_allowed_header() {
        let encode = |header: Value| format!("{}.e30.", URL_SAFE_NO_PAD.encode(header.to_string()));
        for header in [
            json!({"alg": "none"}),
            json!({"alg": "NONE"}),
            json!({"alg": "HS256"}),
            json!({"alg": "HS512"}),
            json!({"alg": "RS512"}),
            json!({"alg": "RS256", "crit": ["b64"]}),
            json!({}),
        ] {
            assert_eq!(
                super::header(&encode(header.clone())).err(),
                Some(OpenIdError::AlgorithmNotAllowed),
                "{header}"
            );
        }
        assert!(super::header(&encode(json!({"alg": "RS256", "kid": "k"}))).is_ok());
    }
}
