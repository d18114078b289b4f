//! Tests that a crash during finish or submission leaves no partial state: an operation that was not acknowledged has
//! no effect, or the next start completes it.

use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings};
use domain::document_kind::EditorKind;
use reqwest::Method;
use serde_json::{Value, json};

use test_support::app::DOCSERVER_SECRET;
use test_support::document_server_fixture::{eventually, path, words};
use test_support::text_editor::AnyEditor;
use test_support::topics::{group, id, topic};
use test_support::{Client, DatabaseKind, ServerEnv, ServerProcess, World};

struct InterruptionFixture {
    env: ServerEnv,
    document_server: RunningSimulator,
    ada: Client,
    ben: Client,
    topic: String,
    document: String,
}

impl InterruptionFixture {
    async fn begin(kind: DatabaseKind, editor: EditorKind) -> Option<Self> {
        let mut env = ServerEnv::new(kind)?;
        let world = World::create(&env.store().await, &env.database).await;
        let document_server = Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
            .await
            .unwrap();
        env.set("DOCSERVER_URL", &document_server.url());
        env.set("EDITOR_TEXT", editor.as_str());
        env.set("DOCSERVER_RECONCILE_INTERVAL_SECONDS", "1");
        let mut service = env.start("serve");
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
            env,
            document_server,
            ada,
            ben,
            topic,
            document,
        })
    }

    /// Types text, sends a request during which the service crashes at `failpoint`, and starts the service again.
    async fn crash_during(&mut self, failpoint: &str, route: &str, body: Option<Value>) -> (AnyEditor, ServerProcess) {
        let armed = format!("{failpoint}:1");
        let dying = self.env.try_start("serve", &[("GROUPWORK_FAILPOINT", &armed)]);
        let mut dying = dying.unwrap_or_else(|log| panic!("it died while it started:\n{log}"));
        dying.ready().await;
        let config = self.ben.get(&path(&self.document, "/editor-config")).await.expect(200);
        let server = self.document_server.url();
        let editor = AnyEditor::open(&server, &self.ben, &self.document, &config)
            .await
            .unwrap();
        editor.type_text(&format!("Before {failpoint}.")).await.unwrap();
        let asked = self.ada.request(Method::POST, route);
        let asked = body.iter().fold(asked, |request, body| request.json(body));
        assert!(asked.send().await.is_err(), "{failpoint}: it answered");
        eventually(async || dying.try_wait().is_some()).await;
        let mut service = self.env.start("serve");
        service.ready().await;
        (editor, service)
    }

    /// Crashes after the copy of a submission and before its rows: nothing is submitted, and the editor continues.
    async fn check_copy_is_abandoned(&mut self, submit: &str, body: &Value) {
        let (editor, service) = self.crash_during("submit.after_copy", submit, Some(body.clone())).await;
        assert_eq!(self.seen().await["status"], "DRAFT");
        editor.type_text("And on.").await.unwrap();
        assert!(editor.close().await.unwrap().accepted);
        service.kill();
    }

    async fn seen(&self) -> Value {
        self.ada.get(&path(&self.document, "")).await.expect(200)
    }

    /// Waits until the text typed before the crash is the content and the editor is closed.
    async fn check_completed(&self, failpoint: &str, editor: AnyEditor) {
        let typed = format!("Before {failpoint}.");
        eventually(async || words(&self.ada.get(&path(&self.document, "/download")).await.bytes).contains(&typed))
            .await;
        eventually(async || editor.type_text("Too late.").await.is_err()).await;
        drop(editor.close().await);
    }

    async fn end(self) {
        self.document_server.stop().await;
        self.env.close();
    }
}

async fn check_all_failpoints(kind: DatabaseKind, editor: EditorKind) {
    let Some(mut fixture) = InterruptionFixture::begin(kind, editor).await else {
        return;
    };
    let [finish, reopen] = ["finish", "reopen"].map(|what| format!("/assignments/{}/{what}", fixture.topic));
    let submit = path(&fixture.document, "/submit");
    let submitted = json!({"assignmentId": fixture.topic});
    let saved = match editor {
        EditorKind::OnlyOffice => "freeze.before_drop",
        EditorKind::Builtin => "commits.frozen",
    };
    for failpoint in ["finish.after_commit", saved] {
        let (editor, service) = fixture.crash_during(failpoint, &finish, None).await;
        assert_eq!(fixture.seen().await["status"], "LOCKED", "{failpoint}");
        fixture.check_completed(failpoint, editor).await;
        let again = fixture.ada.send(Method::POST, &finish, None).await.expect(200);
        assert_eq!(
            (
                &again["alreadyFinished"],
                &again["lockedDocuments"],
                &again["unsavedDocuments"]
            ),
            (&json!(true), &json!(0), &json!([]))
        );
        let reopened = fixture.ada.send(Method::POST, &reopen, None).await.expect(200);
        assert_eq!(reopened["unlockedDocuments"], 1, "{failpoint}");
        assert_eq!(fixture.seen().await["status"], "DRAFT", "{failpoint}");
        service.kill();
    }
    fixture.check_copy_is_abandoned(&submit, &submitted).await;
    let (editor, service) = fixture
        .crash_during("submit.after_commit", &submit, Some(submitted))
        .await;
    assert_eq!(fixture.seen().await["status"], "SUBMITTED");
    fixture.check_completed("submit.after_commit", editor).await;
    let topic = fixture
        .ada
        .get(&format!("/assignments/{}", fixture.topic))
        .await
        .expect(200);
    let copy = &topic["groupAssignments"][0]["currentSubmission"]["documents"][0];
    let versions = fixture.ada.get(&path(&fixture.document, "/versions")).await.expect(200);
    // Text that was typed after submission, while `check_completed` polled until typing failed, is kept as a late version
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
    fixture.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn interrupted_operation_is_completed_by_next_start_on_sqlite() {
    check_all_failpoints(DatabaseKind::Sqlite, EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn interrupted_operation_is_completed_by_next_start_on_postgres() {
    check_all_failpoints(DatabaseKind::Postgres, EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn interrupted_operation_with_builtin_editor_is_completed_on_sqlite() {
    check_all_failpoints(DatabaseKind::Sqlite, EditorKind::Builtin).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn interrupted_operation_with_builtin_editor_is_completed_on_postgres() {
    check_all_failpoints(DatabaseKind::Postgres, EditorKind::Builtin).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_before_the_rows_of_a_submission_submits_nothing() {
    for editor in [EditorKind::OnlyOffice, EditorKind::Builtin] {
        let fixture = InterruptionFixture::begin(DatabaseKind::Sqlite, editor).await;
        let mut fixture = fixture.unwrap();
        let submit = path(&fixture.document, "/submit");
        let body = json!({"assignmentId": fixture.topic});
        fixture.check_copy_is_abandoned(&submit, &body).await;
        fixture.end().await;
    }
}
