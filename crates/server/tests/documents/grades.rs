//! Grades: who can see which grade, from when, and that no grade is lost.

use serde_json::{Value, json};

use test_support::TestUser;
use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::rows::texts;
use test_support::topics::{group, id};

/// Submits the document and returns the ids of the submission and the link.
pub async fn submitted(fixture: &DocumentServerFixture, document: &str) -> (String, String) {
    let answer = fixture.submit(&fixture.app.world.ben, document).await.expect(200);
    (id(&answer["submission"]), id(&answer["groupAssignment"]))
}

pub fn grade_path(submission: &str) -> String {
    format!("/feedback/submissions/{submission}/grade")
}

/// Returns all responses that a person can read about the work of the visible group, as one text.
async fn all_responses(fixture: &DocumentServerFixture, person: &TestUser, document: &str, link: &str) -> String {
    let client = fixture.app.as_(person);
    let (topic, room, group) = (&fixture.topic, &fixture.room, &fixture.group);
    let mut read = String::new();
    for path in [
        "/assignments".to_owned(),
        format!("/assignments/{topic}"),
        format!("/assignments?groupId={group}"),
        "/groups".to_owned(),
        format!("/groups/{group}"),
        format!("/workrooms/{room}"),
        format!("/workrooms/group/{group}"),
        format!("/workrooms/{room}/documents"),
        format!("/workrooms/documents/{document}"),
        format!("/feedback/group-assignments/{link}/submissions"),
        format!("/feedback?assignmentId={topic}"),
    ] {
        read += &client.get(&path).await.expect(200).to_string();
    }
    read
}

async fn status(fixture: &DocumentServerFixture) -> Value {
    let topic = format!("/assignments/{}", fixture.topic);
    let topic = fixture.app.as_(&fixture.app.world.ben).get(&topic).await.expect(200);
    topic["groupAssignments"][0]["status"].clone()
}

with_document_server!(published_grade_is_visible_and_member_grade_to_its_member, |fixture| {
    let world = &fixture.app.world;
    let (ada, ben) = (fixture.app.as_(&world.ada), fixture.app.as_(&world.ben));
    let document = fixture.document("Our page").await;
    let (submission, link) = submitted(fixture, &document).await;
    let body = json!({"value": "VALUEMARK", "points": 1207.5, "feedback": "WORDMARK", "memberGrades": [
        {"userId": world.ben.id, "points": 9, "feedback": "BENMARK"}, {"userId": world.cem.id, "value": "CEMMARK"}]});
    let graded = ada.put(&grade_path(&submission), body).await.expect(200);
    assert_eq!(
        (&graded["grade"]["status"], &graded["grade"]["history"]),
        (&json!("DRAFT"), &json!(1))
    );
    assert_eq!(graded["grade"]["memberGrades"].as_array().unwrap().len(), 2);
    assert_eq!(
        fixture.get_document(&document).await["grade"],
        "VALUEMARK",
        "the document reads it through"
    );
    for student in [&world.ben, &world.cem] {
        let read = all_responses(fixture, student, &document, &link).await;
        assert!(
            !read.contains("MARK") && !read.contains("1207.5") && !read.contains("DRAFT\",\"gradedBy"),
            "{read}"
        );
        assert!(read.contains("\"grade\":null"));
    }
    assert_eq!(status(fixture).await, "SUBMITTED");

    ada.put(&grade_path(&submission), json!({"publish": true}))
        .await
        .expect(200);
    assert_eq!(status(fixture).await, "GRADED");
    let read = all_responses(fixture, &world.ben, &document, &link).await;
    assert!(
        read.contains("VALUEMARK") && read.contains("BENMARK") && !read.contains("CEMMARK"),
        "{read}"
    );
    assert!(!read.contains("\"history\""), "how often it changed is the staff's");
    let read = all_responses(fixture, &world.cem, &document, &link).await;
    assert!(read.contains("CEMMARK") && !read.contains("BENMARK"), "{read}");
    let own = ben.get(&path(&document, "")).await.expect(200);
    assert_eq!(
        (&own["grade"], &own["points"], &own["feedback"]),
        (&json!("VALUEMARK"), &json!(1207.5), &json!("WORDMARK"))
    );
    assert_eq!(own["gradedById"], json!(world.ada.id));
    ben.post(&path(&document, "/unsubmit"), json!({}))
        .await
        .refused(409, "GRADE_PUBLISHED");

    let taken_back = ada
        .put(&grade_path(&submission), json!({"publish": false}))
        .await
        .expect(200);
    assert_eq!(
        (&taken_back["grade"]["status"], &taken_back["grade"]["publishedAt"]),
        (&json!("DRAFT"), &Value::Null)
    );
    assert_eq!(taken_back["grade"]["history"], 3);
    let read = all_responses(fixture, &world.ben, &document, &link).await;
    assert!(!read.contains("MARK"), "{read}");
    assert_eq!(status(fixture).await, "SUBMITTED");
    ben.post(&path(&document, "/unsubmit"), json!({})).await.expect(200);
    assert_eq!(
        fixture.get_document(&document).await["grade"],
        Value::Null,
        "no submission, no grade"
    );
});

