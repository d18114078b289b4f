//! `/auth`.

use super::endpoint::Endpoints;

/// The routes of auth.
pub fn routes() -> Endpoints {
    Endpoints::new("auth")
}
