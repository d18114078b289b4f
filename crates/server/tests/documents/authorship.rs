//! Who wrote which part of a document of the built-in editor: shown to staff, counted in the contributions, and kept with
//! each submission.

use serde_json::{Value, json};

use super::document_editor::{OpenedDocument, blank};
use super::documents::room;
use test_support::office::word_document;
use test_support::rows::{execute, texts};
use test_support::topics::topic;
use test_support::{Client, GroupRoom, TestApp, TestUser, until};

/// The authors with their shares, and the text with the index of each author.
fn shown(found: &Value) -> (Vec<(Value, i64, i64)>, String) {
    let authors = found["authors"].as_array().unwrap().iter();
    let authors = authors.map(|one| {
        let number = |name: &str| one[name].as_i64().unwrap();
        (one["name"].clone(), number("characters"), number("share"))
    });
    let passages = found["blocks"].as_array().unwrap().iter().map(|block| {
        let passages = block.as_array().unwrap().iter();
        let passages = passages.map(|one| format!("{}:{}", one["author"], one["text"].as_str().unwrap()));
        passages.collect::<Vec<_>>().join("|")
    });
    (authors.collect(), passages.collect::<Vec<_>>().join(" / "))
}

async fn authorship(client: &Client, document: &str) -> Value {
    client.get(&format!("{document}/authorship")).await.expect(200)
}

async fn insert(app: &TestApp, person: &TestUser, document: &str, text: &str) {
    let mut page = OpenedDocument::open(app, person, document).await;
    page.insert(text).await.expect(200);
}

async fn submit(app: &TestApp, room: &GroupRoom, document: &str) {
    let (ada, ben) = (app.as_(&app.world.ada), app.as_(&app.world.ben));
    let topic = topic(&ada, &app.world.seven_b, json!({"groupIds": [room.group]})).await;
    let body = json!({"assignmentId": topic["id"]});
    ben.post(&format!("{document}/submit"), body).await.expect(200);
    written(&ben, document).await;
}

async fn written(client: &Client, document: &str) {
    until("the document is written", async || {
        client.get(document).await.expect(200)["contentPending"] != true
    })
    .await;
}

both!(staff_see_who_wrote_which_characters, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let ada = app.as_(&world.ada);
    insert(app, &world.ben, &document, "river 😀").await;
    insert(app, &world.cem, &document, "lake ").await;
    let found = authorship(&ada, &document).await;
    assert_eq!((&found["isRecorded"], &found["characters"]), (&json!(true), &json!(12)));
    let (authors, text) = shown(&found);
    assert_eq!(
        authors,
        [(json!(world.ben.name), 7, 58), (json!(world.cem.name), 5, 42)]
    );
    assert_eq!(text, "1:lake |0:river 😀");
    for (person, status, code) in [
        (&world.ben, 403, "FORBIDDEN_ROLE"),
        (&world.tom, 404, "NOT_FOUND"),
        (&world.zoe, 404, "NOT_FOUND"),
    ] {
        let hidden = app.as_(person).get(&format!("{document}/authorship")).await;
        hidden.refused(status, code);
    }
    let contributions = ada
        .get(&format!("/groups/{}/contributions", room.group))
        .await
        .expect(200);
    let of = |person: &TestUser| {
        let list = contributions.as_array().unwrap();
        list.iter()
            .find(|one| one["userId"] == json!(person.id))
            .unwrap()
            .clone()
    };
    let ben = of(&world.ben);
    assert_eq!((&ben["characters"], &ben["share"]), (&json!(7), &json!(58)));
    let own = &of(&world.cem)["documents"][0];
    assert_eq!((&own["characters"], &own["share"]), (&json!(5), &json!(42)));
});

