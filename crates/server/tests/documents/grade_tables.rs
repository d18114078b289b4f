//! Export and import of the grades of a topic as a table.

use reqwest::Method;
use serde_json::{Value, json};

use crate::grades::{grade_path, submitted};
use test_support::document_server_fixture::DocumentServerFixture;
use test_support::{Answer, TestUser};

async fn export(fixture: &DocumentServerFixture, person: &TestUser, query: &str) -> String {
    let path = format!("/assignments/{}/grades.csv{query}", fixture.topic);
    let answer = fixture.app.as_(person).get(&path).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/csv; charset=utf-8")
    );
    String::from_utf8(answer.bytes).unwrap()
}

async fn import(fixture: &DocumentServerFixture, person: &TestUser, query: &str, table: &str) -> Answer {
    let path = format!("/assignments/{}/grades/import{query}", fixture.topic);
    fixture
        .app
        .as_(person)
        .upload(&path, "grades.csv", table.as_bytes().to_vec(), &[])
        .await
}

async fn grade(fixture: &DocumentServerFixture) -> Value {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let topic = ada.get(&format!("/assignments/{}", fixture.topic)).await.expect(200);
    let links = topic["groupAssignments"].as_array().unwrap();
    let link = links
        .iter()
        .find(|link| link["groupId"] == json!(fixture.group))
        .unwrap();
    link["currentSubmission"]["grade"].clone()
}

fn statuses(report: &Value) -> Vec<(i64, &str)> {
    let rows = report["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["row"].as_i64().unwrap(), row["status"].as_str().unwrap()))
        .collect()
}

with_document_server!(exported_grades_are_imported_unchanged, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    let body = json!({"value": "=1+1", "points": 7.5, "feedback": "- short\n\"quoted\", 'said' ",
        "memberGrades": [{"userId": world.ben.id, "value": "B", "feedback": "'=x"}]});
    ada.put(&grade_path(&submission), body).await.expect(200);
    let before = grade(fixture).await;
    for query in ["", "?delimiter=%2C", "?delimiter=%3B", "?delimiter=tab"] {
        let table = export(fixture, &world.ada, query).await;
        assert!(table.starts_with("submissionId"), "{table}");
        assert!(
            table.contains("\"'=1+1\"") && table.contains("Ben Student"),
            "no cell is a formula: {table}"
        );
        assert_eq!(
            table.lines().filter(|line| line.contains(&submission)).count(),
            3,
            "{table}"
        );
        let points = if query.contains("%3B") { "7,5" } else { "7.5" };
        assert!(table.contains(points), "{table}");
        let query = if query.contains("tab") { query } else { "" };
        let report = import(fixture, &world.ada, query, &table).await.expect(200);
        assert_eq!(
            (&report["skipped"], &report["failed"], &report["updated"]),
            (&json!(4), &json!(0), &json!(0)),
            "{report}"
        );
        assert_eq!(
            grade(fixture).await,
            before,
            "what went out and came back changed nothing"
        );
    }
    for stranger in [&world.tom, &world.zoe] {
        let path = format!("/assignments/{}/grades.csv", fixture.topic);
        fixture.app.as_(stranger).get(&path).await.refused(404, "NOT_FOUND");
    }
    let ben = fixture.app.as_(&world.ben);
    ben.get(&format!("/assignments/{}/grades.csv", fixture.topic))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    ada.get(&format!("/assignments/{}/grades.csv?delimiter=x", fixture.topic))
        .await
        .invalid("delimiter");
});

