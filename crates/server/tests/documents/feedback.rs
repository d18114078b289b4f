//! Feedback, returning work for revision, and the list of all submissions.

use serde_json::{Value, json};

use crate::grades::{grade_path, submitted};
use test_support::document_server_fixture::{DocumentServerFixture, path, words};
use test_support::topics::{id, ids};
use test_support::{SocketListener, clients_are_installed};

async fn link_status(fixture: &DocumentServerFixture) -> Value {
    let topic = format!("/assignments/{}", fixture.topic);
    let topic = fixture.app.as_(&fixture.app.world.ben).get(&topic).await.expect(200);
    topic["groupAssignments"][0]["status"].clone()
}

with_document_server!(feedback_has_one_subject_visible_to_its_author, |fixture| {
    let world = &fixture.app.world;
    let (ada, ben) = (fixture.app.as_(&world.ada), fixture.app.as_(&world.ben));
    let document = fixture.document("Our page").await;
    let early = ada
        .post("/feedback", json!({"documentId": document, "text": "x"}))
        .await;
    early.invalid("documentId");
    let (submission, link) = submitted(fixture, &document).await;
    for (body, field) in [
        (json!({"text": "x"}), "groupAssignmentId"),
        (
            json!({"submissionId": submission, "documentId": document, "text": "x"}),
            "groupAssignmentId",
        ),
        (json!({"submissionId": submission, "text": " "}), "text"),
        (json!({"submissionId": submission}), "text"),
        (
            json!({"submissionId": submission, "text": "x", "visibility": "ALL"}),
            "visibility",
        ),
        (
            json!({"submissionId": submission, "text": "x", "authorId": world.ben.id}),
            "authorId",
        ),
    ] {
        ada.post("/feedback", body).await.invalid(field);
    }
    let good = json!({"submissionId": submission, "text": "Well done."});
    ben.post("/feedback", good).await.refused(403, "FORBIDDEN_ROLE");
    for stranger in [&world.tom, &world.zoe] {
        for about in [
            json!({"submissionId": submission, "text": "x"}),
            json!({"groupAssignmentId": link, "text": "x"}),
            json!({"documentId": document, "text": "x"}),
        ] {
            fixture
                .app
                .as_(stranger)
                .post("/feedback", about)
                .await
                .refused(404, "NOT_FOUND");
        }
    }
});

with_document_server!(feedback_is_readable_by_its_audience_only, |fixture| {
    let world = &fixture.app.world;
    let (ada, ben) = (fixture.app.as_(&world.ada), fixture.app.as_(&world.ben));
    let document = fixture.document("Our page").await;
    let (submission, link) = submitted(fixture, &document).await;
    let good = json!({"submissionId": submission, "text": "Well done."});
    let created = ada.post("/feedback", good).await.expect(201);
    assert_eq!(
        (&created["visibility"], &created["author"]["name"]),
        (&json!("GROUP"), &json!("Ada Teacher"))
    );
    assert!(created["publishedAt"].is_string() && created["groupAssignmentId"] == json!(link));
    let staff = json!({"groupAssignmentId": link, "text": "Too kind?", "visibility": "STAFF"});
    let staff = id(&ada.post("/feedback", staff).await.expect(201));
    let held = json!({"documentId": document, "text": "Not yet.", "publish": false});
    let held = ada.post("/feedback", held).await.expect(201);
    assert_eq!(
        (&held["publishedAt"], &held["submissionId"]),
        (&Value::Null, &json!(submission))
    );
    let (first, held) = (id(&created), id(&held));

    let listed = async |person, query: String| {
        ids(&fixture
            .app
            .as_(person)
            .get(&format!("/feedback?{query}"))
            .await
            .expect(200))
    };
    let all = format!("groupAssignmentId={link}");
    assert_eq!(
        listed(&world.ada, all.clone()).await,
        [first.clone(), staff.clone(), held.clone()]
    );
    assert_eq!(
        listed(&world.ada, format!("submissionId={submission}")).await,
        [first.clone(), held.clone()]
    );
    assert_eq!(
        listed(&world.ada, format!("documentId={document}")).await,
        std::slice::from_ref(&held)
    );
    assert_eq!(
        listed(&world.adam, format!("assignmentId={}", fixture.topic))
            .await
            .len(),
        3
    );
    assert_eq!(
        listed(&world.ben, format!("assignmentId={}", fixture.topic)).await,
        std::slice::from_ref(&first)
    );
    for stranger in [&world.dana, &world.tom, &world.zoe] {
        assert!(listed(stranger, all.clone()).await.is_empty());
    }
    ben.get("/feedback").await.invalid("groupAssignmentId");
    ben.get(&format!("/feedback?{all}&documentId={document}"))
        .await
        .invalid("groupAssignmentId");

    let published = ada
        .patch(&format!("/feedback/{held}"), json!({"publish": true, "text": "Now."}))
        .await
        .expect(200);
    assert!(published["publishedAt"].is_string() && published["text"] == "Now.");
    assert_eq!(listed(&world.ben, all.clone()).await.len(), 2);
    ada.patch(&format!("/feedback/{first}"), json!({"visibility": "STAFF"}))
        .await
        .expect(200);
    assert_eq!(listed(&world.ben, all.clone()).await, std::slice::from_ref(&held));
});

