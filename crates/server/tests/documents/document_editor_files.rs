//! What the built-in editor writes into files: downloads, submissions, finished topics, late text, pictures.

use reqwest::Method;
use serde_json::{Value, json};

use super::document_editor::{OpenedDocument, blank};
use super::documents::{path, room};
use test_support::document_server_fixture::{pdf_text, words};
use test_support::samples::{PIXEL, commit};
use test_support::topics::{id, topic};
use test_support::{Client, GroupRoom, TestApp, until};

async fn downloaded(client: &Client, document: &str) -> String {
    let answer = client.get(&format!("{document}/download")).await;
    assert_eq!(answer.status, 200);
    words(&answer.bytes)
}

async fn versions(client: &Client, document: &str) -> Vec<Value> {
    let list = client.get(&format!("{document}/versions")).await.expect(200);
    list.as_array().or_else(|| list["data"].as_array()).unwrap().clone()
}

async fn topic_of(app: &TestApp, room: &GroupRoom) -> String {
    let ada = app.as_(&app.world.ada);
    id(&topic(&ada, &app.world.seven_b, json!({"groupIds": [room.group]})).await)
}

async fn submit(client: &Client, document: &str, topic: &str) -> Value {
    let submitted = client
        .post(&format!("{document}/submit"), json!({"assignmentId": topic}))
        .await;
    submitted.expect(200)
}

both!(download_contains_every_acknowledged_commit, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    ben.insert("river").await.expect(200);
    let (reader, ada) = (app.as_(&app.world.cem), app.as_(&app.world.ada));
    assert!(downloaded(&reader, &document).await.contains("river"));
    let first = versions(&ada, &document).await;
    assert_eq!(first.len(), 1);
    assert_eq!(
        (&first[0]["origin"], &first[0]["savedById"]),
        (&json!("FORCESAVE"), &json!(app.world.ben.id))
    );
    // Nothing has changed, so nothing is written.
    assert!(downloaded(&ada, &document).await.contains("river"));
    assert_eq!(versions(&ada, &document).await.len(), 1);
    // The generation goes on.
    assert_eq!(ben.insert("lake ").await.expect(200)["version"], 2);
    // The second text was written at the place of the first one, so it follows it.
    assert!(downloaded(&reader, &document).await.contains("riverlake"));
});

both!(pdf_contains_every_acknowledged_commit, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    let ada = app.as_(&app.world.ada);
    for text in ["river", "lake "] {
        ben.insert(text).await.expect(200);
        let pdf = ada.get(&format!("{document}/pdf")).await;
        assert_eq!(pdf.status, 200);
        assert!(pdf_text(&pdf.bytes).contains(text.trim()), "{text}");
    }
    app.as_(&app.world.ben)
        .get(&format!("{document}/pdf"))
        .await
        .refused(409, "ASSIGNMENT_NOT_FINISHED");
});

both!(
    submission_contains_commits_and_later_text_is_kept_as_late_version,
    |app| {
        let room = room(app).await;
        let (topic, document) = (topic_of(app, &room).await, blank(app, &room).await);
        let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
        let cem = OpenedDocument::open(app, &app.world.cem, &document).await;
        ben.insert("river").await.expect(200);
        let (reader, ada) = (app.as_(&app.world.ben), app.as_(&app.world.ada));
        let submitted = submit(&reader, &document, &topic).await;
        assert_eq!(submitted["unsaved"], false);
        assert_eq!(submitted["document"]["status"], "SUBMITTED");
        // Cem was offline and has based the text on the empty document.
        let late = commit(1, "late", 0, "lake ");
        let kept = cem.send(&late).await.expect(200);
        assert_eq!(
            kept,
            json!({"outcome": "LATE", "generation": 2, "version": 0, "commits": null})
        );
        assert_eq!(cem.send(&late).await.expect(200)["outcome"], "LATE");
        until("the late version is stored", async || {
            versions(&ada, &document).await.len() == 2
        })
        .await;
        let all = versions(&ada, &document).await;
        let late = all
            .iter()
            .find(|version| version["origin"] == "LATE_AFTER_LOCK")
            .unwrap();
        assert_eq!(late["savedById"], json!(app.world.cem.id));
        let file = ada
            .get(&format!("{document}/versions/{}/download", late["version"]))
            .await;
        let text = words(&file.bytes);
        assert!(text.contains("lake") && text.contains("river"), "{text}");
        assert_eq!(downloaded(&reader, &document).await.trim(), "river");
        // The present generation accepts nothing.
        let sent = cem.send(&commit(2, "present", 0, "sea")).await;
        sent.refused(409, "ALREADY_SUBMITTED");
        let shown = OpenedDocument::open(app, &app.world.cem, &document).await;
        assert_eq!((shown.generation, shown.text().await.trim()), (2, "river"));
    }
);

