//! Class enrollment: adding students, the roster, removal with all group memberships, and students without a group.

use common::clock;
use serde_json::{Value, json};

use test_support::{TestApp, TestUser};

db::statements! {
    INACTIVE = "UPDATE users SET is_active = FALSE WHERE id = $1";
    HOMEROOM = "INSERT INTO homerooms (organization_id, id, name, name_key, created_at, updated_at)
        VALUES ($1, $2, $2, $2, 1, 1)";
    HOMEROOM_STUDENT = "INSERT INTO homeroom_enrollments (organization_id, id, homeroom_id, student_id, enrolled_at)
        VALUES ($1, $2, $3, $4, 1)";
    MEMBERSHIPS = "SELECT COUNT(*) FROM group_members WHERE user_id = $1";
}

/// Creates a group of 7b with members and returns its id.
async fn group(app: &TestApp, number: i64, with_course: bool, members: &[&TestUser]) -> String {
    let class = &app.world.seven_b;
    let members: Vec<&str> = members.iter().map(|person| person.id.as_str()).collect();
    let course = with_course.then_some(&class.course);
    let new = json!({"classId": class.id, "courseId": course, "groupNumber": number, "memberIds": members});
    let group = app.as_(&app.world.ada).post("/groups", new).await.expect(201);
    group["id"].as_str().unwrap().to_owned()
}

async fn homeroom(app: &TestApp, id: &'static str, students: &[&TestUser]) {
    assert_eq!(STATEMENTS.len(), 4);
    let organization = app.world.north.clone();
    let students: Vec<String> = students.iter().map(|person| person.id.clone()).collect();
    app.raw(move |connection| {
        connection.execute(&HOMEROOM, db::args![organization, id]).unwrap();
        for student in students {
            connection
                .execute(&HOMEROOM_STUDENT, db::args![organization, clock::new_id(), id, student])
                .unwrap();
        }
    })
    .await;
}

async fn deactivate(app: &TestApp, person: &TestUser) {
    let id = person.id.clone();
    app.raw(move |connection| connection.execute(&INACTIVE, db::args![id]).unwrap())
        .await;
}

fn roster(app: &TestApp) -> String {
    format!("/classes/{}/students", app.world.seven_b.id)
}

fn names(students: &Value) -> Vec<&str> {
    let students = students.as_array().unwrap().iter();
    students
        .map(|student| student.get("user").unwrap_or(student)["name"].as_str().unwrap())
        .collect()
}

tenants!(roster_shows_addresses_to_class_staff_only, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let g2 = group(app, 2, false, &[&world.ben]).await;
    let g1 = group(app, 1, false, &[&world.ben, &world.cem]).await;
    let students = ada.get(&roster(app)).await.expect(200);
    assert_eq!(
        names(&students),
        ["Ben Student", "Cem Student", "Dana Student", "Eli Student"]
    );
    assert_eq!(students[0]["user"]["email"], json!(world.ben.email));
    assert_eq!(students[0]["groupIds"], json!([g1, g2]));
    assert_eq!(students[3]["groupIds"], json!([]));
    assert_eq!(students[0]["enrollment"]["classId"], json!(world.seven_b.id));
    assert_eq!(students[0]["enrollment"]["completedAt"], json!(null));
    assert_eq!(
        names(&ada.get(&format!("{}?search=STUD", roster(app))).await.expect(200)).len(),
        4
    );
    assert_eq!(
        names(&ada.get(&format!("{}?search=dana", roster(app))).await.expect(200)),
        ["Dana Student"]
    );
    assert_eq!(app.as_(&world.adam).get(&roster(app)).await.expect(200), students);

    let mates = app.as_(&world.ben).get(&roster(app)).await.expect(200);
    assert_eq!(
        mates[1],
        json!({"view": "OUTLINE", "id": world.cem.id, "name": "Cem Student", "image": null})
    );
    assert_eq!(mates.as_array().unwrap().len(), 4);
    app.as_(&world.tom)
        .get(&roster(app))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.finn).get(&roster(app)).await.refused(404, "NOT_FOUND");
    app.as_(&world.zoe).get(&roster(app)).await.refused(404, "NOT_FOUND");
});

