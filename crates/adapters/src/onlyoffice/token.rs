//! Tokens in both directions, signed with one shared secret. A valid signature alone is not sufficient: the structure
//! of the claims determines the purpose of a token, and their values its document. Data outside a verified token is
//! ignored.

use domain::id::{ConversionSourceId, DocumentId};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{DocumentServer, FileVersion};
use common::clock;
use common::error::{Error, Result};
use common::settings::{RotatedSecret, Secret};

/// The allowed clock skew in seconds.
const LEEWAY: i64 = 60;
/// The maximum age of a callback in seconds. Each attempt has its own token, so an older one indicates clock skew.
const AGE_MAX: i64 = 240 + LEEWAY;
/// The lifetime of commands and conversions in seconds.
const COMMAND_LIFETIME: i64 = 300;
/// The lifetime of an editor configuration in seconds.
const EDITOR_LIFETIME: i64 = 600;

/// The maximum lifetime in seconds of a token from the document server. Its default is five minutes; a token that is
/// valid for years would give anyone who reads a log permanent access to the document.
const LIFETIME_MAX: i64 = 3600;

/// The maximum length of the logged reason for a rejection.
const LOGGED_CHARACTERS_MAX: usize = 200;

/// Claims by name.
pub type Claims = Map<String, Value>;

/// Signs and verifies with the shared secret.
pub(super) struct TokenSigner {
    encoding_key: EncodingKey,
    decoding_key: DecodingKey,
    /// The key of the secret that is replaced; it only verifies.
    previous_decoding_key: Option<DecodingKey>,
    validation: Validation,
}

/// The claims of a download token: `{"payload":{"url":…}}`. All other tokens of this secret have other claims.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileClaim {
    payload: FilePayload,
    iat: Option<i64>,
    #[serde(rename = "exp")]
    _exp: IgnoredAny,
    #[serde(rename = "nbf")]
    _nbf: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct FilePayload {
    url: String,
    /// Callbacks, conversions and commands contain a key; downloads never do.
    key: Option<IgnoredAny>,
    status: Option<IgnoredAny>,
}

/// The claims of a callback, from its verified token.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CallbackClaims {
    /// The document key.
    pub key: String,
    /// The status code. Required, so that tokens for other purposes are rejected.
    pub status: i64,
    /// The users in the session, or the last author.
    pub users: Option<Vec<String>>,
    /// The users who joined (`type` 1) or left (0).
    #[serde(default)]
    pub actions: Value,
    /// The URL of the saved file, with a host that depends on a browser.
    pub url: Option<String>,
    /// The extension of the saved file.
    pub filetype: Option<String>,
    /// When the last change was made.
    pub lastsave: Option<String>,
    /// Whether an earlier forced save contained all changes.
    pub notmodified: Option<bool>,
    /// The user data of the command that forced this save.
    #[serde(default)]
    pub userdata: Value,
    /// The change history.
    #[serde(default)]
    pub history: Value,
    iat: Option<i64>,
}

/// Top-level claims that occur only in tokens for other purposes.
const FOREIGN_CLAIMS: [&str; 7] = [
    "document",
    "editorConfig",
    "payload",
    "c",
    "outputtype",
    "version",
    "documentType",
];

impl TokenSigner {
    pub(super) fn new(secret: &RotatedSecret) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = LEEWAY.unsigned_abs();
        validation.validate_nbf = true;
        validation.validate_aud = false;
        Self {
            encoding_key: EncodingKey::from_secret(secret.current().expose().as_bytes()),
            decoding_key: decoding_key(secret.current()),
            previous_decoding_key: secret.previous().map(decoding_key),
            validation,
        }
    }

    /// Signs claims with a lifetime in seconds.
    fn sign(&self, mut claims: Claims, lifetime: i64) -> Result<String> {
        let now = clock::now().as_millis() / 1000;
        claims.insert("iat".to_owned(), now.into());
        claims.insert("exp".to_owned(), (now + lifetime).into());
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.encoding_key)
            .map_err(|error| Error::Internal(error.into()))
    }

    /// Verifies a token and returns its claims; rejects expired tokens and those issued in the future.
    fn verify(&self, token: &str) -> Result<Claims> {
        let decode = |key| jsonwebtoken::decode::<Claims>(token, key, &self.validation);
        let read = decode(&self.decoding_key).or_else(|error| match &self.previous_decoding_key {
            Some(previous) if *error.kind() == ErrorKind::InvalidSignature => decode(previous),
            _ => Err(error),
        });
        let claims = read.map_err(|error| {
            // The usual causes are clock skew and a wrong secret. The log names the cause, never the token.
            if *error.kind() == ErrorKind::ExpiredSignature {
                tracing::warn!("document server token rejected: expired (clock skew between the servers)");
            } else {
                // The text may quote a token of any length.
                let error: String = error.to_string().chars().take(LOGGED_CHARACTERS_MAX).collect();
                tracing::warn!(error, "document server token rejected");
            }
            Error::DocumentServerTokenInvalid
        })?;
        let now = clock::now().as_millis() / 1000;
        let issued = claims.claims.get("iat").map(|iat| iat.as_f64().unwrap_or(f64::MAX));
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are exact")]
        if issued.is_some_and(|issued| issued > (now + LEEWAY) as f64) {
            tracing::warn!("document server token rejected: issued in the future (clock skew between the servers)");
            return Err(Error::DocumentServerTokenInvalid);
        }
        let expires = claims.claims.get("exp").map(|exp| exp.as_f64().unwrap_or(f64::MAX));
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are exact")]
        if expires.is_none_or(|expires| expires > (now + LIFETIME_MAX + LEEWAY) as f64) {
            tracing::warn!(
                longest_seconds = LIFETIME_MAX,
                "document server token rejected: lifetime too long, reduce services.CoAuthoring.token.outbox.expires there"
            );
            return Err(Error::DocumentServerTokenInvalid);
        }
        Ok(claims.claims)
    }
}

