//! Actions that leave no record in the activity log, but emit an event to the users who can see them.

use serde_json::{Value, json};

use super::{Scenario, id};

pub(super) async fn act_in_work_room(scenario: &mut Scenario<'_>, class: &str, group: &str) {
    let world = &scenario.app.world;
    let (ada, ben) = (&world.ada, &world.ben);
    let shown = scenario.app.as_(ben).get(&format!("/groups/{group}")).await.expect(200);
    let room = shown["workRoomId"].as_str().unwrap().to_owned();
    let (route, body) = ("POST /workrooms/{id}/messages", json!({"content": "Hello"}));
    let message = id(&scenario.call_unrecorded(ben, route, &[&room], body).await);
    let (route, ids) = (
        "PATCH /workrooms/{id}/messages/{messageId}",
        [room.as_str(), message.as_str()],
    );
    let body = json!({"content": "Hello all"});
    scenario.call_unrecorded(ben, route, &ids, body).await;
    let route = "POST /workrooms/{id}/read";
    scenario.call_unrecorded(ada, route, &[&room], json!({})).await;
    let route = "DELETE /workrooms/{id}/messages/{messageId}";
    scenario.call_unrecorded(ben, route, &ids, Value::Null).await;
    let (route, body) = (
        "POST /workrooms/{id}/documents",
        json!({"title": "Notes", "documentType": "word"}),
    );
    let document = id(&scenario.call(ben, route, &[&room], body, &["DOCUMENT_CREATE"]).await);
    let (route, body) = (
        "POST /workrooms/documents/{id}/comments",
        json!({"text": "Which source?"}),
    );
    scenario
        .call(ben, route, &[&document], body, &["DOCUMENT_UPDATE"])
        .await;
    let route = "POST /workrooms/documents/{id}/comments/read";
    scenario.call_unrecorded(ada, route, &[&document], json!({})).await;
    let body = json!({"recipientIds": [world.ben.id], "content": "See me."});
    scenario.call_unrecorded(ada, "POST /messages", &[], body).await;
    let body = json!({"classId": class, "content": "Tomorrow in the lab."});
    scenario.call_unrecorded(ada, "POST /messages", &[], body).await;
    let body = json!({"name": "Ada L."});
    scenario.call_unrecorded(ada, "PATCH /users/me", &[], body).await;
    let snippet = json!({"text": "Name your sources."});
    let snippet = id(&scenario.call_unrecorded(ada, "POST /snippets", &[], snippet).await);
    let (route, body) = ("PATCH /snippets/{id}", json!({"text": "Where is it from?"}));
    scenario.call_unrecorded(ada, route, &[&snippet], body).await;
    let route = "DELETE /snippets/{id}";
    scenario.call_unrecorded(ada, route, &[&snippet], Value::Null).await;
    let body = json!({"message": "Once more"});
    scenario
        .call(ben, "POST /groups/{id}/help", &[group], body, &["HELP_REQUESTED"])
        .await;
    let route = "POST /groups/{id}/help/claim";
    scenario.call_unrecorded(ada, route, &[group], json!({})).await;
}