both!(authorship_survives_snapshots_and_generations, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let mut page = OpenedDocument::open(app, &world.ben, &document).await;
    for _ in 0..150 {
        page.version = page.insert("x").await.expect(200)["version"].as_i64().unwrap();
    }
    let mut cem = OpenedDocument::open(app, &world.cem, &document).await;
    for _ in 0..60 {
        cem.version = cem.insert("y").await.expect(200)["version"].as_i64().unwrap();
    }
    let stored = "SELECT authorship FROM document_snapshots ORDER BY version DESC";
    assert!(texts(&app.database, stored.to_owned()).await[0].is_some());
    submit(app, &room, &document).await;
    let expected = [(json!(world.ben.name), 150, 71), (json!(world.cem.name), 60, 29)];
    assert_eq!(shown(&authorship(&ada, &document).await).0, expected);
    ben.post(&format!("{document}/unsubmit"), json!({})).await.expect(200);
    // The file was written and is read again.
    assert_eq!(shown(&authorship(&ada, &document).await).0, expected);
    insert(app, &world.ada, &document, "Ada").await;
    let (authors, text) = shown(&authorship(&ada, &document).await);
    assert_eq!(authors.last(), Some(&(json!(world.ada.name), 3, 1)));
    assert_eq!(text, format!("2:Ada|1:{}|0:{}", "y".repeat(60), "x".repeat(150)));
});

both!(submission_keeps_its_authorship, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    insert(app, &world.ben, &document, "first").await;
    insert(app, &world.cem, &document, "second ").await;
    submit(app, &room, &document).await;
    let copies = texts(&app.database, "SELECT id FROM submission_documents".to_owned()).await;
    let copy = copies[0].clone().unwrap();
    let at_submission = format!("{document}/authorship?copyId={copy}");
    let found = ada.get(&at_submission).await.expect(200);
    assert_eq!(shown(&found).1, "0:second |1:first");
    ben.post(&format!("{document}/unsubmit"), json!({})).await.expect(200);
    insert(app, &world.ada, &document, "later ").await;
    assert_eq!(ada.get(&at_submission).await.expect(200), found);
    assert_eq!(
        shown(&authorship(&ada, &document).await).1,
        "1:later |0:second |2:first"
    );
    let elsewhere = blank(app, &room).await;
    let other = format!("{elsewhere}/authorship?copyId={copy}");
    ada.get(&other).await.refused(404, "NOT_FOUND");
    // A submission of an earlier release.
    execute(
        &app.database,
        "UPDATE submission_documents SET authorship = NULL".to_owned(),
    )
    .await;
    let unknown = ada.get(&at_submission).await.expect(200);
    assert_eq!(
        (&unknown["isRecorded"], &unknown["blocks"]),
        (&json!(false), &json!([]))
    );
});

both!(text_of_a_file_and_of_an_erased_author_is_of_unknown_origin, |app| {
    let room = room(app).await;
    let world = &app.world;
    let (ada, adam, ben) = (app.as_(&world.ada), app.as_(&world.adam), app.as_(&world.ben));
    let uploaded = ben
        .upload(
            &format!("/workrooms/{}/documents", room.id),
            "Report.docx",
            word_document("From a file"),
            &[],
        )
        .await
        .expect(201);
    let document = format!("/workrooms/documents/{}", uploaded["id"].as_str().unwrap());
    assert_eq!(
        shown(&authorship(&ada, &document).await),
        (vec![(Value::Null, 11, 100)], "0:From a file".to_owned())
    );
    insert(app, &world.ben, &document, "By Ben. ").await;
    insert(app, &world.cem, &document, "By Cem. ").await;
    let (authors, text) = shown(&authorship(&ada, &document).await);
    assert_eq!(
        text,
        "1:By Cem. |0:By Ben. |2:From a file".replace("1:By Cem. |0:By Ben. ", &passages(&authors, world))
    );
    submit(app, &room, &document).await;
    adam.post("/admin/gdpr/erase", json!({"userId": world.ben.id, "dryRun": false}))
        .await
        .expect(200);
    let (authors, text) = shown(&authorship(&ada, &document).await);
    assert_eq!(authors, [(json!(world.cem.name), 8, 30), (Value::Null, 19, 70)]);
    assert_eq!(text, "0:By Cem. |1:By Ben. From a file");
    let copies = texts(&app.database, "SELECT id FROM submission_documents".to_owned()).await;
    let kept = format!("{document}/authorship?copyId={}", copies[0].clone().unwrap());
    let kept = ada.get(&kept).await.expect(200);
    assert!(!kept.to_string().contains(&world.ben.id));
    assert_eq!(shown(&kept).1, text);
});

