//! docs/rules.md names the implementation and the test of every rule. Every name must exist, and no rule may be
//! missing. The tests below prove rules that do not belong to a single resource.

#[path = "rules/page.rs"]
mod page;

use serde_json::{Value, json};

use api::router;

use crate::earlier_events::discard_earlier_events;
use test_support::rows::texts;
use test_support::topics::{group, id, topic};
use test_support::{LessonFixture, SocketListener, TestApp, clients_are_installed};

/// Returns the columns of a table.
async fn columns(app: &TestApp, table: &str) -> Vec<String> {
    let query = match app.database {
        db::Database::Sqlite(_) => format!("SELECT name FROM pragma_table_info('{table}')"),
        db::Database::Postgres(_) => format!(
            "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
                WHERE table_schema = 'public' AND table_name = '{table}'"
        ),
    };
    texts(&app.database, query).await.into_iter().flatten().collect()
}

both!(group_has_no_topic_or_deadline_field, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let made = group(&ada, class, &[&app.world.ben], json!({})).await;
    topic(&ada, class, json!({"groupIds": [made]})).await;
    for field in ["topic", "deadline"] {
        let new = json!({"classId": class.id, field: "2099-01-01T00:00:00Z"});
        ada.post("/groups", new).await.invalid(field);
        let edit = json!({field: "2099-01-01T00:00:00Z"});
        // A client may send back a field that an earlier release returned. Its value is ignored.
        ada.patch(&format!("/groups/{made}"), edit).await.expect(200);
        for path in [
            format!("/groups/{made}"),
            "/groups".to_owned(),
            format!("/courses/{}", class.course),
        ] {
            let read = ada.get(&path).await.expect(200);
            let groups = match &read {
                Value::Array(groups) => groups,
                other => other["groups"].as_array().unwrap_or(const { &Vec::new() }),
            };
            let has = read.get(field).is_some() || groups.iter().any(|group| group.get(field).is_some());
            assert!(!has, "{path} has a {field}: {read}");
        }
    }
    let of_groups = columns(app, "groups").await;
    assert!(of_groups.contains(&"start_date".to_owned()), "{of_groups:?}");
    assert!(
        !of_groups
            .iter()
            .any(|column| column.contains("topic") || column.contains("deadline"))
    );
    let of_users = columns(app, "users").await;
    assert!(!of_users.iter().any(|column| column.contains("token")), "{of_users:?}");
});

#[test]
fn group_assignment_schema_requires_effective_description() {
    // All tests validate responses against the OpenAPI document, so a required field is present in every response.
    let document = serde_json::to_value(router::description().0).unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let required = |schema: &Value| schema["required"].as_array().cloned().unwrap_or_default();
    let link = &schemas["GroupAssignment"];
    assert!(required(link).contains(&json!("effectiveDescription")));
    let text = &link["properties"]["effectiveDescription"]["$ref"];
    assert_eq!(text, "#/components/schemas/Description");
    assert_eq!(schemas["Description"]["type"], "string", "and never null");
    for (name, schema) in schemas {
        let has = |field: &str| schema["properties"].get(field).is_some();
        if has("assignmentId") && has("groupId") && has("currentSubmissionId") {
            assert!(required(schema).contains(&json!("effectiveDescription")), "{name}");
        }
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            // No schema may describe a link in any other shape.
            if field == "groupAssignment" || field == "groupAssignments" {
                let shown = property.to_string();
                assert!(shown.contains("/GroupAssignment\""), "{name}.{field}: {shown}");
            }
        }
    }
}

both!(stored_files_are_named_after_their_document, |app| {
    let lesson = LessonFixture::create(app).await;
    let bytes: &[u8] = include_bytes!("../../../adapters/templates/blank.docx");
    let part = reqwest::multipart::Part::bytes(bytes.to_vec()).file_name("report.docx");
    let client = app.as_(&app.world.ben);
    let path = format!("/workrooms/documents/{}/content", lesson.document);
    let put = client.request(reqwest::Method::PUT, &path);
    let put = put.multipart(reqwest::multipart::Form::new().part("file", part));
    client.finish(put).await.expect(200);
    let keys = format!(
        "SELECT file_key FROM document_revisions WHERE document_id = '{}'",
        lesson.document
    );
    let keys: Vec<String> = texts(&app.database, keys).await.into_iter().flatten().collect();
    assert!(!keys.is_empty());
    for key in &keys {
        assert!(
            key.starts_with(&lesson.document) && key.rsplit('.').next() == Some("docx"),
            "{key}"
        );
    }
});

