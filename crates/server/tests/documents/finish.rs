//! Finishing a topic locks all documents for all users. Reopening restores the exact previous state.

use std::time::Instant;

use document_server_simulator::client::OpenEditor;
use document_server_simulator::{Faults, Outage};
use serde_json::{Value, json};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::rows::{execute, texts};
use test_support::topics::group;

pub async fn status(fixture: &DocumentServerFixture, document: &str) -> (Value, Value) {
    let seen = fixture.get_document(document).await;
    (seen["status"].clone(), seen["statusBeforeLock"].clone())
}

with_both_editors_long!(finish_locks_documents_of_all_groups_for_all_roles, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let submitted = fixture.document("Handed in").await;
    fixture.submit(&world.ben, &submitted).await.expect(200);
    let draft = fixture.document("Draft").await;
    let hidden = fixture.document_in(&fixture.hidden_room().await, "Hidden").await;
    let finishing = format!("/assignments/{}/finish", fixture.topic);
    let post = async |person| {
        fixture
            .app
            .as_(person)
            .send(reqwest::Method::POST, &finishing, None)
            .await
    };
    post(&world.ben).await.refused(403, "FORBIDDEN_ROLE");
    post(&world.tom).await.refused(403, "NOT_CLASS_TEACHER");
    post(&world.zoe).await.refused(404, "NOT_FOUND");

    let mut done = fixture.finish().await;
    let at = done["finishedAt"].take();
    assert!(at.is_string());
    let expected = json!({"assignmentId": fixture.topic, "status": "FINISHED", "finishedAt": null, "lockedDocuments": 3,
        "groups": 2, "alreadyFinished": false, "unlinkedDrafts": [], "openDocuments": [], "unsavedDocuments": []});
    assert_eq!(done, expected);
    assert_eq!(status(fixture, &submitted).await, (json!("LOCKED"), json!("SUBMITTED")));
    assert_eq!(status(fixture, &draft).await, (json!("LOCKED"), json!("DRAFT")));
    assert_eq!(status(fixture, &hidden).await, (json!("LOCKED"), json!("DRAFT")));
    for person in [&world.ben, &world.ada, &world.adam] {
        let client = fixture.app.as_(person);
        for document in [&submitted, &draft] {
            let body = json!({"assignmentId": fixture.topic});
            client
                .post(&path(document, "/submit"), body)
                .await
                .refused(423, "DOCUMENT_LOCKED");
            client
                .post(&path(document, "/unsubmit"), json!({}))
                .await
                .refused(423, "DOCUMENT_LOCKED");
            client
                .patch(&path(document, ""), json!({"title": "X"}))
                .await
                .refused(423, "DOCUMENT_LOCKED");
        }
    }
    ada.delete(&path(&draft, "")).await.refused(423, "DOCUMENT_LOCKED");
    // The service requires the topic before it checks the lock.
    ada.post(&path(&draft, "/submit"), json!({}))
        .await
        .refused(400, "ASSIGNMENT_ID_REQUIRED");

    let again = fixture.finish().await;
    assert_eq!(
        (&again["lockedDocuments"], &again["alreadyFinished"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(again["finishedAt"], at, "the first moment counts");
    let late = fixture.document("Made after the bell").await;
    fixture
        .submit(&world.ben, &late)
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    assert_eq!(
        fixture.finish().await["lockedDocuments"],
        1,
        "documents made since are locked, too"
    );
});

with_both_editors_long!(topic_with_group_of_another_course_is_not_reopened, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let draft = fixture.document("Draft").await;
    fixture.finish().await;
    let course = test_support::topics::course(&ada, &fixture.app.world.seven_b, "Plants").await;
    ada.patch(&format!("/groups/{}", fixture.group), json!({"courseId": course}))
        .await
        .expect(200);
    let reopening = format!("/assignments/{}/reopen", fixture.topic);
    let refused = ada
        .send(reqwest::Method::POST, &reopening, None)
        .await
        .refused(409, "COURSE_MISMATCH");
    assert!(refused["details"].to_string().contains(&fixture.group));
    assert_eq!(status(fixture, &draft).await.0, "LOCKED");
});

with_document_server!(finish_recovers_forgotten_save, |fixture| {
    let draft = fixture.document("Draft").await;
    let editor = fixture.open(&fixture.app.world.ben, &draft).await;
    editor.type_text("Forgotten.").await.unwrap();
    fixture.server.set_faults(Faults {
        forgets_saves: true,
        ..Faults::default()
    });
    assert!(!editor.close().await.unwrap().accepted);
    fixture.server.faults().clear();
    assert_eq!(fixture.finish().await["unsavedDocuments"], json!([]));
    assert!(fixture.text(&draft).await.contains("Forgotten."));
    assert!(fixture.server.forgotten_keys().is_empty());
});

with_document_server!(interrupted_finish_is_completed_by_next_start, |fixture| {
    let draft = fixture.document("Draft").await;
    let editor = fixture.open(&fixture.app.world.ben, &draft).await;
    editor.type_text("Before the power went.").await.unwrap();
    let noted = async || {
        let count = format!("SELECT document_key FROM editing_sessions WHERE document_id = '{draft}'");
        test_support::rows::texts(&fixture.app.database, count).await.len() == 1
    };
    test_support::document_server_fixture::eventually(noted).await;
    fixture.server.set_faults(Faults {
        down: Some(Outage::Unavailable),
        ..Faults::default()
    });
    fixture.finish().await;
    fixture.server.faults().clear();
    // Simulates a start of the service after the session was silent for a long time.
    execute(
        &fixture.app.database,
        "UPDATE editing_sessions SET last_callback_at = 1".to_owned(),
    )
    .await;
    fixture.app.app.document_workflows().reconcile_once().await;
    assert!(fixture.text(&draft).await.contains("Before the power went."));
    assert!(editor.type_text("More.").await.is_err(), "its editors were sent out");
});

with_both_editors_long!(concurrent_finish_and_reopen_leave_consistent_status, |fixture| {
    let draft = fixture.document("Draft").await;
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let (finish, reopen) = (
        format!("/assignments/{}/finish", fixture.topic),
        format!("/assignments/{}/reopen", fixture.topic),
    );
    let all = (0..8).map(|number| {
        let path = if number % 2 == 0 { &finish } else { &reopen };
        ada.send(reqwest::Method::POST, path, None)
    });
    for answer in futures_util::future::join_all(all).await {
        answer.expect(200);
    }
    let topic = ada.get(&format!("/assignments/{}", fixture.topic)).await.expect(200);
    let expected = if topic["status"] == "FINISHED" {
        "LOCKED"
    } else {
        "DRAFT"
    };
    assert_eq!(status(fixture, &draft).await.0, expected);
});

/// Creates 30 groups with three documents each and one open editor per document.
async fn open_90_documents(fixture: &DocumentServerFixture) -> Vec<(String, OpenEditor)> {
    let (ada, class) = (fixture.app.as_(&fixture.app.world.ada), &fixture.app.world.seven_b);
    let mut groups = vec![fixture.group.clone()];
    for _ in 0..29 {
        groups.push(group(&ada, class, &[], json!({})).await);
    }
    let attach = format!("/assignments/{}/groups", fixture.topic);
    ada.post(&attach, json!({"groupIds": groups[1..]})).await.expect(200);
    let mut open = Vec::new();
    for group in &groups {
        let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
        for number in 0..3 {
            let title = format!("Page {number}");
            let document = fixture.document_in(room.as_str().unwrap(), &title).await;
            let editor = fixture.open(&fixture.app.world.ada, &document).await;
            editor.type_text(&format!("Words of {document}.")).await.unwrap();
            open.push((document, editor));
        }
    }
    open
}

async fn count(fixture: &DocumentServerFixture, what: &str) -> String {
    let query = format!("SELECT CAST(COUNT(*) AS TEXT) FROM {what}");
    texts(&fixture.app.database, query).await[0].clone().unwrap()
}

with_document_server!(
    finish_locks_90_open_documents_in_one_request,
    // The periodic check would send a command, too.
    ["--docserver-reconcile-interval-seconds=3600"],
    |fixture| {
        let open = open_90_documents(fixture).await;
        let since = Instant::now();
        let done = fixture.finish().await;
        println!(
            "  90 open documents were finished in {} ms",
            since.elapsed().as_millis()
        );
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"], &done["groups"]),
            (&json!(90), &json!([]), &json!(31))
        );
        assert_eq!(
            count(fixture, "documents WHERE status = 'LOCKED' AND version = 1").await,
            "90"
        );
        for (document, editor) in open.iter().step_by(17) {
            assert!(fixture.text(document).await.contains(&format!("Words of {document}.")));
            assert!(editor.type_text("More.").await.is_err(), "sent out");
        }
        let most = fixture.server.max_concurrent_commands();
        assert!((2..=8).contains(&most), "{most} commands at once");
        assert_eq!(fixture.reopen().await["unlockedDocuments"], 90);
    }
);

