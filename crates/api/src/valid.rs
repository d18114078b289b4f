//! Extractors for bodies and queries. They check media type, JSON, shape and limits, in this order, before a handler
//! runs; every problem names its field. See docs/api-contract.md#requests-and-responses.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use garde::Validate;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::body_timeout::read_body;
use super::patch_fields::{Editable, PatchFields};
use super::shape;
use common::error::{Error, Problem, Result};

/// Size limit of a JSON body in bytes.
pub const JSON_LIMIT: u64 = 1 << 20;
/// Maximum nesting of JSON. No request needs more than five levels.
const JSON_DEPTH: usize = 32;

/// A JSON body with valid shape and limits.
pub struct Valid<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Validate<Context = ()>> FromRequest<S> for Valid<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let value = json(request).await?;
        Ok(Self(checked(value)?))
    }
}

/// A JSON body that may be missing, because all its fields are optional.
pub struct ValidOrEmpty<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Validate<Context = ()>> FromRequest<S> for ValidOrEmpty<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let empty = !request.headers().contains_key(header::CONTENT_TYPE) && is_empty(request.headers());
        let value = if empty {
            Value::Object(Map::new())
        } else {
            json(request).await?
        };
        Ok(Self(checked(value)?))
    }
}

/// A PATCH body. Read-only fields of the resource are ignored, unknown fields are rejected.
pub struct Patch<E> {
    pub edit: E,
}

impl<S: Send + Sync, E: Editable> FromRequest<S> for Patch<E> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let mut value = json(request).await?;
        let mut unknown = Vec::new();
        if let Value::Object(body) = &mut value {
            let fields = PatchFields::of::<E>();
            body.retain(|key, _| {
                let is_edited = fields.editable.contains(key);
                if !is_edited && !fields.read_only.contains(key) {
                    unknown.push(Problem::new(key, "unknown", "is not a field of this resource"));
                }
                is_edited
            });
        }
        let edit = shape::body(unknown, value).map_err(Error::Invalid)?;
        Ok(Self { edit })
    }
}

/// A query with valid shape and limits.
pub struct ValidQuery<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Validate<Context = ()>> FromRequestParts<S> for ValidQuery<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        shape::query(query.as_bytes()).map(Self).map_err(Error::Invalid)
    }
}

/// A switch in a query: `1` or `true` is on, `0` or `false` is off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switch(pub bool);

domain::valid_when_parsed!(Switch);

impl<'de> Deserialize<'de> for Switch {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "1" | "true" => Ok(Self(true)),
            "0" | "false" | "" => Ok(Self(false)),
            _ => Err(serde::de::Error::custom("must be 1 or 0")),
        }
    }
}

impl PartialSchema for Switch {
    fn schema() -> RefOr<Schema> {
        let words = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(["1", "0", "true", "false"]))
            .description(Some("1 or true is on, 0 or false is off."));
        words.into()
    }
}

impl ToSchema for Switch {}

async fn json(request: Request) -> Result<Value> {
    if !is_json(request.headers()) {
        return Err(Error::UnsupportedMediaType("application/json"));
    }
    let body = read_body(request.into_body(), JSON_LIMIT).await?;
    parse(&body)
}

/// Parses JSON. Fails above `JSON_DEPTH` levels of nesting.
pub fn parse(bytes: &[u8]) -> Result<Value> {
    parse_nested(bytes, JSON_DEPTH)
}

/// Parses JSON with another limit on its nesting. The parser itself accepts less than 128 levels.
pub fn parse_nested(bytes: &[u8], levels: usize) -> Result<Value> {
    if depth(bytes) > levels {
        return Err(Error::InvalidJson(format!("it nests deeper than {levels} levels")));
    }
    serde_json::from_slice(bytes).map_err(|error| Error::InvalidJson(error.to_string()))
}

/// A lower bound of the nesting depth, computed before the JSON is parsed.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut in_text = false;
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => drop(rest.next()),
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Whether the Content-Type of the body is JSON.
pub fn is_json(headers: &HeaderMap) -> bool {
    let text = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    text.split(';')
        .next()
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn is_empty(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::TRANSFER_ENCODING)
        && headers.get(header::CONTENT_LENGTH).is_none_or(|length| length == "0")
}

/// Checks shape and limits of a JSON value, and reports every problem.
pub fn checked<T: DeserializeOwned + Validate<Context = ()>>(value: Value) -> Result<T> {
    shape::body(Vec::new(), value).map_err(Error::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_nests_32_levels_and_no_more() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(nested(32).as_bytes()).is_ok());
        assert!(matches!(parse(nested(33).as_bytes()), Err(Error::InvalidJson(_))));
        let text = format!(r#"{{"a": "\\\"{}", "b": [1]}}"#, "[".repeat(100));
        assert!(parse(text.as_bytes()).is_ok(), "brackets in texts are no levels");
        assert_eq!(depth(b"]]]][[{}]"), 3);
    }
}
