//! The official clients of better-auth and Socket.IO, held against this service: programs for Node in `tests/clients`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::auth::{PASSWORD, enable};
use crate::support::{FRONTEND, Person, TestApp};

/// Where the programs are, if their packages are installed. Without them the test is skipped loudly, and never in CI.
fn programs() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    if folder.join("node_modules/better-auth").is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var("CI").is_err(),
        "run scripts/setup-tests: the npm clients are required in CI"
    );
    println!("SKIPPED: the npm clients are not installed; scripts/setup-tests does it");
    None
}

async fn world(app: &TestApp) -> Value {
    let world = &app.world;
    let students = [&world.ben, &world.cem, &world.dana, &world.eli];
    for person in [&world.ada, &world.adam, &world.zoe].into_iter().chain(students) {
        enable(app, person).await;
    }
    let login = |person: &Person| json!({"email": person.email, "password": PASSWORD});
    json!({
        "baseUrl": app.base,
        "frontendOrigin": FRONTEND,
        "people": {
            "teacher": login(&world.ada),
            "admin": login(&world.adam),
            "students": students.map(login),
            "stranger": login(&world.zoe),
        },
        // The admin plugin comes later; until then its routes do not exist.
        "adminServed": false,
    })
}

async fn tell(app: &TestApp, program: &str) {
    let Some(folder) = programs() else { return };
    let mut node = tokio::process::Command::new("node");
    node.arg(folder.join(program))
        .arg(world(app).await.to_string())
        .env_remove("NODE_OPTIONS")
        .kill_on_drop(true);
    let output = node.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}:\n{said}");
    assert!(said.starts_with("ok 1 "), "{program} told nothing:\n{said}");
}

both!(the_official_better_auth_client_is_served, |app| {
    tell(app, "better-auth-calls.mjs").await;
});
