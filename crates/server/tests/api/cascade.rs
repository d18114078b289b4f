//! Deleting a course, a topic, a group or a class deletes what belongs to it, and nothing else.

use std::collections::BTreeSet;

use common::clock;
use db::WriteTx;
use domain::change::CascadeDeletion;
use domain::document::Document;
use domain::id::{AssignmentId, ClassId, CourseId, DocumentId, GroupAssignmentId, GroupId, UserId};
use serde_json::{Value, json};

use test_support::lesson_rows::{LessonGroup, LessonRows};
use test_support::request_context::{ViewedAs, no_after_commit};
use test_support::row_counts::{counts, files};
use test_support::{TestApp, World};

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Inserts rows of 7b with Ada as the teacher and Ben as the student.
async fn insert_rows<T: Send + 'static>(app: &TestApp, fill: impl FnOnce(&mut LessonRows) -> T + Send + 'static) -> T {
    let World {
        north,
        seven_b,
        ada,
        ben,
        ..
    } = &app.world;
    let (database, north, class) = (app.database.clone(), north.clone(), seven_b.id.clone());
    let (ada, ben) = (ada.id.clone(), ben.id.clone());
    blocking(move || fill(&mut LessonRows::of(&database, &north, &class, &ada, &ben))).await
}

/// Inserts the same lessons at the other school. Deletions in North must not affect them.
async fn insert_lesson_in_south(app: &TestApp) {
    let World {
        south,
        south_class,
        zoe,
        zack,
        ..
    } = &app.world;
    let (database, south, class) = (app.database.clone(), south.clone(), south_class.clone());
    let (zoe, zack) = (zoe.id.clone(), zack.id.clone());
    blocking(move || {
        LessonRows::of(&database, &south, &class.id, &zoe, &zack).lesson(1, Some(&class.course));
    })
    .await;
}

async fn read_state(app: &TestApp) -> (std::collections::BTreeMap<String, i64>, BTreeSet<String>) {
    let database = app.database.clone();
    blocking(move || (counts(&database), files(&database))).await
}

/// Runs a transaction as Adam, an administrator of North.
async fn write_as_adam<T: Send + 'static>(
    app: &TestApp,
    act: impl FnMut(&mut WriteTx<'_>) -> common::error::Result<T> + Send + 'static,
) -> T {
    let standpoint = app
        .request_context(&app.world.north, &app.world.adam.id, ViewedAs::Admin, clock::now())
        .await;
    app.app
        .store()
        .write_with(standpoint, act, no_after_commit)
        .await
        .unwrap()
}

fn file_keys(removed: &CascadeDeletion) -> BTreeSet<String> {
    removed.files.iter().map(|key| key.as_str().to_owned()).collect()
}

async fn create_plants_course(app: &TestApp) -> String {
    let class = &app.world.seven_b;
    let new = json!({"name": "Plants", "classId": class.id, "subjectId": class.subject});
    let course = app.as_(&app.world.ada).post("/courses", new).await.expect(201);
    course["id"].as_str().unwrap().to_owned()
}

/// Expects that the record of a deleted course names its groups and topics.
async fn assert_deletion_recorded(app: &TestApp, course: &str, groups: &[String; 2], topics: &[String; 2]) {
    let adam = app.as_(&app.world.adam);
    let log = adam.get("/activity-logs?action=COURSE_DELETE").await.expect(200);
    assert_eq!(log["data"].as_array().unwrap().len(), 1);
    let (record, details) = (&log["data"][0], &log["data"][0]["details"]);
    assert_eq!(
        (&record["event"], &record["entityId"]),
        (&json!("COURSE_DELETE"), &json!(course))
    );
    assert_eq!(
        (&details["courseName"], &details["counts"]["documents"]),
        (&json!("Cells"), &json!(4))
    );
    let names = ["group 4", "group 5"];
    let named = groups
        .iter()
        .zip(names)
        .map(|(id, name)| json!({"id": id, "name": name}));
    assert_eq!(details["deletedGroups"], named.collect::<Value>());
    let mut named = details["deletedAssignments"].as_array().unwrap().clone();
    named.sort_by_key(Value::to_string);
    assert_eq!(named, topics.clone().map(|id| json!({"id": id, "title": "Leaves"})));
}

/// Expects that users who may not delete the course get an error, or only its outline.
async fn assert_only_staff_delete(app: &TestApp, path: &str) {
    let tom = app.as_(&app.world.tom);
    let outline = tom.get(path).await.expect(200);
    assert_eq!(outline["groups"][0]["memberCount"], 1);
    assert!(outline["groups"][0].get("helpMessage").is_none());
    tom.delete(path).await.refused(403, "NOT_CLASS_TEACHER");
    tom.delete(&format!("{path}?dryRun=1"))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&app.world.zoe).delete(path).await.refused(404, "NOT_FOUND");
}

