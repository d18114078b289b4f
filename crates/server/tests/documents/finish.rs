//! Finishing a topic locks all documents for all users. Reopening restores the exact previous state.

use std::time::Instant;

use document_server_simulator::client::Editor;
use document_server_simulator::{Faults, Outage};
use serde_json::{Value, json};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::rows::{execute, texts};
use test_support::topics::group;

pub async fn status(studio: &DocumentServerFixture, document: &str) -> (Value, Value) {
    let seen = studio.seen(document).await;
    (seen["status"].clone(), seen["statusBeforeLock"].clone())
}

studio!(finish_locks_documents_of_all_groups_for_all_roles, |studio| {
    let (world, ada) = (&studio.app.world, studio.app.as_(&studio.app.world.ada));
    let submitted = studio.document("Handed in").await;
    studio.submit(&world.ben, &submitted).await.expect(200);
    let draft = studio.document("Draft").await;
    let hidden = studio.document_in(&studio.hidden_room().await, "Hidden").await;
    let finishing = format!("/assignments/{}/finish", studio.topic);
    let post = async |person| {
        studio
            .app
            .as_(person)
            .send(reqwest::Method::POST, &finishing, None)
            .await
    };
    post(&world.ben).await.refused(403, "FORBIDDEN_ROLE");
    post(&world.tom).await.refused(403, "NOT_CLASS_TEACHER");
    post(&world.zoe).await.refused(404, "NOT_FOUND");

    let mut done = studio.finish().await;
    let at = done["finishedAt"].take();
    assert!(at.is_string());
    let expected = json!({"assignmentId": studio.topic, "status": "FINISHED", "finishedAt": null, "lockedDocuments": 3,
        "groups": 2, "alreadyFinished": false, "unlinkedDrafts": [], "openDocuments": [], "unsavedDocuments": []});
    assert_eq!(done, expected);
    assert_eq!(status(studio, &submitted).await, (json!("LOCKED"), json!("SUBMITTED")));
    assert_eq!(status(studio, &draft).await, (json!("LOCKED"), json!("DRAFT")));
    assert_eq!(status(studio, &hidden).await, (json!("LOCKED"), json!("DRAFT")));
    for person in [&world.ben, &world.ada, &world.adam] {
        let client = studio.app.as_(person);
        for document in [&submitted, &draft] {
            let body = json!({"assignmentId": studio.topic});
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

    let again = studio.finish().await;
    assert_eq!(
        (&again["lockedDocuments"], &again["alreadyFinished"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(again["finishedAt"], at, "the first moment counts");
    let late = studio.document("Made after the bell").await;
    studio
        .submit(&world.ben, &late)
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    assert_eq!(
        studio.finish().await["lockedDocuments"],
        1,
        "documents made since are locked, too"
    );
});

studio!(topic_with_group_of_another_course_is_not_reopened, |studio| {
    let ada = studio.app.as_(&studio.app.world.ada);
    let draft = studio.document("Draft").await;
    studio.finish().await;
    let course = test_support::topics::course(&ada, &studio.app.world.seven_b, "Plants").await;
    ada.patch(&format!("/groups/{}", studio.group), json!({"courseId": course}))
        .await
        .expect(200);
    let reopening = format!("/assignments/{}/reopen", studio.topic);
    let refused = ada
        .send(reqwest::Method::POST, &reopening, None)
        .await
        .refused(409, "COURSE_MISMATCH");
    assert!(refused["details"].to_string().contains(&studio.group));
    assert_eq!(status(studio, &draft).await.0, "LOCKED");
});

studio!(finish_recovers_forgotten_save, |studio| {
    let draft = studio.document("Draft").await;
    let editor = studio.open(&studio.app.world.ben, &draft).await;
    editor.type_text("Forgotten.").await.unwrap();
    studio.server.set_faults(Faults {
        forgets_saves: true,
        ..Faults::default()
    });
    assert!(!editor.close().await.unwrap().accepted);
    studio.server.faults().clear();
    assert_eq!(studio.finish().await["unsavedDocuments"], json!([]));
    assert!(studio.text(&draft).await.contains("Forgotten."));
    assert!(studio.server.forgotten_keys().is_empty());
});

studio!(interrupted_finish_is_completed_by_next_start, |studio| {
    let draft = studio.document("Draft").await;
    let editor = studio.open(&studio.app.world.ben, &draft).await;
    editor.type_text("Before the power went.").await.unwrap();
    let noted = async || {
        let count = format!("SELECT document_key FROM editing_sessions WHERE document_id = '{draft}'");
        test_support::rows::texts(&studio.app.database, count).await.len() == 1
    };
    test_support::document_server_fixture::eventually(noted).await;
    studio.server.set_faults(Faults {
        down: Some(Outage::Unavailable),
        ..Faults::default()
    });
    studio.finish().await;
    studio.server.faults().clear();
    // Simulates a start of the service after the session was silent for a long time.
    execute(
        &studio.app.database,
        "UPDATE editing_sessions SET last_callback_at = 1".to_owned(),
    )
    .await;
    studio.app.app.document_workflows().reconcile_once().await;
    assert!(studio.text(&draft).await.contains("Before the power went."));
    assert!(editor.type_text("More.").await.is_err(), "its editors were sent out");
});

studio!(concurrent_finish_and_reopen_leave_consistent_status, |studio| {
    let draft = studio.document("Draft").await;
    let ada = studio.app.as_(&studio.app.world.ada);
    let (finish, reopen) = (
        format!("/assignments/{}/finish", studio.topic),
        format!("/assignments/{}/reopen", studio.topic),
    );
    let all = (0..8).map(|number| {
        let path = if number % 2 == 0 { &finish } else { &reopen };
        ada.send(reqwest::Method::POST, path, None)
    });
    for answer in futures_util::future::join_all(all).await {
        answer.expect(200);
    }
    let topic = ada.get(&format!("/assignments/{}", studio.topic)).await.expect(200);
    let expected = if topic["status"] == "FINISHED" {
        "LOCKED"
    } else {
        "DRAFT"
    };
    assert_eq!(status(studio, &draft).await.0, expected);
});

/// Creates 30 groups with three documents each and one open editor per document.
async fn open_90_documents(studio: &DocumentServerFixture) -> Vec<(String, Editor)> {
    let (ada, class) = (studio.app.as_(&studio.app.world.ada), &studio.app.world.seven_b);
    let mut groups = vec![studio.group.clone()];
    for _ in 0..29 {
        groups.push(group(&ada, class, &[], json!({})).await);
    }
    let attach = format!("/assignments/{}/groups", studio.topic);
    ada.post(&attach, json!({"groupIds": groups[1..]})).await.expect(200);
    let mut open = Vec::new();
    for group in &groups {
        let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
        for number in 0..3 {
            let title = format!("Page {number}");
            let document = studio.document_in(room.as_str().unwrap(), &title).await;
            let editor = studio.open(&studio.app.world.ada, &document).await;
            editor.type_text(&format!("Words of {document}.")).await.unwrap();
            open.push((document, editor));
        }
    }
    open
}

async fn count(studio: &DocumentServerFixture, what: &str) -> String {
    let query = format!("SELECT CAST(COUNT(*) AS TEXT) FROM {what}");
    texts(&studio.app.database, query).await[0].clone().unwrap()
}

studio!(finish_locks_90_open_documents_in_one_request, |studio| {
    let open = open_90_documents(studio).await;
    let since = Instant::now();
    let done = studio.finish().await;
    println!(
        "  90 open documents were finished in {} ms",
        since.elapsed().as_millis()
    );
    assert_eq!(
        (&done["lockedDocuments"], &done["unsavedDocuments"], &done["groups"]),
        (&json!(90), &json!([]), &json!(31))
    );
    assert_eq!(
        count(studio, "documents WHERE status = 'LOCKED' AND version = 1").await,
        "90"
    );
    for (document, editor) in open.iter().step_by(17) {
        assert!(studio.text(document).await.contains(&format!("Words of {document}.")));
        assert!(editor.type_text("More.").await.is_err(), "sent out");
    }
    let most = studio.server.max_concurrent_commands();
    assert!((2..=8).contains(&most), "{most} commands at once");
    assert_eq!(studio.reopen().await["unlockedDocuments"], 90);
});

studio!(
    hanging_document_server_delays_finish_by_one_timeout,
    ["--docserver-command-seconds=1"],
    |studio| {
        let mut documents = Vec::new();
        for number in 0..24 {
            documents.push(studio.document(&format!("Page {number}")).await);
        }
        let editor = studio.open(&studio.app.world.ben, &documents[20]).await;
        editor.type_text("Before the bell.").await.unwrap();
        studio.server.faults().update(|faults| faults.command_delay = 60_000);
        let begun = studio.server.command_count();
        let done = studio.finish().await;
        documents.sort();
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"]),
            (&json!(24), &json!(documents))
        );
        let asked = studio.server.command_count() - begun;
        assert!(asked < 20, "after eight in a row nobody is asked any more: {asked}");
        // The document server recovers; text from before the finish is saved when the session ends.
        studio.server.faults().clear();
        assert!(editor.close().await.unwrap().accepted);
        assert!(has_text(studio, &done["unsavedDocuments"], "Before the bell.").await);
    }
);

/// Returns whether one of these documents has this text.
async fn has_text(studio: &DocumentServerFixture, documents: &Value, text: &str) -> bool {
    for document in documents.as_array().unwrap() {
        if studio.text(document.as_str().unwrap()).await.contains(text) {
            return true;
        }
    }
    false
}

studio!(
    finish_has_time_limit_and_lists_unsaved_documents,
    ["--docserver-command-seconds=2", "--docserver-finish-seconds=3"],
    |studio| {
        let mut documents = Vec::new();
        for number in 0..20 {
            documents.push(studio.document(&format!("Page {number}")).await);
        }
        // Every forced save is started and none arrives: eight concurrent requests, two seconds each.
        studio
            .server
            .faults()
            .update(|faults| faults.forcesave_response = Some(0));
        let begun = studio.server.command_count();
        let done = studio.finish().await;
        documents.sort();
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"]),
            (&json!(20), &json!(documents))
        );
        // Two rounds of eight, and the drop commands of the first.
        let asked = studio.server.command_count() - begun;
        assert!(asked <= 24, "{asked} commands");
        assert_eq!(count(studio, "documents WHERE status = 'LOCKED'").await, "20");
    }
);