both!(commit_during_the_flush_belongs_to_the_submission, |app| {
    let room = room(app).await;
    let (topic, document) = (topic_of(app, &room).await, blank(app, &room).await);
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    ben.insert("river").await.expect(200);
    let sessions = "SELECT editors FROM editing_sessions".to_owned();
    until("the session names Ben", async || {
        let rows = test_support::rows::texts(&app.database, sessions.clone()).await;
        rows.iter().flatten().any(|editors| editors.contains(&app.world.ben.id))
    })
    .await;
    let (cem, own) = (app.as_(&app.world.cem), document.clone());
    let submitting = tokio::spawn(async move { submit(&cem, &own, &topic).await });
    let reader = app.as_(&app.world.ben);
    until("the document is being frozen", async || {
        reader.get(&document).await.expect(200)["status"] == "SUBMITTED"
    })
    .await;
    // Whether the flush is still open depends on the machine; the text is in or late, never lost.
    let outcome = ben.insert("last ").await.expect(200)["outcome"].clone();
    reader.post(&format!("{document}/flushed"), json!({})).await.expect(200);
    submitting.await.unwrap();
    let text = downloaded(&reader, &document).await;
    assert_eq!(text.contains("last"), outcome == "COMMITTED", "{outcome}: {text}");
    if outcome == "LATE" {
        let ada = app.as_(&app.world.ada);
        until("the late version is stored", async || {
            versions(&ada, &document)
                .await
                .iter()
                .any(|version| version["origin"] == "LATE_AFTER_LOCK")
        })
        .await;
    }
});

both!(finished_topic_locks_every_acknowledged_commit, |app| {
    let room = room(app).await;
    let (topic, document) = (topic_of(app, &room).await, blank(app, &room).await);
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    ben.insert("river").await.expect(200);
    let ada = app.as_(&app.world.ada);
    let linked = ada.patch(&document, json!({"assignmentId": topic})).await;
    linked.expect(200);
    let finished = ada
        .send(Method::POST, &format!("/assignments/{topic}/finish"), None)
        .await
        .expect(200);
    assert_eq!(finished["unsavedDocuments"], json!([]));
    assert_eq!(downloaded(&ada, &document).await.trim(), "river");
    ben.send(&commit(2, "present", 0, "a"))
        .await
        .refused(423, "DOCUMENT_LOCKED");
    assert_eq!(ben.insert("late ").await.expect(200)["outcome"], "LATE");
    ada.send(Method::POST, &format!("/assignments/{topic}/reopen"), None)
        .await
        .expect(200);
    let mut again = OpenedDocument::open(app, &app.world.ben, &document).await;
    assert!(again.generation > 2, "the generations of the lock have ended");
    assert_eq!(again.text().await, "river");
    assert_eq!(again.insert("new ").await.expect(200)["outcome"], "COMMITTED");
});

