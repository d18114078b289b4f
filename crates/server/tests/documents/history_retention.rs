//! How long the history of a document is kept: the commits, snapshots and logs of the built-in editor, revisions and their
//! histories, contributions, and the authorship of submissions. See docs/built-in-editor.md#retention-of-histories.

use std::collections::BTreeMap;

use serde_json::json;

use super::document_editor::{OpenedDocument, blank};
use super::documents::room;
use test_support::rows::texts;
use test_support::topics::topic;
use test_support::{GroupRoom, TestApp, row_counts, until};

/// The tables with the history of documents.
const HISTORY: [&str; 5] = [
    "document_logs",
    "document_revisions",
    "document_snapshots",
    "document_steps",
    "submission_documents",
];

/// Counts the rows of histories.
async fn history(app: &TestApp) -> BTreeMap<String, i64> {
    let database = app.database.clone();
    let counts = tokio::task::spawn_blocking(move || row_counts::counts(&database));
    let mut counts = counts.await.unwrap();
    counts.retain(|table, _| HISTORY.contains(&table.as_str()));
    counts
}

fn total(counts: &BTreeMap<String, i64>) -> i64 {
    counts.values().sum()
}

/// A submitted document that two students wrote; returns its path and topic.
async fn submitted(app: &TestApp, room: &GroupRoom) -> (String, String) {
    let document = blank(app, room).await;
    for person in [&app.world.ben, &app.world.cem] {
        let mut page = OpenedDocument::open(app, person, &document).await;
        page.insert("river ").await.expect(200);
    }
    let ben = app.as_(&app.world.ben);
    let topic = topic(
        &app.as_(&app.world.ada),
        &app.world.seven_b,
        json!({"groupIds": [room.group]}),
    )
    .await;
    ben.post(&format!("{document}/submit"), json!({"assignmentId": topic["id"]}))
        .await
        .expect(200);
    until("the document is written", async || {
        ben.get(&document).await.expect(200)["contentPending"] != true
    })
    .await;
    (document, topic["id"].as_str().unwrap().to_owned())
}

async fn authors(app: &TestApp) -> Vec<Option<String>> {
    let steps = "SELECT author_id FROM document_steps ORDER BY version";
    texts(&app.database, steps.to_owned()).await
}

both!(history_outlives_finish_and_erasure_and_goes_with_its_group, |app| {
    let world = &app.world;
    let (adam, ada) = (app.as_(&world.adam), app.as_(&world.ada));
    let room = room(app).await;
    let (document, topic) = submitted(app, &room).await;
    let before = history(app).await;
    assert!(before.values().all(|rows| *rows > 0), "{before:?}");
    // A finished topic keeps all of it.
    ada.post(&format!("/assignments/{topic}/finish"), json!({}))
        .await
        .expect(200);
    assert_eq!(history(app).await, before);
    // So does the erasure of an author, whose id is then that of no person.
    let writers = authors(app).await;
    adam.post("/admin/gdpr/erase", json!({"userId": world.ben.id, "dryRun": false}))
        .await
        .expect(200);
    assert_eq!((history(app).await, authors(app).await), (before.clone(), writers));
    let shown = ada.get(&format!("{document}/authorship")).await.expect(200).to_string();
    assert!(
        !shown.contains(&world.ben.id) && !shown.contains(&world.ben.name),
        "{shown}"
    );
    // A deleted topic takes its submissions with it; the document stays with its group.
    ada.delete(&format!("/assignments/{topic}")).await.expect(200);
    let mut without_submission = before.clone();
    without_submission.insert("submission_documents".to_owned(), 0);
    assert_eq!(history(app).await, without_submission);
    ada.delete(&format!("/groups/{}", room.group)).await.expect(200);
    assert_eq!(total(&history(app).await), 0);
});

both!(history_goes_with_its_class, |app| {
    let room = room(app).await;
    submitted(app, &room).await;
    assert!(total(&history(app).await) > 0);
    let class = format!("/classes/{}?force=1", app.world.seven_b.id);
    app.as_(&app.world.adam).delete(&class).await.expect(200);
    assert_eq!(total(&history(app).await), 0);
});
