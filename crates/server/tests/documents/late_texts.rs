//! Documents that are deleted while editors are open: the editors are closed, later saves are kept for one day for the
//! staff of the class, and no data stays at the document server.

use document_server_simulator::{Faults, Outage};
use serde_json::{Value, json};
use service::jobs::file_removal;

use test_support::document_server_fixture::{DocumentServerFixture, eventually, path, words};
use test_support::rows::{execute, texts};
use test_support::topics::{course, group, id};

/// The error code of `forcesave` for a document without open editors: the service then does not close the editor.
const UNKNOWN_KEY: i64 = 1;

async fn late_texts(fixture: &DocumentServerFixture) -> Vec<Value> {
    let list = fixture
        .app
        .as_(&fixture.app.world.ada)
        .get("/workrooms/late-texts")
        .await
        .expect(200);
    list.as_array().unwrap().clone()
}

async fn late_text(fixture: &DocumentServerFixture) -> Value {
    eventually(async || late_texts(fixture).await.len() == 1).await;
    late_texts(fixture).await.remove(0)
}

async fn downloaded_text(fixture: &DocumentServerFixture, text: &Value) -> String {
    let download = format!("/workrooms/late-texts/{}/download", id(text));
    let answer = fixture.app.as_(&fixture.app.world.ada).get(&download).await;
    assert_eq!(answer.status, 200);
    words(&answer.bytes)
}

/// Waits for the session row, which the first callback inserts.
async fn wait_for_session(fixture: &DocumentServerFixture, document: &str) {
    let noted = async || {
        let sessions = format!("SELECT document_key FROM editing_sessions WHERE document_id = '{document}'");
        texts(&fixture.app.database, sessions).await.len() == 1
    };
    eventually(noted).await;
}

async fn delete(fixture: &DocumentServerFixture, document: &str) {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    ada.delete(&path(document, "")).await.expect(200);
}

async fn wait_until_closed(fixture: &DocumentServerFixture) {
    let closed = async || {
        let open = "SELECT id FROM deleted_documents WHERE is_open".to_owned();
        texts(&fixture.app.database, open).await.is_empty()
    };
    eventually(closed).await;
}

with_document_server!(deleted_document_closes_its_editors_and_keeps_their_text, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&world.ben, &document).await;
    editor.type_text("Typed before the deletion.").await.unwrap();
    wait_for_session(fixture, &document).await;
    ada.delete(&path(&document, "")).await.expect(200);
    wait_until_closed(fixture).await;
    assert!(editor.type_text("More.").await.is_err(), "the editor is closed");
    editor.close().await.unwrap();

    let text = late_text(fixture).await;
    assert!(fixture.server.forgotten_keys().is_empty());
    assert_eq!(
        (
            &text["title"],
            &text["documentId"],
            &text["fileExtension"],
            &text["classId"]
        ),
        (
            &json!("Our page"),
            &json!(document),
            &json!("docx"),
            &json!(world.seven_b.id)
        )
    );
    assert_eq!(text["savedBy"]["id"], json!(world.ben.id));
    assert!(
        downloaded_text(fixture, &text)
            .await
            .contains("Typed before the deletion.")
    );
    let of_class = |class: &str| format!("/workrooms/late-texts?classId={class}");
    assert_eq!(
        ada.get(&of_class(&world.seven_b.id))
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(ada.get(&of_class("another")).await.expect(200), json!([]));

    // Only staff of the class and administrators.
    let download = format!("/workrooms/late-texts/{}/download", id(&text));
    let ben = fixture.app.as_(&world.ben);
    ben.get("/workrooms/late-texts").await.refused(403, "FORBIDDEN_ROLE");
    ben.get(&download).await.refused(403, "FORBIDDEN_ROLE");
    let tom = fixture.app.as_(&world.tom);
    assert_eq!(tom.get("/workrooms/late-texts").await.expect(200), json!([]));
    tom.get(&download).await.refused(404, "NOT_FOUND");
    let zoe = fixture.app.as_(&world.zoe);
    assert_eq!(zoe.get("/workrooms/late-texts").await.expect(200), json!([]));
    zoe.get(&download).await.refused(404, "NOT_FOUND");
    assert_eq!(fixture.app.as_(&world.adam).get(&download).await.status, 200);
    let log = ada
        .get(&format!("/activity-logs?targetId={document}&action=UPDATE"))
        .await
        .expect(200);
    let named = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["details"]["changed"] == json!(["lateText"]));
    assert_eq!(named.count(), 1);
});

