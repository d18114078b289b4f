//! Opening, concurrent editing and closing.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::time::{Duration, Instant};

use document_server_simulator::{DocumentKind, SentCallback, SimulatorSettings, client, read_document};
use serde_json::json;

use crate::support::{SECRET, TIMEOUT, TestServer, fetch, run_within, sign_config, sign_with, unix_time};

#[tokio::test]
async fn closing_after_changes_saves_valid_docx() {
    let server = TestServer::new().await;
    let editor = server.open("d-1", "ben").await;
    assert!(editor.may_edit());
    assert_eq!(editor.text().await.unwrap(), "Title");
    editor.type_text("!\nHello Grüße & more").await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    assert_eq!(server.statuses(), [1, 2]);
    assert_eq!(server.downloads(), [format!("{}/file/d-1", server.base)]);
    let save = &server.callbacks()[1];
    assert_eq!(save["users"], json!(["ben"]));
    assert_eq!(save["actions"], json!([{"type": 0, "userid": "ben"}]));
    assert_eq!(save["notmodified"], false);
    assert_eq!(save["filetype"], "docx");
    assert_eq!(save["history"]["changes"][0]["user"]["name"], "BEN");
    assert!(save["lastsave"].as_str().unwrap().ends_with('Z'));
    let file = fetch(&save["url"]).await;
    assert_eq!(file.status(), 200);
    let disposition = file.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(disposition.starts_with("attachment"), "{disposition}");
    let (kind, lines) = read_document(&file.bytes().await.unwrap()).unwrap();
    assert_eq!(kind, DocumentKind::Word);
    assert_eq!(lines, ["Title!", "Hello Grüße & more"]);
    assert_eq!(fetch(&save["changesurl"]).await.status(), 200);
}

#[tokio::test]
async fn last_editor_of_shared_session_saves() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    let mia = server.open("d-1", "mia").await;
    ben.type_text(" by Ben").await.unwrap();
    mia.type_text(" and Mia").await.unwrap();
    assert_eq!(ben.text().await.unwrap(), "Title by Ben and Mia");
    assert_eq!(ben.view().await.unwrap().people, ["BEN", "MIA"]);
    assert_eq!(ben.close().await.unwrap().status, Some(1));
    assert_eq!(mia.close().await.unwrap().status, Some(2));
    assert_eq!(server.statuses(), [1, 1, 1, 2]);
    assert_eq!(server.downloads().len(), 1, "the document is fetched once for each key");
    let callbacks = server.callbacks();
    assert_eq!(callbacks[1]["users"], json!(["ben", "mia"]));
    assert_eq!(callbacks[2]["users"], json!(["mia"]));
    assert_eq!(callbacks[2]["to"], "ben", "the acting user's address is called");
    assert_eq!(
        (&callbacks[3]["to"], &callbacks[3]["users"]),
        (&json!("mia"), &json!(["mia"]))
    );
}

#[tokio::test]
async fn closing_without_changes_sends_status_4_and_keeps_key() {
    let server = TestServer::new().await;
    assert_eq!(server.open("d-1", "ben").await.close().await.unwrap().status, Some(4));
    let again = server.open("d-1", "ben").await;
    assert!(again.may_edit() && !again.opened.update_version);
    assert_eq!(server.downloads().len(), 1, "the old content comes from the cache");
}

#[tokio::test]
async fn viewers_send_no_callbacks_and_delay_no_save() {
    let server = TestServer::new().await;
    let mut config = server.plain_config("d-1", "zoe");
    config["editorConfig"]["mode"] = json!("view");
    let zoe = client::open(&server.simulator.url(), &sign_config(config))
        .await
        .unwrap();
    assert!(!zoe.may_edit());
    assert!(zoe.type_text("no").await.is_err());
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    assert_eq!(ben.close().await.unwrap().status, Some(2));
    assert_eq!(zoe.close().await.unwrap().status, None);
    assert_eq!(server.statuses(), [1, 2]);
}