with_document_server!(invalid_rows_are_reported_and_change_nothing, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    ada.patch(
        &format!("/assignments/{}", fixture.topic),
        json!({"maxPoints": 10, "gradeScale": "1-6"}),
    )
    .await
    .expect(200);
    let document = fixture.document("Our page").await;
    let (former, _) = submitted(fixture, &document).await;
    let second = fixture.document("Second").await;
    let (submission, _) = submitted(fixture, &second).await;
    let (ben, cem, dana) = (&world.ben.id, &world.cem.id, &world.dana.id);
    let table = format!(
        "submissionId;userId;value;points;feedback\n{submission};;2;8,5;Good\n{submission};{ben};1;;\n\
         {submission};{cem};9;;\n{submission};{dana};1;;\n{submission};{ben};3;;\n{former};;1;;\n;;1;;\n;;;;\n\
         {submission};{cem};;11;\n{submission};{cem};;many;\n"
    );
    let wanted = [
        (2, "created"),
        (3, "created"),
        (4, "failed"),
        (5, "failed"),
        (6, "failed"),
        (7, "failed"),
        (8, "failed"),
        (10, "failed"),
        (11, "failed"),
    ];
    let dry = import(fixture, &world.ada, "?dryRun=1", &table).await.expect(200);
    assert_eq!(
        (statuses(&dry), &dry["dryRun"]),
        (wanted.to_vec(), &json!(true)),
        "{dry}"
    );
    assert_eq!(grade(fixture).await, Value::Null, "a dry run changes nothing");
    let report = import(fixture, &world.ada, "", &table).await.expect(200);
    assert_eq!((&report["rows"], &report["dryRun"]), (&dry["rows"], &json!(false)));
    let columns: Vec<&str> = report["rows"].as_array().unwrap()[2..]
        .iter()
        .map(|row| row["errors"][0]["column"].as_str().unwrap())
        .collect();
    assert_eq!(
        columns,
        [
            "value",
            "userId",
            "userId",
            "submissionId",
            "submissionId",
            "points",
            "points"
        ]
    );
    let written = grade(fixture).await;
    assert_eq!(
        (&written["value"], &written["points"], &written["feedback"]),
        (&json!("2"), &json!(8.5), &json!("Good"))
    );
    assert_eq!(
        (&written["status"], &written["history"]),
        (&json!("DRAFT"), &json!(1)),
        "one state, and nothing is out"
    );
    let single = written["memberGrades"].as_array().unwrap();
    assert_eq!(
        (single.len(), &single[0]["userId"], &single[0]["value"]),
        (1, &json!(ben), &json!("1"))
    );
    // An empty cell changes nothing.
    let more = format!("submissionId,userId,points\n{submission},,9\n{submission},{ben},\n");
    let report = import(fixture, &world.adam, "", &more).await.expect(200);
    assert_eq!(statuses(&report), [(2, "updated"), (3, "skipped")]);
    let written = grade(fixture).await;
    assert_eq!(
        (&written["value"], &written["points"], &written["history"]),
        (&json!("2"), &json!(9.0), &json!(2))
    );
    // A topic of another group with the ids of this one.
    let other = json!({"title": "Other", "classId": world.seven_b.id, "courseId": world.seven_b.course, "deadline": "2099-01-01T00:00:00Z"});
    let other = ada.post("/assignments", other).await.expect(201);
    let path = format!("/assignments/{}/grades/import", other["id"].as_str().unwrap());
    let report = ada
        .upload(&path, "grades.csv", more.into_bytes(), &[])
        .await
        .expect(200);
    assert_eq!(statuses(&report), [(2, "failed"), (3, "failed")]);
    assert_eq!(grade(fixture).await, written);
});

with_document_server!(invalid_table_is_rejected_entirely, |fixture| {
    let (world, header) = (&fixture.app.world, "submissionId,userId,value\n");
    for table in ["value,points\n1,2\n", "submissionId,userId,grade\n", ""] {
        let answer = import(fixture, &world.ada, "", table).await;
        if table.is_empty() {
            answer.invalid("file");
        } else {
            answer.refused(400, "IMPORT_HEADER");
        }
    }
    let (ada, path) = (
        fixture.app.as_(&world.ada),
        format!("/assignments/{}/grades/import", fixture.topic),
    );
    let text = ada.upload(&path, "grades.txt", header.as_bytes().to_vec(), &[]).await;
    text.refused(415, "UNSUPPORTED_FILE_TYPE");
    ada.send(Method::POST, &path, Some(json!({})))
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    import(fixture, &world.ben, "", header)
        .await
        .refused(403, "FORBIDDEN_ROLE");
    import(fixture, &world.tom, "", header)
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    import(fixture, &world.zoe, "", header).await.refused(404, "NOT_FOUND");
    let many = format!("{header}{}", "x,,1\n".repeat(10_001));
    import(fixture, &world.ada, "", &many).await.invalid("file");
    let report = import(fixture, &world.ada, "", header).await.expect(200);
    assert_eq!(report["rows"], json!([]));
});
