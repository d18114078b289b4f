//! Fault injection.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::time::Duration;

use document_server_simulator::{DownloadFault, DuplicateDelivery, Outage, SimulatorSettings, client, read_document};
use serde_json::{Value, json};

use crate::support::{SECRET, TIMEOUT, TestServer, fetch};

async fn saved(server: &TestServer) -> Value {
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    ben.close().await.unwrap();
    server.wait_for_status(2).await.body["url"].clone()
}

#[tokio::test]
async fn signed_url_covers_path_and_expiry_but_not_host() {
    let server = TestServer::new().await;
    let url = saved(&server).await;
    let text = url.as_str().unwrap();
    let localhost = text.replace("127.0.0.1", "localhost");
    assert_eq!(fetch(&json!(localhost)).await.status(), 200);
    assert_eq!(fetch(&json!(text.replace("md5=", "md5=0"))).await.status(), 403);
    assert_eq!(fetch(&json!(text.replace("expires=", "expires=1"))).await.status(), 403);
    let server = TestServer::with(SimulatorSettings {
        link_lifetime: Duration::ZERO,
        ..SimulatorSettings::quick(SECRET)
    })
    .await;
    assert_eq!(fetch(&saved(&server).await).await.status(), 410);
}

#[tokio::test]
async fn download_faults_are_injected() {
    let server = TestServer::new().await;
    let url = saved(&server).await;
    let faults = server.simulator.faults();
    let corrupt = |fault| faults.update(|faults| faults.download = Some(fault));
    for status in [404, 500] {
        corrupt(DownloadFault::Status(status));
        assert_eq!(fetch(&url).await.status(), status);
    }
    corrupt(DownloadFault::Status(302));
    assert!(fetch(&url).await.headers().contains_key("location"));
    corrupt(DownloadFault::Html);
    assert!(fetch(&url).await.text().await.unwrap().contains("<p>"));
    corrupt(DownloadFault::Truncated);
    assert!(fetch(&url).await.bytes().await.is_err());
    corrupt(DownloadFault::Oversized(3_000_000));
    assert_eq!(fetch(&url).await.bytes().await.unwrap().len(), 3_000_000);
    corrupt(DownloadFault::Endless);
    let mut endless = fetch(&url).await;
    for _ in 0..100 {
        assert!(endless.chunk().await.unwrap().is_some());
    }
    drop(endless);
    corrupt(DownloadFault::Slow(1));
    faults.update(|faults| faults.download_times = Some(1));
    assert_eq!(fetch(&url).await.status(), 200);
    assert_eq!(fetch(&url).await.status(), 200);
    let requests = server.simulator.requests();
    assert!(
        requests
            .iter()
            .any(|request| request.what == "result" && request.answer == 404)
    );
}

#[tokio::test]
async fn callbacks_are_duplicated_and_reordered() {
    let server = TestServer::new().await;
    let faults = server.simulator.faults();
    let ben = server.open("d-1", "ben").await;
    ben.type_text("one").await.unwrap();
    faults.update(|faults| faults.hold = vec![6]);
    assert_eq!(ben.press_save().await.unwrap(), 0);
    ben.type_text("two").await.unwrap();
    faults.update(|faults| faults.duplicate = Some(DuplicateDelivery::Parallel));
    ben.close().await.unwrap();
    assert_eq!(server.statuses(), [1, 2, 2]);
    faults.update(|faults| faults.duplicate = Some(DuplicateDelivery::Sequential));
    faults.wait_until_held(1).await;
    faults.release();
    let second = |sent: &document_server_simulator::SentCallback| sent.status == 6;
    server.simulator.wait_for_callback(second, TIMEOUT).await.unwrap();
    while server.statuses().len() < 5 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        server.statuses(),
        [1, 2, 2, 6, 6],
        "the older save comes after the final one"
    );
}

#[tokio::test]
async fn lost_response_is_retried() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    server.wait_for_status(1).await;
    server.simulator.faults().update(|faults| faults.lost_responses = 1);
    assert!(ben.close().await.unwrap().accepted);
    assert_eq!(server.statuses(), [1, 2, 2]);
}

