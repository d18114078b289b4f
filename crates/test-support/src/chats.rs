//! Chat helpers, so that a test contains only what it verifies.

use serde_json::{Value, json};

use super::{Answer, Client};

/// Returns the path of the messages of a room.
pub fn messages(room: &str) -> String {
    format!("/workrooms/{room}/messages")
}

/// Sends a text message and returns it.
pub async fn post_message(client: &Client, room: &str, content: &str) -> Value {
    write(client, room, json!({"content": content})).await.expect(201)
}

/// Sends a message with an arbitrary body.
pub async fn write(client: &Client, room: &str, message: Value) -> Answer {
    client.post(&messages(room), message).await
}

/// Uploads a file and returns its metadata.
pub async fn upload_chat_file(client: &Client, room: &str, name: &str) -> Value {
    let path = format!("{}/attachments", messages(room));
    let bytes = format!("bytes of {name}").into_bytes();
    client.upload(&path, name, bytes, &[]).await.expect(201)
}

/// Returns the unread count of a room from the user's list of rooms.
pub async fn unread(client: &Client, room: &str) -> i64 {
    let rooms = client.get("/workrooms").await.expect(200);
    let found = rooms.as_array().unwrap().iter().find(|found| found["id"] == room);
    let unread = found.unwrap()["unreadCount"].as_i64().unwrap();
    let shown = client.get(&format!("/workrooms/{room}")).await.expect(200);
    assert_eq!(shown["unreadCount"], unread, "the room and the list agree");
    let group = client
        .get(&format!("/groups/{}", shown["groupId"].as_str().unwrap()))
        .await
        .expect(200);
    assert_eq!(group["unreadMessages"], unread, "the group agrees, too");
    unread
}

/// Returns one field of each message of a page.
pub fn each<'p>(page: &'p Value, field: &str) -> Vec<&'p Value> {
    page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message[field])
        .collect()
}
