//! Rubrics: who uses and edits them, the copy of a topic, filling them while grading, and who sees what when.

use serde_json::{Value, json};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::rows::{execute, texts};
use test_support::samples::sample_rubric;
use test_support::topics::id;

/// The topic with a rubric that students see or not, and a submission. Returns its id.
async fn with_rubric(fixture: &DocumentServerFixture, is_shown: bool) -> String {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let rubric = id(&ada.post("/rubrics", sample_rubric()).await.expect(201));
    let choice = json!({"rubricId": rubric, "isShown": is_shown});
    ada.put(&format!("/assignments/{}/rubric", fixture.topic), choice)
        .await
        .expect(200);
    let document = fixture.document("Our page").await;
    let body = json!({"assignmentId": fixture.topic});
    let submitted = fixture
        .app
        .as_(&world.ben)
        .post(&path(&document, "/submit"), body)
        .await;
    id(&submitted.expect(200)["submission"])
}

/// Fills the first `count` criteria with their best level.
fn marks(criteria: &Value, count: usize) -> Value {
    let criteria = criteria.as_array().unwrap().iter().take(count);
    let marks = criteria.map(|criterion| {
        let level = criterion["levels"].as_array().unwrap().last().unwrap();
        json!({
            "criterionId": criterion["id"], "levelId": level["id"], "points": level["maxPoints"],
            "comment": "RUBRICMARK",
        })
    });
    marks.collect()
}

async fn criteria(fixture: &DocumentServerFixture) -> Value {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let shown = ada.get(&format!("/assignments/{}/rubric", fixture.topic)).await;
    shown.expect(200)["rubric"]["criteria"].clone()
}

with_document_server!(owner_shares_a_rubric_and_others_use_but_do_not_edit_it, |fixture| {
    let app = &fixture.app;
    let world = &app.world;
    let (ada, tom, adam) = (app.as_(&world.ada), app.as_(&world.tom), app.as_(&world.adam));
    let mut new = sample_rubric();
    new["isShared"] = json!(false);
    let created = ada.post("/rubrics", new.clone()).await.expect(201);
    assert_eq!(
        (&created["maxPoints"], &created["canEdit"]),
        (&json!(10.0), &json!(true))
    );
    let rubric = format!("/rubrics/{}", id(&created));

    // Not shared: only the owner and administrators see it.
    tom.get(&rubric).await.refused(404, "NOT_FOUND");
    tom.patch(&rubric, json!({"title": "x"}))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(tom.get("/rubrics").await.expect(200), json!([]));
    adam.get(&rubric).await.expect(200);
    ada.patch(&rubric, json!({"isShared": true})).await.expect(200);
    let listed = tom.get("/rubrics").await.expect(200);
    assert_eq!(
        (
            &listed[0]["criterionCount"],
            &listed[0]["canEdit"],
            &listed[0]["owner"]["id"]
        ),
        (&json!(2), &json!(false), &json!(world.ada.id))
    );
    tom.get(&rubric).await.expect(200);
    tom.patch(&rubric, json!({"title": "x"}))
        .await
        .refused(403, "NOT_AUTHOR");
    tom.delete(&rubric).await.refused(403, "NOT_AUTHOR");
    adam.patch(&rubric, json!({"title": "Poster 7"})).await.expect(200);
    for stranger in [&world.zoe, &world.zara] {
        let client = app.as_(stranger);
        assert_eq!(client.get("/rubrics").await.expect(200), json!([]));
        client.get(&rubric).await.refused(404, "NOT_FOUND");
        client.delete(&rubric).await.refused(404, "NOT_FOUND");
    }
    app.as_(&world.ben).get("/rubrics").await.refused(403, "FORBIDDEN_ROLE");

    // Limits.
    let level = json!({"label": "Good"});
    let criterion = |levels: usize| json!({"title": "Sources", "levels": vec![level.clone(); levels]});
    for criteria in [
        json!([]),
        json!(vec![criterion(1); 21]),
        json!([criterion(0)]),
        json!([criterion(11)]),
        json!([{"title": "", "levels": [level]}]),
        json!([{"title": "Sources", "levels": [{"label": "Good", "minPoints": 2, "maxPoints": 1}]}]),
        json!([{"title": "Sources", "levels": [{"label": "Good", "minPoints": 2}]}]),
    ] {
        let body = json!({"title": "Poster", "criteria": criteria});
        ada.post("/rubrics", body).await.refused(400, "VALIDATION_ERROR");
    }
    let most = json!({"title": "Poster", "criteria": vec![criterion(10); 20]});
    ada.post("/rubrics", most).await.expect(201);
    let north = &world.north;
    let rows: Vec<String> = (0..998)
        .map(|number| format!("('{north}', 'r{number}', '{}', 'x', 'x', '[]', 0, 1, 1)", world.ada.id))
        .collect();
    let insert = "INSERT INTO rubrics (organization_id, id, owner_id, title, title_key, criteria, criterion_count,
        created_at, updated_at) VALUES";
    execute(&app.database, format!("{insert} {}", rows.join(", "))).await;
    ada.post("/rubrics", new).await.refused(409, "LIMIT_REACHED");
    let log = adam.get("/activity-logs?category=FEEDBACK").await.expect(200);
    assert_eq!(log["data"].as_array().unwrap().len(), 4, "{log}");
    ada.delete(&rubric).await.expect(200);
    ada.get(&rubric).await.refused(404, "NOT_FOUND");
});