/// Authors with equally many characters are in the order of their ids.
fn passages(authors: &[(Value, i64, i64)], world: &test_support::World) -> String {
    let index = |person: &TestUser| authors.iter().position(|one| one.0 == json!(person.name)).unwrap();
    format!("{}:By Cem. |{}:By Ben. ", index(&world.cem), index(&world.ben))
}

both!(authorship_goes_with_the_document, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    insert(app, &app.world.ben, &document, "text").await;
    app.as_(&app.world.ben).delete(&document).await.expect(200);
    for table in ["document_snapshots", "document_steps", "document_contributions"] {
        let rows = texts(&app.database, format!("SELECT document_id FROM {table}")).await;
        assert!(rows.is_empty(), "{table}");
    }
});

both!(playback_is_for_staff_of_a_school_that_enabled_it, |app| {
    let room = room(app).await;
    let document = blank(app, &room).await;
    let world = &app.world;
    let (ada, adam, ben) = (app.as_(&world.ada), app.as_(&world.adam), app.as_(&world.ben));
    insert(app, &world.ben, &document, "first ").await;
    insert(app, &world.cem, &document, "second ").await;
    let at = format!("{document}/playback");
    ada.post(&at, json!({})).await.refused(409, "PLAYBACK_DISABLED");
    let enable = |is_on: bool| json!({"metadata": {"features": {"documentPlayback": is_on}}});
    adam.patch("/admin/settings", enable(true)).await.expect(200);
    for (person, status, code) in [
        (&world.ben, 403, "FORBIDDEN_ROLE"),
        (&world.tom, 404, "NOT_FOUND"),
        (&world.zoe, 404, "NOT_FOUND"),
    ] {
        app.as_(person).post(&at, json!({})).await.refused(status, code);
    }
    let first = ada.post(&at, json!({"limit": 1})).await.expect(200);
    assert_eq!(first["doc"]["type"], "doc");
    assert_eq!((&first["generation"], &first["hasMore"]), (&json!(1), &json!(true)));
    assert_eq!(first["commits"][0]["userId"], json!(world.ben.id));
    let second = ada.post(&at, json!({"generation": 1, "since": 1})).await.expect(200);
    assert_eq!((&second["doc"], &second["hasMore"]), (&Value::Null, &json!(false)));
    assert_eq!(second["commits"][0]["userId"], json!(world.cem.id));
    submit(app, &room, &document).await;
    ben.post(&format!("{document}/unsubmit"), json!({})).await.expect(200);
    let mut page = OpenedDocument::open(app, &world.ben, &document).await;
    page.insert("third ").await.expect(200);
    let all = ada.post(&at, json!({"generation": page.generation})).await.expect(200);
    assert_eq!(all["generations"].as_array().unwrap().len(), 2);
    assert_eq!(all["commits"].as_array().unwrap().len(), 1);
    assert!(all["doc"].to_string().contains("first "), "{all}");
    let logged = adam.get("/activity-logs?limit=200").await.expect(200);
    let entries = logged["data"].as_array().unwrap().iter();
    let entries: Vec<_> = entries.filter(|one| one["event"] == "DOCUMENT_PLAYBACK").collect();
    assert_eq!(entries.len(), 3, "{logged}");
    assert_eq!(entries[2]["details"]["since"], 0, "{entries:?}");
    ada.post(&at, json!({"limit": 2_001})).await.invalid("limit");
    adam.patch("/admin/settings", enable(false)).await.expect(200);
    ada.post(&at, json!({})).await.refused(409, "PLAYBACK_DISABLED");
    // Commits are deleted with their document.
    adam.patch("/admin/settings", enable(true)).await.expect(200);
    let deleted = blank(app, &room).await;
    insert(app, &world.ben, &deleted, "gone").await;
    ben.delete(&deleted).await.expect(200);
    let gone = ada.post(&format!("{deleted}/playback"), json!({})).await;
    gone.refused(404, "NOT_FOUND");
});
