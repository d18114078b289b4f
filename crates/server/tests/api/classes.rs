//! Classes: read and write permissions, status, subjects, co-teachers and deletion.

use serde_json::{Value, json};

use test_support::{Answer, TestApp};

db::statements! {
    CLASSES = "SELECT COUNT(*) FROM classes";
}

/// Creates a group of 7b without members.
pub async fn group(app: &TestApp) {
    let new = json!({"classId": app.world.seven_b.id});
    app.as_(&app.world.ada).post("/groups", new).await.expect(201);
}

/// Counts the classes of all schools.
pub async fn count_classes(app: &TestApp) -> i64 {
    app.raw(|connection| {
        connection
            .fetch_optional(&CLASSES, &[], |row| row.only())
            .unwrap()
            .unwrap()
    })
    .await
}

fn path(class: &Value) -> String {
    format!("/classes/{}", class["id"].as_str().unwrap())
}

pub fn names(classes: &Value) -> Vec<&str> {
    classes
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["name"].as_str().unwrap())
        .collect()
}

pub async fn subject(app: &TestApp, name: &str) -> String {
    let subject = app
        .as_(&app.world.adam)
        .post("/subjects", json!({"name": name}))
        .await
        .expect(201);
    subject["id"].as_str().unwrap().to_owned()
}

pub fn assert_same_not_found(answer: Answer, other: Answer) {
    let (mut one, mut two) = (answer.refused(404, "NOT_FOUND"), other.refused(404, "NOT_FOUND"));
    one["requestId"] = json!("");
    two["requestId"] = json!("");
    assert_eq!(one, two);
}

tenants!(teacher_creates_class_and_owns_it, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let lesson = json!({"weekday": 1, "start": "08:00", "end": "08:45", "room": "B 12"});
    let new = json!({
        "name": " 7c ", "academicYear": "2026/2027", "semester": "1", "startDate": "2026-09-01T00:00:00+02:00",
        "endDate": "2027-07-01T00:00:00Z", "subjectIds": [world.seven_b.subject], "schedule": [lesson],
        "externalId": "SIS-7c",
    });
    let answer = ada.post("/classes", new.clone()).await;
    let location = answer.header("location").to_owned();
    let class = answer.expect(201);
    assert_eq!(location, format!("/api{}", path(&class)));
    assert_eq!((&class["name"], &class["status"]), (&json!("7c"), &json!("ACTIVE")));
    assert_eq!(class["startDate"], "2026-08-31T22:00:00.000Z");
    assert_eq!(
        class["teacher"],
        json!({"id": world.ada.id, "name": "Ada Teacher", "image": null})
    );
    assert_eq!(class["teacherId"], json!(world.ada.id));
    assert_eq!(class["subjects"][0]["name"], "Biology");
    assert_eq!((&class["coTeachers"], &class["homeroom"]), (&json!([]), &json!(null)));
    assert_eq!(
        class["counts"],
        json!({"students": 0, "groups": 0, "courses": 0, "assignments": 0})
    );
    assert_eq!(class["schedule"], json!([lesson]));
    assert_eq!(ada.get(&path(&class)).await.expect(200), class);

    // A name can repeat. An external id must be unique within the school.
    let body = ada
        .post("/classes", new.clone())
        .await
        .refused(409, "DUPLICATE_EXTERNAL_ID");
    assert_eq!(body["details"][0]["path"], "externalId");
    let mut south = new;
    south["subjectIds"] = json!([]);
    app.as_(&world.zoe).post("/classes", south).await.expect(201);
});

