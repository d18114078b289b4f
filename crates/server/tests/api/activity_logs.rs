//! Activity log: access by role, pagination, filters and the export. A failure of the log does not fail the request.

use std::collections::HashSet;

use common::clock;
use serde_json::{Value, json};

use test_support::{Client, TestApp};

db::statements! {
    LOG = "INSERT INTO activity_logs (organization_id, id, user_name, user_role, category, action, entity_type, entity_id,
            entity_name, class_id, search_key, created_at)
        VALUES ($1, $2, 'Past', 'teacher', 'CLASS', 'UPDATE', 'class', 'x', $5, $3, 'past', $4)";
    HIDE = "ALTER TABLE activity_logs RENAME TO hidden_logs";
    SHOW = "ALTER TABLE hidden_logs RENAME TO activity_logs";
}

/// Inserts a record of a class directly into the table.
async fn insert_record(app: &TestApp, class: &str, at: i64, name: &'static str) {
    let (organization, class) = (app.world.north.clone(), class.to_owned());
    assert_eq!(STATEMENTS.len(), 3);
    app.raw(move |connection| {
        connection
            .execute(&LOG, db::args![organization, clock::new_id(), class, at, name])
            .unwrap();
    })
    .await;
}

async fn logs(client: &Client, query: &str) -> Value {
    client.get(&format!("/activity-logs?{query}")).await.expect(200)["data"].clone()
}

fn events(data: &Value) -> Vec<&str> {
    data.as_array()
        .unwrap()
        .iter()
        .map(|log| log["event"].as_str().unwrap())
        .collect()
}

fn ids(page: &Value) -> Vec<String> {
    page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|log| log["id"].as_str().unwrap().to_owned())
        .collect()
}

tenants!(record_contains_actor_action_object_and_changes, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let class = &world.seven_b;
    let new = json!({"name": "Plants", "classId": class.id, "subjectId": class.subject});
    let course = ada
        .with("x-request-id", "req-1")
        .post("/courses", new)
        .await
        .expect(201);
    let path = format!("/courses/{}", course["id"].as_str().unwrap());
    ada.patch(&path, json!({"name": "Plants and fungi"})).await.expect(200);
    // A request that changes nothing leaves no record.
    ada.patch(&path, json!({"name": "Plants and fungi"})).await.expect(200);

    let data = logs(&ada, "").await;
    assert_eq!(events(&data), ["COURSE_UPDATE", "COURSE_CREATE"]);
    let created = &data[1];
    assert_eq!(
        (&created["category"], &created["action"]),
        (&json!("COURSE"), &json!("CREATE"))
    );
    assert_eq!(
        (&created["userId"], &created["userName"]),
        (&json!(world.ada.id), &json!("Ada Teacher"))
    );
    assert_eq!(
        (&created["userRole"], &created["requestId"]),
        (&json!("teacher"), &json!("req-1"))
    );
    assert_eq!(
        (&created["entityType"], &created["entityId"]),
        (&json!("course"), &course["id"])
    );
    assert_eq!(
        (&created["entityName"], &created["classId"]),
        (&json!("Plants"), &json!(class.id))
    );
    assert_eq!(
        (&created["courseId"], &created["groupId"]),
        (&course["id"], &json!(null))
    );
    assert_eq!(created["organizationId"], json!(world.north));
    let details = json!({
        "changed": ["name"], "before": {"name": "Plants"}, "after": {"name": "Plants and fungi"},
    });
    assert_eq!(data[0]["details"], details);
});