with_document_server!(feedback_is_editable_by_author_and_admins, |fixture| {
    let world = &fixture.app.world;
    let (ada, adam) = (fixture.app.as_(&world.ada), fixture.app.as_(&world.adam));
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    let good = json!({"submissionId": submission, "text": "Well done."});
    let first = id(&ada.post("/feedback", good).await.expect(201));
    ada.patch(&format!("/feedback/{first}"), json!({"text": null}))
        .await
        .invalid("text");
    let path = format!("/feedback/{first}");
    let same = ada.patch(&path, json!({"authorId": world.ben.id})).await.expect(200);
    assert_eq!(same["authorId"], world.ada.id, "read-only fields are ignored");
    let teach = format!("/classes/{}/teachers", world.seven_b.id);
    ada.post(&teach, json!({"userId": world.tom.id})).await.expect(200);
    let tom = fixture.app.as_(&world.tom);
    tom.patch(&format!("/feedback/{first}"), json!({"text": "Mine."}))
        .await
        .refused(403, "NOT_AUTHOR");
    tom.delete(&format!("/feedback/{first}"))
        .await
        .refused(403, "NOT_AUTHOR");
    fixture
        .app
        .as_(&world.zoe)
        .delete(&format!("/feedback/{first}"))
        .await
        .refused(404, "NOT_FOUND");
    adam.delete(&format!("/feedback/{first}")).await.expect(200);
    ada.delete(&format!("/feedback/{first}"))
        .await
        .refused(404, "NOT_FOUND");
    let log = ada
        .get("/activity-logs?category=FEEDBACK&limit=200")
        .await
        .expect(200)
        .to_string();
    assert!(log.contains("FEEDBACK_DELETE") && !log.contains("Well done"), "{log}");
});

