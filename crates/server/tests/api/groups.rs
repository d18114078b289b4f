//! Groups: creation with work room, course and members, and what each role can see of them.

use serde_json::{Value, json};

use test_support::{TestApp, World, not_found_body};

const FUTURE: &str = "2099-01-01T00:00:00.000Z";
const PAST: &str = "2020-01-01T00:00:00.000Z";

pub fn id(body: &Value) -> String {
    body["id"].as_str().unwrap().to_owned()
}

pub fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(id).collect()
}

pub fn members(group: &Value) -> Vec<&str> {
    let members = group["members"].as_array().unwrap().iter();
    let mut ids: Vec<&str> = members.map(|member| member["userId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

pub fn sorted<const N: usize>(mut ids: [&str; N]) -> [&str; N] {
    ids.sort_unstable();
    ids
}

/// Creates a group of 7b as Ada.
pub async fn create_group(app: &TestApp, fields: Value) -> Value {
    let mut body = json!({"classId": app.world.seven_b.id});
    body.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    app.as_(&app.world.ada).post("/groups", body).await.expect(201)
}

/// Creates a topic of 7b as Ada.
pub async fn topic(app: &TestApp, fields: Value) -> Value {
    let mut body = json!({"title": "Leaves", "deadline": FUTURE, "classId": app.world.seven_b.id});
    body.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    app.as_(&app.world.ada).post("/assignments", body).await.expect(201)
}

tenants!(group_is_created_with_work_room_course_and_members, |app| {
    let World {
        seven_b, ada, ben, cem, ..
    } = &app.world;
    let body = json!({"classId": seven_b.id, "courseId": seven_b.course, "displayName": " The Owls ",
        "memberIds": [ben.id, cem.id]});
    let answer = app.as_(ada).post("/groups", body).await;
    let location = answer.header("location").to_owned();
    let group = answer.expect(201);
    assert_eq!(location, format!("/api/groups/{}", id(&group)));
    assert_eq!((&group["name"], &group["groupNumber"]), (&json!("Group 1"), &json!(1)));
    assert_eq!(group["displayName"], "The Owls");
    assert_eq!(
        (&group["requiredDocuments"], &group["isHidden"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(group["class"], json!({"id": seven_b.id, "name": "7b"}));
    assert_eq!(
        group["course"],
        json!({"id": seven_b.course, "name": "Cells", "subjectId": seven_b.subject})
    );
    assert_eq!(group["subject"], json!({"id": seven_b.subject, "name": "Biology"}));
    assert_eq!(
        (&group["memberCount"], &group["unreadMessages"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(members(&group), sorted([&ben.id, &cem.id]));
    assert_eq!(group["members"][0]["role"], "MEMBER");
    assert_eq!(group["createdById"], ada.id);
    assert!(group.get("topic").is_none() && group.get("deadline").is_none());
    let room = app
        .as_(ada)
        .get(&format!("/workrooms/group/{}", id(&group)))
        .await
        .expect(200);
    assert_eq!(room["id"], group["workRoomId"]);
});

tenants!(group_numbers_increase_and_are_unique_within_class, |app| {
    let World {
        seven_b,
        eight_a,
        ada,
        tom,
        ..
    } = &app.world;
    create_group(app, json!({"groupNumber": 7})).await;
    assert_eq!(create_group(app, json!({})).await["groupNumber"], 8);
    let taken = json!({"classId": seven_b.id, "groupNumber": 7});
    let ada = app.as_(ada);
    let refused = ada.post("/groups", taken).await.refused(409, "DUPLICATE_GROUP_NUMBER");
    assert_eq!(refused["details"][0]["path"], "groupNumber");
    let other = app
        .as_(tom)
        .post("/groups", json!({"classId": eight_a.id, "groupNumber": 7}))
        .await
        .expect(201);
    assert_eq!(other["groupNumber"], 7);
    ada.post("/groups", json!({"classId": seven_b.id, "groupNumber": 10_000}))
        .await
        .invalid("groupNumber");
    let last = create_group(app, json!({"groupNumber": 9999})).await;
    ada.post("/groups", json!({"classId": seven_b.id}))
        .await
        .refused(409, "LIMIT_REACHED");
    ada.patch(&format!("/groups/{}", id(&last)), json!({"groupNumber": 8}))
        .await
        .refused(409, "DUPLICATE_GROUP_NUMBER");
});

tenants!(fifty_concurrent_groups_get_distinct_numbers, |app| {
    let ada = app.as_(&app.world.ada);
    let class = app.world.seven_b.id.clone();
    let posts = (0..50).map(|_| {
        let (ada, body) = (ada.clone(), json!({"classId": class}));
        tokio::spawn(async move {
            ada.post("/groups", body).await.expect(201)["groupNumber"]
                .as_i64()
                .unwrap()
        })
    });
    let mut numbers = Vec::new();
    for post in posts.collect::<Vec<_>>() {
        numbers.push(post.await.unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=50).collect::<Vec<i64>>());
});

tenants!(batch_creates_all_groups_or_none, |app| {
    let World {
        seven_b,
        ada,
        ben,
        cem,
        dana,
        finn,
        ..
    } = &app.world;
    let ada = app.as_(ada);
    let topic = topic(app, json!({"courseId": seven_b.course, "isShared": false})).await;
    let batch = |groups: Value| json!({"classId": seven_b.id, "courseId": seven_b.course, "assignmentId": topic["id"], "groups": groups});
    let wrong = batch(json!([{"memberIds": [ben.id]}, {"memberIds": [finn.id]}]));
    ada.post("/groups/batch", wrong)
        .await
        .refused(409, "STUDENT_NOT_ENROLLED");
    assert_eq!(ada.get("/groups").await.expect(200), json!([]));
    let groups = json!([{"memberIds": [ben.id, cem.id], "descriptionOverride": "Only you"}, {"name": "Owls", "memberIds": [dana.id]}]);
    let made = ada.post("/groups/batch", batch(groups)).await.expect(201);
    assert_eq!(made[0]["groupAssignments"][0]["effectiveDescription"], "Only you");
    assert_eq!(made[0]["groupAssignments"][0]["descriptionOverride"], "Only you");
    assert_eq!((&made[1]["name"], &made[1]["groupNumber"]), (&json!("Owls"), &json!(2)));
    assert_eq!(made[1]["groupAssignments"][0]["effectiveDescription"], "");
    ada.post("/groups/batch", batch(json!([]))).await.invalid("groups");
    let too_many: Vec<Value> = (0..101).map(|_| json!({})).collect();
    ada.post("/groups/batch", batch(json!(too_many)))
        .await
        .invalid("groups");
    ada.post("/groups/batch", batch(json!([{"classId": seven_b.id}])))
        .await
        .invalid("groups[0].classId");
});

both!(group_takes_course_of_first_topic_and_keeps_it, |app| {
    let World {
        seven_b, eight_a, ada, ..
    } = &app.world;
    let client = app.as_(ada);
    let plants = json!({"name": "Plants", "classId": seven_b.id, "subjectId": seven_b.subject});
    let plants = id(&client.post("/courses", plants).await.expect(201));
    let cells = topic(app, json!({"courseId": seven_b.course})).await;
    let legacy = topic(app, json!({})).await;

    let free = create_group(app, json!({"assignmentId": cells["id"]})).await;
    assert_eq!(free["courseId"], seven_b.course);
    assert_eq!(free["subjectId"], seven_b.subject);
    let same = create_group(app, json!({"courseId": seven_b.course, "assignmentId": cells["id"]})).await;
    assert_eq!(same["groupAssignments"][0]["status"], "NOT_STARTED");
    let without = create_group(app, json!({"assignmentId": legacy["id"]})).await;
    assert_eq!(without["courseId"], json!(null));

    let wrong =
        |course: &str, topic: &Value| json!({"classId": seven_b.id, "courseId": course, "assignmentId": topic["id"]});
    client
        .post("/groups", wrong(&plants, &cells))
        .await
        .refused(409, "COURSE_MISMATCH");
    client
        .post("/groups", wrong(&plants, &legacy))
        .await
        .refused(409, "COURSE_MISMATCH");
    let foreign = json!({"classId": seven_b.id, "courseId": eight_a.course});
    client.post("/groups", foreign).await.refused(409, "CLASS_MISMATCH");
    let unknown = json!({"classId": seven_b.id, "courseId": app.world.south_class.course});
    client.post("/groups", unknown).await.refused(404, "NOT_FOUND");

    let path = format!("/groups/{}", id(&free));
    client
        .patch(&path, json!({"courseId": plants}))
        .await
        .refused(409, "COURSE_MISMATCH");
    client
        .patch(&path, json!({"courseId": null}))
        .await
        .refused(409, "COURSE_MISMATCH");
    client
        .patch(&path, json!({"subjectId": null}))
        .await
        .refused(409, "CLASS_MISMATCH");
    let idle = create_group(app, json!({"courseId": seven_b.course})).await;
    let moved = client
        .patch(&format!("/groups/{}", id(&idle)), json!({"courseId": plants}))
        .await
        .expect(200);
    assert_eq!(moved["course"]["name"], "Plants");

    client
        .patch(&format!("/courses/{plants}"), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let late = json!({"classId": seven_b.id, "courseId": plants});
    client.post("/groups", late).await.refused(409, "COURSE_ARCHIVED");
});

tenants!(patch_changes_named_fields_and_accepts_unchanged_ones, |app| {
    let ada = app.as_(&app.world.ada);
    let mut group = create_group(app, json!({"displayName": "Owls", "startDate": PAST})).await;
    let path = format!("/groups/{}", id(&group));
    group["name"] = json!("Foxes");
    group["displayName"] = json!("  ");
    let edited = ada.patch(&path, group.clone()).await.expect(200);
    assert_eq!(
        (&edited["name"], &edited["displayName"]),
        (&json!("Foxes"), &json!(null))
    );
    assert_eq!(edited["startDate"], PAST);
    let hidden = ada.patch(&path, json!({"startDate": FUTURE})).await.expect(200);
    assert_eq!(hidden["isHidden"], true);
    assert_eq!(
        ada.patch(&path, json!({"startDate": null})).await.expect(200)["isHidden"],
        false
    );
    ada.patch(&path, json!({"name": null})).await.invalid("name");
    ada.patch(&path, json!({"requiredDocuments": 51}))
        .await
        .invalid("requiredDocuments");
    let ignored = json!({"memberCount": 5, "deadline": FUTURE, "topic": "Former"});
    let same = ada.patch(&path, ignored).await.expect(200);
    assert!(same["memberCount"] == 0 && same.get("deadline").is_none(), "{same}");
    ada.patch(&path, json!({"dueDate": FUTURE})).await.invalid("dueDate");
});

tenants!(meeting_place_is_shown_to_members_and_its_changes_are_recorded, |app| {
    let World { ada, ben, .. } = &app.world;
    let group = create_group(app, json!({"meetingPlace": " Room 12 ", "studentIds": [ben.id]})).await;
    let path = format!("/groups/{}", id(&group));
    let shown = app.as_(ben).get(&path).await.expect(200);
    assert_eq!(shown["meetingPlace"], "Room 12");
    app.as_(ben)
        .patch(&path, json!({"meetingPlace": "Canteen"}))
        .await
        .expect(403);
    let ada = app.as_(ada);
    ada.patch(&path, json!({"meetingPlace": "x".repeat(81)}))
        .await
        .invalid("meetingPlace");
    let moved = ada.patch(&path, json!({"meetingPlace": "Library"})).await.expect(200);
    assert_eq!(moved["meetingPlace"], "Library");
    let cleared = ada.patch(&path, json!({"meetingPlace": null})).await.expect(200);
    assert_eq!(cleared["meetingPlace"], json!(null));
    let log = ada
        .get(&format!("/activity-logs?groupId={}&action=UPDATE", id(&group)))
        .await
        .expect(200);
    let details = &log["data"][0]["details"];
    assert_eq!(details["before"], json!({"meetingPlace": "Library"}));
    assert_eq!(details["after"], json!({"meetingPlace": null}));
});

tenants!(student_sees_own_groups_after_their_start_date, |app| {
    let World {
        ada,
        ben,
        dana,
        seven_b,
        ..
    } = &app.world;
    let own = create_group(app, json!({"memberIds": [ben.id], "startDate": PAST})).await;
    let hidden = create_group(app, json!({"memberIds": [ben.id], "startDate": FUTURE})).await;
    let other = create_group(app, json!({"memberIds": [dana.id]})).await;
    let ben = app.as_(ben);
    assert_eq!(ids(&ben.get("/groups").await.expect(200)), [id(&own)]);
    let unknown = not_found_body(ben.get("/groups/0190a1b2-0000-7000-8000-000000000001").await);
    for group in [&hidden, &other] {
        assert_eq!(
            not_found_body(ben.get(&format!("/groups/{}", id(group))).await),
            unknown
        );
        ben.post(&format!("/groups/{}/help", id(group)), json!({}))
            .await
            .refused(404, "NOT_FOUND");
        ben.get(&format!("/workrooms/group/{}", id(group)))
            .await
            .refused(404, "NOT_FOUND");
        let room = group["workRoomId"].as_str().unwrap();
        ben.get(&format!("/workrooms/{room}")).await.refused(404, "NOT_FOUND");
    }
    let filter = format!("/groups?classId={}&mine=1&courseId=none&needsHelp=0", seven_b.id);
    assert_eq!(ids(&ben.get(&filter).await.expect(200)), [id(&own)]);
    let seen = ben.get(&format!("/groups/{}", id(&own))).await.expect(200);
    for field in ["isHidden", "helpClaimedById", "helpResolvedAt", "helpResolvedById"] {
        assert!(seen.get(field).is_none(), "{field} is for the staff");
    }
    assert!(!seen.to_string().contains('@'), "addresses are for the staff: {seen}");
    let ada = app.as_(ada).get(&format!("/groups/{}", id(&own))).await.expect(200);
    assert!(ada["members"][0]["user"]["email"].as_str().unwrap().contains('@'));
    ben.patch(&format!("/groups/{}", id(&own)), json!({"name": "Mine"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
});

tenants!(teachers_of_other_classes_see_group_outlines, |app| {
    let World {
        tom, ben, seven_b, zoe, ..
    } = &app.world;
    let group = create_group(
        app,
        json!({"courseId": seven_b.course, "memberIds": [ben.id], "startDate": FUTURE}),
    )
    .await;
    let path = format!("/groups/{}", id(&group));
    app.as_(&app.world.adam)
        .patch(&path, json!({"startDate": null}))
        .await
        .expect(200);
    app.as_(ben)
        .post(&format!("{path}/help"), json!({"message": "Please"}))
        .await
        .expect(200);
    let tom = app.as_(tom);
    let outline = json!({"view": "OUTLINE", "id": group["id"], "name": "Group 1", "groupNumber": 1, "displayName": null,
        "classId": seven_b.id, "courseId": seven_b.course, "subjectId": seven_b.subject, "memberCount": 1});
    assert_eq!(tom.get(&path).await.expect(200), outline);
    assert_eq!(tom.get("/groups").await.expect(200), json!([outline]));
    assert_eq!(tom.get("/groups?mine=1").await.expect(200), json!([]));
    assert_eq!(
        tom.get("/groups?needsHelp=1").await.expect(200),
        json!([]),
        "who calls is not theirs to know"
    );
    assert_eq!(tom.get("/groups?needsHelp=0").await.expect(200), json!([]));
    for (path, body) in [
        ("", json!({})),
        ("/help/resolve", json!({})),
        ("/help/claim", json!({})),
    ] {
        let path = format!("/groups/{}{path}", id(&group));
        let answer = if path.ends_with(&id(&group)) {
            tom.patch(&path, json!({"name": "Mine"})).await
        } else {
            tom.post(&path, body).await
        };
        answer.refused(403, "NOT_CLASS_TEACHER");
    }
    tom.delete(&path).await.refused(403, "NOT_CLASS_TEACHER");
    tom.post(&format!("{path}/members"), json!({"userIds": [ben.id]}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    tom.post("/groups", json!({"classId": seven_b.id}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    tom.get(&format!("/workrooms/group/{}", id(&group)))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(tom.get("/workrooms").await.expect(200), json!([]));
    let zoe = app.as_(zoe);
    assert_eq!(zoe.get("/groups").await.expect(200), json!([]));
    zoe.get(&path).await.refused(404, "NOT_FOUND");
    zoe.delete(&path).await.refused(404, "NOT_FOUND");
    zoe.post("/groups", json!({"classId": seven_b.id}))
        .await
        .refused(404, "NOT_FOUND");
});

tenants!(groups_are_filtered_searched_and_sorted_by_number, |app| {
    let World {
        ada,
        seven_b,
        eight_a,
        tom,
        ..
    } = &app.world;
    let (client, topic) = (app.as_(ada), topic(app, json!({})).await);
    let foxes = create_group(
        app,
        json!({"name": "Foxes", "groupNumber": 3, "courseId": seven_b.course}),
    )
    .await;
    let owls = create_group(
        app,
        json!({"name": "Night Owls", "groupNumber": 1, "assignmentId": topic["id"]}),
    )
    .await;
    let night = create_group(
        app,
        json!({"name": "100% Foxes", "displayName": "Night", "groupNumber": 2}),
    )
    .await;
    app.as_(tom)
        .post("/groups", json!({"classId": eight_a.id, "name": "Foxes"}))
        .await
        .expect(201);
    let list = async |query: &str| {
        ids(&client
            .get(&format!("/groups?classId={}{query}", seven_b.id))
            .await
            .expect(200))
    };
    assert_eq!(list("").await, [id(&owls), id(&night), id(&foxes)]);
    assert_eq!(
        list("&search=fox").await,
        [id(&foxes), id(&night)],
        "names that begin with it come first"
    );
    assert_eq!(
        list("&search=NIGHT").await,
        [id(&owls), id(&night)],
        "the display name counts too"
    );
    assert_eq!(list("&search=100%25").await, [id(&night)]);
    assert_eq!(list("&courseId=none").await, [id(&owls), id(&night)]);
    assert_eq!(list(&format!("&courseId={}", seven_b.course)).await, [id(&foxes)]);
    assert_eq!(list(&format!("&subjectId={}", seven_b.subject)).await, [id(&foxes)]);
    assert_eq!(
        list(&format!("&assignmentId={}", topic["id"].as_str().unwrap())).await,
        [id(&owls)]
    );
    assert_eq!(ids(&client.get("/groups?mine=1").await.expect(200)).len(), 3);
    assert_eq!(
        ids(&client.get("/groups").await.expect(200)).len(),
        4,
        "the outline of the colleague's group too"
    );
    assert_eq!(
        ids(&app.as_(&app.world.adam).get("/groups?mine=1").await.expect(200)).len(),
        0
    );
    assert_eq!(ids(&client.get("/groups?classId=unknown").await.expect(200)).len(), 0);
});
