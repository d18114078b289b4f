//! Checks S1 to S8: open editors when a document is submitted, locked or reopened.

use std::time::Duration;

use document_server_simulator::Faults;
use rand::RngExt as _;
use serde_json::{Value, json};

use crate::documents::{every_read, every_write, id, list, path as path_of, room, statuses};
use crate::finish::status;
use crate::submissions::copied_text;
use test_support::document_server_fixture::{DocumentServerFixture, eventually, next_second, path, words};
use test_support::office::docx;
use test_support::rows::texts;
use test_support::size;

/// Returns the commands about a document in order.
pub(super) fn commands(fixture: &DocumentServerFixture, document: &str) -> Vec<String> {
    let heard = fixture
        .server
        .requests()
        .into_iter()
        .filter(|heard| heard.what == "command");
    let about = heard.filter(|heard| {
        heard.parameters["key"]
            .as_str()
            .is_some_and(|key| key.contains(document))
    });
    about
        .map(|heard| heard.parameters["c"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the texts of all revisions of a document, including those that never became its content.
async fn text_of_all_revisions(fixture: &DocumentServerFixture, document: &str) -> String {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let mut all = String::new();
    for version in fixture.versions(document).await {
        let bytes = ada
            .get(&path(document, &format!("/versions/{}/download", version["version"])))
            .await;
        assert_eq!(bytes.status, 200);
        all.push_str(&words(&bytes.bytes));
    }
    all
}

/// Waits until no editing session of the document is recorded.
pub(super) async fn wait_for_no_sessions(fixture: &DocumentServerFixture, document: &str) {
    let sessions = format!("SELECT document_key FROM editing_sessions WHERE document_id = '{document}'");
    eventually(async || texts(&fixture.app.database, sessions.clone()).await.is_empty()).await;
}

with_both_editors!(s01_submission_contains_text_typed_before, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let editor = fixture.open_editor(&world.cem, &document).await;
    editor.type_text("Typed before.").await.unwrap();
    fixture.server.clear_log();
    let submitted = fixture.submit(&world.ben, &document).await.expect(200);
    assert!(copied_text(fixture, &document).await.contains("Typed before."));
    assert_eq!(submitted["document"]["version"], 1);
    let stored = &fixture.versions(&document).await[0];
    assert_eq!(submitted["submission"]["documents"][0]["sha256"], stored["sha256"]);
    // The document server is asked first, then disconnects the editors.
    let expected: &[&str] = if fixture.is_builtin() {
        &[]
    } else {
        &["forcesave", "drop"]
    };
    assert_eq!(commands(fixture, &document), expected);
    assert!(
        editor.type_text("Typed after.").await.is_err(),
        "the editors were sent out"
    );
    let closed = editor.close().await.unwrap();
    assert_ne!(closed.status, Some(3));
    assert_eq!(fixture.origins(&document).await, ["FORCESAVE"]);
});

with_both_editors!(s02_save_after_submission_is_stored_as_late_revision, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let editor = fixture.open_editor(&world.cem, &document).await;
    editor.type_text("Before.").await.unwrap();
    fixture.ignore_drops(&[&editor]);
    fixture.submit(&world.ben, &document).await.expect(200);
    editor.type_text("After.").await.unwrap();
    editor.close_saved().await;
    fixture
        .expect_origins(&document, &["LATE_AFTER_LOCK", "FORCESAVE"])
        .await;
    for text in [fixture.text(&document).await, copied_text(fixture, &document).await] {
        assert!(text.contains("Before.") && !text.contains("After."), "{text}");
    }
});

with_document_server!(s02_pending_save_completes_the_submission, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&world.cem, &document).await;
    editor.type_text("On its way.").await.unwrap();
    // The document server does not respond, so the submission uses the stored content.
    fixture.server.set_faults(Faults {
        command_error: Some(3),
        ..Faults::default()
    });
    let submitted = fixture.submit(&world.ben, &document).await.expect(200);
    assert_eq!(submitted["document"]["version"], 0);
    assert!(!copied_text(fixture, &document).await.contains("On its way."));
    fixture.server.faults().clear();
    let reader = fixture.open(&world.ada, &document).await;
    let key = fixture.key(&document).await;
    assert!(!reader.text().await.unwrap().contains("On its way."));
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    assert!(copied_text(fixture, &document).await.contains("On its way."));
    assert!(fixture.text(&document).await.contains("On its way."));
    // Under the key of a reader, the document server has the previous content.
    assert_ne!(fixture.key(&document).await, key);
    let second = fixture.open(&world.ada, &document).await;
    assert!(second.text().await.unwrap().contains("On its way."));
    let link = fixture
        .app
        .as_(&world.ben)
        .get(&format!("/assignments/{}", fixture.topic))
        .await
        .expect(200);
    assert_eq!(
        link["groupAssignments"][0]["currentSubmissionId"],
        submitted["submission"]["id"]
    );
});

