//! What a request may contain in addition to its required fields: read-only fields, former names, unknown query
//! parameters, dates without time.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use test_support::openapi_check::document;
use test_support::samples::fill_path;
use test_support::topics::{id, topic};
use test_support::{Client, LessonFixture, TestApp};

/// Returns the object that a client reads before it sends it back: the value at the pointer.
async fn read(client: &Client, path: &str, pointer: &str) -> Value {
    let found = client.get(path).await.expect(200);
    found
        .pointer(pointer)
        .unwrap_or_else(|| panic!("{path} {pointer}: {found}"))
        .clone()
}

both!(patch_with_what_get_returned_is_accepted, |app| {
    let lesson = LessonFixture::create(app).await;
    let (world, mut sent) = (&app.world, BTreeSet::new());
    let (ada, adam, ben, cem, root) = (
        app.as_(&world.ada),
        app.as_(&world.adam),
        app.as_(&world.ben),
        app.as_(&world.cem),
        app.as_(&world.root),
    );
    let class = &world.seven_b;
    let objects: Vec<(&str, &Client, String, &str)> = vec![
        ("/users/me", &ada, "/users/me".to_owned(), ""),
        ("/users/{id}", &adam, format!("/users/{}", world.ben.id), ""),
        (
            "/admin/members/{id}",
            &adam,
            "/admin/members?search=ben".to_owned(),
            "/data/0",
        ),
        ("/admin/settings", &adam, "/admin/settings".to_owned(), ""),
        ("/tenants/{id}", &root, format!("/tenants/{}", world.north), ""),
        ("/subjects/{id}", &adam, format!("/subjects/{}", class.subject), ""),
        ("/homerooms/{id}", &adam, format!("/homerooms/{}", lesson.homeroom), ""),
        ("/classes/{id}", &ada, format!("/classes/{}", class.id), ""),
        (
            "/classes/{id}/students/{studentId}",
            &ada,
            format!("/classes/{}/students?search=ben", class.id),
            "/0/enrollment",
        ),
        ("/courses/{id}", &ada, format!("/courses/{}", class.course), ""),
        ("/groups/{id}", &ada, format!("/groups/{}", lesson.group), ""),
        (
            "/assignments/{id}",
            &ada,
            format!("/assignments/{}", lesson.assignment),
            "",
        ),
        (
            "/assignments/{id}/groups/{groupId}",
            &ada,
            format!("/assignments/{}", lesson.assignment),
            "/groupAssignments/0",
        ),
        (
            "/workrooms/documents/{id}",
            &ben,
            format!("/workrooms/documents/{}", lesson.document),
            "",
        ),
        (
            "/workrooms/{id}/messages/{messageId}",
            &cem,
            format!("/workrooms/{}/messages", lesson.work_room),
            "/data/0",
        ),
        (
            "/workrooms/documents/{id}/comments/{threadId}",
            &ben,
            format!("/workrooms/documents/{}/comments", lesson.document),
            "/threads/0",
        ),
        (
            "/workrooms/documents/{id}/comments/{threadId}/replies/{commentId}",
            &ben,
            format!("/workrooms/documents/{}/comments", lesson.document),
            "/threads/0/comments/0",
        ),
        ("/rubrics/{id}", &ada, format!("/rubrics/{}", lesson.rubric), ""),
        ("/snippets/{id}", &ada, "/snippets".to_owned(), "/0"),
        ("/admin/sign-on/{id}", &adam, "/admin/sign-on".to_owned(), "/0"),
        ("/admin/rosters/{id}", &adam, "/admin/rosters".to_owned(), "/0"),
        (
            "/feedback/{id}",
            &ada,
            format!("/feedback?submissionId={}", lesson.submission),
            "/0",
        ),
    ];
    for (template, client, path, pointer) in objects {
        let mut body = read(client, &path, pointer).await;
        if template == "/groups/{id}" {
            body["topic"] = json!("Former topic");
            body["deadline"] = json!("2020-01-01T00:00:00Z");
        }
        if template == "/users/me" {
            body["updatedAt"] = json!("2001-01-01T00:00:00.000Z");
        }
        let to = own_path(template, &body, &lesson, app);
        let answer = client.patch(&to, body.clone()).await;
        let context = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert_eq!(answer.status, 200, "PATCH {to}: {context}\n{body}");
        body["colour"] = json!("red");
        client.patch(&to, body).await.invalid("colour");
        sent.insert(template.to_owned());
    }
    let rows = document().rows.iter().filter(|row| row.method == "PATCH");
    let all: BTreeSet<String> = rows.map(|row| row.path.clone()).collect();
    let strict = BTreeSet::from(["/assignments/{id}/bulk".to_owned()]);
    assert_eq!(&all - &sent, strict, "a PATCH route that this test does not know");
    let whole = read(&ada, &format!("/assignments/{}", lesson.assignment), "").await;
    let bulk = format!("/assignments/{}/bulk", lesson.assignment);
    ada.patch(&bulk, whole).await.invalid("id");
});

