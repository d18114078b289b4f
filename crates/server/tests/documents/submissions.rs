//! Submitting documents and withdrawing submissions.

use serde_json::{Value, json};

use test_support::document_server_fixture::{DocumentServerFixture, path, words};
use test_support::rows::{execute, texts};
use test_support::topics::id;

/// Returns the text of the copy of a document in the current attempt.
pub async fn copied_text(fixture: &DocumentServerFixture, document: &str) -> String {
    let of_document = format!(
        "SELECT sd.file_key FROM submission_documents sd JOIN submissions s ON s.id = sd.submission_id
         WHERE sd.document_id = '{document}' AND s.status = 'ACTIVE'"
    );
    let key = texts(&fixture.app.database, of_document).await[0].clone().unwrap();
    let folder = fixture.app.folder().join("files");
    for entry in std::fs::read_dir(folder).unwrap() {
        let place = entry.unwrap().path().join(&key);
        if place.exists() {
            return words(&std::fs::read(place).unwrap());
        }
    }
    panic!("no file {key}");
}

with_both_editors_long!(submission_requires_topic_and_stores_copy, |fixture| {
    let (ben, ada) = (
        fixture.app.as_(&fixture.app.world.ben),
        fixture.app.as_(&fixture.app.world.ada),
    );
    let document = fixture.document("Our page").await;
    fixture.write(&fixture.app.world.ben, &document, "Finished.").await;
    let submit = path(&document, "/submit");
    for body in [
        json!({}),
        json!({"assignmentId": null}),
        json!({"assignmentId": " "}),
        json!({"note": "x"}),
    ] {
        let refused = ben.post(&submit, body).await.refused(400, "ASSIGNMENT_ID_REQUIRED");
        assert_eq!(refused["details"][0]["path"], "assignmentId");
    }
    ben.send(reqwest::Method::POST, &submit, None)
        .await
        .refused(400, "ASSIGNMENT_ID_REQUIRED");
    ben.post(&submit, json!({"assignmentId": fixture.topic, "grade": "1"}))
        .await
        .invalid("grade");
    ben.post(&submit, json!({"assignmentId": fixture.topic, "confirm": false}))
        .await
        .invalid("confirm");
    let unknown = json!({"assignmentId": common::clock::new_id()});
    ben.post(&submit, unknown).await.refused(404, "NOT_FOUND");

    let key = fixture.key(&document).await;
    let body = json!({"assignmentId": fixture.topic, "note": " Please read. ", "confirm": true});
    let submitted = ben.post(&submit, body).await.expect(200);
    let submission = &submitted["submission"];
    assert_eq!(submitted["document"]["status"], "SUBMITTED");
    assert_eq!(
        (&submitted["document"]["canEdit"], &submitted["document"]["mode"]),
        (&json!(false), &json!("view"))
    );
    assert_eq!(submitted["document"]["assignmentId"], json!(fixture.topic));
    assert_eq!(
        (&submission["attempt"], &submission["status"]),
        (&json!(1), &json!("ACTIVE"))
    );
    assert_eq!(
        (&submission["isLate"], &submission["onBehalf"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(submission["note"], "Please read.");
    assert_eq!(submission["submittedById"], json!(fixture.app.world.ben.id));
    let mut members: Vec<&str> = submission["memberIds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    members.sort_unstable();
    let mut expected = vec![fixture.app.world.ben.id.as_str(), fixture.app.world.cem.id.as_str()];
    expected.sort_unstable();
    assert_eq!(members, expected);
    assert_eq!(submission["documents"][0]["documentId"], json!(document));
    let link = &submitted["groupAssignment"];
    assert_eq!(
        (&link["status"], &link["currentSubmissionId"]),
        (&json!("SUBMITTED"), &submission["id"])
    );
    assert_eq!(
        (&link["submittedCount"], &link["isComplete"]),
        (&json!(1), &json!(true))
    );
    assert!(link["effectiveDescription"].is_string() && link.get("descriptionOverride").is_none());
    assert!(copied_text(fixture, &document).await.contains("Finished."));
    assert_ne!(
        fixture.key(&document).await,
        key,
        "nobody joins the old session any more"
    );

    fixture
        .submit(&fixture.app.world.cem, &document)
        .await
        .refused(409, "ALREADY_SUBMITTED");
    ben.patch(&path(&document, ""), json!({"title": "X"}))
        .await
        .refused(409, "ALREADY_SUBMITTED");
    ada.delete(&path(&document, "")).await.refused(409, "ALREADY_SUBMITTED");
    for stranger in [&fixture.app.world.dana, &fixture.app.world.tom, &fixture.app.world.zoe] {
        fixture.submit(stranger, &document).await.refused(404, "NOT_FOUND");
        let unsubmit = fixture
            .app
            .as_(stranger)
            .post(&path(&document, "/unsubmit"), json!({}))
            .await;
        unsubmit.refused(404, "NOT_FOUND");
    }
    let topic = ada.get(&format!("/assignments/{}", fixture.topic)).await.expect(200);
    assert_eq!(topic["stats"]["submitted"], 1);
});

with_both_editors_long!(submission_after_unsubmit_is_second_attempt, |fixture| {
    let (ben, cem) = (
        fixture.app.as_(&fixture.app.world.ben),
        fixture.app.as_(&fixture.app.world.cem),
    );
    let document = fixture.document("Our page").await;
    let unsubmit = path(&document, "/unsubmit");
    ben.post(&unsubmit, json!({})).await.refused(409, "NOT_SUBMITTED");
    fixture.submit(&fixture.app.world.ben, &document).await.expect(200);
    let back = cem
        .post(&unsubmit, json!({"reason": "One more page."}))
        .await
        .expect(200);
    assert_eq!(back["document"]["status"], "DRAFT");
    let link = &back["groupAssignment"];
    assert_eq!(
        (&link["status"], &link["currentSubmissionId"]),
        (&json!("IN_PROGRESS"), &Value::Null)
    );
    assert!(link["currentSubmission"].is_null());
    cem.send(reqwest::Method::POST, &unsubmit, None)
        .await
        .refused(409, "NOT_SUBMITTED");

    fixture.write(&fixture.app.world.cem, &document, "One more page.").await;
    let again = fixture.submit(&fixture.app.world.cem, &document).await.expect(200);
    assert_eq!(
        (&again["submission"]["attempt"], &again["submission"]["status"]),
        (&json!(2), &json!("ACTIVE"))
    );
    assert!(copied_text(fixture, &document).await.contains("One more page."));
    let states = "SELECT status FROM submissions ORDER BY attempt".to_owned();
    let states: Vec<String> = texts(&fixture.app.database, states)
        .await
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(states, ["WITHDRAWN", "ACTIVE"]);
});

with_both_editors_long!(attempt_contains_all_submitted_documents, |fixture| {
    let ben = &fixture.app.world.ben;
    let (first, second) = (fixture.document("First").await, fixture.document("Second").await);
    fixture.write(ben, &first, "The first.").await;
    let one = fixture.submit(ben, &first).await.expect(200);
    let two = fixture.submit(ben, &second).await.expect(200);
    assert_eq!(two["submission"]["attempt"], 2);
    assert_eq!(two["submission"]["documents"].as_array().unwrap().len(), 2);
    assert_eq!(two["groupAssignment"]["submittedCount"], 2);
    let three = fixture
        .app
        .as_(ben)
        .post(&path(&second, "/unsubmit"), json!({}))
        .await
        .expect(200);
    let link = &three["groupAssignment"];
    assert_eq!(
        (&link["status"], &link["submittedCount"]),
        (&json!("SUBMITTED"), &json!(1))
    );
    let current = &link["currentSubmission"];
    assert_eq!(
        (&current["attempt"], &current["submittedAt"]),
        (&json!(3), &two["submission"]["submittedAt"])
    );
    assert_ne!(current["id"], one["submission"]["id"]);
    assert!(copied_text(fixture, &first).await.contains("The first."));
    let back = fixture
        .app
        .as_(ben)
        .post(&path(&first, "/unsubmit"), json!({}))
        .await
        .expect(200);
    assert_eq!(back["groupAssignment"]["status"], "IN_PROGRESS");
});

with_both_editors_long!(teacher_submits_for_group_and_lateness_is_recorded, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let topic = format!("/assignments/{}", fixture.topic);
    let past = json!({"deadline": "2026-01-01T00:00:00Z"});
    ada.patch(&topic, past).await.expect(200);
    let document = fixture.document("Our page").await;
    let submitted = fixture.submit(&world.ada, &document).await.expect(200);
    assert_eq!(
        (&submitted["submission"]["onBehalf"], &submitted["submission"]["isLate"]),
        (&json!(true), &json!(true))
    );
    assert!(submitted["submission"]["lateBySeconds"].as_i64().unwrap() > 0);
    ada.post(&path(&document, "/unsubmit"), json!({})).await.expect(200);

    ada.patch(&topic, json!({"latePolicy": "BLOCK"})).await.expect(200);
    fixture
        .submit(&world.ben, &document)
        .await
        .refused(409, "LATE_NOT_ALLOWED");
    let grace = json!({"lateAllowedUntil": "2099-01-01T00:00:00Z"});
    ada.patch(&format!("{topic}/groups/{}", fixture.group), grace)
        .await
        .expect(200);
    let submitted = fixture.submit(&world.ben, &document).await.expect(200);
    assert_eq!(submitted["submission"]["isLate"], false);
});

with_both_editors_long!(graded_work_and_archived_class_reject_submission, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    fixture.submit(&world.ben, &document).await.expect(200);
    let database = &fixture.app.database;
    execute(
        database,
        "UPDATE group_assignments SET status = 'GRADED' WHERE status = 'SUBMITTED'".to_owned(),
    )
    .await;
    fixture
        .submit(&world.ben, &document)
        .await
        .refused(409, "GRADE_PUBLISHED");
    let unsubmit = path(&document, "/unsubmit");
    fixture
        .app
        .as_(&world.ada)
        .post(&unsubmit, json!({}))
        .await
        .refused(409, "GRADE_PUBLISHED");
    execute(
        database,
        "UPDATE group_assignments SET status = 'SUBMITTED' WHERE status = 'GRADED'".to_owned(),
    )
    .await;
    execute(
        database,
        format!(
            "UPDATE classes SET status = 'ARCHIVED' WHERE id = '{}'",
            world.seven_b.id
        ),
    )
    .await;
    fixture
        .app
        .as_(&world.ben)
        .post(&unsubmit, json!({}))
        .await
        .refused(409, "CLASS_ARCHIVED");
});

with_both_editors_long!(concurrent_submissions_of_document_create_one_attempt, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let people = [&world.ben, &world.cem, &world.ada, &world.adam, &world.ben, &world.cem];
    let all = people.map(|person| fixture.submit(person, &document));
    let answers = futures_util::future::join_all(all).await;
    let accepted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(accepted, 1);
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 409)));
    let attempts = texts(&fixture.app.database, "SELECT id FROM submissions".to_owned()).await;
    assert_eq!(attempts.len(), 1);
});

