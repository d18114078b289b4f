//! The whole API: the routes of every noun with their access rules, and the layers around them in the specified order:
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
use super::endpoint::{Endpoints, Row};
use super::{
    activity_logs, assignment_clones, assignments, auth, change_email, chat, class_clones, classes, close_topic,
    contributions, courses, direct_messages, document_server, documents, enrollments, feedback, grade_tables, grades,
    groups, handouts, health, homerooms, imports, invitations, late_texts, layers, lesson_board, mail_domains, members,
    openapi, organization_settings, pdf, privacy, subjects, submission_history, submission_overview, submissions,
    swagger_ui, system, tenants, topic_exports, unread_body, users, web_pages, workrooms,
};
use common::error::Error;
use realtime::connect;

/// Every route below `/api`.
pub fn endpoints() -> Endpoints {
    Endpoints::new("api")
        .merge(health::routes())
        .merge(swagger_ui::routes())
        .merge(auth::routes())
        .merge(users::routes())
        .merge(imports::routes())
        .merge(invitations::routes())
        .merge(change_email::routes())
        .merge(members::routes())
        .merge(mail_domains::routes())
        .merge(subjects::routes())
        .merge(homerooms::routes())
        .merge(classes::routes())
        .merge(class_clones::routes())
        .merge(enrollments::routes())
        .merge(courses::routes())
        .merge(groups::routes())
        .merge(submission_overview::routes())
        .merge(lesson_board::routes())
        .merge(assignments::routes())
        .merge(assignment_clones::routes())
        .merge(handouts::routes())
        .merge(contributions::routes())
        .merge(workrooms::routes())
        .merge(chat::routes())
        .merge(documents::routes())
        .merge(late_texts::routes())
        .merge(document_server::routes())
        .merge(pdf::routes())
        .merge(submissions::routes())
        .merge(grades::routes())
        .merge(grade_tables::routes())
        .merge(topic_exports::routes())
        .merge(submission_history::routes())
        .merge(feedback::routes())
        .merge(close_topic::routes())
        .merge(direct_messages::routes())
        .merge(activity_logs::routes())
        .merge(tenants::routes())
        .merge(mail_domains::tenant_routes())
        .merge(organization_settings::routes())
        .merge(system::routes())
        .merge(privacy::routes())
}

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
