//! Routes outside `/api`: the web client. A page request at the address of an organization is redirected to the web
//! client. See docs/api-contract.md#choosing-the-organization.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::context::App;
use super::{tenants, web_client};
use common::error::{Error, Result};
use db::platform::organizations::HostName;

#[expect(clippy::disallowed_methods, reason = "pages are not API routes and need no session")]
pub fn routes() -> Router<App> {
    Router::new()
        .route("/", get(web_client::client))
        .fallback(web_client::client)
        .layer(from_fn(redirect_to_web_client))
}

/// Redirects a page request at the address of an organization to the web client, with the slug of the organization.
async fn redirect_to_web_client(request: Request, next: Next) -> Response {
    if !request.method().is_safe() {
        return next.run(request).await;
    }
    let app = request
        .extensions()
        .get::<App>()
        .cloned()
        .expect("a layer inserts the app into every request");
    let host = tenants::request_host(&app, &request);
    match redirect_location(&app, host).await {
        Ok(Some(address)) => (StatusCode::FOUND, [(header::LOCATION, address)]).into_response(),
        Ok(None) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

async fn redirect_location(app: &App, host: Option<HostName>) -> Result<Option<HeaderValue>> {
    let Some(branding) = tenants::find_branding(app, host).await? else {
        return Ok(None);
    };
    let address = format!("{}/?org={}", app.settings().frontend_url, branding.slug);
    let address = HeaderValue::try_from(address).map_err(|error| Error::Internal(error.into()))?;
    Ok(Some(address))
}
