//! Tokens both ways, all signed with one secret: so a good signature alone proves nothing, the shape of the claims says
//! what a token is for and its values say for which document. Nothing outside a verified token is ever believed.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use model::id::DocumentId;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{Bytes, DocumentServer};
use common::clock;
use common::error::{Error, Result};

/// Seconds by which two clocks may differ.
const LEEWAY: i64 = 60;
/// Seconds that a notice may be old. Each attempt has a token of its own, so an old one says that the clocks differ.
const FRESHNESS: i64 = 240 + LEEWAY;
/// Seconds that commands and conversions have to be read.
const COMMAND_LIFE: i64 = 300;
/// Seconds that a page has to open the editor (contract 8.1).
const EDITOR_LIFE: i64 = 600;

/// Seconds that a token of the document server may live at most. It gives its own five minutes, unless its operator changes
/// that; one that lives for years would be a key to the document for anyone with access to a log.
const LONGEST_LIFE: i64 = 3600;

/// What the log shows of the reason for which a token was refused.
const LONGEST_LOGGED: usize = 200;

/// Claims by name, as they are signed.
pub type Claims = Map<String, Value>;

/// Both uses of the shared secret.
pub(super) struct Tokens {
    signing: EncodingKey,
    checking: DecodingKey,
    rules: Validation,
}

/// What the token of a download says: `{"payload":{"url":…}}`. Every other token of this secret has more, or less.
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
    /// Callbacks, conversions and commands name a key; downloads never do.
    key: Option<IgnoredAny>,
    status: Option<IgnoredAny>,
}

/// What a notice says, from its verified token alone.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CallbackClaims {
    /// The session it is about.
    pub key: String,
    /// What happened; required, or else tokens of other directions would pass.
    pub status: i64,
    /// The editors, or the last author.
    pub users: Option<Vec<String>>,
    /// Who joined (`type` 1) and who left (0).
    #[serde(default)]
    pub actions: Value,
    /// Where the saved file is, as some browser would reach it.
    pub url: Option<String>,
    /// The extension of the saved file.
    pub filetype: Option<String>,
    /// When the last change was made.
    pub lastsave: Option<String>,
    /// Whether an earlier forced save had everything already.
    pub notmodified: Option<bool>,
    /// What we said with the command that forced this save.
    #[serde(default)]
    pub userdata: Value,
    /// Who changed what.
    #[serde(default)]
    pub history: Value,
    iat: Option<i64>,
}

/// Names that only tokens of other directions carry at top level.
const FOREIGN_CLAIMS: [&str; 7] = [
    "document",
    "editorConfig",
    "payload",
    "c",
    "outputtype",
    "version",
    "documentType",
];

impl Tokens {
    pub(super) fn new(secret: &str) -> Self {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.leeway = LEEWAY.unsigned_abs();
        rules.validate_nbf = true;
        rules.validate_aud = false;
        Self {
            signing: EncodingKey::from_secret(secret.as_bytes()),
            checking: DecodingKey::from_secret(secret.as_bytes()),
            rules,
        }
    }

    /// Signs claims that live so many seconds.
    fn sign(&self, mut claims: Claims, life: i64) -> Result<String> {
        let now = clock::now().as_millis() / 1000;
        claims.insert("iat".to_owned(), now.into());
        claims.insert("exp".to_owned(), (now + life).into());
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.signing)
            .map_err(|error| Error::Internal(error.into()))
    }

    /// The claims of a genuine token that has not expired and does not come from the future.
    fn claims(&self, token: &str) -> Result<Claims> {
        let read = jsonwebtoken::decode::<Claims>(token, &self.checking, &self.rules);
        let claims = read.map_err(|error| {
            // The usual cause in a school is a wrong clock or a wrong secret: say which, never the token.
            if *error.kind() == ErrorKind::ExpiredSignature {
                tracing::warn!("a document-server token has expired: the clocks of the two servers differ (skew)");
            } else {
                // It may quote the token, which may be long.
                let error: String = error.to_string().chars().take(LONGEST_LOGGED).collect();
                tracing::warn!(error, "a document-server token was refused");
            }
            Error::DocumentServerTokenInvalid
        })?;
        let now = clock::now().as_millis() / 1000;
        let issued = claims.claims.get("iat").map(|iat| iat.as_f64().unwrap_or(f64::MAX));
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are exact")]
        if issued.is_some_and(|issued| issued > (now + LEEWAY) as f64) {
            tracing::warn!(
                "a document-server token comes from the future: the clocks of the two servers differ (skew)"
            );
            return Err(Error::DocumentServerTokenInvalid);
        }
        let expires = claims.claims.get("exp").map(|exp| exp.as_f64().unwrap_or(f64::MAX));
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are exact")]
        if expires.is_none_or(|expires| expires > (now + LONGEST_LIFE + LEEWAY) as f64) {
            tracing::warn!(
                longest_seconds = LONGEST_LIFE,
                "a document-server token lives too long: lower services.CoAuthoring.token.outbox.expires there"
            );
            return Err(Error::DocumentServerTokenInvalid);
        }
        Ok(claims.claims)
    }
}