with_document_server!(topic_keeps_a_copy_of_its_rubric_which_its_copies_get, |fixture| {
    let app = &fixture.app;
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let topic = format!("/assignments/{}", fixture.topic);
    let of_topic = format!("{topic}/rubric");
    assert_eq!(ben.get(&of_topic).await.expect(200), json!({"rubric": null}));
    ada.put(&of_topic, json!({"isShown": true})).await.invalid("rubricId");
    ada.put(&of_topic, json!({"rubricId": "gone"}))
        .await
        .refused(404, "NOT_FOUND");
    let rubric = ada.post("/rubrics", sample_rubric()).await.expect(201);
    let path = format!("/rubrics/{}", id(&rubric));
    let shown = ada.put(&of_topic, json!({"rubricId": rubric["id"]})).await.expect(200);
    assert_eq!(shown["rubric"]["criteria"], rubric["criteria"]);
    assert_eq!(
        (&shown["rubric"]["isShown"], &shown["rubric"]["isUsed"]),
        (&json!(true), &json!(false))
    );
    let seen = ben.get(&of_topic).await.expect(200);
    assert_eq!(seen["rubric"]["criteria"], rubric["criteria"]);
    assert!(seen["rubric"].get("isUsed").is_none() && seen["rubric"].get("rubricId").is_none());
    app.as_(&world.tom).get(&of_topic).await.refused(404, "NOT_FOUND");

    // Later edits, and the deletion of the rubric, do not change the topic.
    let other = json!([{"title": "Colors", "levels": [{"label": "Bright"}]}]);
    ada.patch(&path, json!({"criteria": other})).await.expect(200);
    ada.delete(&path).await.expect(200);
    assert_eq!(criteria(fixture).await, rubric["criteria"]);
    let copy = json!({"deadline": "2099-01-01T00:00:00Z"});
    let copy = ada.post(&format!("{topic}/clone"), copy).await.expect(201);
    let copied = ada.get(&format!("/assignments/{}/rubric", id(&copy))).await.expect(200);
    assert_eq!(copied["rubric"]["criteria"], rubric["criteria"]);
    let class = json!({"name": "8b", "academicYear": "2027/2028", "withCourses": true, "withTopics": true});
    let class = ada
        .post(&format!("/classes/{}/clone", world.seven_b.id), class)
        .await
        .expect(201);
    let count = format!(
        "SELECT x.assignment_id FROM assignment_rubrics x JOIN assignments a ON a.id = x.assignment_id
        WHERE a.class_id = '{}'",
        id(&class)
    );
    assert_eq!(texts(&app.database, count).await.len(), 2, "the topic and its copy");

    ada.put(&of_topic, json!({"isShown": false})).await.expect(200);
    assert_eq!(ben.get(&of_topic).await.expect(200), json!({"rubric": null}));
    ada.delete(&format!("{of_topic}?dryRun=1")).await.expect(200);
    ada.delete(&of_topic).await.expect(200);
    ada.delete(&of_topic).await.refused(404, "NOT_FOUND");
    let log = ada.get("/activity-logs?category=ASSIGNMENT").await.expect(200);
    assert_eq!(log["data"][0]["details"]["changed"], json!(["rubric"]), "{log}");
    ada.delete(&format!("/assignments/{}", id(&copy))).await.expect(200);
});

