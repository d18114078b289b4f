//! Tests that a crash during finish or submission leaves no partial state: an operation that was not acknowledged has
//! no effect, or the next start completes it.

use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings, client};
use reqwest::Method;
use serde_json::{Value, json};

use test_support::app::DOCSERVER_SECRET;
use test_support::document_server_fixture::{eventually, path, words};
use test_support::topics::{group, id, topic};
use test_support::{Client, Kind, ServerEnv, ServerProcess, World};

struct Lesson {
    place: ServerEnv,
    practice: RunningSimulator,
    ada: Client,
    ben: Client,
    topic: String,
    document: String,
}

impl Lesson {
    async fn begin(kind: Kind) -> Option<Self> {
        let mut place = ServerEnv::new(kind)?;
        let world = World::create(&place.store().await, &place.database).await;
        let practice = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
            .await
            .unwrap();
        place.set("DOCSERVER_URL", &practice.url());
        place.set("DOCSERVER_RECONCILE_INTERVAL_SECONDS", "1");
        let mut service = place.start("serve");
        service.ready().await;
        let client = |cookie: &String| Client::new(&service.base, Some(cookie.clone()));
        let (ada, ben) = (client(&world.ada.cookie), client(&world.ben.cookie));
        let group = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
        let topic = id(&topic(&ada, &world.seven_b, json!({"groupIds": [group]})).await);
        let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
        let rooms = format!("/workrooms/{}/documents", room.as_str().unwrap());
        let new = json!({"title": "Page", "documentType": "word"});
        let document = id(&ada.post(&rooms, new).await.expect(201));
        service.kill();
        Some(Self {
            place,
            practice,
            ada,
            ben,
            topic,
            document,
        })
    }

    /// Types text, sends a request during which the service crashes at `failpoint`, and starts the service again.
    async fn cut_short(&mut self, failpoint: &str, way: &str, body: Option<Value>) -> (client::Editor, ServerProcess) {
        let armed = format!("{failpoint}:1");
        let dying = self.place.try_start("serve", &[("GROUPWORK_FAILPOINT", &armed)]);
        let mut dying = dying.unwrap_or_else(|log| panic!("it died while it started:\n{log}"));
        dying.ready().await;
        let config = self.ben.get(&path(&self.document, "/editor-config")).await.expect(200);
        let editor = client::open(&self.practice.url(), &config).await.unwrap();
        editor.type_text(&format!("Before {failpoint}.")).await.unwrap();
        let asked = self.ada.request(Method::POST, way);
        let asked = body.iter().fold(asked, |request, body| request.json(body));
        assert!(asked.send().await.is_err(), "{failpoint}: it answered");
        eventually(async || dying.ended().is_some()).await;
        let mut service = self.place.start("serve");
        service.ready().await;
        (editor, service)
    }

    /// Crashes after the copy of a submission and before its rows: nothing is submitted, and the editor continues.
    async fn copy_is_abandoned(&mut self, submit: &str, body: &Value) {
        let (editor, service) = self.cut_short("submit.after_copy", submit, Some(body.clone())).await;
        assert_eq!(self.seen().await["status"], "DRAFT");
        editor.type_text("And on.").await.unwrap();
        assert!(editor.close().await.unwrap().accepted);
        service.kill();
    }

    async fn seen(&self) -> Value {
        self.ada.get(&path(&self.document, "")).await.expect(200)
    }

    /// Waits until the text typed before the crash is the content and the editor is closed.
    async fn is_completed(&self, failpoint: &str, editor: client::Editor) {
        let typed = format!("Before {failpoint}.");
        eventually(async || words(&self.ada.get(&path(&self.document, "/download")).await.bytes).contains(&typed))
            .await;
        eventually(async || editor.type_text("Too late.").await.is_err()).await;
        drop(editor.close().await);
    }

    async fn end(self) {
        self.practice.stop().await;
        self.place.close();
    }
}

async fn story(kind: Kind) {
    let Some(mut lesson) = Lesson::begin(kind).await else {
        return;
    };
    let [finish, reopen] = ["finish", "reopen"].map(|what| format!("/assignments/{}/{what}", lesson.topic));
    let submit = path(&lesson.document, "/submit");
    let handed_in = json!({"assignmentId": lesson.topic});
    for failpoint in ["finish.after_commit", "freeze.before_drop"] {
        let (editor, service) = lesson.cut_short(failpoint, &finish, None).await;
        assert_eq!(lesson.seen().await["status"], "LOCKED", "{failpoint}");
        lesson.is_completed(failpoint, editor).await;
        let again = lesson.ada.send(Method::POST, &finish, None).await.expect(200);
        assert_eq!(
            (
                &again["alreadyFinished"],
                &again["lockedDocuments"],
                &again["unsavedDocuments"]
            ),
            (&json!(true), &json!(0), &json!([]))
        );
        let reopened = lesson.ada.send(Method::POST, &reopen, None).await.expect(200);
        assert_eq!(reopened["unlockedDocuments"], 1, "{failpoint}");
        assert_eq!(lesson.seen().await["status"], "DRAFT", "{failpoint}");
        service.kill();
    }
    lesson.copy_is_abandoned(&submit, &handed_in).await;
    let (editor, service) = lesson.cut_short("submit.after_commit", &submit, Some(handed_in)).await;
    assert_eq!(lesson.seen().await["status"], "SUBMITTED");
    lesson.is_completed("submit.after_commit", editor).await;
    let topic = lesson
        .ada
        .get(&format!("/assignments/{}", lesson.topic))
        .await
        .expect(200);
    let copy = &topic["groupAssignments"][0]["currentSubmission"]["documents"][0];
    let versions = lesson.ada.get(&path(&lesson.document, "/versions")).await.expect(200);
    // Text that was typed after submission, while `is_completed` polled until typing failed, is kept as a late version
    // and does not replace the content.
    let content = versions.as_array().unwrap().iter();
    let content = content
        .clone()
        .find(|version| version["origin"] != "LATE_AFTER_LOCK")
        .unwrap();
    assert_eq!(
        copy["sha256"], content["sha256"],
        "the attempt has the last words, too: {copy} {versions}"
    );
    service.kill();
    lesson.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn what_a_crash_cuts_short_is_completed_by_the_next_start_on_sqlite() {
    story(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn what_a_crash_cuts_short_is_completed_by_the_next_start_on_postgres() {
    story(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_before_the_rows_of_a_submission_submits_nothing() {
    let mut lesson = Lesson::begin(Kind::Sqlite).await.unwrap();
    let submit = path(&lesson.document, "/submit");
    let body = json!({"assignmentId": lesson.topic});
    lesson.copy_is_abandoned(&submit, &body).await;
    lesson.end().await;
}
