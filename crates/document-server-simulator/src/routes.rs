//! All HTTP routes: the protocol, and the control API under `/practice`.

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderMap, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};

use crate::{command, control_api as api, convert, editor_page, faults::Outage, results, simulator::Simulator};

/// Maximum size of a request body; long texts exceed the default of axum.
const BODY_LIMIT: usize = 16 << 20;

pub(crate) fn router(simulator: Simulator) -> Router {
    Router::new()
        // The protocol.
        .route("/healthcheck", get(healthcheck))
        .route("/command", post(command::command))
        .route("/coauthoring/CommandService.ashx", post(command::command))
        .route("/converter", post(convert::convert))
        .route("/ConvertService.ashx", post(convert::convert))
        .route("/cache/files/{*path}", get(results::serve))
        .route("/web-apps/apps/api/documents/{file}", get(editor_page::get_asset))
        // The editor page, and tests that act as an editor.
        .route("/practice/page/{file}", get(editor_page::get_asset))
        .route("/practice/open", post(api::open))
        .route("/practice/type", post(api::type_text))
        .route("/practice/edit", post(api::edit))
        .route("/practice/text", get(api::text))
        .route("/practice/events", get(editor_page::events))
        .route("/practice/close", post(api::close))
        .route("/practice/abandon", post(api::abandon))
        .route("/practice/forcesave-button", post(api::press_save_button))
        // Fault injection and recorded requests.
        .route(
            "/practice/faults",
            get(api::faults).post(api::set_faults).delete(api::clear_faults),
        )
        .route("/practice/crash", post(api::crash))
        .route("/practice/release", post(api::release))
        .route("/practice/callbacks", get(api::callbacks))
        .route("/practice/requests", get(api::requests))
        .layer(middleware::from_fn_with_state(
            simulator.clone(),
            unavailable_during_outage,
        ))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(simulator)
}

/// During an outage only the control API responds.
async fn unavailable_during_outage(State(simulator): State<Simulator>, request: Request, next: Next) -> Response {
    let is_control = request.uri().path().starts_with("/practice/");
    let is_control_request = matches!(simulator.faults().get().down, Some(Outage::Unavailable)) && is_control;
    if simulator.faults().get().down.is_some() && !is_control_request {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    next.run(request).await
}

/// The result is in the body; the status is always 200.
async fn healthcheck(State(simulator): State<Simulator>) -> &'static str {
    if simulator.faults().get().unhealthy {
        "false"
    } else {
        "true"
    }
}

/// Returns the token of the configured header if it has the right prefix.
pub(crate) fn bearer<'h>(simulator: &Simulator, headers: &'h HeaderMap) -> Option<&'h str> {
    let settings = simulator.settings();
    let value = headers.get(&settings.token_header)?.to_str().ok()?;
    value.strip_prefix(&settings.token_prefix)
}
