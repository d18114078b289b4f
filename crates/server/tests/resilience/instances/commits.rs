//! One document in the built-in editor, written at several instances at once.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{client_at, people};
use test_support::instances::Instances;
use test_support::samples::commit;
use test_support::topics::group;
use test_support::{SocketListener, clients_are_installed, size};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn writers_at_different_instances_converge() {
    let Some(mut instances) = Instances::start(2, &[]).await else {
        return;
    };
    let world = people(&instances).await;
    let ada = client_at(instances.base(0), &world.ada);
    let rivers = group(&ada, &world.seven_b, &[&world.ben, &world.cem], json!({})).await;
    let room = ada.get(&format!("/groups/{rivers}")).await.expect(200)["workRoomId"].clone();
    let documents = format!("/workrooms/{}/documents", room.as_str().unwrap());
    let new = json!({"title": "Report", "documentType": "word"});
    let document = ada.post(&documents, new).await.expect(201)["id"].clone();
    let document = format!("/workrooms/documents/{}", document.as_str().unwrap());
    let pages = [
        client_at(instances.base(0), &world.ben),
        client_at(instances.base(1), &world.cem),
    ];
    for page in &pages {
        page.get(&format!("{document}/content")).await.expect(200);
    }
    let mut socket = if clients_are_installed() {
        let mut socket = SocketListener::connect_at(instances.base(1), &world.cem).await;
        let id = document.rsplit('/').next().unwrap();
        let open = json!(["document:open", {"documentId": id, "generation": 1, "clientId": "cem"}]);
        socket.emit(open).await;
        assert_eq!(socket.expect("ack").await, json!({"joined": true}));
        Some(socket)
    } else {
        None
    };
    let rounds = size(20, 500);
    for round in 0..rounds {
        let sending = pages.iter().enumerate().map(|(at, page)| {
            let text = format!("<{at}-{round}>");
            let (path, body) = (
                format!("{document}/commits"),
                commit(1, &format!("r{at}-{round}"), 0, &text),
            );
            async move { page.post(&path, body).await.expect(200)["outcome"].clone() }
        });
        assert!(join_all(sending).await.iter().all(|outcome| outcome == "COMMITTED"));
    }
    let texts = join_all(
        pages
            .iter()
            .map(|page| async { page.get(&format!("{document}/content")).await.expect(200)["doc"].to_string() }),
    );
    let texts: Vec<String> = texts.await;
    assert_eq!(texts[0], texts[1]);
    for (at, round) in (0..2).flat_map(|at| (0..rounds).map(move |round| (at, round))) {
        assert_eq!(texts[0].matches(&format!("<{at}-{round}>")).count(), 1, "{at} {round}");
    }
    if let Some(socket) = &mut socket {
        // The events of both instances arrive, without a gap.
        let mut version = 0;
        while version < 2 * rounds {
            let event = socket.expect("document:commits").await;
            for commit in event["commits"].as_array().unwrap() {
                version += 1;
                assert_eq!(commit["version"], json!(version));
            }
        }
    }
    // An instance that dies loses nothing that was acknowledged.
    instances.kill(0);
    let left: Value = pages[1].get(&format!("{document}/content")).await.expect(200);
    assert_eq!(left["doc"].to_string(), texts[0]);
    instances.restart(0).await;
    instances.close().await;
}