tenants!(class_changes_are_recorded, |app| {
    let (ada, adam, world) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world);
    let class = ada
        .post("/classes", json!({"name": "7x", "academicYear": "2026/2027"}))
        .await
        .expect(201);
    let path = format!("/classes/{}", class["id"].as_str().unwrap());
    ada.patch(&path, json!({"subjectIds": [world.seven_b.subject]}))
        .await
        .expect(200);
    ada.post(
        &format!("{path}/students"),
        json!({"studentIds": [world.ben.id, world.cem.id]}),
    )
    .await
    .expect(200);
    ada.post(&format!("{path}/students"), json!({"studentIds": [world.ben.id]}))
        .await
        .expect(200);
    ada.delete(&format!("{path}/students/{}", world.ben.id))
        .await
        .expect(200);
    ada.post(&format!("{path}/teachers"), json!({"userId": world.tom.id}))
        .await
        .expect(200);
    ada.delete(&format!("{path}/teachers/{}", world.tom.id))
        .await
        .expect(200);
    adam.delete(&path).await.expect(200);
    let data = logs(&adam, &format!("classId={}", class["id"].as_str().unwrap())).await;
    let received = [
        "CLASS_DELETE",
        "CLASS_MEMBER_REMOVED",
        "CLASS_MEMBER_ADDED",
        "CLASS_MEMBER_REMOVED",
        "CLASS_MEMBER_ADDED",
        "CLASS_UPDATE",
        "CLASS_CREATE",
    ];
    assert_eq!(events(&data), received);
    assert_eq!(data[0]["details"]["className"], "7x");
    assert_eq!(data[0]["details"]["counts"]["students"], 1);
    assert_eq!(
        data[4]["details"]["students"][1],
        json!({"id": world.cem.id, "name": "Cem Student"})
    );
    assert_eq!(data[5]["details"]["changed"], json!(["subjectIds"]));
    // Ada's records are scoped by the class, so they are gone with the class.
    assert_eq!(logs(&ada, "").await, json!([]));
});

tenants!(teacher_reads_log_of_own_classes_and_admin_of_school, |app| {
    let world = &app.world;
    let course =
        |class: &test_support::TestClass| json!({"name": "New", "classId": class.id, "subjectId": class.subject});
    app.as_(&world.ada)
        .post("/courses", course(&world.seven_b))
        .await
        .expect(201);
    app.as_(&world.tom)
        .post("/courses", course(&world.eight_a))
        .await
        .expect(201);
    app.as_(&world.zoe)
        .post("/courses", course(&world.south_class))
        .await
        .expect(201);
    app.as_(&world.adam)
        .post("/subjects", json!({"name": "Music"}))
        .await
        .expect(201);

    let (ada, tom, adam) = (app.as_(&world.ada), app.as_(&world.tom), app.as_(&world.adam));
    let own = logs(&ada, "").await;
    assert_eq!(own.as_array().unwrap().len(), 1);
    assert_eq!(own[0]["classId"], json!(world.seven_b.id));
    for query in [
        format!("classId={}", world.eight_a.id),
        format!("classId={}", world.south_class.id),
        format!("userId={}", world.tom.id),
        format!("groupId={}", world.tom.id),
        "category=SUBJECT".to_owned(),
    ] {
        assert_eq!(logs(&ada, &query).await, json!([]), "{query}");
    }
    assert_eq!(
        events(&logs(&adam, "").await),
        ["SUBJECT_CREATE", "COURSE_CREATE", "COURSE_CREATE"]
    );
    assert_eq!(logs(&app.as_(&world.olga), "").await, logs(&adam, "").await);
    assert_eq!(logs(&app.as_(&world.zara), "").await.as_array().unwrap().len(), 1);

    // A co-teacher can read the log of the class, including earlier records, only as long as the role lasts.
    let teachers = format!("/classes/{}/teachers", world.seven_b.id);
    ada.post(&teachers, json!({"userId": world.tom.id})).await.expect(200);
    assert_eq!(
        events(&logs(&tom, "").await),
        ["CLASS_MEMBER_ADDED", "COURSE_CREATE", "COURSE_CREATE"]
    );
    ada.delete(&format!("{teachers}/{}", world.tom.id)).await.expect(200);
    assert_eq!(events(&logs(&tom, "").await), ["COURSE_CREATE"]);

    app.as_(&world.ben)
        .get("/activity-logs")
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.ben)
        .get("/activity-logs?limit=x")
        .await
        .refused(403, "FORBIDDEN_ROLE");
    ada.get("/activity-logs/export.csv")
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.stranger()
        .get("/activity-logs")
        .await
        .refused(401, "UNAUTHENTICATED");
});

