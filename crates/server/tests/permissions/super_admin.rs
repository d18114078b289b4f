//! Super admins without an active school: their lists span all schools, their changes go to the school of the parent
//! object, and the activity log records them under their own name.

use serde_json::{Value, json};

use test_support::topics::{group, id, ids, topic};
use test_support::{Client, LessonFixture, RealtimeRows, TestApp};

fn values_of(list: &Value, key: &str) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|row| row[key].as_str().unwrap().to_owned())
        .collect()
}

/// Creates a lesson in both schools.
async fn create_lessons_in_both_schools(app: &TestApp) {
    let world = &app.world;
    LessonFixture::create(app).await;
    let zoe = app.as_(&world.zoe);
    let south = group(&zoe, &world.south_class, &[&world.zack], json!({"name": "Lakes"})).await;
    topic(
        &zoe,
        &world.south_class,
        json!({"title": "Waters", "deadline": "2098-01-01T00:00:00Z", "groupIds": [south]}),
    )
    .await;
}

both!(lists_without_active_school_span_all_schools, |app| {
    create_lessons_in_both_schools(app).await;
    let (root, world) = (app.as_(&app.world.root), &app.world);
    app.as_(&world.adam)
        .post("/subjects", json!({"name": "Zoology"}))
        .await
        .expect(201);
    app.as_(&world.zara)
        .post("/subjects", json!({"name": "Art"}))
        .await
        .expect(201);
    app.as_(&world.adam)
        .post("/homerooms", json!({"name": "6c"}))
        .await
        .expect(201);
    app.as_(&world.zara)
        .post("/homerooms", json!({"name": "5a"}))
        .await
        .expect(201);
    let subjects = root.get("/subjects").await.expect(200);
    assert_eq!(values_of(&subjects, "name"), ["Art", "Biology", "Biology", "Zoology"]);
    let found = root.get("/subjects?search=o").await.expect(200);
    assert_eq!(values_of(&found, "name"), ["Biology", "Biology", "Zoology"]);
    let homerooms = values_of(&root.get("/homerooms").await.expect(200), "name");
    assert_eq!(
        (homerooms[0].as_str(), homerooms[1].as_str(), homerooms.len()),
        ("5a", "6c", 3)
    );
    assert_eq!(
        values_of(&root.get("/classes").await.expect(200), "name"),
        ["7b", "8a", "9c"]
    );
    let prefix = root.get("/classes?search=A").await.expect(200);
    assert_eq!(values_of(&prefix, "name"), ["8a"]);
    assert_eq!(
        values_of(&root.get("/courses").await.expect(200), "name"),
        ["Cells", "Cells", "Cells"]
    );
    let groups = root.get("/groups").await.expect(200);
    assert_eq!(groups.as_array().unwrap().len(), 3);
    let numbers: Vec<_> = groups
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["groupNumber"].as_i64())
        .collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert_eq!(
        values_of(&root.get("/assignments").await.expect(200), "title"),
        ["Waters", "Landforms"]
    );
    let latest = root.get("/assignments?sort=-deadline").await.expect(200);
    assert_eq!(values_of(&latest, "title"), ["Landforms", "Waters"]);
    assert_eq!(
        values_of(&root.get("/assignments?sort=-title").await.expect(200), "title"),
        ["Waters", "Landforms"]
    );
    assert_eq!(root.get("/workrooms").await.expect(200).as_array().unwrap().len(), 3);
    // `organizationId` narrows the list, an unknown id is not found, and an active school restricts the list to itself.
    let narrowed = root
        .get(&format!("/classes?organizationId={}", world.south))
        .await
        .expect(200);
    assert_eq!(values_of(&narrowed, "name"), ["9c"]);
    root.get("/classes?organizationId=nobody")
        .await
        .refused(404, "NOT_FOUND");
    let filtered = root
        .get(&format!("/groups?classId={}", world.south_class.id))
        .await
        .expect(200);
    assert_eq!(values_of(&filtered, "name"), ["Lakes"]);
    root.post("/auth/organization/set-active", json!({"organizationId": world.south}))
        .await
        .expect(200);
    assert_eq!(values_of(&root.get("/classes").await.expect(200), "name"), ["9c"]);
});

both!(log_pages_across_schools_have_no_gap, |app| {
    create_lessons_in_both_schools(app).await;
    let (root, world) = (app.as_(&app.world.root), &app.world);
    for number in 0..4 {
        let school = if number % 2 == 0 { &world.adam } else { &world.zara };
        app.as_(school)
            .post("/subjects", json!({"name": format!("S{number}")}))
            .await
            .expect(201);
    }
    let whole = root.get("/activity-logs?limit=200").await.expect(200)["data"].clone();
    let times = values_of(&whole, "createdAt");
    assert!(times.is_sorted_by(|one, next| one >= next), "newest first: {times:?}");
    let schools: std::collections::BTreeSet<_> = values_of(&whole, "organizationId").into_iter().collect();
    assert_eq!(schools.len(), 2);
    for limit in [1, 2, 3, 5] {
        let (mut seen, mut next) = (Vec::new(), String::new());
        loop {
            let page = root
                .get(&format!("/activity-logs?limit={limit}{next}"))
                .await
                .expect(200);
            seen.extend(ids(&page["data"]));
            let Some(cursor) = page["nextCursor"].as_str() else {
                break;
            };
            next = format!("&cursor={cursor}");
        }
        assert_eq!(seen, ids(&whole), "{limit} a page");
    }
    let lines = root.get("/activity-logs/export.csv").await;
    assert_eq!(
        (lines.status, String::from_utf8(lines.bytes).unwrap().lines().count()),
        (200, ids(&whole).len() + 1)
    );
});

