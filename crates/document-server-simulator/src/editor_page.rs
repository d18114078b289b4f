//! Serves `api.js` and the editor page, and streams session updates to open pages. The page runs in a frame on the
//! simulator's origin, so a host page need not trust its scripts.

use std::convert::Infallible;

use axum::{
    extract::{Path, Query, State},
    http::{HeaderValue, StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{Stream, stream};

use crate::{connections::Disconnect, control_api::ConnectionQuery, simulator::Simulator};

const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/// Serves the files of the editor page and `api.js`.
pub(crate) async fn get_asset(Path(file): Path<String>) -> Response {
    let (kind, text) = match file.as_str() {
        "api.js" => ("text/javascript", include_str!("page/api.js")),
        "editor.js" => ("text/javascript", include_str!("page/editor.js")),
        "lines.js" => ("text/javascript", include_str!("page/lines.js")),
        "words.js" => ("text/javascript", include_str!("page/words.js")),
        "editor.css" => ("text/css", include_str!("page/editor.css")),
        "editor.html" => ("text/html", include_str!("page/editor.html")),
        "preload.html" => ("text/html", include_str!("page/preload.html")),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let headers = [
        (header::CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY.to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    let mut response = (headers, text).into_response();
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// Disconnects the member when the event stream of its page ends.
struct StreamGuard {
    simulator: Simulator,
    connection: String,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let _receiver_dropped = self.simulator.disconnect(&self.connection, Disconnect::Lost);
    }
}

/// `GET /practice/events?connection=`: sends the session as this connection sees it, once and after every change. The
/// stream represents the network connection of the page: when it ends, the member is disconnected until it reconnects.
pub(crate) async fn events(State(simulator): State<Simulator>, Query(query): Query<ConnectionQuery>) -> Response {
    let updates = match simulator.state().session_of(&query.connection) {
        Some(session) => session.updates.subscribe(),
        None => return StatusCode::NO_CONTENT.into_response(),
    };
    simulator.resume(&query.connection);
    if simulator.view(&query.connection).is_none() {
        // 204 stops the browser from reconnecting.
        return StatusCode::NO_CONTENT.into_response();
    }
    let guard = StreamGuard {
        simulator,
        connection: query.connection,
    };
    Sse::new(session_events(guard, updates))
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn session_events(
    guard: StreamGuard,
    updates: tokio::sync::watch::Receiver<u64>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((guard, updates, true), |(guard, mut updates, first)| async move {
        if !first {
            updates.changed().await.ok()?;
        }
        updates.borrow_and_update();
        if !guard.simulator.keeps_stream(&guard.connection) {
            // After a crash the stream ends and the browser reconnects.
            return None;
        }
        let event = match guard.simulator.view(&guard.connection) {
            Some(view) => Event::default().json_data(view).expect("a view is plain JSON"),
            None => Event::default().event("gone").data("gone"),
        };
        Some((Ok(event), (guard, updates, false)))
    })
}
