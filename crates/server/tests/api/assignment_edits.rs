//! Editing and deleting topics: fields, description overrides, and moving to another course with all groups.

use serde_json::json;

use test_support::rows::{execute, texts};
use test_support::tables::fingerprints;
use test_support::topics::{LATER, course, group, id, link, mark_finished, mark_submitted, topic};

both!(patch_changes_named_fields_and_accepts_unchanged_ones, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(
        &ada,
        class,
        json!({"groupIds": [rivers], "maxPoints": 10, "gradeScale": "A to F"}),
    )
    .await;
    let path = format!("/assignments/{}", id(&made));
    let edited = ada.patch(&path, json!({"title": " New ", "maxPoints": null, "gradeScale": "", "latePolicy": "BLOCK", "requiredSubmissions": 3})).await.expect(200);
    assert_eq!(
        (&edited["title"], &edited["maxPoints"], &edited["gradeScale"]),
        (&json!("New"), &json!(null), &json!(null))
    );
    assert_eq!(
        (&edited["latePolicy"], &edited["requiredSubmissions"]),
        (&json!("BLOCK"), &json!(3))
    );
    assert_eq!(
        (&edited["description"], &edited["deadline"]),
        (&made["description"], &made["deadline"])
    );
    assert_ne!(edited["updatedAt"], made["updatedAt"]);

    let mut echoed = edited.clone();
    echoed["description"] = json!("Another task.");
    let echoed_back = ada.patch(&path, echoed.clone()).await.expect(200);
    assert_eq!(link(&echoed_back, &rivers)["effectiveDescription"], "Another task.");
    let same = ada.patch(&path, json!({"title": "New"})).await.expect(200);
    assert_eq!(
        same["updatedAt"], echoed_back["updatedAt"],
        "no difference is no change"
    );

    let before = fingerprints(&app.database).await;
    let read_only = json!({"classId": app.world.eight_a.id, "status": "FINISHED", "updatedAt": "2001-01-01T00:00:00Z"});
    ada.patch(&path, read_only).await.expect(200);
    ada.patch(&path, json!({"color": "red"})).await.invalid("color");
    ada.patch(&path, json!({"title": null})).await.invalid("title");
    ada.patch(&path, json!({"deadline": null})).await.invalid("deadline");
    ada.patch(&path, json!({"isShared": null})).await.invalid("isShared");
    ada.patch(&path, json!({"groups": null})).await.invalid("groups");
    ada.patch(&path, json!({"title": ""})).await.invalid("title");
    ada.patch("/assignments/none", json!({"title": "X"}))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(fingerprints(&app.database).await, before);
});

