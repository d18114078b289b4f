//! `/activity_logs`.

use super::endpoint::Endpoints;

/// The routes of activity_logs.
pub fn routes() -> Endpoints {
    Endpoints::new("activity_logs")
}