with_document_server!(s02_locked_document_accepts_save_of_text_before_finish, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("On its way.").await.unwrap();
    fixture.server.set_faults(Faults {
        command_error: Some(3),
        ignores_drop: true,
        ..Faults::default()
    });
    assert_eq!(fixture.finish().await["unsavedDocuments"], json!([document]));
    fixture.server.faults().update(|faults| faults.hold = vec![6]);
    assert_eq!(editor.press_save().await.unwrap(), 0);
    fixture.server.faults().wait_until_held(1).await;
    next_second().await;
    editor.type_text("After the bell.").await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    assert_eq!(fixture.text(&document).await, "", "its last change came after the bell");
    fixture.server.faults().clear();
    // The forced save arrives last, but it is the newest save from before the finish.
    eventually(async || fixture.text(&document).await.contains("On its way.")).await;
    assert!(!fixture.text(&document).await.contains("After the bell."));
    assert!(
        text_of_all_revisions(fixture, &document)
            .await
            .contains("After the bell.")
    );
    assert_eq!(status(fixture, &document).await.0, "LOCKED");
});

with_both_editors!(s03_text_before_finish_is_content_and_later_text_is_late, |fixture| {
    let world = &fixture.app.world;
    let (notes, page) = (fixture.document("Notes").await, fixture.document("Page").await);
    let (bens, cems) = (
        fixture.open_editor(&world.ben, &notes).await,
        fixture.open_editor(&world.cem, &page).await,
    );
    bens.type_text("Before the bell.").await.unwrap();
    cems.type_text("Also before.").await.unwrap();
    fixture.ignore_drops(&[&bens, &cems]);
    let done = fixture.finish().await;
    assert_eq!(
        (&done["lockedDocuments"], &done["unsavedDocuments"]),
        (&json!(2), &json!([]))
    );
    let locked = fixture.text(&notes).await;
    assert!(locked.contains("Before the bell."));
    assert!(fixture.text(&page).await.contains("Also before."));
    let version = fixture.get_document(&notes).await["version"].clone();

    bens.type_text("After the bell.").await.unwrap();
    bens.close_saved().await;
    fixture.expect_origins(&notes, &["LATE_AFTER_LOCK", "FORCESAVE"]).await;
    assert_eq!(fixture.text(&notes).await, locked, "the locked bytes stay as they are");
    assert_eq!(fixture.get_document(&notes).await["version"], version);
    let shown = fixture
        .app
        .as_(&world.ben)
        .get(&path(&notes, "/versions"))
        .await
        .expect(200);
    assert_eq!(shown.as_array().unwrap().len(), 1, "late versions are for the staff");
    assert!(cems.close().await.unwrap().accepted);
});

