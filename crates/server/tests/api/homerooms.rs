//! Homerooms: permissions to write and read, and what is deleted with a homeroom.

use serde_json::{Value, json};

use test_support::{Client, TestApp};

async fn homeroom(client: &Client, body: Value) -> (String, Value) {
    let homeroom = client.post("/homerooms", body).await.expect(201);
    (format!("/homerooms/{}", homeroom["id"].as_str().unwrap()), homeroom)
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

async fn events(app: &TestApp) -> Vec<String> {
    let page = app.as_(&app.world.adam).get("/activity-logs").await.expect(200);
    let data = page["data"].as_array().unwrap().iter();
    data.map(|log| log["event"].as_str().unwrap().to_owned()).collect()
}

tenants!(admin_creates_and_edits_homerooms, |app| {
    let (adam, world) = (app.as_(&app.world.adam), &app.world);
    let new = json!({"name": " 7B ", "gradeLevel": "7", "academicYear": "2026/2027", "teacherId": world.ada.id});
    let answer = adam.post("/homerooms", new).await;
    let location = answer.header("location").to_owned();
    let made = answer.expect(201);
    let path = format!("/homerooms/{}", made["id"].as_str().unwrap());
    assert_eq!(location, format!("/api{path}"));
    assert_eq!((&made["name"], &made["studentCount"]), (&json!("7B"), &json!(0)));
    assert_eq!(
        (&made["teacherId"], &made["externalId"], &made["organizationId"]),
        (&json!(world.ada.id), &json!(null), &json!(world.north))
    );

    // A name is unique within a school year, and unique among homerooms without a year.
    let again = json!({"name": "7B", "academicYear": "2026/2027"});
    let refused = adam.post("/homerooms", again).await.refused(409, "DUPLICATE_HOMEROOM");
    assert_eq!(refused["details"][0]["path"], "name");
    let (yearless, _) = homeroom(&adam, json!({"name": "7B"})).await;
    adam.post("/homerooms", json!({"name": "7B", "academicYear": " "}))
        .await
        .refused(409, "DUPLICATE_HOMEROOM");
    adam.patch(&yearless, json!({"academicYear": "2026/2027"}))
        .await
        .refused(409, "DUPLICATE_HOMEROOM");
    homeroom(&app.as_(&world.zara), json!({"name": "7B"})).await;

    let mut shown = adam.get(&path).await.expect(200);
    assert_eq!(shown, made);
    shown["gradeLevel"] = json!(null);
    shown["teacherId"] = json!(world.adam.id);
    let edited = adam.patch(&path, shown.clone()).await.expect(200);
    assert_eq!(
        (&edited["gradeLevel"], &edited["teacherId"]),
        (&json!(null), &json!(world.adam.id))
    );
    shown["studentCount"] = json!(30);
    let same = adam.patch(&path, shown).await.expect(200);
    assert_eq!(same["studentCount"], 0, "read-only fields are ignored");
    adam.patch(&path, json!({"name": null})).await.invalid("name");
    adam.patch(&path, json!({"colour": "red"})).await.invalid("colour");
    adam.post("/homerooms", json!({"gradeLevel": "7"}))
        .await
        .invalid("name");
    // A homeroom teacher must be a teacher of the school: students, teachers of other schools and unknown ids are
    // rejected.
    for nobody in [&world.ben.id, &world.zoe.id, "nobody"] {
        let new = json!({"name": "7C", "teacherId": nobody});
        adam.post("/homerooms", new).await.refused(404, "NOT_FOUND");
        adam.patch(&path, json!({"teacherId": nobody}))
            .await
            .refused(404, "NOT_FOUND");
    }
    let received = ["HOMEROOM_UPDATE", "HOMEROOM_CREATE", "HOMEROOM_CREATE"];
    assert_eq!(events(app).await, received);
});

tenants!(homeroom_visibility_depends_on_role, |app| {
    let (adam, ada, tom, ben, world) = (
        app.as_(&app.world.adam),
        app.as_(&app.world.ada),
        app.as_(&app.world.tom),
        app.as_(&app.world.ben),
        &app.world,
    );
    let (seven, _) = homeroom(&adam, json!({"name": "7B", "academicYear": "2026/2027"})).await;
    let (eight, _) = homeroom(&adam, json!({"name": "8A", "teacherId": world.tom.id})).await;
    homeroom(&adam, json!({"name": "A7"})).await;
    let added = adam
        .post(
            &format!("{seven}/students"),
            json!({"studentIds": [world.ben.id, world.cem.id]}),
        )
        .await
        .expect(200);
    assert_eq!(added, json!({"added": 2}));
    adam.post(&format!("{eight}/students"), json!({"studentIds": [world.finn.id]}))
        .await
        .expect(200);

    assert_eq!(names(&ada.get("/homerooms").await.expect(200)), ["7B", "8A", "A7"]);
    assert_eq!(
        names(&ada.get("/homerooms?search=A").await.expect(200)),
        ["A7", "8A"],
        "names that begin with it come first"
    );
    let of_year = ada.get("/homerooms?academicYear=2026%2F2027").await.expect(200);
    assert_eq!(names(&of_year), ["7B"]);
    assert_eq!(of_year[0]["studentCount"], 2);
    let of_tom = ada.get(&format!("/homerooms?teacherId={}", world.tom.id)).await;
    assert_eq!(names(&of_tom.expect(200)), ["8A"]);
    // A student can list only the student's own homeroom, whatever the filter.
    assert_eq!(names(&ben.get("/homerooms").await.expect(200)), ["7B"]);
    assert_eq!(ben.get("/homerooms?search=8A").await.expect(200), json!([]));
    for path in [&seven, &eight] {
        ben.get(path).await.refused(403, "FORBIDDEN_ROLE");
        ben.get(&format!("{path}/students"))
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
    assert_eq!(app.as_(&world.zoe).get("/homerooms").await.expect(200), json!([]));
    app.as_(&world.zoe)
        .get(&format!("{seven}/students"))
        .await
        .refused(404, "NOT_FOUND");

    // Ada teaches Ben and reads the email address. Tom does not teach Cem and reads only the name. Being the homeroom
    // teacher alone does not reveal addresses.
    let roster = ada.get(&format!("{seven}/students")).await.expect(200);
    assert_eq!(roster[0]["user"]["email"], world.ben.email);
    assert_eq!(roster[0]["enrollment"]["studentId"], world.ben.id);
    let roster = tom.get(&format!("{seven}/students?search=cem")).await.expect(200);
    let person = json!({"id": world.cem.id, "name": "Cem Student", "image": null});
    assert_eq!((roster.as_array().unwrap().len(), &roster[0]["user"]), (1, &person));
    let roster = tom.get(&format!("{eight}/students")).await.expect(200);
    assert_eq!(roster[0]["user"]["email"], world.finn.email, "Tom teaches Finn");
    for client in [&ada, &ben] {
        client
            .post("/homerooms", json!({"name": "9D"}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
        client
            .patch(&seven, json!({"name": "9D"}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
        client.delete(&seven).await.refused(403, "FORBIDDEN_ROLE");
        client
            .post(&format!("{seven}/students"), json!({"studentIds": []}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
});

tenants!(homeroom_students_change_and_deletion_keeps_classes, |app| {
    let (adam, ada, world) = (app.as_(&app.world.adam), app.as_(&app.world.ada), &app.world);
    let (path, made) = homeroom(&adam, json!({"name": "7B"})).await;
    let students = format!("{path}/students");
    // One id that is not a student of the school rejects the whole list.
    for stranger in [&world.ada.id, &world.zack.id, "nobody"] {
        let body = json!({"studentIds": [world.ben.id, stranger]});
        adam.post(&students, body).await.refused(404, "NOT_FOUND");
    }
    adam.post(&students, json!({})).await.invalid("studentIds");
    let twice = json!({"studentIds": [world.ben.id, world.ben.id]});
    adam.post(&students, twice).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(adam.get(&students).await.expect(200), json!([]));
    let body = json!({"studentIds": [world.ben.id, world.cem.id]});
    assert_eq!(
        adam.post(&students, body.clone()).await.expect(200),
        json!({"added": 2})
    );
    assert_eq!(adam.post(&students, body).await.expect(200), json!({"added": 0}));

    let class = json!({"name": "7x", "academicYear": "2026/2027", "homeroomId": made["id"], "enrollHomeroom": true});
    let class = ada.post("/classes", class).await.expect(201);
    assert_eq!(class["counts"]["students"], 2);
    adam.delete(&format!("{students}/{}", world.cem.id)).await.expect(200);
    adam.delete(&format!("{students}/{}", world.cem.id))
        .await
        .refused(404, "NOT_FOUND");

    adam.delete(&path).await.expect(200);
    adam.get(&path).await.refused(404, "NOT_FOUND");
    let class_path = format!("/classes/{}", class["id"].as_str().unwrap());
    let class = ada.get(&class_path).await.expect(200);
    assert_eq!((&class["homeroomId"], &class["homeroom"]), (&json!(null), &json!(null)));
    assert_eq!(
        class["counts"]["students"], 2,
        "who left the homeroom stays in the class"
    );
    let received = [
        "HOMEROOM_DELETE",
        "HOMEROOM_MEMBER_REMOVED",
        "CLASS_MEMBER_ADDED",
        "CLASS_CREATE",
        "HOMEROOM_MEMBER_ADDED",
        "HOMEROOM_CREATE",
    ];
    assert_eq!(events(app).await, received);
    let log = adam.get("/activity-logs?category=HOMEROOM").await.expect(200);
    let gone = &log["data"][0];
    assert_eq!((&gone["entityName"], &gone["entityId"]), (&json!("7B"), &made["id"]));
    assert_eq!(gone["details"], json!({"counts": {"students": 1, "classes": 1}}));
});
