//! `POST /homerooms/classes`: a class for each homeroom.

use serde_json::{Value, json};

use test_support::{Client, TestApp};

const ROUTE: &str = "/homerooms/classes";
const YEAR: &str = "2030/2031";

async fn homeroom(client: &Client, body: Value) -> String {
    let made = client.post("/homerooms", body).await.expect(201);
    made["id"].as_str().unwrap().to_owned()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

fn problems(answer: &Value) -> Vec<(&str, &str)> {
    let problems = answer["problems"].as_array().unwrap().iter();
    problems
        .map(|entry| (entry["name"].as_str().unwrap(), entry["problem"].as_str().unwrap()))
        .collect()
}

async fn classes(app: &TestApp) -> Value {
    let path = format!("/classes?academicYear={}", YEAR.replace('/', "%2F"));
    app.as_(&app.world.adam).get(&path).await.expect(200)
}

both!(classes_of_all_homerooms_are_previewed_and_created_once, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let led = homeroom(
        &adam,
        json!({"name": "5a", "academicYear": YEAR, "teacherId": world.ada.id}),
    )
    .await;
    let free = homeroom(&adam, json!({"name": "5b", "academicYear": YEAR})).await;
    homeroom(
        &adam,
        json!({"name": "5c", "academicYear": "2029/2030", "teacherId": world.ada.id}),
    )
    .await;
    homeroom(&adam, json!({"name": "5d", "teacherId": world.tom.id})).await;
    let students = json!({"studentIds": [world.ben.id, world.cem.id]});
    adam.post(&format!("/homerooms/{led}/students"), students)
        .await
        .expect(200);

    // The default: homerooms of the year or without a year, without a class in it.
    let all = json!({"academicYear": YEAR, "followsHomeroom": true});
    let preview = adam.post(&format!("{ROUTE}?dryRun=1"), all.clone()).await.expect(200);
    assert_eq!(names(&preview["created"]), ["5a", "5d"]);
    assert_eq!(problems(&preview), [("5b", "NO_TEACHER")]);
    let first = &preview["created"][0];
    assert_eq!(
        (&first["students"], &first["teacher"]["id"]),
        (&json!(2), &json!(world.ada.id))
    );
    assert!(first.get("classId").is_none());
    assert_eq!(classes(app).await, json!([]));

    let keyed = adam.with("idempotency-key", "first-day-1");
    let done = keyed.post(ROUTE, all.clone()).await.expect(201);
    assert_eq!(
        (names(&done["created"]), problems(&done)),
        (names(&preview["created"]), problems(&preview))
    );
    assert_eq!(keyed.post(ROUTE, all.clone()).await.expect(201), done);
    let made = classes(app).await;
    assert_eq!(names(&made), ["5a", "5d"]);
    let expected = json!({"id": led, "name": "5a"});
    assert_eq!(
        (
            &made[0]["homeroom"],
            &made[0]["teacherId"],
            &made[0]["followsHomeroom"],
            &made[0]["counts"]["students"]
        ),
        (&expected, &json!(world.ada.id), &json!(true), &json!(2))
    );
    // The homeroom is followed.
    adam.post(
        &format!("/homerooms/{led}/students"),
        json!({"studentIds": [world.dana.id]}),
    )
    .await
    .expect(200);
    assert_eq!(classes(app).await[0]["counts"]["students"], 3);
    let log = adam.get("/activity-logs?category=CLASS").await.expect(200);
    let log: Vec<&str> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        log,
        [
            "CLASS_MEMBER_ADDED",
            "CLASS_CREATE",
            "CLASS_MEMBER_ADDED",
            "CLASS_CREATE"
        ]
    );

    // Named homerooms: problems do not affect the others.
    let named = json!({"academicYear": YEAR, "teacherId": world.tom.id, "status": "DRAFT", "homerooms": [
        {"homeroomId": led}, {"homeroomId": free}, {"homeroomId": "nowhere"},
    ]});
    let done = adam.post(ROUTE, named).await.expect(201);
    assert_eq!(problems(&done), [("5a", "HAS_CLASS"), ("", "NOT_FOUND")]);
    assert_eq!(done["created"][0]["teacher"]["id"], json!(world.tom.id));
    let nothing = adam.post(ROUTE, all).await.expect(201);
    assert_eq!(nothing, json!({"created": [], "problems": []}));
});

both!(classes_of_homerooms_are_created_by_administrators_only, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let room = homeroom(&adam, json!({"name": "5a", "academicYear": YEAR})).await;
    let body = json!({"academicYear": YEAR, "homerooms": [{"homeroomId": room, "teacherId": world.ada.id}]});
    for person in [&world.ada, &world.ben] {
        app.as_(person)
            .post(ROUTE, body.clone())
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
    // The administrator of another school learns and changes nothing.
    let foreign = app.as_(&world.zara).post(ROUTE, body.clone()).await.expect(201);
    assert_eq!(foreign["created"], json!([]));
    assert_eq!(problems(&foreign), [("", "NOT_FOUND")]);
    assert_eq!(classes(app).await, json!([]));
    // A teacher of another school and a student own no class.
    for stranger in [&world.zoe.id, &world.ben.id] {
        let body = json!({"academicYear": YEAR, "homerooms": [{"homeroomId": room, "teacherId": stranger}]});
        assert_eq!(
            problems(&adam.post(ROUTE, body).await.expect(201)),
            [("5a", "NO_TEACHER")]
        );
        adam.post(ROUTE, json!({"academicYear": YEAR, "teacherId": stranger}))
            .await
            .refused(404, "NOT_FOUND");
    }
    adam.post(ROUTE, json!({})).await.invalid("academicYear");
    adam.post(ROUTE, json!({"academicYear": YEAR, "homerooms": []}))
        .await
        .invalid("homerooms");
    let twice = json!([{"homeroomId": room}, {"homeroomId": room, "teacherId": world.ada.id}]);
    adam.post(ROUTE, json!({"academicYear": YEAR, "homerooms": twice}))
        .await
        .invalid("homerooms");
    let many: Vec<Value> = (0..201).map(|n| json!({"homeroomId": format!("h{n}")})).collect();
    adam.post(ROUTE, json!({"academicYear": YEAR, "homerooms": many}))
        .await
        .invalid("homerooms");
});
