//! `/assignments`.

use super::endpoint::Endpoints;

/// The routes of assignments.
pub fn routes() -> Endpoints {
    Endpoints::new("assignments")
}
