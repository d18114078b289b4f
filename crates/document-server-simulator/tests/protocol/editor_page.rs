//! The editor page: its files, its event stream and its close request.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use document_server_simulator::{Simulator, SimulatorSettings};
use serde_json::{Value, json};

use crate::support::{SECRET, TestServer};

#[tokio::test]
async fn page_assets_have_strict_content_security_policy() {
    let server = TestServer::new().await;
    let get = async |path: &str| {
        let response = reqwest::get(format!("{}{path}", server.simulator.url())).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert!(
            response.headers()["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("script-src 'self'")
        );
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        (kind, response.text().await.unwrap())
    };
    let (kind, api) = get("/web-apps/apps/api/documents/api.js").await;
    assert!(kind.starts_with("text/javascript") && api.contains("DocsAPI.DocEditor"));
    get("/web-apps/apps/api/documents/preload.html").await;
    let (_, page) = get("/practice/page/editor.html").await;
    assert!(
        !page.contains(" on") && !page.contains("style=") && !page.contains("<style"),
        "nothing inline"
    );
    for file in ["editor.js", "editor.css"] {
        assert!(page.contains(file));
        get(&format!("/practice/page/{file}")).await;
    }
    let (_, script) = get("/practice/page/editor.js").await;
    for module in script.split('\'').filter(|word| word.starts_with("./")) {
        get(&format!("/practice/page/{}", &module[2..])).await;
    }
    let missing = reqwest::get(format!("{}/practice/page/Cargo.toml", server.simulator.url()))
        .await
        .unwrap();
    assert_eq!(missing.status(), 404);
}

async fn stream(server: &TestServer, connection: &str) -> reqwest::Response {
    reqwest::get(format!(
        "{}/practice/events?connection={connection}",
        server.simulator.url()
    ))
    .await
    .unwrap()
}

async fn state(stream: &mut reqwest::Response) -> Value {
    let chunk = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    serde_json::from_str(chunk.strip_prefix("data: ").unwrap().trim()).unwrap()
}

#[tokio::test]
async fn event_stream_sends_changes_and_its_end_disconnects() {
    let server = TestServer::new().await;
    let (ben, mia) = (server.open("d-1", "ben").await, server.open("d-1", "mia").await);
    let mut heard = stream(&server, &ben.opened.connection).await;
    assert_eq!(state(&mut heard).await["people"], json!(["BEN", "MIA"]));
    mia.type_text(" by Mia").await.unwrap();
    assert_eq!(state(&mut heard).await["lines"], json!(["Title by Mia"]));
    drop(heard);
    server
        .simulator
        .wait_for_callback(|sent| sent.body["users"] == json!(["mia"]), crate::support::TIMEOUT)
        .await
        .unwrap();
    let mut back = stream(&server, &ben.opened.connection).await;
    assert_eq!(state(&mut back).await["mode"], "edit");
    assert_eq!(mia.close().await.unwrap().status, Some(1), "Ben is back");
    assert_eq!(stream(&server, "unknown").await.status(), 204);
}

#[tokio::test]
async fn close_request_saves_last_edit_and_skips_save_delay() {
    // The save delay is 50 seconds, and the assembly of the save takes 3 seconds.
    let server = TestServer::with(SimulatorSettings {
        time_scale: 10.0,
        ..SimulatorSettings::new(SECRET)
    })
    .await;
    let ben = server.open("d-1", "ben").await;
    let page = stream(&server, &ben.opened.connection).await;
    drop(page);
    let edit = json!({"revision": 0, "start": 0, "removed": 1, "lines": ["Last words"]});
    let goodbye = json!({"connection": ben.opened.connection, "edit": edit});
    let url = format!("{}/practice/close", server.simulator.url());
    let begun = std::time::Instant::now();
    let closed: Value = reqwest::Client::new()
        .post(url)
        .json(&goodbye)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(closed["status"], 2);
    assert!(
        begun.elapsed().as_secs() < 40,
        "the delay for lost networks does not apply"
    );
}

#[tokio::test]
async fn router_can_be_nested() {
    let simulator = Simulator::new(SimulatorSettings {
        public_url: Some("http://school.test/docs".into()),
        ..SimulatorSettings::quick(SECRET)
    });
    let app = axum::Router::new().nest("/docs", simulator.router());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/docs", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    assert_eq!(
        reqwest::get(format!("{base}/healthcheck"))
            .await
            .unwrap()
            .text()
            .await
            .unwrap(),
        "true"
    );
    let server = TestServer::new().await;
    let editor = document_server_simulator::client::open(&base, &server.config("d-1", "ben"))
        .await
        .unwrap();
    editor.type_text("x").await.unwrap();
    editor.close().await.unwrap();
    let url = server.callbacks().pop().unwrap()["url"].as_str().unwrap().to_owned();
    let rebased = url.replace("http://school.test/docs", &base);
    assert_ne!(url, rebased);
    assert_eq!(reqwest::get(rebased).await.unwrap().status(), 200);
}
