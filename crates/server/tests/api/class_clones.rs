//! Cloning a class: what is copied, what is not, and by how much dates are shifted.

use serde_json::{Value, json};

use test_support::rows::execute;
use test_support::topics::{course, group, id, topic};
use test_support::{Client, TestApp, until};

const NEXT_YEAR: &str = "2027/2028";

async fn clone_class(client: &Client, class: &str, more: Value) -> Value {
    let mut body = json!({"name": "8b", "academicYear": NEXT_YEAR});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post(&format!("/classes/{class}/clone"), body).await.expect(201)
}

async fn list(app: &TestApp, path: &str) -> Vec<Value> {
    let found = app.as_(&app.world.adam).get(path).await.expect(200);
    found.as_array().unwrap().clone()
}

both!(class_clone_copies_prepared_content_and_shifts_dates, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let class = &world.seven_b;
    let lesson = json!([{"weekday": 1, "start": "08:00", "end": "09:30"}]);
    let edit = json!({"startDate": "2026-09-07T08:00:00Z", "endDate": "2027-07-01T08:00:00Z", "schedule": lesson});
    ada.patch(&format!("/classes/{}", class.id), edit).await.expect(200);
    ada.post(
        &format!("/classes/{}/teachers", class.id),
        json!({"userId": world.tom.id}),
    )
    .await
    .expect(200);
    let rivers = group(&ada, class, &[&world.ben], json!({})).await;
    let more = json!({
        "groups": [{"groupId": rivers, "descriptionOverride": "Own."}], "deadline": "2026-11-23T10:00:00Z",
        "isShared": false, "maxPoints": 10, "latePolicy": "BLOCK",
    });
    let old = topic(&ada, class, more).await;
    let files = format!("/assignments/{}/attachments", id(&old));
    let shared = ada.upload(&files, "map.txt", b"a map".to_vec(), &[]).await.expect(201);
    let link = old["groupAssignments"][0]["id"].as_str().unwrap();
    ada.upload(&files, "own.txt", b"own".to_vec(), &[("groupAssignmentId", link)])
        .await
        .expect(201);
    ada.upload(&format!("{files}?staged=1"), "late.txt", b"late".to_vec(), &[])
        .await
        .expect(201);
    let old_path = format!("/assignments/{}", id(&old));
    ada.post(&format!("{old_path}/finish"), json!({})).await.expect(200);
    let archived = course(&ada, class, "Archived").await;
    topic(&ada, class, json!({"title": "Set aside", "courseId": archived})).await;
    ada.patch(&format!("/courses/{archived}"), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let before = ada.get(&old_path).await.expect(200);

    let all = json!({"withCourses": true, "withTopics": true, "withStudents": true});
    let new = clone_class(&ada, &class.id, all).await;
    assert_eq!((&new["name"], &new["academicYear"]), (&json!("8b"), &json!(NEXT_YEAR)));
    assert_eq!(
        (&new["status"], &new["teacherId"]),
        (&json!("DRAFT"), &json!(world.ada.id))
    );
    assert_eq!(new["coTeachers"], json!([{"id": world.tom.id, "name": world.tom.name}]));
    assert_eq!(new["schedule"][0]["start"], "08:00");
    // Dates are shifted by 52 weeks, so a Monday stays a Monday.
    assert_eq!(new["startDate"], "2027-09-06T08:00:00.000Z");
    assert_eq!(new["endDate"], "2028-06-29T08:00:00.000Z");
    assert_eq!(
        new["counts"],
        json!({"students": 4, "groups": 0, "courses": 1, "assignments": 1})
    );
    let new_id = id(&new);
    let topics = list(app, &format!("/classes/{new_id}/assignments")).await;
    let copy = ada.get(&format!("/assignments/{}", id(&topics[0]))).await.expect(200);
    assert_eq!(
        (&copy["title"], &copy["description"]),
        (&old["title"], &old["description"])
    );
    assert_eq!(copy["deadline"], "2027-11-22T10:00:00.000Z");
    assert_eq!((&copy["status"], &copy["isShared"]), (&json!("ACTIVE"), &json!(false)));
    assert_eq!(
        (&copy["maxPoints"], &copy["latePolicy"]),
        (&old["maxPoints"], &json!("BLOCK"))
    );
    assert_eq!(copy["groupAssignments"], json!([]));
    assert_ne!(copy["courseId"], old["courseId"]);
    let attachments = copy["attachments"].as_array().unwrap();
    assert_eq!(attachments.len(), 1, "own files of groups and staged ones stay");
    assert_eq!(attachments[0]["fileName"], "map.txt");
    assert_ne!(attachments[0]["id"], shared["id"]);

    // The copy has its own stored file: the original can be deleted.
    ada.post(&format!("{old_path}/reopen"), json!({})).await.expect(200);
    ada.delete(&format!("{files}/{}", id(&shared))).await.expect(200);
    let path = attachments[0]["url"].as_str().unwrap().trim_start_matches("/api");
    until("the removals are worked off", async || {
        test_support::rows::texts(&app.database, "SELECT id FROM file_removals".to_owned())
            .await
            .is_empty()
    })
    .await;
    assert_eq!(ada.get(path).await.bytes, b"a map");
    // The original class is unchanged.
    let after = ada.get(&old_path).await.expect(200);
    assert_eq!(
        after["groupAssignments"][0]["descriptionOverride"],
        before["groupAssignments"][0]["descriptionOverride"]
    );
    assert_eq!(after["deadline"], before["deadline"]);
    // Students cannot see a draft.
    app.as_(&world.ben)
        .get(&format!("/classes/{new_id}"))
        .await
        .refused(404, "NOT_FOUND");
    let log = ada.get(&format!("/activity-logs?classId={new_id}")).await.expect(200);
    let made = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|log| log["event"] == "CLASS_CREATE");
    assert_eq!(
        made.unwrap()["details"]["copiedFrom"],
        json!({"id": class.id, "name": "7b"})
    );
});

