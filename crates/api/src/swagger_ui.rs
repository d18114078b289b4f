//! Swagger UI: shows the OpenAPI document and allows its routes to be called. All files come from this binary; the
//! content security policy allows no inline script and no other host.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use common::error::{Error, Result};

/// Content security policy of the page: its own files, and images inlined in its style sheet. React sets styles from
/// script, which needs no exception. Framing and forms are forbidden.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The files of Swagger UI that the page uses. No other files are served.
const VENDORED: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

/// Show this document as a page with Swagger UI
#[utoipa::path(get, path = "/docs", responses((status = 200, description = "An HTML page", content_type = "text/html")))]
pub(crate) async fn page() -> Response {
    served("text/html; charset=utf-8", include_str!("swagger_ui/page.html"))
}

/// Get a script or style sheet of the page
#[utoipa::path(get, path = "/docs/{file}", params(("file" = String, Path, description = "The file name")),
    responses((status = 200, description = "The file"), (status = 404, description = "NOT_FOUND")))]
pub(crate) async fn part(Path(file): Path<String>) -> Result<Response> {
    match file.as_str() {
        "page.js" => Ok(served(
            "text/javascript; charset=utf-8",
            include_str!("swagger_ui/page.js"),
        )),
        "page.css" => Ok(served("text/css; charset=utf-8", include_str!("swagger_ui/page.css"))),
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
