//! The built-in editor: content, commits, and what becomes of them.

use serde_json::{Value, json};

use super::documents::{id, path, room};
use test_support::rows::{execute, texts};
use test_support::samples::commit;
use test_support::{Answer, Client, GroupRoom, TestApp, TestUser, until};

/// A document that is open in the built-in editor, as one user sees it.
pub struct OpenedDocument {
    client: Client,
    document: String,
    pub generation: i64,
    pub version: i64,
    name: String,
    sent: u32,
}

impl OpenedDocument {
    /// Opens a document.
    pub async fn open(app: &TestApp, person: &TestUser, document: &str) -> Self {
        let client = app.as_(person);
        let content = client.get(&format!("{document}/content")).await.expect(200);
        Self {
            client,
            document: document.to_owned(),
            generation: content["generation"].as_i64().unwrap(),
            version: content["version"].as_i64().unwrap(),
            name: person.name.clone().replace(' ', "-"),
            sent: 0,
        }
    }

    /// Sends a commit that inserts text at the beginning, based on the version that the page knows.
    pub async fn insert(&mut self, text: &str) -> Answer {
        self.sent += 1;
        let reference = format!("{}-{}", self.name, self.sent);
        self.send(&commit(self.generation, &reference, self.version, text))
            .await
    }

    pub async fn send(&self, body: &Value) -> Answer {
        self.client
            .post(&format!("{}/commits", self.document), body.clone())
            .await
    }

    /// Returns the text of the document.
    pub async fn text(&self) -> String {
        let content = self.client.get(&format!("{}/content", self.document)).await;
        text(&content.expect(200)["doc"])
    }
}

/// Returns the text below a node of a document.
pub fn text(node: &Value) -> String {
    let own = node["text"].as_str().unwrap_or_default();
    let children = node["content"].as_array().into_iter().flatten();
    children.fold(own.to_owned(), |all, child| all + &text(child))
}

/// Creates a blank text document and returns its path.
pub async fn blank(app: &TestApp, room: &GroupRoom) -> String {
    let body = json!({"title": "Report", "documentType": "word"});
    let ben = app.as_(&app.world.ben);
    let created = ben.post(&format!("/workrooms/{}/documents", room.id), body).await;
    path(&created.expect(201))
}

both!(opening_a_blank_document_begins_its_log, |app| {
    let document = blank(app, &room(app).await).await;
    let ben = app.as_(&app.world.ben);
    let config = ben.get(&format!("{document}/editor-config")).await.expect(200);
    assert_eq!(config["editor"], "builtin");
    assert_eq!(config["documentServerUrl"], Value::Null);
    assert_eq!(config["editorConfig"]["mode"], "edit");
    let content = ben.get(&format!("{document}/content")).await;
    assert_eq!(content.header("cache-control"), "no-store");
    let content = content.expect(200);
    assert_eq!(content["generation"], 1);
    assert_eq!(content["version"], 0);
    assert_eq!(content["canEdit"], true);
    assert_eq!(content["doc"]["type"], "doc");
    let again = ben.get(&format!("{document}/content")).await.expect(200);
    assert_eq!(again, content);
    let commits = ben.get(&format!("{document}/commits")).await.expect(200);
    assert_eq!(
        commits,
        json!({"generation": 1, "commits": [], "version": 0, "hasMore": false})
    );
});

both!(commits_of_two_writers_converge, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    let mut cem = OpenedDocument::open(app, &app.world.cem, &document).await;
    let first = ben.insert("river ").await.expect(200);
    assert_eq!((&first["outcome"], &first["version"]), (&json!("COMMITTED"), &json!(1)));
    // Based on version 0, and mapped over the commit of Ben.
    let second = cem.insert("lake ").await.expect(200);
    assert_eq!(second["version"], 2);
    let commits = second["commits"].as_array().unwrap();
    let authors: Vec<_> = commits.iter().map(|commit| commit["userId"].clone()).collect();
    assert_eq!(authors, [json!(app.world.ben.id), json!(app.world.cem.id)]);
    let (one, other) = (ben.text().await, cem.text().await);
    assert_eq!(one, other);
    assert!(one.contains("river ") && one.contains("lake "), "{one}");
    let page = ben
        .client
        .get(&format!("{document}/commits?generation=1&since=1"))
        .await
        .expect(200);
    assert_eq!(page["commits"], json!([commits[1]]));
    assert_eq!((&page["version"], &page["hasMore"]), (&json!(2), &json!(false)));
});

