//! A page on which people read the OpenAPI document and try its routes. Everything it needs comes from this binary
//! (Swagger UI, in the crate); its policy allows no inline script and no other host.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use model::access::Access;
use utoipa_axum::routes;

use super::endpoint::Endpoints;
use common::error::{Error, Result};

/// What the page may load: itself, and pictures that stand in its style sheet. React writes styles by script, which
/// needs no exception; the page stays in no frame and sends no form.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Files of Swagger UI that the page uses; the rest of it is not served.
const VENDORED: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

/// The routes of the page.
pub fn routes() -> Endpoints {
    Endpoints::new("health")
        .add(Access::Anyone, routes!(page))
        .add(Access::Anyone, routes!(part))
}

/// Read this document as a page and try its routes
#[utoipa::path(get, path = "/docs", responses((status = 200, description = "A page", content_type = "text/html")))]
async fn page() -> Response {
    served("text/html; charset=utf-8", include_str!("docs/page.html"))
}

/// A script or style sheet of the page
#[utoipa::path(get, path = "/docs/{file}", params(("file" = String, Path, description = "Its name")),
    responses((status = 200, description = "The file"), (status = 404, description = "NOT_FOUND")))]
async fn part(Path(file): Path<String>) -> Result<Response> {
    match file.as_str() {
        "page.js" => Ok(served("text/javascript; charset=utf-8", include_str!("docs/page.js"))),
        "page.css" => Ok(served("text/css; charset=utf-8", include_str!("docs/page.css"))),
        vendored if VENDORED.contains(&vendored) => {
            let no_settings = Arc::new(utoipa_swagger_ui::Config::default());
            let found = utoipa_swagger_ui::serve(vendored, no_settings);
            let found = found
                .map_err(|error| anyhow::anyhow!("{error}"))?
                .ok_or(Error::NotFound)?;
            Ok(served(&found.content_type, found.bytes.into_owned()))
        }
        _ => Err(Error::NotFound),
    }
}

fn served(media: &str, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    let fields: [(HeaderName, Option<HeaderValue>); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_str(media).ok()),
        (header::CONTENT_SECURITY_POLICY, Some(HeaderValue::from_static(POLICY))),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
    response
}