fn decoding_key(secret: &Secret) -> DecodingKey {
    DecodingKey::from_secret(secret.expose().as_bytes())
}

impl DocumentServer {
    /// Signs an editor configuration.
    pub(super) fn sign_editor(&self, claims: Claims) -> Result<String> {
        self.0.tokens.sign(claims, EDITOR_LIFETIME)
    }

    /// Signs a command or a conversion.
    pub(super) fn sign_command(&self, claims: Claims) -> Result<String> {
        self.0.tokens.sign(claims, COMMAND_LIFETIME)
    }

    /// Checks that the document server itself requests exactly these bytes. `header` is the value of
    /// [`Self::header`].
    pub fn check_file_token(&self, header: Option<&str>, document: &DocumentId, bytes: &FileVersion) -> Result<()> {
        self.check_url(header, &self.file_url(document, bytes))
    }

    /// The same for an uploaded file that it converts.
    pub fn may_fetch_source(&self, header: Option<&str>, source: &ConversionSourceId) -> Result<()> {
        self.check_url(header, &self.source_url(source))
    }

    fn check_url(&self, header: Option<&str>, url: &str) -> Result<()> {
        let claims = self.0.tokens.verify(bearer_token(header)?)?;
        let claim: FileClaim =
            serde_json::from_value(Value::Object(claims)).map_err(|_| Error::DocumentServerTokenMismatch)?;
        let is_download = claim.payload.key.is_none() && claim.payload.status.is_none() && claim.iat.is_some();
        // Compares the complete URL, including origin and query, so that no path trick works.
        if is_download && claim.payload.url == url {
            Ok(())
        } else {
            Err(Error::DocumentServerTokenMismatch)
        }
    }

    /// Verifies the token in the header before the body is read, and returns its claims; `None` if the header
    /// contains no bearer token.
    pub fn header_claims(&self, header: Option<&str>) -> Result<Option<CallbackClaims>> {
        match bearer_token(header) {
            Ok(token) => check_age(self.claims_of_header(token)?).map(Some),
            // The body has its own token; a proxy may use the header for something else.
            Err(_) => Ok(None),
        }
    }

    /// Returns the claims of a callback: from the token in its body, else from the one in its header, whose [verified
    /// claims](Self::header_claims) are `from_header`. If both exist, both must be valid and equal.
    pub fn callback_claims(
        &self,
        from_header: Option<CallbackClaims>,
        header: Option<&str>,
        body: &Value,
    ) -> Result<CallbackClaims> {
        let in_body = body
            .get("token")
            .and_then(Value::as_str)
            .filter(|token| !token.is_empty());
        let from_body = in_body.map(|token| self.claims_of_body(token)).transpose()?;
        match (from_body, from_header) {
            (Some(body), Some(header)) if body.key != header.key || body.status != header.status => {
                Err(Error::DocumentServerTokenMismatch)
            }
            (Some(claims), _) | (None, Some(claims)) => check_age(claims),
            (None, None) => Err(bearer_token(header).err().unwrap_or(Error::DocumentServerTokenMissing)),
        }
    }

    fn claims_of_body(&self, token: &str) -> Result<CallbackClaims> {
        parse_claims(self.0.tokens.verify(token)?)
    }

    fn claims_of_header(&self, token: &str) -> Result<CallbackClaims> {
        let mut outer = self.0.tokens.verify(token)?;
        let Some(Value::Object(mut payload)) = outer.remove("payload") else {
            return Err(Error::DocumentServerTokenMismatch);
        };
        if outer.keys().any(|name| !matches!(name.as_str(), "iat" | "exp" | "nbf")) {
            return Err(Error::DocumentServerTokenMismatch);
        }
        payload.insert("iat".to_owned(), outer.remove("iat").unwrap_or_default());
        parse_claims(payload)
    }
}

/// Checks that a callback was sent recently.
fn check_age(claims: CallbackClaims) -> Result<CallbackClaims> {
    let now = clock::now().as_millis() / 1000;
    let age = claims.iat.map(|issued| now.saturating_sub(issued));
    if age.is_some_and(|age| age < AGE_MAX) {
        Ok(claims)
    } else {
        tracing::warn!(
            age,
            "document server callback rejected: token too old (clock skew between the servers)"
        );
        Err(Error::DocumentServerTokenInvalid)
    }
}

fn parse_claims(claims: Claims) -> Result<CallbackClaims> {
    if FOREIGN_CLAIMS.iter().any(|name| claims.contains_key(*name)) {
        return Err(Error::DocumentServerTokenMismatch);
    }
    // With a status it is a callback with a specific error. Without one, it may be a token for another purpose.
    if claims.get("status").is_some_and(|status| status.as_i64().is_none()) {
        return Err(Error::invalid("status", "type", "must be a whole number"));
    }
    serde_json::from_value(Value::Object(claims)).map_err(|_| Error::DocumentServerTokenMismatch)
}

/// Returns the token in a header value `Bearer …`.
fn bearer_token(header: Option<&str>) -> Result<&str> {
    let value = header.map(str::trim).filter(|value| !value.is_empty());
    let value = value.ok_or(Error::DocumentServerTokenMissing)?;
    let (scheme, token) = value.split_once(' ').ok_or(Error::DocumentServerTokenInvalid)?;
    if scheme.eq_ignore_ascii_case("Bearer") && !token.trim().is_empty() {
        Ok(token.trim())
    } else {
        Err(Error::DocumentServerTokenInvalid)
    }
}
