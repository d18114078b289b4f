//! The service is killed during a deletion while an editor is open. After the restart the deletion is complete or has
//! no effect, the editor of a deleted document is closed, and the typed text is stored.

use std::sync::Arc;
use std::time::{Duration, Instant};

use document_server_simulator::client;
use document_server_simulator::{RunningSimulator, Simulator, SimulatorSettings};
use reqwest::Method;
use serde_json::{Value, json};

use test_support::document_server_fixture::{eventually, path, words};
use test_support::rows::texts;
use test_support::topics::{group, id, topic};
use test_support::{Client, DOCSERVER_SECRET, DatabaseKind, ServerEnv, ServerProcess, WAIT_TIMEOUT, World};

/// Failpoints inside the transaction, after which nothing is deleted.
const BEFORE: [&str; 2] = ["deletion.archived", "deletion.listed"];
/// Failpoints after the transaction.
const AFTER: [&str; 4] = [
    "deletion.closing",
    "deletion.saved",
    "deletion.dropped",
    "deletion.text_kept",
];

/// What the test deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeletionTarget {
    Document,
    Group,
    Topic,
}

struct DeletionFixture {
    env: ServerEnv,
    world: World,
    document_server: Arc<RunningSimulator>,
}

/// A document with an open editor that contains typed and unsaved text.
struct Open {
    document: String,
    group: String,
    topic: String,
    editor: client::OpenEditor,
}

impl DeletionFixture {
    async fn start(kind: DatabaseKind) -> Option<Self> {
        let mut env = ServerEnv::new(kind)?;
        let world = World::create(&env.store().await, &env.database).await;
        let document_server = Arc::new(
            Simulator::start(SimulatorSettings::quick(DOCSERVER_SECRET))
                .await
                .unwrap(),
        );
        env.set("DOCSERVER_URL", &document_server.url());
        env.set("DOCSERVER_SWEEP_SECONDS", "1");
        env.set("DELETED_RETENTION_DAYS", "30");
        Some(Self {
            env,
            world,
            document_server,
        })
    }

    fn ada(&self, service: &ServerProcess) -> Client {
        Client::new(&service.base, Some(self.world.ada.cookie.clone()))
    }

    async fn open(&self, service: &ServerProcess, typed: &str) -> Open {
        let (ada, class) = (self.ada(service), &self.world.seven_b);
        let group = group(&ada, class, &[&self.world.ben], json!({})).await;
        let topic = id(&topic(&ada, class, json!({"groupIds": [group]})).await);
        let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
        let rooms = format!("/workrooms/{}/documents", room.as_str().unwrap());
        let new = json!({"title": "Page", "documentType": "word", "assignmentId": topic});
        let document = id(&ada.post(&rooms, new).await.expect(201));
        let ben = Client::new(&service.base, Some(self.world.ben.cookie.clone()));
        let config = ben.get(&path(&document, "/editor-config")).await.expect(200);
        let editor = client::open(&self.document_server.url(), &config).await.unwrap();
        editor.type_text(typed).await.unwrap();
        let noted = async || {
            let sessions = format!("SELECT document_key FROM editing_sessions WHERE document_id = '{document}'");
            texts(&self.env.database, sessions).await.len() == 1
        };
        eventually(noted).await;
        Open {
            document,
            group,
            topic,
            editor,
        }
    }

