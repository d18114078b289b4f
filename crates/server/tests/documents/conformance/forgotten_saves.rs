//! Check E1: the document server keeps saves that the service could not accept, and the sweep recovers them.

use std::time::{Duration, Instant};

use document_server_simulator::{DownloadFault, Faults, Simulator, SimulatorSettings, client};
use groupwork::bootstrap::build_app;
use serde_json::json;

use test_support::app::DOCSERVER_SECRET;
use test_support::document_server_fixture::{DocumentServerFixture, eventually, path, words};
use test_support::fake_document_server::sign;
use test_support::rows::{execute, texts};
use test_support::topics::{group, id, topic};
use test_support::{Client, DatabaseKind, ServerEnv, TestApp, World};

/// Leaves a save at the document server that no callback delivered.
async fn write_forgotten_save(fixture: &DocumentServerFixture, document: &str, text: &str) {
    let editor = fixture.open(&fixture.app.world.ben, document).await;
    editor.type_text(text).await.unwrap();
    fixture.server.faults().update(|faults| faults.forgets_saves = true);
    assert!(!editor.close().await.unwrap().accepted);
    fixture.server.faults().update(|faults| faults.forgets_saves = false);
}

with_document_server!(e01_forgotten_save_is_recovered, |fixture| {
    let document = fixture.document("Our page").await;
    let key = fixture.key(&document).await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("While nobody listened.").await.unwrap();
    fixture.server.set_faults(Faults {
        forgets_saves: true,
        ..Faults::default()
    });
    assert!(!editor.close().await.unwrap().accepted);
    fixture.server.faults().clear();
    assert_eq!(fixture.server.forgotten_keys().first(), Some(&key));
    assert_eq!(fixture.get_document(&document).await["version"], 0);

    fixture.app.app.document_workflows().reconcile_once().await;
    assert!(fixture.text(&document).await.contains("While nobody listened."));
    assert_eq!(fixture.server.forgotten_keys(), Vec::<String>::new());
    assert_ne!(fixture.key(&document).await, key);
    fixture.app.app.document_workflows().reconcile_once().await;
    assert_eq!(fixture.origins(&document).await, ["EDITOR"]);
});

with_document_server!(e01_failed_recovery_blocks_no_other_and_foreign_saves_stay, |fixture| {
    let mut documents = Vec::new();
    for number in 0..4 {
        let document = fixture.document(&format!("Page {number}")).await;
        write_forgotten_save(fixture, &document, &format!("Words {number}.")).await;
        documents.push(document);
    }
    // Another installation also has an undelivered save: under a key that only looks like ours, and under a foreign
    // key.
    let own = fixture.document("Template").await;
    for key in ["0192aaaa-0000-7000-8000-000000000000-3", "moodle_7_1699999999"] {
        let mut config = fixture.configuration(&fixture.app.world.ben, &own).await;
        config["document"]["key"] = json!(key);
        config["editorConfig"]["callbackUrl"] = json!("http://127.0.0.1:9/gone");
        config.as_object_mut().unwrap().remove("token");
        config["token"] = json!(sign(config.clone()));
        let editor = client::open(&fixture.server.url(), &config).await.unwrap();
        editor.type_text("Not ours.").await.unwrap();
        assert!(!editor.close().await.unwrap().accepted);
    }
    assert_eq!(fixture.server.forgotten_keys().len(), 6);
    // The first download fails on every attempt in this sweep.
    fixture.server.set_faults(Faults {
        download: Some(DownloadFault::Html),
        download_times: Some(3),
        ..Faults::default()
    });
    fixture.app.app.document_workflows().reconcile_once().await;
    assert_eq!(
        fixture.server.forgotten_keys().len(),
        3,
        "one of ours waits, and both foreign ones"
    );
    fixture.server.faults().clear();
    fixture.app.app.document_workflows().reconcile_once().await;
    let left = fixture.server.forgotten_keys();
    assert_eq!(left, ["0192aaaa-0000-7000-8000-000000000000-3", "moodle_7_1699999999"]);
    for (number, document) in documents.iter().enumerate() {
        assert!(fixture.text(document).await.contains(&format!("Words {number}.")));
        assert_eq!(fixture.origins(document).await, ["EDITOR"]);
    }
});

