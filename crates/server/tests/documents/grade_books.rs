//! The grade book of a class: the grade that counts for each student, and its table.

use serde_json::{Value, json};

use crate::grades::{grade_path, submitted};
use test_support::document_server_fixture::DocumentServerFixture;

fn path(fixture: &DocumentServerFixture, rest: &str) -> String {
    format!("/classes/{}/grade-book{rest}", fixture.app.world.seven_b.id)
}

fn student<'a>(book: &'a Value, id: &str) -> &'a Value {
    let mut students = book["students"].as_array().unwrap().iter();
    students.find(|student| student["userId"] == id).unwrap()
}

with_document_server!(grade_book_shows_the_grade_that_counts_for_each_student, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let document = fixture.document("Our page").await;
    let (submission, link) = submitted(fixture, &document).await;
    let body = json!({"value": "2", "points": 7.5, "memberGrades": [{"userId": world.ben.id, "value": "1"}]});
    ada.put(&grade_path(&submission), body).await.expect(200);
    let book = ada.get(&path(fixture, "")).await.expect(200);
    assert_eq!(book["topics"][0]["id"], json!(fixture.topic));
    let (ben, cem) = (student(&book, &world.ben.id), student(&book, &world.cem.id));
    assert_eq!(
        ben["cells"][0]["grade"],
        json!({"value": "1", "points": null, "status": "DRAFT", "individual": true})
    );
    assert_eq!(
        cem["cells"][0]["grade"],
        json!({"value": "2", "points": 7.5, "status": "DRAFT", "individual": false})
    );
    for cell in [&ben["cells"][0], &cem["cells"][0]] {
        assert_eq!(
            (&cell["groupAssignmentId"], &cell["status"], &cell["missing"]),
            (&json!(link), &json!("SUBMITTED"), &json!(false))
        );
        assert_eq!(cell["group"]["id"], json!(fixture.group));
    }
    assert_eq!(
        (&ben["firstName"], &ben["lastName"]),
        (&json!("Ben"), &json!("Student"))
    );
    assert_eq!(ben["mean"]["graded"], 0, "a draft does not count for a student");
    ada.put(&grade_path(&submission), json!({"publish": true}))
        .await
        .expect(200);
    let book = ada.get(&path(fixture, "")).await.expect(200);
    assert_eq!(
        student(&book, &world.ben.id)["mean"],
        json!({"value": 1.0, "percent": null, "graded": 1})
    );
    assert_eq!(
        book["topics"][0]["mean"],
        json!({"value": 1.5, "percent": null, "graded": 2})
    );
    let dana = student(&book, &world.dana.id);
    assert_eq!(
        (&dana["cells"][0]["status"], &dana["cells"][0]["grade"]),
        (&json!("NOT_STARTED"), &Value::Null),
        "the groups that have not started are included"
    );
});

with_document_server!(grade_book_of_one_course_contains_its_topics_only, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let topic = ada.get(&format!("/assignments/{}", fixture.topic)).await.expect(200);
    let course = ada
        .post(
            "/courses",
            json!({"name": "Another course", "classId": world.seven_b.id, "subjectId": world.seven_b.subject}),
        )
        .await
        .expect(201);
    let course = course["id"].as_str().unwrap();
    let empty = ada
        .get(&path(fixture, &format!("?courseId={course}")))
        .await
        .expect(200);
    assert_eq!(empty["topics"], json!([]));
    assert!(!empty["students"].as_array().unwrap().is_empty());
    if let Some(own) = topic["courseId"].as_str() {
        let book = ada.get(&path(fixture, &format!("?courseId={own}"))).await.expect(200);
        assert_eq!(book["topics"].as_array().unwrap().len(), 1);
    }
    ada.get(&path(fixture, "?courseId=nothing"))
        .await
        .refused(404, "NOT_FOUND");
});

with_document_server!(grade_book_table_has_one_row_per_student_surname_first, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let document = fixture.document("Our page").await;
    let (submission, _) = submitted(fixture, &document).await;
    ada.put(
        &grade_path(&submission),
        json!({"value": "2", "points": 7.5, "publish": true}),
    )
    .await
    .expect(200);
    let answer = ada.get(&path(fixture, ".csv?language=de&delimiter=%3B")).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/csv; charset=utf-8")
    );
    let table = String::from_utf8(answer.bytes).unwrap();
    assert!(table.starts_with("Nachname;Vorname;"), "{table}");
    let row = table.lines().find(|line| line.starts_with("Student;Ben;")).unwrap();
    assert!(row.contains(";2;\"7,5\";2;"), "{row}");
    let english = ada.get(&path(fixture, ".csv")).await;
    let english = String::from_utf8(english.bytes).unwrap();
    assert!(english.starts_with("Surname,First name,"), "{english}");
    assert!(english.contains(",7.5,"), "{english}");
    ada.get(&path(fixture, ".csv?language=xx"))
        .await
        .refused(400, "VALIDATION_ERROR");
});
