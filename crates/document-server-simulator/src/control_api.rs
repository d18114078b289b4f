//! The control API under `/practice`: JSON for the editor page, for tests that act as an editor without a browser, and
//! for fault injection. A real document server has none of it.
//!
//! | request | body → response |
//! |---|---|
//! | `POST /practice/open` | an editor configuration → `{connection, mode, title, lines, revision, updateVersion, warnings}` |
//! | `POST /practice/type` | `{connection, text, paragraph?}` → `{revision}`; line breaks start paragraphs |
//! | `POST /practice/edit` | `{connection, revision, start, removed, lines}` → the new `{revision, lines}` |
//! | `GET /practice/text?connection=` | → `{lines, revision, mode, people, dropped, title, outdated}` |
//! | `POST /practice/close` | `{connection, wait?, edit?}` → `{status, accepted}` of the callback that followed, if any |
//! | `POST /practice/abandon` | `{connection}`: simulates a network failure of this editor |
//! | `POST /practice/forcesave-button` | `{connection}` → `{error}` of the command |
//! | `GET/POST/DELETE /practice/faults` | reads the faults, sets some of them, removes all |
//! | `POST /practice/crash`, `/practice/release` | simulates a crash; releases held callbacks |
//! | `GET /practice/callbacks`, `/practice/requests` | recorded callbacks and requests |
//!
//! Errors are 403 with `{code, message}`.

use axum::{
    Json,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    connections::{Disconnect, OpenedEditor},
    editor_config::EditorError,
    results,
    save::ForceSaveTrigger,
    session::{SessionPhase, SharedSession},
    simulator::Simulator,
};

type ApiResult<T> = Result<Json<T>, EditorError>;

impl IntoResponse for EditorError {
    fn into_response(self) -> Response {
        (StatusCode::FORBIDDEN, Json(self)).into_response()
    }
}

fn unknown_connection() -> EditorError {
    EditorError::access("this connection is not known")
}

/// Identifies an open editor.
#[derive(Deserialize)]
pub(crate) struct ConnectionQuery {
    pub(crate) connection: String,
}

pub(crate) async fn open(
    State(simulator): State<Simulator>,
    headers: HeaderMap,
    Json(config): Json<Value>,
) -> ApiResult<OpenedEditor> {
    let origin = results::caller_origin(simulator.settings(), &headers);
    // Completes even if the page disconnects; cancellation would leave an incomplete session.
    let opening = tokio::spawn(async move { simulator.open(&config, origin).await });
    let opened = opening.await.map_err(|_| EditorError::new(-1, "the server crashed"))?;
    Ok(Json(opened?))
}

#[derive(Deserialize)]
pub(crate) struct TypeRequest {
    connection: String,
    text: String,
    paragraph: Option<usize>,
}

pub(crate) async fn type_text(State(simulator): State<Simulator>, Json(typing): Json<TypeRequest>) -> ApiResult<Value> {
    let mut state = simulator.state();
    let session = state.session_of(&typing.connection).ok_or_else(unknown_connection)?;
    let revision = session.type_text(&typing.connection, typing.paragraph, &typing.text)?;
    Ok(Json(json!({"revision": revision})))
}

/// Replacement of some lines of one revision.
#[derive(Deserialize)]
struct LineChange {
    revision: u64,
    start: usize,
    removed: usize,
    lines: Vec<String>,
}

impl LineChange {
    fn apply(self, session: &mut SharedSession, connection: &str) -> Result<u64, EditorError> {
        let replaced = self.start..self.start.saturating_add(self.removed);
        session.replace(connection, self.revision, replaced, self.lines)
    }
}

#[derive(Deserialize)]
pub(crate) struct EditRequest {
    connection: String,
    #[serde(flatten)]
    change: LineChange,
}

pub(crate) async fn edit(State(simulator): State<Simulator>, Json(edit): Json<EditRequest>) -> ApiResult<Value> {
    let mut state = simulator.state();
    let session = state.session_of(&edit.connection).ok_or_else(unknown_connection)?;
    let revision = edit.change.apply(session, &edit.connection)?;
    Ok(Json(json!({"revision": revision, "lines": session.lines()})))
}

/// A session as seen by one of its connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditorSnapshot {
    pub lines: Vec<String>,
    /// Number of changes since the document was opened.
    pub revision: u64,
    /// `edit` or `view`.
    pub mode: String,
    /// Names of the users who are editing.
    pub people: Vec<String>,
    /// Why this connection became read-only, if it was dropped.
    pub dropped: Option<String>,
    pub title: String,
    /// The key was saved; a new configuration is needed to continue.
    pub outdated: bool,
}

