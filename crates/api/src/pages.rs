//! What a browser finds outside `/api`: the web client. On the address of a school it is sent on to the address of the web
//! client (contract 10).

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

/// The routes outside `/api`.
#[expect(
    clippy::disallowed_methods,
    reason = "pages are no API routes: nobody needs a session to read them"
)]
pub fn routes() -> Router<App> {
    Router::new()
        .route("/", get(web_client::client))
        .fallback(web_client::client)
        .layer(from_fn(at_the_frontend))
}

/// Sends who asks for a page on the address of a school to the web client, and says which school it was.
async fn at_the_frontend(request: Request, next: Next) -> Response {
    if !request.method().is_safe() {
        return next.run(request).await;
    }
    let app = request
        .extensions()
        .get::<App>()
        .cloned()
        .expect("layers.rs puts the app into every request");
    let host = tenants::host_of(&app, &request);
    match elsewhere(&app, host).await {
        Ok(Some(address)) => (StatusCode::FOUND, [(header::LOCATION, address)]).into_response(),
        Ok(None) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

async fn elsewhere(app: &App, host: Option<HostName>) -> Result<Option<HeaderValue>> {
    let Some(sign) = tenants::sign_of(app, host).await? else {
        return Ok(None);
    };
    let address = format!("{}/?org={}", app.settings().frontend_url, sign.slug);
    let address = HeaderValue::try_from(address).map_err(|error| Error::Internal(error.into()))?;
    Ok(Some(address))
}