both!(user_of_two_schools_is_listed_once, |app| {
    let (root, world) = (app.as_(&app.world.root), &app.world);
    RealtimeRows(app).join_school(&world.south, &world.tom, "teacher").await;
    for limit in [3, 5, 200] {
        let (mut names, mut next) = (Vec::new(), String::new());
        loop {
            let page = root.get(&format!("/users?limit={limit}{next}")).await.expect(200);
            names.extend(values_of(&page["data"], "name"));
            let Some(cursor) = page["nextCursor"].as_str() else {
                break;
            };
            next = format!("&cursor={cursor}");
        }
        let mut sorted = names.clone();
        sorted.sort_by_cached_key(|name| domain::collation::person_sort_key(name, None));
        assert_eq!((names.len(), &names), (12, &sorted), "{limit} a page");
    }
    let path = format!("/users/{}", world.zoe.id);
    assert_eq!(root.get(&path).await.expect(200)["name"], "Zoe Teacher");
    root.get("/admin/members").await.invalid("organizationId");
    let ours = root
        .get(&format!("/admin/members?organizationId={}", world.south))
        .await;
    assert_eq!(ours.expect(200)["data"].as_array().unwrap().len(), 4);
});

async fn newest_record(root: &Client, organization: &str) -> Value {
    root.get(&format!("/activity-logs?organizationId={organization}&limit=1"))
        .await
        .expect(200)["data"][0]
        .clone()
}

both!(writes_go_to_school_of_parent_and_log_the_super_admin, |app| {
    let (root, world) = (app.as_(&app.world.root), &app.world);
    // The school comes from the parent in the body.
    let class = &world.south_class;
    let course = json!({"name": "Plants", "classId": class.id, "subjectId": class.subject});
    let course = root.post("/courses", course).await.expect(201);
    let record = newest_record(&root, &world.south).await;
    assert_eq!(
        (&record["userRole"], &record["entityName"]),
        (&json!("SUPER_ADMIN"), &json!("Plants"))
    );
    let batch = json!({"classId": class.id, "groups": [{"name": "One"}, {"name": "Two"}], "courseId": course["id"]});
    let groups = root.post("/groups/batch", batch).await.expect(201);
    let topic = json!({"title": "Leaves", "deadline": "2099-01-01T00:00:00Z", "classId": class.id, "courseId": course["id"],
        "groupIds": [groups[1]["id"]]});
    let topic = root.post("/assignments", topic).await.expect(201);
    // The school comes from the object in the path.
    root.patch(&format!("/assignments/{}", id(&topic)), json!({"title": "Roots"}))
        .await
        .expect(200);
    root.post(
        &format!("/groups/{}/members", groups[0]["id"].as_str().unwrap()),
        json!({"userIds": [world.zack.id]}),
    )
    .await
    .expect(200);
    // Objects without a parent need `organizationId`, in the body or in the query.
    root.post("/subjects", json!({"name": "Music"}))
        .await
        .invalid("organizationId");
    root.post("/subjects", json!({"name": "", "organizationId": world.south}))
        .await
        .invalid("name");
    let music = root
        .post("/subjects", json!({"name": "Music", "organizationId": world.south}))
        .await
        .expect(201);
    assert_eq!(music["organizationId"], json!(world.south));
    let path = format!("/subjects?organizationId={}", world.north);
    assert_eq!(
        root.post(&path, json!({"name": "Music"})).await.expect(201)["organizationId"],
        json!(world.north)
    );
    let new =
        json!({"name": "9d", "academicYear": "2026/2027", "teacherId": world.zoe.id, "organizationId": world.south});
    root.post("/classes", new).await.expect(201);
    assert_eq!(newest_record(&root, &world.south).await["userRole"], "SUPER_ADMIN");
    // An unknown id is not found, but the validation runs first. If a body names objects of two schools, one of them is
    // not found.
    let nobody = "0190a1b2-0000-7000-8000-00000000dead";
    let unknown = json!({"name": "X", "classId": nobody, "subjectId": class.subject});
    root.post("/courses", unknown).await.refused(404, "NOT_FOUND");
    root.post("/courses", json!({"name": "", "classId": nobody, "subjectId": "x"}))
        .await
        .invalid("name");
    root.post("/subjects", json!({"name": "X", "organizationId": nobody}))
        .await
        .refused(404, "NOT_FOUND");
    let mixed = json!({"name": "X", "classId": class.id, "subjectId": world.seven_b.subject});
    root.post("/courses", mixed).await.refused(404, "NOT_FOUND");
    root.post("/subjects", json!({"name": "X", "organizationId": 5}))
        .await
        .invalid("organizationId");
    // A member cannot choose the school with `organizationId`.
    let adam = app.as_(&world.adam);
    adam.post("/subjects", json!({"name": "Art", "organizationId": world.south}))
        .await
        .invalid("organizationId");
    // A super admin with an active school acts in that school.
    root.post("/auth/organization/set-active", json!({"organizationId": world.north}))
        .await
        .expect(200);
    assert_eq!(
        root.post("/subjects", json!({"name": "Art"})).await.expect(201)["organizationId"],
        json!(world.north)
    );
    let elsewhere = json!({"name": "X", "classId": class.id, "subjectId": class.subject});
    root.post("/courses", elsewhere).await.refused(404, "NOT_FOUND");
});
