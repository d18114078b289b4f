//! `/groups`.

use super::endpoint::Endpoints;

/// The routes of groups.
pub fn routes() -> Endpoints {
    Endpoints::new("groups")
}