both!(courses_are_found_by_class_subject_and_part_of_the_name, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    for name in ["Old plants", "Plants", "ANIMALS"] {
        let new = json!({"name": name, "classId": class.id, "subjectId": class.subject});
        ada.post("/courses", new).await.expect(201);
    }
    let names = async |query: String| -> Vec<String> {
        let found = ada.get(&format!("/courses?{query}")).await.expect(200);
        let names = found
            .as_array()
            .unwrap()
            .iter()
            .map(|course| course["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    assert_eq!(
        names("search=pLaNt".to_owned()).await,
        ["Plants", "Old plants"],
        "beginnings first"
    );
    let all = ["ANIMALS", "Cells", "Old plants", "Plants"];
    assert_eq!(names(format!("classId={}", class.id)).await, all);
    assert_eq!(
        names(format!("classId={}&subjectId={}", class.id, class.subject)).await,
        all
    );
    assert_eq!(names(format!("classId={}", app.world.eight_a.id)).await, ["Cells"]);
    assert!(names("subjectId=none-such".to_owned()).await.is_empty());
    assert!(names("search=%25".to_owned()).await.is_empty(), "a pattern is no text");
});

tenants!(group_and_topic_without_course_keep_working, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let legacy = group(&ada, class, &[&app.world.ben], json!({"courseId": null})).await;
    let on = json!({"courseId": null, "groupIds": [legacy]});
    let made = topic(&ada, class, on).await;
    assert_eq!((&made["courseId"], &made["isShared"]), (&json!(null), &json!(true)));
    let path = format!("/groups/{legacy}");
    ada.delete(&format!("/courses/{}", class.course)).await.expect(200);
    for (client, person) in [(&ada, "Ada"), (&app.as_(&app.world.ben), "Ben")] {
        assert_eq!(client.get(&path).await.expect(200)["courseId"], json!(null), "{person}");
    }
    let alone = ada.get("/groups?courseId=none").await.expect(200);
    assert_eq!(alone[0]["id"], legacy.as_str());
    let topics = ada.get("/assignments?courseId=none").await.expect(200);
    assert_eq!(id(&topics[0]), id(&made));
    // A change of another field does not assign a course.
    ada.patch(&path, json!({"name": "Legacy"})).await.expect(200);
    assert_eq!(ada.get(&path).await.expect(200)["courseId"], json!(null));
});

#[test]
fn every_resource_has_unversioned_routes() {
    let (_, rows) = router::description();
    let nouns = [
        "auth",
        "health",
        "users",
        "classes",
        "homerooms",
        "groups",
        "assignments",
        "messages",
        "subjects",
        "workrooms",
        "feedback",
        "activity-logs",
        "admin",
        "tenants",
    ];
    for noun in nouns {
        let begin = format!("/{noun}");
        assert!(rows.iter().any(|row| row.path.starts_with(&begin)), "{noun}");
    }
    // Each resource has one path without a version. The prefix is added once.
    for row in &rows {
        let first = row.path.split('/').nth(1).unwrap();
        assert!(first != "api" && !first.starts_with('v'), "{}", row.path);
    }
}

tenants!(filters_with_ids_of_another_school_find_nothing, |app| {
    let lesson = LessonFixture::create(app).await;
    let (world, class) = (&app.world, &app.world.seven_b);
    let filters = [
        format!("classId={}", class.id),
        format!("courseId={}", class.course),
        format!("subjectId={}", class.subject),
        format!("assignmentId={}", lesson.assignment),
        format!("groupId={}", lesson.group),
        format!("userId={}", world.ben.id),
        format!("teacherId={}", world.ada.id),
        format!("homeroomId={}", lesson.homeroom),
    ];
    let (document, rows) = router::description();
    let document = serde_json::to_value(document).unwrap();
    let mut asked = 0;
    for row in rows.iter().filter(|row| row.method == "GET" && !row.path.contains('{')) {
        let parameters = document["paths"][&row.path]["get"]["parameters"].clone();
        for filter in &filters {
            let name = filter.split('=').next().unwrap();
            let known = parameters.as_array().into_iter().flatten();
            if row.path.starts_with("/auth/") || !known.clone().any(|one| one["name"] == name) {
                continue;
            }
            for person in [&world.zara, &world.zoe, &world.zack] {
                let answer = app.as_(person).get(&format!("{}?{filter}", row.path)).await;
                let is_export = row.path.rsplit('.').next() == Some("csv");
                if answer.status != 200 || is_export {
                    let context = String::from_utf8_lossy(&answer.bytes).into_owned();
                    let is_empty = is_export && answer.status == 200 && context.lines().count() == 1;
                    let fits = is_empty || matches!(answer.status, 403 | 404);
                    assert!(fits, "{}?{filter} as {}: {context}", row.path, person.name);
                    continue;
                }
                let read = answer.json();
                let list = read.as_array().or_else(|| read["data"].as_array()).unwrap();
                assert!(list.is_empty(), "{}?{filter} as {}: {read}", row.path, person.name);
                asked += 1;
            }
        }
    }
    assert!(asked > 20, "{asked}");
});

