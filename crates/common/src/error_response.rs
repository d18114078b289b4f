//! Maps errors to HTTP responses: status, code and details. See docs/api-contract.md#errors.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::domain_error::DomainErrorKind;
use domain::idempotency::StoredResponse;
use serde_json::Value;

use crate::error::{Error, Problem};

/// The header of a response that was repeated for an `Idempotency-Key`.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// An error to be rendered. `layers::finish` adds the request id and writes the body.
#[derive(Debug, Clone)]
pub struct ErrorReply {
    pub code: &'static str,
    pub message: String,
    pub details: Vec<Problem>,
    pub current: Option<Value>,
}

/// Status, code and details of an error.
fn status_and_code(error: &Error) -> (StatusCode, &'static str, Vec<Problem>) {
    let plain = |status: StatusCode, code: &'static str| (status, code, Vec::new());
    match error {
        Error::Unauthenticated => plain(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
        Error::NoActiveOrganization => plain(StatusCode::BAD_REQUEST, "NO_ACTIVE_ORGANIZATION"),
        Error::NotAMember => plain(StatusCode::FORBIDDEN, "NOT_A_MEMBER"),
        Error::PasswordNotConfirmed => plain(StatusCode::FORBIDDEN, "PASSWORD_NOT_CONFIRMED"),
        Error::OrganizationChanged => plain(StatusCode::CONFLICT, "ORGANIZATION_CHANGED"),
        Error::PreconditionFailed { .. } => plain(StatusCode::PRECONDITION_FAILED, "PRECONDITION_FAILED"),
        Error::IdempotencyKeyReused => plain(StatusCode::CONFLICT, "IDEMPOTENCY_KEY_REUSED"),
        Error::IdempotentReplay(answer) => plain(replayed_status(answer), "REPEATED"),
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
        Error::Domain(domain_error) => {
            let status = match domain_error.kind() {
                DomainErrorKind::Invalid => StatusCode::BAD_REQUEST,
                DomainErrorKind::Forbidden => StatusCode::FORBIDDEN,
                DomainErrorKind::Locked => StatusCode::LOCKED,
                DomainErrorKind::Conflict => StatusCode::CONFLICT,
            };
            let details = domain_error.details().into_iter();
            (
                status,
                domain_error.code(),
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
        Error::BodyTimeout => plain(StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT"),
        Error::UriTooLong => plain(StatusCode::URI_TOO_LONG, "URI_TOO_LONG"),
        Error::InvalidHost => plain(StatusCode::BAD_REQUEST, "INVALID_HOST"),
        Error::HeadTooLarge => plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "HEADERS_TOO_LARGE"),
        Error::UnsupportedFileType(_) => plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_FILE_TYPE"),
        Error::LegacyFormat(format) => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "LEGACY_FILE_FORMAT",
            vec![Problem::new("file", format.as_str(), error.to_string())],
        ),
        Error::UnreadableFile { code, message } => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UNREADABLE_FILE",
            vec![Problem::new("file", *code, *message)],
        ),
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
    status_and_code(error).1
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, code, details) = status_and_code(&self);
        if let Error::Internal(cause) = &self {
            tracing::error!(error = format!("{cause:#}"), "request failed with internal error");
        }
        if let Self::IdempotentReplay(answer) = self {
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
                set_etag(response.headers_mut(), &current.etag);
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

/// The stored response of a repeated request.
fn repeat(answer: StoredResponse) -> Response {
    let status = replayed_status(&answer);
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

fn replayed_status(answer: &StoredResponse) -> StatusCode {
    StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK)
}

/// Sets the `ETag` header.
pub fn set_etag(headers: &mut HeaderMap, etag: &str) {
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, etag);
    }
}