both!(new_class_rejects_invalid_fields_and_foreign_references, |app| {
    let (ada, adam, world) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world);
    let before = count_classes(app).await;
    let with = |key: &str, value: Value| {
        let mut new = json!({"name": "7c", "academicYear": "2026/2027"});
        new[key] = value;
        new
    };
    adam.post("/classes", with("teacherId", json!(world.zoe.id)))
        .await
        .refused(404, "NOT_FOUND");
    adam.post("/classes", with("teacherId", json!(world.ben.id)))
        .await
        .refused(404, "NOT_FOUND");
    adam.post("/classes", with("homeroomId", json!("nowhere")))
        .await
        .refused(404, "NOT_FOUND");
    adam.post("/classes", with("subjectIds", json!([world.south_class.subject])))
        .await
        .refused(404, "NOT_FOUND");
    ada.post("/classes", with("teacherId", json!(world.tom.id)))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    ada.post("/classes", with("name", json!(" "))).await.invalid("name");
    ada.post("/classes", with("colour", json!("red")))
        .await
        .invalid("colour");
    ada.post("/classes", with("enrollHomeroom", json!(true)))
        .await
        .invalid("enrollHomeroom");
    ada.post(
        "/classes",
        with("schedule", json!([{"weekday": 8, "start": "08:00", "end": "09:00"}])),
    )
    .await
    .invalid("schedule[0].weekday");
    let mut dates = with("startDate", json!("2027-01-02T00:00:00Z"));
    dates["endDate"] = json!("2027-01-01T00:00:00Z");
    ada.post("/classes", dates).await.invalid("endDate");
    app.as_(&world.ben)
        .post("/classes", json!({}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    assert_eq!(count_classes(app).await, before);

    let class = adam
        .post("/classes", with("teacherId", json!(world.tom.id)))
        .await
        .expect(201);
    assert_eq!(class["teacherId"], json!(world.tom.id));
    let own = adam
        .post("/classes", with("teacherId", json!(world.olga.id)))
        .await
        .expect(201);
    assert_eq!(own["teacher"]["name"], "Olga Owner");
});

tenants!(class_view_depends_on_role, |app| {
    let world = &app.world;
    let path = format!("/classes/{}", world.seven_b.id);
    let full = app.as_(&world.ada).get(&path).await.expect(200);
    assert_eq!(
        full["counts"],
        json!({"students": 4, "groups": 0, "courses": 1, "assignments": 0})
    );
    assert_eq!(app.as_(&world.adam).get(&path).await.expect(200), full);
    assert_eq!(app.as_(&world.olga).get(&path).await.expect(200), full);

    // A teacher of another class reads the summary without lists.
    let summary = app.as_(&world.tom).get(&path).await.expect(200);
    assert_eq!(summary["counts"], full["counts"]);
    assert_eq!(summary["name"], "7b");
    assert!(
        summary.get("subjects").is_none() && summary.get("coTeachers").is_none(),
        "{summary}"
    );

    // A student reads everything except the counts.
    let own = app.as_(&world.ben).get(&path).await.expect(200);
    assert!(own.get("counts").is_none(), "{own}");
    assert_eq!(own["subjects"], full["subjects"]);

    for person in [&world.finn, &world.zoe, &world.zack, &world.zara] {
        let client = app.as_(person);
        assert_same_not_found(client.get(&path).await, client.get("/classes/nothing").await);
    }
    app.stranger().get(&path).await.refused(401, "UNAUTHENTICATED");

    assert_eq!(names(&app.as_(&world.ben).get("/classes").await.expect(200)), ["7b"]);
    assert_eq!(names(&app.as_(&world.zoe).get("/classes").await.expect(200)), ["9c"]);
    let all = app.as_(&world.ada).get("/classes").await.expect(200);
    assert_eq!(names(&all), ["7b", "8a"]);
    assert!(all[0].get("subjects").is_some() && all[1].get("subjects").is_none());
    assert_eq!(
        names(&app.as_(&world.ada).get("/classes?mine=1").await.expect(200)),
        ["7b"]
    );
});

tenants!(classes_are_filtered_and_sorted, |app| {
    let (adam, world) = (app.as_(&app.world.adam), &app.world);
    let music = subject(app, "Music").await;
    for (name, year, status) in [
        ("b 7", "2025/2026", "ARCHIVED"),
        ("B 7", "2026/2027", "DRAFT"),
        ("Äpfel", "2026/2027", "ACTIVE"),
    ] {
        let new = json!({"name": name, "academicYear": year, "status": status, "teacherId": world.tom.id, "subjectIds": [music]});
        adam.post("/classes", new).await.expect(201);
    }
    let list = async |query: &str| adam.get(&format!("/classes?{query}")).await.expect(200);
    assert_eq!(names(&list("").await), ["7b", "8a", "Äpfel", "b 7", "B 7"]);
    assert_eq!(names(&list("search=7").await), ["7b", "b 7", "B 7"]);
    assert_eq!(names(&list("search=%C3%84PF").await), ["Äpfel"]);
    assert_eq!(names(&list("search=%25").await), Vec::<&str>::new());
    assert_eq!(names(&list("status=DRAFT").await), ["B 7"]);
    assert_eq!(names(&list("academicYear=2025/2026").await), ["b 7"]);
    assert_eq!(
        names(&list(&format!("subjectId={music}&status=ACTIVE")).await),
        ["Äpfel"]
    );
    assert_eq!(names(&list(&format!("teacherId={}", world.ada.id)).await), ["7b"]);
    assert_eq!(
        names(&list(&format!("teacherId={}", world.zoe.id)).await),
        Vec::<&str>::new()
    );
    assert_eq!(
        names(&list(&format!("subjectId={}", world.south_class.subject)).await),
        Vec::<&str>::new()
    );
    assert_eq!(names(&list("homeroomId=nowhere").await), Vec::<&str>::new());
    adam.get("/classes?status=OPEN").await.invalid("status");
    let found = list("search=7").await;
    assert_eq!(found[1]["subjects"][0]["name"], "Music");
});

tenants!(admin_deletes_class_with_content_only_with_force, |app| {
    let (ada, adam, world) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world);
    let path = format!("/classes/{}", world.seven_b.id);
    ada.delete(&path).await.refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.zara)
        .delete(&format!("{path}?force=1"))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.zara)
        .delete(&format!("{path}?dryRun=1"))
        .await
        .refused(404, "NOT_FOUND");
    adam.delete(&path).await.refused(409, "CLASS_NOT_EMPTY");
    adam.delete(&format!("{path}?force=maybe")).await.invalid("force");
    group(app).await;
    let preview = adam.delete(&format!("{path}?dryRun=1")).await.expect(200);
    assert_eq!(
        preview["deleted"],
        json!({"courses": 1, "groups": 1, "assignments": 0, "documents": 0})
    );
    let preview = adam.delete(&format!("{path}?dryRun=1&force=1")).await.expect(200);
    assert_eq!(preview["deleted"]["groups"], 1);
    ada.get(&path).await.expect(200);

    let gone = adam.delete(&format!("{path}?force=1")).await.expect(200);
    assert_eq!(gone["deleted"], preview["deleted"]);
    for gone in [path, format!("/courses/{}", world.seven_b.course)] {
        ada.get(&gone).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(app.as_(&world.ben).get("/classes").await.expect(200), json!([]));
    let log = adam.get("/activity-logs?category=CLASS").await.expect(200);
    assert_eq!(log["data"][0]["details"]["deletedCourses"][0]["name"], "Cells");
    assert_eq!(log["data"][0]["details"]["deletedGroups"].as_array().unwrap().len(), 1);

    // Students and subjects do not prevent the deletion of a class.
    let new = json!({"name": "7x", "academicYear": "2026/2027", "subjectIds": [world.seven_b.subject]});
    let empty = ada.post("/classes", new).await.expect(201);
    let empty_path = self::path(&empty);
    ada.post(&format!("{empty_path}/students"), json!({"studentIds": [world.ben.id]}))
        .await
        .expect(200);
    ada.post(&format!("{empty_path}/teachers"), json!({"userId": world.tom.id}))
        .await
        .expect(200);
    ada.patch(&empty_path, json!({"status": "ARCHIVED"})).await.expect(200);
    let gone = adam.delete(&empty_path).await.expect(200);
    let nothing = json!({"courses": 0, "groups": 0, "assignments": 0, "documents": 0});
    assert_eq!(gone, json!({"success": true, "deleted": nothing}));
    adam.get(&empty_path).await.refused(404, "NOT_FOUND");
    adam.delete(&empty_path).await.refused(404, "NOT_FOUND");
});

