//! `/document_server`.

use super::endpoint::Endpoints;

/// The routes of document_server.
pub fn routes() -> Endpoints {
    Endpoints::new("document_server")
}
