//! The bell: finishing locks everything for everybody, reopening restores exactly what was (contract 4.4, 6.9, 8.3).

use practice_document_server::{Down, Faults};
use serde_json::{Value, json};

use crate::support::rows::execute;
use crate::support::studio::{Studio, path};
use crate::support::topics::{id, topic};

async fn status(studio: &Studio, document: &str) -> (Value, Value) {
    let seen = studio.seen(document).await;
    (seen["status"].clone(), seen["statusBeforeLock"].clone())
}

studio!(finishing_locks_the_documents_of_all_groups_for_everybody, |studio| {
    let (world, ada) = (&studio.app.world, studio.app.as_(&studio.app.world.ada));
    let handed_in = studio.document("Handed in").await;
    studio.submit(&world.ben, &handed_in).await.expect(200);
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
        "groups": 2, "alreadyFinished": false, "unsavedDocuments": []});
    assert_eq!(done, expected);
    assert_eq!(status(studio, &handed_in).await, (json!("LOCKED"), json!("SUBMITTED")));
    assert_eq!(status(studio, &draft).await, (json!("LOCKED"), json!("DRAFT")));
    assert_eq!(status(studio, &hidden).await, (json!("LOCKED"), json!("DRAFT")));
    for person in [&world.ben, &world.ada, &world.adam] {
        let client = studio.app.as_(person);
        for document in [&handed_in, &draft] {
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
    // The service wants to know the topic before it looks at the lock.
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

studio!(reopening_restores_exactly_what_was, |studio| {
    let world = &studio.app.world;
    let (handed_in, draft) = (studio.document("Handed in").await, studio.document("Draft").await);
    let submission = studio.submit(&world.ben, &handed_in).await.expect(200)["submission"]["id"].clone();
    let keys = [studio.key(&handed_in).await, studio.key(&draft).await];
    studio.finish().await;
    let locked = [studio.key(&handed_in).await, studio.key(&draft).await];
    let reopening = format!("/assignments/{}/reopen", studio.topic);
    let refused = studio
        .app
        .as_(&world.ben)
        .send(reqwest::Method::POST, &reopening, None)
        .await;
    refused.refused(403, "FORBIDDEN_ROLE");
    let open = studio.reopen().await;
    assert_eq!(
        open,
        json!({"assignmentId": studio.topic, "status": "ACTIVE", "unlockedDocuments": 2, "groups": 2})
    );
    assert_eq!(status(studio, &handed_in).await, (json!("SUBMITTED"), Value::Null));
    assert_eq!(status(studio, &draft).await, (json!("DRAFT"), Value::Null));
    let reopened = [studio.key(&handed_in).await, studio.key(&draft).await];
    for document in 0..2 {
        assert!(keys[document] != locked[document] && locked[document] != reopened[document]);
    }
    let topic = studio
        .app
        .as_(&world.ben)
        .get(&format!("/assignments/{}", studio.topic))
        .await
        .expect(200);
    assert_eq!(topic["groupAssignments"][0]["currentSubmissionId"], submission);
    studio.write(&world.ben, &draft, "It goes on.").await;
    assert_eq!(
        studio.reopen().await["unlockedDocuments"],
        0,
        "repeating changes nothing"
    );
});

studio!(two_topics_in_one_room_do_not_touch_each_other, |studio| {
    let ada = studio.app.as_(&studio.app.world.ada);
    let more = json!({"title": "Plants", "groupIds": [studio.group]});
    let plants = id(&topic(&ada, &studio.app.world.seven_b, more).await);
    let rooms = format!("/workrooms/{}/documents", studio.room);
    let new = |title: &str, topic: Option<&str>| json!({"title": title, "documentType": "word", "assignmentId": topic});
    let own = id(&ada.post(&rooms, new("Cells", Some(&studio.topic))).await.expect(201));
    let other = id(&ada.post(&rooms, new("Plants", Some(&plants))).await.expect(201));
    let loose = id(&ada.post(&rooms, new("Loose", None)).await.expect(201));

    assert_eq!(
        studio.finish().await["lockedDocuments"],
        1,
        "a loose draft may be for the other topic"
    );
    assert_eq!(status(studio, &own).await.0, "LOCKED");
    assert_eq!(
        (status(studio, &other).await.0, status(studio, &loose).await.0),
        (json!("DRAFT"), json!("DRAFT"))
    );
    let finish_plants = format!("/assignments/{plants}/finish");
    let done = ada.send(reqwest::Method::POST, &finish_plants, None).await.expect(200);
    assert_eq!(done["lockedDocuments"], 2);
    assert_eq!(studio.reopen().await["unlockedDocuments"], 1);
    assert_eq!(status(studio, &own).await.0, "DRAFT");
    assert_eq!(
        (status(studio, &other).await.0, status(studio, &loose).await.0),
        (json!("LOCKED"), json!("LOCKED"))
    );
});

studio!(a_topic_whose_group_moved_to_another_course_stays_finished, |studio| {
    let ada = studio.app.as_(&studio.app.world.ada);
    let draft = studio.document("Draft").await;
    studio.finish().await;
    let course = crate::support::topics::course(&ada, &studio.app.world.seven_b, "Plants").await;
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

studio!(
    what_was_typed_before_the_bell_is_kept_and_what_came_after_is_late,
    |studio| {
        let world = &studio.app.world;
        let (notes, page) = (studio.document("Notes").await, studio.document("Page").await);
        let (bens, cems) = (
            studio.open(&world.ben, &notes).await,
            studio.open(&world.cem, &page).await,
        );
        bens.type_text("Before the bell.").await.unwrap();
        cems.type_text("Also before.").await.unwrap();
        studio.server.set_faults(Faults {
            ignores_drop: true,
            ..Faults::default()
        });
        let done = studio.finish().await;
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"]),
            (&json!(2), &json!([]))
        );
        let locked = studio.text(&notes).await;
        assert!(locked.contains("Before the bell."));
        assert!(studio.text(&page).await.contains("Also before."));
        let version = studio.seen(&notes).await["version"].clone();

        bens.type_text("After the bell.").await.unwrap();
        let closed = bens.close().await.unwrap();
        assert_eq!((closed.status, closed.accepted), (Some(2), true));
        assert_eq!(studio.text(&notes).await, locked, "the locked bytes stay as they are");
        assert_eq!(studio.seen(&notes).await["version"], version);
        assert_eq!(studio.origins(&notes).await, ["LATE_AFTER_LOCK", "FORCESAVE"]);
        let shown = studio
            .app
            .as_(&world.ben)
            .get(&path(&notes, "/versions"))
            .await
            .expect(200);
        assert_eq!(shown.as_array().unwrap().len(), 1, "late versions are for the staff");
        assert!(cems.close().await.unwrap().accepted);
    }
);

studio!(a_document_server_that_is_away_does_not_hold_up_the_bell, |studio| {
    let (draft, handed_in) = (studio.document("Draft").await, studio.document("Handed in").await);
    studio.submit(&studio.app.world.ben, &handed_in).await.expect(200);
    let editor = studio.open(&studio.app.world.ben, &draft).await;
    editor.type_text("Not yet saved.").await.unwrap();
    studio.server.set_faults(Faults {
        down: Some(Down::Unavailable),
        ..Faults::default()
    });
    let done = studio.finish().await;
    assert_eq!(
        (&done["lockedDocuments"], &done["unsavedDocuments"]),
        (&json!(2), &json!([draft]))
    );
    let config = studio.configuration(&studio.app.world.ben, &draft).await;
    assert_eq!(config["editorConfig"]["mode"], "view");
    // It comes back, the editor closes, and what it had is completed: it was typed before the bell.
    studio.server.faults().clear();
    assert!(editor.close().await.unwrap().accepted);
    assert!(studio.text(&draft).await.contains("Not yet saved."));
    assert_eq!(status(studio, &draft).await.0, "LOCKED");
});

studio!(a_save_nobody_took_is_asked_for_at_the_bell, |studio| {
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

studio!(a_bell_that_was_cut_short_is_completed_by_the_next_start, |studio| {
    let draft = studio.document("Draft").await;
    let editor = studio.open(&studio.app.world.ben, &draft).await;
    editor.type_text("Before the power went.").await.unwrap();
    let noted = async || {
        let count = format!("SELECT document_key FROM editing_sessions WHERE document_id = '{draft}'");
        crate::support::rows::texts(&studio.app.database, count).await.len() == 1
    };
    crate::support::studio::eventually(noted).await;
    studio.server.set_faults(Faults {
        down: Some(Down::Unavailable),
        ..Faults::default()
    });
    studio.finish().await;
    studio.server.faults().clear();
    // As a start does; the session was silent for long by then.
    execute(
        &studio.app.database,
        "UPDATE editing_sessions SET last_callback_at = 1".to_owned(),
    )
    .await;
    studio.app.app.editing().sweep().await;
    assert!(studio.text(&draft).await.contains("Before the power went."));
    assert!(editor.type_text("More.").await.is_err(), "its editors were sent out");
});

studio!(finishes_and_reopens_at_once_leave_one_clear_state, |studio| {
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

studio!(a_bell_while_the_last_editor_leaves_loses_no_word, |studio| {
    for round in 0..8 {
        let draft = studio.document(&format!("Draft {round}")).await;
        let editor = studio.open(&studio.app.world.ben, &draft).await;
        editor.type_text("Just in time.").await.unwrap();
        let (closed, _) = tokio::join!(editor.close(), studio.finish());
        assert!(closed.unwrap().accepted, "round {round}");
        // Typed before the bell, so it is in, whichever of the two came first.
        assert!(studio.text(&draft).await.contains("Just in time."), "round {round}");
        assert_eq!(status(studio, &draft).await.0, "LOCKED");
        studio.reopen().await;
    }
});