with_both_editors_long!(work_without_documents_is_recorded_graded_and_removed, |fixture| {
    let world = &fixture.app.world;
    let (ben, ada) = (fixture.app.as_(&world.ben), fixture.app.as_(&world.ada));
    let route = format!("/assignments/{}/groups/{}/submission", fixture.topic, fixture.group);
    ben.post(&route, json!({})).await.refused(403, "FORBIDDEN_ROLE");
    ada.post(&route, json!({"grade": "1"})).await.invalid("grade");
    let recorded = ada.post(&route, json!({"note": "A talk"})).await.expect(201);
    let submission = &recorded["submission"];
    assert_eq!(recorded["groupAssignment"]["status"], "SUBMITTED");
    assert_eq!(
        (
            &submission["documents"],
            &submission["onBehalf"],
            &submission["note"],
            &submission["isLate"]
        ),
        (&json!([]), &json!(true), &json!("A talk"), &json!(false))
    );
    ada.post(&route, json!({})).await.refused(409, "ALREADY_SUBMITTED");
    let grade = format!("/feedback/submissions/{}/grade", submission["id"].as_str().unwrap());
    ada.put(&grade, json!({"value": "2", "publish": true}))
        .await
        .expect(200);
    ada.delete(&route).await.refused(409, "GRADE_PUBLISHED");
    let seen = ben
        .get(&format!("/feedback/submissions/{}", submission["id"].as_str().unwrap()))
        .await
        .expect(200);
    assert_eq!(seen["grade"]["value"], "2");
    let book = ada
        .get(&format!("/classes/{}/grade-book", world.seven_b.id))
        .await
        .expect(200)
        .to_string();
    assert!(book.contains("\"value\":\"2\""), "{book}");

    // Without a published grade it can be removed, or followed by a document.
    ada.put(&grade, json!({"publish": false})).await.expect(200);
    let left = ada.delete(&route).await.expect(200);
    assert_eq!(
        (&left["status"], &left["currentSubmissionId"]),
        (&json!("NOT_STARTED"), &json!(null))
    );
    ada.delete(&route).await.refused(409, "NOT_SUBMITTED");
    ada.post(&route, json!({})).await.expect(201);
    let document = fixture.document("Our page").await;
    let body = json!({"assignmentId": fixture.topic});
    let submitted = ben.post(&path(&document, "/submit"), body).await.expect(200);
    assert_eq!(submitted["submission"]["attempt"], 3);
    ada.delete(&route).await.refused(409, "ALREADY_SUBMITTED");
});