#[tokio::test]
async fn spoofed_host_and_wrong_filetype_are_sent() {
    let server = TestServer::new().await;
    let spoof = [("X-Forwarded-Host", "evil.example")];
    let ben = client::open_with_headers(&server.simulator.url(), &server.config("d-1", "ben"), &spoof)
        .await
        .unwrap();
    ben.type_text("x").await.unwrap();
    server
        .simulator
        .faults()
        .update(|faults| faults.wrong_filetype = Some("odt".into()));
    ben.close().await.unwrap();
    let save = server.callbacks().pop().unwrap();
    assert!(
        save["url"]
            .as_str()
            .unwrap()
            .starts_with("http://evil.example/cache/files/")
    );
    assert_eq!(save["filetype"], "odt");
}

#[tokio::test]
async fn crash_sends_no_callback_and_keeps_changes() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" before").await.unwrap();
    server.wait_for_status(1).await;
    server.simulator.crash();
    assert!(ben.type_text(" after").await.is_err());
    assert_eq!(ben.close().await.unwrap().status, None);
    assert_eq!(server.statuses(), [1]);
    let again = server.open("d-1", "mia").await;
    assert!(again.may_edit());
    assert_eq!(again.close().await.unwrap().status, Some(2));
    let save = server.callbacks().pop().unwrap();
    assert_eq!(save["users"], json!(["ben"]), "the last author is still known");
    let file = fetch(&save["url"]).await.bytes().await.unwrap();
    assert_eq!(read_document(&file).unwrap().1, ["Title before"]);
}

#[tokio::test]
async fn outage_refuses_connections_and_port_is_reused() {
    let server = TestServer::new().await;
    let health = format!("{}/healthcheck", server.simulator.url());
    let client = reqwest::Client::new();
    let get = async || client.get(&health).send().await;
    assert_eq!(get().await.unwrap().text().await.unwrap(), "true");
    server.simulator.faults().update(|faults| faults.unhealthy = true);
    assert_eq!(get().await.unwrap().text().await.unwrap(), "false");
    server
        .simulator
        .faults()
        .update(|faults| faults.down = Some(Outage::Unavailable));
    assert_eq!(get().await.unwrap().status(), 503);
    server
        .simulator
        .faults()
        .update(|faults| faults.down = Some(Outage::Refuse));
    // The listener closes asynchronously.
    while get().await.is_ok() {}
    server.simulator.faults().clear();
    while get().await.is_err() {}
    assert_eq!(get().await.unwrap().text().await.unwrap(), "true");
}

#[tokio::test]
async fn forgotten_save_is_not_sent() {
    let server = TestServer::new().await;
    server.simulator.faults().update(|faults| faults.forgets_saves = true);
    let ben = server.open("d-1", "ben").await;
    ben.type_text("x").await.unwrap();
    server.wait_for_status(1).await;
    ben.close().await.unwrap();
    assert_eq!(server.statuses(), [1]);
    assert_eq!(server.simulator.forgotten_keys(), ["d-1"]);
}

#[tokio::test]
async fn faults_and_log_are_available_over_http() {
    let server = TestServer::new().await;
    let client = reqwest::Client::new();
    let url = |path: &str| format!("{}/practice/{path}", server.simulator.url());
    let set = client
        .post(url("faults"))
        .json(&json!({"download": {"status": 500}}))
        .send()
        .await
        .unwrap();
    assert_eq!(set.json::<Value>().await.unwrap()["download"], json!({"status": 500}));
    assert_eq!(fetch(&saved(&server).await).await.status(), 500);
    client.delete(url("faults")).send().await.unwrap();
    let faults: Value = client.get(url("faults")).send().await.unwrap().json().await.unwrap();
    assert_eq!(faults["download"], Value::Null);
    let listed: Vec<Value> = client.get(url("callbacks")).send().await.unwrap().json().await.unwrap();
    assert_eq!(
        (&listed[1]["status"], &listed[1]["answerStatus"]),
        (&json!(2), &json!(200))
    );
}

#[tokio::test]
async fn stop_frees_port() {
    let server = TestServer::new().await;
    let address = server.simulator.address();
    server.simulator.stop().await;
    assert!(std::net::TcpListener::bind(address).is_ok());
}
