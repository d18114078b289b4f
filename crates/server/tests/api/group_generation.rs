//! Dividing students into groups: a preview, then the same division applied.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use test_support::row_counts::counts;
use test_support::topics::group;

fn members(groups: &Value) -> Vec<BTreeSet<String>> {
    let id = |member: &Value| {
        let person = member.get("user").unwrap_or(member);
        person["id"].as_str().unwrap().to_owned()
    };
    let of = |group: &Value| group["members"].as_array().unwrap().iter().map(id).collect();
    groups.as_array().unwrap().iter().map(of).collect()
}

both!(preview_writes_nothing_and_its_seed_creates_same_groups, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let class = &world.seven_b;
    let wish = json!({"classId": class.id, "courseId": class.course, "groupSize": 3, "strategy": "random"});
    let rows = || tokio::task::block_in_place(|| counts(&app.database));
    let before = rows();
    let preview = ada.post("/groups/generate?dryRun=1", wish.clone()).await.expect(200);
    assert_eq!(rows(), before);
    assert_eq!(
        (&preview["dryRun"], &preview["groups"][1]["name"]),
        (&json!(true), &json!("Group 2"))
    );
    let planned = members(&preview["groups"]);
    assert_eq!(planned.iter().map(BTreeSet::len).collect::<Vec<_>>(), [2, 2]);

    let mut same = wish.clone();
    same["seed"] = preview["seed"].clone();
    let made = ada.post("/groups/generate", same.clone()).await.expect(201);
    assert_eq!(members(&made), planned);
    assert_eq!(
        (&made[1]["groupNumber"], &made[0]["courseId"]),
        (&json!(2), &json!(class.course))
    );
    let room = made[0]["workRoomId"].as_str().unwrap();
    ada.get(&format!("/workrooms/{room}")).await.expect(200);
    // All students of the course have a group now.
    ada.post("/groups/generate", same).await.invalid("studentIds");
});

tenants!(constraints_are_satisfied_or_rejected_with_their_field, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let class = &world.seven_b;
    let [ben, cem, dana] = [&world.ben, &world.cem, &world.dana].map(|person| person.id.clone());
    let wish = |more: Value| {
        let mut wish = json!({"classId": class.id, "groupCount": 2, "strategy": "balanced"});
        wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        wish
    };
    let preview = "/groups/generate?dryRun=1";
    let held = json!({"keepTogether": [[ben, dana]], "keepApart": [[ben, cem]]});
    let groups = members(&ada.post(preview, wish(held)).await.expect(200)["groups"]);
    let with_ben = groups.iter().find(|group| group.contains(&ben)).unwrap();
    assert_eq!(*with_ben, BTreeSet::from([ben.clone(), dana.clone()]));

    let contradicting = json!({"keepTogether": [[ben, dana]], "keepApart": [[ben, dana]]});
    ada.post(preview, wish(contradicting)).await.invalid("keepApart");
    ada.post(preview, wish(json!({"keepApart": [[ben, cem, dana]]})))
        .await
        .invalid("keepApart");
    ada.post(preview, wish(json!({"groupSize": 2})))
        .await
        .invalid("groupCount");
    ada.post(preview, wish(json!({"groupCount": null})))
        .await
        .invalid("groupSize");
    ada.post(preview, wish(json!({"groupCount": 5})))
        .await
        .invalid("groupCount");
    ada.post(preview, wish(json!({"studentIds": [ben, ben]})))
        .await
        .invalid("studentIds");
    let strangers = wish(json!({"studentIds": [ben, world.finn.id]}));
    ada.post(preview, strangers).await.refused(409, "STUDENT_NOT_ENROLLED");
    let foreign = wish(json!({"studentIds": [ben, world.zack.id]}));
    ada.post(preview, foreign).await.refused(404, "NOT_FOUND");
    app.as_(&world.tom)
        .post(preview, wish(json!({})))
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&world.zoe)
        .post(preview, wish(json!({})))
        .await
        .refused(404, "NOT_FOUND");
    let archived = json!({"status": "ARCHIVED"});
    ada.patch(&format!("/classes/{}", class.id), archived).await.expect(200);
    ada.post(preview, wish(json!({}))).await.refused(409, "CLASS_ARCHIVED");
});

tenants!(balanced_generation_avoids_pairs_of_earlier_groups, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let class = &world.seven_b;
    for pair in [[&world.ben, &world.cem], [&world.dana, &world.eli]] {
        group(&ada, class, &pair, json!({})).await;
    }
    let everybody = [&world.ben, &world.cem, &world.dana, &world.eli].map(|person| person.id.clone());
    for seed in 0..8 {
        let wish = json!({"classId": class.id, "groupSize": 2, "strategy": "balanced", "seed": seed,
            "studentIds": everybody});
        let preview = ada.post("/groups/generate?dryRun=1", wish).await.expect(200);
        assert_eq!(preview["repeatedPairs"], 0, "{preview}");
    }
});
