//! Responses to callbacks, and forced saves.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use document_server_simulator::{Faults, read_document};
use serde_json::json;

use crate::support::{TIMEOUT, TestServer, fetch};

const NO: &str = r#"{"error":1}"#;

#[tokio::test]
async fn temporary_failure_is_retried_with_same_file_and_new_token() {
    let server = TestServer::new().await;
    server.set_responses(&[(200, r#"{"error":0}"#), (500, ""), (503, ""), (429, "")]);
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    assert!(ben.close().await.unwrap().accepted);
    assert_eq!(server.statuses(), [1, 2, 2, 2, 2]);
    let callbacks = server.callbacks();
    assert!(callbacks.iter().skip(1).all(|save| save["url"] == callbacks[1]["url"]));
    assert!(server.simulator.forgotten_keys().is_empty());
}

#[tokio::test]
async fn save_is_forgotten_after_four_failures_and_downloadable() {
    let server = TestServer::new().await;
    server.set_responses(&[(200, r#"{"error":0}"#), (500, ""), (500, ""), (500, ""), (500, "")]);
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    assert!(!ben.close().await.unwrap().accepted);
    assert_eq!(server.statuses().len(), 5);
    assert_eq!(server.command("getForgottenList", "").await["keys"], json!(["d-1"]));
    let forgotten = server.command("getForgotten", "d-1").await;
    let file = fetch(&forgotten["url"]).await.bytes().await.unwrap();
    assert_eq!(read_document(&file).unwrap().1, ["Title typed"]);
    assert_eq!(server.command("deleteForgotten", "d-1").await["error"], 0);
    assert_eq!(server.command("deleteForgotten", "d-1").await["error"], 1);
    assert_eq!(server.command("getForgottenList", "").await["keys"], json!([]));
    assert_eq!(fetch(&forgotten["url"]).await.status(), 404);
}

#[tokio::test]
async fn other_responses_are_not_retried() {
    for answer in [
        (200, NO),
        (200, "OK"),
        (201, r#"{"error":0}"#),
        (204, ""),
        (401, ""),
        (404, ""),
        (302, ""),
    ] {
        let server = TestServer::new().await;
        server.set_responses(&[(200, r#"{"error":0}"#), answer]);
        let ben = server.open("d-1", "ben").await;
        ben.type_text("x").await.unwrap();
        ben.close().await.unwrap();
        assert_eq!(server.statuses(), [1, 2], "{answer:?}");
        assert_eq!(server.simulator.forgotten_keys(), ["d-1"], "{answer:?}");
    }
}

#[tokio::test]
async fn forgotten_file_is_opened_and_removed_by_accepted_save() {
    let server = TestServer::new().await;
    server.set_responses(&[(200, r#"{"error":0}"#), (200, NO)]);
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" one").await.unwrap();
    ben.close().await.unwrap();
    let again = server.open("d-1", "ben").await;
    assert_eq!(again.opened.warnings, [-201]);
    again.type_text(" two").await.unwrap();
    assert!(again.close().await.unwrap().accepted);
    assert_eq!(server.downloads().len(), 1);
    let save = server.callbacks().pop().unwrap();
    assert_eq!(save["history"], json!({}));
    assert!(save.get("changesurl").is_none());
    let file = fetch(&save["url"]).await.bytes().await.unwrap();
    assert_eq!(read_document(&file).unwrap().1, ["Title one two"]);
    assert!(server.simulator.forgotten_keys().is_empty());
}

#[tokio::test]
async fn forced_save_keeps_key() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    assert_eq!(server.command("forcesave", "d-1").await["error"], 4);
    ben.type_text(" forced").await.unwrap();
    server.wait_for_status(1).await;
    let forced = json!({"c": "forcesave", "key": "d-1", "userdata": "lock-7"});
    assert_eq!(server.post_signed("/command", forced).await["error"], 0);
    server.wait_for_status(6).await;
    let six = server.callbacks().pop().unwrap();
    assert_eq!((&six["key"], &six["userdata"]), (&json!("d-1"), &json!("lock-7")));
    assert_eq!((&six["forcesavetype"], &six["notmodified"]), (&json!(0), &json!(false)));
    assert!(six.get("actions").is_none());
    let file = fetch(&six["url"]).await.bytes().await.unwrap();
    assert_eq!(read_document(&file).unwrap().1, ["Title forced"]);
    assert_eq!(server.command("forcesave", "d-1").await["error"], 4);
    assert!(server.open("d-1", "mia").await.may_edit(), "the session goes on");
    assert_eq!(ben.close().await.unwrap().status, Some(1));
}

#[tokio::test]
async fn final_save_after_forced_save_is_notmodified() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    assert_eq!(ben.press_save().await.unwrap(), 0);
    let six = server.wait_for_status(6).await.body;
    assert_eq!(
        (&six["forcesavetype"], &six["actions"][0]["type"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(ben.close().await.unwrap().status, Some(2));
    assert_eq!(server.callbacks().pop().unwrap()["notmodified"], true);
}

#[tokio::test]
async fn rejected_forced_save_is_retried_with_same_file() {
    let server = TestServer::new().await;
    server.set_responses(&[(200, r#"{"error":0}"#), (500, "")]);
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    server.wait_for_status(1).await;
    ben.press_save().await.unwrap();
    let first = server.wait_for_status(6).await;
    assert!(!first.accepted);
    assert_eq!(server.command("forcesave", "d-1").await["error"], 0);
    let second = server
        .simulator
        .wait_for_callback(|sent| sent.status == 6 && sent.accepted, TIMEOUT)
        .await
        .unwrap();
    assert_eq!(path(&first.body["url"]), path(&second.body["url"]));
}

fn path(url: &serde_json::Value) -> String {
    url.as_str().unwrap().split('?').next().unwrap().to_owned()
}

#[tokio::test]
async fn failed_assembly_sends_status_3_and_rejection_keeps_changes() {
    let server = TestServer::new().await;
    server.set_responses(&[(200, r#"{"error":0}"#), (200, NO)]);
    server.simulator.set_faults(Faults {
        assembly_fails: true,
        ..Faults::default()
    });
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" kept").await.unwrap();
    assert_eq!(ben.close().await.unwrap().status, Some(3));
    assert!(server.callbacks()[1].get("url").is_none());
    server.simulator.faults().clear();
    let again = server.open("d-1", "ben").await;
    assert_eq!(again.text().await.unwrap(), "Title kept");
    assert_eq!(again.close().await.unwrap().status, Some(2));
}

#[tokio::test]
async fn accepted_status_3_loses_changes() {
    let server = TestServer::new().await;
    server.simulator.faults().update(|faults| faults.assembly_fails = true);
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" lost").await.unwrap();
    ben.press_save().await.unwrap();
    assert!(server.wait_for_status(7).await.body.get("url").is_none());
    assert_eq!(ben.close().await.unwrap().status, Some(3));
    assert_eq!(server.open("d-1", "ben").await.text().await.unwrap(), "Title");
}

#[tokio::test]
async fn long_history_is_omitted_from_header_token() {
    let server = TestServer::new().await;
    server.simulator.faults().update(|faults| faults.history_padding = 200);
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    ben.close().await.unwrap();
    let sent = server.wait_for_status(2).await;
    assert!(sent.header_token.len() < 7168);
    assert!(sent.body.get("history").is_none() && sent.body.get("changesurl").is_none());
    assert!(sent.body.get("url").is_some());
    let claims = server.callbacks().pop().unwrap();
    assert_eq!(claims["history"]["changes"].as_array().unwrap().len(), 201);
    assert!(claims["changesurl"].is_string());
}