with_both_editors_long!(work_is_recorded_for_a_finished_topic, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    ada.post(&format!("/assignments/{}/finish", fixture.topic), json!({}))
        .await
        .expect(200);
    let route = format!("/assignments/{}/groups/{}/submission", fixture.topic, fixture.group);
    let recorded = ada.post(&route, json!({})).await.expect(201);
    let grade = format!(
        "/feedback/submissions/{}/grade",
        recorded["submission"]["id"].as_str().unwrap()
    );
    ada.put(&grade, json!({"value": "3", "publish": true}))
        .await
        .expect(200);
});

with_both_editors_long!(work_of_several_groups_is_recorded_at_once_or_not_at_all, |fixture| {
    let world = &fixture.app.world;
    let (ben, ada) = (fixture.app.as_(&world.ben), fixture.app.as_(&world.ada));
    let new = json!({"classId": world.seven_b.id, "name": "Speakers", "memberIds": [world.cem.id]});
    let other = id(&ada.post("/groups", new).await.expect(201));
    let attach = format!("/assignments/{}/groups", fixture.topic);
    ada.post(&attach, json!({"groupIds": [other]})).await.expect(200);
    let stray = json!({"classId": world.seven_b.id, "name": "Elsewhere"});
    let stray = id(&ada.post("/groups", stray).await.expect(201));

    let route = format!("/assignments/{}/record-work", fixture.topic);
    let both = json!({"groupIds": [fixture.group, other], "note": "Posters"});
    ben.post(&route, both.clone()).await.refused(403, "FORBIDDEN_ROLE");
    ada.post(&route, json!({"groupIds": []})).await.invalid("groupIds");
    ada.post(&route, json!({"groupIds": [other, stray]}))
        .await
        .refused(409, "GROUP_NOT_ON_ASSIGNMENT");
    let one = format!("/assignments/{}/groups/{other}/submission", fixture.topic);
    ada.post(&one, json!({})).await.expect(201);
    ada.post(&route, both.clone()).await.refused(409, "ALREADY_SUBMITTED");
    let count = async || {
        texts(
            &fixture.app.database,
            "SELECT id FROM submissions WHERE status = 'ACTIVE'".to_owned(),
        )
        .await
        .len()
    };
    assert_eq!(count().await, 1, "nothing was recorded for the first group");

    ada.delete(&one).await.expect(200);
    let preview = ada.post(&format!("{route}?dryRun=1"), both.clone()).await.expect(200);
    assert_eq!((&preview["recorded"], count().await), (&json!(2), 0));
    let done = ada.post(&route, both.clone()).await.expect(200);
    assert_eq!((&done["recorded"], count().await), (&json!(2), 2));
    let topic = ada.get(&format!("/assignments/{}", fixture.topic)).await.expect(200);
    let links = topic["groupAssignments"].as_array().unwrap().iter();
    for link in links.filter(|link| [&json!(fixture.group), &json!(other)].contains(&&link["groupId"])) {
        let current = &link["currentSubmission"];
        assert_eq!(
            (&link["status"], &current["note"]),
            (&json!("SUBMITTED"), &json!("Posters"))
        );
        assert!(!current["memberIds"].as_array().unwrap().is_empty(), "{link}");
    }
    let log = ada.get("/activity-logs?category=SUBMISSION").await.expect(200);
    let entries = log["data"].as_array().unwrap().iter().take(2);
    assert!(
        entries
            .into_iter()
            .all(|entry| entry["details"]["withoutDocuments"] == true),
        "{log}"
    );
    ada.post(&route, both).await.refused(409, "ALREADY_SUBMITTED");
});