both!(log_is_filtered_by_object_text_and_time, |app| {
    let (adam, world) = (app.as_(&app.world.adam), &app.world);
    let day = 86_400_000;
    for (index, name) in ["Alpha", "Beta", "Gamma"].into_iter().enumerate() {
        insert_record(
            app,
            &world.seven_b.id,
            1_700_000_000_000 + day * i64::try_from(index).unwrap(),
            name,
        )
        .await;
    }
    let class = &world.eight_a;
    let new = json!({"name": "100% Ärger", "classId": class.id, "subjectId": class.subject});
    let course = app.as_(&world.tom).post("/courses", new).await.expect(201);
    let count = async |query: &str| logs(&adam, query).await.as_array().unwrap().len();
    assert_eq!(count("").await, 4);
    assert_eq!(count(&format!("classId={}", world.seven_b.id)).await, 3);
    assert_eq!(count(&format!("courseId={}", course["id"].as_str().unwrap())).await, 1);
    assert_eq!(count("category=CLASS").await, 3);
    assert_eq!(count("category=CLASS&action=CREATE").await, 0);
    assert_eq!(count("action=CREATE").await, 1);
    assert_eq!(count(&format!("userId={}", world.tom.id)).await, 1);
    assert_eq!(count(&format!("userId={}&action=UPDATE", world.tom.id)).await, 0);
    assert_eq!(count("search=%C3%84RGER").await, 1);
    assert_eq!(count("search=%25").await, 1);
    assert_eq!(count("search=tom%20teach").await, 1);
    // `from` is inclusive, `to` is exclusive.
    let (second, third) = ("2023-11-15T22:13:20Z", "2023-11-16T22:13:20Z");
    assert_eq!(count(&format!("from={second}&to={third}")).await, 1);
    assert_eq!(count(&format!("from={second}")).await, 3);
    assert_eq!(count(&format!("to={third}")).await, 2);
    assert_eq!(count("groupId=nothing").await, 0);
    assert_eq!(count("assignmentId=nothing").await, 0);
    for (query, path) in [
        ("category=NOTHING", "category"),
        ("action=NOTHING", "action"),
        ("from=yesterday", "from"),
        ("limit=0", "limit"),
        ("limit=many", "limit"),
        ("cursor=xyz", "cursor"),
        ("cursor=", "cursor"),
    ] {
        adam.get(&format!("/activity-logs?{query}")).await.invalid(path);
    }
});

both!(log_pages_are_stable_while_records_are_added, |app| {
    let (adam, ada, world) = (app.as_(&app.world.adam), app.as_(&app.world.ada), &app.world);
    // Several records with the same timestamp and two classes of one teacher test the order and the merging.
    let new = json!({"name": "7x", "academicYear": "2026/2027"});
    let second = ada.post("/classes", new).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for number in 0..24 {
        let class = if number % 3 == 0 { &second } else { &world.seven_b.id };
        insert_record(app, class, 1_700_000_000_000 + number / 4, "Past").await;
    }
    for client in [&adam, &ada] {
        let whole = client.get("/activity-logs?limit=1000").await.expect(200);
        assert_eq!(whole["nextCursor"], json!(null));
        let expected = ids(&whole);
        assert!(expected.len() >= 25, "{}", expected.len());
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.get(&format!("/activity-logs?limit=7{cursor}")).await.expect(200);
            let found = ids(&page);
            assert!(!found.is_empty() && found.len() <= 7);
            seen.extend(found);
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
            // New records at the front do not shift later pages.
            let class = &world.seven_b;
            let course = json!({"name": clock::new_id(), "classId": class.id, "subjectId": class.subject});
            ada.post("/courses", course).await.expect(201);
        }
        assert_eq!(seen, expected);
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
    }
    let page = adam.get("/activity-logs?limit=99999").await.expect(200);
    assert!(page["data"].as_array().unwrap().len() > 25);
});

