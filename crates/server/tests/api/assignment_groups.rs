//! Assigning groups to a topic and removing them.

use serde_json::json;

use test_support::rows::{execute, texts};
use test_support::tables::fingerprints;
use test_support::topics::{LATER, course, group, id, link, mark_submitted, topic};

both!(assigning_group_twice_keeps_the_first_link, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({"courseId": null})).await;
    let made = topic(
        &ada,
        class,
        json!({"isShared": false, "groups": [{"groupId": rivers, "descriptionOverride": "R"}]}),
    )
    .await;
    let path = format!("/assignments/{}/groups", id(&made));

    let answer = ada
        .post(
            &path,
            json!({"groupIds": [rivers], "groups": [{"groupId": lakes, "descriptionOverride": "L"}]}),
        )
        .await
        .expect(200);
    assert_eq!(&answer[0], link(&made, &rivers));
    assert_eq!(
        (&answer[1]["groupId"], &answer[1]["effectiveDescription"]),
        (&json!(lakes), &json!("L"))
    );
    assert_eq!(
        answer[1]["group"]["courseId"],
        json!(class.course),
        "a free group takes the course of the topic"
    );
    let attached = ada.get(&format!("/groups/{lakes}")).await.expect(200);
    assert_eq!(
        (&attached["courseId"], &attached["subjectId"]),
        (&json!(class.course), &json!(class.subject))
    );

    let before = fingerprints(&app.database).await;
    ada.post(
        &path,
        json!({"groups": [{"groupId": rivers, "descriptionOverride": "R"}, {"groupId": lakes}]}),
    )
    .await
    .expect(200);
    ada.post(
        &path,
        json!({"groups": [{"groupId": rivers, "descriptionOverride": "R2"}]}),
    )
    .await
    .refused(409, "DUPLICATE_GROUP_ASSIGNMENT");
    ada.post(
        &path,
        json!({"groups": [{"groupId": rivers, "descriptionOverride": null}]}),
    )
    .await
    .refused(409, "DUPLICATE_GROUP_ASSIGNMENT");
    ada.post(&path, json!({"groupId": rivers})).await.invalid("groupId");
    assert_eq!(fingerprints(&app.database).await, before);
});

both!(group_of_other_class_or_course_cannot_be_assigned, |app| {
    let (ada, adam, class) = (app.as_(&app.world.ada), app.as_(&app.world.adam), &app.world.seven_b);
    let free = group(&ada, class, &[], json!({"courseId": null})).await;
    let plants = course(&ada, class, "Plants").await;
    let planted = group(&ada, class, &[], json!({"courseId": plants})).await;
    let elsewhere = group(&adam, &app.world.eight_a, &[], json!({})).await;
    let foreign = group(&app.as_(&app.world.zoe), &app.world.south_class, &[], json!({})).await;
    let made = topic(&ada, class, json!({})).await;
    let legacy = topic(&ada, class, json!({"courseId": null})).await;
    let path = format!("/assignments/{}/groups", id(&made));
    let before = fingerprints(&app.database).await;
    ada.post(&path, json!({"groupIds": [free, foreign]}))
        .await
        .refused(404, "NOT_FOUND");
    ada.post(&path, json!({"groupIds": [free, elsewhere]}))
        .await
        .refused(409, "CLASS_MISMATCH");
    adam.post(&path, json!({"groupIds": [free, elsewhere]}))
        .await
        .refused(409, "CLASS_MISMATCH");
    ada.post(&path, json!({"groupIds": [elsewhere, foreign]}))
        .await
        .refused(404, "NOT_FOUND");
    ada.post(&path, json!({"groupIds": [free, planted]}))
        .await
        .refused(409, "COURSE_MISMATCH");
    ada.post(
        &format!("/assignments/{}/groups", id(&legacy)),
        json!({"groupIds": [planted]}),
    )
    .await
    .refused(409, "COURSE_MISMATCH");
    app.as_(&app.world.ben)
        .post(&path, json!({"groupIds": [free]}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    assert_eq!(fingerprints(&app.database).await, before);
    ada.post(
        &format!("/assignments/{}/groups", id(&legacy)),
        json!({"groupIds": [free]}),
    )
    .await
    .expect(200);
    ada.post(&path, json!({"groupIds": [free]}))
        .await
        .refused(409, "COURSE_MISMATCH");

    ada.patch(&format!("/courses/{}", class.course), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let own = group(&ada, class, &[], json!({"courseId": null})).await;
    ada.post(&path, json!({"groupIds": [own]}))
        .await
        .refused(409, "COURSE_ARCHIVED");
});

both!(fifty_concurrent_assignments_create_one_link, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[], json!({})).await;
    let made = topic(&ada, class, json!({})).await;
    let path = format!("/assignments/{}/groups", id(&made));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (ada, path, body) = (ada.clone(), path.clone(), json!({"groupIds": [rivers]}));
        calls.spawn(async move { ada.post(&path, body).await });
    }
    let mut links = std::collections::HashSet::new();
    while let Some(answer) = calls.join_next().await {
        let answer = answer.unwrap().expect(200);
        links.insert(id(&answer[0]));
    }
    assert_eq!(links.len(), 1);
    let rows = texts(
        &app.database,
        format!("SELECT id FROM group_assignments WHERE group_id = '{rivers}'"),
    )
    .await;
    assert_eq!(rows.len(), 1);
});

