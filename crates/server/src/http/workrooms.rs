//! `/workrooms`.

use super::endpoint::Endpoints;

/// The routes of workrooms.
pub fn routes() -> Endpoints {
    Endpoints::new("workrooms")
}
