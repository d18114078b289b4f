//! Every response that contains a link includes its current submission: copies, grade and feedback, each visible to its
//! audience only.

use serde_json::{Value, json};

use test_support::TestApp;
use test_support::rows::execute;
use test_support::topics::{group, id, link, mark_submitted, topic};

/// Adds a copy, a draft grade with individual grades for Ben and Cem, feedback for the group and staff-only feedback.
async fn fill(app: &TestApp, link: &Value, submission: &str) {
    let (north, world) = (&app.world.north, &app.world);
    let (ada, ben, cem) = (&world.ada.id, &world.ben.id, &world.cem.id);
    let link = id(link);
    let rows = [
        format!(
            "INSERT INTO submission_documents (organization_id, id, submission_id, document_version, title, file_extension, size, sha256, file_key, created_at) VALUES ('{north}', 'sd', '{submission}', 1, 'Report', 'docx', 5, 'x', 'k', 1)"
        ),
        format!(
            "INSERT INTO grades (organization_id, id, submission_id, value, points, graded_by_id, graded_at, created_at, updated_at) VALUES ('{north}', 'g', '{submission}', 'B', 7.5, '{ada}', 1, 1, 1)"
        ),
        format!(
            "INSERT INTO member_grades (organization_id, id, grade_id, user_id, value) VALUES ('{north}', 'm1', 'g', '{ben}', 'A'), ('{north}', 'm2', 'g', '{cem}', 'C')"
        ),
        format!(
            "INSERT INTO feedback (organization_id, id, group_assignment_id, submission_id, author_id, text, published_at, created_at, updated_at) VALUES ('{north}', 'f1', '{link}', '{submission}', '{ada}', 'Well done.', 1, 1, 1)"
        ),
        format!(
            "INSERT INTO feedback (organization_id, id, group_assignment_id, submission_id, author_id, text, visibility, published_at, created_at, updated_at) VALUES ('{north}', 'f2', '{link}', '{submission}', '{ada}', 'Too kind?', 'STAFF', 1, 2, 2)"
        ),
    ];
    for row in rows {
        execute(&app.database, row).await;
    }
}

/// Checks that a link in a list agrees with the whole link: it has the timestamps and not the copies.
fn assert_is_brief_form_of(brief: &Value, whole: &Value) {
    for field in ["id", "status", "currentSubmissionId", "effectiveDescription"] {
        assert_eq!(brief[field], whole[field], "{field}");
    }
    let (submission, whole) = (&brief["currentSubmission"], &whole["currentSubmission"]);
    assert_eq!(submission["submittedAt"], whole["submittedAt"]);
    let is_published = whole["grade"]["status"] == "PUBLISHED";
    assert_eq!(submission.get("gradePublishedAt").is_some(), is_published, "{brief}");
    assert!(submission["feedbackPublishedAt"].is_string(), "{brief}");
    assert!(!brief.to_string().contains("Report"), "{brief}");
}

both!(every_response_with_link_includes_current_submission, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben, &app.world.cem], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.dana], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers, lakes]})).await;
    topic(&ada, class, json!({"title": "Other", "groupIds": [rivers, lakes]})).await;
    let submission = mark_submitted(app, link(&made, &rivers), &app.world.ben, 1000).await;
    fill(app, link(&made, &rivers), &submission).await;

    let shown = async |person| {
        let client = app.as_(person);
        let detail = client.get(&format!("/assignments/{}", id(&made))).await.expect(200);
        let list = client.get("/assignments").await.expect(200);
        let is_made = |topic: &&Value| topic["id"] == made["id"];
        let listed = list.as_array().unwrap().iter().find(is_made).unwrap().clone();
        let group = client.get(&format!("/groups/{rivers}")).await.expect(200);
        let groups = client.get("/groups").await.expect(200);
        let in_list = groups
            .as_array()
            .unwrap()
            .iter()
            .find(|group| group["id"] == json!(rivers))
            .unwrap()
            .clone();
        let of = |group: &Value| {
            group["groupAssignments"]
                .as_array()
                .unwrap()
                .iter()
                .find(|link| link["assignmentId"] == made["id"])
                .unwrap()
                .clone()
        };
        let first = link(&detail, &rivers).clone();
        assert_eq!(of(&group), first);
        for brief in [link(&listed, &rivers).clone(), of(&in_list)] {
            assert_is_brief_form_of(&brief, &first);
        }
        assert_eq!(of(&group)["submittedCount"], 1);
        assert_eq!(first["isComplete"], true);
        first["currentSubmission"].clone()
    };
    let staff = shown(&app.world.ada).await;
    assert_eq!(
        (&staff["id"], &staff["documents"][0]["title"]),
        (&json!(submission), &json!("Report"))
    );
    assert_eq!(
        (&staff["grade"]["points"], &staff["grade"]["status"]),
        (&json!(7.5), &json!("DRAFT"))
    );
    assert_eq!(staff["grade"]["memberGrades"].as_array().unwrap().len(), 2);
    let texts: Vec<&str> = staff["feedback"]
        .as_array()
        .unwrap()
        .iter()
        .map(|feedback| feedback["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["Well done.", "Too kind?"]);

    let own = shown(&app.world.ben).await;
    assert_eq!(
        (&own["grade"], own["feedback"].as_array().unwrap().len()),
        (&json!(null), 1),
        "a draft is the teacher's"
    );
    execute(
        &app.database,
        "UPDATE grades SET status = 'PUBLISHED', published_at = 2".to_owned(),
    )
    .await;
    let own = shown(&app.world.ben).await;
    assert_eq!(
        (&own["grade"]["value"], &own["grade"]["memberGrades"]),
        (
            &json!("B"),
            &json!([{"userId": app.world.ben.id, "value": "A", "points": null, "feedback": null}])
        )
    );
    let dana = app
        .as_(&app.world.dana)
        .get(&format!("/assignments/{}", id(&made)))
        .await
        .expect(200);
    assert!(
        !dana.to_string().contains("Report") && !dana.to_string().contains(&submission),
        "{dana}"
    );
    assert_eq!(
        ben.get("/assignments")
            .await
            .expect(200)
            .to_string()
            .matches("Too kind?")
            .count(),
        0
    );
});
