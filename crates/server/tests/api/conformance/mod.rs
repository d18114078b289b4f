//! The checks of document-server.md, section 4: each test begins with the id of its check.

mod conversions;
mod faults;
mod forgotten;
mod states;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::Value;

use crate::support::app::DOCSERVER_SECRET;
use crate::support::environment;

/// Claims as the document server signs them.
fn sign(claims: &Value) -> String {
    let secret = EncodingKey::from_secret(DOCSERVER_SECRET.as_bytes());
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &secret).unwrap()
}

/// How many rounds a test takes: few as a rule, many for somebody who has time (`make soak`).
fn rounds(few: usize, many: usize) -> usize {
    if environment("GROUPWORK_SOAK").is_some() {
        many
    } else {
        few
    }
}
