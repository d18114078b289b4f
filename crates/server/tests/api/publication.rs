//! Drafts of topics, publication at a time, and exceptions of single groups.

use serde_json::json;

use test_support::topics::{LATER, group, id, link, new_topic, topic};

tenants!(topic_is_published_at_once_unless_request_says_otherwise, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let made = topic(&ada, class, json!({})).await;
    assert_eq!((&made["isDraft"], &made["publishAt"]), (&json!(false), &json!(null)));
    let draft = topic(&ada, class, json!({"isDraft": true})).await;
    assert_eq!((&draft["isDraft"], &draft["publishAt"]), (&json!(true), &json!(null)));
    let moment = "2098-01-01T07:00:00.000Z";
    let scheduled = topic(&ada, class, json!({"publishAt": "2098-01-01T08:00:00+01:00"})).await;
    assert_eq!(
        (&scheduled["isDraft"], &scheduled["publishAt"]),
        (&json!(false), &json!(moment))
    );
    let course = ada.get(&format!("/courses/{}", class.course)).await.expect(200);
    let listed = course["assignments"].as_array().unwrap().iter();
    let drafts: Vec<_> = listed.filter(|topic| topic["isDraft"] == json!(true)).map(id).collect();
    assert_eq!(drafts, [id(&draft)]);
});

both!(invalid_publication_is_rejected_with_its_field, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let detail = |body: &serde_json::Value| body["details"][0]["path"].clone();
    for (more, field) in [
        (json!({"isDraft": true, "publishAt": LATER}), "publishAt"),
        (json!({"publishAt": "2098-01-01T08:00:00"}), "publishAt"),
        (
            json!({"deadline": "2098-01-01T08:00:00Z", "publishAt": LATER}),
            "publishAt",
        ),
        (json!({"isDraft": "yes"}), "isDraft"),
    ] {
        let refused = ada.post("/assignments", new_topic(class, more.clone())).await;
        let body = refused.expect(400);
        assert_eq!(detail(&body), field, "{more}: {body}");
    }
    let made = topic(&ada, class, json!({"publishAt": "2098-01-01T08:00:00Z"})).await;
    let path = format!("/assignments/{}", id(&made));
    for (edit, field) in [
        (json!({"deadline": "2097-01-01T08:00:00Z"}), "deadline"),
        (json!({"publishAt": "2099-01-01T00:00:00.001Z"}), "publishAt"),
        (json!({"isDraft": null}), "isDraft"),
    ] {
        let body = ada.patch(&path, edit.clone()).await.expect(400);
        assert_eq!(detail(&body), field, "{edit}: {body}");
    }
    let bulk = json!({"deadline": "2097-01-01T08:00:00Z"});
    ada.patch(&format!("{path}/bulk?dryRun=1"), bulk).await.expect(400);
});

both!(teacher_publishes_draft_and_hides_topic_until_group_has_started, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let draft = topic(&ada, class, json!({"isDraft": true, "groupIds": [rivers, lakes]})).await;
    let path = format!("/assignments/{}", id(&draft));
    ada.post(&format!("{path}/finish"), json!({}))
        .await
        .refused(409, "ASSIGNMENT_NOT_PUBLISHED");
    let published = ada.patch(&path, json!({"isDraft": false})).await.expect(200);
    assert_eq!(published["isDraft"], false);
    let log = ada
        .get(&format!("/activity-logs?assignmentId={}", id(&draft)))
        .await
        .expect(200);
    let details = &log["data"][0]["details"];
    assert_eq!(details["changed"], json!(["isDraft"]));
    assert_eq!(
        (&details["before"]["isDraft"], &details["after"]["isDraft"]),
        (&json!(true), &json!(false))
    );

    // Nothing was done yet, so the topic can be hidden again.
    ada.patch(&path, json!({"isDraft": true})).await.expect(200);
    ada.patch(&path, json!({"isDraft": false, "publishAt": null}))
        .await
        .expect(200);
    let shown = ben.get(&format!("/groups/{rivers}")).await.expect(200);
    let documents = format!("/workrooms/{}/documents", shown["workRoomId"].as_str().unwrap());
    let new = json!({"title": "Rhine", "fileExtension": "docx", "assignmentId": id(&draft)});
    ben.post(&documents, new).await.expect(201);
    ada.patch(&path, json!({"isDraft": true}))
        .await
        .refused(409, "ASSIGNMENT_STARTED");
    ada.patch(&path, json!({"publishAt": LATER}))
        .await
        .refused(409, "ASSIGNMENT_STARTED");
    ada.patch(&format!("{path}/groups/{rivers}"), json!({"isDraft": true}))
        .await
        .refused(409, "ASSIGNMENT_STARTED");
    let seen = ada.get(&path).await.expect(200);
    assert_eq!(link(&seen, &rivers)["isDraft"], false);

    // The other group has not started. Its exception does not affect the first.
    let hidden = json!({"groups": [{"groupId": lakes, "isDraft": true}]});
    let seen = ada.patch(&path, hidden).await.expect(200);
    assert_eq!(link(&seen, &lakes)["isDraft"], true);
    app.as_(&app.world.cem).get(&path).await.refused(404, "NOT_FOUND");
    ben.get(&path).await.expect(200);
    let log = ada
        .get(&format!("/activity-logs?assignmentId={}", id(&draft)))
        .await
        .expect(200);
    assert_eq!(log["data"][0]["details"]["publicationGroupIds"], json!([lakes]));
    ada.post(&format!("{path}/finish"), json!({}))
        .await
        .refused(409, "ASSIGNMENT_NOT_PUBLISHED");
    let same = ada
        .patch(&format!("{path}/groups/{lakes}"), json!({"isDraft": false}))
        .await;
    assert_eq!(same.expect(200)["isDraft"], false);
    app.as_(&app.world.cem).get(&path).await.expect(200);
});

both!(group_is_attached_with_exception_and_copy_of_draft_is_draft, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let draft = topic(&ada, class, json!({"isDraft": true})).await;
    let path = format!("/assignments/{}", id(&draft));
    let now = json!({"groups": [{"groupId": rivers, "publishAt": "2020-01-01T00:00:00Z"}]});
    let links = ada.post(&format!("{path}/groups"), now.clone()).await.expect(200);
    assert_eq!(links[0]["publishAt"], "2020-01-01T00:00:00.000Z");
    app.as_(&app.world.ben).get(&path).await.expect(200);
    ada.post(&format!("{path}/groups"), now).await.expect(200);
    let other = json!({"groups": [{"groupId": rivers, "isDraft": true}]});
    ada.post(&format!("{path}/groups"), other)
        .await
        .refused(409, "DUPLICATE_GROUP_ASSIGNMENT");
    let copy = ada
        .post(&format!("{path}/clone"), json!({"deadline": LATER}))
        .await
        .expect(201);
    assert_eq!(copy["isDraft"], true);
    // A draft counts as active: the group stays in the course of the topic.
    ada.patch(&format!("/groups/{rivers}"), json!({"courseId": null}))
        .await
        .refused(409, "COURSE_MISMATCH");
});
