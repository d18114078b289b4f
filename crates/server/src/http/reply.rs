//! The one table from errors to HTTP: status, code, body. Also the small answers every handler uses.

use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::idempotency::{SECRETS, StoredAnswer};
use model::refusal::RefusalKind;
use model::version::Version;
use serde::{Serialize, Serializer as _};
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::{Current, Error, Problem, Result};

/// The header of an answer that was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

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

/// An error on its way out; `layers::finish` adds the request id and writes the body.
#[derive(Debug, Clone)]
pub struct ErrorReply {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) details: Vec<Problem>,
    pub(super) current: Option<Value>,
}

/// Status, code and details of an error.
fn table(error: &Error) -> (StatusCode, &'static str, Vec<Problem>) {
    let plain = |status: StatusCode, code: &'static str| (status, code, Vec::new());
    match error {
        Error::Unauthenticated => plain(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
        Error::NoActiveOrganization => plain(StatusCode::BAD_REQUEST, "NO_ACTIVE_ORGANIZATION"),
        Error::NotAMember => plain(StatusCode::FORBIDDEN, "NOT_A_MEMBER"),
        Error::PasswordNotConfirmed => plain(StatusCode::FORBIDDEN, "PASSWORD_NOT_CONFIRMED"),
        Error::OrganizationChanged => plain(StatusCode::CONFLICT, "ORGANIZATION_CHANGED"),
        Error::PreconditionFailed { .. } => plain(StatusCode::PRECONDITION_FAILED, "PRECONDITION_FAILED"),
        Error::KeyReused => plain(StatusCode::CONFLICT, "IDEMPOTENCY_KEY_REUSED"),
        Error::Repeated(answer) => plain(repeated_status(answer), "REPEATED"),
        Error::OrganizationSuspended => plain(StatusCode::FORBIDDEN, "ORGANIZATION_SUSPENDED"),
        Error::ForbiddenRole => plain(StatusCode::FORBIDDEN, "FORBIDDEN_ROLE"),
        Error::InvalidOrigin => plain(StatusCode::FORBIDDEN, "INVALID_ORIGIN"),
        Error::MissingOrigin => plain(StatusCode::FORBIDDEN, "MISSING_OR_NULL_ORIGIN"),
        Error::NotFound => plain(StatusCode::NOT_FOUND, "NOT_FOUND"),
        Error::MethodNotAllowed => plain(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED"),
        Error::Invalid(problems) => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR", problems.clone()),
        Error::ImportHeader(problem) => (StatusCode::BAD_REQUEST, "IMPORT_HEADER", vec![problem.clone()]),
        Error::InvalidJson(_) => plain(StatusCode::BAD_REQUEST, "INVALID_JSON"),
        Error::UnsupportedMediaType(_) => plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE"),
        Error::Refused(refusal) => {
            let status = match refusal.kind() {
                RefusalKind::Invalid => StatusCode::BAD_REQUEST,
                RefusalKind::Forbidden => StatusCode::FORBIDDEN,
                RefusalKind::Locked => StatusCode::LOCKED,
                RefusalKind::Conflict => StatusCode::CONFLICT,
            };
            let details = refusal.details().into_iter();
            (
                status,
                refusal.code(),
                details.map(|d| Problem::new(d.path, d.code, d.message)).collect(),
            )
        }
        Error::Conflict {
            code,
            message,
            path,
            existing_id,
        } => {
            let mut problem = Problem::new(*path, "duplicate", *message);
            problem.existing_id.clone_from(existing_id);
            (StatusCode::CONFLICT, code, vec![problem])
        }
        Error::TooLarge { .. } => plain(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
        Error::SlowBody => plain(StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT"),
        Error::UriTooLong => plain(StatusCode::URI_TOO_LONG, "URI_TOO_LONG"),
        Error::InvalidHost => plain(StatusCode::BAD_REQUEST, "INVALID_HOST"),
        Error::HeadTooLarge => plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "HEADERS_TOO_LARGE"),
        Error::UnsupportedFileType(_) => plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_FILE_TYPE"),
        Error::RateLimited { .. } => plain(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED"),
        Error::DocumentServerTokenMissing => plain(StatusCode::UNAUTHORIZED, "DOCSERVER_TOKEN_MISSING"),
        Error::DocumentServerTokenInvalid => plain(StatusCode::UNAUTHORIZED, "DOCSERVER_TOKEN_INVALID"),
        Error::DocumentServerTokenMismatch => plain(StatusCode::FORBIDDEN, "DOCSERVER_TOKEN_MISMATCH"),
        Error::DocumentServer(_) => plain(StatusCode::BAD_GATEWAY, "DOCSERVER_ERROR"),
        Error::DocumentServerFault { code, message } => (
            StatusCode::BAD_GATEWAY,
            "DOCSERVER_ERROR",
            vec![Problem::new("documentServer", *code, *message)],
        ),
        Error::DocumentServerTimeout => plain(StatusCode::GATEWAY_TIMEOUT, "DOCSERVER_TIMEOUT"),
        Error::Overloaded => plain(StatusCode::SERVICE_UNAVAILABLE, "OVERLOADED"),
        Error::NotReady => plain(StatusCode::SERVICE_UNAVAILABLE, "NOT_READY"),
        Error::QuotaExceeded => plain(StatusCode::INSUFFICIENT_STORAGE, "QUOTA_EXCEEDED"),
        Error::DiskFull => plain(StatusCode::INSUFFICIENT_STORAGE, "DISK_FULL"),
        Error::Internal(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"),
    }
}

/// The stable code of an error, for the log.
pub fn code(error: &Error) -> &'static str {
    table(error).1
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, code, details) = table(&self);
        if let Error::Internal(cause) = &self {
            tracing::error!(error = format!("{cause:#}"), "a request failed");
        }
        if let Self::Repeated(answer) = self {
            return repeat(*answer);
        }
        let mut response = status.into_response();
        let retry = match &self {
            Error::RateLimited { retry_after } => Some(*retry_after),
            Error::Overloaded | Error::NotReady => Some(1),
            _ => None,
        };
        if let Some(seconds) = retry {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            response
                .headers_mut()
                .insert("x-retry-after", HeaderValue::from(seconds));
        }
        let message = self.to_string();
        let current = match self {
            Error::PreconditionFailed { current: Some(current) } => {
                tag(response.headers_mut(), &current.etag);
                Some(current.body)
            }
            _ => None,
        };
        response.extensions_mut().insert(ErrorReply {
            code,
            message,
            details,
            current,
        });
        response
    }
}

/// The answer that a request got before.
fn repeat(answer: StoredAnswer) -> Response {
    let status = repeated_status(&answer);
    let mut response = ([(header::CONTENT_TYPE, "application/json")], answer.body).into_response();
    *response.status_mut() = status;
    let named = [(header::LOCATION, answer.location), (header::ETAG, answer.etag)];
    for (name, value) in named {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
        .headers_mut()
        .insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

fn repeated_status(answer: &StoredAnswer) -> StatusCode {
    StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK)
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
        tag(response.headers_mut(), &self.1.to_string());
        response
    }
}

fn tag(headers: &mut HeaderMap, etag: &str) {
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, etag);
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
        tag(response.headers_mut(), &Version::FIRST.to_string());
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
