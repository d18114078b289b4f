//! Copies of topics into courses and of courses into classes: texts, files, groups, dates and publication.

use serde_json::{Value, json};

use test_support::tables::fingerprints;
use test_support::topics::{course, group, id, link, topic};
use test_support::{Client, DatabaseKind, TestApp, TestClass};

const DEADLINE: &str = "2098-06-02T10:00:00.000Z";
const PUBLISH_AT: &str = "2098-05-02T10:00:00.000Z";

async fn read(client: &Client, topic: &Value) -> Value {
    client.get(&format!("/assignments/{}", id(topic))).await.expect(200)
}

/// A topic with two groups, of which the first has its own text and its own file.
async fn topic_with_groups(app: &TestApp, client: &Client, class: &TestClass) -> (Value, [String; 2]) {
    let world = &app.world;
    let named = group(client, class, &[&world.ben, &world.cem], json!({"name": "Rivers"})).await;
    let unnamed = group(client, class, &[&world.dana], json!({})).await;
    let more = json!({
        "isShared": false, "deadline": DEADLINE, "publishAt": PUBLISH_AT,
        "groups": [
            {"groupId": named, "descriptionOverride": "Own.", "includesSharedText": true}, {"groupId": unnamed},
        ],
    });
    let old = topic(client, class, more).await;
    let files = format!("/assignments/{}/attachments", id(&old));
    client
        .upload(&files, "map.txt", b"a map".to_vec(), &[])
        .await
        .expect(201);
    let own = id(link(&old, &named));
    client
        .upload(
            &files,
            "own.txt",
            b"own".to_vec(),
            &[("groupAssignmentId", own.as_str())],
        )
        .await
        .expect(201);
    (old, [named, unnamed])
}

async fn second_class(app: &TestApp, students: &[&str]) -> (String, String) {
    let ada = app.as_(&app.world.ada);
    let new = json!({"name": "7c", "academicYear": "2026/2027", "subjectIds": [app.world.seven_b.subject]});
    let class = id(&ada.post("/classes", new).await.expect(201));
    if !students.is_empty() {
        app.as_(&app.world.adam)
            .post(&format!("/classes/{class}/students"), json!({"studentIds": students}))
            .await
            .expect(200);
    }
    let new = json!({"name": "Biology 7c", "classId": class, "subjectId": app.world.seven_b.subject});
    let course = id(&ada.post("/courses", new).await.expect(201));
    (class, course)
}

