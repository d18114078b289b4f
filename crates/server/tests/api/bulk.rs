//! Bulk edits change what all groups of a topic share, and nothing else.

use serde_json::{Value, json};

use test_support::rows::texts;
use test_support::tables::fingerprints;
use test_support::topics::{LATER, group, id, link, mark_submitted, topic};

both!(bulk_edit_changes_topic_and_keeps_groups_and_overrides, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem, &app.world.dana], json!({})).await;
    let made = topic(
        &ada,
        class,
        json!({"isShared": false, "groups": [{"groupId": rivers, "descriptionOverride": "R"}], "groupIds": [lakes]}),
    )
    .await;
    let path = format!("/assignments/{}", id(&made));
    let links =
        "SELECT id || status || COALESCE(description_override, '-') || updated_at FROM group_assignments ORDER BY id";
    let members = "SELECT id || group_id || user_id FROM group_members ORDER BY id";
    let groups = "SELECT id || name || updated_at FROM groups ORDER BY id";
    let read = async || {
        let mut all = Vec::new();
        for query in [links, members, groups] {
            all.push(texts(&app.database, query.to_owned()).await);
        }
        all
    };
    let before = read().await;
    let edit = json!({"title": "New", "description": "All draw.", "deadline": "2098-05-05T00:00:00Z"});
    let preview = ada
        .patch(&format!("{path}/bulk?dryRun=1"), edit.clone())
        .await
        .expect(200);
    let done = ada.patch(&format!("{path}/bulk"), edit).await.expect(200);
    let mut affected = vec![rivers.clone(), lakes.clone()];
    affected.sort();
    let mut named: Vec<String> = serde_json::from_value(done["affectedGroupIds"].clone()).unwrap();
    named.sort();
    assert_eq!(named, affected);
    assert_eq!(preview["affectedGroupIds"], done["affectedGroupIds"]);
    assert_eq!(
        done["updated"],
        json!({"title": "New", "description": "All draw.", "deadline": "2098-05-05T00:00:00.000Z"})
    );
    assert_eq!(
        (&done["assignment"]["title"], &done["assignment"]["deadline"]),
        (&json!("New"), &json!("2098-05-05T00:00:00.000Z"))
    );
    assert_eq!(link(&done["assignment"], &rivers)["effectiveDescription"], "R");
    assert_eq!(link(&done["assignment"], &lakes)["effectiveDescription"], "All draw.");
    assert_eq!(done["assignment"], ada.get(&path).await.expect(200));
    assert_eq!(read().await, before, "members, own texts and groups are as they were");
});

both!(bulk_dry_run_previews_changes_and_writes_nothing, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let hidden = group(&ada, class, &[&app.world.cem], json!({"startDate": LATER})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers, hidden]})).await;
    mark_submitted(app, link(&made, &rivers), &app.world.ben, 1_600_000_000_000).await;
    let path = format!("/assignments/{}/bulk?dryRun=1", id(&made));
    let before = fingerprints(&app.database).await;
    let edit =
        json!({"title": "New", "description": "Draw one.", "deadline": "2020-01-01T00:00:00Z", "startDate": null});
    let preview = ada.patch(&path, edit.clone()).await.expect(200);
    assert_eq!((&preview["dryRun"], &preview["count"]), (&json!(true), &json!(2)));
    let starts = json!({"from": {rivers.clone(): null, hidden.clone(): LATER}, "to": null});
    let changes = json!({
        "title": {"from": "Cells", "to": "New"},
        "deadline": {"from": LATER, "to": "2020-01-01T00:00:00.000Z"},
        "startDate": starts,
    });
    assert_eq!(preview["changes"], changes, "what stays as it is is no change");
    let judged = ada.patch(&format!("{path}&recomputeLate=1"), edit).await.expect(200);
    assert_eq!(
        judged["changes"]["lateness"]["to"][0]["lateBySeconds"],
        1_600_000_000 - 1_577_836_800
    );
    assert_eq!(ada.patch(&path, json!({})).await.expect(200)["changes"], json!({}));
    ada.patch(&path, json!({"title": " "})).await.invalid("title");
    ada.patch(&path, json!({"addAttachmentIds": ["none"]}))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(fingerprints(&app.database).await, before);
    ada.patch(path.trim_end_matches("?dryRun=1"), json!({"title": "New"}))
        .await
        .expect(200);
    assert_ne!(
        fingerprints(&app.database).await,
        before,
        "the fingerprints see what is written"
    );
});