with_both_editors!(s04_failed_forced_save_does_not_prevent_locking, |fixture| {
    let mut open = Vec::new();
    for number in 0..5 {
        let document = fixture.document(&format!("Page {number}")).await;
        let editor = fixture.open_editor(&fixture.app.world.ben, &document).await;
        editor.type_text(&format!("Words {number}.")).await.unwrap();
        open.push((document, editor));
    }
    let unlucky = open[2].0.clone();
    fixture.server.set_faults(Faults {
        command_error: Some(3),
        command_key: Some(unlucky.clone()),
        ..Faults::default()
    });
    let done = fixture.finish().await;
    // The built-in editor needs no document server.
    let is_unsaved = |document: &String| !fixture.is_builtin() && *document == unlucky;
    let unsaved: Vec<&String> = Some(&unlucky)
        .into_iter()
        .filter(|document| is_unsaved(document))
        .collect();
    assert_eq!(
        (&done["lockedDocuments"], &done["unsavedDocuments"]),
        (&json!(5), &json!(unsaved))
    );
    for (number, (document, _)) in open.iter().enumerate() {
        assert_eq!(status(fixture, document).await, (json!("LOCKED"), json!("DRAFT")));
        let is_here = fixture.text(document).await.contains(&format!("Words {number}."));
        assert_eq!(is_here, !is_unsaved(document), "page {number}");
    }
    // A repeated finish contacts the editors that it could not reach, and changes nothing else.
    fixture.server.faults().clear();
    let again = fixture.finish().await;
    assert_eq!(
        (
            &again["lockedDocuments"],
            &again["alreadyFinished"],
            &again["unsavedDocuments"]
        ),
        (&json!(0), &json!(true), &json!([]))
    );
    assert!(fixture.text(&unlucky).await.contains("Words 2."));
    assert!(open[2].1.type_text("More.").await.is_err(), "its editor was sent out");
    assert_eq!(fixture.finish().await["finishedAt"], done["finishedAt"]);
});

both!(s05_locked_document_rejects_changes_of_all_roles, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    let made = ben.upload(&list(&room), "a.docx", docx("a"), &[]).await.expect(201);
    app.lock(id(&made)).await;
    let locked = ben.get(&path_of(&made)).await.expect(200);
    assert_eq!(
        (&locked["status"], &locked["statusBeforeLock"]),
        (&json!("LOCKED"), &json!("DRAFT"))
    );
    assert_eq!((&locked["canEdit"], &locked["mode"]), (&json!(false), &json!("view")));
    for person in [&app.world.ben, &app.world.ada, &app.world.adam, &app.world.root] {
        let client = app.as_(person);
        for answer in every_write(&client, &path_of(&made)).await {
            answer.refused(423, "DOCUMENT_LOCKED");
        }
        assert_eq!(
            statuses(&every_read(&client, &path_of(&made)).await),
            [200; 4],
            "{}",
            person.name
        );
    }
    // A class that is also archived does not weaken the lock.
    app.set_class_status(&app.world.seven_b, "ARCHIVED").await;
    for answer in every_write(&ben, &path_of(&made)).await {
        answer.refused(423, "DOCUMENT_LOCKED");
    }
    assert_eq!(
        ben.get(&path_of(&made)).await.expect(200)["updatedAt"],
        locked["updatedAt"]
    );
    assert_eq!(app.stored_files().len(), 1);
});

with_both_editors!(s06_reopen_restores_previous_status, |fixture| {
    let world = &fixture.app.world;
    let (submitted, draft) = (fixture.document("Handed in").await, fixture.document("Draft").await);
    let submission = fixture.submit(&world.ben, &submitted).await.expect(200)["submission"]["id"].clone();
    let keys = [fixture.key(&submitted).await, fixture.key(&draft).await];
    fixture.finish().await;
    let locked = [fixture.key(&submitted).await, fixture.key(&draft).await];
    let reopening = format!("/assignments/{}/reopen", fixture.topic);
    let refused = fixture
        .app
        .as_(&world.ben)
        .send(reqwest::Method::POST, &reopening, None)
        .await;
    refused.refused(403, "FORBIDDEN_ROLE");
    let open = fixture.reopen().await;
    assert_eq!(
        open,
        json!({"assignmentId": fixture.topic, "status": "ACTIVE", "unlockedDocuments": 2, "stillLockedDocuments": [], "groups": 2})
    );
    assert_eq!(status(fixture, &submitted).await, (json!("SUBMITTED"), Value::Null));
    assert_eq!(status(fixture, &draft).await, (json!("DRAFT"), Value::Null));
    let reopened = [fixture.key(&submitted).await, fixture.key(&draft).await];
    for document in 0..2 {
        assert!(keys[document] != locked[document] && locked[document] != reopened[document]);
    }
    let topic = fixture
        .app
        .as_(&world.ben)
        .get(&format!("/assignments/{}", fixture.topic))
        .await
        .expect(200);
    assert_eq!(topic["groupAssignments"][0]["currentSubmissionId"], submission);
    fixture.write(&world.ben, &draft, "It goes on.").await;
    assert_eq!(
        fixture.reopen().await["unlockedDocuments"],
        0,
        "repeating changes nothing"
    );
});