both!(
    topics_are_copied_into_course_of_other_class_with_groups_of_its_students,
    |app| {
        let (ada, world) = (app.as_(&app.world.ada), &app.world);
        let (old, [named, _]) = topic_with_groups(app, &ada, &world.seven_b).await;
        let (_, course) = second_class(app, &[&world.ben.id, &world.dana.id]).await;
        let path = format!("/courses/{course}/copies");
        let body = json!({
            "assignmentIds": [id(&old)], "shiftDays": 7, "withFiles": true, "groups": "SAME", "publication": "SAME",
        });

        let before = fingerprints(&app.database).await;
        let preview = ada.post(&format!("{path}?dryRun=1"), body.clone()).await.expect(201);
        assert_eq!(fingerprints(&app.database).await, before, "a dry run changes nothing");

        let answer = ada.post(&path, body).await;
        assert_eq!(answer.header("location"), format!("/api/courses/{course}"));
        let made = answer.expect(201);
        for field in ["files", "missingMembers"] {
            assert_eq!(made[field], preview[field], "{field}");
        }
        assert_eq!(
            (&made["files"], &made["missingMembers"]),
            (&json!(2), &json!(1)),
            "Cem is not in the class"
        );
        let names: Vec<&Value> = made["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| &group["name"])
            .collect();
        assert_eq!(names, ["Rivers", "Group 2"]);
        let copy = read(&ada, &made["assignments"][0]).await;
        assert_eq!((&copy["title"], &copy["courseId"]), (&old["title"], &json!(course)));
        assert_eq!(copy["deadline"], "2098-06-09T10:00:00.000Z");
        assert_eq!(copy["publishAt"], "2098-05-09T10:00:00.000Z");
        let rivers = made["groups"][0]["id"].as_str().unwrap();
        assert_ne!(rivers, named);
        let own = link(&copy, rivers);
        assert_eq!(own["effectiveDescription"], "Draw one.\n\nOwn.");
        assert_eq!(own["effectiveAttachments"].as_array().unwrap().len(), 2);
        assert_eq!(own["status"], "NOT_STARTED");
        let shown = ada.get(&format!("/groups/{rivers}")).await.expect(200);
        let members: Vec<&Value> = shown["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["userId"])
            .collect();
        assert_eq!(members, [&json!(world.ben.id)]);
        let log = ada.get(&format!("/activity-logs?courseId={course}")).await.expect(200);
        let events: Vec<&Value> = log["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["event"])
            .collect();
        assert_eq!(
            events.iter().filter(|event| **event == "GROUP_CREATE").count(),
            2,
            "{events:?}"
        );
        assert!(events.iter().any(|event| *event == "ASSIGNMENT_CREATE"), "{events:?}");
    }
);

both!(copy_in_same_course_keeps_groups_and_is_draft_by_default, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let course = &world.seven_b.course;
    let (old, [named, unnamed]) = topic_with_groups(app, &ada, &world.seven_b).await;
    let moved = json!({"courseId": course});
    ada.patch(&format!("/assignments/{}", id(&old)), moved)
        .await
        .expect(200);
    let path = format!("/courses/{course}/copies");
    let body = json!({"assignmentIds": [id(&old)], "deadline": "2098-07-02T11:30:00.000Z", "groups": "SAME"});
    let made = ada.post(&path, body.clone()).await.expect(201);
    assert_eq!((&made["groups"], &made["files"]), (&json!([]), &json!(0)));
    let copy = read(&ada, &made["assignments"][0]).await;
    assert_eq!((&copy["isDraft"], &copy["publishAt"]), (&json!(true), &json!(null)));
    assert_eq!(copy["deadline"], "2098-07-02T11:30:00.000Z");
    for group in [&named, &unnamed] {
        assert_eq!(link(&copy, group)["isDraft"], false);
    }
    // The students see it once it is published.
    let ben = app.as_(&world.ben);
    let of_copy = format!("/assignments/{}", id(&copy));
    ben.get(&of_copy).await.refused(404, "NOT_FOUND");
    let publish = json!({"isDraft": false});
    ada.patch(&format!("{of_copy}/bulk"), publish).await.expect(200);
    let seen = ben.get(&of_copy).await.expect(200);
    assert_eq!(seen["groupAssignments"][0]["effectiveDescription"], "Draw one.\n\nOwn.");
    assert_eq!(seen["groupAssignments"][0].get("includesSharedText"), None);

    let names = json!({"assignmentIds": [id(&old)], "groups": "NAMES", "publication": "SAME", "shiftDays": 1});
    let made = ada.post(&path, names).await.expect(201);
    assert_eq!(made["groups"].as_array().unwrap().len(), 2);
    let group = ada
        .get(&format!("/groups/{}", id(&made["groups"][0])))
        .await
        .expect(200);
    assert_eq!((&group["members"], &group["name"]), (&json!([]), &json!("Rivers")));
});

both!(
    course_is_copied_into_class_of_next_year_with_dates_shifted_by_a_year,
    |app| {
        let (ada, world) = (app.as_(&app.world.ada), &app.world);
        let old = topic(
            &ada,
            &world.seven_b,
            json!({"courseId": world.seven_b.course, "deadline": "2026-11-23T10:00:00Z"}),
        );
        old.await;
        let new = json!({"name": "8b", "academicYear": "2027/2028"});
        let class = id(&ada.post("/classes", new).await.expect(201));
        let body = json!({"courseId": world.seven_b.course, "name": "Again"});
        let made = ada.post(&format!("/classes/{class}/copies"), body).await.expect(201);
        assert_eq!(
            (&made["course"]["name"], &made["course"]["classId"]),
            (&json!("Again"), &json!(class))
        );
        assert_eq!(made["course"]["counts"]["assignments"], 1);
        assert_eq!(made["assignments"][0]["deadline"], "2027-11-22T10:00:00.000Z");
        assert_eq!(made["assignments"][0]["isDraft"], true);
    }
);

both!(copies_require_management_of_source_and_target, |app| {
    let (ada, tom, world) = (app.as_(&app.world.ada), app.as_(&app.world.tom), &app.world);
    let old = id(&topic(&ada, &world.seven_b, json!({})).await);
    let (ours, foreign) = (&world.seven_b.course, &world.eight_a.course);
    let topics = json!({"assignmentIds": [old]});
    let into = |course: &str| format!("/courses/{course}/copies");
    ada.post(&into(foreign), topics.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    tom.post(&into(foreign), topics.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.zoe)
        .post(&into(ours), topics.clone())
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.zoe)
        .post(&into(&world.south_class.course), topics.clone())
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.ben)
        .post(&into(ours), topics)
        .await
        .refused(403, "FORBIDDEN_ROLE");
    ada.post(&into(ours), json!({"assignmentIds": []}))
        .await
        .invalid("assignmentIds");
    ada.post(&into(ours), json!({"assignmentIds": [old], "shiftDays": 4000}))
        .await
        .invalid("shiftDays");
    let both = json!({"assignmentIds": [old], "shiftDays": 1, "deadline": DEADLINE});
    ada.post(&into(ours), both).await.invalid("shiftDays");
    let second = id(&topic(&ada, &world.seven_b, json!({})).await);
    let two = json!({"assignmentIds": [old, second], "deadline": DEADLINE});
    ada.post(&into(ours), two).await.invalid("deadline");
    let archived = course(&ada, &world.seven_b, "Archived").await;
    ada.patch(&format!("/courses/{archived}"), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let topics = json!({"assignmentIds": [old]});
    ada.post(&into(&archived), topics).await.refused(409, "COURSE_ARCHIVED");
});

both!(class_clone_copies_groups_with_their_members_and_texts, |app| {
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let class = &world.seven_b;
    let (old, _) = topic_with_groups(app, &ada, class).await;
    let path = format!("/classes/{}/clone", class.id);
    let body = |more: Value| {
        let mut body = json!({"name": "8b", "academicYear": "2027/2028", "withCourses": true, "withTopics": true});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    ada.post(&path, body(json!({"groups": "SAME"}))).await.invalid("groups");
    let same = json!({"groups": "SAME", "withStudents": true, "publication": "SAME"});
    let made = ada.post(&path, body(same)).await.expect(201);
    assert_eq!(made["counts"]["groups"], 2);
    let topics = ada
        .get(&format!("/classes/{}/assignments", id(&made)))
        .await
        .expect(200);
    let copy = read(&ada, &topics[0]).await;
    assert_eq!(copy["title"], old["title"]);
    assert_eq!(copy["attachments"].as_array().unwrap().len(), 2);
    // 52 weeks later.
    assert_eq!(copy["publishAt"], "2099-05-01T10:00:00.000Z");
    let own = &copy["groupAssignments"][0];
    assert_eq!(own["effectiveDescription"], "Draw one.\n\nOwn.");
    let group = ada
        .get(&format!("/groups/{}", own["groupId"].as_str().unwrap()))
        .await
        .expect(200);
    assert_eq!(group["members"].as_array().unwrap().len(), 2);
});

both!(bulk_edit_publishes_topic_or_hides_it_until_started, |app| {
    let (ada, ben, world) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world);
    let rivers = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    let more = json!({"groupIds": [rivers], "isDraft": true, "deadline": DEADLINE});
    let path = format!("/assignments/{}", id(&topic(&ada, &world.seven_b, more).await));
    let bulk = format!("{path}/bulk");
    ben.get(&path).await.refused(404, "NOT_FOUND");
    let late = json!({"publishAt": "2098-06-03T10:00:00.000Z"});
    ada.patch(&bulk, late).await.invalid("publishAt");
    let shown = ada
        .patch(&format!("{bulk}?dryRun=1"), json!({"publishAt": PUBLISH_AT}))
        .await
        .expect(200);
    assert_eq!(shown["changes"]["isDraft"], json!({"from": true, "to": false}));
    ada.patch(&bulk, json!({"publishAt": null, "isDraft": false}))
        .await
        .expect(200);
    ben.get(&path).await.expect(200);
    ada.patch(&bulk, json!({"isDraft": true})).await.expect(200);
    ben.get(&path).await.refused(404, "NOT_FOUND");
});

/// Deletes the files of a topic while they are copied, in every kind of copy: what is left is copied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_deleted_during_a_copy_are_left_out() {
    const FILES: usize = 20;
    let app = TestApp::start(DatabaseKind::Sqlite).await.unwrap();
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let mut classes = vec![class.id.clone()];
    for (round, kind) in ["topics", "course", "topic", "class"]
        .into_iter()
        .cycle()
        .take(12)
        .enumerate()
    {
        let course = course(&ada, class, &format!("Round {round}")).await;
        let old = id(&topic(&ada, class, json!({"courseId": course})).await);
        let files = format!("/assignments/{old}/attachments");
        let mut names = Vec::new();
        for number in 0..FILES {
            let content = format!("file {number} of round {round}").into_bytes();
            let file = ada
                .upload(&files, &format!("{number}.txt"), content, &[])
                .await
                .expect(201);
            names.push(id(&file));
        }
        let (path, body) = match kind {
            "topics" => (
                format!("/courses/{course}/copies"),
                json!({"assignmentIds": [old], "withFiles": true}),
            ),
            "course" => (
                format!("/classes/{}/copies", class.id),
                json!({"courseId": course, "withFiles": true}),
            ),
            "topic" => (
                format!("/assignments/{old}/clone"),
                json!({"deadline": DEADLINE, "withFiles": true}),
            ),
            _ => (
                format!("/classes/{}/clone", class.id),
                json!({"name": format!("Round {round}"), "academicYear": "2027/2028", "withCourses": true, "withTopics": true}),
            ),
        };
        let deletion = async {
            tokio::time::sleep(std::time::Duration::from_millis(3 * (round as u64 / 4))).await;
            for file in names.iter().rev().take(FILES / 2) {
                let path = format!("{files}/{file}");
                ada.send(reqwest::Method::DELETE, &path, None).await.expect(200);
            }
        };
        let (answer, ()) = tokio::join!(ada.post(&path, body), deletion);
        // Only if files disappear in every attempt, the request has to be repeated.
        if answer.status == 503 {
            answer.refused(503, "OVERLOADED");
            continue;
        }
        let made = answer.expect(201);
        if kind == "class" {
            classes.push(id(&made));
        }
    }
    for class in classes {
        let topics = ada.get(&format!("/classes/{class}/assignments")).await.expect(200);
        for copy in topics.as_array().unwrap() {
            let path = format!("/assignments/{}", id(copy));
            for file in ada.get(&path).await.expect(200)["attachments"].as_array().unwrap() {
                let content = ada.get(&format!("{path}/attachments/{}/download", id(file))).await;
                assert_eq!(content.status, 200, "{path}");
            }
        }
    }
    app.close().await;
}
