//! Concurrent finishes, reopens, submissions, withdrawals and saves, in many rounds: locked content does not change, no
//! acknowledged text is lost, and the rows are consistent. `make test` runs 100 rounds on each database, `make soak`
//! (`GROUPWORK_SOAK=1`) 2,000.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use test_support::document_server_fixture::{DocumentServerFixture, eventually, path, words};
use test_support::rows::texts;
use test_support::text_editor::AnyEditor;
use test_support::{Answer, invariants, is_soak, size};

/// Finds copies of a submission that do not match their attempt.
const WRONG_COPIES: &str = "SELECT sd.id FROM documents d JOIN submission_documents sd ON sd.document_id = d.id
    JOIN submissions s ON s.id = sd.submission_id AND s.status = 'ACTIVE'
    LEFT JOIN document_revisions r ON r.id = d.current_revision_id
    WHERE (d.status = 'SUBMITTED' OR d.status_before_lock = 'SUBMITTED')
        AND (sd.document_version <> d.version OR (r.id IS NOT NULL AND r.sha256 <> sd.sha256))";
/// Finds a finished topic with an open document, or an open topic with a locked document.
const HALF_LOCKED: &str = "SELECT d.id FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
    JOIN group_assignments ga ON ga.group_id = w.group_id JOIN assignments a ON a.id = ga.assignment_id
    WHERE (a.status = 'FINISHED') <> (d.status = 'LOCKED')";

/// One round: the fixture, its number, and the barrier at which the concurrent tasks start.
struct Round<'s> {
    fixture: &'s DocumentServerFixture,
    number: usize,
    barrier: Arc<Barrier>,
}

impl Round<'_> {
    /// Waits for the other tasks, and then for a random delay.
    async fn wait_at_barrier(&self) {
        let pause = rand::rng().random_range(0..12);
        self.barrier.wait().await;
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }

    async fn topic(&self, what: &str) -> Answer {
        let ada = self.fixture.app.as_(&self.fixture.app.world.ada);
        let path = format!("/assignments/{}/{what}", self.fixture.topic);
        self.wait_at_barrier().await;
        ada.send(Method::POST, &path, None).await
    }

    async fn submit(&self, document: &str) -> Answer {
        self.wait_at_barrier().await;
        self.fixture.submit(&self.fixture.app.world.cem, document).await
    }

    async fn unsubmit(&self, document: &str) -> Answer {
        let ben = self.fixture.app.as_(&self.fixture.app.world.ben);
        self.wait_at_barrier().await;
        ben.post(&path(document, "/unsubmit"), json!({})).await
    }

    async fn leave(&self, editor: AnyEditor) -> bool {
        self.wait_at_barrier().await;
        let closed = editor.close().await.unwrap();
        // An editor that was disconnected by the finish first has no changes to report. The document server saves
        // without it.
        assert!(
            closed.accepted || closed.status.is_none(),
            "round {}: {closed:?}",
            self.number
        );
        true
    }

    async fn press(&self, document: &str, editor: &AnyEditor) {
        self.wait_at_barrier().await;
        match editor {
            // The request is rejected when the session has already ended.
            AnyEditor::OnlyOffice(editor) => drop(editor.press_save().await),
            AnyEditor::Builtin(_) => drop(self.fixture.text(document).await),
        }
    }
}

/// Brings a document into the status that the round starts with.
async fn prepare(fixture: &DocumentServerFixture, document: &str, wanted: &str) {
    let status = fixture.get_document(document).await["status"].clone();
    match (status.as_str().unwrap(), wanted) {
        ("DRAFT", "SUBMITTED") => drop(fixture.submit(&fixture.app.world.ben, document).await.expect(200)),
        ("SUBMITTED", "DRAFT") => {
            let ben = fixture.app.as_(&fixture.app.world.ben);
            ben.post(&path(document, "/unsubmit"), json!({})).await.expect(200);
        }
        (is, wanted) => assert_eq!(is, wanted),
    }
}

/// Opens an editor and types a text that is unique.
async fn open_and_type(fixture: &DocumentServerFixture, document: &str, text: &str) -> AnyEditor {
    let editor = fixture.open_editor(&fixture.app.world.ben, document).await;
    assert!(
        editor.may_edit(),
        "{document} opens for reading only: {}",
        fixture.get_document(document).await
    );
    editor.type_text(text).await.unwrap();
    editor
}

/// Returns whether one of the newest revisions has this text, and whether the content has it.
async fn find_text(fixture: &DocumentServerFixture, document: &str, text: &str) -> (bool, bool) {
    let content = fixture.text(document).await.contains(text);
    if content {
        return (true, true);
    }
    let ada = fixture.app.as_(&fixture.app.world.ada);
    for version in fixture.versions(document).await.iter().take(6) {
        let bytes = ada
            .get(&path(document, &format!("/versions/{}/download", version["version"])))
            .await;
        if words(&bytes.bytes).contains(text) {
            return (true, false);
        }
    }
    (false, false)
}

async fn wait_for_no_sessions(fixture: &DocumentServerFixture) {
    let sessions = "SELECT document_key FROM editing_sessions".to_owned();
    eventually(async || texts(&fixture.app.database, sessions.clone()).await.is_empty()).await;
}

async fn expect_no_rows(fixture: &DocumentServerFixture, number: usize, query: &str) {
    let found = texts(&fixture.app.database, query.to_owned()).await;
    assert!(found.is_empty(), "round {number}: {found:?} of {query}");
}

