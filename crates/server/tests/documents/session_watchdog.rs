//! The watchdog queries silent editing sessions: connected editors stay, ended sessions are closed, and the staff see a
//! warning where text may be missing.

use document_server_simulator::{Faults, SentCallback};
use serde_json::json;

use test_support::document_server_fixture::{DocumentServerFixture, eventually, path};
use test_support::rows::{execute, texts};

/// Returns the editors of each editing session of a document.
async fn sessions(fixture: &DocumentServerFixture, document: &str) -> Vec<Option<String>> {
    let query = format!("SELECT editors FROM editing_sessions WHERE document_id = '{document}' ORDER BY generation");
    texts(&fixture.app.database, query).await
}

/// Opens an editor and waits until the service has recorded it.
async fn open_and_wait_for_session(
    fixture: &DocumentServerFixture,
    document: &str,
) -> document_server_simulator::client::OpenEditor {
    let editor = fixture.open(&fixture.app.world.ben, document).await;
    eventually(async || sessions(fixture, document).await.len() == 1).await;
    editor
}

/// Marks all sessions as silent for a long time.
async fn mark_sessions_silent(fixture: &DocumentServerFixture) {
    execute(
        &fixture.app.database,
        "UPDATE editing_sessions SET last_callback_at = 1".to_owned(),
    )
    .await;
}

/// Returns whether the staff see a warning that text may not be saved.
async fn has_save_warning(fixture: &DocumentServerFixture, document: &str) -> bool {
    let query = format!("SELECT CAST(save_failed_at AS TEXT) FROM documents WHERE id = '{document}'");
    texts(&fixture.app.database, query).await[0].is_some()
}

with_document_server!(connected_editor_keeps_session_and_key, |fixture| {
    let document = fixture.document("Our page").await;
    let key = fixture.key(&document).await;
    let editor = open_and_wait_for_session(fixture, &document).await;
    mark_sessions_silent(fixture).await;
    fixture.app.app.document_workflows().reconcile_once().await;
    // The document server repeats its callback, and the session is current again.
    let heard =
        format!("SELECT document_id FROM editing_sessions WHERE document_id = '{document}' AND last_callback_at > 1");
    eventually(async || texts(&fixture.app.database, heard.clone()).await.len() == 1).await;
    assert!(!has_save_warning(fixture, &document).await);
    assert_eq!(fixture.key(&document).await, key);
    editor.type_text("Still here.").await.unwrap();
    assert!(editor.close().await.unwrap().accepted);
    assert!(fixture.text(&document).await.contains("Still here."));
});

with_document_server!(unknown_session_is_closed_and_staff_are_warned, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = open_and_wait_for_session(fixture, &document).await;
    editor.type_text("Lost over there.").await.unwrap();
    // The document server lost its disk, and the session with it.
    fixture.server.erase_all();
    fixture.app.app.document_workflows().reconcile_once().await;
    assert_eq!(
        sessions(fixture, &document).await.len(),
        1,
        "it spoke a moment ago: nobody asks yet"
    );
    mark_sessions_silent(fixture).await;
    fixture.app.app.document_workflows().reconcile_once().await;
    assert!(sessions(fixture, &document).await.is_empty());
    assert!(has_save_warning(fixture, &document).await);
    // The next successful save ends the warning.
    fixture.write(&fixture.app.world.ben, &document, "Written anew.").await;
    assert!(!has_save_warning(fixture, &document).await);
});

with_document_server!(saved_session_is_closed_without_warning, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = open_and_wait_for_session(fixture, &document).await;
    editor.type_text("All of it.").await.unwrap();
    assert_eq!(editor.press_save().await.unwrap(), 0);
    eventually(async || fixture.get_document(&document).await["version"] == 1).await;
    let taken = |sent: &SentCallback| sent.status == 6 && sent.accepted;
    fixture
        .server
        .wait_for_callback(taken, test_support::WAIT_TIMEOUT)
        .await
        .unwrap();
    fixture.server.erase_all();
    // Silent for one hour, and the save was the last callback.
    let hour = "UPDATE editing_sessions SET last_callback_at = last_callback_at - 3600000;
        UPDATE document_saves SET created_at = created_at - 3600000";
    execute(&fixture.app.database, hour.to_owned()).await;
    fixture.app.app.document_workflows().reconcile_once().await;
    assert!(sessions(fixture, &document).await.is_empty());
    assert!(!has_save_warning(fixture, &document).await);
    assert!(fixture.text(&document).await.contains("All of it."));
});

with_document_server!(forgotten_save_of_silent_session_is_recovered_first, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = open_and_wait_for_session(fixture, &document).await;
    editor.type_text("Kept over there.").await.unwrap();
    fixture.server.set_faults(Faults {
        forgets_saves: true,
        ..Faults::default()
    });
    assert!(!editor.close().await.unwrap().accepted);
    fixture.server.faults().clear();
    mark_sessions_silent(fixture).await;
    fixture.app.app.document_workflows().reconcile_once().await;
    assert!(fixture.text(&document).await.contains("Kept over there."));
    assert!(!has_save_warning(fixture, &document).await);
    assert!(sessions(fixture, &document).await.is_empty());
});

with_document_server!(unavailable_document_server_closes_no_session, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = open_and_wait_for_session(fixture, &document).await;
    editor.type_text("Still here.").await.unwrap();
    mark_sessions_silent(fixture).await;
    for faults in [
        Faults {
            down: Some(document_server_simulator::Outage::Unavailable),
            ..Faults::default()
        },
        Faults {
            command_error: Some(6),
            ..Faults::default()
        },
    ] {
        fixture.server.set_faults(faults);
        fixture.app.app.document_workflows().reconcile_once().await;
        assert_eq!(sessions(fixture, &document).await.len(), 1);
        assert!(!has_save_warning(fixture, &document).await);
    }
    fixture.server.faults().clear();
    assert!(editor.close().await.unwrap().accepted);
    assert!(fixture.text(&document).await.contains("Still here."));
});

with_document_server!(
    watchdog_sweeps_periodically,
    ["--docserver-sweep-seconds=1", "--docserver-silence-seconds=1"],
    |fixture| {
        let document = fixture.document("Our page").await;
        let editor = open_and_wait_for_session(fixture, &document).await;
        editor.type_text("Lost over there.").await.unwrap();
        fixture.server.erase_all();
        eventually(async || sessions(fixture, &document).await.is_empty()).await;
        assert!(has_save_warning(fixture, &document).await);
        let room = fixture
            .app
            .as_(&fixture.app.world.ada)
            .get(&path(&document, ""))
            .await
            .expect(200);
        assert_eq!(room["status"], json!("DRAFT"));
    }
);