both!(only_active_students_of_school_can_be_enrolled, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let enroll = async |ids: Value| ada.post(&roster(app), json!({"studentIds": ids})).await;
    for stranger in [&world.zack, &world.tom, &world.adam, &world.nobody] {
        enroll(json!([world.finn.id, stranger.id]))
            .await
            .refused(404, "NOT_FOUND");
    }
    deactivate(app, &world.finn).await;
    enroll(json!([world.finn.id])).await.refused(404, "NOT_FOUND");
    enroll(json!([world.ben.id, world.ben.id])).await.invalid("studentIds");
    ada.post(&roster(app), json!({})).await.invalid("studentIds");
    ada.post(&roster(app), json!({"studentIds": [], "homeroomId": "x"}))
        .await
        .invalid("studentIds");
    ada.post(&roster(app), json!({"homeroomId": "nowhere"}))
        .await
        .refused(404, "NOT_FOUND");
    let new = || json!({"studentIds": [world.ben.id]});
    app.as_(&world.tom)
        .post(&roster(app), new())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.ben)
        .post(&roster(app), new())
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.zoe)
        .post(&roster(app), new())
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(ada.get(&roster(app)).await.expect(200).as_array().unwrap().len(), 4);
});

both!(enrolling_twice_is_idempotent, |app| {
    let (tom, world) = (app.as_(&app.world.tom), &app.world);
    let path = format!("/classes/{}/students", world.eight_a.id);
    let both = json!({"studentIds": [world.finn.id, world.ben.id]});
    assert_eq!(
        tom.post(&path, both.clone()).await.expect(200),
        json!({"added": 1, "alreadyEnrolled": 1})
    );
    assert_eq!(
        tom.post(&path, both).await.expect(200),
        json!({"added": 0, "alreadyEnrolled": 2})
    );
    assert_eq!(
        app.as_(&world.ben)
            .get("/classes")
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        2
    );

    homeroom(app, "h7", &[&world.ben, &world.cem, &world.dana]).await;
    deactivate(app, &world.dana).await;
    let by_homeroom = tom.post(&path, json!({"homeroomId": "h7"})).await.expect(200);
    assert_eq!(by_homeroom, json!({"added": 1, "alreadyEnrolled": 1}));
    let new = json!({"name": "7h", "academicYear": "2026/2027", "homeroomId": "h7", "enrollHomeroom": true});
    let class = tom.post("/classes", new).await.expect(201);
    assert_eq!(class["counts"]["students"], 2);
    assert_eq!(class["homeroom"], json!({"id": "h7", "name": "h7"}));
});

both!(student_removed_from_class_leaves_its_groups, |app| {
    let (ada, ben, world) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world);
    let g2 = group(app, 2, false, &[&world.ben]).await;
    let g1 = group(app, 1, false, &[&world.ben, &world.cem]).await;
    let path = format!("{}/{}", roster(app), world.ben.id);
    app.as_(&world.tom)
        .delete(&path)
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.zoe).delete(&path).await.refused(404, "NOT_FOUND");
    ben.delete(&path).await.refused(403, "FORBIDDEN_ROLE");
    ada.delete(&format!("{}/{}", roster(app), world.finn.id))
        .await
        .refused(404, "NOT_FOUND");
    ben.get(&format!("/classes/{}", world.seven_b.id)).await.expect(200);

    let gone = ada.delete(&path).await.expect(200);
    let mut groups: Vec<_> = gone["removedFromGroups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    groups.sort_unstable();
    let mut expected = [g1.as_str(), g2.as_str()];
    expected.sort_unstable();
    assert_eq!(
        (&gone["success"], groups.as_slice()),
        (&json!(true), expected.as_slice())
    );
    let id = world.ben.id.clone();
    let memberships: i64 = app
        .raw(move |connection| {
            connection
                .fetch_optional(&MEMBERSHIPS, db::args![id], |row| row.only())
                .unwrap()
                .unwrap()
        })
        .await;
    assert_eq!(memberships, 0);
    ben.get(&format!("/classes/{}", world.seven_b.id))
        .await
        .refused(404, "NOT_FOUND");
    ada.delete(&path).await.refused(404, "NOT_FOUND");
    let left = ada.get(&roster(app)).await.expect(200);
    assert_eq!(names(&left), ["Cem Student", "Dana Student", "Eli Student"]);
    assert_eq!(left[0]["groupIds"], json!([g1]));
});