tenants!(topic_update_event_contains_sharing_and_course, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, class) = (&app.world, &app.world.seven_b);
    let ada = app.as_(&world.ada);
    let rivers = group(&ada, class, &[&world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let mut listeners = [
        SocketListener::connect(app, &world.adam).await,
        SocketListener::connect(app, &world.ben).await,
    ];
    let path = format!("/assignments/{}", id(&made));
    ada.patch(&path, json!({"isShared": false})).await.expect(200);
    for listener in &mut listeners {
        let received = listener.expect("assignment:updated").await;
        assert_eq!(
            (&received["isShared"], &received["courseId"], &received["changed"]),
            (&json!(false), &json!(class.course), &json!(["isShared"]))
        );
        assert_eq!(
            (&received["assignmentId"], &received["title"]),
            (&made["id"], &made["title"])
        );
    }
});

tenants!(help_request_is_hidden_from_other_students, |app| {
    if !clients_are_installed() {
        return;
    }
    let (world, class) = (&app.world, &app.world.seven_b);
    let ada = app.as_(&world.ada);
    let rivers = group(&ada, class, &[&world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&world.cem], json!({})).await;
    topic(&ada, class, json!({"groupIds": [rivers, lakes]})).await;
    let mut listeners = [
        SocketListener::connect(app, &world.cem).await,
        SocketListener::connect(app, &world.eli).await,
    ];
    discard_earlier_events(app, &mut listeners).await;
    let help = json!({"message": "stuck"});
    app.as_(&world.ben)
        .post(&format!("/groups/{rivers}/help"), help)
        .await
        .expect(200);
    let client = app.as_(&world.cem);
    for path in [
        "/groups",
        "/groups?needsHelp=1",
        "/assignments",
        "/workrooms",
        "/classes",
    ] {
        let read = client.get(path).await.expect(200).to_string();
        assert!(
            !read.contains("\"needsHelp\":true") && !read.contains("stuck"),
            "{path}: {read}"
        );
    }
    // The rooms of the class receive no event either.
    for listener in &mut listeners {
        listener.expect_no_event(300).await;
    }
});

tenants!(bulk_edit_creates_one_record_with_its_groups, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let mut groups = Vec::new();
    for person in [&app.world.ben, &app.world.cem] {
        groups.push(group(&ada, class, &[person], json!({})).await);
    }
    let apart = group(&ada, class, &[&app.world.dana], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": groups})).await;
    topic(&ada, class, json!({"groupIds": [apart]})).await;
    let edit = json!({"title": "New", "description": "All draw."});
    let bulk = format!("/assignments/{}/bulk", id(&made));
    ada.patch(&format!("{bulk}?dryRun=1"), edit.clone()).await.expect(200);
    ada.patch(&bulk, edit).await.expect(200);
    let query = format!("/activity-logs?assignmentId={}&action=BULK_UPDATE", id(&made));
    let records = ada.get(&query).await.expect(200)["data"].clone();
    assert_eq!(records.as_array().unwrap().len(), 1, "{records}");
    assert_eq!(records[0]["event"], "ASSIGNMENT_BULK_UPDATE");
    let details = &records[0]["details"];
    let mut named: Vec<String> = serde_json::from_value(details["groupIds"].clone()).unwrap();
    named.sort();
    groups.sort();
    assert_eq!(named, groups);
    assert_eq!(details["assignmentId"], made["id"]);
    assert_eq!(details["changed"], json!(["title", "description"]));
    assert_eq!(
        (&details["before"]["title"], &details["after"]["title"]),
        (&made["title"], &json!("New"))
    );
});
