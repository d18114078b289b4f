//! Bodies and queries: media type, JSON, shape, limits — in this order, and every problem names its field. Nothing that
//! failed here has touched a thing.

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

use super::objects::Objects;
use super::pace::read_body;
use crate::error::{Error, Problem, Result};

/// The largest JSON body (contract 9).
pub const JSON_LIMIT: u64 = 1 << 20;
/// How deep JSON may nest; no request of ours needs five.
const JSON_DEPTH: usize = 32;

/// A JSON body that fits its type and its limits.
pub struct Valid<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Validate<Context = ()>> FromRequest<S> for Valid<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let value = json(request).await?;
        Ok(Self(checked(value)?))
    }
}

/// A JSON body that may be missing: an action without arguments.
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

/// What a PATCH may carry: the fields it edits and the fields it may only echo.
pub trait Editable: DeserializeOwned + Validate<Context = ()> {
    /// The fields of the edit itself.
    const FIELDS: &'static [&'static str];
    /// The other fields of the resource: accepted when they equal what is stored (contract 1.1).
    const READ_ONLY: &'static [&'static str];
}

/// A PATCH body: the edit, and the read-only fields the client sent back.
pub struct Patch<E> {
    /// What to change.
    pub edit: E,
    /// What has to equal the stored resource.
    pub echoed: Echoed,
}

/// Read-only fields a client sent back with a PATCH.
pub struct Echoed(Map<String, Value>);

impl Echoed {
    /// Whether there is anything to compare.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses when a read-only field differs from the resource as it is shown.
    pub fn must_equal(&self, shown: &impl serde::Serialize) -> Result<()> {
        let shown = serde_json::to_value(shown)?;
        let differing = self.0.iter().filter(|(key, value)| shown.get(key) != Some(value));
        let problems: Vec<Problem> = differing
            .map(|(key, _)| Problem::new(key, "read_only", "cannot be changed"))
            .collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::Invalid(problems))
        }
    }
}

impl<S: Send + Sync, E: Editable> FromRequest<S> for Patch<E> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let Value::Object(body) = json(request).await? else {
            return Err(Error::invalid("", "type", "must be an object"));
        };
        let (edit, rest): (Map<_, _>, Map<_, _>) =
            body.into_iter().partition(|(key, _)| E::FIELDS.contains(&key.as_str()));
        let unknown: Vec<Problem> = rest
            .keys()
            .filter(|key| !E::READ_ONLY.contains(&key.as_str()))
            .map(|key| Problem::new(key, "unknown", "is not a field of this resource"))
            .collect();
        if !unknown.is_empty() {
            return Err(Error::Invalid(unknown));
        }
        Ok(Self {
            edit: checked(Value::Object(edit))?,
            echoed: Echoed(rest),
        })
    }
}

/// A query string that fits its type and its limits.
pub struct ValidQuery<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Validate<Context = ()>> FromRequestParts<S> for ValidQuery<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        let deserializer = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
        let parsed: T = serde_path_to_error::deserialize(deserializer).map_err(|error| shape_problem(&error))?;
        within_limits(&parsed)?;
        Ok(Self(parsed))
    }
}

/// A switch in a query: `1` or `true` is on, `0` or `false` is off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switch(pub bool);

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

/// Reads JSON; what nests deeper than [`JSON_DEPTH`] is none.
pub fn parse(bytes: &[u8]) -> Result<Value> {
    if depth(bytes) > JSON_DEPTH {
        return Err(Error::InvalidJson(format!("it nests deeper than {JSON_DEPTH} levels")));
    }
    serde_json::from_slice(bytes).map_err(|error| Error::InvalidJson(error.to_string()))
}

/// How deep brackets nest, at least; looked at before anything is built of them.
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

/// Whether the body says that it is JSON.
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

/// Shape, then limits.
pub fn checked<T: DeserializeOwned + Validate<Context = ()>>(value: Value) -> Result<T> {
    let parsed: T = serde_path_to_error::deserialize(Objects(value)).map_err(|error| shape_problem(&error))?;
    within_limits(&parsed)?;
    Ok(parsed)
}

fn within_limits<T: Validate<Context = ()>>(parsed: &T) -> Result<()> {
    parsed.validate().map_err(|report| {
        let problems = report
            .iter()
            .map(|(path, error)| Problem::new(camel_case(&path.to_string()), "invalid", error.to_string()));
        Error::Invalid(problems.collect())
    })
}

/// Limits are checked on Rust's field names; callers know the wire's.
fn camel_case(path: &str) -> String {
    let mut camel = String::with_capacity(path.len());
    let mut raise = false;
    for character in path.chars() {
        if character == '_' {
            raise = true;
        } else {
            camel.push(if raise {
                character.to_ascii_uppercase()
            } else {
                character
            });
            raise = false;
        }
    }
    camel
}

/// What serde says about a shape that does not fit, as a problem with a field.
fn shape_problem<E: std::fmt::Display>(error: &serde_path_to_error::Error<E>) -> Error {
    let text = error.inner().to_string();
    let at = match error.path().to_string() {
        root if root == "." => String::new(),
        path => path,
    };
    let below = |field: &str| {
        if at.is_empty() {
            field.to_owned()
        } else {
            format!("{at}.{field}")
        }
    };
    let quoted = |prefix: &str| {
        text.strip_prefix(prefix)
            .and_then(|rest| rest.split('`').next())
            .map(str::to_owned)
    };
    if let Some(field) = quoted("unknown field `") {
        // serde_path_to_error already counts the unknown key as part of the path.
        let path = if at.ends_with(&field) { at } else { below(&field) };
        return Error::invalid(path, "unknown", "is not a field of this request");
    }
    if let Some(field) = quoted("missing field `") {
        return Error::invalid(below(&field), "required", "is required");
    }
    Error::invalid(at, "invalid", text)
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