with_document_server!(
    filled_rubric_is_seen_by_the_group_once_the_grade_is_published,
    |fixture| {
        let app = &fixture.app;
        let world = &app.world;
        let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
        let submission = with_rubric(fixture, false).await;
        let of_topic = format!("/assignments/{}/rubric", fixture.topic);
        let grade = format!("/feedback/submissions/{submission}/grade");
        let criteria = criteria(fixture).await;
        let part = json!({"rubric": marks(&criteria, 1)});
        let drafted = ada.put(&grade, part.clone()).await.expect(200);
        let filled = &drafted["grade"]["rubric"];
        assert_eq!(
            (
                filled.as_array().unwrap().len(),
                &filled[0]["criterion"],
                &filled[0]["level"],
                &filled[0]["points"]
            ),
            (1, &json!("Sources"), &json!("Named"), &json!(4.0))
        );
        ada.put(&grade, json!({"publish": true}))
            .await
            .refused(409, "RUBRIC_INCOMPLETE");
        let publish = format!("/feedback/assignments/{}/publish-grades", fixture.topic);
        let counts = ada.post(&publish, json!({})).await.expect(200);
        assert_eq!(counts, json!({"published": 0, "incomplete": 1}));
        for (code, wrong) in [
            ("unknown", json!([{"criterionId": "gone", "comment": "?"}])),
            (
                "range",
                json!([{"criterionId": criteria[1]["id"], "levelId": criteria[1]["levels"][1]["id"], "points": 7}]),
            ),
            ("no_level", json!([{"criterionId": criteria[1]["id"], "points": 1}])),
        ] {
            let refused = ada.put(&grade, json!({"rubric": wrong})).await;
            let text = String::from_utf8_lossy(&refused.bytes).into_owned();
            assert!(refused.status == 400 && text.contains(code), "{code}: {text}");
        }

        // The group finds nothing of it, wherever it looks.
        let routes = [
            format!("/feedback/submissions/{submission}"),
            format!("/assignments/{}", fixture.topic),
            "/assignments".to_owned(),
            "/groups".to_owned(),
            format!("/groups/{}", fixture.group),
            format!("/feedback?submissionId={submission}"),
            of_topic.clone(),
            format!("/workrooms/group/{}", fixture.group),
        ];
        for route in &routes {
            let answer = ben.get(route).await;
            let text = String::from_utf8_lossy(&answer.bytes).into_owned();
            assert!(
                answer.status == 200 && !text.contains("RUBRICMARK") && !text.contains("Sources"),
                "{route}: {text}"
            );
        }
        let log = ada.get("/activity-logs?limit=200").await.expect(200).to_string();
        assert!(!log.contains("RUBRICMARK"), "{log}");
        let export = ben.post("/users/me/export", json!({})).await;
        assert!(!String::from_utf8_lossy(&export.bytes).contains("RUBRICMARK"));

        let whole = json!({"rubric": marks(&criteria, 2), "points": 10, "publish": true});
        ada.put(&grade, whole).await.expect(200);
        let seen = ben
            .get(&format!("/feedback/submissions/{submission}"))
            .await
            .expect(200);
        assert_eq!(seen["grade"]["rubric"][1]["comment"], "RUBRICMARK");
        assert_eq!(ben.get(&of_topic).await.expect(200)["rubric"]["criteria"], criteria);
        app.as_(&world.dana)
            .get(&format!("/feedback/submissions/{submission}"))
            .await
            .refused(404, "NOT_FOUND");
        ada.put(&grade, part).await.refused(409, "RUBRIC_INCOMPLETE");

        // A grade uses the criteria: they stay, until no grade does.
        let other = ada.post("/rubrics", sample_rubric()).await.expect(201);
        let replace = json!({"rubricId": other["id"]});
        ada.put(&of_topic, replace.clone()).await.refused(409, "RUBRIC_IN_USE");
        ada.delete(&of_topic).await.refused(409, "RUBRIC_IN_USE");
        ada.put(&of_topic, json!({"isShown": true})).await.expect(200);
        ada.put(&grade, json!({"publish": false, "rubric": []}))
            .await
            .expect(200);
        ada.put(&of_topic, replace).await.expect(200);
        let states = ada
            .get(&format!("/feedback/submissions/{submission}/grades"))
            .await
            .expect(200);
        let filled: Vec<usize> = states
            .as_array()
            .unwrap()
            .iter()
            .map(|state| state["rubric"].as_array().unwrap().len())
            .collect();
        assert_eq!(filled, [0, 2, 1], "newest first");
    }
);
