//! Topics: creating, listing, reading and updating.

use serde_json::{Value, json};

use test_support::tables::fingerprints;
use test_support::topics::{LATER, course, group, id, ids, link, mark_finished, new_topic, topic};

/// Returns a topic as a list shows it: each link has only its id, status, description override and group.
fn as_listed(topic: &Value) -> Value {
    let mut topic = topic.clone();
    for link in topic["groupAssignments"].as_array_mut().unwrap() {
        let group = &link["group"];
        *link = json!({
            "id": link["id"],
            "assignmentId": link["assignmentId"],
            "groupId": link["groupId"],
            "status": link["status"],
            "currentSubmissionId": link["currentSubmissionId"],
            "effectiveDescription": link["effectiveDescription"],
            "group": {"name": group["name"], "groupNumber": group["groupNumber"], "displayName": group["displayName"]},
        });
    }
    topic
}

tenants!(created_topic_returns_groups_with_effective_descriptions, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({"courseId": null})).await;
    let body = new_topic(
        class,
        json!({"isShared": false, "groupIds": [rivers], "groups": [{"groupId": lakes, "descriptionOverride": "  Draw two. "}]}),
    );
    let answer = ada.post("/assignments", body).await;
    let location = answer.header("location").to_owned();
    let made = answer.expect(201);
    assert_eq!(location, format!("/api/assignments/{}", id(&made)));
    assert_eq!(
        (&made["status"], &made["latePolicy"]),
        (&json!("ACTIVE"), &json!("ALLOW"))
    );
    assert_eq!(
        (&made["requiredSubmissions"], &made["maxPoints"], &made["gradeScale"]),
        (&json!(1), &json!(null), &json!(null))
    );
    assert_eq!(
        (&made["class"]["name"], &made["course"]["name"]),
        (&json!("7b"), &json!("Cells"))
    );
    assert_eq!(
        (&made["createdById"], &made["deadline"]),
        (&json!(app.world.ada.id), &json!(LATER))
    );
    let stats =
        json!({"groups": 2, "notStarted": 2, "inProgress": 0, "submitted": 0, "returned": 0, "graded": 0, "late": 0});
    assert_eq!(made["stats"], stats);

    let (first, second) = (link(&made, &rivers), link(&made, &lakes));
    assert_eq!(
        (&first["effectiveDescription"], &first["descriptionOverride"]),
        (&json!("Draw one."), &json!(null))
    );
    assert_eq!(
        (&second["effectiveDescription"], &second["descriptionOverride"]),
        (&json!("Draw two."), &json!("Draw two."))
    );
    assert_eq!(
        (&first["status"], &first["submittedCount"], &first["isComplete"]),
        (&json!("NOT_STARTED"), &json!(0), &json!(false))
    );
    assert_eq!(
        (&second["group"]["courseId"], &second["assignment"]["isShared"]),
        (&json!(class.course), &json!(false)),
        "it took the course"
    );
    assert_eq!(ada.get(&format!("/assignments/{}", id(&made))).await.expect(200), made);
    assert_eq!(ada.get("/assignments").await.expect(200), json!([as_listed(&made)]));

    let past = topic(&ada, class, json!({"deadline": "2020-01-01T00:00:00+01:00", "description": null, "groups": [{"groupId": rivers, "descriptionOverride": " "}]})).await;
    assert_eq!(
        (&past["deadline"], &past["description"]),
        (&json!("2019-12-31T23:00:00.000Z"), &json!(""))
    );
    assert_eq!(
        past["groupAssignments"][0]["descriptionOverride"],
        json!(null),
        "an empty text is none"
    );
});

