//! The OpenAPI document: what the routes say of themselves, plus title, version, security schemes and the error body.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{InfoBuilder, OpenApi, Server};
use utoipa::{PartialSchema, ToSchema};

use super::reply::ErrorBody;
use crate::error::Problem;

/// Completes the document that the routes made.
pub fn finish(mut document: OpenApi) -> OpenApi {
    document.info = InfoBuilder::new()
        .title("groupwork")
        .description(Some("The server on which a school's groups work together."))
        .version(env!("CARGO_PKG_VERSION"))
        .build();
    document.servers = Some(vec![Server::new("/api")]);
    let components = document.components.get_or_insert_default();
    components
        .schemas
        .insert(ErrorBody::name().into_owned(), ErrorBody::schema());
    components
        .schemas
        .insert(Problem::name().into_owned(), Problem::schema());
    components.add_security_scheme(
        "session",
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("better-auth.session_token"))),
    );
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT")
        .build();
    components.add_security_scheme("documentServer", SecurityScheme::Http(bearer));
    document
}