impl EditorSnapshot {
    fn of(session: &mut SharedSession, connection: &str) -> Option<Self> {
        let member = session.member(connection)?.clone();
        let editing = member.edit && member.dropped.is_none() && session.phase == SessionPhase::Live;
        let mut people: Vec<String> = session.editors().map(|member| member.user.name.clone()).collect();
        people.dedup();
        Some(Self {
            lines: session.lines().to_vec(),
            revision: session.revision,
            mode: if editing { "edit" } else { "view" }.into(),
            people,
            dropped: member.dropped,
            title: session.title.clone(),
            outdated: session.phase != SessionPhase::Live,
        })
    }
}

impl Simulator {
    /// Returns the session as seen by a connection; none if the connection is unknown.
    pub(crate) fn view(&self, connection: &str) -> Option<EditorSnapshot> {
        EditorSnapshot::of(self.state().session_of(connection)?, connection)
    }
}

pub(crate) async fn text(
    State(simulator): State<Simulator>,
    Query(query): Query<ConnectionQuery>,
) -> ApiResult<EditorSnapshot> {
    simulator
        .view(&query.connection)
        .map(Json)
        .ok_or_else(unknown_connection)
}

#[derive(Deserialize)]
pub(crate) struct CloseRequest {
    connection: String,
    #[serde(default = "default_true")]
    wait: bool,
    edit: Option<LineChange>,
}

fn default_true() -> bool {
    true
}

/// Waits for the response to the callback, so a test knows that the save is complete.
pub(crate) async fn close(State(simulator): State<Simulator>, Json(close): Json<CloseRequest>) -> Json<Value> {
    if let Some(change) = close.edit
        && let Some(session) = simulator.state().session_of(&close.connection)
    {
        // Text typed immediately before the close. If it may not be changed any more it is lost, as in every editor.
        let _rejected = change.apply(session, &close.connection);
    }
    let Some(delivered) = simulator.disconnect(&close.connection, Disconnect::Clean) else {
        return Json(json!({"status": null, "accepted": false}));
    };
    if !close.wait {
        return Json(json!({"status": null, "accepted": false}));
    }
    Json(match delivered.await {
        Ok(delivery) => json!({"status": delivery.status, "accepted": delivery.accepted}),
        Err(_) => json!({"status": null, "accepted": false}),
    })
}

pub(crate) async fn abandon(State(simulator): State<Simulator>, Json(query): Json<ConnectionQuery>) -> StatusCode {
    let _receiver_dropped = simulator.disconnect(&query.connection, Disconnect::Lost);
    StatusCode::NO_CONTENT
}

pub(crate) async fn press_save_button(
    State(simulator): State<Simulator>,
    Json(query): Json<ConnectionQuery>,
) -> ApiResult<Value> {
    let (key, user) = {
        let mut state = simulator.state();
        let session = state.session_of(&query.connection).ok_or_else(unknown_connection)?;
        let key = session.key.clone();
        let member = session
            .member(&query.connection)
            .filter(|member| member.edit && member.present);
        (key, member.ok_or_else(unknown_connection)?.user.clone())
    };
    Ok(Json(
        json!({"error": simulator.force_save(&key, ForceSaveTrigger::Button(user))}),
    ))
}

pub(crate) async fn faults(State(simulator): State<Simulator>) -> Response {
    Json(simulator.faults().get()).into_response()
}

pub(crate) async fn set_faults(State(simulator): State<Simulator>, Json(part): Json<Value>) -> Response {
    match simulator.faults().merge(&part) {
        Ok(faults) => Json(faults).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

pub(crate) async fn clear_faults(State(simulator): State<Simulator>) -> StatusCode {
    simulator.faults().clear();
    StatusCode::NO_CONTENT
}

pub(crate) async fn crash(State(simulator): State<Simulator>) -> StatusCode {
    simulator.crash();
    StatusCode::NO_CONTENT
}

pub(crate) async fn release(State(simulator): State<Simulator>) -> StatusCode {
    simulator.faults().release();
    StatusCode::NO_CONTENT
}

pub(crate) async fn callbacks(State(simulator): State<Simulator>) -> Response {
    Json(simulator.callbacks()).into_response()
}

pub(crate) async fn requests(State(simulator): State<Simulator>) -> Response {
    Json(simulator.requests()).into_response()
}
