//! What a browser finds outside `/api` until the web client moves in: one honest page.

use axum::Router;
use axum::response::Html;
use axum::routing::get;

use super::context::App;
use crate::error::Error;

/// The routes outside `/api`.
#[expect(
    clippy::disallowed_methods,
    reason = "pages are no API routes: nobody needs a session to read this one"
)]
pub fn routes() -> Router<App> {
    Router::new()
        .route("/", get(welcome))
        .fallback(|| async { Error::NotFound })
}

async fn welcome() -> Html<&'static str> {
    Html(include_str!("welcome.html"))
}