tenants!(class_clone_copies_only_requested_parts, |app| {
    let (ada, adam, world) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world);
    let class = &world.seven_b.id;
    topic(&ada, &world.seven_b, json!({})).await;
    let bare = clone_class(&ada, class, json!({"academicYear": "another time"})).await;
    assert_eq!(
        bare["counts"],
        json!({"students": 0, "groups": 0, "courses": 0, "assignments": 0})
    );
    assert_eq!(bare["subjects"].as_array().unwrap().len(), 1, "what is taught stays");
    let courses = clone_class(&adam, class, json!({"withCourses": true})).await;
    assert_eq!(
        (&courses["counts"]["courses"], &courses["counts"]["assignments"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(
        courses["teacherId"], world.ada.id,
        "an admin leaves the class to its teacher"
    );
    // An archived class of the previous year can be cloned.
    ada.patch(&format!("/classes/{class}"), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let again = clone_class(&ada, class, json!({"withStudents": true})).await;
    assert_eq!(again["counts"]["students"], 4);

    // A platform administrator does not teach, so the clone keeps the teacher of the original.
    let platform = clone_class(&app.as_(&world.root), class, json!({})).await;
    assert_eq!(platform["teacherId"], world.ada.id);

    let path = format!("/classes/{class}/clone");
    let body = json!({"name": "8b", "academicYear": NEXT_YEAR});
    ada.post(&path, json!({"name": "8b"})).await.invalid("academicYear");
    let topics = json!({"name": "8b", "academicYear": NEXT_YEAR, "withTopics": true});
    ada.post(&path, topics).await.invalid("withTopics");
    let groups = json!({"name": "8b", "academicYear": NEXT_YEAR, "withGroups": true});
    ada.post(&path, groups).await.invalid("withGroups");
    app.as_(&world.tom)
        .post(&path, body.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.ben)
        .post(&path, body.clone())
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.zoe).post(&path, body).await.refused(404, "NOT_FOUND");
    assert_eq!(list(app, "/classes?search=8b").await.len(), 4);
});

both!(clone_of_class_with_more_than_200_topics_is_rejected, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let (north, class, owner) = (&world.north, &world.seven_b.id, &world.ada.id);
    let rows: Vec<String> = (0..201)
        .map(|n| format!("('{north}', 'a{n}', 'Topic', 'topic', '', 9, '{class}', '{owner}', 1, 1)"))
        .collect();
    let insert = "INSERT INTO assignments (organization_id, id, title, title_key, description, deadline, class_id,
        created_by_id, created_at, updated_at) VALUES";
    execute(&app.database, format!("{insert} {}", rows.join(", "))).await;
    let body = json!({"name": "8b", "academicYear": NEXT_YEAR, "withCourses": true, "withTopics": true});
    let path = format!("/classes/{class}/clone");
    ada.post(&path, body).await.refused(409, "LIMIT_REACHED");
    execute(&app.database, "DELETE FROM assignments WHERE id = 'a0'".to_owned()).await;
    let new = clone_class(&ada, class, json!({"withCourses": true, "withTopics": true})).await;
    assert_eq!(new["counts"]["assignments"], 200);
    assert_eq!(list(app, "/classes?search=8b").await.len(), 1);
});

both!(deadline_of_a_copy_keeps_its_local_time_over_daylight_saving, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    adam.patch("/admin/settings", json!({"metadata": {"timezone": "Europe/Berlin"}}))
        .await
        .expect(200);
    // Noon in Berlin in winter time; 52 weeks later it is still summer time.
    let noon = json!({"title": "Autumn", "deadline": "2026-10-27T11:00:00Z"});
    topic(&ada, class, noon).await;
    topic(
        &ada,
        class,
        json!({"title": "Winter", "deadline": "2026-12-01T11:00:00Z"}),
    )
    .await;
    let new = clone_class(&ada, &class.id, json!({"withCourses": true, "withTopics": true})).await;
    let topics = ada.get(&format!("/assignments?classId={}", id(&new))).await.expect(200);
    let deadline = |title: &str| {
        let mut topics = topics.as_array().unwrap().iter();
        topics.find(|topic| topic["title"] == title).unwrap()["deadline"].clone()
    };
    assert_eq!(deadline("Autumn"), "2027-10-26T10:00:00.000Z");
    assert_eq!(deadline("Winter"), "2027-11-30T11:00:00.000Z");
});