with_document_server!(returned_work_becomes_draft_again, |fixture| {
    let world = &fixture.app.world;
    let (ada, ben) = (fixture.app.as_(&world.ada), fixture.app.as_(&world.ben));
    let (first, second) = (fixture.document("First").await, fixture.document("Second").await);
    submitted(fixture, &first).await;
    let (submission, link) = submitted(fixture, &second).await;
    let returning = format!("/feedback/submissions/{submission}/return");
    ada.post(&returning, json!({})).await.invalid("feedback");
    let body = json!({"feedback": "One more page, please."});
    ben.post(&returning, body.clone()).await.refused(403, "FORBIDDEN_ROLE");
    fixture
        .app
        .as_(&world.tom)
        .post(&returning, body.clone())
        .await
        .refused(404, "NOT_FOUND");
    fixture.finish().await;
    ada.post(&returning, body.clone()).await.refused(423, "DOCUMENT_LOCKED");
    assert_eq!(fixture.get_document(&first).await["statusBeforeLock"], "SUBMITTED");
    fixture.reopen().await;
    ada.put(&grade_path(&submission), json!({"points": 2, "publish": true}))
        .await
        .expect(200);
    let keys = [fixture.key(&first).await, fixture.key(&second).await];

    let returned = ada.post(&returning, body.clone()).await.expect(200);
    assert_eq!(
        (&returned["status"], &returned["currentSubmissionId"]),
        (&json!("RETURNED"), &Value::Null)
    );
    assert_eq!(link_status(fixture).await, "RETURNED");
    for (document, key) in [&first, &second].into_iter().zip(keys) {
        assert_eq!(fixture.get_document(document).await["status"], "DRAFT");
        let config = fixture.configuration(&world.ben, document).await;
        assert_eq!(config["editorConfig"]["mode"], "edit");
        assert_ne!(
            config["document"]["key"],
            json!(key),
            "nobody joins a session from before"
        );
    }
    ada.post(&returning, body).await.refused(409, "NOT_SUBMITTED");
    let history = format!("/feedback/group-assignments/{link}/submissions");
    let attempts = ben.get(&history).await.expect(200);
    assert_eq!(
        (&attempts[0]["status"], &attempts[1]["status"]),
        (&json!("RETURNED"), &json!("SUPERSEDED"))
    );
    assert_eq!(attempts[0]["feedback"][0]["text"], "One more page, please.");
    assert_eq!(
        attempts[0]["grade"]["points"], 2.0,
        "what was out stays with its attempt"
    );
    assert_eq!(fixture.get_document(&second).await["points"], Value::Null);
    // A grade that was published by mistake can be withdrawn; nothing else can be changed.
    ada.put(&grade_path(&submission), json!({"points": 3}))
        .await
        .refused(409, "NOT_SUBMITTED");
    ada.put(&grade_path(&submission), json!({"publish": false}))
        .await
        .expect(200);
    assert_eq!(link_status(fixture).await, "RETURNED");
    assert_eq!(ben.get(&history).await.expect(200)[0]["grade"], Value::Null);

    fixture.write(&world.ben, &first, "One more page.").await;
    let again = fixture.submit(&world.ben, &first).await.expect(200);
    assert_eq!(
        (&again["submission"]["attempt"], link_status(fixture).await),
        (&json!(3), json!("SUBMITTED"))
    );
});

with_document_server!(copies_of_earlier_attempt_never_change, |fixture| {
    let world = &fixture.app.world;
    let (ada, ben) = (fixture.app.as_(&world.ada), fixture.app.as_(&world.ben));
    let document = fixture.document("Our page").await;
    fixture.write(&world.ben, &document, "As handed in.").await;
    let (submission, link) = submitted(fixture, &document).await;
    ben.post(&path(&document, "/unsubmit"), json!({})).await.expect(200);
    fixture.write(&world.ben, &document, "Written later.").await;
    submitted(fixture, &document).await;
    let history = format!("/feedback/group-assignments/{link}/submissions");
    let attempts = ben.get(&history).await.expect(200);
    assert_eq!(
        (&attempts[1]["id"], &attempts[1]["status"]),
        (&json!(submission), &json!("WITHDRAWN"))
    );
    let url = |which: &str| {
        attempts[1]["documents"][0][which]
            .as_str()
            .unwrap()
            .strip_prefix("/api")
            .unwrap()
            .to_owned()
    };
    let (bytes, pdf) = (url("downloadUrl"), url("pdfUrl"));
    for person in [&world.ben, &world.cem, &world.ada] {
        let copy = fixture.app.as_(person).get(&bytes).await;
        let text = words(&copy.bytes);
        assert!(
            text.contains("As handed in.") && !text.contains("Written later."),
            "{text}"
        );
        assert!(copy.header("content-disposition").contains("Our%20page.docx"));
    }
    let by_document = format!("/feedback/submissions/{submission}/documents/{document}/download");
    assert_eq!(ben.get(&by_document).await.status, 200, "its document names it as well");
    ben.get(&pdf).await.refused(409, "ASSIGNMENT_NOT_FINISHED");
    assert!(words(&ada.get(&pdf).await.bytes).contains("As handed in."));
    fixture.finish().await;
    assert!(words(&ben.get(&pdf).await.bytes).contains("As handed in."));
    for stranger in [&world.dana, &world.tom, &world.zoe] {
        for path in [&history, &bytes, &pdf] {
            fixture.app.as_(stranger).get(path).await.refused(404, "NOT_FOUND");
        }
    }
    let mixed = format!(
        "/feedback/submissions/{}/documents/{}/download",
        id(&attempts[0]),
        id(&attempts[1]["documents"][0])
    );
    ada.get(&mixed).await.refused(404, "NOT_FOUND");
});

