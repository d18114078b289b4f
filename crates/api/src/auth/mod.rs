//! `/auth`: the wire format of better-auth 1.7, which its official client uses. Bodies, codes and the order of checks
//! are those of the library; permissions are read from the database on every request, never from the session cookie
//! cache. See docs/api-contract.md#authentication.
//!
//! Most routes are declared open, because the library validates a body before it authenticates. They authenticate
//! themselves with [`request::AuthRequest::current_session`].

mod account;
mod admin;
mod dto;
mod invitations;
mod members;
mod organization;
mod password;
pub mod renewal;
mod request;
mod reset;
mod response;
mod schema;
mod sessions;
mod sign_in;
mod unsupported;
mod verify_email;

use axum::response::{IntoResponse, Response};
use domain::access::Access;
use utoipa_axum::routes;

pub use self::reset::{PAGE as RESET_PAGE, path as reset_path};
pub use self::sign_in::verified_hash;
use super::endpoint::Endpoints;
use super::route_limits::RouteLimits;
use common::error::Error;

pub fn routes() -> Endpoints {
    Endpoints::new("auth")
        // Sign-in has limits of its own: a flood from one address must not lock out other users behind that address.
        .add_with_limits(RouteLimits::Uncounted, Access::Anyone, routes!(sign_in::sign_in))
        .add(Access::Anyone, routes!(sign_in::sign_up))
        .add(Access::Anyone, routes!(sign_in::sign_out))
        .add(Access::Anyone, routes!(sign_in::alive))
        .add(Access::Anyone, routes!(sessions::show, sessions::refuse_post))
        .add(Access::Anyone, routes!(sessions::update))
        .add(Access::SignedIn, routes!(sessions::list))
        .add(Access::Anyone, routes!(sessions::revoke))
        .add(Access::Anyone, routes!(sessions::revoke_all))
        .add(Access::Anyone, routes!(sessions::revoke_others))
        .add(Access::Anyone, routes!(password::change))
        .add(Access::Anyone, routes!(password::verify))
        .add(Access::Anyone, routes!(reset::request))
        .add(Access::Anyone, routes!(reset::follow))
        .add(Access::Anyone, routes!(reset::reset))
        .add(Access::Anyone, routes!(verify_email::follow))
        .add(Access::Anyone, routes!(account::update))
        .add(Access::SignedIn, routes!(account::list))
        .add(Access::Anyone, routes!(organization::set_active))
        .add(Access::SignedIn, routes!(organization::list))
        .add(Access::Anyone, routes!(organization::get))
        .add(Access::Anyone, routes!(organization::show))
        .add(Access::SignedIn, routes!(members::own))
        .add(Access::Anyone, routes!(members::role))
        .add(Access::Anyone, routes!(members::list))
        .add(Access::Anyone, routes!(members::has_permission))
        .add(Access::SignedIn, routes!(invitations::list_own))
        .add(Access::Anyone, routes!(invitations::show))
        .add(Access::Anyone, routes!(invitations::accept))
        .add(Access::Anyone, routes!(invitations::reject))
        .add(Access::SignedIn, routes!(invitations::list))
        .add(Access::Anyone, routes!(invitations::cancel))
        .merge(admin::routes())
        .merge(unsupported::routes())
}

/// An authentication error in the library's format.
pub fn render_error(error: Error) -> Response {
    response::AuthRejection::from(error).into_response()
}

/// An unknown route or method: always a 404, as in the library.
pub fn unknown() -> Response {
    response::AuthRejection::from(better_auth::error::AuthError::not_found()).into_response()
}
