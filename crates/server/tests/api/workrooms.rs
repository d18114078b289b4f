use serde_json::json;

use crate::groups::{create_group, ids};
use test_support::World;

tenants!(work_room_shows_only_its_own_group, |app| {
    let World {
        ada,
        ben,
        dana,
        seven_b,
        adam,
        ..
    } = &app.world;
    let group = create_group(app, json!({"memberIds": [ben.id]})).await;
    let other = create_group(app, json!({"memberIds": [dana.id]})).await;
    let room = group["workRoomId"].as_str().unwrap();
    let seen = app.as_(ben).get(&format!("/workrooms/{room}")).await.expect(200);
    assert_eq!((&seen["groupId"], &seen["unreadCount"]), (&group["id"], &json!(0)));
    assert_eq!(seen["teacher"]["id"], ada.id);
    assert_eq!((&seen["documents"], &seen["lastMessage"]), (&json!([]), &json!(null)));
    assert_eq!(
        seen["members"][0]["user"],
        json!({"id": ben.id, "name": ben.name, "image": null})
    );
    assert!(seen.get("documentCount").is_none());
    assert_eq!(ids(&app.as_(ben).get("/workrooms").await.expect(200)), [room]);
    let all = app.as_(adam).get("/workrooms").await.expect(200);
    assert_eq!(ids(&all), [room, other["workRoomId"].as_str().unwrap()]);
    assert_eq!(all[0]["group"]["groupNumber"], 1);
    assert_eq!(seven_b.id, group["classId"].as_str().unwrap());
});
