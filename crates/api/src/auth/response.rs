//! Responses of `/auth`: JSON with `Set-Cookie` headers, and errors in the library's format with the request id added.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use better_auth::error::AuthError;
use domain::error_code::ErrorCode;
use serde::Serialize;

use super::super::response::ErrorReply;
use common::error::Error;

/// The result of every handler under `/auth`.
pub type AuthResult = Result<Response, AuthRejection>;

/// A JSON response that sets cookies.
pub fn json_response(body: &impl Serialize, cookies: Vec<String>) -> Response {
    let mut response = Json(body).into_response();
    set(&mut response, cookies);
    response
}

/// An error response that sets cookies.
#[derive(Debug)]
pub struct AuthRejection {
    reason: Reason,
    cookies: Vec<String>,
}

#[derive(Debug)]
enum Reason {
    /// An error that the library defines.
    Library(AuthError),
    /// An error that the library does not define: limits, faults.
    Ours(Error),
}

impl AuthRejection {
    /// Sets the cookies of the response.
    pub fn with(mut self, cookies: Vec<String>) -> Self {
        self.cookies = cookies;
        self
    }

    /// Maps errors of account administration to those of the library: unknown account, address in use, own role.
    pub fn about_users(mut self) -> Self {
        let words = match &self.reason {
            Reason::Ours(Error::NotFound) => Some(AuthError::user_not_found()),
            Reason::Ours(Error::Conflict {
                code: ErrorCode::DuplicateEmail,
                ..
            }) => Some(AuthError::user_already_exists()),
            Reason::Ours(Error::ForbiddenRole) => Some(AuthError::may_not_change_roles()),
            _ => None,
        };
        if let Some(words) = words {
            self.reason = Reason::Library(words);
        }
        self
    }

    /// Whether the session is invalid.
    pub fn is_unauthorized(&self) -> bool {
        matches!(&self.reason, Reason::Library(error) if error.status == 401)
    }
}

impl From<AuthError> for AuthRejection {
    fn from(error: AuthError) -> Self {
        Self {
            reason: Reason::Library(error),
            cookies: Vec::new(),
        }
    }
}

impl From<Error> for AuthRejection {
    fn from(error: Error) -> Self {
        let reason = match error {
            Error::Unauthenticated => Reason::Library(AuthError::unauthorized()),
            error => Reason::Ours(error),
        };
        Self {
            reason,
            cookies: Vec::new(),
        }
    }
}

impl IntoResponse for AuthRejection {
    fn into_response(self) -> Response {
        let mut response = match self.reason {
            Reason::Ours(error) => error.into_response(),
            Reason::Library(error) => library(&error),
        };
        set(&mut response, self.cookies);
        response
    }
}

fn library(error: &AuthError) -> Response {
    let status = StatusCode::from_u16(error.status).expect("error statuses of the library are valid");
    let mut response = status.into_response();
    if *error != AuthError::not_found() {
        response.extensions_mut().insert(ErrorReply {
            // A few errors of the library have no code. Error bodies of this service always have one.
            code: error.code.unwrap_or(match error.status {
                401 => "UNAUTHORIZED",
                403 => ErrorCode::Forbidden.as_str(),
                404 => ErrorCode::NotFound.as_str(),
                429 => ErrorCode::RateLimited.as_str(),
                _ => ErrorCode::BadRequest.as_str(),
            }),
            message: error.message.clone().into_owned(),
            details: Vec::new(),
            current: None,
        });
    }
    response
}

fn set(response: &mut Response, cookies: Vec<String>) {
    for line in cookies {
        let line = HeaderValue::from_str(&line).expect("cookie names are constant and values are escaped");
        response.headers_mut().append(header::SET_COOKIE, line);
    }
}
