//! Groups and topics created through the API, so that a test contains only what it verifies.

use serde_json::{Value, json};

use super::rows::execute;
use super::world::TestClass;
use super::{Client, TestApp, TestUser};

/// A deadline in the distant future.
pub const LATER: &str = "2099-01-01T00:00:00.000Z";

/// Creates a group of a class and returns its id; it belongs to the course of the class unless `more` overrides it.
pub async fn group(client: &Client, class: &TestClass, members: &[&TestUser], more: Value) -> String {
    let members: Vec<&str> = members.iter().map(|person| person.id.as_str()).collect();
    let body = with(
        json!({"classId": class.id, "courseId": class.course, "memberIds": members}),
        more,
    );
    id(&client.post("/groups", body).await.expect(201))
}

/// Creates a topic of a class; it belongs to the course of the class unless `more` overrides it.
pub async fn topic(client: &Client, class: &TestClass, more: Value) -> Value {
    client.post("/assignments", new_topic(class, more)).await.expect(201)
}

/// Builds the request body of a topic of a class.
pub fn new_topic(class: &TestClass, more: Value) -> Value {
    with(
        json!({"title": "Cells", "description": "Draw one.", "deadline": LATER, "classId": class.id, "courseId": class.course}),
        more,
    )
}

/// Creates a further course of a class and returns its id.
pub async fn course(client: &Client, class: &TestClass, name: &str) -> String {
    let body = json!({"name": name, "classId": class.id, "subjectId": class.subject});
    id(&client.post("/courses", body).await.expect(201))
}

/// Returns the id of an object.
pub fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

/// Returns the ids of a list.
pub fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(id).collect()
}

/// Returns the topic assignment of a group.
pub fn link<'t>(topic: &'t Value, group: &str) -> &'t Value {
    topic["groupAssignments"]
        .as_array()
        .unwrap()
        .iter()
        .find(|link| link["groupId"] == group)
        .unwrap()
}

/// Marks a topic as finished without changing its documents.
pub async fn mark_finished(app: &TestApp, topic: &str) {
    let set = "UPDATE assignments SET status = 'FINISHED', finished_at = 1000";
    execute(&app.database, format!("{set} WHERE id = '{topic}'")).await;
}

/// Inserts a submission without documents at this moment and returns its id.
pub async fn mark_submitted(app: &TestApp, link: &Value, by: &TestUser, at_millis: i64) -> String {
    let (submission, link) = (common::clock::new_id(), id(link));
    let north = &app.world.north;
    let insert = "INSERT INTO submissions (organization_id, id, group_assignment_id, attempt, submitted_by_id, submitted_at, \
        member_ids, created_at)";
    let values = format!(
        "('{north}', '{submission}', '{link}', 1, '{}', {at_millis}, '[\"{}\"]', {at_millis})",
        by.id, by.id
    );
    execute(&app.database, format!("{insert} VALUES {values}")).await;
    let set = format!("UPDATE group_assignments SET status = 'SUBMITTED', current_submission_id = '{submission}'");
    execute(&app.database, format!("{set} WHERE id = '{link}'")).await;
    submission
}

fn with(mut body: Value, more: Value) -> Value {
    let (Value::Object(body_fields), Value::Object(more)) = (&mut body, more) else {
        panic!("both are objects")
    };
    body_fields.extend(more);
    body
}
