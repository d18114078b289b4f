//! Maps errors to HTTP responses: status, code and details. See docs/api-contract.md#errors.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::error_code::ErrorCode;
use domain::idempotency::StoredResponse;
use serde_json::Value;

use crate::error::{Error, Problem};

/// The header of a response that was repeated for an `Idempotency-Key`.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// `Retry-After` during maintenance, in seconds.
const MAINTENANCE_RETRY_SECONDS: u64 = 30;

/// An error to be rendered. `layers::finish` adds the request id and writes the body.
#[derive(Debug, Clone)]
pub struct ErrorReply {
    pub code: &'static str,
    pub message: String,
    pub details: Vec<Problem>,
    pub current: Option<Value>,
}

/// The code of an error; `None` for a repeated response.
fn error_code(error: &Error) -> Option<ErrorCode> {
    Some(match error {
        Error::Unauthenticated => ErrorCode::Unauthenticated,
        Error::NoActiveOrganization => ErrorCode::NoActiveOrganization,
        Error::NotAMember => ErrorCode::NotAMember,
        Error::PasswordNotConfirmed => ErrorCode::PasswordNotConfirmed,
        Error::SecondFactorRequired => ErrorCode::SecondFactorRequired,
        Error::PasswordsOff => ErrorCode::PasswordsOff,
        Error::SignedOnElsewhere => ErrorCode::SignedOnElsewhere,
        Error::SignOnFailed { .. } => ErrorCode::SignOnFailed,
        Error::RosterFailed { .. } => ErrorCode::RosterFailed,
        Error::OrganizationChanged => ErrorCode::OrganizationChanged,
        Error::PreconditionFailed { .. } => ErrorCode::PreconditionFailed,
        Error::IdempotencyKeyReused => ErrorCode::IdempotencyKeyReused,
        Error::OrganizationSuspended => ErrorCode::OrganizationSuspended,
        Error::ForbiddenRole => ErrorCode::ForbiddenRole,
        Error::TokenScopeMissing => ErrorCode::TokenScopeMissing,
        Error::InvalidOrigin => ErrorCode::InvalidOrigin,
        Error::MissingOrigin => ErrorCode::MissingOrNullOrigin,
        Error::NotFound => ErrorCode::NotFound,
        Error::MethodNotAllowed => ErrorCode::MethodNotAllowed,
        Error::Invalid(_) => ErrorCode::ValidationError,
        Error::ImportHeader(_) => ErrorCode::ImportHeader,
        Error::InvalidJson(_) => ErrorCode::InvalidJson,
        Error::UnsupportedMediaType(_) => ErrorCode::UnsupportedMediaType,
        Error::TooLarge { .. } => ErrorCode::PayloadTooLarge,
        Error::BodyTimeout => ErrorCode::RequestTimeout,
        Error::UriTooLong => ErrorCode::UriTooLong,
        Error::InvalidHost => ErrorCode::InvalidHost,
        Error::HeadTooLarge => ErrorCode::HeadersTooLarge,
        Error::UnsupportedFileType(_) => ErrorCode::UnsupportedFileType,
        Error::RateLimited { .. } => ErrorCode::RateLimited,
        Error::DocumentServerTokenMissing => ErrorCode::DocserverTokenMissing,
        Error::DocumentServerTokenInvalid => ErrorCode::DocserverTokenInvalid,
        Error::DocumentServerTokenMismatch => ErrorCode::DocserverTokenMismatch,
        Error::DocumentServer(_) | Error::DocumentServerFault { .. } => ErrorCode::DocserverError,
        Error::DocumentServerTimeout => ErrorCode::DocserverTimeout,
        Error::Overloaded => ErrorCode::Overloaded,
        Error::NotReady => ErrorCode::NotReady,
        Error::Maintenance => ErrorCode::Maintenance,
        Error::QuotaExceeded => ErrorCode::QuotaExceeded,
        Error::DiskFull => ErrorCode::DiskFull,
        Error::Internal(_) => ErrorCode::InternalError,
        Error::LegacyFormat(_) => ErrorCode::LegacyFileFormat,
        Error::UnreadableFile { .. } => ErrorCode::UnreadableFile,
        Error::Domain(domain_error) => domain_error.code(),
        Error::Conflict { code, .. } => *code,
        Error::IdempotentReplay(_) => return None,
    })
}

/// The fields and objects that an error is about.
fn details(error: &Error) -> Vec<Problem> {
    match error {
        Error::Invalid(problems) => problems.clone(),
        Error::ImportHeader(problem) => vec![problem.clone()],
        Error::Domain(domain_error) => {
            let details = domain_error.details().into_iter();
            details.map(|d| Problem::new(d.path, d.code, d.message)).collect()
        }
        Error::Conflict {
            message,
            path,
            existing_id,
            ..
        } => {
            let mut problem = Problem::new(*path, "duplicate", *message);
            problem.existing_id.clone_from(existing_id);
            vec![problem]
        }
        Error::LegacyFormat(format) => vec![Problem::new("file", format.as_str(), error.to_string())],
        Error::UnreadableFile { code, message } => vec![Problem::new("file", *code, *message)],
        Error::SignOnFailed { code, message } => vec![Problem::new("issuer", *code, message.clone())],
        Error::RosterFailed { code, message } => vec![Problem::new("url", *code, message.clone())],
        Error::DocumentServerFault { code, message } => vec![Problem::new("documentServer", *code, *message)],
        _ => Vec::new(),
    }
}

/// The stable code of an error, for the log.
pub fn code(error: &Error) -> &'static str {
    error_code(error).map_or("REPEATED", ErrorCode::as_str)
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        if let Error::Internal(cause) = &self {
            tracing::error!(error = format!("{cause:#}"), "request failed with internal error");
        }
        if let Self::IdempotentReplay(answer) = self {
            return repeat(*answer);
        }
        let code = error_code(&self).unwrap_or(ErrorCode::InternalError);
        let details = details(&self);
        let status = StatusCode::from_u16(code.status()).expect("a test requires valid statuses");
        let mut response = status.into_response();
        let retry = match &self {
            Error::RateLimited { retry_after } => Some(*retry_after),
            Error::Overloaded | Error::NotReady => Some(1),
            Error::Maintenance => Some(MAINTENANCE_RETRY_SECONDS),
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
            code: code.as_str(),
            message,
            details,
            current,
        });
        response
    }
}

/// The stored response of a repeated request.
fn repeat(answer: StoredResponse) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
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

/// Sets the `ETag` header.
pub fn set_etag(headers: &mut HeaderMap, etag: &str) {
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, etag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_code_has_a_valid_status() {
        for code in ErrorCode::ALL {
            let status = StatusCode::from_u16(code.status()).expect("a valid status");
            assert!(status.is_client_error() || status.is_server_error(), "{code}");
        }
    }
}