with_document_server!(late_text_is_deleted_a_day_after_it_arrived, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Kept for a day.").await.unwrap();
    wait_for_session(fixture, &document).await;
    // Otherwise the deletion would force a save. The final one could then arrive after the text has expired.
    fixture.server.set_faults(Faults {
        forcesave_response: Some(UNKNOWN_KEY),
        ..Faults::default()
    });
    delete(fixture, &document).await;
    wait_until_closed(fixture).await;
    assert!(editor.close().await.unwrap().accepted);
    late_text(fixture).await;
    let store = fixture.app.app.store();
    let hours = |hours: i64| common::clock::now().plus_seconds(hours * 3_600);
    file_removal::expire_late_texts(store, hours(23)).await.unwrap();
    assert_eq!(late_texts(fixture).await.len(), 1);
    file_removal::expire_late_texts(store, hours(25)).await.unwrap();
    assert!(late_texts(fixture).await.is_empty());
    let removals = texts(&fixture.app.database, "SELECT file_key FROM file_removals".to_owned()).await;
    assert!(
        removals.iter().flatten().any(|key| key.starts_with(&document)),
        "{removals:?}"
    );
    // The keys of the document are treated as ours for one month.
    let remembered = async || {
        texts(&fixture.app.database, "SELECT id FROM deleted_documents".to_owned())
            .await
            .len()
    };
    assert_eq!(remembered().await, 1);
    file_removal::expire_late_texts(store, hours(31 * 24)).await.unwrap();
    assert_eq!(remembered().await, 0);
});

with_document_server!(deleted_group_course_and_class_close_their_editors, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let adam = fixture.app.as_(&world.adam);
    let cells = course(&ada, &world.seven_b, "Weather").await;
    let of_course = group(&ada, &world.seven_b, &[&world.ben], json!({"courseId": cells})).await;
    let room = ada.get(&format!("/groups/{of_course}")).await.expect(200)["workRoomId"].clone();
    let deletions = [
        (
            fixture.document("In the group").await,
            format!("/groups/{}", fixture.group),
        ),
        (
            fixture.document_in(room.as_str().unwrap(), "In the course").await,
            format!("/courses/{cells}"),
        ),
        (
            fixture.document_in(&fixture.hidden_room().await, "In the class").await,
            format!("/classes/{}", world.seven_b.id),
        ),
    ];
    for (document, deletion) in &deletions {
        let editor = fixture.open(&world.ada, document).await;
        editor.type_text(&format!("Words of {document}.")).await.unwrap();
        wait_for_session(fixture, document).await;
        let deleted = adam.delete(deletion).await;
        let deleted = if deleted.status == 409 {
            adam.delete(&format!("{deletion}?force=1")).await
        } else {
            deleted
        };
        deleted.expect(200);
        wait_until_closed(fixture).await;
        assert!(editor.type_text("More.").await.is_err(), "{deletion}");
        editor.close().await.unwrap();
    }
    // The class is deleted, so only administrators see the remaining texts.
    let list = async |person| fixture.app.as_(person).get("/workrooms/late-texts").await.expect(200);
    eventually(async || list(&world.adam).await.as_array().unwrap().len() == 3).await;
    assert_eq!(list(&world.ada).await, json!([]));
    for text in list(&world.adam).await.as_array().unwrap() {
        assert_eq!(text["classId"], Value::Null);
        let answer = adam.get(&format!("/workrooms/late-texts/{}/download", id(text))).await;
        let document = text["documentId"].as_str().unwrap();
        assert!(words(&answer.bytes).contains(&format!("Words of {document}.")));
    }
});

