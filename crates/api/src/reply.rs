//! The one table from errors to HTTP: status, code, body. Also the small answers every handler uses.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::idempotency::{SECRETS, StoredAnswer};
use model::version::Version;
use serde::{Serialize, Serializer as _};
use serde_json::Value;
use utoipa::ToSchema;

use common::error::{Current, Error, Problem, Result};
use common::error_response::set_etag;
pub use common::error_response::{ErrorReply, code};

/// The body of every error (contract 2), a superset of better-auth's `{code, message}`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// Stable, for programs.
    pub code: String,
    /// A sentence that says what to do, for people.
    pub message: String,
    /// The fields in question, for validation and conflicts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Problem>,
    /// The request's id, as in the log.
    pub request_id: String,
    /// The object as it is now, with PRECONDITION_FAILED alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub current: Option<Value>,
}

/// An answer to a creating request that can be given again.
pub trait Repeatable {
    /// What is stored of it.
    fn stored(&self) -> Result<StoredAnswer>;
}

/// The body of an answer with null in the place of its secrets.
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
    fn stored(&self) -> Result<StoredAnswer> {
        Ok(StoredAnswer {
            status: StatusCode::CREATED.as_u16(),
            location: Some(self.0.clone()),
            etag: None,
            body: without_secrets(&self.1)?,
        })
    }
}

impl<T: Serialize> Repeatable for CreatedObject<T> {
    fn stored(&self) -> Result<StoredAnswer> {
        Ok(StoredAnswer {
            status: StatusCode::CREATED.as_u16(),
            location: Some(self.0.clone()),
            etag: Some(Version::FIRST.to_string()),
            body: without_secrets(&self.1)?,
        })
    }
}

/// What was created, or 200 with what was there already.
pub enum CreatedOrFound<T> {
    /// It is new.
    Created(Created<T>),
    /// It was there.
    Found(T),
}

impl<T: Serialize> Repeatable for CreatedOrFound<T> {
    fn stored(&self) -> Result<StoredAnswer> {
        match self {
            Self::Created(created) => created.stored(),
            Self::Found(found) => Ok(StoredAnswer {
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
    fn stored(&self) -> Result<StoredAnswer> {
        Ok(StoredAnswer {
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

/// A body of JSON that was written where its rows were read: on one thread with them, so that the many small texts of a
/// long list never change hands.
pub struct Written(Vec<u8>);

impl Written {
    /// A list, one view after the other.
    pub fn list<T: Serialize>(views: impl Iterator<Item = T>) -> Result<Self> {
        let mut body = Vec::with_capacity(4096);
        serde_json::Serializer::new(&mut body).collect_seq(views)?;
        Ok(Self(body))
    }

    /// Anything else.
    pub fn one(view: &impl Serialize) -> Result<Self> {
        let mut body = Vec::with_capacity(4096);
        serde_json::to_writer(&mut body, view)?;
        Ok(Self(body))
    }
}

impl IntoResponse for Written {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// An object with its version: JSON with an `ETag`.
#[derive(Debug)]
pub struct Versioned<T>(pub T, pub Version);

impl<T> Versioned<T> {
    /// The object in another form.
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

/// Adds to a precondition that is not met the object as `show` finds it; `show` runs then alone.
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

/// 201 with the first version of an object and its address.
pub struct CreatedObject<T>(pub String, pub T);

impl<T: Serialize> IntoResponse for CreatedObject<T> {
    fn into_response(self) -> Response {
        let mut response = Created(self.0, self.1).into_response();
        set_etag(response.headers_mut(), &Version::FIRST.to_string());
        response
    }
}

/// 201 with the object and where it stands.
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

/// `{ "success": true }` and what went, the answer to a plain deletion.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Done {
    /// Always true; a failure is an error.
    pub success: bool,
}

impl Done {
    /// It is done.
    pub const YES: Self = Self { success: true };
}