with_document_server!(grade_must_fit_scale_and_points_of_topic, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let topic = format!("/assignments/{}", fixture.topic);
    ada.patch(&topic, json!({"maxPoints": 10, "gradeScale": "1-6"}))
        .await
        .expect(200);
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    let path = grade_path(&submission);
    let single = |more: Value| json!({"memberGrades": [more]});
    for (body, field) in [
        (json!({"points": 10.5}), "points"),
        (json!({"points": -1}), "points"),
        (json!({"value": "A"}), "value"),
        (json!({"value": "x".repeat(21)}), "value"),
        (json!({"mark": "1"}), "mark"),
        (json!({"status": "PUBLISHED"}), "status"),
        (single(json!({"userId": world.dana.id, "points": 1})), "memberGrades"),
        (single(json!({"userId": world.ben.id, "points": 11})), "memberGrades"),
        (single(json!({"userId": world.ben.id, "value": "7"})), "memberGrades"),
    ] {
        ada.put(&path, body).await.invalid(field);
    }
    let ben = json!({"userId": world.ben.id, "points": 1});
    ada.put(&path, json!({"memberGrades": [ben, ben]}))
        .await
        .invalid("memberGrades");
    assert!(
        texts(&fixture.app.database, "SELECT id FROM grade_history".to_owned())
            .await
            .is_empty()
    );
    let good = json!({"value": "2+", "points": 10});
    fixture
        .app
        .as_(&world.ben)
        .put(&path, good.clone())
        .await
        .refused(403, "FORBIDDEN_ROLE");
    for stranger in [&world.tom, &world.zoe, &world.zara] {
        fixture
            .app
            .as_(stranger)
            .put(&path, good.clone())
            .await
            .refused(404, "NOT_FOUND");
    }
    ada.put(&grade_path(&common::clock::new_id()), good.clone())
        .await
        .refused(404, "NOT_FOUND");
    ada.put(&path, good.clone()).await.expect(200);
    let again = ada.put(&path, good.clone()).await.expect(200);
    assert_eq!(again["grade"]["history"], 1, "the same again is no change");
    let cleared = ada.put(&path, json!({"points": null})).await.expect(200);
    assert_eq!(
        (&cleared["grade"]["value"], &cleared["grade"]["points"]),
        (&json!("2+"), &Value::Null)
    );

    // Another attempt replaces this one. The former attempt can no longer be graded.
    let second = fixture.document("Second").await;
    let (current, _) = submitted(fixture, &second).await;
    ada.put(&path, json!({"publish": true}))
        .await
        .refused(409, "NOT_SUBMITTED");
    ada.put(&grade_path(&current), good).await.expect(200);
    fixture.app.set_class_status(&world.seven_b, "ARCHIVED").await;
    ada.put(&grade_path(&current), json!({"points": 1}))
        .await
        .refused(409, "CLASS_ARCHIVED");
});

