//! Editing classes: permissions, status transitions, subjects and co-teachers.

use serde_json::json;

use crate::classes::{assert_same_not_found, group, names, subject};

tenants!(only_class_teacher_edits_class_and_admin_changes_owner, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let path = format!("/classes/{}", world.seven_b.id);
    let mut shown = ada.get(&path).await.expect(200);
    shown["name"] = json!("7b plus");
    shown["semester"] = json!("2");
    let edited = ada.patch(&path, shown.clone()).await.expect(200);
    assert_eq!((&edited["name"], &edited["semester"]), (&json!("7b plus"), &json!("2")));
    assert_eq!(
        ada.patch(&path, json!({"semester": null})).await.expect(200)["semester"],
        json!(null)
    );
    shown["id"] = json!("another");
    shown["semester"] = json!(null);
    let same = ada.patch(&path, shown).await.expect(200);
    assert_ne!(same["id"], "another", "read-only fields are ignored");
    ada.patch(&path, json!({"name": null})).await.invalid("name");
    ada.patch(
        &path,
        json!({"startDate": "2027-01-02T00:00:00Z", "endDate": "2027-01-01T00:00:00Z"}),
    )
    .await
    .invalid("endDate");
    ada.patch(&path, json!({"colour": "red"})).await.invalid("colour");

    let before = ada.get(&path).await.expect(200);
    let new = || json!({"name": "mine"});
    app.as_(&world.tom)
        .patch(&path, new())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.ben)
        .patch(&path, new())
        .await
        .refused(403, "FORBIDDEN_ROLE");
    for person in [&world.zoe, &world.zara] {
        let client = app.as_(person);
        assert_same_not_found(
            client.patch(&path, new()).await,
            client.patch("/classes/nothing", new()).await,
        );
    }
    assert_eq!(ada.get(&path).await.expect(200), before);

    // Only admins can change the owner of a class. The new owner must be a teacher of the school.
    ada.patch(&path, json!({"teacherId": world.tom.id}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let adam = app.as_(&world.adam);
    adam.patch(&path, json!({"teacherId": world.zoe.id}))
        .await
        .refused(404, "NOT_FOUND");
    adam.patch(&path, json!({"teacherId": world.dana.id}))
        .await
        .refused(404, "NOT_FOUND");
    adam.patch(&path, json!({"homeroomId": "nowhere"}))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(ada.get(&path).await.expect(200), before);
    adam.patch(&path, json!({"teacherId": world.tom.id})).await.expect(200);
    ada.patch(&path, new()).await.refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.tom).patch(&path, new()).await.expect(200);
});

