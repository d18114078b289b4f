//! `POST /command`, the command service. Every response is HTTP 200; the error code is in the body.

use std::time::Duration;

use axum::{Json, extract::State, http::HeaderMap};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    callback::OutgoingCallback,
    connections::enqueue,
    results,
    routes::bearer,
    save::{ForceSaveTrigger, SERVER_VERSION},
    session::SessionPhase,
    simulator::Simulator,
    token::{TokenClaims, TokenError},
};

/// Handles `POST /command` and its former URL.
pub(crate) async fn command(State(simulator): State<Simulator>, headers: HeaderMap, body: Bytes) -> Json<Value> {
    let faults = simulator.faults().get();
    let _command = simulator.request_log().start_command();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let parameters = match simulator
        .tokens()
        .request_parameters(&body, bearer(&simulator, &headers))
    {
        Ok(parameters) => parameters,
        Err(error) => {
            let error = if error == TokenError::Expired { 7 } else { 6 };
            simulator.request_log().push_request("command", Value::Null, error);
            return Json(json!({"error": error}));
        }
    };
    let key = parameters.get("key").and_then(Value::as_str).unwrap_or_default();
    let is_affected = faults.command_key.as_deref().is_none_or(|part| key.contains(part));
    if is_affected {
        tokio::time::sleep(Duration::from_millis(faults.command_delay)).await;
    }
    let origin = results::caller_origin(simulator.settings(), &headers);
    let mut answer = match faults.command_error.filter(|_| is_affected) {
        Some(error) => json!({"error": error}),
        None => execute(&simulator, &parameters, &origin),
    };
    if let Some(key) = parameters.get("key") {
        answer["key"] = key.clone();
    }
    let error = answer["error"].as_i64().unwrap_or(0);
    simulator
        .request_log()
        .push_request("command", Value::Object(parameters), error);
    Json(answer)
}

fn execute(simulator: &Simulator, parameters: &TokenClaims, origin: &str) -> Value {
    let text = |name: &str| parameters.get(name).and_then(Value::as_str);
    let key = text("key").unwrap_or_default();
    match text("c").unwrap_or_default() {
        "version" => json!({"error": 0, "version": format!("{SERVER_VERSION}.1")}),
        "license" => license(simulator),
        "info" => info(simulator, key),
        "forcesave" => {
            let trigger = ForceSaveTrigger::Command(parameters.get("userdata").cloned());
            json!({"error": simulator.force_save(key, trigger)})
        }
        "drop" => {
            let users: Option<Vec<String>> = parameters
                .get("users")
                .and_then(|users| serde_json::from_value(users.clone()).ok());
            simulator.drop_editors(key, users.as_deref());
            // Measured on the real server: never an error, even for unknown keys.
            json!({"error": 0})
        }
        "meta" => {
            let title = parameters
                .get("meta")
                .and_then(|meta| meta.get("title"))
                .and_then(Value::as_str);
            match (simulator.state().sessions.get_mut(key), title) {
                (Some(session), Some(title)) => {
                    title.clone_into(&mut session.title);
                    session.notify();
                    json!({"error": 0})
                }
                _ => json!({"error": 1}),
            }
        }
        "getForgottenList" => json!({"error": 0, "keys": simulator.forgotten_keys()}),
        "getForgotten" => {
            let forgotten = simulator.state().forgotten.get(key).cloned();
            forgotten.map_or_else(
                || json!({"error": 1}),
                |forgotten| {
                    let name = format!("output.{}", forgotten.file_type);
                    json!({"error": 0, "url": results::signed_url(simulator, &forgotten.path, origin, &name)})
                },
            )
        }
        "deleteForgotten" => match simulator.state().forgotten.remove(key) {
            Some(forgotten) => {
                simulator.results().remove(&forgotten.path);
                json!({"error": 0})
            }
            None => json!({"error": 1}),
        },
        _ => json!({"error": 5}),
    }
}

/// Returns the editors of a key and sends the same status as a callback.
fn info(simulator: &Simulator, key: &str) -> Value {
    let state = simulator.state();
    let Some(session) = state.sessions.get(key) else {
        return json!({"error": 1});
    };
    let users = session.editor_ids();
    // Changes left by a crash count as editing although no editor is connected.
    let is_changed = session.has_changes() && session.phase != SessionPhase::Finished;
    let status = if users.is_empty() && !is_changed { 4 } else { 1 };
    let mut callback = OutgoingCallback::new(key, status, session.any_callback_url());
    if status == 1 {
        callback = callback.with("users", users.clone());
    }
    enqueue(&session.callback_queue, callback);
    json!({"error": 0, "users": users})
}

fn license(simulator: &Simulator) -> Value {
    let limit = simulator.settings().connection_limit;
    json!({
        "error": 0,
        "license": {"end_date": null, "trial": false, "customization": false, "connections": limit, "connections_view": limit},
        "server": {"resultType": 3, "packageType": 0, "buildVersion": SERVER_VERSION, "buildNumber": 1},
        "quota": {"edit": {"connectionsCount": simulator.state().editors(), "usersCount": {"unique": 0, "anonymous": 0}}},
    })
}