with_both_editors!(s07_finish_during_typing_and_closing_loses_no_text, |fixture| {
    let world = &fixture.app.world;
    let draft = fixture.document("Our page").await;
    for round in 0..size(20, 200) {
        let before = format!("Before {round}.");
        let editor = fixture.open_editor(&world.ben, &draft).await;
        editor.type_text(&before).await.unwrap();
        let delay = Duration::from_millis(rand::rng().random_range(0..40));
        if round % 2 == 0 {
            // The last editor disconnects.
            let leaving = async {
                tokio::time::sleep(delay).await;
                editor.close().await.unwrap()
            };
            let (closed, _) = tokio::join!(leaving, fixture.finish());
            // An editor that was disconnected by the finish first has no changes to report.
            assert!(closed.accepted || closed.status.is_none(), "round {round}: {closed:?}");
        } else {
            // An editor that ignores the disconnect and keeps typing.
            fixture.ignore_drops(&[&editor]);
            let during = format!("During {round}.");
            let writing = async {
                tokio::time::sleep(delay).await;
                editor.type_text(&during).await.unwrap();
            };
            tokio::join!(writing, fixture.finish());
            let (locked, version) = (
                fixture.text(&draft).await,
                fixture.get_document(&draft).await["version"].clone(),
            );
            let is_in = locked.contains(&during);
            let after = format!("After {round}.");
            editor.type_text(&after).await.unwrap();
            assert!(editor.close().await.unwrap().accepted, "round {round}");
            wait_for_no_sessions(fixture, &draft).await;
            // The built-in editor acknowledges late text before it is a revision.
            let mut everything = text_of_all_revisions(fixture, &draft).await;
            if fixture.is_builtin() {
                eventually(async || {
                    everything = text_of_all_revisions(fixture, &draft).await;
                    everything.contains(&after)
                })
                .await;
            }
            assert!(
                everything.contains(&during) && everything.contains(&after),
                "round {round}, in: {is_in}"
            );
            assert_eq!(fixture.text(&draft).await, locked, "round {round}");
            assert_eq!(fixture.get_document(&draft).await["version"], version, "round {round}");
            fixture.server.faults().clear();
        }
        wait_for_no_sessions(fixture, &draft).await;
        // The text was typed before the finish, so it is saved in either order.
        assert!(fixture.text(&draft).await.contains(&before), "round {round}");
        assert_eq!(status(fixture, &draft).await.0, "LOCKED");
        fixture.reopen().await;
    }
});

with_both_editors!(b17_late_text_is_readable_by_group_after_restore, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    fixture.write(&world.ben, &document, "First.").await;
    let editor = fixture.open_editor(&world.cem, &document).await;
    if !fixture.is_builtin() {
        editor.type_text("Of a colleague.").await.unwrap();
    }
    fixture.ignore_drops(&[&editor]);
    let ben = fixture.app.as_(&world.ben);
    ben.post(&path(&document, "/versions/1/restore"), json!({}))
        .await
        .expect(200);
    if fixture.is_builtin() {
        // A commit before the restore would be in a revision of its own.
        editor.type_text("Of a colleague.").await.unwrap();
    }
    editor.close().await.unwrap();
    eventually(async || fixture.origins(&document).await.contains(&"LATE".to_owned())).await;
    assert!(!fixture.text(&document).await.contains("Of a colleague."));
    let versions = ben.get(&path(&document, "/versions")).await.expect(200);
    let versions = versions.as_array().unwrap().iter();
    let late = versions.clone().find(|version| version["origin"] == "LATE").unwrap();
    assert_eq!(late["savedById"], json!(world.cem.id));
    let restore = format!("/versions/{}/restore", late["version"]);
    ben.post(&path(&document, &restore), json!({})).await.expect(200);
    assert!(fixture.text(&document).await.contains("Of a colleague."));
});