tenants!(enrollment_completion_is_set_and_cleared, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let path = format!("{}/{}", roster(app), world.ben.id);
    let mut noted = ada
        .patch(&path, json!({"completedAt": "2027-07-01T00:00:00Z"}))
        .await
        .expect(200);
    assert_eq!(noted["completedAt"], "2027-07-01T00:00:00.000Z");
    assert_eq!(noted["studentId"], json!(world.ben.id));
    assert_eq!(ada.get(&roster(app)).await.expect(200)[0]["enrollment"], noted);
    assert_eq!(ada.patch(&path, json!({})).await.expect(200), noted);
    noted["completedAt"] = json!(null);
    assert_eq!(ada.patch(&path, noted.clone()).await.expect(200), noted);
    noted["enrolledAt"] = json!("2020-01-01T00:00:00.000Z");
    let same = ada.patch(&path, noted.clone()).await.expect(200);
    assert_ne!(same["enrolledAt"], noted["enrolledAt"], "read-only fields are ignored");
    ada.patch(&path, json!({"completed": true})).await.invalid("completed");
    app.as_(&world.tom)
        .patch(&path, json!({}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.zoe)
        .patch(&path, json!({"classId": world.seven_b.id}))
        .await
        .refused(404, "NOT_FOUND");
    ada.patch(&format!("{}/{}", roster(app), world.finn.id), json!({}))
        .await
        .refused(404, "NOT_FOUND");
});

tenants!(ungrouped_students_are_listed_by_class_course_and_topic, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let path = format!("/classes/{}/ungrouped", world.seven_b.id);
    group(app, 1, true, &[&world.ben]).await;
    let second = group(app, 2, false, &[&world.cem]).await;
    let all = ada.get(&path).await.expect(200);
    assert_eq!(names(&all), ["Dana Student", "Eli Student"]);
    assert_eq!(all[0]["email"], json!(world.dana.email));
    let of_course = ada
        .get(&format!("{path}?courseId={}", world.seven_b.course))
        .await
        .expect(200);
    assert_eq!(names(&of_course), ["Cem Student", "Dana Student", "Eli Student"]);
    let topic = json!({
        "title": "Leaves", "deadline": "2027-01-01T00:00:00Z", "classId": world.seven_b.id, "groupIds": [second],
    });
    let topic = ada.post("/assignments", topic).await.expect(201);
    let query = format!("assignmentId={}", topic["id"].as_str().unwrap());
    let of_topic = ada.get(&format!("{path}?{query}")).await.expect(200);
    assert_eq!(names(&of_topic), ["Ben Student", "Dana Student", "Eli Student"]);
    let of_both = format!("{path}?{query}&courseId={}", world.seven_b.course);
    assert_eq!(names(&ada.get(&of_both).await.expect(200)).len(), 4);
    for foreign in [&world.eight_a.course, &world.south_class.course] {
        ada.get(&format!("{path}?courseId={foreign}"))
            .await
            .refused(404, "NOT_FOUND");
    }
    ada.get(&format!("{path}?assignmentId=nothing"))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.tom).get(&path).await.refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.ben).get(&path).await.refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.zoe).get(&path).await.refused(404, "NOT_FOUND");
});
