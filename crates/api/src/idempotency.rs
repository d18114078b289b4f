//! `Idempotency-Key`: a repeated creating request creates nothing and receives the first response. The key is read by a
//! layer; a creating handler claims it in its own transaction (`Context::repeatable`). See
//! docs/api-contract.md#idempotency-key.

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use domain::id::UserId;
use domain::idempotency::{KeyedRequest, is_key};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::body_timeout::read_body;
use super::files::is_form;
use super::valid;
use adapters::blob_store::hex;
use common::error::{Error, Result};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The key of a request, and the request that it belongs to.
#[derive(Debug)]
pub struct Claim {
    route: String,
    /// Path and query: the same key for another object is another request.
    target: String,
    key_digest: String,
    request_digest: OnceLock<String>,
}

impl Claim {
    /// The keyed request of a user; `None` until the body was read.
    pub fn of(&self, user: &UserId) -> Option<KeyedRequest> {
        Some(KeyedRequest {
            user: user.clone(),
            route: self.route.clone(),
            key_digest: self.key_digest.clone(),
            request_digest: self.request_digest.get()?.clone(),
        })
    }

    /// Records the content of a form. The raw bytes differ between attempts, because they contain the boundary.
    pub fn note_form(&self, file_name: &str, sha256: &str, fields: &Map<String, Value>) {
        let mut fields = fields.clone();
        fields.insert("file".to_owned(), Value::from(vec![file_name, sha256]));
        self.note(canonical(&Value::Object(fields)).as_bytes());
    }

    fn note(&self, body: &[u8]) {
        let mut digest = Sha256::new();
        digest.update(self.target.as_bytes());
        digest.update([0]);
        digest.update(body);
        // A body is read once; a second one would be another request.
        let _ = self.request_digest.set(hex(&digest.finalize()));
    }
}

/// Reads the key of a request that has one, and also the body unless that is a form.
pub async fn attach(request: Request) -> Result<Request> {
    if request.method() != Method::POST || !request.headers().contains_key(KEY) {
        return Ok(request);
    }
    let route = request.extensions().get::<MatchedPath>();
    let claim = Arc::new(Claim {
        route: format!(
            "POST {}",
            route.map_or_else(|| request.uri().path(), MatchedPath::as_str)
        ),
        target: target(request.uri()),
        key_digest: hex(&Sha256::digest(key(request.headers())?)),
        request_digest: OnceLock::new(),
    });
    let (mut parts, mut body) = request.into_parts();
    if !is_form(&parts.headers) {
        let bytes = read_body(body, valid::JSON_LIMIT).await?;
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(value) => claim.note(canonical(&value).as_bytes()),
            Err(_) => claim.note(&bytes),
        }
        if !bytes.is_empty() {
            parts.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
        }
        body = Body::from(bytes);
    }
    parts.extensions.insert(claim);
    Ok(Request::from_parts(parts, body))
}

fn key(headers: &HeaderMap) -> Result<&str> {
    let mut lines = headers.get_all(KEY).iter();
    let key = match (lines.next(), lines.next()) {
        (Some(line), None) => line.to_str().ok().filter(|text| is_key(text)),
        _ => None,
    };
    let wrong = || Error::invalid("Idempotency-Key", "format", "must be 1 to 255 visible ASCII characters");
    key.ok_or_else(wrong)
}

fn target(uri: &Uri) -> String {
    uri.path_and_query().map_or_else(String::new, ToString::to_string)
}

/// JSON with sorted keys and without spaces, so that equal values are equal requests.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            let fields = sorted.into_iter().map(|(name, value)| {
                let name = Value::from(name.as_str());
                format!("{name}:{}", canonical(value))
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items = items.iter().map(canonical);
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_json_ignores_order_and_spaces() {
        let one: Value = serde_json::from_str(r#"{"b": [1, {"d": null, "c": "x"}], "a": true}"#).unwrap_or_default();
        let other = json!({"a": true, "b": [1, {"c": "x", "d": null}]});
        assert_eq!(canonical(&one), canonical(&other));
        assert_eq!(canonical(&one), r#"{"a":true,"b":[1,{"c":"x","d":null}]}"#);
        assert_ne!(canonical(&json!([1, 2])), canonical(&json!([2, 1])));
        assert_ne!(canonical(&json!({"a": "1"})), canonical(&json!({"a": 1})));
    }
}