with_document_server!(finished_topic_is_graded_by_submission_not_by_document, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let (document, draft) = (fixture.document("Our page").await, fixture.document("Draft").await);
    let of_document = path(&document, "/grade");
    ada.put(&of_document, json!({"points": 1}))
        .await
        .refused(409, "NOT_SUBMITTED");
    let (submission, _) = submitted(fixture, &document).await;
    ada.put(&path(&draft, "/grade"), json!({"points": 1}))
        .await
        .refused(409, "NOT_SUBMITTED");
    ada.put(&of_document, json!({"memberGrades": []}))
        .await
        .invalid("memberGrades");
    fixture
        .app
        .as_(&world.ben)
        .put(&of_document, json!({"points": 1}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    fixture
        .app
        .as_(&world.tom)
        .put(&of_document, json!({"points": 1}))
        .await
        .refused(404, "NOT_FOUND");
    let seen = ada
        .put(&of_document, json!({"value": "B", "points": 3, "feedback": "Neat."}))
        .await
        .expect(200);
    assert_eq!(
        (&seen["grade"], &seen["points"], &seen["feedback"]),
        (&json!("B"), &json!(3.0), &json!("Neat."))
    );

    fixture.finish().await;
    for person in [&world.ada, &world.adam] {
        let refused = fixture.app.as_(person).put(&of_document, json!({"points": 4})).await;
        refused.refused(423, "DOCUMENT_LOCKED");
    }
    let graded = ada
        .put(&grade_path(&submission), json!({"points": 5, "publish": true}))
        .await
        .expect(200);
    assert_eq!(
        (&graded["grade"]["value"], &graded["grade"]["points"]),
        (&json!("B"), &json!(5.0))
    );
    let own = fixture.app.as_(&world.ben).get(&path(&document, "")).await.expect(200);
    assert_eq!((&own["status"], &own["points"]), (&json!("LOCKED"), &json!(5.0)));
    assert_eq!(status(fixture).await, "GRADED");
});

with_document_server!(concurrent_grades_are_all_recorded, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    let path = grade_path(&submission);
    let all = (0..12).map(|n| {
        let person = if n % 2 == 0 { &world.ada } else { &world.adam };
        let (client, path) = (fixture.app.as_(person), path.clone());
        async move {
            client
                .put(&path, json!({"points": n, "feedback": format!("Words {n}")}))
                .await
                .expect(200)
        }
    });
    futures_util::future::join_all(all).await;
    let states = "SELECT CAST(version AS TEXT) || ' ' || feedback FROM grade_history ORDER BY version".to_owned();
    let states: Vec<String> = texts(&fixture.app.database, states)
        .await
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(states.len(), 12, "{states:?}");
    for n in 0..12 {
        assert!(
            states.iter().any(|state| state.ends_with(&format!(" Words {n}"))),
            "{n} in {states:?}"
        );
    }
    let seen = fixture.get_document(&document).await;
    let last = format!("12 {}", seen["feedback"].as_str().unwrap());
    assert_eq!(states[11], last, "the last word stands, whole");
});

with_document_server!(member_grade_requires_membership_at_submission, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Our page").await;
    let (submission, link) = submitted(fixture, &document).await;
    let other = group(&ada, &world.seven_b, &[], json!({})).await;
    let moving = format!("/groups/{}/members/{}/move", fixture.group, world.ben.id);
    ada.post(&moving, json!({"toGroupId": other})).await.expect(200);
    let joining = format!("/groups/{}/members", fixture.group);
    ada.post(&joining, json!({"userIds": [world.eli.id]})).await.expect(200);
    let single = |person: &TestUser| json!({"memberGrades": [{"userId": person.id, "value": "MARK"}], "publish": true});
    ada.put(&grade_path(&submission), single(&world.eli))
        .await
        .invalid("memberGrades");
    let graded = ada.put(&grade_path(&submission), single(&world.ben)).await.expect(200);
    assert_eq!(graded["grade"]["memberGrades"][0]["userId"], json!(world.ben.id));
    let history = format!("/feedback/group-assignments/{link}/submissions");
    fixture
        .app
        .as_(&world.ben)
        .get(&history)
        .await
        .refused(404, "NOT_FOUND");
    let of_eli = fixture.app.as_(&world.eli).get(&history).await.expect(200).to_string();
    assert!(of_eli.contains("PUBLISHED") && !of_eli.contains("MARK"), "{of_eli}");
});

