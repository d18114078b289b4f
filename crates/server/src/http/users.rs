//! `/users`.

use super::endpoint::Endpoints;

/// The routes of users.
pub fn routes() -> Endpoints {
    Endpoints::new("users")
}