impl DocumentServer {
    /// The token of an editor configuration.
    pub(super) fn sign_editor(&self, claims: Claims) -> Result<String> {
        self.0.tokens.sign(claims, EDITOR_LIFE)
    }

    /// The token of a command or a conversion.
    pub(super) fn sign_command(&self, claims: Claims) -> Result<String> {
        self.0.tokens.sign(claims, COMMAND_LIFE)
    }

    /// Whether the document server itself asks for exactly these bytes. `header` is the value of [`Self::header`].
    pub fn may_fetch(&self, header: Option<&str>, document: &DocumentId, bytes: &Bytes) -> Result<()> {
        let claims = self.0.tokens.claims(bearer(header)?)?;
        let claim: FileClaim =
            serde_json::from_value(Value::Object(claims)).map_err(|_| Error::DocumentServerTokenMismatch)?;
        let is_download = claim.payload.key.is_none() && claim.payload.status.is_none() && claim.iat.is_some();
        // The whole text is compared, origin and query included: no trick with dots, slashes or case gets through.
        if is_download && claim.payload.url == self.file_url(document, bytes) {
            Ok(())
        } else {
            Err(Error::DocumentServerTokenMismatch)
        }
    }

    /// The claims of a notice from the token of its header, which is verified before anything of the body is read; nothing where
    /// the header has no token of ours.
    pub fn header_claims(&self, header: Option<&str>) -> Result<Option<CallbackClaims>> {
        match bearer(header) {
            Ok(token) => fresh(self.claims_of_header(token)?).map(Some),
            // A body token speaks for itself; a proxy may use the header for something else.
            Err(_) => Ok(None),
        }
    }

    /// The claims of a notice: from the token in its body, else from the one in its header, of which `by_header` are the
    /// [verified claims](Self::header_claims). Where both are, both must hold and agree.
    pub fn callback_claims(
        &self,
        by_header: Option<CallbackClaims>,
        header: Option<&str>,
        body: &Value,
    ) -> Result<CallbackClaims> {
        let in_body = body
            .get("token")
            .and_then(Value::as_str)
            .filter(|token| !token.is_empty());
        let by_body = in_body.map(|token| self.claims_of_body(token)).transpose()?;
        match (by_body, by_header) {
            (Some(body), Some(header)) if body.key != header.key || body.status != header.status => {
                Err(Error::DocumentServerTokenMismatch)
            }
            (Some(claims), _) | (None, Some(claims)) => fresh(claims),
            (None, None) => Err(bearer(header).err().unwrap_or(Error::DocumentServerTokenMissing)),
        }
    }

    fn claims_of_body(&self, token: &str) -> Result<CallbackClaims> {
        callback(self.0.tokens.claims(token)?)
    }

    fn claims_of_header(&self, token: &str) -> Result<CallbackClaims> {
        let mut outer = self.0.tokens.claims(token)?;
        let Some(Value::Object(mut payload)) = outer.remove("payload") else {
            return Err(Error::DocumentServerTokenMismatch);
        };
        if outer.keys().any(|name| !matches!(name.as_str(), "iat" | "exp" | "nbf")) {
            return Err(Error::DocumentServerTokenMismatch);
        }
        payload.insert("iat".to_owned(), outer.remove("iat").unwrap_or_default());
        callback(payload)
    }
}

/// The claims of a notice that was sent lately.
fn fresh(claims: CallbackClaims) -> Result<CallbackClaims> {
    let now = clock::now().as_millis() / 1000;
    let age = claims.iat.map(|issued| now.saturating_sub(issued));
    if age.is_some_and(|age| age < FRESHNESS) {
        Ok(claims)
    } else {
        tracing::warn!(age, "a notice is too old: the clocks of the two servers differ (skew)");
        Err(Error::DocumentServerTokenInvalid)
    }
}

fn callback(claims: Claims) -> Result<CallbackClaims> {
    if FOREIGN_CLAIMS.iter().any(|name| claims.contains_key(*name)) {
        return Err(Error::DocumentServerTokenMismatch);
    }
    // A notice all the same, so the answer names what is wrong with it. Without a status it may be any other token.
    if claims.get("status").is_some_and(|status| status.as_i64().is_none()) {
        return Err(Error::invalid("status", "type", "must be a whole number"));
    }
    serde_json::from_value(Value::Object(claims)).map_err(|_| Error::DocumentServerTokenMismatch)
}

/// The token of a header value `Bearer …`.
fn bearer(header: Option<&str>) -> Result<&str> {
    let value = header.map(str::trim).filter(|value| !value.is_empty());
    let value = value.ok_or(Error::DocumentServerTokenMissing)?;
    let (scheme, token) = value.split_once(' ').ok_or(Error::DocumentServerTokenInvalid)?;
    if scheme.eq_ignore_ascii_case("Bearer") && !token.trim().is_empty() {
        Ok(token.trim())
    } else {
        Err(Error::DocumentServerTokenInvalid)
    }
}