both!(invalid_topic_is_rejected_and_nothing_is_written, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    let other_class = &app.world.eight_a;
    let own = group(&ada, class, &[], json!({})).await;
    let elsewhere = group(&adam, other_class, &[], json!({})).await;
    let foreign = group(&app.as_(&app.world.zoe), &app.world.south_class, &[], json!({})).await;
    let plants = course(&ada, class, "Plants").await;
    let archived = course(&ada, class, "Archive").await;
    ada.patch(&format!("/courses/{archived}"), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let legacy = group(&ada, class, &[], json!({"courseId": null})).await;
    topic(&ada, class, json!({"courseId": null, "groupIds": [legacy]})).await;

    let before = fingerprints(&app.database).await;
    let post = async |more: Value| ada.post("/assignments", new_topic(class, more)).await;
    post(json!({"title": " "})).await.invalid("title");
    post(json!({"title": "x".repeat(201)})).await.invalid("title");
    post(json!({"description": "x".repeat(20_001)}))
        .await
        .invalid("description");
    post(json!({"deadline": null})).await.invalid("deadline");
    post(json!({"requiredSubmissions": 21}))
        .await
        .invalid("requiredSubmissions");
    post(json!({"maxPoints": -1})).await.invalid("maxPoints");
    post(json!({"status": "FINISHED"})).await.invalid("status");
    post(json!({"groupIds": [own, own]})).await.invalid("groupIds");
    post(json!({"groups": [{"groupId": own}, {"groupId": own}]}))
        .await
        .invalid("groups");
    post(json!({"groups": [{"groupId": own, "descriptionOverride": "x".repeat(20_001)}]}))
        .await
        .invalid("groups");
    post(json!({"groups": [{"groupId": own, "topic": "x"}]}))
        .await
        .invalid("groups[0].topic");
    post(json!({"classId": app.world.south_class.id}))
        .await
        .refused(404, "NOT_FOUND");
    post(json!({"courseId": app.world.south_class.course}))
        .await
        .refused(404, "NOT_FOUND");
    post(json!({"courseId": "none"})).await.refused(404, "NOT_FOUND");
    post(json!({"groupIds": [own, foreign]}))
        .await
        .refused(404, "NOT_FOUND");
    post(json!({"courseId": archived, "groupIds": [foreign]}))
        .await
        .refused(404, "NOT_FOUND");
    post(json!({"courseId": other_class.course}))
        .await
        .refused(409, "CLASS_MISMATCH");
    post(json!({"groupIds": [elsewhere]}))
        .await
        .refused(409, "CLASS_MISMATCH");
    post(json!({"courseId": archived}))
        .await
        .refused(409, "COURSE_ARCHIVED");
    post(json!({"courseId": plants, "groupIds": [own]}))
        .await
        .refused(409, "COURSE_MISMATCH");
    post(json!({"courseId": null, "groupIds": [own]}))
        .await
        .refused(409, "COURSE_MISMATCH");
    let body = post(json!({"groupIds": [own, legacy]}))
        .await
        .refused(409, "COURSE_MISMATCH");
    assert!(
        body["details"][0]["message"].as_str().unwrap().contains(&legacy),
        "a group with an active topic is not free: {body}"
    );
    post(json!({"classId": other_class.id, "courseId": null}))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&app.world.ben)
        .post("/assignments", json!({}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.stranger()
        .post("/assignments", json!({}))
        .await
        .refused(401, "UNAUTHENTICATED");
    app.as_(&app.world.zoe)
        .post("/assignments", new_topic(class, json!({})))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(fingerprints(&app.database).await, before);
});

tenants!(student_sees_topic_with_own_group_only, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({"name": "Rivers"})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({"name": "Lakes"})).await;
    let hidden = group(
        &ada,
        class,
        &[&app.world.dana],
        json!({"name": "Mountains", "startDate": LATER}),
    )
    .await;
    let texts = json!([{"groupId": rivers, "descriptionOverride": "For Ben."}, {"groupId": lakes, "descriptionOverride": "For Cem."}]);
    let made = topic(
        &ada,
        class,
        json!({"isShared": false, "groups": texts, "groupIds": [hidden]}),
    )
    .await;
    let path = format!("/assignments/{}", id(&made));

    let ben = app.as_(&app.world.ben);
    let seen = ben.get(&path).await.expect(200);
    assert_eq!(seen["groupAssignments"].as_array().unwrap().len(), 1);
    let own = &seen["groupAssignments"][0];
    assert_eq!(
        (&own["groupId"], &own["effectiveDescription"]),
        (&json!(rivers), &json!("For Ben."))
    );
    assert!(
        seen.get("stats").is_none() && own.get("descriptionOverride").is_none(),
        "{seen}"
    );
    for other in ["Lakes", "Mountains", "For Cem.", lakes.as_str(), hidden.as_str()] {
        assert!(!seen.to_string().contains(other), "{other} shows in {seen}");
    }
    assert_eq!(ben.get("/assignments").await.expect(200), json!([as_listed(&seen)]));
    assert_eq!(
        ids(&ben.get(&format!("/assignments?groupId={rivers}")).await.expect(200)),
        [id(&made)]
    );
    assert_eq!(
        ben.get(&format!("/assignments?groupId={lakes}")).await.expect(200),
        json!([]),
        "nor by asking for another group"
    );

    for person in [&app.world.dana, &app.world.eli, &app.world.finn, &app.world.zack] {
        let random = app
            .as_(person)
            .get("/assignments/0190a1b2-0000-7000-8000-00000000dead")
            .await
            .refused(404, "NOT_FOUND");
        let unseen = app.as_(person).get(&path).await.refused(404, "NOT_FOUND");
        assert_eq!(
            (&unseen["code"], &unseen["message"]),
            (&random["code"], &random["message"])
        );
        assert_eq!(
            app.as_(person).get("/assignments").await.expect(200),
            json!([]),
            "{}",
            person.name
        );
    }
    ada.patch(
        &format!("/groups/{hidden}"),
        json!({"startDate": "2020-01-01T00:00:00Z"}),
    )
    .await
    .expect(200);
    let now = app.as_(&app.world.dana).get(&path).await.expect(200);
    assert_eq!(now["groupAssignments"][0]["effectiveDescription"], "Draw one.");
    assert_eq!(
        ids(&app.as_(&app.world.dana).get("/assignments").await.expect(200)),
        [id(&made)]
    );

    ben.patch(&path, json!({"title": "Mine"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    ben.delete(&path).await.refused(403, "FORBIDDEN_ROLE");
    ben.patch(&format!("{path}/bulk"), json!({"title": "Mine"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
});

both!(other_teachers_see_topic_outline_and_other_schools_nothing, |app| {
    let (ada, tom, class) = (app.as_(&app.world.ada), app.as_(&app.world.tom), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(
        &ada,
        class,
        json!({"groups": [{"groupId": rivers, "descriptionOverride": "Secret"}]}),
    )
    .await;
    let path = format!("/assignments/{}", id(&made));
    let outline = json!({
        "view": "OUTLINE", "id": made["id"], "title": "Cells", "deadline": LATER, "classId": class.id, "courseId": class.course,
        "status": "ACTIVE", "groupCount": 1,
    });
    assert_eq!(tom.get(&path).await.expect(200), outline);
    assert_eq!(tom.get("/assignments").await.expect(200), json!([outline]));
    assert_eq!(
        tom.get(&format!("/assignments?groupId={rivers}")).await.expect(200),
        json!([])
    );
    assert_eq!(app.as_(&app.world.adam).get(&path).await.expect(200), made);
    assert_eq!(app.as_(&app.world.olga).get(&path).await.expect(200), made);

    let before = fingerprints(&app.database).await;
    let calls = [
        ("PATCH", String::new(), json!({"title": "Mine"})),
        ("DELETE", String::new(), Value::Null),
        ("PATCH", "/bulk".to_owned(), json!({"title": "Mine"})),
        ("PATCH", "/bulk?dryRun=1".to_owned(), json!({"title": "Mine"})),
        ("POST", "/groups".to_owned(), json!({"groupIds": [rivers]})),
        (
            "PATCH",
            format!("/groups/{rivers}"),
            json!({"descriptionOverride": "Mine"}),
        ),
        ("DELETE", format!("/groups/{rivers}?force=1"), Value::Null),
    ];
    for (method, rest, body) in calls {
        let call = async |person| {
            let body = (!body.is_null()).then(|| body.clone());
            app.as_(person)
                .send(method.parse().unwrap(), &format!("{path}{rest}"), body)
                .await
        };
        call(&app.world.tom).await.refused(403, "NOT_CLASS_TEACHER");
        call(&app.world.zoe).await.refused(404, "NOT_FOUND");
        call(&app.world.zara).await.refused(404, "NOT_FOUND");
    }
    let zoe = app.as_(&app.world.zoe);
    zoe.get(&path).await.refused(404, "NOT_FOUND");
    zoe.get(&format!("/assignments/submission-candidates?groupId={rivers}"))
        .await
        .refused(404, "NOT_FOUND");
    for filter in [
        format!("classId={}", class.id),
        format!("courseId={}", class.course),
        format!("groupId={rivers}"),
    ] {
        assert_eq!(zoe.get(&format!("/assignments?{filter}")).await.expect(200), json!([]));
    }
    assert_eq!(fingerprints(&app.database).await, before);
});

tenants!(topics_are_filtered_searched_and_sorted, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let new = async |title: &str, deadline: &str, more: Value| {
        let mut body = json!({"title": title, "deadline": deadline});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        id(&topic(&ada, class, body).await)
    };
    let b = new("Big cells", "2030-01-02T00:00:00Z", json!({"groupIds": [rivers]})).await;
    let c = new("cells", "2030-01-03T00:00:00Z", json!({})).await;
    let a = new("Zebra", "2030-01-01T00:00:00Z", json!({"courseId": null})).await;
    mark_finished(app, &c).await;

    let list = async |query: &str| ids(&ada.get(&format!("/assignments?{query}")).await.expect(200));
    assert_eq!(list("").await, [a.as_str(), &b, &c]);
    assert_eq!(list("sort=deadline").await, [a.as_str(), &b, &c]);
    assert_eq!(list("sort=-deadline").await, [c.as_str(), &b, &a]);
    assert_eq!(list("sort=title").await, [b.as_str(), &c, &a]);
    assert_eq!(list("sort=-title").await, [a.as_str(), &c, &b]);
    assert_eq!(list("sort=createdAt").await, [b.as_str(), &c, &a]);
    assert_eq!(list("sort=-createdAt").await, [a.as_str(), &c, &b]);
    assert_eq!(
        list("search=CELL").await,
        [c.as_str(), &b],
        "those that begin with it come first"
    );
    assert_eq!(list("search=CELL&sort=deadline").await, [b.as_str(), &c]);
    assert_eq!(list("search=%25").await, Vec::<String>::new());
    assert_eq!(list("courseId=none").await, [a.as_str()]);
    assert_eq!(list(&format!("courseId={}", class.course)).await, [b.as_str(), &c]);
    assert_eq!(list(&format!("subjectId={}", class.subject)).await, [b.as_str(), &c]);
    assert_eq!(
        list(&format!("classId={}&status=FINISHED", class.id)).await,
        [c.as_str()]
    );
    assert_eq!(list(&format!("groupId={rivers}")).await, [b.as_str()]);
    assert_eq!(
        list(&format!("classId={}", app.world.eight_a.id)).await,
        Vec::<String>::new()
    );
    let ben = ids(&app
        .as_(&app.world.ben)
        .get("/assignments?search=big&sort=-title")
        .await
        .expect(200));
    assert_eq!(ben, [b.as_str()]);
    ada.get("/assignments?sort=name").await.invalid("sort");
    ada.get("/assignments?status=OPEN").await.invalid("status");
});

tenants!(submission_candidates_preselect_the_nearest_deadline, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let hidden = group(&ada, class, &[&app.world.dana], json!({"startDate": LATER})).await;
    let new = async |title: &str, deadline: &str| {
        id(&topic(
            &ada,
            class,
            json!({"title": title, "deadline": deadline, "groupIds": [rivers, hidden]}),
        )
        .await)
    };
    let old = new("Old", "2020-01-01T00:00:00Z").await;
    let recent = new("Recent", "2021-01-01T00:00:00Z").await;
    let far = new("Far", LATER).await;
    let near = new("Near", "2098-01-01T00:00:00Z").await;
    let finished = new("Finished", "2097-01-01T00:00:00Z").await;
    mark_finished(app, &finished).await;

    let path = format!("/assignments/submission-candidates?groupId={rivers}");
    for person in [&app.world.ben, &app.world.ada, &app.world.adam] {
        let found = app.as_(person).get(&path).await.expect(200);
        let order: Vec<&str> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["assignmentId"].as_str().unwrap())
            .collect();
        assert_eq!(order, [near.as_str(), &far, &recent, &old]);
        let chosen: Vec<bool> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["isPreselected"].as_bool().unwrap())
            .collect();
        assert_eq!(chosen, [true, false, false, false]);
        assert_eq!(
            (&found[0]["title"], &found[0]["deadline"]),
            (&json!("Near"), &json!("2098-01-01T00:00:00.000Z"))
        );
    }
    for person in [&app.world.cem, &app.world.tom, &app.world.zoe] {
        app.as_(person).get(&path).await.refused(404, "NOT_FOUND");
    }
    let unseen = format!("/assignments/submission-candidates?groupId={hidden}");
    app.as_(&app.world.dana).get(&unseen).await.refused(404, "NOT_FOUND");
    assert_eq!(ada.get(&unseen).await.expect(200).as_array().unwrap().len(), 4);
    ada.get("/assignments/submission-candidates").await.invalid("groupId");

    // A document is submitted for its own topic, not for the one with the nearest deadline.
    let ben = app.as_(&app.world.ben);
    let room = ben.get(&format!("/groups/{rivers}")).await.expect(200)["workRoomId"].clone();
    let documents = format!("/workrooms/{}/documents", room.as_str().unwrap());
    let preselected = async |link: serde_json::Value| {
        let new = json!({"title": "Page", "documentType": "word", "assignmentId": link});
        let document = id(&ben.post(&documents, new).await.expect(201));
        let found = ben.get(&format!("{path}&documentId={document}")).await.expect(200);
        let found = found.as_array().unwrap().clone().into_iter();
        let chosen: Vec<_> = found
            .filter(|c| c["isPreselected"] == true)
            .map(|c| c["title"].clone())
            .collect();
        (document, chosen)
    };
    assert_eq!(preselected(json!(far)).await.1, ["Far"]);
    let (loose, chosen) = preselected(serde_json::Value::Null).await;
    assert_eq!(chosen, ["Near"]);
    let elsewhere = group(&ada, class, &[&app.world.cem], json!({})).await;
    let other = format!("/assignments/submission-candidates?groupId={elsewhere}&documentId={loose}");
    ada.get(&other).await.refused(404, "NOT_FOUND");
    app.as_(&app.world.cem).get(&other).await.refused(404, "NOT_FOUND");
});