with_document_server!(feedback_events_reach_their_audience_only, |fixture| {
    if !clients_are_installed() {
        return;
    }
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let (mut adam, mut ben) = (
        SocketListener::connect(&fixture.app, &world.adam).await,
        SocketListener::connect(&fixture.app, &world.ben).await,
    );
    let mut dana = SocketListener::connect(&fixture.app, &world.dana).await;
    let document = fixture.document("Our page").await;
    let (submission, link) = submitted(fixture, &document).await;
    for listener in [&mut adam, &mut ben] {
        listener.expect("submission:created").await;
        listener.discard();
    }
    let staff = json!({"groupAssignmentId": link, "text": "Among us.", "visibility": "STAFF"});
    ada.post("/feedback", staff).await.expect(201);
    assert_eq!(adam.expect("feedback:created").await["feedback"]["text"], "Among us.");
    ben.expect_no_event(100).await;
    let body = json!({"feedback": "One more page, please."});
    ada.post(&format!("/feedback/submissions/{submission}/return"), body)
        .await
        .expect(200);
    let created = ben.expect("document:status").await;
    assert_eq!(
        (&created["documentId"], &created["status"]),
        (&json!(document), &json!("DRAFT"))
    );
    let created = ben.expect("submission:returned").await;
    assert_eq!(
        (&created["submission"]["id"], &created["groupAssignment"]["status"]),
        (&json!(submission), &json!("RETURNED"))
    );
    assert_eq!(
        ben.expect("feedback:created").await["feedback"]["text"],
        "One more page, please."
    );
    dana.expect_no_event(50).await;
});

with_document_server!(returned_work_with_new_time_is_not_late, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    let over = format!("UPDATE assignments SET deadline = 1000 WHERE id = '{}'", fixture.topic);
    test_support::rows::execute(&fixture.app.database, over).await;
    let returning = format!("/feedback/submissions/{submission}/return");
    let body = |until: &str| json!({"feedback": "Please add a map.", "lateAllowedUntil": until});
    ada.post(&returning, body("2020-01-01T00:00:00Z"))
        .await
        .invalid("lateAllowedUntil");
    let until = "2099-01-01T00:00:00.000Z";
    let returned = ada.post(&returning, body(until)).await.expect(200);
    assert_eq!(returned["lateAllowedUntil"], until);
    let again = fixture.submit(&world.ben, &document).await.expect(200);
    assert_eq!(again["submission"]["isLate"], json!(false));
    let log = ada.get("/activity-logs?category=ASSIGNMENT").await.expect(200);
    assert_eq!(
        log["data"][0]["details"]["changed"],
        json!(["lateAllowedUntil"]),
        "{log}"
    );
});
