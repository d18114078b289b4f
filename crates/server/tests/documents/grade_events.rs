//! Effects of a grade: emitted events, log entries, and the school of a grade when the request names no school.

use serde_json::{Value, json};

use crate::grades::{grade_path, submitted};
use test_support::{SocketListener, clients_are_installed};

with_document_server!(late_submission_stays_late_and_log_contains_no_grade, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let topic = format!("/assignments/{}", fixture.topic);
    ada.patch(&topic, json!({"deadline": "2026-01-01T00:00:00Z"}))
        .await
        .expect(200);
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    ada.patch(&topic, json!({"deadline": "2099-01-01T00:00:00Z"}))
        .await
        .expect(200);
    let body = json!({"value": "SECRETMARK", "feedback": "SECRETWORDS", "points": 987.5, "publish": true});
    let graded = ada.put(&grade_path(&submission), body).await.expect(200);
    assert_eq!(graded["isLate"], true);
    assert!(graded["lateBySeconds"].as_i64().unwrap() > 0);
    let log = ada.get("/activity-logs?limit=200").await.expect(200).to_string();
    assert!(log.contains("GRADE_PUBLISH"));
    assert!(!log.contains("SECRET") && !log.contains("987.5"), "{log}");
});

with_document_server!(super_admin_grades_in_school_of_the_submission, |fixture| {
    let root = fixture.app.as_(&fixture.app.world.root);
    let document = fixture.document("Our page").await;
    let (submission, link) = submitted(fixture, &document).await;
    let graded = root
        .put(&grade_path(&submission), json!({"points": 1, "publish": true}))
        .await
        .expect(200);
    assert_eq!(graded["grade"]["gradedById"], json!(fixture.app.world.root.id));
    for about in [
        json!({"submissionId": submission, "text": "x"}),
        json!({"groupAssignmentId": link, "text": "x"}),
    ] {
        root.post("/feedback", about).await.expect(201);
    }
    let listed = root
        .get(&format!("/feedback?assignmentId={}", fixture.topic))
        .await
        .expect(200);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    let history = format!("/feedback/group-assignments/{link}/submissions");
    assert_eq!(root.get(&history).await.expect(200)[0]["id"], json!(submission));
});

with_document_server!(grade_events_reach_their_audience_only, |fixture| {
    if !clients_are_installed() {
        return;
    }
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let mut listeners = Vec::new();
    for person in [&world.adam, &world.ben, &world.cem, &world.dana, &world.tom] {
        listeners.push(SocketListener::connect(&fixture.app, person).await);
    }
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    for listener in &mut listeners[..3] {
        listener.expect("submission:created").await;
        listener.discard();
    }
    let body = json!({"value": "B", "memberGrades": [{"userId": world.ben.id, "value": "BENMARK"}]});
    ada.put(&grade_path(&submission), body).await.expect(200);
    // A draft grade is sent to the staff only, and they fetch it.
    let drafted = listeners[0].expect("grade:drafted").await;
    assert_eq!(
        (&drafted["groupId"], &drafted["grade"]),
        (&json!(fixture.group), &Value::Null)
    );
    for listener in &mut listeners {
        listener.expect_no_event(120).await;
    }
    ada.put(&grade_path(&submission), json!({"publish": true}))
        .await
        .expect(200);
    let [adam, ben, cem, dana, tom] = &mut listeners[..] else {
        panic!()
    };
    let received = adam.expect("grade:published").await;
    assert_eq!(received["grade"]["memberGrades"][0]["value"], "BENMARK");
    let received = ben.expect("grade:published").await;
    assert_eq!(
        (&received["grade"]["value"], &received["submissionId"]),
        (&json!("B"), &json!(submission))
    );
    assert_eq!(received["grade"]["memberGrades"][0]["value"], "BENMARK");
    let received = cem.expect("grade:published").await;
    assert_eq!(
        (&received["grade"]["value"], &received["grade"]["memberGrades"]),
        (&json!("B"), &json!([]))
    );
    assert_eq!(received["assignmentId"], json!(fixture.topic));
    // An event for Ben alone is sent to Ben alone. Cem sees the timestamp of the group's grade.
    let of_cem = || async {
        let shown = fixture
            .app
            .as_(&world.cem)
            .get(&format!("/groups/{}", fixture.group))
            .await
            .expect(200);
        shown["groupAssignments"][0]["currentSubmission"]["grade"].clone()
    };
    let before = of_cem().await;
    assert!(before["gradedAt"].is_string(), "{before}");
    let body = json!({"memberGrades": [{"userId": world.ben.id, "value": "BENBETTER"}]});
    ada.put(&grade_path(&submission), body).await.expect(200);
    let received = ben.expect("grade:published").await;
    assert_eq!(received["grade"]["memberGrades"][0]["value"], "BENBETTER");
    adam.expect("grade:published").await;
    cem.expect_no_event(120).await;
    assert_eq!(of_cem().await, before);
    ada.put(&grade_path(&submission), json!({"publish": false}))
        .await
        .expect(200);
    for listener in [&mut *ben, &mut *cem] {
        assert_eq!(listener.expect("grade:withdrawn").await["grade"], Value::Null);
        listener.expect_no_event(50).await;
    }
    assert_eq!(adam.expect("grade:withdrawn").await["grade"], Value::Null);
    for listener in [dana, tom] {
        listener.expect_no_event(50).await;
    }
});