both!(a_group_with_a_linked_document_starts_in_progress, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let made = topic(&ada, class, json!({})).await;
    let room = ada.get(&format!("/groups/{rivers}")).await.expect(200)["workRoomId"]
        .as_str()
        .unwrap()
        .to_owned();
    let (north, ben) = (&app.world.north, &app.world.ben.id);
    let columns = "organization_id, id, work_room_id, title, document_type, file_extension, assignment_id, created_by_id, \
        last_activity, created_at, updated_at";
    let values = format!(
        "'{north}', 'd1', '{room}', 'D', 'word', 'docx', '{}', '{ben}', 1, 1, 1",
        id(&made)
    );
    execute(
        &app.database,
        format!("INSERT INTO documents ({columns}) VALUES ({values})"),
    )
    .await;
    let links = ada
        .post(
            &format!("/assignments/{}/groups", id(&made)),
            json!({"groupIds": [rivers, lakes]}),
        )
        .await
        .expect(200);
    assert_eq!(
        (&links[0]["status"], &links[1]["status"]),
        (&json!("IN_PROGRESS"), &json!("NOT_STARTED"))
    );
    let stats = &ada.get(&format!("/assignments/{}", id(&made))).await.expect(200)["stats"];
    assert_eq!(
        (&stats["inProgress"], &stats["notStarted"], &stats["groups"]),
        (&json!(1), &json!(1), &json!(2))
    );
});

both!(group_gets_own_description_and_deadline_extension, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let apart = group(&ada, class, &[], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let path = format!("/assignments/{}/groups/{rivers}", id(&made));
    let edited = ada
        .patch(&path, json!({"descriptionOverride": "R", "lateAllowedUntil": LATER}))
        .await
        .expect(200);
    assert_eq!(
        (&edited["effectiveDescription"], &edited["lateAllowedUntil"]),
        (&json!("R"), &json!(LATER))
    );
    assert_eq!(
        app.as_(&app.world.ben)
            .get(&format!("/assignments/{}", id(&made)))
            .await
            .expect(200)["groupAssignments"][0]["lateAllowedUntil"],
        LATER
    );
    let mut echoed = edited.clone();
    echoed["descriptionOverride"] = json!(" ");
    echoed["lateAllowedUntil"] = json!(null);
    let cleared = ada.patch(&path, echoed).await.expect(200);
    assert_eq!(
        (&cleared["descriptionOverride"], &cleared["lateAllowedUntil"]),
        (&json!(null), &json!(null))
    );
    let same = ada.patch(&path, json!({"descriptionOverride": null})).await.expect(200);
    assert_eq!(same["updatedAt"], cleared["updatedAt"]);

    let before = fingerprints(&app.database).await;
    ada.patch(&path, json!({"status": "GRADED"})).await.expect(200);
    ada.patch(&path, json!({"deadline": LATER})).await.invalid("deadline");
    ada.patch(
        &format!("/assignments/{}/groups/{apart}", id(&made)),
        json!({"descriptionOverride": "X"}),
    )
    .await
    .refused(404, "NOT_FOUND");
    app.as_(&app.world.ben)
        .patch(&path, json!({"descriptionOverride": "X"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    assert_eq!(fingerprints(&app.database).await, before);
});

both!(group_with_submission_is_removed_only_with_force, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers, lakes]})).await;
    let path = format!("/assignments/{}", id(&made));
    mark_submitted(app, link(&made, &rivers), &app.world.ben, 1000).await;
    assert_eq!(ada.get(&path).await.expect(200)["stats"]["submitted"], 1);

    let before = fingerprints(&app.database).await;
    ada.delete(&format!("{path}/groups/{rivers}"))
        .await
        .refused(409, "HAS_SUBMISSION");
    ada.delete(&format!("{path}/groups/{rivers}?force=0"))
        .await
        .refused(409, "HAS_SUBMISSION");
    ada.delete(&format!("{path}/groups/{rivers}?force=yes"))
        .await
        .invalid("force");
    app.as_(&app.world.ben)
        .delete(&format!("{path}/groups/{rivers}?force=1"))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    assert_eq!(fingerprints(&app.database).await, before);

    assert_eq!(
        ada.delete(&format!("{path}/groups/{rivers}?force=true"))
            .await
            .expect(200),
        json!({"success": true})
    );
    ada.delete(&format!("{path}/groups/{rivers}"))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&app.world.ben).get(&path).await.refused(404, "NOT_FOUND");
    let rows = texts(&app.database, "SELECT id FROM submissions".to_owned()).await;
    assert_eq!(rows, Vec::<Option<String>>::new());
    ada.delete(&format!("{path}/groups/{lakes}")).await.expect(200);
    assert_eq!(ada.get(&path).await.expect(200)["groupAssignments"], json!([]));
    ada.get(&format!("/groups/{rivers}")).await.expect(200);
});
