//! How `/auth` answers: JSON with `Set-Cookie` lines, and refusals in the library's words with the request id added.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use better_auth::error::AuthError;
use serde::Serialize;

use super::super::reply::ErrorReply;
use common::error::Error;

/// What every handler here gives back.
pub type Answered = Result<Response, Refused>;

/// An answer with its cookies.
pub fn answer(body: &impl Serialize, cookies: Vec<String>) -> Response {
    let mut response = Json(body).into_response();
    set(&mut response, cookies);
    response
}

/// A refusal with its cookies.
#[derive(Debug)]
pub struct Refused {
    reason: Reason,
    cookies: Vec<String>,
}

#[derive(Debug)]
enum Reason {
    /// The library would say this too.
    Library(AuthError),
    /// Something the library does not know: limits, faults.
    Ours(Error),
}

impl Refused {
    /// The same refusal with these cookies.
    pub fn with(mut self, cookies: Vec<String>) -> Self {
        self.cookies = cookies;
        self
    }

    /// The same refusal in the words of administration: an unknown account, a taken address, the own role.
    pub fn about_users(mut self) -> Self {
        let words = match &self.reason {
            Reason::Ours(Error::NotFound) => Some(AuthError::user_not_found()),
            Reason::Ours(Error::Conflict {
                code: "DUPLICATE_EMAIL",
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

    /// Whether the session turned out to be worth nothing.
    pub fn is_unauthorized(&self) -> bool {
        matches!(&self.reason, Reason::Library(error) if error.status == 401)
    }
}

impl From<AuthError> for Refused {
    fn from(error: AuthError) -> Self {
        Self {
            reason: Reason::Library(error),
            cookies: Vec::new(),
        }
    }
}

impl From<Error> for Refused {
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

impl IntoResponse for Refused {
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
    let status = StatusCode::from_u16(error.status).expect("refusals of the library have three digits");
    let mut response = status.into_response();
    if *error != AuthError::not_found() {
        response.extensions_mut().insert(ErrorReply {
            // A few refusals of the library have no code; every body of ours has one (contract 2).
            code: error.code.unwrap_or(match error.status {
                401 => "UNAUTHORIZED",
                403 => "FORBIDDEN",
                404 => "NOT_FOUND",
                429 => "RATE_LIMITED",
                _ => "BAD_REQUEST",
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
        let line = HeaderValue::from_str(&line).expect("names are ours and values are escaped");
        response.headers_mut().append(header::SET_COOKIE, line);
    }
}
