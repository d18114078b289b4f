//! The command service and its token checks.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use serde_json::{Value, json};

use crate::support::{SECRET, TestServer, sign, sign_with, unix_time};

async fn raw(server: &TestServer, path: &str, header: Option<String>, body: Value) -> Value {
    let mut request = reqwest::Client::new()
        .post(format!("{}{path}", server.simulator.url()))
        .json(&body);
    if let Some(token) = header {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200, "errors are numbers, never statuses");
    response.json().await.unwrap()
}

#[tokio::test]
async fn command_parameters_come_from_token_in_body_or_header() {
    let server = TestServer::new().await;
    let version = json!({"c": "version"});
    let body = json!({"token": sign(version.clone())});
    assert_eq!(raw(&server, "/command", None, body).await["error"], 0);
    let header = sign(json!({"payload": version}));
    assert_eq!(
        raw(&server, "/command?shardkey=k", Some(header.clone()), json!({})).await["error"],
        0
    );
    let old_path = "/coauthoring/CommandService.ashx";
    assert!(raw(&server, old_path, Some(header), json!({})).await["version"].is_string());
    assert_eq!(
        raw(&server, "/command", None, json!({"c": "version"})).await["error"],
        6
    );
    let wrong = sign_with(
        json!({"c": "version"}),
        "another secret of more than thirty bytes",
        unix_time() + 60,
    );
    assert_eq!(
        raw(&server, "/command", None, json!({"token": wrong})).await["error"],
        6
    );
    let old = sign_with(json!({"c": "version"}), SECRET, unix_time() - 120);
    assert_eq!(raw(&server, "/command", None, json!({"token": old})).await["error"], 7);
    let other = json!({"token": sign(json!({"c": "nonsense"})), "c": "version"});
    assert_eq!(raw(&server, "/command", None, other).await["error"], 5);
}

#[tokio::test]
async fn info_returns_editors_and_sends_callback() {
    let server = TestServer::new().await;
    assert_eq!(server.command("info", "d-1").await["error"], 1);
    let ben = server.open("d-1", "ben").await;
    let info = server.command("info", "d-1").await;
    assert_eq!((&info["users"], &info["key"]), (&json!(["ben"]), &json!("d-1")));
    ben.close().await.unwrap();
    assert_eq!(server.statuses(), [1, 1, 4]);
    assert!(
        server.callbacks()[1].get("actions").is_none(),
        "requested by a command, not caused by a user"
    );
}

#[tokio::test]
async fn dropped_editors_become_read_only_and_changes_are_saved() {
    let server = TestServer::new().await;
    let (ben, mia) = (server.open("d-1", "ben").await, server.open("d-1", "mia").await);
    ben.type_text(" before").await.unwrap();
    let one = json!({"c": "drop", "key": "d-1", "users": ["ben"]});
    assert_eq!(server.post_signed("/command", one).await["error"], 0);
    assert!(ben.type_text(" after").await.is_err());
    assert!(ben.view().await.unwrap().dropped.is_some());
    assert_eq!(ben.text().await.unwrap(), "Title before", "it stays readable");
    mia.type_text(" mia").await.unwrap();
    assert_eq!(server.command("drop", "d-1").await["error"], 0);
    assert_eq!(server.wait_for_status(2).await.body["users"], json!(["mia"]));
    assert_eq!(server.command("drop", "unknown-key").await["error"], 0);
}

#[tokio::test]
async fn client_that_ignores_drop_still_saves() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    server.simulator.faults().update(|faults| faults.ignores_drop = true);
    assert_eq!(server.command("drop", "d-1").await["error"], 0);
    ben.type_text(" late").await.unwrap();
    assert_eq!(ben.close().await.unwrap().status, Some(2));
}

#[tokio::test]
async fn forcesave_returns_unknown_busy_or_injected_error() {
    let server = TestServer::new().await;
    assert_eq!(server.command("forcesave", "d-1").await["error"], 1);
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    server.simulator.faults().update(|faults| faults.hold = vec![2]);
    ben.leave().await.unwrap();
    assert_eq!(
        server.command("forcesave", "d-1").await["error"],
        3,
        "it races with a closing session"
    );
    server.simulator.faults().wait_until_held(1).await;
    server.simulator.faults().clear();
    server.wait_for_status(2).await;
    server
        .simulator
        .faults()
        .update(|faults| faults.forcesave_response = Some(3));
    assert_eq!(server.command("forcesave", "d-9").await["error"], 3);
}

#[tokio::test]
async fn meta_renames_an_open_document() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    let rename = json!({"c": "meta", "key": "d-1", "meta": {"title": "Other.docx"}});
    assert_eq!(server.post_signed("/command", rename).await["error"], 0);
    assert_eq!(ben.view().await.unwrap().title, "Other.docx");
}