both!(commit_sent_again_is_applied_once, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    let cem = OpenedDocument::open(app, &app.world.cem, &document).await;
    let body = commit(1, "once", 0, "once");
    let first = ben.send(&body).await.expect(200);
    ben.insert("more ").await.expect(200);
    let again = ben.send(&body).await.expect(200);
    assert_eq!(again["version"], first["version"]);
    assert_eq!(again["commits"], first["commits"]);
    assert_eq!(ben.text().await.matches("once").count(), 1);
    cem.send(&body).await.invalid("ref");
});

both!(concurrent_commits_are_numbered_without_gaps, |app| {
    let document = blank(app, &room(app).await).await;
    let ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    let sending = (0..40).map(|number| {
        let body = commit(1, &format!("r{number}"), 0, &format!("<{number}>"));
        let page = &ben;
        async move { page.send(&body).await.expect(200)["version"].as_i64().unwrap() }
    });
    let mut versions = futures_util::future::join_all(sending).await;
    versions.sort_unstable();
    assert_eq!(versions, (1..=40).collect::<Vec<_>>());
    let written = ben.text().await;
    for number in 0..40 {
        assert_eq!(written.matches(&format!("<{number}>")).count(), 1, "{written}");
    }
});

both!(long_log_is_read_from_its_snapshot, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    for number in 1..=101 {
        ben.version = ben.insert("x").await.expect(200)["version"].as_i64().unwrap();
        assert_eq!(ben.version, number);
    }
    assert_eq!(ben.text().await, "x".repeat(101));
    let page = ben
        .client
        .get(&format!("{document}/commits?since=0&limit=100"))
        .await
        .expect(200);
    assert_eq!(
        (page["commits"].as_array().unwrap().len(), &page["hasMore"]),
        (100, &json!(true))
    );
});

both!(packed_commits_are_read_and_recognized_like_others, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    let cem = OpenedDocument::open(app, &app.world.cem, &document).await;
    let count = 250;
    for _ in 0..count {
        ben.version = ben.insert("x").await.expect(200)["version"].as_i64().unwrap();
    }
    let list = async || {
        let path = format!("{document}/commits?since=3&limit=500");
        ben.client.get(&path).await.expect(200)
    };
    let before = list().await;
    assert_eq!(before["commits"].as_array().unwrap().len(), count - 3);
    let rows = async || {
        texts(&app.database, "SELECT ref FROM document_steps".to_owned())
            .await
            .len()
    };

    // Commits of the last minutes, and those that no revision contains, are left alone.
    app.app.document_workflows().pack_logs().await.unwrap();
    assert_eq!(rows().await, count);
    ben.client.get(&format!("{document}/download")).await;
    for change in [
        "document_steps SET created_at = created_at - 3600000",
        "document_logs SET last_commit_at = 1",
    ] {
        execute(&app.database, format!("UPDATE {change}")).await;
    }
    app.app.document_workflows().pack_logs().await.unwrap();
    assert_eq!(rows().await, 2, "a full pack and a part of one");

    let after = list().await;
    for (one, other) in before["commits"]
        .as_array()
        .unwrap()
        .iter()
        .zip(after["commits"].as_array().unwrap())
    {
        for field in ["version", "ref", "clientId", "userId", "steps"] {
            assert_eq!(one[field], other[field]);
        }
    }
    assert_eq!(after["commits"].as_array().unwrap().len(), count - 3);
    let page = ben
        .client
        .get(&format!("{document}/commits?since=10&limit=5"))
        .await
        .expect(200);
    let versions: Vec<_> = page["commits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|commit| commit["version"].clone())
        .collect();
    assert_eq!(
        (versions, &page["hasMore"]),
        (
            vec![json!(11), json!(12), json!(13), json!(14), json!(15)],
            &json!(true)
        )
    );
    // A page that was offline since version 7 sends a commit that had arrived, and then a new one.
    let repeated = commit(1, &format!("{}-8", ben.name), 7, "x");
    let repeated = ben.send(&repeated).await.expect(200);
    assert_eq!(
        (&repeated["outcome"], &repeated["version"]),
        (&json!("COMMITTED"), &json!(8))
    );
    let late = cem.send(&commit(1, "cem", 7, "lake")).await.expect(200);
    assert_eq!(late["version"], json!(count + 1));
    let text = ben.text().await;
    assert!(text.contains("lake") && text.matches('x').count() == count, "{text}");
});

