//! Comments on documents in the built-in editor: passages that follow the text, threads, and who may write them.

use serde_json::{Value, json};

use super::document_editor::{OpenedDocument, blank};
use super::documents::{path, room};
use test_support::rows::execute;
use test_support::samples::commit;
use test_support::topics::topic;
use test_support::{Answer, Client, GroupRoom, SocketListener, TestApp, TestUser, clients_are_installed, until};

/// Comments on a passage.
async fn comment(client: &Client, document: &str, passage: Value, text: &str) -> Answer {
    let body = json!({"passage": passage, "text": text});
    client.post(&format!("{document}/comments"), body).await
}

async fn list(client: &Client, document: &str) -> Value {
    client.get(&format!("{document}/comments")).await.expect(200)
}

fn passage(generation: i64, version: i64, from: i64, to: i64) -> Value {
    json!({"generation": generation, "version": version, "from": from, "to": to})
}

/// Returns the text at the anchor of the first thread, in the document as it is now.
async fn text_at_anchor(client: &Client, document: &str) -> Option<String> {
    let listed = list(client, document).await;
    let anchor = &listed["threads"][0]["anchor"];
    if anchor.is_null() {
        return None;
    }
    let content = client.get(&format!("{document}/content")).await.expect(200);
    assert_eq!(
        (&listed["generation"], &listed["version"], &anchor["version"]),
        (&content["generation"], &content["version"], &content["version"])
    );
    let node = rich_text::Node::document_from_json(&content["doc"]).unwrap();
    let position = |name: &str| usize::try_from(anchor[name].as_i64().unwrap()).unwrap();
    let passage = rich_text::Passage {
        from: position("from"),
        to: position("to"),
    };
    Some(passage.text_in(&node).unwrap())
}

fn replace(from: i64, to: i64, text: &str) -> Value {
    let mut step = json!({"stepType": "replace", "from": from, "to": to});
    if !text.is_empty() {
        step["slice"] = json!({"content": [{"type": "text", "text": text}]});
    }
    step
}

async fn change(client: &Client, document: &str, reference: &str, version: i64, step: Value) {
    let mut body = commit(1, reference, version, "a");
    body["steps"] = json!([step]);
    client.post(&format!("{document}/commits"), body).await.expect(200);
}

async fn submit(app: &TestApp, room: &GroupRoom, document: &str) {
    let (ada, ben) = (app.as_(&app.world.ada), app.as_(&app.world.ben));
    let topic = topic(&ada, &app.world.seven_b, json!({"groupIds": [room.group]})).await;
    let body = json!({"assignmentId": topic["id"]});
    ben.post(&format!("{document}/submit"), body).await.expect(200);
    until("the document is written", async || {
        ben.get(document).await.expect(200)["contentPending"] != true
    })
    .await;
}

both!(group_and_staff_discuss_a_passage, |app| {
    let document = blank(app, &room(app).await).await;
    let (ada, ben, cem) = (
        app.as_(&app.world.ada),
        app.as_(&app.world.ben),
        app.as_(&app.world.cem),
    );
    let mut page = OpenedDocument::open(app, &app.world.ben, &document).await;
    page.insert("The river flows").await.expect(200);
    let thread = comment(&cem, &document, passage(1, 1, 5, 10), "Which river?")
        .await
        .expect(201);
    assert_eq!(thread["quote"], "river");
    assert_eq!(thread["anchor"], passage(1, 1, 5, 10));
    assert_eq!(thread["comments"][0]["author"]["id"], json!(app.world.cem.id));
    let at = format!("{document}/comments/{}", thread["id"].as_str().unwrap());
    let replied = ben
        .post(&format!("{at}/replies"), json!({"text": "The Spree."}))
        .await
        .expect(201);
    let reply = replied["comments"][1]["id"].as_str().unwrap().to_owned();
    let own = format!("{at}/replies/{reply}");
    let edited = ben.patch(&own, json!({"text": "The Havel."})).await.expect(200);
    assert!(edited["editedAt"].is_string());
    cem.patch(&own, json!({"text": "No"})).await.refused(403, "NOT_AUTHOR");
    cem.delete(&own).await.refused(403, "NOT_AUTHOR");
    ada.patch(&own, json!({"text": "No"})).await.refused(403, "NOT_AUTHOR");
    let resolved = ada.patch(&at, json!({"isResolved": true})).await.expect(200);
    assert_eq!(resolved["resolvedBy"]["id"], json!(app.world.ada.id));
    let listed = list(&cem, &document).await;
    assert_eq!(listed["canComment"], true);
    assert_eq!(listed["threads"][0]["isResolved"], true);
    assert_eq!(listed["threads"][0]["comments"][1]["text"], "The Havel.");
    let reopened = ben.patch(&at, json!({"isResolved": false})).await.expect(200);
    assert_eq!(
        (&reopened["isResolved"], &reopened["resolvedAt"]),
        (&json!(false), &Value::Null)
    );
    // Staff delete every comment, the last one with its thread.
    ada.delete(&own).await.expect(200);
    let first = thread["comments"][0]["id"].as_str().unwrap();
    cem.delete(&format!("{at}/replies/{first}")).await.expect(200);
    assert_eq!(list(&ben, &document).await["threads"], json!([]));
    ben.post(&format!("{at}/replies"), json!({"text": "Too late"}))
        .await
        .refused(404, "NOT_FOUND");
    let log = ada.get("/activity-logs?limit=50").await.expect(200);
    let comments = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|record| record["details"]["comment"].as_str());
    let comments: Vec<&str> = comments.collect();
    assert_eq!(
        comments,
        [
            "DELETED", "DELETED", "REOPENED", "RESOLVED", "EDITED", "CREATED", "CREATED"
        ]
    );
});