/// Inserts two lessons of a course and a group that has moved to another course but has a completed topic of this one.
fn insert_two_lessons(
    rows: &mut LessonRows,
    course: &str,
    neighbour: &LessonGroup,
    documents: &[String; 2],
) -> [[String; 2]; 2] {
    let (first, one, _) = rows.lesson(4, Some(course));
    let (second, two, _) = rows.lesson(5, Some(course));
    let link = rows.link(&first, neighbour);
    rows.link_document(&documents[0], &first);
    rows.submit(&link, &documents[0]);
    rows.finish(&first);
    for document in documents {
        rows.lock(document, Some(&first));
    }
    [[first, second], [one.id, two.id]]
}

both!(deleting_course_deletes_its_content_and_nothing_else, |app| {
    let (cells, plants) = (app.world.seven_b.course.clone(), create_plants_course(app).await);
    insert_lesson_in_south(app).await;
    let (neighbour, documents) = insert_rows(app, move |rows| {
        rows.lesson(1, None);
        rows.lesson(2, Some(&plants));
        let neighbour = rows.group(3, Some(&plants));
        let documents = [rows.document(&neighbour, None), rows.document(&neighbour, None)];
        (neighbour, documents)
    })
    .await;
    let before = read_state(app).await;
    let (course, group, pages) = (cells.clone(), neighbour.clone(), documents.clone());
    let [topics, groups] = insert_rows(app, move |rows| insert_two_lessons(rows, &course, &group, &pages)).await;

    let (ada, path) = (app.as_(&app.world.ada), format!("/courses/{cells}"));
    let detail = ada.get(&path).await.expect(200);
    assert_eq!(
        (&detail["groups"][0]["id"], &detail["groups"][1]["groupNumber"]),
        (&json!(groups[0]), &json!(5))
    );
    assert_eq!(detail["assignments"].as_array().unwrap().len(), 2);
    let full = read_state(app).await;
    let received = ada.delete(&format!("{path}?dryRun=1")).await.expect(200);
    assert_only_staff_delete(app, &path).await;
    assert_eq!(
        read_state(app).await,
        full,
        "neither a dry run nor a refusal deletes anything"
    );

    let mut gone = ada.delete(&path).await.expect(200);
    assert_eq!(received, gone);
    gone["deletedAssignments"]
        .as_array_mut()
        .unwrap()
        .sort_by_key(Value::to_string);
    let counts = json!({"success": true, "deletedGroups": groups, "deletedAssignments": topics, "deletedDocuments": 4,
        "deletedSubmissions": 3});
    assert_eq!(gone, counts);

    let mut after = read_state(app).await;
    let courses = after.0.insert("courses".to_owned(), before.0["courses"]);
    assert_eq!(courses, Some(before.0["courses"] - 1));
    // Ids of deleted documents are kept because the document server may still save these documents.
    let remembered = after
        .0
        .insert("deleted_documents".to_owned(), before.0["deleted_documents"]);
    assert_eq!(remembered, Some(before.0["deleted_documents"] + 4));
    assert_eq!(after, before, "what was there before the course is all that is left");
    for path in [
        path,
        format!("/groups/{}", groups[0]),
        format!("/assignments/{}", topics[0]),
    ] {
        ada.get(&path).await.refused(404, "NOT_FOUND");
    }
    assert_deletion_recorded(app, &cells, &groups, &topics).await;
    let room = ada.get(&format!("/workrooms/{}", neighbour.room)).await.expect(200);
    for (document, id) in room["documents"].as_array().unwrap().iter().zip(documents) {
        let now = ["id", "status", "statusBeforeLock", "assignmentId", "submittedAt"].map(|field| &document[field]);
        assert_eq!(
            now,
            [&json!(id), &json!("DRAFT"), &json!(null), &json!(null), &json!(null)]
        );
    }
});

both!(deletion_reports_exactly_the_files_to_remove, |app| {
    let (cells, plants) = (app.world.seven_b.course.clone(), create_plants_course(app).await);
    insert_lesson_in_south(app).await;
    let (course, other) = (cells.clone(), plants.clone());
    let (lessons, free) = insert_rows(app, move |rows| {
        let lessons = [1, 2, 3, 4].map(|number| rows.lesson(number, Some(if number < 4 { &course } else { &other })));
        rows.announcement();
        (lessons, rows.lesson(5, None))
    })
    .await;
    let [(_, _, link), (topic, ..), (_, group, _), _] = lessons;
    let mut left = read_state(app).await;
    let mut step = async |removed: CascadeDeletion, submissions: i64, documents: i64| {
        let now = read_state(app).await;
        assert_eq!(file_keys(&removed), left.1.difference(&now.1).cloned().collect());
        assert_eq!((removed.submissions, removed.documents), (submissions, documents));
        left = now;
    };
    let link = GroupAssignmentId::new(link);
    step(write_as_adam(app, move |work| work.detach_group(&link)).await, 1, 0).await;
    let topic = AssignmentId::new(topic);
    step(
        write_as_adam(app, move |work| work.delete_assignment(&topic)).await,
        1,
        0,
    )
    .await;
    let group = GroupId::new(group.id);
    step(write_as_adam(app, move |work| work.delete_group(&group)).await, 1, 2).await;
    let course = CourseId::new(cells);
    step(write_as_adam(app, move |work| work.delete_course(&course)).await, 0, 4).await;
    let class = ClassId::new(app.world.seven_b.id.clone());
    let removed = write_as_adam(app, move |work| work.delete_class(&class)).await;
    assert_eq!(removed.courses[0].name, "Plants");
    assert_eq!(
        removed
            .assignments
            .iter()
            .map(|topic| topic.id.as_str())
            .filter(|id| *id == free.0)
            .count(),
        1
    );
    step(removed, 2, 4).await;
    assert_eq!(
        (left.0["classes"], left.0["direct_messages"]),
        (2, 1),
        "announcements stay with their sender"
    );
    assert_eq!(left.0["class_enrollments"], 2);
});

