//! States in which a real server loses text: unsent text, a restart with changes, a dropped forced save.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use document_server_simulator::Faults;
use serde_json::json;

use crate::support::{PATIENCE, World, fetch};

#[tokio::test]
async fn removed_editor_loses_what_it_has_not_sent() {
    let world = World::new().await;
    // No interval elapses within this test.
    world.simulator.set_faults(Faults {
        autosave_gap: Some(600_000),
        ..Faults::default()
    });
    let ben = world.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    assert!(ben.has_unsent_changes());
    assert_eq!(ben.text().await.unwrap(), "Title");
    assert_eq!(world.command("forcesave", "d-1").await["error"], 4);
    ben.remove().await.unwrap();
    world.sent(4).await;
    assert_eq!(
        world.statuses(),
        [1, 4],
        "the server sees a connection that ends, and no change"
    );
}

#[tokio::test]
async fn editor_with_a_gap_sends_when_it_is_over() {
    let world = World::new().await;
    world.simulator.set_faults(Faults {
        autosave_gap: Some(20),
        ..Faults::default()
    });
    let ben = world.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    let sending = async {
        while ben.has_unsent_changes() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, sending).await.unwrap();
    assert_eq!(ben.text().await.unwrap(), "Title typed");
}

#[tokio::test]
async fn restart_with_changes_answers_nothing_new_and_the_next_opening_brings_them() {
    let world = World::new().await;
    let ben = world.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    world.sent(1).await;
    world.simulator.crash();
    let info = world.command("info", "d-1").await;
    assert_eq!((&info["error"], &info["users"]), (&json!(0), &json!([])));
    assert_eq!(world.command("forcesave", "d-1").await["error"], 4);
    let mia = world.open("d-1", "mia").await;
    assert_eq!(mia.text().await.unwrap(), "Title typed");
    assert_eq!(
        world.command("forcesave", "d-1").await["error"],
        4,
        "still in memory only"
    );
    mia.type_text(" more").await.unwrap();
    assert_eq!(world.command("forcesave", "d-1").await["error"], 0);
    let forced = world.sent(6).await;
    let file = fetch(&forced.body["url"]).await.bytes().await.unwrap();
    let text = document_server_simulator::read_document(&file).unwrap().1;
    assert_eq!(text, ["Title typed more"]);
}

#[tokio::test]
async fn forced_result_is_dropped_when_the_session_ends_while_it_is_assembled() {
    let world = World::new().await;
    let ben = world.open("d-1", "ben").await;
    ben.type_text(" typed").await.unwrap();
    world.simulator.faults().update(|faults| faults.forced_assembly = 500);
    assert_eq!(world.command("forcesave", "d-1").await["error"], 0);
    let closed = ben.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    let forced = world
        .simulator
        .wait_for_callback(|sent| sent.status == 6, std::time::Duration::from_millis(900));
    assert!(forced.await.is_none(), "only the final save came");
    let saved = world.sent(2).await;
    let at = saved.body["lastsave"].as_str().unwrap();
    assert_eq!(at.rsplit('.').next(), Some("000Z"), "whole seconds: {at}");
}