both!(hostile_commits_are_rejected_and_change_nothing, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    ben.insert("kept").await.expect(200);
    let good = commit(1, "good", 1, "a");
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    let insert_at = |position: i64| {
        json!([{"stepType": "replace", "from": position, "to": position,
        "slice": {"content": [{"type": "text", "text": "a"}]}}])
    };
    let many: Vec<Value> = std::iter::repeat_n(insert_at(1)[0].clone(), 501).collect();
    let unsafe_link = json!([{"stepType": "addMark", "from": 1, "to": 3,
        "mark": {"type": "link", "attrs": {"href": "javascript:alert(1)"}}}]);
    for (field, body) in [
        ("steps", with("steps", insert_at(9_999))),
        ("steps[0]", with("steps", json!([{"stepType": "explode"}]))),
        ("steps[0]", with("steps", unsafe_link)),
        ("steps[0]", with("steps", json!([1]))),
        ("steps", with("steps", json!([]))),
        ("steps", with("steps", json!(many))),
        ("version", with("version", json!(99))),
        ("version", with("version", json!(-1))),
        ("generation", with("generation", json!(9))),
        ("clientId", with("clientId", json!("a b"))),
        ("ref", with("ref", json!("x".repeat(65)))),
    ] {
        ben.send(&body).await.invalid(field);
    }
    let nested = (0..70).fold(
        json!({"type": "text", "text": "a"}),
        |inner, _| json!({"type": "blockquote", "content": [inner]}),
    );
    let deep = with(
        "steps",
        json!([{"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [nested]}}]),
    );
    ben.send(&deep).await.refused(400, "INVALID_JSON");
    let large = commit(1, "large", 1, &"x".repeat(2 << 20));
    ben.send(&large).await.refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(ben.text().await, "kept");
    ben.send(&good).await.expect(200);
});

both!(document_is_open_only_to_users_who_may_view_it, |app| {
    let document = blank(app, &room(app).await).await;
    OpenedDocument::open(app, &app.world.ben, &document).await;
    for person in [&app.world.dana, &app.world.tom, &app.world.zoe] {
        let client = app.as_(person);
        client
            .get(&format!("{document}/content"))
            .await
            .refused(404, "NOT_FOUND");
        client
            .get(&format!("{document}/commits"))
            .await
            .refused(404, "NOT_FOUND");
        let sent = client
            .post(&format!("{document}/commits"), commit(1, "r", 0, "a"))
            .await;
        sent.refused(404, "NOT_FOUND");
    }
    let ada = OpenedDocument::open(app, &app.world.ada, &document).await;
    ada.send(&commit(1, "staff", 0, "from Ada")).await.expect(200);
});

both!(spreadsheet_does_not_open_in_the_built_in_editor, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    let body = json!({"title": "Cells", "documentType": "cell"});
    let created = ben
        .post(&format!("/workrooms/{}/documents", room.id), body)
        .await
        .expect(201);
    let document = path(&created);
    let config = ben.get(&format!("{document}/editor-config")).await.expect(200);
    assert_eq!(config["editor"], "onlyoffice", "{}", id(&created));
    let content = ben.get(&format!("{document}/content")).await;
    content.refused(409, "EDITOR_NOT_AVAILABLE");
    let sent = ben.post(&format!("{document}/commits"), commit(1, "r", 0, "a")).await;
    sent.refused(409, "EDITOR_NOT_AVAILABLE");
});

both!(writer_is_recorded_as_editor, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    ben.insert("a").await.expect(200);
    let select = "SELECT editors FROM editing_sessions";
    until("the session names Ben", async || {
        let rows = test_support::rows::texts(&app.database, select.to_owned()).await;
        rows.iter().flatten().any(|editors| editors.contains(&app.world.ben.id))
    })
    .await;
});