both!(deleting_group_keeps_its_topics, |app| {
    let course = app.world.seven_b.course.clone();
    let (topic, group) = insert_rows(app, move |rows| {
        let (topic, group, _) = rows.lesson(1, Some(&course));
        (topic, group.id)
    })
    .await;
    let ada = app.as_(&app.world.ada);
    let gone = ada.delete(&format!("/groups/{group}")).await.expect(200);
    assert_eq!(
        gone,
        json!({"success": true, "deletedDocuments": 2, "deletedSubmissions": 1})
    );
    ada.delete(&format!("/groups/{group}")).await.refused(404, "NOT_FOUND");
    let topic = ada.get(&format!("/assignments/{topic}")).await.expect(200);
    assert_eq!(
        (
            &topic["groupAssignments"],
            &topic["attachments"].as_array().unwrap().len()
        ),
        (&json!([]), &1)
    );
});

both!(released_documents_of_deletion_match_stored_rows, |app| {
    let ids = insert_rows(app, |rows| {
        let group = rows.group(1, None);
        let (doomed, other) = (rows.topic(None), rows.topic(None));
        let (link, other_link) = (rows.link(&doomed, &group), rows.link(&other, &group));
        rows.finish(&doomed);
        rows.finish(&other);
        let mut ids = Vec::new();
        let mut handed_in = Vec::new();
        for linked in [None, Some(&doomed), Some(&other)] {
            for is_handed_in in [false, true] {
                for lock in [None, Some(None), Some(Some(&doomed)), Some(Some(&other))] {
                    if is_handed_in && linked.is_none() {
                        continue;
                    }
                    let document = rows.document(&group, linked.map(String::as_str));
                    if is_handed_in {
                        handed_in.push((linked == Some(&doomed), document.clone()));
                    }
                    if let Some(topic) = lock {
                        rows.queue_lock(&document, topic.map(String::as_str));
                    }
                    ids.push(document);
                }
            }
        }
        for (is_doomed, link) in [(true, &link), (false, &other_link)] {
            let documents: Vec<String> = handed_in
                .iter()
                .filter(|(doomed, _)| *doomed == is_doomed)
                .map(|(_, id)| id.clone())
                .collect();
            rows.submit_all(link, &documents);
        }
        rows.flush_locks();
        (doomed, ids)
    })
    .await;
    let (doomed, ids) = ids;
    assert_eq!(ids.len(), 20);
    let topic = AssignmentId::new(doomed);
    let (freed, stored): (Vec<Document>, Vec<Document>) = write_as_adam(app, move |work| {
        let ids: Vec<_> = ids.iter().map(DocumentId::new).collect();
        let removed = work.delete_assignment(&topic)?;
        let freed: Vec<_> = removed.released.into_iter().map(|placed| placed.document).collect();
        let mut stored = Vec::new();
        for id in ids.iter().filter(|id| freed.iter().any(|document| document.id == **id)) {
            stored.push(work.document(id)?.details.document);
        }
        Ok((freed, stored))
    })
    .await;
    // Eight documents were linked to the topic; three were only locked by it.
    assert_eq!(freed.len(), 11, "{freed:#?}");
    assert_eq!(freed, stored);
    assert!(freed.iter().all(
        |document| document.assignment_id.as_ref() != document.locked_by_assignment_id.as_ref()
            || document.assignment_id.is_none()
    ));
});

both!(ending_enrollment_removes_student_from_all_groups, |app| {
    let World { seven_b, ben, .. } = &app.world;
    let groups = insert_rows(app, |rows| [rows.group(1, None), rows.group(2, None)]).await;
    let (class, student) = (ClassId::new(seven_b.id.clone()), UserId::new(ben.id.clone()));
    let left = write_as_adam(app, move |work| work.end_enrollment(&class, &student)).await;
    let left: Vec<_> = left
        .iter()
        .map(|whole| (whole.group.id.as_str(), whole.members.len()))
        .collect();
    assert_eq!(left, [(groups[0].id.as_str(), 0), (groups[1].id.as_str(), 0)]);
    assert_eq!(app.as_(ben).get("/groups").await.expect(200), json!([]));
});