both!(bulk_edit_rejects_fields_that_are_not_shared, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let path = format!("/assignments/{}/bulk", id(&made));
    let before = fingerprints(&app.database).await;
    let keys = [
        "descriptionOverride",
        "groups",
        "groupIds",
        "memberIds",
        "isShared",
        "courseId",
        "latePolicy",
        "maxPoints",
        "requiredSubmissions",
        "status",
        "classId",
        "lateAllowedUntil",
    ];
    for key in keys {
        let mut edit = json!({"title": "New"});
        edit[key] = json!("x");
        ada.patch(&path, edit.clone()).await.invalid(key);
        ada.patch(&format!("{path}?dryRun=1"), edit).await.invalid(key);
    }
    for key in ["title", "description", "deadline"] {
        ada.patch(&path, json!({key: null})).await.invalid(key);
    }
    ada.patch(&format!("{path}?dryRun=maybe"), json!({"title": "New"}))
        .await
        .invalid("dryRun");
    ada.patch("/assignments/none/bulk", json!({"title": "New"}))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(fingerprints(&app.database).await, before);
    assert_eq!(
        ada.patch(&path, json!({})).await.expect(200)["updated"],
        json!({}),
        "an empty request changes nothing"
    );
    assert_eq!(fingerprints(&app.database).await, before);
});

tenants!(bulk_start_date_applies_to_every_group_of_topic, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(
        &ada,
        class,
        &[&app.world.cem],
        json!({"startDate": "2020-01-01T00:00:00Z"}),
    )
    .await;
    let apart = group(&ada, class, &[&app.world.dana], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers, lakes]})).await;
    topic(&ada, class, json!({"title": "Other", "groupIds": [apart]})).await;
    let path = format!("/assignments/{}", id(&made));
    let ben = app.as_(&app.world.ben);
    ben.get(&path).await.expect(200);
    let done = ada
        .patch(&format!("{path}/bulk"), json!({"startDate": LATER}))
        .await
        .expect(200);
    assert_eq!(done["updated"], json!({"startDate": LATER}));
    ben.get(&path).await.refused(404, "NOT_FOUND");
    ben.get(&format!("/groups/{rivers}")).await.refused(404, "NOT_FOUND");
    let start = async |group: &str| ada.get(&format!("/groups/{group}")).await.expect(200)["startDate"].clone();
    assert_eq!(
        [start(&rivers).await, start(&lakes).await, start(&apart).await],
        [json!(LATER), json!(LATER), Value::Null]
    );
    let back = ada
        .patch(&format!("{path}/bulk"), json!({"startDate": null}))
        .await
        .expect(200);
    assert_eq!(back["updated"], json!({"startDate": null}));
    ben.get(&path).await.expect(200);
});

both!(lateness_is_recomputed_only_on_request, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers, lakes]})).await;
    let path = format!("/assignments/{}", id(&made));
    // Both groups submit on 13 September 2020; the deadline of Lakes is the end of that year.
    for (group, person) in [(&rivers, &app.world.ben), (&lakes, &app.world.cem)] {
        mark_submitted(app, link(&made, group), person, 1_600_000_000_000).await;
    }
    ada.patch(
        &format!("{path}/groups/{lakes}"),
        json!({"lateAllowedUntil": "2020-12-31T00:00:00Z"}),
    )
    .await
    .expect(200);
    let late = |topic: &Value| {
        (
            topic["stats"]["late"].clone(),
            link(topic, &rivers)["currentSubmission"]["isLate"].clone(),
        )
    };

    let done = ada
        .patch(&format!("{path}/bulk"), json!({"deadline": "2020-09-13T12:26:30Z"}))
        .await
        .expect(200);
    assert_eq!(
        late(&done["assignment"]),
        (json!(0), json!(false)),
        "history does not change by itself"
    );
    let done = ada
        .patch(&format!("{path}/bulk?recomputeLate=1"), json!({}))
        .await
        .expect(200);
    assert_eq!(late(&done["assignment"]), (json!(1), json!(true)));
    assert_eq!(
        link(&done["assignment"], &rivers)["currentSubmission"]["lateBySeconds"],
        10
    );
    assert_eq!(
        link(&done["assignment"], &lakes)["currentSubmission"]["isLate"],
        false,
        "its own time counts"
    );
    let done = ada
        .patch(&format!("{path}/bulk?recomputeLate=1"), json!({"deadline": LATER}))
        .await
        .expect(200);
    assert_eq!(late(&done["assignment"]), (json!(0), json!(false)));
    let before = fingerprints(&app.database).await;
    ada.patch(&format!("{path}/bulk?recomputeLate=1"), json!({}))
        .await
        .expect(200);
    assert_eq!(fingerprints(&app.database).await, before);
});
