//! Checks E2 to E9: faults of the service, its database, its files, the document server, the network and the clocks
//! during a save.

use std::time::{Duration, Instant};

use db::Database;
use document_server_simulator::{Faults, Outage, SentCallback, SimulatorSettings};
use domain::document_kind::EditorKind;
use serde_json::json;

use crate::finish::status;
use test_support::app::DOCSERVER_SECRET;
use test_support::document_server_fixture::{DocumentServerFixture, eventually, path, words};
use test_support::fake_document_server::sign;
use test_support::rows::{execute, texts};
use test_support::text_editor::AnyEditor;
use test_support::topics::{group, id, topic};
use test_support::{Client, DatabaseKind, ServerEnv, TestApp, World, size};

/// Maximum time that a test waits for the document server.
const WAIT_TIMEOUT: Duration = test_support::WAIT_TIMEOUT;

async fn e02_failed_commit_is_retried_with_one_revision(kind: DatabaseKind, editor: EditorKind) {
    // Retries come after 5, 15 and 35 seconds. The database recovers in between.
    let settings = SimulatorSettings {
        time_scale: 5.0,
        ..SimulatorSettings::new(DOCSERVER_SECRET)
    };
    let flag = format!("--editor-text={editor}");
    let Some(fixture) = DocumentServerFixture::start_beside(kind, settings, &[&flag]).await else {
        return;
    };
    let document = fixture.document("Our page").await;
    let editor = fixture.open_editor(&fixture.app.world.ben, &document).await;
    editor.type_text("Once.").await.unwrap();
    // All rows of the transaction are written. Only the commit fails, because of a deferred constraint.
    let (broken, healed) = match &fixture.app.database {
        Database::Sqlite(_) => (
            "CREATE TABLE never (id TEXT REFERENCES organizations (id) DEFERRABLE INITIALLY DEFERRED);
            CREATE TRIGGER no_commit AFTER INSERT ON document_revisions
                BEGIN INSERT INTO never (id) VALUES ('nobody'); END",
            "DROP TRIGGER no_commit; DROP TABLE never",
        ),
        Database::Postgres(_) => (
            "CREATE FUNCTION no_commit() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'no commit'; END $$;
            CREATE CONSTRAINT TRIGGER no_commit AFTER INSERT ON document_revisions DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION no_commit()",
            "DROP TRIGGER no_commit ON document_revisions; DROP FUNCTION no_commit()",
        ),
    };
    execute(&fixture.app.database, broken.to_owned()).await;
    let closing = tokio::spawn(editor.close());
    if fixture.is_builtin() {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        assert!(matches!(ada.get(&path(&document, "/download")).await.status, 500 | 503));
    } else {
        let failed = |sent: &SentCallback| sent.status == 2 && sent.answer_status == Some(503);
        fixture.server.wait_for_callback(failed, WAIT_TIMEOUT).await.unwrap();
    }
    assert_eq!(
        fixture.origins(&document).await,
        Vec::<String>::new(),
        "nothing was acknowledged"
    );
    execute(&fixture.app.database, healed.to_owned()).await;
    assert!(closing.await.unwrap().unwrap().accepted);
    assert!(fixture.text(&document).await.contains("Once."));
    let origin = if fixture.is_builtin() { "FORCESAVE" } else { "EDITOR" };
    assert_eq!(fixture.origins(&document).await, [origin]);
    // Files whose commit failed belong to no row, so they are moved to the quarantine like every file without a row.
    let (store, files) = (fixture.app.app.store(), fixture.app.app.files());
    let later = common::clock::now().plus_seconds(3_600);
    service::jobs::orphaned_files::sweep(store, files, later).await.unwrap();
    let revisions = texts(
        &fixture.app.database,
        "SELECT file_key FROM document_revisions".to_owned(),
    )
    .await;
    assert_eq!(revisions.len(), 1);
    assert!(fixture.text(&document).await.contains("Once."));
    fixture.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e02_failed_commit_is_retried_with_one_revision_on_sqlite() {
    e02_failed_commit_is_retried_with_one_revision(DatabaseKind::Sqlite, EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e02_failed_commit_is_retried_with_one_revision_on_postgres() {
    e02_failed_commit_is_retried_with_one_revision(DatabaseKind::Postgres, EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e02_failed_save_of_builtin_editor_is_retried_with_one_revision() {
    e02_failed_commit_is_retried_with_one_revision(DatabaseKind::Sqlite, EditorKind::Builtin).await;
}

with_document_server!(e03_callback_with_lost_response_is_stored_once, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Once.").await.unwrap();
    // The response to the status 1 callback must come first. Otherwise that response would be lost.
    fixture
        .server
        .wait_for_callback(|sent| sent.status == 1, WAIT_TIMEOUT)
        .await
        .unwrap();
    fixture.server.faults().update(|faults| faults.lost_responses = 2);
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(fixture.origins(&document).await, ["EDITOR"]);
    let tries = fixture
        .server
        .callbacks()
        .iter()
        .filter(|sent| sent.status == 2)
        .count();
    assert_eq!(tries, 3);
});

with_both_editors!(e04_failed_storage_rejects_saves_and_serves_other_documents, |fixture| {
    let (ben, ada) = (&fixture.app.world.ben, fixture.app.as_(&fixture.app.world.ada));
    let (stored, document) = (fixture.document("Stored").await, fixture.document("Our page").await);
    fixture.write(ben, &stored, "Long there.").await;
    let parts = fixture.app.folder().join("files/parts");
    let aside = fixture.app.folder().join("aside");
    std::fs::rename(&parts, &aside).unwrap();
    std::fs::write(&parts, b"no folder").unwrap();
    let mut open = Vec::new();
    for text in ["One.", "Two.", "Three."] {
        let editor = fixture.open_editor(ben, &document).await;
        editor.type_text(text).await.unwrap();
        open.push(editor);
    }
    match &open[0] {
        AnyEditor::OnlyOffice(editor) => {
            assert_eq!(editor.press_save().await.unwrap(), 0);
            let refused = fixture
                .server
                .wait_for_callback(|sent| sent.status == 6, WAIT_TIMEOUT)
                .await
                .unwrap();
            assert_eq!((refused.answer_status, refused.accepted), (Some(503), false));
        }
        // Commits are in the database, and only the file cannot be written.
        AnyEditor::Builtin(_) => {
            let refused = ada.get(&path(&document, "/download")).await;
            assert_eq!(refused.status, 503);
        }
    }
    assert!(
        fixture.text(&stored).await.contains("Long there."),
        "what is kept is read"
    );
    ada.patch(&path(&stored, ""), json!({"title": "Renamed"}))
        .await
        .expect(200);
    fixture.app.stranger().get("/health/live").await;
    let ready = fixture.app.stranger().get("/health/ready").await.expect(503);
    assert_eq!(ready["checks"]["storage"], "down");

    std::fs::remove_file(&parts).unwrap();
    std::fs::rename(&aside, &parts).unwrap();
    for editor in open {
        assert!(editor.close().await.unwrap().accepted);
    }
    let text = fixture.text(&document).await;
    assert!(
        ["One.", "Two.", "Three."].iter().all(|word| text.contains(word)),
        "{text}"
    );
    assert_eq!(
        fixture.app.stranger().get("/health/ready").await.expect(200)["checks"]["storage"],
        "ok"
    );
});

both!(e04_text_of_builtin_editor_survives_finish_with_failed_storage, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let topic = id(&topic(&ada, class, json!({"groupIds": [rivers]})).await);
    let room = ada.get(&format!("/groups/{rivers}")).await.expect(200)["workRoomId"].clone();
    let new = json!({"title": "Page", "documentType": "word", "assignmentId": topic});
    let rooms = format!("/workrooms/{}/documents", room.as_str().unwrap());
    let document = id(&ada.post(&rooms, new).await.expect(201));
    let ben = app.as_(&app.world.ben);
    let config = ben.get(&path(&document, "/editor-config")).await.expect(200);
    let editor = AnyEditor::open("", &ben, &document, &config).await.unwrap();
    editor.type_text("Before the bell.").await.unwrap();
    let (parts, aside) = (app.folder().join("files/parts"), app.folder().join("aside"));
    std::fs::rename(&parts, &aside).unwrap();
    std::fs::write(&parts, b"no folder").unwrap();
    let finish = format!("/assignments/{topic}/finish");
    let done = ada.send(reqwest::Method::POST, &finish, None).await.expect(200);
    assert_eq!(
        (&done["lockedDocuments"], &done["unsavedDocuments"]),
        (&json!(1), &json!([document]))
    );
    editor.type_text("After it.").await.unwrap_err();
    std::fs::remove_file(&parts).unwrap();
    std::fs::rename(&aside, &parts).unwrap();
    let file = ada.get(&path(&document, "/download")).await;
    assert!(words(&file.bytes).contains("Before the bell."));
    let again = ada.send(reqwest::Method::POST, &finish, None).await.expect(200);
    assert_eq!(again["unsavedDocuments"], json!([]));
    assert_eq!(ada.get(&path(&document, "")).await.expect(200)["status"], "LOCKED");
});

with_both_editors!(
    #[sqlite]
    e05_unavailable_document_server_blocks_no_request,
    |fixture| {
        let (draft, submitted) = (fixture.document("Draft").await, fixture.document("Handed in").await);
        fixture.submit(&fixture.app.world.ben, &submitted).await.expect(200);
        let editor = fixture.open_editor(&fixture.app.world.ben, &draft).await;
        editor.type_text("Not yet saved.").await.unwrap();
        fixture.server.set_faults(Faults {
            down: Some(Outage::Unavailable),
            ..Faults::default()
        });
        let done = fixture.finish().await;
        // The built-in editor needs no document server.
        let unsaved: Vec<&String> = (!fixture.is_builtin()).then_some(&draft).into_iter().collect();
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"]),
            (&json!(2), &json!(unsaved))
        );
        let config = fixture.configuration(&fixture.app.world.ben, &draft).await;
        assert_eq!(config["editorConfig"]["mode"], "view", "pages open without asking it");
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let pdf = ada.get(&path(&draft, "/pdf")).await;
        if fixture.is_builtin() {
            assert_eq!(pdf.status, 200);
        } else {
            pdf.refused(502, "DOCSERVER_ERROR");
        }
        // The document server recovers, the editor closes, and its text is saved because it was typed before the
        // finish.
        fixture.server.faults().clear();
        assert!(editor.close().await.unwrap().accepted);
        assert!(fixture.text(&draft).await.contains("Not yet saved."));
        assert_eq!(status(fixture, &draft).await.0, "LOCKED");
    }
);

with_document_server!(e06_unsaved_text_survives_restart_of_document_server, |fixture| {
    let document = fixture.document("Our page").await;
    let key = fixture.key(&document).await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Before the crash.").await.unwrap();
    fixture
        .server
        .wait_for_callback(|sent| sent.status == 1, WAIT_TIMEOUT)
        .await
        .unwrap();
    fixture.server.crash();
    assert_eq!(
        fixture.key(&document).await,
        key,
        "another key would leave its changes behind"
    );
    assert_eq!(fixture.get_document(&document).await["version"], 0);
    // The watchdog finds unsaved changes without a connected editor: the staff see a warning and the key stays.
    let silent = format!("UPDATE editing_sessions SET last_callback_at = 1 WHERE document_id = '{document}'");
    let alarm = format!("SELECT CAST(save_failed_at AS TEXT) FROM documents WHERE id = '{document}'");
    // One check waits only five seconds for the document server to repeat its callback.
    eventually(async || {
        execute(&fixture.app.database, silent.clone()).await;
        fixture.app.app.document_workflows().reconcile_once().await;
        texts(&fixture.app.database, alarm.clone()).await[0].is_some()
    })
    .await;
    assert_eq!(fixture.key(&document).await, key);

    let editor = fixture.open(&fixture.app.world.cem, &document).await;
    assert!(editor.text().await.unwrap().contains("Before the crash."));
    assert!(editor.close().await.unwrap().accepted);
    assert!(fixture.text(&document).await.contains("Before the crash."));
    assert_ne!(fixture.key(&document).await, key);
    assert_eq!(texts(&fixture.app.database, alarm).await, [None]);
});

with_document_server!(
    e06_submission_after_restart_reports_unsaved_text,
    // The submission waits this long for a save that does not come, and fifteen seconds in all.
    ["--docserver-command-seconds=7"],
    |fixture| {
        let (ben, ada) = (&fixture.app.world.ben, &fixture.app.world.ada);
        let document = fixture.document("Our page").await;
        let key = fixture.key(&document).await;
        let editor = fixture.open(ben, &document).await;
        editor.type_text("Before the crash.").await.unwrap();
        let sessions = format!("SELECT editors FROM editing_sessions WHERE document_id = '{document}'");
        eventually(async || {
            texts(&fixture.app.database, sessions.clone())
                .await
                .iter()
                .flatten()
                .any(|editors| editors.contains(&ben.id))
        })
        .await;
        fixture.server.crash();
        let submitted = fixture.submit(ben, &document).await.expect(200);
        assert_eq!(
            (
                &submitted["unsaved"],
                &submitted["document"]["contentPending"],
                &submitted["document"]["version"]
            ),
            (&json!(true), &json!(true), &json!(0))
        );
        let alarm = format!("SELECT CAST(save_failed_at AS TEXT) FROM documents WHERE id = '{document}'");
        assert!(
            texts(&fixture.app.database, alarm.clone()).await[0].is_some(),
            "the staff are alarmed"
        );
        // No session is left that the sweep would query again and again.
        assert!(texts(&fixture.app.database, sessions.clone()).await.is_empty());
        fixture.server.clear_log();
        fixture.app.app.document_workflows().reconcile_once().await;
        let asked = fixture
            .server
            .requests()
            .into_iter()
            .filter(|heard| heard.parameters["c"] == "forcesave");
        assert_eq!(asked.count(), 0);
        assert_ne!(
            fixture.key(&document).await,
            key,
            "who reads must not get what the document server cached"
        );

        fixture
            .app
            .as_(ben)
            .post(&path(&document, "/unsubmit"), json!({}))
            .await
            .expect(200);
        assert_eq!(
            fixture.key(&document).await,
            key,
            "the key is kept for those who write next"
        );
        let editor = fixture.open(&fixture.app.world.cem, &document).await;
        assert!(editor.text().await.unwrap().contains("Before the crash."));
        editor.type_text(" After it.").await.unwrap();
        assert!(editor.close().await.unwrap().accepted);
        assert!(fixture.text(&document).await.contains("Before the crash. After it."));
        assert_ne!(fixture.key(&document).await, key);
        assert_eq!(fixture.get_document(&document).await["contentPending"], false);
        assert_eq!(texts(&fixture.app.database, alarm).await, [None]);
        // The next session works as usual and has a new key.
        fixture.write(ada, &document, " And later.").await;
        assert!(fixture.text(&document).await.contains("After it. And later."));
    }
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e07_clock_skew_of_a_minute_is_accepted_and_more_is_logged() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    let group = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
    let new = json!({"title": "Page", "documentType": "word"});
    let rooms = format!("/workrooms/{}/documents", room.as_str().unwrap());
    let document = id(&ada.post(&rooms, new).await.expect(201));
    let stranger = Client::new(&service.base, None);
    let now = common::clock::now().as_millis() / 1000;
    let key = format!("{document}-1");
    for (skew, is_taken) in [(0, true), (50, true), (-50, true), (305, false), (-305, false)] {
        let issued = now + skew;
        let claims = json!({"key": key, "status": 4, "iat": issued, "exp": issued + 300});
        let body = json!({"key": key, "status": 4, "token": sign(claims)});
        let before = service.tail().matches("clock skew").count();
        let answer = stranger.post(&path(&document, "/callback"), body).await;
        if is_taken {
            assert_eq!(answer.expect(200), json!({"error": 0}), "{skew}");
        } else {
            answer.refused(401, "DOCSERVER_TOKEN_INVALID");
            eventually(async || service.tail().matches("clock skew").count() > before).await;
        }
    }
    service.kill();
    env.close();
}

with_both_editors!(e08_saves_of_many_simultaneous_closes_are_all_accepted, |fixture| {
    let many = size(40, 200);
    let rooms = [fixture.room.clone(), fixture.hidden_room().await];
    let mut open = Vec::new();
    for number in 0..many {
        // A workroom holds at most 100 documents.
        let document = fixture
            .document_in(&rooms[number / 100], &format!("Page {number}"))
            .await;
        let editor = fixture.open_editor(&fixture.app.world.ada, &document).await;
        editor.type_text(&format!("Words {number}.")).await.unwrap();
        open.push((document, editor));
    }
    let since = Instant::now();
    let closing = open.into_iter().map(|(document, editor)| async {
        editor.close_saved().await;
        if fixture.is_builtin() {
            fixture.text(&document).await;
        }
        document
    });
    let closed = futures_util::future::join_all(closing).await;
    println!(
        "  {many} documents closed at once in {} ms",
        since.elapsed().as_millis()
    );
    assert!(many < 200 || since.elapsed() < Duration::from_secs(10));
    let finals = fixture.server.callbacks().into_iter().filter(|sent| sent.status == 2);
    assert!(finals.into_iter().all(|sent| sent.attempt == 1), "nobody was put off");
    let versions = "SELECT CAST(COUNT(*) AS TEXT) FROM document_revisions GROUP BY document_id".to_owned();
    assert_eq!(
        texts(&fixture.app.database, versions).await,
        vec![Some("1".to_owned()); many]
    );
    for (number, document) in closed.iter().enumerate().step_by(13) {
        assert!(fixture.text(document).await.contains(&format!("Words {number}.")));
    }
});

with_document_server!(
    #[sqlite]
    e09_readiness_reports_unhealthy_document_server,
    |fixture| {
        let ready = async || fixture.app.stranger().get("/health/ready").await.expect(200);
        // The health check has a limit of three seconds.
        eventually(async || ready().await["checks"]["docserver"] == "ok").await;
        // The real document server also reports this with status 200.
        fixture.server.faults().update(|faults| faults.unhealthy = true);
        let ill = ready().await;
        assert_eq!(
            (&ill["status"], &ill["checks"]["docserver"]),
            (&json!("degraded"), &json!("down"))
        );
        for down in [Outage::Unavailable, Outage::Refuse] {
            fixture.server.set_faults(Faults {
                down: Some(down),
                ..Faults::default()
            });
            let ill = ready().await;
            assert_eq!(
                (&ill["status"], &ill["checks"]["docserver"]),
                (&json!("degraded"), &json!("down"))
            );
            assert_eq!(fixture.app.stranger().get("/health/live").await.status, 200);
        }
        fixture.server.faults().clear();
        eventually(async || ready().await["status"] == "ok").await;
    }
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e09_readiness_reports_document_server_without_response() {
    // A listener that accepts connections and never sends data.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("--docserver-url=http://{}", silent.local_addr().unwrap());
    let app = TestApp::start_with(DatabaseKind::Sqlite, &[&url]).await.unwrap();
    let ready = app.stranger().get("/health/ready").await.expect(200);
    assert_eq!(
        (&ready["status"], &ready["checks"]["docserver"]),
        (&json!("degraded"), &json!("down"))
    );
    assert_eq!(app.stranger().get("/health/live").await.status, 200);
    app.close().await;
}
