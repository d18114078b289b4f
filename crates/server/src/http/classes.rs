//! `/classes`.

use super::endpoint::Endpoints;

/// The routes of classes.
pub fn routes() -> Endpoints {
    Endpoints::new("classes")
}
