//! Adding and removing group members.

use serde_json::json;

use crate::groups::{create_group, id, members, sorted, topic};
use test_support::World;

tenants!(only_students_of_class_can_join_its_groups, |app| {
    let World {
        seven_b,
        ada,
        ben,
        finn,
        tom,
        zack,
        ..
    } = &app.world;
    let ada = app.as_(ada);
    let with = |user: &str| json!({"classId": seven_b.id, "memberIds": [user]});
    let refused = ada
        .post("/groups", with(&finn.id))
        .await
        .refused(409, "STUDENT_NOT_ENROLLED");
    assert!(refused["details"][0]["message"].as_str().unwrap().contains(&finn.id));
    ada.post("/groups", with(&tom.id))
        .await
        .refused(409, "STUDENT_NOT_ENROLLED");
    ada.post("/groups", with(&zack.id)).await.refused(404, "NOT_FOUND");
    ada.post("/groups", with("nobody")).await.refused(404, "NOT_FOUND");
    ada.post("/groups", json!({"classId": seven_b.id, "memberIds": [ben.id, ben.id]}))
        .await
        .invalid("studentIds");
    assert_eq!(
        ada.get("/groups").await.expect(200),
        json!([]),
        "nothing is left of what was refused"
    );
});

tenants!(members_are_added_removed_and_moved, |app| {
    let World {
        ada,
        ben,
        cem,
        dana,
        tom,
        eight_a,
        ..
    } = &app.world;
    let (client, topic) = (app.as_(ada), topic(app, json!({})).await);
    let first = create_group(app, json!({"memberIds": [ben.id], "assignmentId": topic["id"]})).await;
    let second = create_group(app, json!({"memberIds": [cem.id], "assignmentId": topic["id"]})).await;
    let path = format!("/groups/{}/members", id(&first));
    let joined = client
        .post(&path, json!({"userIds": [ben.id, cem.id, dana.id]}))
        .await
        .expect(200);
    assert_eq!(members(&joined), sorted([&ben.id, &cem.id, &dana.id]));
    assert_eq!(joined["alreadyInTopic"], json!([cem.id]));
    client
        .post(&path, json!({"studentIds": []}))
        .await
        .invalid("studentIds");

    let left = client.delete(&format!("{path}/{}", cem.id)).await.expect(200);
    assert_eq!(members(&left), sorted([&ben.id, &dana.id]));
    client
        .delete(&format!("{path}/{}", cem.id))
        .await
        .refused(404, "NOT_FOUND");

    let way = format!("{path}/{}/move", dana.id);
    let try_out = json!({"toGroupId": second["id"], "dryRun": true});
    client.post(&way, try_out).await.expect(200);
    assert_eq!(
        members(&client.get(&format!("/groups/{}", id(&second))).await.expect(200)),
        [cem.id.as_str()]
    );
    let moved = client.post(&way, json!({"toGroupId": second["id"]})).await.expect(200);
    assert_eq!(members(&moved["from"]), [ben.id.as_str()]);
    assert_eq!(members(&moved["to"]), sorted([&cem.id, &dana.id]));
    assert_eq!(moved["keptSubmissions"], json!([]));
    client
        .post(&way, json!({"toGroupId": second["id"]}))
        .await
        .refused(404, "NOT_FOUND");

    let elsewhere = app
        .as_(tom)
        .post("/groups", json!({"classId": eight_a.id}))
        .await
        .expect(201);
    let away = format!("{path}/{}/move", ben.id);
    client
        .post(&away, json!({"toGroupId": elsewhere["id"]}))
        .await
        .refused(409, "CLASS_MISMATCH");
    client
        .post(&away, json!({"toGroupId": "unknown"}))
        .await
        .refused(404, "NOT_FOUND");
    client
        .post(&away, json!({"toGroupId": first["id"]}))
        .await
        .invalid("toGroupId");
});