/// Returns the path of the object in `body`.
fn own_path(template: &str, body: &Value, lesson: &LessonFixture, app: &TestApp) -> String {
    fill_path(template, |name| match name {
        "studentId" | "groupId" => body[name].as_str().unwrap().to_owned(),
        "messageId" => body["id"].as_str().unwrap().to_owned(),
        "id" if template.ends_with("{id}") => body["id"].as_str().unwrap().to_owned(),
        name => lesson.parameter(app, template, name),
    })
}

tenants!(unknown_query_keys_are_ignored, |app| {
    let ada = app.as_(&app.world.ada);
    for path in [
        "/courses",
        "/groups",
        "/assignments",
        "/classes",
        "/activity-logs",
        "/users",
        "/messages",
    ] {
        let plain = ada.get(path).await.expect(200);
        assert_eq!(
            ada.get(&format!("{path}?serach=x&_=17")).await.expect(200),
            plain,
            "{path}"
        );
        ada.get(&format!("{path}?limit=none&classId=x")).await;
    }
    ada.get("/activity-logs?limit=none").await.invalid("limit");
});

both!(date_without_time_is_the_start_of_the_day_in_the_school, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    let path = format!("/classes/{}", class.id);
    let dates = json!({"startDate": "2026-09-07", "endDate": "2027-07-30"});
    let edited = ada.patch(&path, dates.clone()).await.expect(200);
    assert_eq!(edited["startDate"], "2026-09-07T00:00:00.000Z", "no time zone is set");
    let zone = json!({"metadata": {"timezone": "Europe/Berlin"}});
    adam.patch("/admin/settings", zone).await.expect(200);
    let edited = ada.patch(&path, dates).await.expect(200);
    assert_eq!(
        (&edited["startDate"], &edited["endDate"]),
        (&json!("2026-09-06T22:00:00.000Z"), &json!("2027-07-29T22:00:00.000Z"))
    );
    let new = json!({"name": "7d", "academicYear": "2026/2027", "startDate": "2026-12-01", "semester": 1});
    let new = ada.post("/classes", new).await.expect(201);
    assert_eq!(
        (&new["startDate"], &new["semester"]),
        (&json!("2026-11-30T23:00:00.000Z"), &json!("1"))
    );
    let second = ada.patch(&path, json!({"semester": 2})).await.expect(200);
    assert_eq!(second["semester"], "2");
    let group = json!({"classId": class.id, "startDate": "2026-12-01"});
    let group = ada.post("/groups", group).await.expect(201);
    assert_eq!(group["startDate"], "2026-11-30T23:00:00.000Z");
    let path = format!("/groups/{}", id(&group));
    let edited = ada.patch(&path, json!({"startDate": "2026-06-01"})).await.expect(200);
    assert_eq!(edited["startDate"], "2026-05-31T22:00:00.000Z");
    let topic = topic(&ada, class, json!({"groupIds": [group["id"]]})).await;
    let bulk = format!("/assignments/{}/bulk", id(&topic));
    ada.patch(&bulk, json!({"startDate": "2026-06-02"})).await.expect(200);
    let moved = ada.get(&path).await.expect(200);
    assert_eq!(moved["startDate"], "2026-06-01T22:00:00.000Z");
    for bad in ["2026-13-01", "2026-6-1", "2026-06-01T10:00", "soon", "1999-01-01"] {
        ada.patch(&path, json!({"startDate": bad})).await.invalid("startDate");
    }
    // A deadline is a timestamp, so a date without time is rejected.
    ada.patch(&bulk, json!({"deadline": "2026-06-02"}))
        .await
        .invalid("deadline");
});

