//! `/auth`: the wire format of better-auth 1.7, which its official client uses. Bodies, codes and the order of checks
//! are those of the library; permissions are read from the database on every request, never from the session cookie
//! cache. See docs/api-contract.md#authentication.
//!
//! Most routes are declared open, because the library validates a body before it authenticates. They authenticate
//! themselves with [`request::AuthRequest::current_session`].

pub(crate) mod account;
pub(crate) mod admin;
mod dto;
pub(crate) mod invitations;
pub(crate) mod members;
pub(crate) mod organization;
pub(crate) mod passkeys;
pub(crate) mod password;
pub mod renewal;
mod request;
pub(crate) mod reset;
mod response;
mod schema;
pub(crate) mod second_factor;
pub(crate) mod sessions;
pub(crate) mod sign_in;
pub(crate) mod sso;
pub(crate) mod unsupported;
pub(crate) mod user_names;
pub(crate) mod verify_email;

use axum::response::{IntoResponse, Response};

pub use self::reset::{PAGE as RESET_PAGE, path as reset_path};
pub use self::sign_in::verified_hash;
use common::error::Error;

/// An authentication error in the library's format.
pub fn render_error(error: Error) -> Response {
    response::AuthRejection::from(error).into_response()
}

/// An unknown route or method: always a 404, as in the library.
pub fn unknown() -> Response {
    response::AuthRejection::from(better_auth::error::AuthError::not_found()).into_response()
}