tenants!(working_time_is_shown_to_students_and_its_changes_are_recorded, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers], "workingTime": " 2 lessons "})).await;
    assert_eq!(made["workingTime"], "2 lessons");
    let path = format!("/assignments/{}", id(&made));
    assert_eq!(ben.get(&path).await.expect(200)["workingTime"], "2 lessons");
    ben.patch(&path, json!({"workingTime": "none"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    ada.patch(&path, json!({"workingTime": "x".repeat(81)}))
        .await
        .invalid("workingTime");
    let copy = ada
        .post(&format!("{path}/clone"), json!({"deadline": LATER}))
        .await
        .expect(201);
    assert_eq!(copy["workingTime"], "2 lessons");
    let cleared = ada.patch(&path, json!({"workingTime": null})).await.expect(200);
    assert_eq!(cleared["workingTime"], json!(null));
    assert_ne!(cleared["updatedAt"], made["updatedAt"]);
    let log = ada
        .get(&format!("/activity-logs?assignmentId={}", id(&made)))
        .await
        .expect(200);
    let details = &log["data"][0]["details"];
    assert_eq!(details["before"], json!({"workingTime": "2 lessons"}));
    assert_eq!(details["after"], json!({"workingTime": null}));
});

both!(description_overrides_change_only_for_listed_groups, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let apart = group(&ada, class, &[], json!({})).await;
    let foreign = group(&app.as_(&app.world.zoe), &app.world.south_class, &[], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groups": [{"groupId": rivers, "descriptionOverride": "R"}, {"groupId": lakes, "descriptionOverride": "L"}]})).await;
    let path = format!("/assignments/{}", id(&made));

    let edited = ada
        .patch(
            &path,
            json!({"groups": [{"groupId": rivers, "descriptionOverride": "R2"}]}),
        )
        .await
        .expect(200);
    assert_eq!(link(&edited, &rivers)["effectiveDescription"], "R2");
    assert_eq!(
        link(&edited, &lakes),
        link(&made, &lakes),
        "a group that is not listed keeps its text"
    );
    assert_eq!(
        edited["updatedAt"], made["updatedAt"],
        "the topic itself did not change"
    );
    let edited = ada
        .patch(
            &path,
            json!({"groups": [{"groupId": rivers, "descriptionOverride": "  "}, {"groupId": lakes}]}),
        )
        .await
        .expect(200);
    assert_eq!(
        (
            &link(&edited, &rivers)["descriptionOverride"],
            &link(&edited, &rivers)["effectiveDescription"]
        ),
        (&json!(null), &json!("Draw one."))
    );
    assert_eq!(
        link(&edited, &lakes)["descriptionOverride"],
        "L",
        "an absent text is left alone"
    );
    assert_eq!(
        ada.patch(&path, json!({"groups": []})).await.expect(200)["groupAssignments"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    let before = fingerprints(&app.database).await;
    let texts = |group: &str| json!({"title": "T", "groups": [{"groupId": lakes, "descriptionOverride": "X"}, {"groupId": group}]});
    ada.patch(&path, texts(&apart))
        .await
        .refused(409, "GROUP_NOT_ON_ASSIGNMENT");
    ada.patch(&path, texts(&foreign)).await.refused(404, "NOT_FOUND");
    ada.patch(&path, texts("none")).await.refused(404, "NOT_FOUND");
    ada.patch(&path, texts(&lakes)).await.invalid("groups");
    assert_eq!(fingerprints(&app.database).await, before);
});

both!(toggling_is_shared_keeps_description_overrides, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(
        &ada,
        class,
        json!({"isShared": false, "groups": [{"groupId": rivers, "descriptionOverride": "Own — “ünï” \u{1f332}"}]}),
    )
    .await;
    let path = format!("/assignments/{}", id(&made));
    let stored = format!(
        "SELECT description_override FROM group_assignments WHERE assignment_id = '{}'",
        id(&made)
    );
    let before = texts(&app.database, stored.clone()).await;
    let effective = async || ben.get(&path).await.expect(200)["groupAssignments"][0]["effectiveDescription"].clone();
    assert_eq!(effective().await, "Own — “ünï” \u{1f332}");
    let shared = ada.patch(&path, json!({"isShared": true})).await.expect(200);
    assert_eq!(link(&shared, &rivers)["effectiveDescription"], "Draw one.");
    assert_eq!(effective().await, "Draw one.");
    assert_eq!(
        link(&shared, &rivers)["descriptionOverride"],
        "Own — “ünï” \u{1f332}",
        "staff still find it"
    );
    ada.patch(&path, json!({"isShared": false})).await.expect(200);
    assert_eq!(effective().await, "Own — “ünï” \u{1f332}");
    assert_eq!(texts(&app.database, stored).await, before);
});

both!(topic_changes_course_with_all_its_groups_or_not_at_all, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let plants = course(&ada, class, "Plants").await;
    let made = topic(&ada, class, json!({"groupIds": [rivers, lakes]})).await;
    let path = format!("/assignments/{}", id(&made));
    let courses = async || {
        let mut found = Vec::new();
        for group in [&rivers, &lakes] {
            found.push(ada.get(&format!("/groups/{group}")).await.expect(200)["courseId"].clone());
        }
        found
    };
    let moved = ada.patch(&path, json!({"courseId": plants})).await.expect(200);
    assert_eq!(
        (&moved["courseId"], &moved["course"]["name"]),
        (&json!(plants), &json!("Plants"))
    );
    assert_eq!(link(&moved, &lakes)["group"]["courseId"], json!(plants));
    assert_eq!(courses().await, [json!(plants), json!(plants)]);
    ada.patch(&path, json!({"courseId": null})).await.expect(200);
    assert_eq!(courses().await, [json!(null), json!(null)]);
    ada.patch(&path, json!({"courseId": plants})).await.expect(200);

    // Lakes works on a second topic of the same course, so moving the first topic alone would make the group's
    // topics belong to different courses.
    let second = topic(&ada, class, json!({"courseId": plants, "groupIds": [lakes]})).await;
    let archived = course(&ada, class, "Archive").await;
    ada.patch(&format!("/courses/{archived}"), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    let before = fingerprints(&app.database).await;
    let refused = ada
        .patch(&path, json!({"courseId": class.course, "title": "T"}))
        .await
        .refused(409, "COURSE_MISMATCH");
    let details = refused["details"].as_array().unwrap();
    assert!(
        details.len() == 1 && details[0]["message"].as_str().unwrap().contains(&lakes),
        "{refused}"
    );
    ada.patch(&path, json!({"courseId": app.world.eight_a.course}))
        .await
        .refused(409, "CLASS_MISMATCH");
    ada.patch(&path, json!({"courseId": app.world.south_class.course}))
        .await
        .refused(404, "NOT_FOUND");
    ada.patch(&path, json!({"courseId": archived}))
        .await
        .refused(409, "COURSE_ARCHIVED");
    assert_eq!(fingerprints(&app.database).await, before);

    mark_finished(app, &id(&second)).await;
    ada.patch(&path, json!({"courseId": class.course})).await.expect(200);
    assert_eq!(
        courses().await,
        [json!(class.course), json!(class.course)],
        "a finished topic holds nobody"
    );
});

both!(finished_topic_and_archived_class_reject_edits, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let plants = course(&ada, class, "Plants").await;
    let path = format!("/assignments/{}", id(&made));
    mark_finished(app, &id(&made)).await;
    assert_eq!(ada.get(&path).await.expect(200)["status"], "FINISHED");
    let before = fingerprints(&app.database).await;
    ada.patch(&path, json!({"title": "T"}))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    ada.patch(&path, json!({"courseId": plants}))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    ada.patch(
        &path,
        json!({"groups": [{"groupId": rivers, "descriptionOverride": "X"}]}),
    )
    .await
    .refused(409, "ASSIGNMENT_FINISHED");
    ada.patch(&format!("{path}/groups/{rivers}"), json!({"lateAllowedUntil": LATER}))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    ada.patch(&format!("{path}/bulk"), json!({"title": "T"}))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    ada.patch(&format!("{path}/bulk?dryRun=1"), json!({"title": "T"}))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    ada.post(&format!("{path}/groups"), json!({"groupIds": [lakes]}))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    assert_eq!(fingerprints(&app.database).await, before);
    let kept = ada
        .post(&format!("{path}/groups"), json!({"groupIds": [rivers]}))
        .await
        .expect(200);
    assert_eq!(kept[0]["groupId"], json!(rivers), "it is there already");

    execute(
        &app.database,
        format!("UPDATE classes SET status = 'ARCHIVED' WHERE id = '{}'", class.id),
    )
    .await;
    let before = fingerprints(&app.database).await;
    ada.patch(&path, json!({"title": "T"}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    ada.delete(&path).await.refused(409, "CLASS_ARCHIVED");
    ada.patch(&format!("{path}/bulk?dryRun=1"), json!({"title": "T"}))
        .await
        .refused(409, "CLASS_ARCHIVED");
    assert_eq!(fingerprints(&app.database).await, before);
    app.as_(&app.world.ben).get(&path).await.expect(200);
});

both!(deleting_topic_deletes_submissions_and_keeps_groups, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let other = topic(&ada, class, json!({"title": "Other", "groupIds": [rivers]})).await;
    mark_submitted(app, link(&made, &rivers), &app.world.ben, 1000).await;
    let path = format!("/assignments/{}", id(&made));
    let before = fingerprints(&app.database).await;
    assert_eq!(
        ada.delete(&format!("{path}?dryRun=1")).await.expect(200),
        json!({"success": true, "deletedSubmissions": 1})
    );
    assert_eq!(fingerprints(&app.database).await, before);
    assert_eq!(
        ada.delete(&path).await.expect(200),
        json!({"success": true, "deletedSubmissions": 1})
    );
    ada.get(&path).await.refused(404, "NOT_FOUND");
    ada.delete(&path).await.refused(404, "NOT_FOUND");
    let left = ada.get(&format!("/groups/{rivers}")).await.expect(200);
    assert_eq!(left["groupAssignments"].as_array().unwrap().len(), 1);
    assert_eq!(left["groupAssignments"][0]["assignmentId"], other["id"]);
});
