use serde_json::{Value, json};

both!(teacher_creates_edits_and_finds_courses_of_own_class, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let new = json!({"name": "Plants", "description": " ", "classId": class.id, "subjectId": class.subject});
    let answer = ada.post("/courses", new.clone()).await;
    let location = answer.headers["location"].to_str().unwrap().to_owned();
    let course = answer.expect(201);
    assert_eq!(course["status"], "ACTIVE");
    assert_eq!(course["description"], json!(null));
    assert_eq!(course["class"]["name"], "7b");
    assert_eq!(course["subject"]["name"], "Biology");
    assert_eq!(
        course["counts"],
        json!({"groups": 0, "assignments": 0, "activeAssignments": 0})
    );
    assert_eq!(location, format!("/api/courses/{}", course["id"].as_str().unwrap()));

    ada.post("/courses", new.clone()).await.refused(409, "DUPLICATE_COURSE");
    let mut other_case = new.clone();
    other_case["name"] = json!("plants");
    ada.post("/courses", other_case).await.expect(201);

    let path = location.strip_prefix("/api").unwrap().to_owned();
    let edited = ada.patch(&path, json!({"status": "ARCHIVED"})).await.expect(200);
    assert_eq!(edited["status"], "ARCHIVED");
    let found = ada
        .get(&format!("/courses?search=PLA&classId={}&status=ACTIVE", class.id))
        .await
        .expect(200);
    assert_eq!(found.as_array().unwrap().len(), 1);
});

tenants!(other_teachers_read_courses_but_cannot_change_them, |app| {
    let class = &app.world.seven_b;
    let path = format!("/courses/{}", class.course);
    let new = json!({"name": "Animals", "classId": class.id, "subjectId": class.subject});
    let tom = app.as_(&app.world.tom);
    tom.get(&path).await.expect(200);
    tom.post("/courses", new.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    tom.patch(&path, json!({"name": "Mine"}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&app.world.ben)
        .get("/courses")
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&app.world.ben).get(&path).await.refused(403, "FORBIDDEN_ROLE");
    app.as_(&app.world.adam).post("/courses", new.clone()).await.expect(201);

    let zoe = app.as_(&app.world.zoe);
    zoe.get(&path).await.refused(404, "NOT_FOUND");
    zoe.patch(&path, json!({"name": "Mine"}))
        .await
        .refused(404, "NOT_FOUND");
    zoe.post("/courses", new).await.refused(404, "NOT_FOUND");
    let foreign = json!({"name": "X", "classId": app.world.south_class.id, "subjectId": class.subject});
    zoe.post("/courses", foreign).await.refused(404, "NOT_FOUND");
    assert_eq!(
        zoe.get(&format!("/courses?classId={}", class.id)).await.expect(200),
        json!([])
    );
});

tenants!(super_admin_edits_courses_without_active_organization, |app| {
    let (root, class) = (app.as_(&app.world.root), &app.world.seven_b);
    let path = format!("/courses/{}", class.course);
    assert_eq!(root.get(&path).await.expect(200)["name"], "Cells");
    assert_eq!(
        root.patch(&path, json!({"name": "Cells and tissue"})).await.expect(200)["name"],
        "Cells and tissue"
    );
    root.get("/courses/0190a1b2-0000-7000-8000-000000000001")
        .await
        .refused(404, "NOT_FOUND");
    let narrowed = root
        .get(&format!("/courses?organizationId={}", app.world.south))
        .await
        .expect(200);
    assert_eq!(narrowed.as_array().unwrap().len(), 1);
    assert_eq!(narrowed[0]["class"]["name"], "9c");
    let teacher = app.as_(&app.world.ada);
    // For other roles the parameter is ignored: the courses of their own organization are listed.
    let own = teacher
        .get(&format!("/courses?organizationId={}", app.world.south))
        .await;
    assert_eq!(own.expect(200), teacher.get("/courses").await.expect(200));
});

tenants!(course_name_is_unique_per_class_and_subject, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    let chemistry = adam.post("/subjects", json!({"name": "Chemistry"})).await.expect(201);
    let new = |name: &str, class: &str, subject: &Value| json!({"name": name, "classId": class, "subjectId": subject});
    let made = ada
        .post("/courses", new("Plants", &class.id, &json!(class.subject)))
        .await
        .expect(201);
    // The same name is accepted in another class and for another subject, which is then added to the class.
    let other = new("Plants", &class.id, &chemistry["id"]);
    let other = ada.post("/courses", other).await.expect(201);
    let eight_a = &app.world.eight_a;
    let elsewhere = new("Plants", &eight_a.id, &json!(eight_a.subject));
    adam.post("/courses", elsewhere).await.expect(201);
    let subjects = ada.get(&format!("/classes/{}", class.id)).await.expect(200)["subjects"].clone();
    assert!(subjects.to_string().contains("Chemistry"), "{subjects}");

    let path = |course: &Value| format!("/courses/{}", course["id"].as_str().unwrap());
    let cells = format!("/courses/{}", class.course);
    ada.patch(&cells, json!({"name": " Plants "}))
        .await
        .refused(409, "DUPLICATE_COURSE");
    ada.patch(&path(&other), json!({"subjectId": class.subject}))
        .await
        .refused(409, "DUPLICATE_COURSE");
    for missing in ["name", "classId", "subjectId"] {
        let mut body = new("Animals", &class.id, &json!(class.subject));
        body.as_object_mut().unwrap().remove(missing);
        ada.post("/courses", body).await.invalid(missing);
    }

    // `updatedAt` changes only if a field changes.
    let echoed = ada.patch(&path(&made), json!({"name": "Plants"})).await.expect(200);
    assert_eq!(echoed["updatedAt"], made["updatedAt"]);
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    let edited = ada
        .patch(&path(&made), json!({"description": "Green"}))
        .await
        .expect(200);
    assert!(edited["updatedAt"].as_str() > made["updatedAt"].as_str());
    assert_eq!(edited["createdAt"], made["createdAt"]);
});