async fn e01_saves_during_service_downtime_are_recovered(kind: DatabaseKind) {
    let Some(mut env) = ServerEnv::new(kind) else { return };
    let world = World::create(&env.store().await, &env.database).await;
    let practice = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
        .await
        .unwrap();
    env.set("DOCSERVER_URL", &practice.url());
    env.set("DOCSERVER_RECONCILE_INTERVAL_SECONDS", "1");
    let mut service = env.start("serve");
    service.ready().await;
    let (ada, ben) = (
        Client::new(&service.base, Some(world.ada.cookie.clone())),
        Client::new(&service.base, Some(world.ben.cookie.clone())),
    );
    let group = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let room = id(&json!({"id": ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"]}));
    let mut open = Vec::new();
    for number in 0..3 {
        let new = json!({"title": format!("Page {number}"), "documentType": "word"});
        let document = id(&ada.post(&format!("/workrooms/{room}/documents"), new).await.expect(201));
        let config = ben.get(&path(&document, "/editor-config")).await.expect(200);
        let editor = client::open(&practice.url(), &config).await.unwrap();
        editor.type_text(&format!("The last words {number}.")).await.unwrap();
        open.push((document, editor));
    }
    service.kill();
    let mut documents = Vec::new();
    for (document, editor) in open {
        assert!(!editor.close().await.unwrap().accepted);
        documents.push(document);
    }
    assert_eq!(practice.forgotten_keys().len(), 3);
    let mut service = env.start("serve");
    service.ready().await;
    eventually(async || practice.forgotten_keys().is_empty()).await;
    for (number, document) in documents.iter().enumerate() {
        let stored = ada.get(&path(document, "/download")).await;
        assert!(words(&stored.bytes).contains(&format!("The last words {number}.")));
        assert_eq!(ada.get(&path(document, "")).await.expect(200)["version"], 1);
    }
    service.kill();
    practice.stop().await;
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e01_saves_during_service_downtime_are_recovered_on_sqlite() {
    e01_saves_during_service_downtime_are_recovered(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e01_saves_during_service_downtime_are_recovered_on_postgres() {
    e01_saves_during_service_downtime_are_recovered(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e01_two_instances_recover_each_save_once() {
    let flags = ["--docserver-sweep-seconds=1"];
    // After this time without a renewal the other instance may take over and ask, too.
    let lease = Duration::from_secs(2);
    let Some(fixture) = DocumentServerFixture::start(DatabaseKind::Postgres, &flags).await else {
        return;
    };
    let server = format!("--docserver-url={}", fixture.server.url());
    let config = TestApp::config(&fixture.app.database, fixture.app.folder(), &[flags[0], &server]);
    let second = build_app(config, &fixture.app.base).await.unwrap();
    for number in 0..5 {
        let document = fixture.document(&format!("Page {number}")).await;
        let started = Instant::now();
        write_forgotten_save(&fixture, &document, "Kept over there.").await;
        eventually(async || fixture.server.forgotten_keys().is_empty()).await;
        assert!(fixture.text(&document).await.contains("Kept over there."));
        assert_eq!(fixture.origins(&document).await, ["EDITOR"], "page {number}");
        let asked = fixture.server.requests().into_iter().filter(|heard| {
            let key = heard.parameters["key"].as_str().unwrap_or_default();
            heard.parameters["c"] == "getForgotten" && key.contains(&document)
        });
        let asked = asked.count();
        if started.elapsed() < lease {
            assert_eq!(asked, 1, "page {number}");
        }
    }
    drop(second);
    fixture.close().await;
}

/// The service dies between the transaction that submits and the forced save. The next start forces the save and ends
/// the freeze.
async fn s04_interrupted_freeze_is_completed_at_restart(kind: DatabaseKind) {
    let Some(mut env) = ServerEnv::new(kind) else { return };
    let world = World::create(&env.store().await, &env.database).await;
    let practice = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
        .await
        .unwrap();
    env.set("DOCSERVER_URL", &practice.url());
    env.set("DOCSERVER_RECONCILE_INTERVAL_SECONDS", "1");
    let failpoint = ("GROUPWORK_FAILPOINT", "submit.after_commit:1");
    let mut service = env.try_start("serve", &[failpoint]).unwrap();
    service.ready().await;
    let (ada, ben) = (
        Client::new(&service.base, Some(world.ada.cookie.clone())),
        Client::new(&service.base, Some(world.ben.cookie.clone())),
    );
    let group = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let topic = id(&topic(&ada, &world.seven_b, json!({"groupIds": [group]})).await);
    let room = id(&json!({"id": ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"]}));
    let new = json!({"title": "Our page", "documentType": "word"});
    let document = id(&ada.post(&format!("/workrooms/{room}/documents"), new).await.expect(201));
    let config = ben.get(&path(&document, "/editor-config")).await.expect(200);
    let editor = client::open(&practice.url(), &config).await.unwrap();
    editor.type_text("Before the power cut.").await.unwrap();
    // The connection closes without a response.
    let submit = reqwest::Client::new()
        .post(format!("{}/api{}", service.base, path(&document, "/submit")))
        .header("cookie", &world.ben.cookie)
        .header("origin", test_support::FRONTEND)
        .json(&json!({"assignmentId": topic}))
        .send();
    assert!(submit.await.is_err());
    let freezing = format!("SELECT CAST(freezing_until AS TEXT) FROM documents WHERE id = '{document}'");
    assert!(
        texts(&env.database, freezing.clone()).await[0].is_some(),
        "a freeze is under way"
    );
    // The freeze has expired; the test does not wait for this.
    let over = format!("UPDATE documents SET freezing_until = 1 WHERE id = '{document}'");
    execute(&env.database, over).await;
    let mut service = env.start("serve");
    service.ready().await;
    eventually(async || texts(&env.database, freezing.clone()).await == [None]).await;
    let stored = ada.get(&path(&document, "/download")).await;
    assert!(words(&stored.bytes).contains("Before the power cut."));
    let seen = ada.get(&path(&document, "")).await.expect(200);
    assert_eq!(
        (&seen["status"], &seen["contentPending"]),
        (&json!("SUBMITTED"), &json!(false))
    );
    assert!(editor.type_text("After.").await.is_err(), "its editor was dropped");
    service.kill();
    practice.stop().await;
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s04_interrupted_freeze_is_completed_at_restart_on_sqlite() {
    s04_interrupted_freeze_is_completed_at_restart(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s04_interrupted_freeze_is_completed_at_restart_on_postgres() {
    s04_interrupted_freeze_is_completed_at_restart(DatabaseKind::Postgres).await;
}
