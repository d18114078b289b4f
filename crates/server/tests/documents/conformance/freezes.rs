//! Checks S1, S4 and S8: how a freeze waits for open editors, and which results of a forced save it accepts.

use std::time::{Duration, Instant};

use document_server_simulator::Faults;
use serde_json::{Value, json};

use super::states::{commands, wait_for_no_sessions};
use crate::finish::status;
use crate::submissions::copied_text;
use test_support::document_server_fixture::{DocumentServerFixture, eventually, path};
use test_support::page::EditorPage;
use test_support::rows::texts;
use test_support::{SocketListener, clients_are_installed};

/// Returns the editors of a document that the service has recorded.
async fn session_of(fixture: &DocumentServerFixture, document: &str) -> String {
    let sessions = format!("SELECT editors FROM editing_sessions WHERE document_id = '{document}'");
    texts(&fixture.app.database, sessions)
        .await
        .into_iter()
        .flatten()
        .collect()
}

/// The maximum of `--docserver-flush-milliseconds`. After this time a flush ends without the pages that have not
/// reported, and their text is late.
const FLUSH_MAX: Duration = Duration::from_secs(4);
/// How often a freeze that took this long is repeated with new documents.
const ATTEMPTS_MAX: u32 = 5;

/// A document that was submitted while its page had unsent text.
struct SubmittedPage {
    document: String,
    /// The editor key before the submission.
    key: String,
    page: EditorPage,
    response: Value,
}

async fn submit_while_typing(fixture: &DocumentServerFixture) -> SubmittedPage {
    let world = &fixture.app.world;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let document = fixture.document(&format!("Page {attempts}")).await;
        let page = EditorPage::open(fixture, &world.cem, &document).await;
        let key = fixture.key(&document).await;
        page.type_text("Sent. ");
        eventually(async || !page.has_unsent_changes()).await;
        eventually(async || session_of(fixture, &document).await.contains(&world.cem.id)).await;
        // The submission starts 0 ms after the last key press.
        page.type_text("The last words.");
        fixture.server.clear_log();
        let started = Instant::now();
        let response = fixture.submit(&world.ben, &document).await.expect(200);
        if started.elapsed() < FLUSH_MAX || attempts == ATTEMPTS_MAX {
            return SubmittedPage {
                document,
                key,
                page,
                response,
            };
        }
        page.closed().await;
    }
}

with_both_editors!(
    s01_submission_contains_text_typed_until_the_request,
    ["--docserver-flush-milliseconds=4000"],
    |fixture| {
        if !clients_are_installed() {
            return;
        }
        fixture.server.faults().update(|faults| faults.autosave_gap = Some(300));
        let SubmittedPage {
            document,
            key,
            page,
            response,
        } = submit_while_typing(fixture).await;
        assert_eq!(
            (&response["unsaved"], &response["document"]["contentPending"]),
            (&json!(false), &json!(false))
        );
        let copied = copied_text(fixture, &document).await;
        assert!(copied.contains("Sent. The last words."), "{copied}");
        // First the forced save, then the drop.
        let expected: &[&str] = if fixture.is_builtin() {
            &[]
        } else {
            &["forcesave", "drop"]
        };
        assert_eq!(commands(fixture, &document), expected);
        let mut heard = page.closed().await;
        let is_of_document = |event: &Value| event["documentId"] == document.as_str();
        let freezing = heard.expect_where("document:freezing", is_of_document).await;
        let status = heard.expect_where("document:status", is_of_document).await;
        assert_eq!(freezing["groupId"], json!(fixture.group));
        // A submission writes the log of the built-in editor before it waits for the pages, and after it. Only the
        // first is a version if the page had already sent all text.
        let versions = fixture.origins(&document).await.len();
        assert!(
            versions == 1 || versions == 2 && fixture.is_builtin(),
            "{versions} versions"
        );
        assert_eq!(
            (&status["status"], &status["version"]),
            (&json!("SUBMITTED"), &json!(versions))
        );
        assert!(freezing["at"].as_str() <= status["at"].as_str());
        assert_ne!(fixture.key(&document).await, key);
        wait_for_no_sessions(fixture, &document).await;
        assert_eq!(
            fixture.origins(&document).await,
            vec!["FORCESAVE"; versions],
            "nothing came late"
        );
    }
);

/// Finishes the topic while the pages of four documents have unsent text. Returns the documents with their pages, and
/// the response.
async fn finish_while_typing(fixture: &DocumentServerFixture) -> (Vec<(String, EditorPage)>, Value) {
    let world = &fixture.app.world;
    let (ada, people) = (fixture.app.as_(&world.ada), [&world.ben, &world.cem]);
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut open = Vec::new();
        for number in 0..4 {
            let document = fixture.document(&format!("Page {number}")).await;
            let page = EditorPage::open(fixture, people[number % 2], &document).await;
            let id = &people[number % 2].id;
            eventually(async || session_of(fixture, &document).await.contains(id)).await;
            open.push((document, page));
        }
        for (number, (_, page)) in open.iter().enumerate() {
            page.type_text(&format!("The last words {number}."));
        }
        let started = Instant::now();
        let done = fixture.finish().await;
        if started.elapsed() < FLUSH_MAX || attempts == ATTEMPTS_MAX {
            return (open, done);
        }
        fixture.reopen().await;
        for (document, page) in open {
            page.closed().await;
            ada.delete(&path(&document, "")).await.expect(200);
        }
    }
}

