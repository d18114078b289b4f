//! The `session_data` cookie value in the library's `compact` strategy: a signed copy of session and user that is valid
//! for five minutes. It is written for the official client; a request is never authenticated by it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    object::{SessionObject, UserObject},
    signature::{equal_in_constant_time, hmac_sha256},
    timestamp::UnixMillis,
};

/// Version of the payload. A copy with another version is ignored.
const VERSION: &str = "1";

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    session: &'a SessionObject,
    user: &'a UserObject,
    updated_at: i64,
    version: &'static str,
}

/// The signed content: the payload and, as its last key, the expiry of the copy.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedPayload<'a> {
    #[serde(flatten)]
    payload: Payload<'a>,
    expires_at: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CacheEnvelope<'a> {
    session: Payload<'a>,
    expires_at: i64,
    signature: String,
}

/// A cached copy with a valid signature and valid dates.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedSession {
    /// The session object.
    pub session: Value,
    /// The user object.
    pub user: Value,
    /// When the copy was created.
    pub updated_at: UnixMillis,
    /// When the copy expires.
    pub expires_at: UnixMillis,
}

/// Returns the cookie value for a copy that is valid for `max_age` seconds.
pub fn build(secret: &str, session: &SessionObject, user: &UserObject, now: UnixMillis, max_age: i64) -> String {
    let payload = Payload {
        session,
        user,
        updated_at: now.millis(),
        version: VERSION,
    };
    let expires_at = now.plus_seconds(max_age).millis();
    let signed = json_text(&SignedPayload { payload, expires_at });
    let envelope = CacheEnvelope {
        session: payload,
        expires_at,
        signature: signature(secret, &signed),
    };
    URL_SAFE_NO_PAD.encode(json_text(&envelope))
}

/// Returns the cached copy of a cookie value if the signature is valid, the session token matches, and neither the copy
/// nor its session has expired.
pub fn verify(secret: &str, value: &str, session_token: &str, now: UnixMillis) -> Option<CachedSession> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(value).ok()?).ok()?;
    let mut payload = signed_payload(secret, &text)?;

    let expires_at = UnixMillis::from_millis(payload.get("expiresAt")?.as_i64()?);
    let updated_at = UnixMillis::from_millis(payload.get("updatedAt")?.as_i64()?);
    if payload.get("version")?.as_str()? != VERSION || expires_at < now {
        return None;
    }
    let session = payload.get_mut("session")?.take();
    let user = payload.get_mut("user")?.take();
    let right = is_session_valid(&session, session_token, now) && is_user_valid(&user);
    right.then_some(CachedSession {
        session,
        user,
        updated_at,
        expires_at,
    })
}

/// Returns the signed keys of the envelope in order, `expiresAt` last.
fn signed_payload(secret: &str, text: &str) -> Option<Map<String, Value>> {
    let envelope: Value = serde_json::from_str(text).ok()?;
    // Accepts only the canonical serialization: no whitespace, no repeated keys, no alternative escapes.
    if json_text(&envelope) != text {
        return None;
    }
    let Value::Object(mut envelope) = envelope else {
        return None;
    };
    let Some(Value::Object(mut payload)) = envelope.remove("session") else {
        return None;
    };
    payload.insert("expiresAt".to_owned(), envelope.remove("expiresAt")?);
    let sent = envelope.remove("signature")?;
    let expected = signature(secret, &json_text(&payload));
    let right = envelope.is_empty() && equal_in_constant_time(expected.as_bytes(), sent.as_str()?.as_bytes());
    right.then_some(payload)
}

fn is_session_valid(session: &Value, session_token: &str, now: UnixMillis) -> bool {
    let text = |key| session.get(key).and_then(Value::as_str);
    let ends = text("expiresAt").and_then(UnixMillis::parse);
    let same_token =
        text("token").is_some_and(|token| equal_in_constant_time(token.as_bytes(), session_token.as_bytes()));
    same_token && text("id").is_some() && text("userId").is_some() && ends.is_some_and(|ends| ends >= now)
}

fn is_user_valid(user: &Value) -> bool {
    ["id", "email", "name"].iter().all(|key| user[key].is_string()) && user["emailVerified"].is_boolean()
}

fn signature(secret: &str, text: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac_sha256(secret, text))
}

fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text, numbers and named keys always become JSON")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use serde_json::json;

    use super::*;

    const SECRET: &str = "a secret of the tests, long enough";
    const NOW: UnixMillis = UnixMillis::from_millis(1_795_188_810_715);

    fn payload() -> Value {
        json!({
            "session": {"id": "s1", "userId": "u1", "token": "tok", "expiresAt": "2026-11-21T15:33:30.714Z"},
            "user": {"id": "u1", "email": "ada@school.test", "name": "Ada", "emailVerified": true},
            "updatedAt": NOW.millis(),
            "version": "1"
        })
    }

    /// Signs an arbitrary payload, as an attacker who knows the secret could.
    fn signed(payload: &Value, expires_at: &Value) -> String {
        let mut text = payload.clone();
        text["expiresAt"] = expires_at.clone();
        let envelope = json!({
            "session": payload,
            "expiresAt": expires_at,
            "signature": signature(SECRET, &text.to_string())
        });
        URL_SAFE_NO_PAD.encode(envelope.to_string())
    }

    fn is_used(payload: &Value) -> bool {
        verify(SECRET, &signed(payload, &json!(NOW.millis())), "tok", NOW).is_some()
    }

    #[test]
    fn signed_payload_is_valid_until_expiry() {
        assert!(is_used(&payload()));
        let ended = signed(&payload(), &json!(NOW.millis() - 1));
        assert_eq!(verify(SECRET, &ended, "tok", NOW), None);
        for no_time in [json!(null), json!("2099"), json!(1e300)] {
            assert_eq!(verify(SECRET, &signed(&payload(), &no_time), "tok", NOW), None);
        }
    }

    #[test]
    fn signed_payload_with_other_version_or_shape_is_ignored() {
        for (path, value) in [
            ("/version", json!("2")),
            ("/version", json!(1)),
            ("/updatedAt", json!("now")),
            ("/session", json!(null)),
            ("/session/id", json!(1)),
            ("/session/userId", json!(null)),
            ("/session/token", json!("other")),
            ("/session/token", json!(null)),
            ("/session/expiresAt", json!("2026-11-20T15:33:30.714Z")),
            ("/session/expiresAt", json!("soon")),
            ("/user", json!("Ada")),
            ("/user/id", json!(1)),
            ("/user/email", json!(null)),
            ("/user/name", json!({})),
            ("/user/emailVerified", json!("true")),
        ] {
            let mut changed = payload();
            *changed.pointer_mut(path).unwrap() = value;
            assert!(!is_used(&changed), "{path}");
        }
        for path in ["/session", "/user"] {
            for key in ["id", "token", "userId", "expiresAt", "email", "name", "emailVerified"] {
                let mut changed = payload();
                let object = changed.pointer_mut(path).unwrap().as_object_mut().unwrap();
                if object.shift_remove(key).is_some() {
                    assert!(!is_used(&changed), "{path} without {key}");
                }
            }
        }
    }

    #[test]
    fn additional_keys_of_plugins_are_accepted() {
        let mut wider = payload();
        wider["session"]["activeTeamId"] = json!(null);
        wider["user"]["username"] = json!("ada");
        assert!(is_used(&wider));
    }
}