both!(passage_follows_concurrent_commits, |app| {
    let document = blank(app, &room(app).await).await;
    let (ben, cem) = (app.as_(&app.world.ben), app.as_(&app.world.cem));
    let mut page = OpenedDocument::open(app, &app.world.ben, &document).await;
    page.insert("The river flows").await.expect(200);
    // Cem has not seen this commit when commenting.
    change(&ben, &document, "before", 1, replace(1, 1, "Look: ")).await;
    let thread = comment(&cem, &document, passage(1, 1, 5, 10), "Which?")
        .await
        .expect(201);
    assert_eq!(
        (&thread["quote"], &thread["anchor"]["version"]),
        (&json!("river"), &json!(2))
    );
    assert_eq!(text_at_anchor(&cem, &document).await.unwrap(), "river");
    // Inside of the passage, at its edges, and based on an old version.
    change(&ben, &document, "inside", 2, replace(13, 13, "xx")).await;
    change(&cem, &document, "edges", 1, replace(5, 5, "wide ")).await;
    assert_eq!(text_at_anchor(&cem, &document).await.unwrap(), "rixxver");
    // So many commits that a snapshot moves the stored passage.
    let mut page = OpenedDocument::open(app, &app.world.cem, &document).await;
    for _ in 0..110 {
        page.version = page.insert("y").await.expect(200)["version"].as_i64().unwrap();
    }
    assert_eq!(text_at_anchor(&ben, &document).await.unwrap(), "rixxver");
    let stored = "SELECT CAST(version AS TEXT) FROM comment_threads".to_owned();
    assert_eq!(
        test_support::rows::texts(&app.database, stored).await,
        [Some("100".to_owned())]
    );
    let anchor = list(&ben, &document).await["threads"][0]["anchor"].clone();
    let (from, to) = (anchor["from"].as_i64().unwrap(), anchor["to"].as_i64().unwrap());
    change(&ben, &document, "delete", page.version, replace(from, to, "")).await;
    let listed = list(&ben, &document).await;
    assert_eq!(listed["threads"][0]["anchor"], Value::Null);
    assert_eq!(listed["threads"][0]["quote"], "river", "on deleted text");
    let late = comment(&cem, &document, passage(1, page.version, from, to), "Gone?").await;
    late.invalid("passage");
});