with_document_server!(forgotten_save_of_deleted_document_is_recovered_once, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Forgotten.").await.unwrap();
    wait_for_session(fixture, &document).await;
    fixture.server.set_faults(Faults {
        forgets_saves: true,
        ..Faults::default()
    });
    delete(fixture, &document).await;
    assert!(!editor.close().await.unwrap().accepted);
    fixture.server.faults().clear();
    fixture.app.app.document_workflows().reconcile_once().await;
    // The sweep in the background may be recovering it at the same time.
    eventually(async || fixture.server.forgotten_keys().is_empty()).await;
    let text = late_text(fixture).await;
    assert!(downloaded_text(fixture, &text).await.contains("Forgotten."));

    // A document without any record is not touched: it may belong to another installation.
    let other = fixture.document("Another page").await;
    let editor = fixture.open(&fixture.app.world.ben, &other).await;
    editor.type_text("Of another installation.").await.unwrap();
    wait_for_session(fixture, &other).await;
    fixture.server.set_faults(Faults {
        forgets_saves: true,
        forcesave_response: Some(UNKNOWN_KEY),
        ..Faults::default()
    });
    delete(fixture, &other).await;
    wait_until_closed(fixture).await;
    execute(
        &fixture.app.database,
        format!("DELETE FROM deleted_documents WHERE id = '{other}'"),
    )
    .await;
    assert!(!editor.close().await.unwrap().accepted);
    fixture.server.faults().clear();
    fixture.app.app.document_workflows().reconcile_once().await;
    assert_eq!(fixture.server.forgotten_keys().len(), 1);
});

with_document_server!(editors_are_closed_when_document_server_recovers, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("It was away.").await.unwrap();
    wait_for_session(fixture, &document).await;
    fixture.server.set_faults(Faults {
        down: Some(Outage::Unavailable),
        ..Faults::default()
    });
    delete(fixture, &document).await;
    fixture.app.app.document_workflows().reconcile_once().await;
    fixture.server.faults().clear();
    fixture.app.app.document_workflows().reconcile_once().await;
    wait_until_closed(fixture).await;
    assert!(editor.type_text("More.").await.is_err(), "the editor is closed");
    editor.close().await.unwrap();
    assert!(
        downloaded_text(fixture, &late_text(fixture).await)
            .await
            .contains("It was away.")
    );
});

with_document_server!(newest_text_of_editor_ignoring_drop_is_kept, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("First.").await.unwrap();
    wait_for_session(fixture, &document).await;
    fixture.server.set_faults(Faults {
        ignores_drop: true,
        ..Faults::default()
    });
    delete(fixture, &document).await;
    wait_until_closed(fixture).await;
    let first = late_text(fixture).await;
    editor.type_text("Second.").await.unwrap();
    assert!(editor.close().await.unwrap().accepted);
    // The link to the first text leads to the one that replaces it.
    let newest = async || downloaded_text(fixture, &first).await.contains("Second.");
    eventually(newest).await;
    assert_eq!(id(&late_text(fixture).await), id(&first));
    assert!(downloaded_text(fixture, &first).await.contains("First."));
});

with_document_server!(failed_save_of_deleted_document_keeps_partial_result, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Damaged.").await.unwrap();
    fixture.server.set_faults(Faults {
        assembly_fails: true,
        partial_result: true,
        ..Faults::default()
    });
    delete(fixture, &document).await;
    let closed = editor.close().await.unwrap();
    assert!(
        closed.status.is_none() || closed.accepted,
        "nothing could ever deliver its changes: {closed:?}"
    );
    late_text(fixture).await;
});
