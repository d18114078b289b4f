//! Subjects: one list per school.

use serde_json::json;

tenants!(admin_edits_subjects_and_all_members_read_them, |app| {
    let adam = app.as_(&app.world.adam);
    let chemistry = adam
        .post(
            "/subjects",
            json!({"name": " Chemistry ", "code": "CHE", "color": "#00aa00"}),
        )
        .await
        .expect(201);
    assert_eq!(chemistry["name"], "Chemistry");
    assert_eq!(chemistry["description"], json!(null));
    adam.post("/subjects", json!({"name": "Art"})).await.expect(201);
    let names = app.as_(&app.world.ben).get("/subjects").await.expect(200);
    assert_eq!(names[0]["name"], "Art");
    assert_eq!(names[2]["name"], "Chemistry");

    let found = adam.get("/subjects?search=CHE").await.expect(200);
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(
        adam.get("/subjects?search=%25").await.expect(200),
        json!([]),
        "a percent sign is a percent sign"
    );

    let path = format!("/subjects/{}", chemistry["id"].as_str().unwrap());
    assert_eq!(adam.get(&path).await.expect(200), chemistry);
    let edited = adam
        .patch(&path, json!({"color": null, "isActive": false}))
        .await
        .expect(200);
    assert_eq!((&edited["color"], &edited["isActive"]), (&json!(null), &json!(false)));
    assert_eq!(
        adam.get("/subjects?isActive=1")
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        2
    );
    adam.delete(&path).await.expect(200);
    adam.get(&path).await.refused(404, "NOT_FOUND");
});

tenants!(subject_name_is_unique_ignoring_case, |app| {
    let adam = app.as_(&app.world.adam);
    adam.post("/subjects", json!({"name": "Music"})).await.expect(201);
    let body = adam
        .post("/subjects", json!({"name": "MUSIC"}))
        .await
        .refused(409, "DUPLICATE_SUBJECT");
    assert_eq!(body["details"][0]["path"], "name");
    app.as_(&app.world.zara)
        .post("/subjects", json!({"name": "Music"}))
        .await
        .expect(201);
});

tenants!(patch_ignores_read_only_fields, |app| {
    let adam = app.as_(&app.world.adam);
    let mut subject = adam.post("/subjects", json!({"name": "Physics"})).await.expect(201);
    let path = format!("/subjects/{}", subject["id"].as_str().unwrap());
    subject["name"] = json!("Physics and astronomy");
    adam.patch(&path, subject.clone()).await.expect(200);
    subject["id"] = json!("another");
    let same = adam.patch(&path, subject.clone()).await.expect(200);
    assert_ne!(same["id"], "another");
    adam.patch(&path, json!({"colour": "#000000"})).await.invalid("colour");
    adam.patch(&path, json!({"name": null})).await.invalid("name");
});