with_both_editors!(
    s04_finish_during_typing_loses_no_text,
    ["--docserver-flush-milliseconds=4000"],
    |fixture| {
        if !clients_are_installed() {
            return;
        }
        fixture.server.faults().update(|faults| faults.autosave_gap = Some(300));
        let (open, done) = finish_while_typing(fixture).await;
        assert_eq!(
            (&done["lockedDocuments"], &done["unsavedDocuments"]),
            (&json!(4), &json!([]))
        );
        for (number, (document, page)) in open.into_iter().enumerate() {
            page.closed().await;
            wait_for_no_sessions(fixture, &document).await;
            let text = fixture.text(&document).await;
            assert!(text.contains(&format!("The last words {number}.")), "{text}");
            assert_eq!(status(fixture, &document).await, (json!("LOCKED"), json!("DRAFT")));
            assert_eq!(fixture.origins(&document).await, ["FORCESAVE"], "page {number}");
        }
    }
);

/// Finishes the topic while the document server fails like this at the forced save of a document with unsaved text.
async fn finish_with_faults(fixture: &DocumentServerFixture, name: &str, faults: Faults, is_unsaved: bool) {
    let document = fixture.document(&format!("Result {name}")).await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Before the bell.").await.unwrap();
    fixture.server.set_faults(Faults {
        // A save caused by a drop would arrive at once and end the wait.
        hold: vec![2],
        ..faults
    });
    let done = fixture.finish().await;
    let unsaved = if is_unsaved { json!([document]) } else { json!([]) };
    assert_eq!(done["unsavedDocuments"], unsaved, "{name}");
    assert_eq!(status(fixture, &document).await.0, "LOCKED", "{name}");
    fixture.server.faults().clear();
    // In every case the text is saved when the session ends, because it was typed before the finish.
    drop(editor.close().await);
    eventually(async || fixture.text(&document).await.contains("Before the bell.")).await;
    assert_eq!(status(fixture, &document).await.0, "LOCKED", "{name}");
}

fn forced_save_result(code: i64) -> Faults {
    Faults {
        forcesave_response: Some(code),
        ..Faults::default()
    }
}

with_document_server!(
    s08_forced_save_without_session_or_changes_leaves_nothing_unsaved,
    // The results must arrive in time.
    ["--docserver-command-seconds=30"],
    |fixture| {
        for (name, code) in [("no such session", 1), ("no new changes", 4)] {
            finish_with_faults(fixture, name, forced_save_result(code), false).await;
        }
        let heard = fixture.server.requests();
        let asked = heard.iter().any(|heard| heard.parameters["c"] == "getForgotten");
        assert!(asked, "an unknown session may have left a save behind");
    }
);

with_document_server!(
    s08_forced_save_without_callback_or_response_leaves_text_unsaved,
    // Each case takes this long.
    ["--docserver-command-seconds=2"],
    |fixture| {
        for (name, code) in [("started", 0), ("closing", 3)] {
            finish_with_faults(fixture, name, forced_save_result(code), true).await;
        }
        let silence = Faults {
            command_delay: 60_000,
            ..Faults::default()
        };
        finish_with_faults(fixture, "no response", silence, true).await;
    }
);

with_document_server!(s08_no_changes_reported_after_restart_leave_content_pending, |fixture| {
    let (world, document) = (&fixture.app.world, fixture.document("Our page").await);
    let editor = fixture.open(&world.ben, &document).await;
    editor.type_text("Before the crash.").await.unwrap();
    eventually(async || session_of(fixture, &document).await.contains(&world.ben.id)).await;
    fixture.server.crash();
    fixture.server.clear_log();
    let done = fixture.finish().await;
    assert_eq!(done["unsavedDocuments"], json!([document]));
    let forced = fixture
        .server
        .requests()
        .into_iter()
        .find(|heard| heard.parameters["c"] == "forcesave");
    assert_eq!(forced.map(|heard| heard.answer), Some(4));
    let seen = fixture.get_document(&document).await;
    assert_eq!(seen["contentPending"], true);
    assert!(seen["saveFailedAt"].is_string(), "the staff are alarmed");
    assert_eq!(status(fixture, &document).await.0, "LOCKED");
});

with_document_server!(
    s08_dropped_forced_save_is_pending_until_the_final_save,
    ["--docserver-command-seconds=1"],
    |fixture| {
        if !clients_are_installed() {
            return;
        }
        let (world, document) = (&fixture.app.world, fixture.document("Our page").await);
        let mut ada = SocketListener::connect(&fixture.app, &world.ada).await;
        let editor = fixture.open(&world.ben, &document).await;
        editor.type_text("Before the press.").await.unwrap();
        eventually(async || session_of(fixture, &document).await.contains(&world.ben.id)).await;
        fixture.server.faults().update(|faults| {
            // The forced save takes longer than the editor stays open, and the final save is slow.
            faults.forced_assembly = 60_000;
            faults.hold = vec![2];
        });
        let leaving = tokio::spawn(async move {
            editor.leave().await.unwrap();
        });
        let submitted = fixture.submit(&world.ben, &document).await.expect(200);
        leaving.await.unwrap();
        assert_eq!(
            (&submitted["unsaved"], &submitted["document"]["contentPending"]),
            (&json!(true), &json!(true))
        );
        assert_eq!(submitted["document"]["version"], 0);
        fixture.server.faults().wait_until_held(1).await;
        fixture.server.faults().clear();
        let came = ada
            .expect_where("document:status", |event| {
                event["documentId"] == document.as_str() && event["contentPending"] == false
            })
            .await;
        assert_eq!((&came["status"], &came["version"]), (&json!("SUBMITTED"), &json!(1)));
        assert!(copied_text(fixture, &document).await.contains("Before the press."));
        assert_eq!(fixture.get_document(&document).await["contentPending"], false);
        let forced = fixture.server.callbacks().into_iter().filter(|sent| sent.status == 6);
        assert_eq!(forced.count(), 0, "no status 6 ever came");
    }
);