tenants!(draft_class_is_hidden_and_archived_class_is_read_only, |app| {
    let (ada, ben, world) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world);
    let path = format!("/classes/{}", world.seven_b.id);
    ada.patch(&path, json!({"status": "DRAFT"})).await.expect(200);
    assert_same_not_found(ben.get(&path).await, ben.get("/classes/nothing").await);
    ben.get(&format!("{path}/students")).await.refused(404, "NOT_FOUND");
    assert_eq!(ben.get("/classes").await.expect(200), json!([]));
    ada.get(&path).await.expect(200);
    app.as_(&world.tom).get(&path).await.expect(200);

    ada.patch(&path, json!({"status": "ARCHIVED"})).await.expect(200);
    let archived = ben.get(&path).await.expect(200);
    assert_eq!(archived["status"], "ARCHIVED");
    ada.patch(&path, json!({"name": "7b old"}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.patch(&path, json!({"subjectIds": []}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.patch(&path, json!({"status": "DRAFT"}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.post(&format!("{path}/students"), json!({"studentIds": [world.finn.id]}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.delete(&format!("{path}/students/{}", world.ben.id))
        .await
        .refused(409, "CLASS_ARCHIVED");
    let completed = json!({"completedAt": "2027-07-01T00:00:00Z"});
    ada.patch(&format!("{path}/students/{}", world.ben.id), completed)
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.post(&format!("{path}/teachers"), json!({"userId": world.tom.id}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    assert_eq!(ben.get(&path).await.expect(200), archived);
    let back = ada
        .patch(&path, json!({"status": "ACTIVE", "name": "7b new"}))
        .await
        .expect(200);
    assert_eq!((&back["status"], &back["name"]), (&json!("ACTIVE"), &json!("7b new")));

    // A class that contains work cannot return to draft.
    group(app).await;
    ada.patch(&path, json!({"status": "DRAFT"}))
        .await
        .refused(409, "CLASS_NOT_EMPTY");
    assert_eq!(ben.get(&path).await.expect(200)["status"], "ACTIVE");
});

tenants!(subject_with_courses_cannot_be_removed_from_class, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let path = format!("/classes/{}", world.seven_b.id);
    let (music, art) = (subject(app, "Music").await, subject(app, "Art").await);
    let biology = world.seven_b.subject.clone();
    let edited = ada
        .patch(&path, json!({"subjectIds": [music, biology]}))
        .await
        .expect(200);
    let listed: Vec<_> = edited["subjects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(listed, ["Biology", "Music"]);
    let updated = edited["updatedAt"].clone();
    // A different order of the same subjects is not a change.
    let same = ada
        .patch(&path, json!({"subjectIds": [biology, music]}))
        .await
        .expect(200);
    assert_eq!(same["updatedAt"], updated);

    ada.patch(&path, json!({"subjectIds": [music, art]}))
        .await
        .refused(409, "SUBJECT_IN_USE");
    ada.patch(&path, json!({"subjectIds": [biology, world.south_class.subject]}))
        .await
        .refused(404, "NOT_FOUND");
    ada.patch(&path, json!({"subjectIds": [biology, biology]}))
        .await
        .invalid("subjectIds");
    ada.patch(&path, json!({"subjectIds": null}))
        .await
        .invalid("subjectIds");
    assert_eq!(ada.get(&path).await.expect(200)["subjects"], edited["subjects"]);
    let edited = ada
        .patch(&path, json!({"subjectIds": [biology, art]}))
        .await
        .expect(200);
    assert_eq!(edited["subjects"].as_array().unwrap().len(), 2);
    // The link between class and subject is kept because the course refers to it.
    ada.get(&format!("/courses/{}", world.seven_b.course)).await.expect(200);
});

tenants!(owner_adds_co_teachers_who_then_manage_the_class, |app| {
    let (ada, tom, world) = (app.as_(&app.world.ada), app.as_(&app.world.tom), &app.world);
    let path = format!("/classes/{}", world.seven_b.id);
    let teachers = format!("{path}/teachers");
    tom.post(&teachers, json!({"userId": world.tom.id}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.ben)
        .post(&teachers, json!({"userId": world.tom.id}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.zoe)
        .post(&teachers, json!({"userId": world.tom.id}))
        .await
        .refused(404, "NOT_FOUND");
    ada.post(&teachers, json!({"userId": world.zoe.id}))
        .await
        .refused(404, "NOT_FOUND");
    ada.post(&teachers, json!({"userId": world.ben.id}))
        .await
        .refused(404, "NOT_FOUND");
    ada.post(&teachers, json!({})).await.invalid("userId");

    let list = json!([{"id": world.tom.id, "name": "Tom Teacher"}]);
    assert_eq!(
        ada.post(&teachers, json!({"userId": world.tom.id})).await.expect(200),
        list
    );
    assert_eq!(
        ada.post(&teachers, json!({"userId": world.tom.id})).await.expect(200),
        list
    );
    // The owner is a teacher of the class already.
    assert_eq!(
        ada.post(&teachers, json!({"userId": world.ada.id})).await.expect(200),
        list
    );
    assert_eq!(tom.get(&path).await.expect(200)["coTeachers"], list);
    assert_eq!(names(&tom.get("/classes?mine=1").await.expect(200)), ["7b", "8a"]);
    tom.patch(&path, json!({"name": "7b of both"})).await.expect(200);
    tom.post(
        "/courses",
        json!({"name": "Fungi", "classId": world.seven_b.id, "subjectId": world.seven_b.subject}),
    )
    .await
    .expect(201);
    // Only the owner can add or remove co-teachers.
    tom.post(&teachers, json!({"userId": world.olga.id}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    tom.delete(&format!("{teachers}/{}", world.tom.id))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    tom.delete(&path).await.refused(403, "FORBIDDEN_ROLE");

    ada.delete(&format!("{teachers}/{}", world.olga.id))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(
        ada.delete(&format!("{teachers}/{}", world.tom.id)).await.expect(200),
        json!([])
    );
    ada.delete(&format!("{teachers}/{}", world.tom.id))
        .await
        .refused(404, "NOT_FOUND");
    tom.patch(&path, json!({"name": "mine"}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");

    // A co-teacher who becomes the owner is no longer a co-teacher.
    ada.post(&teachers, json!({"userId": world.tom.id})).await.expect(200);
    let handed = app
        .as_(&world.adam)
        .patch(&path, json!({"teacherId": world.tom.id}))
        .await
        .expect(200);
    assert_eq!(
        (&handed["teacherId"], &handed["coTeachers"]),
        (&json!(world.tom.id), &json!([]))
    );
});