both!(passage_is_found_again_after_submission_and_return, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let (ada, ben) = (app.as_(&app.world.ada), app.as_(&app.world.ben));
    let mut page = OpenedDocument::open(app, &app.world.ben, &document).await;
    page.insert("A river and a river").await.expect(200);
    comment(&ben, &document, passage(1, 1, 15, 20), "Which?")
        .await
        .expect(201);
    change(&ben, &document, "more", 1, replace(1, 1, "First: ")).await;
    // The passage is changed after the comment: it is found by its present text.
    change(&ben, &document, "inside", 2, replace(24, 24, "let")).await;
    assert_eq!(text_at_anchor(&ben, &document).await.unwrap(), "riletver");
    submit(app, &room, &document).await;
    assert_eq!(text_at_anchor(&ada, &document).await.unwrap(), "riletver");
    let listed = list(&ada, &document).await;
    assert_eq!(
        (&listed["version"], &listed["threads"][0]["quote"]),
        (&json!(0), &json!("riletver"))
    );
    // Students read, staff comment on the submitted text.
    let generation = listed["generation"].as_i64().unwrap();
    assert_eq!(list(&ben, &document).await["canComment"], false);
    let refused = comment(&ben, &document, passage(generation, 0, 1, 6), "Wait").await;
    refused.refused(409, "ALREADY_SUBMITTED");
    let noted = comment(&ada, &document, passage(generation, 0, 1, 6), "Good start")
        .await
        .expect(201);
    assert_eq!(noted["quote"], "First");
    comment(&ada, &document, passage(1, 1, 1, 6), "Old")
        .await
        .invalid("passage.generation");
    ben.post(&format!("{document}/unsubmit"), json!({})).await.expect(200);
    OpenedDocument::open(app, &app.world.ben, &document).await;
    assert_eq!(text_at_anchor(&ben, &document).await.unwrap(), "riletver");
    let listed = list(&ben, &document).await;
    assert_eq!(
        (&listed["canComment"], listed["threads"].as_array().unwrap().len()),
        (&json!(true), 2)
    );
    assert_eq!(listed["threads"][1]["anchor"]["generation"], listed["generation"]);
});

both!(invalid_comments_are_rejected_by_field, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let ben = app.as_(&app.world.ben);
    let mut page = OpenedDocument::open(app, &app.world.ben, &document).await;
    page.insert("river").await.expect(200);
    for (field, passage) in [
        ("passage.generation", passage(9, 1, 1, 3)),
        ("passage.version", passage(1, 9, 1, 3)),
        ("passage.to", passage(1, 1, 3, 3)),
        ("passage", passage(1, 1, 1, 99)),
        ("passage", passage(1, 1, 0, 1)),
        ("passage.from", passage(1, 1, -1, 1)),
    ] {
        comment(&ben, &document, passage, "Why?").await.invalid(field);
    }
    comment(&ben, &document, Value::Null, " ").await.invalid("text");
    comment(&ben, &document, Value::Null, &"x".repeat(2001))
        .await
        .invalid("text");
    let whole = comment(&ben, &document, Value::Null, "All in all").await.expect(201);
    assert_eq!((&whole["anchor"], &whole["quote"]), (&Value::Null, &Value::Null));
    let at = format!("{document}/comments/{}/replies", whole["id"].as_str().unwrap());
    for _ in 1..50 {
        ben.post(&at, json!({"text": "More"})).await.expect(201);
    }
    ben.post(&at, json!({"text": "Too much"}))
        .await
        .refused(409, "LIMIT_REACHED");
    let cells = json!({"title": "Cells", "documentType": "cell"});
    let cells = ben
        .post(&format!("/workrooms/{}/documents", room.id), cells)
        .await
        .expect(201);
    let refused = comment(&ben, &path(&cells), Value::Null, "Why?").await;
    refused.refused(409, "EDITOR_NOT_AVAILABLE");
});

both!(comments_are_deleted_with_their_document_and_hidden_from_others, |app| {
    let document = blank(app, &room(app).await).await;
    let ben = app.as_(&app.world.ben);
    OpenedDocument::open(app, &app.world.ben, &document).await;
    let thread = comment(&ben, &document, Value::Null, "Why?").await.expect(201);
    let other = blank(app, &room(app).await).await;
    let elsewhere = format!("{other}/comments/{}", thread["id"].as_str().unwrap());
    ben.patch(&elsewhere, json!({"isResolved": true}))
        .await
        .refused(404, "NOT_FOUND");
    for person in [&app.world.dana, &app.world.tom, &app.world.zoe] {
        let client = app.as_(person);
        client
            .get(&format!("{document}/comments"))
            .await
            .refused(404, "NOT_FOUND");
        comment(&client, &document, Value::Null, "Me, too")
            .await
            .refused(404, "NOT_FOUND");
    }
    ben.delete(&document).await.expect(200);
    for table in ["comment_threads", "document_comments"] {
        let rows = test_support::rows::texts(&app.database, format!("SELECT id FROM {table}")).await;
        assert!(rows.is_empty(), "{table}");
    }
});

