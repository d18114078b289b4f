//! The 76 conformance checks of the document server protocol. A test's name begins with the id of its check. Other
//! modules contain long scenarios of saves: every order of five callbacks, bad downloads and hostile callbacks. The tests
//! `builtin_…` are the same checks with the built-in editor; docs/built-in-editor.md lists the checks that cannot apply to
//! it.

mod archive_faults;
mod archives;
mod bad_downloads;
mod callback_orders;
mod callbacks;
mod config;
mod conversions;
mod faults;
mod files;
mod forgotten_saves;
mod freezes;
mod hostile_callbacks;
mod saves;
mod security;
mod states;

use serde_json::json;

use test_support::topics::group;
use test_support::{Client, ServerEnv, ServerProcess, World};

/// Number of checks in each chapter, by the first character of their ids.
const CHECKS: [(char, usize); 8] = [
    ('c', 11),
    ('f', 9),
    ('b', 18),
    ('s', 8),
    ('v', 9),
    ('z', 6),
    ('x', 6),
    ('e', 9),
];

#[test]
fn all_76_checks_have_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/conformance");
    let mut sources = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        sources += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let words: std::collections::BTreeSet<&str> = sources.split(|character| !is_part(character)).collect();
    let ids = CHECKS
        .iter()
        .flat_map(|(mail, count)| (1..=*count).map(move |number| format!("{mail}{number:02}_")));
    let ids: Vec<String> = ids.collect();
    assert_eq!(ids.len(), 76);
    let is_missing = |id: &&String| {
        !words
            .iter()
            .any(|word| word.starts_with(id.as_str()) && word.len() > id.len() + 3)
    };
    let missing: Vec<&String> = ids.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "no test shows {missing:?}");
}

/// Starts the service as its own process. Returns it with a client of its teacher and the path for creating documents.
async fn start_with_work_room(env: &mut ServerEnv) -> (ServerProcess, Client, String) {
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    let group = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
    let rooms = format!("/workrooms/{}/documents", room.as_str().unwrap());
    (service, ada, rooms)
}