both!(restored_version_begins_a_generation_and_keeps_what_was_written, |app| {
    let document = blank(app, &room(app).await).await;
    let mut ben = OpenedDocument::open(app, &app.world.ben, &document).await;
    let reader = app.as_(&app.world.ben);
    ben.insert("first").await.expect(200);
    downloaded(&reader, &document).await;
    ben.insert("second ").await.expect(200);
    reader
        .post(&format!("{document}/versions/1/restore"), json!({}))
        .await
        .expect(200);
    let mut restored = OpenedDocument::open(app, &app.world.ben, &document).await;
    assert_eq!((restored.generation, restored.text().await.as_str()), (2, "first"));
    let before = versions(&reader, &document).await;
    let texts: Vec<_> = before.iter().map(|version| version["origin"].clone()).collect();
    assert_eq!(texts, [json!("RESTORE"), json!("FORCESAVE"), json!("FORCESAVE")]);
    // A page of the former generation: its text is for the group.
    assert_eq!(ben.insert("third ").await.expect(200)["outcome"], "LATE");
    until("the late version is stored", async || {
        versions(&reader, &document)
            .await
            .iter()
            .any(|version| version["origin"] == "LATE")
    })
    .await;
    assert_eq!(restored.insert("new ").await.expect(200)["version"], 1);
    assert_eq!(downloaded(&reader, &document).await.trim(), "new first");
});

both!(uploaded_document_is_edited_without_losing_its_file, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    let documents = format!("/workrooms/{}/documents", room.id);
    let file = test_support::office::word_document("Uploaded text");
    let document = path(&ben.upload(&documents, "report.docx", file, &[]).await.expect(201));
    let mut page = OpenedDocument::open(app, &app.world.ben, &document).await;
    assert_eq!(page.text().await, "Uploaded text");
    page.insert("New ").await.expect(200);
    assert_eq!(downloaded(&ben, &document).await.trim(), "New Uploaded text");
});

both!(picture_is_private_to_the_document_and_written_to_its_file, |app| {
    let document = blank(app, &room(app).await).await;
    let page = OpenedDocument::open(app, &app.world.ben, &document).await;
    let (ben, images) = (app.as_(&app.world.ben), format!("{document}/images"));
    let added = ben.upload(&images, "dot.png", PIXEL.to_vec(), &[]).await;
    let location = added.header("location").to_owned();
    let added = added.expect(201);
    assert_eq!(
        (&added["contentType"], &added["width"], &added["height"]),
        (&json!("image/png"), &json!(1), &json!(1))
    );
    let picture = format!("{images}/{}", added["id"].as_str().unwrap());
    assert_eq!(location, format!("/api{picture}"));
    let read = app.as_(&app.world.cem).get(&picture).await;
    assert_eq!((read.status, read.header("content-type")), (200, "image/png"));
    assert_eq!(&read.bytes[..], PIXEL);
    for person in [&app.world.dana, &app.world.zoe] {
        app.as_(person).get(&picture).await.refused(404, "NOT_FOUND");
        let sent = app.as_(person).upload(&images, "dot.png", PIXEL.to_vec(), &[]).await;
        sent.refused(404, "NOT_FOUND");
    }
    ben.get(&format!("{images}/unknown")).await.refused(404, "NOT_FOUND");
    let text = ben.upload(&images, "notes.txt", b"text".to_vec(), &[]).await;
    text.refused(415, "UNSUPPORTED_FILE_TYPE");
    let image = json!([{"stepType": "replace", "from": 1, "to": 1, "slice": {"content": [
        {"type": "image", "attrs": {"src": added["id"], "alt": "A dot"}}]}}]);
    let mut body = commit(1, "image", 0, "a");
    body["steps"] = image;
    page.send(&body).await.expect(200);
    let file = ben.get(&format!("{document}/download")).await;
    let names = zip_names(&file.bytes);
    assert!(names.iter().any(|name| name.starts_with("word/media/")), "{names:?}");
});

fn zip_names(bytes: &[u8]) -> Vec<String> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let entries = 0..archive.len();
    entries
        .map(|index| archive.by_index(index).unwrap().name().unwrap().into_owned())
        .collect()
}
