//! `/documents`.

use super::endpoint::Endpoints;

/// The routes of documents.
pub fn routes() -> Endpoints {
    Endpoints::new("documents")
}