async fn race(fixture: &DocumentServerFixture, number: usize, documents: &[String; 4]) {
    let [left, pressed, submitting, unsubmitting] = documents;
    prepare(fixture, submitting, "DRAFT").await;
    prepare(fixture, unsubmitting, "SUBMITTED").await;
    let [first, second, third] = ["L", "P", "H"].map(|kind| format!("{kind}{number}."));
    let leaving = open_and_type(fixture, left, &first).await;
    let pressing = open_and_type(fixture, pressed, &second).await;
    // An editor types into a document that is submitted concurrently.
    let writing = open_and_type(fixture, submitting, &third).await;
    let round = Round {
        fixture,
        number,
        barrier: Arc::new(Barrier::new(7)),
    };
    let (finished, again, reopened, submitted, unsubmitted, _, ()) = tokio::join!(
        round.topic("finish"),
        round.topic("finish"),
        round.topic("reopen"),
        round.submit(submitting),
        round.unsubmit(unsubmitting),
        round.leave(leaving),
        round.press(pressed, &pressing),
    );
    finished.expect(200);
    again.expect(200);
    reopened.expect(200);
    expect_no_rows(fixture, number, HALF_LOCKED).await;
    drop(pressing.close().await);
    drop(writing.close().await);
    wait_for_no_sessions(fixture).await;
    for (document, text) in [(left, &first), (pressed, &second), (submitting, &third)] {
        assert!(
            find_text(fixture, document, text).await.0,
            "round {number}: {text} is lost"
        );
    }
    expect_no_rows(fixture, number, HALF_LOCKED).await;
    expect_no_rows(fixture, number, WRONG_COPIES).await;
    if is_soak() || number.is_multiple_of(10) {
        check_locked_content_is_stable(fixture, number, left).await;
    }
    fixture.reopen().await;
    // Every document has the status from the responses.
    let status = async |document: &str| fixture.get_document(document).await["status"].clone();
    assert_eq!(status(left).await, "DRAFT");
    for (document, answer, yes, no) in [
        (submitting, submitted, "SUBMITTED", "DRAFT"),
        (unsubmitting, unsubmitted, "DRAFT", "SUBMITTED"),
    ] {
        let expected = if answer.status == 200 { yes } else { no };
        assert!(
            matches!(answer.status, 200 | 409 | 423),
            "round {number}: {}",
            answer.status
        );
        assert_eq!(status(document).await, expected, "round {number}");
    }
    expect_no_rows(fixture, number, WRONG_COPIES).await;
    if number.is_multiple_of(5) {
        let database = fixture.app.database.clone();
        tokio::task::spawn_blocking(move || invariants::check(&database))
            .await
            .unwrap();
    }
}

/// After the response to the finish, typed text does not change the locked content.
async fn check_locked_content_is_stable(fixture: &DocumentServerFixture, number: usize, document: &str) {
    fixture.reopen().await;
    let editor = open_and_type(fixture, document, &format!("B{number}.")).await;
    fixture.ignore_drops(&[&editor]);
    let done = fixture.finish().await;
    assert_eq!(done["unsavedDocuments"], json!([]), "round {number}");
    let content = async || {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let bytes = ada.get(&path(document, "/download")).await.bytes;
        let seen: Value = fixture.get_document(document).await;
        (bytes, seen["version"].clone(), seen["statusBeforeLock"].clone())
    };
    let locked = content().await;
    editor.type_text(&format!("A{number}.")).await.unwrap();
    assert!(editor.close().await.unwrap().accepted);
    wait_for_no_sessions(fixture).await;
    assert_eq!(content().await, locked, "round {number}");
    assert!(words(&locked.0).contains(&format!("B{number}.")), "round {number}");
    if fixture.is_builtin() {
        // Late text is acknowledged before it is a revision.
        let late = format!("A{number}.");
        eventually(async || find_text(fixture, document, &late).await.0).await;
    }
    assert_eq!(
        find_text(fixture, document, &format!("A{number}.")).await,
        (true, false),
        "round {number}"
    );
    fixture.server.faults().clear();
}

with_both_editors!(
    #[ignore = "long: make test-resilience"]
    races_of_finish_submission_and_save_have_one_outcome,
    |fixture| {
        races(fixture, size(100, 2_000)).await;
    }
);

with_both_editors!(few_races_of_finish_submission_and_save_have_one_outcome, |fixture| {
    races(fixture, 5).await;
});

async fn races(fixture: &DocumentServerFixture, rounds: usize) {
    let since = Instant::now();
    let mut documents = create_documents(fixture).await;
    for number in 0..rounds {
        // Documents stay small and keep all their revisions.
        if number > 0 && number % 25 == 0 {
            fixture.reopen().await;
            for document in &documents {
                prepare(fixture, document, "DRAFT").await;
            }
            documents = create_documents(fixture).await;
        }
        Box::pin(race(fixture, number, &documents)).await;
    }
    println!(
        "  {rounds} rounds of documents in {:.0} s",
        since.elapsed().as_secs_f64()
    );
}

async fn create_documents(fixture: &DocumentServerFixture) -> [String; 4] {
    // A workroom holds at most 100 documents. Documents of earlier rounds are in other workrooms.
    let room = fixture.another_room().await;
    let mut documents = Vec::new();
    for title in ["Left", "Pressed", "Handed in", "Taken back"] {
        documents.push(fixture.document_in(&room, title).await);
    }
    documents.try_into().unwrap()
}