tenants!(former_names_of_student_ids_are_accepted, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let members = |group: &Value| group["memberCount"].clone();
    for name in ["studentIds", "memberIds", "userIds"] {
        let mut new = json!({"classId": world.seven_b.id});
        new[name] = json!([world.ben.id]);
        let group = ada.post("/groups", new).await.expect(201);
        assert_eq!(members(&group), 1, "{name}");
        let mut more = json!({});
        more[name] = json!([world.cem.id]);
        let path = format!("/groups/{}/members", id(&group));
        assert_eq!(members(&ada.post(&path, more.clone()).await.expect(200)), 2, "{name}");
        more["studentIds"] = json!([world.cem.id]);
        more["memberIds"] = json!([world.dana.id]);
        ada.post(&path, more).await.refused(400, "VALIDATION_ERROR");
    }
});

tenants!(activity_log_is_filtered_by_event, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let new = json!({"name": "Plants", "classId": class.id, "subjectId": class.subject});
    let course = ada.post("/courses", new).await.expect(201);
    let path = format!("/courses/{}", id(&course));
    ada.patch(&path, json!({"description": "Green"})).await.expect(200);
    ada.delete(&path).await.expect(200);
    let events = async |query: &str| {
        let page = ada.get(&format!("/activity-logs?{query}")).await.expect(200);
        let rows = page["data"].as_array().unwrap().iter();
        rows.map(|row| row["event"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(events("event=COURSE_CREATE").await, ["COURSE_CREATE"]);
    assert_eq!(events("event=COURSE_DELETE").await, ["COURSE_DELETE"]);
    assert_eq!(
        events("event=COURSE_UPDATE&category=COURSE&action=UPDATE").await,
        ["COURSE_UPDATE"]
    );
    assert_eq!(events("event=COURSE_UPDATE&category=GROUP").await, [""; 0]);
    assert_eq!(events("event=HELP_REQUESTED").await, [""; 0]);
    ada.get("/activity-logs?event=COURSE_LOST").await.invalid("event");
});

tenants!(cursor_of_one_list_is_rejected_by_another, |app| {
    let adam = app.as_(&app.world.adam);
    let lists = ["/users", "/admin/members", "/admin/sessions", "/activity-logs"];
    let mut cursors = Vec::new();
    adam.post("/subjects", json!({"name": "Art"})).await.expect(201);
    adam.post("/subjects", json!({"name": "Music"})).await.expect(201);
    for list in lists {
        let page = adam.get(&format!("{list}?limit=1")).await.expect(200);
        cursors.push((list, page["nextCursor"].as_str().unwrap().to_owned()));
    }
    for list in lists {
        for (of, cursor) in &cursors {
            let answer = adam.get(&format!("{list}?limit=1&cursor={cursor}")).await;
            if list == *of {
                answer.expect(200);
            } else {
                answer.invalid("cursor");
            }
        }
    }
});

both!(conflict_names_the_existing_object_to_those_who_can_read_it, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    let existing = |conflict: Value| conflict["details"][0]["existingId"].clone();
    let course = json!({"name": "Plants", "classId": class.id, "subjectId": class.subject});
    let made = ada.post("/courses", course.clone()).await.expect(201);
    let twice = ada.post("/courses", course).await.refused(409, "DUPLICATE_COURSE");
    assert_eq!(existing(twice), made["id"]);
    let other = format!("/courses/{}", class.course);
    let renamed = ada.patch(&other, json!({"name": "Plants"})).await;
    assert_eq!(existing(renamed.refused(409, "DUPLICATE_COURSE")), made["id"]);
    let group = json!({"classId": class.id, "groupNumber": 7});
    let made = ada.post("/groups", group.clone()).await.expect(201);
    let twice = ada.post("/groups", group).await.refused(409, "DUPLICATE_GROUP_NUMBER");
    assert_eq!(existing(twice), made["id"]);
    let subject = adam.post("/subjects", json!({"name": "Art"})).await.expect(201);
    let twice = adam.post("/subjects", json!({"name": "ART"})).await;
    assert_eq!(existing(twice.refused(409, "DUPLICATE_SUBJECT")), subject["id"]);
    let homeroom = json!({"name": "7B", "academicYear": "2026/2027"});
    let made = adam.post("/homerooms", homeroom.clone()).await.expect(201);
    let twice = adam
        .post("/homerooms", homeroom)
        .await
        .refused(409, "DUPLICATE_HOMEROOM");
    assert_eq!(existing(twice), made["id"]);
    let new = json!({"name": "7x", "academicYear": "2026/2027", "externalId": "X-7"});
    let made = ada.post("/classes", new.clone()).await.expect(201);
    let twice = ada.post("/classes", new).await.refused(409, "DUPLICATE_EXTERNAL_ID");
    assert_eq!(existing(twice), made["id"]);
    let batch = json!({"classId": class.id, "groups": [{"groupNumber": 8}, {"groupNumber": 7}]});
    let seventh = ada
        .post("/groups/batch", batch)
        .await
        .refused(409, "DUPLICATE_GROUP_NUMBER");
    let groups = ada.get(&format!("/groups?classId={}", class.id)).await.expect(200);
    let of_seven = groups
        .as_array()
        .unwrap()
        .iter()
        .find(|group| group["groupNumber"] == 7);
    assert_eq!(existing(seventh), of_seven.unwrap()["id"]);
    let ben = &app.world.ben;
    let again = json!({"name": "Ben", "email": ben.email.to_uppercase(), "role": "STUDENT"});
    let taken = adam.post("/users", again).await.refused(409, "DUPLICATE_EMAIL");
    assert_eq!(existing(taken), json!(ben.id));
    adam.patch(&format!("/users/{}", ben.id), json!({"externalId": "B-1"}))
        .await
        .expect(200);
    let cem = format!("/users/{}", app.world.cem.id);
    let taken = adam.patch(&cem, json!({"externalId": "B-1"})).await;
    assert_eq!(existing(taken.refused(409, "DUPLICATE_EXTERNAL_ID")), json!(ben.id));
    let taken = adam.patch(&cem, json!({"email": ben.email})).await;
    assert_eq!(existing(taken.refused(409, "DUPLICATE_EMAIL")), json!(ben.id));
    let domain = json!({"domain": "pupils.example"});
    let made = adam.post("/admin/domains", domain.clone()).await.expect(201);
    let twice = adam.post("/admin/domains", domain).await;
    assert_eq!(existing(twice.refused(409, "DUPLICATE_MAIL_DOMAIN")), made["id"]);
    let root = app.as_(&app.world.root);
    let west = json!({"name": "West", "slug": "west", "customDomain": "west.example", "ownerEmail": "w@west.example", "ownerName": "Wes"});
    let made = root.post("/tenants", west).await.expect(201);
    let same_slug = json!({"name": "West", "slug": "west", "ownerEmail": "w@west.example", "ownerName": "Wes"});
    let twice = root.post("/tenants", same_slug).await.refused(409, "DUPLICATE_SLUG");
    assert_eq!(existing(twice), made["tenant"]["id"]);
    let east = json!({"name": "East", "slug": "east", "ownerEmail": "e@east.example", "ownerName": "Eve"});
    let east = root.post("/tenants", east).await.expect(201);
    let path = format!("/tenants/{}", east["tenant"]["id"].as_str().unwrap());
    let twice = root.patch(&path, json!({"customDomain": "west.example"})).await;
    assert_eq!(existing(twice.refused(409, "DUPLICATE_DOMAIN")), made["tenant"]["id"]);
    // An administrator cannot read an account of another school, so the error does not contain its id.
    let email = json!({"email": app.world.zoe.email});
    let taken = adam.patch(&format!("/users/{}", app.world.ben.id), email).await;
    let taken = taken.refused(409, "DUPLICATE_EMAIL");
    assert_eq!(existing(taken), Value::Null);
});