tenants!(class_courses_equal_filtered_course_list, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let path = format!("/classes/{}/courses", world.seven_b.id);
    let courses = ada.get(&path).await.expect(200);
    assert_eq!(
        courses,
        ada.get(&format!("/courses?classId={}", world.seven_b.id))
            .await
            .expect(200)
    );
    assert_eq!(courses[0]["id"], json!(world.seven_b.course));
    assert_eq!(ada.get(&format!("{path}?status=ARCHIVED")).await.expect(200), json!([]));
    app.as_(&world.tom).get(&path).await.expect(200);
    app.as_(&world.ben).get(&path).await.refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.zoe).get(&path).await.refused(404, "NOT_FOUND");
});

tenants!(class_groups_and_topics_equal_filtered_lists, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let class = &world.seven_b;
    let group = json!({"classId": class.id, "courseId": class.course, "memberIds": [world.ben.id]});
    ada.post("/groups", group).await.expect(201);
    let hidden = json!({"classId": class.id, "startDate": "2099-01-01T00:00:00Z", "memberIds": [world.ben.id]});
    ada.post("/groups", hidden).await.expect(201);
    let topic = json!({"title": "Leaves", "deadline": "2027-01-01T00:00:00Z", "classId": class.id});
    ada.post("/assignments", topic).await.expect(201);
    for (noun, seen_by_ben) in [("groups", 1), ("assignments", 0)] {
        let path = format!("/classes/{}/{noun}", class.id);
        let list = format!("/{noun}?classId={}", class.id);
        for person in [&world.ada, &world.tom, &world.ben, &world.adam] {
            let client = app.as_(person);
            assert_eq!(
                client.get(&path).await.expect(200),
                client.get(&list).await.expect(200),
                "{noun}"
            );
        }
        assert_eq!(
            app.as_(&world.ben)
                .get(&path)
                .await
                .expect(200)
                .as_array()
                .unwrap()
                .len(),
            seen_by_ben
        );
        for person in [&world.finn, &world.zoe, &world.zack] {
            app.as_(person).get(&path).await.refused(404, "NOT_FOUND");
        }
        assert_eq!(ada.get(&format!("{path}?search=nothing")).await.expect(200), json!([]));
        ada.get(&format!("{path}?classId={}", class.id)).await.expect(200);
        ada.get(&format!("{path}?classId={}", world.eight_a.id))
            .await
            .invalid("classId");
    }
});