with_document_server!(draft_grades_of_topic_are_published_together, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    let hidden = fixture.document_in(&fixture.hidden_room().await, "Hidden").await;
    let other = id(&fixture.submit(&world.ada, &hidden).await.expect(200)["submission"]);
    let publishing = format!("/feedback/assignments/{}/publish-grades", fixture.topic);
    assert_eq!(
        ada.post(&publishing, json!({})).await.expect(200),
        json!({"published": 0, "incomplete": 0})
    );
    for submission in [&submission, &other] {
        ada.put(&grade_path(submission), json!({"points": 4})).await.expect(200);
    }
    fixture
        .app
        .as_(&world.ben)
        .post(&publishing, json!({}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    fixture
        .app
        .as_(&world.tom)
        .post(&publishing, json!({}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    fixture
        .app
        .as_(&world.zoe)
        .post(&publishing, json!({}))
        .await
        .refused(404, "NOT_FOUND");
    let stray = group(&ada, &world.seven_b, &[], json!({})).await;
    ada.post(&publishing, json!({"groupIds": [stray]}))
        .await
        .refused(409, "GROUP_NOT_ON_ASSIGNMENT");
    let unknown = json!({"groupIds": [common::clock::new_id()]});
    ada.post(&publishing, unknown).await.refused(404, "NOT_FOUND");
    let published = ada
        .post(&publishing, json!({"groupIds": [fixture.hidden]}))
        .await
        .expect(200);
    assert_eq!(
        (published, status(fixture).await),
        (json!({"published": 1, "incomplete": 0}), json!("SUBMITTED"))
    );
    let published = ada.send(reqwest::Method::POST, &publishing, None).await.expect(200);
    assert_eq!(
        (published, status(fixture).await),
        (json!({"published": 1, "incomplete": 0}), json!("GRADED"))
    );
    assert_eq!(ada.post(&publishing, json!({})).await.expect(200)["published"], 0);
    let topic = ada.get(&format!("/assignments/{}", fixture.topic)).await.expect(200);
    assert_eq!(topic["stats"]["graded"], 2);
    let log = format!("/activity-logs?assignmentId={}&action=GRADE_PUBLISH", fixture.topic);
    let log = ada.get(&log).await.expect(200);
    assert_eq!(log["data"].as_array().unwrap().len(), 2);
});

with_document_server!(student_responses_reveal_no_draft_grades, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Our page").await;
    let (submission, link) = submitted(fixture, &document).await;
    let before = all_responses(fixture, &world.ben, &document, &link).await;
    // Draft grades of every kind are absent from every response: no value, no count, no timestamp.
    for draft in [
        json!({"value": "A"}),
        json!({"points": 4, "feedback": "Words"}),
        json!({"memberGrades": [{"userId": world.ben.id, "points": 1}]}),
        json!({"publish": false, "value": null}),
    ] {
        ada.put(&grade_path(&submission), draft).await.expect(200);
        assert_eq!(all_responses(fixture, &world.ben, &document, &link).await, before);
    }
    ada.post(
        "/feedback",
        json!({"submissionId": submission, "text": "Held", "publish": false}),
    )
    .await
    .expect(201);
    let staff = json!({"submissionId": submission, "text": "Among us", "visibility": "STAFF"});
    ada.post("/feedback", staff).await.expect(201);
    assert_eq!(all_responses(fixture, &world.ben, &document, &link).await, before);
});

with_document_server!(grade_history_is_visible_to_staff_only, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    let states = format!("/feedback/submissions/{submission}/grades");
    assert_eq!(ada.get(&states).await.expect(200), json!([]));
    let members = json!([{"userId": world.cem.id, "value": "4"}]);
    let first = json!({"value": "3", "feedback": "A first impression", "memberGrades": members});
    ada.put(&grade_path(&submission), first).await.expect(200);
    let admin = fixture.app.as_(&world.adam);
    admin
        .put(&grade_path(&submission), json!({"value": "2", "publish": true}))
        .await
        .expect(200);
    // A request that changes nothing creates no version of the grade.
    ada.put(&grade_path(&submission), json!({"value": "2"}))
        .await
        .expect(200);

    let read = ada.get(&states).await.expect(200);
    let of = |at: usize, key: &str| read[at][key].clone();
    assert_eq!(read.as_array().map(Vec::len), Some(2), "{read}");
    assert_eq!(
        [of(0, "version"), of(0, "value"), of(0, "status"), of(0, "changedBy")],
        [
            json!(2),
            json!("2"),
            json!("PUBLISHED"),
            json!({"id": world.adam.id, "name": world.adam.name})
        ]
    );
    assert_eq!(
        [of(1, "version"), of(1, "value"), of(1, "status"), of(1, "feedback")],
        [json!(1), json!("3"), json!("DRAFT"), json!("A first impression")]
    );
    assert_eq!(read[1]["memberGrades"][0]["value"], "4");
    assert_eq!(read[1]["changedBy"]["id"], json!(world.ada.id));
    assert_eq!(admin.get(&states).await.expect(200), read);

    for student in [&world.ben, &world.eli] {
        fixture
            .app
            .as_(student)
            .get(&states)
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
    for stranger in [&world.tom, &world.zoe] {
        fixture.app.as_(stranger).get(&states).await.refused(404, "NOT_FOUND");
    }
});
