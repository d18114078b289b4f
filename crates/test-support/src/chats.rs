//! A chat as its people use it, so that a test says only what it is about.

use serde_json::{Value, json};

use super::{Answer, Client};

/// The address of the messages of a room.
pub fn messages(room: &str) -> String {
    format!("/workrooms/{room}/messages")
}

/// Says something; answers the message.
pub async fn say(client: &Client, room: &str, content: &str) -> Value {
    write(client, room, json!({"content": content})).await.expect(201)
}

/// Sends a message of any shape.
pub async fn write(client: &Client, room: &str, message: Value) -> Answer {
    client.post(&messages(room), message).await
}

/// Brings a file; answers what is known of it.
pub async fn bring(client: &Client, room: &str, name: &str) -> Value {
    let path = format!("{}/attachments", messages(room));
    let bytes = format!("bytes of {name}").into_bytes();
    client.upload(&path, name, bytes, &[]).await.expect(201)
}

/// What is left to read for somebody in his list of rooms.
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

/// One field of each message of a page.
pub fn each<'p>(page: &'p Value, field: &str) -> Vec<&'p Value> {
    page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message[field])
        .collect()
}