with_document_server!(
    hanging_document_server_delays_finish_by_one_timeout,
    ["--docserver-command-seconds=1"],
    |fixture| {
        let mut documents = Vec::new();
        for number in 0..24 {
            documents.push(fixture.document(&format!("Page {number}")).await);
        }
        let editor = fixture.open(&fixture.app.world.ben, &documents[20]).await;
        editor.type_text("Before the bell.").await.unwrap();
        fixture.server.faults().update(|faults| faults.command_delay = 60_000);
        let begun = fixture.server.command_count();
        let done = fixture.finish().await;
        documents.sort();
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"]),
            (&json!(24), &json!(documents))
        );
        let asked = fixture.server.command_count() - begun;
        assert!(asked < 20, "after eight in a row nobody is asked any more: {asked}");
        // The document server recovers; text from before the finish is saved when the session ends.
        fixture.server.faults().clear();
        assert!(editor.close().await.unwrap().accepted);
        assert!(has_text(fixture, &done["unsavedDocuments"], "Before the bell.").await);
    }
);

/// Returns whether one of these documents has this text.
async fn has_text(fixture: &DocumentServerFixture, documents: &Value, text: &str) -> bool {
    for document in documents.as_array().unwrap() {
        if fixture.text(document.as_str().unwrap()).await.contains(text) {
            return true;
        }
    }
    false
}

with_document_server!(
    finish_has_time_limit_and_lists_unsaved_documents,
    [
        "--docserver-command-seconds=2",
        "--docserver-finish-seconds=3",
        // The periodic check would send a command, too.
        "--docserver-reconcile-interval-seconds=3600"
    ],
    |fixture| {
        let mut documents = Vec::new();
        for number in 0..20 {
            documents.push(fixture.document(&format!("Page {number}")).await);
        }
        // Every forced save is started and none arrives: eight concurrent requests, two seconds each.
        fixture
            .server
            .faults()
            .update(|faults| faults.forcesave_response = Some(0));
        let begun = fixture.server.command_count();
        let done = fixture.finish().await;
        documents.sort();
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"]),
            (&json!(20), &json!(documents))
        );
        // Two rounds of eight, and the drop commands of the first.
        let asked = fixture.server.command_count() - begun;
        assert!(asked <= 24, "{asked} commands");
        assert_eq!(count(fixture, "documents WHERE status = 'LOCKED'").await, "20");
    }
);
