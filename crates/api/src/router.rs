//! The layers around the routes of `routes.rs`, in the specified order:
//! request id, request log, authentication, organization, authorization (these three are the guard of each route,
//! `guard.rs`), validation (the extractors of `valid.rs`), handler, error rendering.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Extensions, HeaderMap, StatusCode, Uri, Version, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};
use utoipa::openapi::OpenApi;

use super::context::App;
use super::endpoint::Row;
use super::routes::endpoints;
use super::{auth, layers, openapi, unread_body, web_pages};
use common::error::Error;
use realtime::connect;

/// The router of the running service.
pub fn router(app: App) -> Router {
    let (routes, _) = endpoints().into_parts();
    let (api, _) = routes.split_for_parts();
    let api = api
        .fallback(|uri: Uri| async move { no_route(&uri, Error::NotFound) })
        .method_not_allowed_fallback(|uri: Uri| async move { no_route(&uri, Error::MethodNotAllowed) })
        .layer(DefaultBodyLimit::disable())
        .layer(compression_layer());
    Router::new()
        .nest("/api", api)
        .merge(web_pages::routes())
        .layer(from_fn_with_state(app.realtime().clone(), connect::guard))
        .layer(CatchPanicLayer::custom(layers::render_panic))
        .layer(from_fn_with_state(app.clone(), layers::cors))
        .layer(from_fn_with_state(app.clone(), layers::request_context_layer))
        .layer(from_fn(unread_body::drain))
        .with_state(app)
}

/// Compresses JSON responses: a lesson board is fetched again on every event and shrinks to an eighth. Files are not
/// compressed; most of them are already.
fn compression_layer() -> CompressionLayer<impl Predicate> {
    let is_read_by_a_page = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.starts_with("application/json"))
            && !headers.contains_key(header::CONTENT_DISPOSITION)
    };
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(SizeAbove::new(1_024).and(is_read_by_a_page))
}

/// The response to an unknown path or method; under `/auth` in the format of better-auth.
fn no_route(uri: &Uri, error: Error) -> Response {
    let is_auth = uri
        .path()
        .strip_prefix("/auth")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if is_auth {
        auth::unknown()
    } else {
        error.into_response()
    }
}

/// The OpenAPI document and the table of routes. Both are generated files that a test compares.
pub fn description() -> (OpenApi, Vec<Row>) {
    let (routes, rows) = endpoints().into_parts();
    (openapi::complete(routes.into_openapi(), &rows), rows)
}