#[tokio::test]
async fn saved_key_opens_old_content_read_only() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" new").await.unwrap();
    ben.close().await.unwrap();
    let again = server.open("d-1", "ben").await;
    assert!(again.opened.update_version && !again.may_edit());
    assert_eq!(again.text().await.unwrap(), "Title");
}

#[tokio::test]
async fn disconnected_editor_may_reconnect_before_save() {
    let save_delay = Duration::from_secs(1);
    let server = TestServer::with(SimulatorSettings {
        time_scale: 0.2,
        ..SimulatorSettings::new(SECRET)
    })
    .await;
    let (key, back) = run_within(save_delay, async |key| {
        let ben = server.open(key, "ben").await;
        ben.type_text(" kept").await.unwrap();
        let started = Instant::now();
        ben.abandon().await.unwrap();
        let back = server.open(key, "ben").await;
        (started.elapsed(), back)
    })
    .await;
    assert_eq!(back.text().await.unwrap(), "Title kept");
    let is_saved = |sent: &SentCallback| sent.key == key && sent.status == 2;
    // Longer than the delay of the first disconnect, which must not end the resumed session.
    let early = server.simulator.wait_for_callback(is_saved, save_delay * 2);
    assert!(early.await.is_none());
    back.abandon().await.unwrap();
    let saved = server.simulator.wait_for_callback(is_saved, TIMEOUT).await.unwrap();
    assert_eq!(saved.attempt, 1);
    assert_eq!(server.statuses_of(&key), [1, 1, 2]);
}

#[tokio::test]
async fn editor_above_connection_limit_is_viewer() {
    let server = TestServer::with(SimulatorSettings {
        connection_limit: 2,
        ..SimulatorSettings::quick(SECRET)
    })
    .await;
    let editors = [server.open("d-1", "a").await, server.open("d-2", "b").await];
    assert!(editors.iter().all(client::OpenEditor::may_edit));
    assert!(!server.open("d-1", "c").await.may_edit());
    assert_eq!(server.command("info", "d-1").await["users"], json!(["a"]));
}

#[tokio::test]
async fn configuration_without_valid_token_is_rejected() {
    let server = TestServer::new().await;
    let url = server.simulator.url();
    let plain = server.plain_config("d-1", "ben");
    let refused = async |config: &serde_json::Value| match client::open(&url, config).await {
        Err(client::ClientError::Rejected(error)) => error.code,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refused(&plain).await, 4004);
    let mut foreign = plain.clone();
    foreign["token"] = sign_with(
        plain.clone(),
        "another secret of more than thirty bytes",
        unix_time() + 60,
    )
    .into();
    assert_eq!(refused(&foreign).await, 4004);
    let mut old = plain.clone();
    old["token"] = sign_with(plain.clone(), SECRET, unix_time() - 120).into();
    assert_eq!(refused(&old).await, -20);
    let mut raised = server.config("d-1", "ben");
    raised["document"]["permissions"]["comment"] = json!(true);
    assert_eq!(refused(&raised).await, 4004);
    assert!(server.downloads().is_empty());
}

#[tokio::test]
async fn empty_source_opens_blank_and_missing_source_fails() {
    let server = TestServer::new().await;
    server.store(Vec::new());
    let blank = server.open("d-1", "ben").await;
    blank.type_text("first words").await.unwrap();
    blank.close().await.unwrap();
    let file = fetch(&server.callbacks()[1]["url"]).await.bytes().await.unwrap();
    assert_eq!(read_document(&file).unwrap().1, ["first words"]);
    server.store(b"missing".to_vec());
    let missing = client::open(&server.simulator.url(), &server.config("d-2", "ben")).await;
    assert!(matches!(missing, Err(client::ClientError::Rejected(error)) if error.code == -81));
    server.wait_for_status(4).await;
    assert_eq!(server.statuses(), [1, 2, 1, 4]);
    assert_eq!(
        server.downloads().len(),
        4,
        "a missing document is requested three times"
    );
}