    /// Sends the deletion, waits until the service dies at the failpoint and restarts it.
    async fn kill_and_recover(&mut self, failpoint: &str, target: DeletionTarget) -> (ServerProcess, Open) {
        let mut service = self
            .env
            .try_start("serve", &[("GROUPWORK_FAILPOINT", &format!("{failpoint}:1"))])
            .unwrap();
        service.ready().await;
        let open = self.open(&service, failpoint).await;
        let path = match target {
            DeletionTarget::Document => path(&open.document, ""),
            DeletionTarget::Group => format!("/groups/{}", open.group),
            DeletionTarget::Topic => format!("/assignments/{}", open.topic),
        };
        // The response is missing if the process dies first.
        drop(self.ada(&service).request(Method::DELETE, &path).send().await);
        let since = Instant::now();
        while service.try_wait().is_none() {
            assert!(since.elapsed() < WAIT_TIMEOUT, "{failpoint} was not visited");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let mut service = self.env.start("serve");
        service.ready().await;
        (service, open)
    }
}

async fn kill_during_deletions(kind: DatabaseKind) {
    let Some(mut fixture) = DeletionFixture::start(kind).await else {
        return;
    };
    for target in [DeletionTarget::Document, DeletionTarget::Group, DeletionTarget::Topic] {
        for failpoint in BEFORE {
            let (service, open) = fixture.kill_and_recover(failpoint, target).await;
            let ada = fixture.ada(&service);
            ada.get(&path(&open.document, "")).await.expect(200);
            ada.get(&format!("/groups/{}", open.group)).await.expect(200);
            ada.get(&format!("/assignments/{}", open.topic)).await.expect(200);
            assert_eq!(
                ada.get("/workrooms/late-texts").await.expect(200),
                json!([]),
                "{target:?}"
            );
            open.editor.close().await.unwrap();
            let saved = async || ada.get(&path(&open.document, "")).await.expect(200)["version"] == 1;
            eventually(saved).await;
            let content = ada.get(&path(&open.document, "/download")).await;
            assert!(words(&content.bytes).contains(failpoint), "{target:?}");
            service.kill();
        }
    }
    for target in [DeletionTarget::Document, DeletionTarget::Group] {
        for failpoint in AFTER {
            let (service, open) = fixture.kill_and_recover(failpoint, target).await;
            let ada = fixture.ada(&service);
            ada.get(&path(&open.document, "")).await.refused(404, "NOT_FOUND");
            let group = ada.get(&format!("/groups/{}", open.group)).await.status;
            assert_eq!(group, if target == DeletionTarget::Group { 404 } else { 200 });
            let own = async || -> Option<Value> {
                let kept = ada.get("/workrooms/late-texts").await.expect(200);
                let mut kept = kept.as_array().unwrap().iter();
                kept.find(|text| text["documentId"] == json!(open.document)).cloned()
            };
            eventually(async || own().await.is_some()).await;
            let text = ada
                .get(&format!("/workrooms/late-texts/{}/download", id(&own().await.unwrap())))
                .await;
            assert!(words(&text.bytes).contains(failpoint), "{target:?} at {failpoint}");
            let closed = async || {
                let open = "SELECT id FROM deleted_documents WHERE is_open".to_owned();
                texts(&fixture.env.database, open).await.is_empty()
            };
            eventually(closed).await;
            assert!(open.editor.type_text("Later.").await.is_err(), "the editor is closed");
            service.kill();
        }
    }
    fixture.env.close();
}

/// A restore that is interrupted has no effect and can be repeated.
async fn kill_during_restore(kind: DatabaseKind) {
    let Some(mut fixture) = DeletionFixture::start(kind).await else {
        return;
    };
    let mut service = fixture.env.start("serve");
    service.ready().await;
    let open = fixture.open(&service, "Restored.").await;
    let deleted = fixture
        .ada(&service)
        .delete(&format!("/groups/{}", open.group))
        .await
        .expect(200);
    let restore = format!("/deletions/{}/restore", deleted["deletionId"].as_str().unwrap());
    service.kill();
    let armed = [("GROUPWORK_FAILPOINT", "deletion.restoring:1")];
    let mut service = fixture.env.try_start("serve", &armed).unwrap();
    service.ready().await;
    drop(
        fixture
            .ada(&service)
            .request(Method::POST, &restore)
            .json(&json!({}))
            .send()
            .await,
    );
    let since = Instant::now();
    while service.try_wait().is_none() {
        assert!(since.elapsed() < WAIT_TIMEOUT, "the restore was not visited");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let mut service = fixture.env.start("serve");
    service.ready().await;
    let ada = fixture.ada(&service);
    ada.get(&format!("/groups/{}", open.group))
        .await
        .refused(404, "NOT_FOUND");
    ada.post(&restore, json!({})).await.expect(200);
    ada.get(&path(&open.document, "")).await.expect(200);
    service.kill();
    fixture.env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_during_restore_has_no_effect_on_sqlite() {
    kill_during_restore(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_during_restore_has_no_effect_on_postgres() {
    kill_during_restore(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_during_deletion_keeps_late_text_on_sqlite() {
    kill_during_deletions(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_during_deletion_keeps_late_text_on_postgres() {
    kill_during_deletions(DatabaseKind::Postgres).await;
}
