//! Response types that handlers share, and the body of errors; see docs/api-contract.md#errors.

use api_macros::view;
use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::idempotency::{SECRETS, StoredResponse};
use domain::version::Version;
use serde::{Serialize, Serializer as _};
use serde_json::Value;

use common::error::{Current, Error, Problem, Result};
use common::error_response::set_etag;
pub use common::error_response::{ErrorReply, code};

/// The body of every error, a superset of better-auth's `{code, message}`.
#[view]
pub struct ErrorBody {
    /// Stable code for programs.
    pub code: String,
    /// Human-readable message in English that names the way out.
    pub message: String,
    /// The affected fields, in validation errors and conflicts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Problem>,
    /// Id of the request, as in the service log.
    pub request_id: String,
    /// The current object. Present only with `PRECONDITION_FAILED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub current: Option<Value>,
}

/// A response of a creating request that can be stored and repeated.
pub trait Repeatable {
    /// The part of the response that is stored.
    fn stored(&self) -> Result<StoredResponse>;
}

/// The body of a response with its secrets replaced by null.
pub fn without_secrets(view: &impl Serialize) -> Result<String> {
    fn hide(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if SECRETS.contains(&name.as_str()) {
                        *value = Value::Null;
                    } else {
                        hide(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(hide),
            _ => {}
        }
    }
    let mut body = serde_json::to_value(view)?;
    hide(&mut body);
    Ok(body.to_string())
}

impl<T: Serialize> Repeatable for Created<T> {
    fn stored(&self) -> Result<StoredResponse> {
        Ok(StoredResponse {
            status: StatusCode::CREATED.as_u16(),
            location: Some(self.0.clone()),
            etag: None,
            body: without_secrets(&self.1)?,
        })
    }
}

impl<T: Serialize> Repeatable for CreatedObject<T> {
    fn stored(&self) -> Result<StoredResponse> {
        Ok(StoredResponse {
            status: StatusCode::CREATED.as_u16(),
            location: Some(self.0.clone()),
            etag: Some(Version::FIRST.to_string()),
            body: without_secrets(&self.1)?,
        })
    }
}

/// 201 with a new object, or 200 with an existing one.
pub enum CreatedOrFound<T> {
    /// The object is new.
    Created(Created<T>),
    /// The object existed before.
    Found(T),
}

impl<T: Serialize> Repeatable for CreatedOrFound<T> {
    fn stored(&self) -> Result<StoredResponse> {
        match self {
            Self::Created(created) => created.stored(),
            Self::Found(found) => Ok(StoredResponse {
                status: StatusCode::OK.as_u16(),
                location: None,
                etag: None,
                body: without_secrets(found)?,
            }),
        }
    }
}

impl<T: Serialize> IntoResponse for CreatedOrFound<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Created(created) => created.into_response(),
            Self::Found(found) => Json(found).into_response(),
        }
    }
}

/// 201 with several objects.
pub struct CreatedAll<T>(pub Vec<T>);

impl<T: Serialize> Repeatable for CreatedAll<T> {
    fn stored(&self) -> Result<StoredResponse> {
        Ok(StoredResponse {
            status: StatusCode::CREATED.as_u16(),
            location: None,
            etag: None,
            body: without_secrets(&self.0)?,
        })
    }
}

impl<T: Serialize> IntoResponse for CreatedAll<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

/// A JSON body serialized on the database thread that read the rows, so that the many small strings of a long list do
/// not move between threads.
pub struct PreserializedJson(Vec<u8>);

impl PreserializedJson {
    /// Serializes a list.
    pub fn list<T: Serialize>(views: impl Iterator<Item = T>) -> Result<Self> {
        let mut body = Vec::with_capacity(4096);
        serde_json::Serializer::new(&mut body).collect_seq(views)?;
        Ok(Self(body))
    }

    /// Serializes a single value.
    pub fn one(view: &impl Serialize) -> Result<Self> {
        let mut body = Vec::with_capacity(4096);
        serde_json::to_writer(&mut body, view)?;
        Ok(Self(body))
    }
}

impl IntoResponse for PreserializedJson {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// An object with its version: JSON with an `ETag`.
#[derive(Debug)]
pub struct Versioned<T>(pub T, pub Version);

impl<T> Versioned<T> {
    /// Converts the object and keeps the version.
    pub fn map<V>(self, form: impl FnOnce(T) -> V) -> Versioned<V> {
        Versioned(form(self.0), self.1)
    }
}

impl<T: Serialize> IntoResponse for Versioned<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.0).into_response();
        set_etag(response.headers_mut(), &self.1.to_string());
        response
    }
}

/// Completes a failed precondition with the object that `show` returns. `show` is only awaited then.
pub async fn or_current<T, V: Serialize>(
    outcome: Result<T>,
    show: impl Future<Output = Result<Versioned<V>>>,
) -> Result<T> {
    match outcome {
        Err(Error::PreconditionFailed { .. }) => {
            let Versioned(shown, version) = show.await?;
            let current = Current {
                etag: version.to_string(),
                body: serde_json::to_value(shown)?,
            };
            Err(Error::PreconditionFailed {
                current: Some(Box::new(current)),
            })
        }
        outcome => outcome,
    }
}

/// 201 with the first version of an object and its URL.
pub struct CreatedObject<T>(pub String, pub T);

impl<T: Serialize> IntoResponse for CreatedObject<T> {
    fn into_response(self) -> Response {
        let mut response = Created(self.0, self.1).into_response();
        set_etag(response.headers_mut(), &Version::FIRST.to_string());
        response
    }
}

/// 201 with an object and its URL.
pub struct Created<T>(pub String, pub T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        if let Ok(location) = HeaderValue::from_str(&self.0) {
            headers.insert(header::LOCATION, location);
        }
        (StatusCode::CREATED, headers, Json(self.1)).into_response()
    }
}

/// `{ "success": true }`, the response to a plain deletion.
#[view(Copy)]
#[schema(as = Done)]
pub struct Ack {
    /// Always true; failures are reported as errors.
    pub success: bool,
}

impl Ack {
    pub const SUCCESS: Self = Self { success: true };
}