both!(log_page_has_50_records_by_default_and_200_at_most, |app| {
    let (organization, class) = (app.world.north.clone(), app.world.seven_b.id.clone());
    app.raw(move |connection| {
        for number in 0..230_i64 {
            connection
                .execute(
                    &LOG,
                    db::args![organization, clock::new_id(), class, number + 1, "Past"],
                )
                .unwrap();
        }
    })
    .await;
    for person in [&app.world.adam, &app.world.ada] {
        let client = app.as_(person);
        let size = async |query: &str| {
            let page = client.get(&format!("/activity-logs{query}")).await.expect(200);
            (ids(&page).len(), page["nextCursor"].is_string())
        };
        assert_eq!(size("").await, (50, true));
        assert_eq!(size("?limit=200").await, (200, true));
        assert_eq!(size("?limit=201").await, (200, true));
        assert_eq!(size("?limit=230&from=2001-01-01T00:00:00Z").await, (0, false));
    }
});

both!(admin_exports_log_as_csv, |app| {
    let (adam, world) = (app.as_(&app.world.adam), &app.world);
    let (organization, class) = (world.north.clone(), world.seven_b.id.clone());
    app.raw(move |connection| {
        for number in 0..600_i64 {
            connection
                .execute(
                    &LOG,
                    db::args![organization, clock::new_id(), class, number + 1, "Past"],
                )
                .unwrap();
        }
    })
    .await;
    let class = &world.seven_b;
    for name in ["=HYPERLINK(\"http://evil\")", "Plants, \"wild\""] {
        let new = json!({"name": name, "classId": class.id, "subjectId": class.subject});
        app.as_(&world.ada).post("/courses", new).await.expect(201);
    }
    let answer = adam.get("/activity-logs/export.csv").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    assert!(answer.header("content-disposition").starts_with("attachment;"));
    let text = String::from_utf8(answer.bytes).unwrap();
    let lines: Vec<_> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 603);
    assert!(lines[0].starts_with("id,createdAt,userId,userName,"), "{}", lines[0]);
    assert!(lines[1].contains("\"Plants, \"\"wild\"\"\""), "{}", lines[1]);
    assert!(
        lines[2].contains(",\"'=HYPERLINK(\"\"http://evil\"\")\","),
        "{}",
        lines[2]
    );
    assert_eq!(lines.iter().collect::<HashSet<_>>().len(), lines.len());

    let courses = adam.get("/activity-logs/export.csv?category=COURSE").await;
    assert_eq!(String::from_utf8(courses.bytes).unwrap().lines().count(), 3);
});

both!(failing_log_does_not_fail_the_request, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let class = &world.seven_b;
    let new = |name: &str| json!({"name": name, "classId": class.id, "subjectId": class.subject});
    ada.post("/courses", new("Before")).await.expect(201);
    app.raw(|connection| connection.execute(&HIDE, &[]).unwrap()).await;
    let course = ada.post("/courses", new("During")).await.expect(201);
    let two = json!({"name": "7x", "academicYear": "2026/2027"});
    ada.post("/classes", two).await.expect(201);
    ada.get(&format!("/courses/{}", course["id"].as_str().unwrap()))
        .await
        .expect(200);
    app.raw(|connection| connection.execute(&SHOW, &[]).unwrap()).await;
    ada.post("/courses", new("After")).await.expect(201);
    let data = logs(&ada, "").await;
    let names: Vec<_> = data
        .as_array()
        .unwrap()
        .iter()
        .map(|log| log["entityName"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["After", "Before"]);
});

tenants!(rejected_request_leaves_no_record, |app| {
    let (tom, adam, world) = (app.as_(&app.world.tom), app.as_(&app.world.adam), &app.world);
    let path = format!("/classes/{}", world.seven_b.id);
    tom.patch(&path, json!({"name": "mine"}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    adam.delete(&path).await.refused(409, "CLASS_NOT_EMPTY");
    adam.delete(&format!("{path}?dryRun=1")).await.expect(200);
    let duplicate = json!({"name": "Cells", "classId": world.seven_b.id, "subjectId": world.seven_b.subject});
    adam.post("/courses", duplicate).await.refused(409, "DUPLICATE_COURSE");
    assert_eq!(logs(&adam, "").await, json!([]));
});