both!(comment_event_reaches_the_group_and_staff_only, |app| {
    if !clients_are_installed() {
        return;
    }
    let document = blank(app, &room(app).await).await;
    let ben = app.as_(&app.world.ben);
    let mut cem = SocketListener::connect(app, &app.world.cem).await;
    let mut ada = SocketListener::connect(app, &app.world.ada).await;
    let mut dana = SocketListener::connect(app, &app.world.dana).await;
    let thread = comment(&ben, &document, Value::Null, "Why?").await.expect(201);
    for socket in [&mut cem, &mut ada] {
        let event = socket.expect("document:comments").await;
        assert_eq!(event["threadId"], thread["id"]);
        assert!(document.ends_with(event["documentId"].as_str().unwrap()));
        assert!(!event.to_string().contains("Why?"));
    }
    assert!(dana.all("document:comments").is_empty());
});

/// Returns the ids of people in a list of comments.
fn ids(listed: &Value, field: &str) -> Vec<String> {
    let people = listed[field].as_array().unwrap().iter();
    let mut ids: Vec<String> = people.map(|person| person["id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

fn sorted<const N: usize>(people: [&TestUser; N]) -> Vec<String> {
    let mut ids = people.map(|person| person.id.clone()).to_vec();
    ids.sort_unstable();
    ids
}

/// Returns a refusal without what differs between two requests.
fn refusal(answer: Answer) -> Value {
    let mut refused = answer.refused(400, "VALIDATION_ERROR");
    let fields = refused.as_object_mut().unwrap();
    fields.remove("requestId");
    fields.remove("timestamp");
    refused
}

both!(comment_mentions_only_users_who_can_view_the_document, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    OpenedDocument::open(app, &world.ben, &document).await;
    let listed = list(&ben, &document).await;
    assert_eq!(
        ids(&listed, "mentionable"),
        sorted([&world.ada, &world.ben, &world.cem])
    );
    assert_eq!(listed["mentioned"], json!([]));
    let text = format!("Look, @[{}] and @[{}]!", world.cem.id, world.ada.id);
    let thread = comment(&ben, &document, Value::Null, &text).await.expect(201);
    let listed = list(&ada, &document).await;
    assert_eq!(listed["threads"][0]["comments"][0]["text"], text);
    assert_eq!(ids(&listed, "mentioned"), sorted([&world.ada, &world.cem]));
    // Users of another group, of another class and of another school, and an unknown id: all the same.
    let at = format!("{document}/comments/{}/replies", thread["id"].as_str().unwrap());
    let own = format!("{at}/{}", thread["comments"][0]["id"].as_str().unwrap());
    let others = [
        world.dana.id.as_str(),
        world.tom.id.as_str(),
        world.zoe.id.as_str(),
        world.adam.id.as_str(),
        world.north.as_str(),
        "nobody",
    ];
    let mut refusals = Vec::new();
    for id in others {
        let text = format!("@[{}] and @[{id}]", world.cem.id);
        refusals.push(refusal(comment(&ben, &document, Value::Null, &text).await));
        refusals.push(refusal(ben.post(&at, json!({"text": text})).await));
        refusals.push(refusal(ben.patch(&own, json!({"text": text})).await));
    }
    assert_eq!(refusals[0]["details"][0]["path"], "text", "{}", refusals[0]);
    assert!(refusals.windows(2).all(|pair| pair[0] == pair[1]), "{refusals:?}");
    let many = (0..21)
        .map(|number| format!("@[user-{number}]"))
        .collect::<Vec<_>>()
        .join(" ");
    comment(&ben, &document, Value::Null, &many).await.invalid("text");
    assert_eq!(list(&ben, &document).await["threads"].as_array().unwrap().len(), 1);
    // Members cannot view a group that has not started; their names stay known.
    app.set_group_start(&room, 99_999_999_999_999).await;
    let hidden = comment(&ada, &document, Value::Null, &format!("@[{}]", world.cem.id)).await;
    hidden.invalid("text");
    let listed = list(&ada, &document).await;
    assert_eq!(ids(&listed, "mentionable"), sorted([&world.ada]));
    assert_eq!(ids(&listed, "mentioned"), sorted([&world.ada, &world.cem]));
    app.set_group_start(&room, 0).await;
    // Deactivated and banned members cannot view it either.
    for (column, table, key, value) in [
        ("is_active", "users", "id", "FALSE"),
        ("is_active", "members", "user_id", "FALSE"),
        ("banned", "users", "id", "TRUE"),
    ] {
        let set = |value: &str| format!("UPDATE {table} SET {column} = {value} WHERE {key} = '{}'", world.cem.id);
        execute(&app.database, set(value)).await;
        let listed = list(&ben, &document).await;
        assert_eq!(
            ids(&listed, "mentionable"),
            sorted([&world.ada, &world.ben]),
            "{table}.{column}"
        );
        let text = format!("@[{}]", world.cem.id);
        comment(&ben, &document, Value::Null, &text).await.invalid("text");
        execute(&app.database, set(if value == "TRUE" { "FALSE" } else { "TRUE" })).await;
    }
});

both!(mention_follows_the_name_and_survives_departure_and_erasure, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let (adam, ada, ben) = (app.as_(&world.adam), app.as_(&world.ada), app.as_(&world.ben));
    OpenedDocument::open(app, &world.ben, &document).await;
    let text = format!("Look, @[{}]!", world.cem.id);
    let thread = comment(&ben, &document, Value::Null, &text).await.expect(201);
    let own = format!(
        "{document}/comments/{}/replies/{}",
        thread["id"].as_str().unwrap(),
        thread["comments"][0]["id"].as_str().unwrap()
    );
    adam.patch(&format!("/users/{}", world.cem.id), json!({"name": "Cem Renamed"}))
        .await
        .expect(200);
    assert_eq!(list(&ben, &document).await["mentioned"][0]["name"], "Cem Renamed");
    ada.delete(&format!("/groups/{}/members/{}", room.group, world.cem.id))
        .await
        .expect(200);
    // Nothing else in the list shows the name of a former member.
    let listed = list(&ben, &document).await;
    assert_eq!(
        (&listed["mentioned"], ids(&listed, "mentionable")),
        (&json!([]), sorted([&world.ada, &world.ben]))
    );
    let edited = format!("{text} Please.");
    ben.patch(&own, json!({"text": edited})).await.expect(200);
    let refused = comment(&ben, &document, Value::Null, &text).await;
    refused.invalid("text");
    adam.post("/admin/gdpr/erase", json!({"userId": world.cem.id, "dryRun": false}))
        .await
        .expect(200);
    let listed = list(&ben, &document).await;
    assert_eq!(listed["threads"][0]["comments"][0]["text"], edited);
    assert!(!listed.to_string().contains("Cem Renamed"));
    // The id of a user of another school in an old text has no name.
    let forged = format!(
        "UPDATE document_comments SET text = '@[{}] @[{}]'",
        world.zoe.id, world.dana.id
    );
    execute(&app.database, forged).await;
    assert_eq!(list(&ben, &document).await["mentioned"], json!([]));
    let mut log = ada.get("/activity-logs?limit=50").await.expect(200);
    let records = log["data"].as_array_mut().unwrap().iter_mut();
    let comments: Vec<Value> = records
        .filter(|record| record["details"]["comment"].is_string())
        .map(|record| record["details"]["mentioned"].take())
        .collect();
    assert_eq!(
        comments,
        [Value::Null, json!([{"id": world.cem.id, "name": "Deleted person"}])]
    );
});

both!(event_of_a_comment_names_the_mentioned_users, |app| {
    if !clients_are_installed() {
        return;
    }
    let document = blank(app, &room(app).await).await;
    let world = &app.world;
    let ben = app.as_(&world.ben);
    let mut cem = SocketListener::connect(app, &world.cem).await;
    let mut ada = SocketListener::connect(app, &world.ada).await;
    let mut dana = SocketListener::connect(app, &world.dana).await;
    let text = format!("@[{}] and me, @[{}]", world.cem.id, world.ben.id);
    let thread = comment(&ben, &document, Value::Null, &text).await.expect(201);
    for socket in [&mut cem, &mut ada] {
        let event = socket.expect("document:comments").await;
        assert_eq!(event["mentionedUserIds"], json!([world.cem.id]));
        assert_eq!(event["actor"]["id"], json!(world.ben.id));
    }
    // An edit names only users whom the comment did not mention before.
    let own = format!(
        "{document}/comments/{}/replies/{}",
        thread["id"].as_str().unwrap(),
        thread["comments"][0]["id"].as_str().unwrap()
    );
    let edited = format!("{text}, @[{}]", world.ada.id);
    ben.patch(&own, json!({"text": edited})).await.expect(200);
    let event = ada.expect("document:comments").await;
    assert_eq!(event["mentionedUserIds"], json!([world.ada.id]));
    ben.delete(&own).await.expect(200);
    let event = ada.expect("document:comments").await;
    assert!(event.get("mentionedUserIds").is_none(), "{event}");
    assert!(dana.all("document:comments").is_empty());
});
