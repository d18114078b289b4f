//! States in which a real server loses text: unsent text, a restart with changes, a dropped forced save.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::time::{Duration, Instant};

use document_server_simulator::Faults;
use serde_json::json;

use crate::support::{TIMEOUT, TestServer, fetch, run_within};

#[tokio::test]
async fn removed_editor_loses_unsent_text() {
    let server = TestServer::new().await;
    // No interval elapses within this test.
    server.simulator.set_faults(Faults {
        autosave_gap: Some(600_000),
        ..Faults::default()
    });
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    assert!(ben.has_unsent_changes());
    assert_eq!(ben.text().await.unwrap(), "Title");
    assert_eq!(server.command("forcesave", "d-1").await["error"], 4);
    ben.remove().await.unwrap();
    server.wait_for_status(4).await;
    assert_eq!(
        server.statuses(),
        [1, 4],
        "the server sees a connection that ends, and no change"
    );
}

#[tokio::test]
async fn editor_with_autosave_gap_sends_after_gap() {
    let server = TestServer::new().await;
    server.simulator.set_faults(Faults {
        autosave_gap: Some(20),
        ..Faults::default()
    });
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    let sending = async {
        while ben.has_unsent_changes() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, sending).await.unwrap();
    assert_eq!(ben.text().await.unwrap(), "Title typed");
}

#[tokio::test]
async fn forcesave_after_restart_returns_no_changes_until_next_edit() {
    let server = TestServer::new().await;
    let ben = server.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    server.wait_for_status(1).await;
    server.simulator.crash();
    let info = server.command("info", "d-1").await;
    assert_eq!((&info["error"], &info["users"]), (&json!(0), &json!([])));
    assert_eq!(server.command("forcesave", "d-1").await["error"], 4);
    let mia = server.open("d-1", "mia").await;
    assert_eq!(mia.text().await.unwrap(), "Title typed");
    assert_eq!(
        server.command("forcesave", "d-1").await["error"],
        4,
        "still in memory only"
    );
    mia.type_text(" more").await.unwrap();
    assert_eq!(server.command("forcesave", "d-1").await["error"], 0);
    let forced = server.wait_for_status(6).await;
    let file = fetch(&forced.body["url"]).await.bytes().await.unwrap();
    let text = document_server_simulator::read_document(&file).unwrap().1;
    assert_eq!(text, ["Title typed more"]);
}

#[tokio::test]
async fn forced_save_is_dropped_if_session_ends_during_assembly() {
    let server = TestServer::new().await;
    server
        .simulator
        .faults()
        .update(|faults| faults.forced_assembly = 3_000);
    let (key, closed) = run_within(Duration::from_secs(3), async |key| {
        let ben = server.open(key, "ben").await;
        ben.type_text(" typed").await.unwrap();
        let started = Instant::now();
        assert_eq!(server.command("forcesave", key).await["error"], 0);
        let closed = ben.close().await.unwrap();
        (started.elapsed(), closed)
    })
    .await;
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    let forced = server
        .simulator
        .wait_for_callback(|sent| sent.key == key && sent.status == 6, Duration::from_millis(3_500));
    assert!(forced.await.is_none(), "only the final save came");
    let saved = server
        .simulator
        .wait_for_callback(|sent| sent.key == key && sent.status == 2, TIMEOUT)
        .await
        .unwrap();
    let at = saved.body["lastsave"].as_str().unwrap();
    assert_eq!(at.rsplit('.').next(), Some("000Z"), "whole seconds: {at}");
}
